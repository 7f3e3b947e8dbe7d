"""Intervals hold the truth and tests stay quiet as often as they say: measured for every metric, and again here.

The record in `benchmarks/results` is what the page shows. A small simulation of a few families runs through the same
code at every run of the tests, so that intervals which a change has spoilt do not wait for the next long one.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from scipy.stats import binom
from tools.website.coverage import GOAL, PAGE, RECORD, written

ROOT = Path(__file__).resolve().parents[2]
QUICK, SIZES = ("perplexity", "speech"), (30, 100)
"""Families that are simulated here because they are quick, and the units of a campaign."""
CAMPAIGNS = 250
CHANCE = 1e-3
"""How rarely a share that meets the goal may fail here: the seeds are fixed, so this is about other machines."""


@pytest.fixture(scope="module")
def simulation():
    """The benchmark as a module; its name is that of a well-known package, so it gets another one here."""
    spec = importlib.util.spec_from_file_location("interval_coverage", ROOT / "benchmarks" / "coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def record():
    """What was measured last."""
    return json.loads((ROOT / RECORD).read_text(encoding="utf-8"))


def test_every_registered_metric_has_a_simulator_and_was_measured_at_every_size(simulation, record):
    families = simulation.families()
    assert families.keys() == simulation.simulators().keys()
    wanted = {
        (name, metric.name, size) for name, all_ in families.items() for metric in all_ for size in (15, 30, 100, 300)
    }
    measured = [(line["family"], line["metric"], line["units"]) for line in record["lines"]]
    assert measured == sorted(wanted)


def test_the_record_says_how_sure_it_is(record):
    assert (record["level"], record["alpha"], record["interval"]) == (0.95, 0.05, "percentile")
    assert record["campaigns"] == min(line["campaigns"] for line in record["lines"]) >= 200
    for line in record["lines"]:
        assert 0 <= line["no_interval"] <= 1
        assert 0 <= line["false_verdicts"] <= line["false_alarms"] <= 1
        assert line["coverage"] is None or 0 <= line["coverage"] <= 1


def test_the_page_shows_the_record(record):
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert written(page, record) == page, "run python -m tools.website.coverage"


def within(share: float, nominal: float, trials: int) -> bool:
    """Whether a share could be that of a method which meets the goal, but for one chance in a thousand each way."""
    hits = round(share * trials)
    fewest, most = binom.ppf(CHANCE, trials, nominal - GOAL), binom.ppf(1 - CHANCE, trials, nominal + GOAL)
    return bool(fewest <= hits <= most)


@pytest.mark.parametrize("family", QUICK)
def test_a_simulation_of_thirty_and_of_a_hundred_units_meets_the_goal(simulation, family):
    for line in simulation.measure(family, CAMPAIGNS, sizes=SIZES, seed=10_000):
        assert line["no_interval"] == 0
        assert within(line["coverage"], 0.95, CAMPAIGNS), line
        assert within(line["false_alarms"], 0.05, CAMPAIGNS), line


def test_intervals_that_are_too_narrow_and_tests_that_are_too_loud_would_be_noticed(simulation):
    narrow = simulation.measure("perplexity", CAMPAIGNS, sizes=SIZES[:1], seed=10_000, level=0.8)
    assert [within(line["coverage"], 0.95, CAMPAIGNS) for line in narrow] == [False]
    assert [within(share, 0.05, CAMPAIGNS) for share in (0.0, 0.05, 0.2)] == [False, True, False]
    assert [within(share, 0.95, CAMPAIGNS) for share in (0.85, 0.93, 1.0)] == [False, True, False]
