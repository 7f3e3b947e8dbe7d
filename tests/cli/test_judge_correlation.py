"""Metrics against human scores: every figure equals scipy's, for segments and systems, and intervals draw units."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from tests.cli.running import here

UNITS, SYSTEMS = 40, 6


@pytest.fixture(scope="module")
def scores():
    """Human scores with gaps and ties, and a metric that follows them."""
    rng = np.random.default_rng(5)
    human = rng.integers(0, 10, (UNITS, SYSTEMS)) + np.arange(SYSTEMS) / 2.0
    metric = (human + rng.normal(0, 3, human.shape)).round(0)
    human[rng.random(human.shape) < 0.15] = np.nan
    metric[rng.random(metric.shape) < 0.1] = np.nan
    return metric, human


def write(folder, metric, human, name="mine"):
    places = list(itertools.product(range(UNITS), range(SYSTEMS)))
    rows = [f"u{at},s{of},{name},{metric[at, of]:g}" for at, of in places if not np.isnan(metric[at, of])]
    (folder / "units.csv").write_text("unit,system,metric,value\n" + "\n".join(rows) + "\n")
    rows = [f"u{at},s{of},{human[at, of] + step:g}" for at, of in places for step in (-1, 1)]
    rows = [row for row in rows if not row.endswith("nan")]
    (folder / "human.csv").write_text("segment,system,score\n" + "\n".join(rows) + "\n")


def correlate(folder, *words, code=0):
    given = ("judge", "correlate", "units.csv", "human.csv", "--draws", "200", *words)
    ended = here(*given, *(["--json"] if not code else []), cwd=folder)
    assert ended.code == code, ended.stdout + ended.stderr
    return ended.stderr if code else ended.data


def values(found, level, name="mine"):
    return {measure: one["value"] for measure, one in found["metrics"][name][level].items()}


def accuracy(metric, human):
    """The share of pairs that people tell apart which the metric orders alike, pair by pair."""
    right = total = 0
    for row, other in zip(metric, human, strict=True):
        for one, two in itertools.combinations(range(len(row)), 2):
            if np.isnan([row[one], row[two], other[one], other[two]]).any() or other[one] == other[two]:
                continue
            total += 1
            right += np.sign(row[one] - row[two]) == np.sign(other[one] - other[two])
    return right / total


def by_peer(metric, human):
    return {
        "pearson": stats.pearsonr(metric, human)[0],
        "spearman": stats.spearmanr(metric, human)[0],
        "kendall": stats.kendalltau(metric, human)[0],
    }


@pytest.mark.req("T-30")
def test_correlations_of_segments_and_systems_are_those_of_scipy(tmp_path, scores):
    metric, human = scores
    write(tmp_path, metric, human)
    found = correlate(tmp_path)
    both = ~np.isnan(metric) & ~np.isnan(human)
    expected = by_peer(metric[both], human[both]) | {"accuracy": accuracy(metric, human)}
    assert values(found, "segment") == pytest.approx(expected, abs=1e-9)
    means = [np.array([side[both[:, at], at].mean() for at in range(SYSTEMS)]) for side in (metric, human)]
    expected = by_peer(*means) | {"accuracy": accuracy(*(side[None] for side in means))}
    assert values(found, "system") == pytest.approx(expected, abs=1e-9)
    assert found["outputs"] == both.sum()
    for one in found["metrics"]["mine"]["segment"].values():
        assert one["low"] < one["value"] < one["high"]


def test_an_interval_is_that_of_units_drawn_by_hand(tmp_path, scores):
    metric, human = scores
    write(tmp_path, metric, human)
    found = correlate(tmp_path, "--seed", "3")["metrics"]["mine"]["segment"]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(400):
        rows = rng.integers(0, UNITS, UNITS)
        both = ~np.isnan(metric[rows]) & ~np.isnan(human[rows])
        drawn.append(by_peer(metric[rows][both], human[rows][both]))
    for name in ("pearson", "spearman", "kendall"):
        low, high = np.quantile([one[name] for one in drawn], (0.025, 0.975))
        assert found[name]["low"] == pytest.approx(low, abs=0.04)
        assert found[name]["high"] == pytest.approx(high, abs=0.04)


def test_the_sign_of_a_loss_is_reversed(tmp_path, scores):
    metric, human = scores
    write(tmp_path, metric, human)
    plain = correlate(tmp_path)
    for name, words in (("ter", ()), ("mine", ("--lower", "mine")), ("mine", ("--lower", "human"))):
        write(tmp_path, metric, human, name)
        found = correlate(tmp_path, *words)
        assert values(found, "segment", name)["pearson"] == pytest.approx(-values(plain, "segment")["pearson"])


def test_what_a_metric_and_people_have_in_common_is_counted(tmp_path):
    (tmp_path / "units.csv").write_text("unit,system,metric,value\nu1,A,m,1\nu1,B,m,2\nu2,A,m,1\n")
    (tmp_path / "human.csv").write_text("unit,system,score\nu1,A,1\nu1,B,2\nu9,A,3\n")
    found = correlate(tmp_path)
    assert "left out: 1 output without a human score" in found["notes"]
    assert "left out: 1 output without a metric value" in found["notes"]
    assert found["metrics"]["m"]["segment"]["pearson"]["reason"] == "no interval: fewer than 15 units"
    (tmp_path / "human.csv").write_text("unit,system,score\nu1,A,1\nu1,B,1\n")
    found = correlate(tmp_path)["metrics"]["m"]
    assert found["segment"]["kendall"] == {
        "value": None,
        "low": None,
        "high": None,
        "reason": "one side has the same value everywhere",
    }


def test_segments_of_an_export_of_appraise_are_matched_by_their_names(tmp_path):
    rows = ["j1,{of},{at},TGT,eng,ces,{value},doc,False,1.0,2.0", "j2,{of},{at},TGT,eng,deu,{value},doc,False,1.0,2.0"]
    places = list(itertools.product("AB", range(20)))
    lines = [row.format(of=of, at=at, value=(at * 7 + (of == "B")) % 50) for row in rows for of, at in places]
    (tmp_path / "human.csv").write_text("\n".join(lines) + "\n")
    table = [f"doc#{at},{of},m,{(at * 7 + (of == 'B')) % 50}" for of, at in places]
    (tmp_path / "units.csv").write_text("\n".join(["unit,system,metric,value", *table]) + "\n")
    assert "several language pairs" in correlate(tmp_path, code=2)
    found = correlate(tmp_path, "--pair", "eng-ces")
    assert values(found, "segment", "m")["pearson"] == pytest.approx(1)
    assert found["outputs"] == 40
    assert "no language pair 'eng-fra'" in correlate(tmp_path, "--pair", "eng-fra", code=2)


REFUSED = {
    "no common output": ("unit,system,score\nx,A,1\n", (), "No output has both"),
    "two scores": ("unit,system,score,rating\nu1,A,1,2\n", (), "'score' and 'rating' could each be the score"),
    "no system": ("unit,score\nu1,1\n", (), "no column is called system"),
    "no number": ("unit,system,score\nu1,A,good\n", (), "finite number"),
    "no such metric": ("unit,system,score\nu1,A,1\n", ("--metric", "bleu"), "has no metric 'bleu'. It has: m"),
    "no such loss": ("unit,system,score\nu1,A,1\n", ("--lower", "ter"), "--lower names 'ter'"),
    "a pair of nothing": ("unit,system,score\nu1,A,1\n", ("--pair", "a-b"), "names no languages"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_correlated_is_refused(tmp_path, name):
    human, words, told = REFUSED[name]
    (tmp_path / "units.csv").write_text("unit,system,metric,value\nu1,A,m,1\n")
    (tmp_path / "human.csv").write_text(human)
    ended = here("judge", "correlate", "units.csv", "human.csv", *words, cwd=tmp_path)
    assert ended.code in (1, 2)
    assert told in " ".join(ended.stderr.split())
