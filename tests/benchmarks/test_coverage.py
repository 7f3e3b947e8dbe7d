"""Intervals contain the true value and tests stay quiet as often as they say: measured for each metric, and here again.

The records in `benchmarks/results` are what the page shows. A small simulation of a few tasks runs from files to values
at every run of the tests, so that intervals which a change has spoilt do not wait for the next long one.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from scipy.stats import binom
from tools.website.coverage import ELSEWHERE, PAGE, UNMEASURED, loud, miss, records, written

from basanite import registry

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("lm", "speech", "ratings")
"""Tasks that are simulated here because they are quick."""
CAMPAIGNS = 150
CHANCE = 1e-3
"""How rarely a share that meets the goal may fail here: the seeds are fixed, so this is about other machines."""
ALONE = {("detection", "adwv"), *(("readability", name) for name in ("correlation", "proportional_target"))}
ALONE |= {("readability", "score_difference")}
"""Metrics whose units are in no clusters."""


def module_of(name: str, file: str):
    """A benchmark as a module; the name of one is that of a well-known package, so it gets another one here."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def simulation():
    return module_of("interval_coverage", "coverage.py")


@pytest.fixture(scope="module")
def alarms():
    return module_of("false_alarms", "false_alarms.py")


@pytest.fixture(scope="module")
def measured():
    """What was measured last: intervals, then tests."""
    return records(ROOT)


@pytest.fixture(scope="module")
def metrics():
    return [registry.load("metrics", name) for name in registry.names("metrics")]


def test_every_registered_metric_was_measured_at_every_size_and_in_clusters(measured, metrics):
    families = {metric.family for metric in metrics}
    assert families >= set(UNMEASURED)
    names = {(metric.family, metric.name) for metric in metrics if metric.family not in (*UNMEASURED, *ELSEWHERE)}
    wanted = {(*name, units, False) for name in names for units in (30, 100, 300)}
    wanted |= {(*name, 30, True) for name in names - ALONE}
    found = [(line["family"], line["metric"], line["units"], line["clusters"]) for line in measured[0]["lines"]]
    assert len(found) == len(set(found))
    assert set(found) == wanted


def test_no_metric_misses_the_goal(simulation, measured):
    assert [line for line in measured[0]["lines"] if miss(line, measured[0])] == []
    assert [line for line in measured[0]["lines"] if simulation.fails(line)] == []


def test_each_was_measured_by_the_method_it_declares(measured, metrics):
    declared = {(metric.family, metric.name): metric.interval for metric in metrics}
    for line in measured[0]["lines"]:
        own = declared[line["family"], line["metric"]]
        assert set(line["method"].split(" or ")) <= {own, "exact", ""}, line


def test_the_records_say_how_sure_they_are(simulation, measured):
    coverage, alarms = measured
    assert simulation.CAMPAIGNS == 1000
    assert coverage["campaigns"] == min(line["campaigns"] for line in coverage["lines"]) >= 1000
    assert alarms["campaigns"] >= 400
    for line in coverage["lines"]:
        assert 0 <= line["intervals"] <= line["campaigns"]
        held = line["intervals"] - line["above"] - line["below"]
        assert line["coverage"] is None or line["coverage"] == pytest.approx(held / line["intervals"], abs=1e-4)


def test_no_test_is_too_loud(alarms, measured):
    families = {
        (name, one.name)
        for name, all_ in alarms.families().items()
        for one in all_
        if name not in (*UNMEASURED, *ELSEWHERE)
    }
    assert {(line["family"], line["metric"]) for line in measured[1]["lines"]} == families
    assert [line for line in measured[1]["lines"] if line["units"] >= 30 and loud(line, measured[1])] == []


def test_the_page_shows_the_records(measured):
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert written(page, *measured) == page, "run python -m tools.website.coverage"


def within(share: float, low: float, high: float, trials: int) -> bool:
    """Whether a share could be that of a method which meets the goal, but for one chance in a thousand each way."""
    hits = round(share * trials)
    return bool(binom.ppf(CHANCE, trials, low) <= hits <= binom.ppf(1 - CHANCE, trials, high))


@pytest.mark.few(1)
@pytest.mark.parametrize("world", QUICK)
def test_a_simulation_from_files_to_values_meets_the_goal(simulation, world):
    for line in simulation.measure(world, CAMPAIGNS, cells=((30, False), (30, True)), seed=10_000):
        if line["metric"] == "rmse":
            assert line["intervals"] == 0
        else:
            assert line["intervals"] == CAMPAIGNS
            assert within(line["coverage"], 0.93, 0.97, CAMPAIGNS), line


def test_a_simulation_of_the_test_stays_quiet(alarms):
    for line in alarms.measure("perplexity", CAMPAIGNS, sizes=(30,), seed=10_000):
        assert within(line["false_alarms"], 0.03, 0.07, CAMPAIGNS), line


def test_intervals_that_are_too_narrow_or_too_wide_would_be_noticed(simulation):
    line = {"intervals": 1000, "method": "studentized"}
    assert [simulation.fails({**line, "coverage": share}) for share in (0.9, 0.93, 0.99)] == ["narrow", "", "wide"]
    assert simulation.fails({**line, "coverage": 0.99, "method": "exact"}) == ""
    assert [within(share, 0.93, 0.97, CAMPAIGNS) for share in (0.8, 0.93)] == [False, True]
