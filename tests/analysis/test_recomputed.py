"""Metrics that are no function of sums: where both ways exist they must agree, and clusters move as a whole."""

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.samples import F1, counts, metric, names, scores, table

from basanite.analysis.comparison import compare
from basanite.analysis.intervals import interval
from basanite.analysis.paired import difference
from basanite.analysis.results import Design
from basanite.analysis.system import analyse
from basanite.kernel import LevelRows

DESIGN = Design(draws=400)


def _f1_computed(rows, weights):
    return F1.reduce(weights @ rows)


def _median(rows, weights):
    """The weighted lower median, which no sum can give."""
    order = np.argsort(rows[:, 0], kind="stable")
    reached = np.cumsum(weights[:, order], axis=1) >= weights.sum(axis=1, keepdims=True) / 2
    return rows[order, 0][reached.argmax(axis=1)]


COMPUTED = replace(F1, compute=_f1_computed)
MEDIAN = metric("median", None, ("x",), compute=_median)


def pair(units=40, **more):
    first, second = (counts(np.random.default_rng(seed), units, skill=skill) for seed, skill in ((1, 0.75), (2, 0.6)))
    return tuple(replace(one, **more) for one in (first, second))


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("clusters", [None, np.arange(40) // 2])
def test_a_value_and_its_interval_are_the_same_computed_either_way(method, clusters):
    one = pair(clusters=clusters)[0]
    design = Design(draws=5000 if method == "bca" else 400, interval=method)
    by_sums, again = interval(F1, one, design), interval(COMPUTED, one, design)
    assert (again.value, again.low, again.high) == pytest.approx((by_sums.value, by_sums.low, by_sums.high), rel=1e-12)
    assert again.units == by_sums.units == 40


@pytest.mark.parametrize("units", [12, 40])
@pytest.mark.parametrize("clustered", [False, True])
def test_a_difference_and_its_p_are_the_same_computed_either_way(units, clustered):
    one, two = pair(units, clusters=np.arange(units) // 2 if clustered else None)
    by_sums = difference(F1, one, two, design=DESIGN, draws=10_000)
    again = difference(COMPUTED, one, two, design=DESIGN, draws=10_000)
    assert again.difference == pytest.approx(by_sums.difference, rel=1e-12)
    assert again.p == pytest.approx(by_sums.p, abs=0.03)  # the pulls that studentise differ in the second order
    if by_sums.low is not None:
        assert (again.low, again.high) == pytest.approx((by_sums.low, by_sums.high), rel=1e-12)
    assert again.verdict == by_sums.verdict


def test_the_order_of_units_in_a_file_changes_nothing():
    one, two = pair(clusters=np.arange(40) // 4)
    order = np.random.default_rng(0).permutation(40)
    moved = replace(two, units=tuple(two.units[at] for at in order), rows=two.rows[order], clusters=two.clusters[order])
    assert difference(COMPUTED, one, moved, design=DESIGN) == difference(COMPUTED, one, two, design=DESIGN)


def test_identical_systems_have_p_1():
    one, _ = pair()
    assert difference(COMPUTED, one, one, design=DESIGN).p == 1.0


def test_the_median_is_drawn_and_broken_down_by_levels():
    values = np.random.default_rng(3).exponential(size=60)
    index = np.arange(0, 60, 2)
    one = table(values[:, None], ("x",), levels={"kind": {"even": LevelRows(index, values[index][:, None])}})
    found = analyse(scores({"median": one}, metrics=(MEDIAN,)), DESIGN, version="0")
    assert found.values["median"].value == np.sort(values)[29]
    assert found.values["median"].low < found.values["median"].value < found.values["median"].high
    assert found.breakdowns["kind"]["even"]["median"].value == np.sort(values[index])[14]


@pytest.mark.parametrize("adjustment", ["holm", "romano-wolf"])
def test_systems_are_compared_on_a_metric_that_must_be_computed(adjustment):
    tables = [
        table(np.random.default_rng(seed).exponential(scale, (50, 1)), ("x",)) for seed, scale in ((1, 1), (2, 3))
    ]
    design = Design(draws=300, adjustment=adjustment)
    analyses = [
        analyse(scores({"median": one}, system=name, metrics=(MEDIAN,)), design, version="0")
        for name, one in zip("AB", tables, strict=True)
    ]
    found = compare(analyses, None, design).differences[0]
    assert found.difference == pytest.approx(np.sort(tables[0].rows[:, 0])[24] - np.sort(tables[1].rows[:, 0])[24])
    assert 0 < found.p <= found.p_adjusted <= 1
    assert set(dict(found.moved)) <= set(names(50))
