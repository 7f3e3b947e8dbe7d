"""Intervals: against scipy and by hand, and all the cases in which there is none."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.samples import F1, HIGHEST, MEAN, RATIO, SHARE, counts, means, metric, names, scores, table

from basanite.analysis.interval_methods import exact_bounds
from basanite.analysis.intervals import (
    OPTIMISTIC,
    OUTSIDE,
    TOO_FEW,
    UNDEFINED,
    UNDEFINED_DRAWS,
    interval,
    jackknife,
    values,
)
from basanite.analysis.resampling import Portion, weights
from basanite.analysis.results import Design
from basanite.kernel import UnitRows

BCA = Design(draws=6000, interval="bca")
PERCENTILE = Design(interval="percentile")
numbers = st.floats(-1000, 1000).map(lambda number: round(number, 3))


def skewed(units=60, seed=1):
    return np.random.default_rng(seed).exponential(size=units)


def test_a_percentile_interval_is_that_of_scipy():
    values = skewed(200)
    ours = interval(MEAN, means(values), replace(PERCENTILE, draws=20_000))
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=1)
    assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, rel=0.01)


def test_a_bca_interval_is_that_of_scipy():
    values = skewed(40)
    ours = interval(MEAN, means(values), Design(draws=20_000, interval="bca"))
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=1)
    plain = interval(MEAN, means(values), replace(PERCENTILE, draws=20_000))
    assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, rel=0.015)
    assert ours.high > 1.01 * plain.high


def test_an_interval_is_two_quantiles_of_values_recomputed_draw_by_draw():
    one = counts(np.random.default_rng(2), 30)
    drawn = [F1.of(np.repeat(one.rows, row.astype(int), axis=0)) for row in weights(30, draws=300, seed=4)]
    found = interval(F1, one, replace(PERCENTILE, draws=300, seed=4))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert found.value == pytest.approx(F1.of(one.rows))


def test_the_jackknife_leaves_out_each_unit_in_turn():
    rows = counts(np.random.default_rng(3), 25).rows
    assert jackknife(F1, Portion(np.arange(25), rows, 25)) == pytest.approx(
        [F1.of(np.delete(rows, place, axis=0)) for place in range(25)]
    )


def test_exact_bounds_are_those_of_scipy():
    for hits, trials in [(0, 20), (20, 20), (7, 20), (1, 400)]:
        theirs = scipy.stats.binomtest(hits, trials).proportion_ci(method="exact")
        assert exact_bounds(hits / trials, trials, 0.95) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.req("S-13")
def test_fourteen_units_are_too_few_and_fifteen_are_enough():
    few, enough = (interval(MEAN, means(np.arange(float(units))), Design()) for units in (14, 15))
    assert (few.low, few.high, few.flags, few.value) == (None, None, (TOO_FEW,), 6.5)
    assert enough.low < enough.value < enough.high


@pytest.mark.req("S-13")
def test_four_carriers_are_too_few_and_five_are_enough():
    for carrying, bounded in ((4, False), (5, True)):
        rows = np.zeros((40, 2))
        rows[:carrying] = [[0.1 * place, 1] for place in range(carrying)]
        carried = metric("carried", RATIO.reduce, ("x", "has"), carrier="has")
        found = interval(carried, table(rows, ("x", "has")), Design())
        assert (found.low is not None) == bounded
        assert (TOO_FEW in found.flags) != bounded


@pytest.mark.req("S-13")
def test_a_zero_width_interval_of_a_share_becomes_the_exact_binomial_bound():
    found = interval(SHARE, means(np.ones(20)), Design())
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 20), 1.0))
    assert found.flags == ("exact binomial bound over 20 units",)


@pytest.mark.req("S-13")
def test_a_zero_width_interval_of_another_metric_is_not_printed():
    found = interval(MEAN, means(np.full(50, 0.1)), Design())
    assert (found.low, found.high) == (None, None)
    assert "every draw gives the same value" in found.flags[0]


@pytest.mark.req("S-13")
def test_undefined_draws_are_counted_and_too_many_leave_no_interval():
    rows = np.zeros((40, 2))
    rows[:7] = [[place, 1] for place in range(7)]
    found = interval(RATIO, table(rows), Design(draws=4000))
    assert 0 < found.undefined < 0.05 * 4000
    assert found.low is not None
    many = interval(RATIO, table(np.roll(rows * (np.arange(40) < 2)[:, None], 3, axis=0)), Design(draws=4000))
    assert many.undefined > 0.05 * 4000
    assert (many.low, many.flags) == (None, (UNDEFINED_DRAWS,))


@pytest.mark.req("S-13")
def test_bca_with_too_few_draws_falls_back_and_says_so():
    found = interval(MEAN, means(skewed()), Design(draws=4999, interval="bca"))
    plain = interval(MEAN, means(skewed()), replace(PERCENTILE, draws=4999))
    assert (found.low, found.high) == (plain.low, plain.high)
    assert found.flags == ("percentile interval instead of BCa: BCa needs 5,000 draws",)
    assert interval(MEAN, means(skewed()), Design(draws=5000, interval="bca")).flags == ()


@pytest.mark.req("S-13")
def test_bca_falls_back_when_all_draws_lie_on_one_side():
    lowest = metric("spread", lambda sums: sums[..., 1] - np.abs(sums[..., 0]), ("x", "count"))
    balanced = means(np.tile([-1.0, 1.0], 20))
    assert "one side" in interval(lowest, balanced, BCA).flags[0]


@pytest.mark.req("S-13")
def test_bca_falls_back_when_the_jackknife_is_constant():
    square = metric("square", lambda sums: sums[..., 0] ** 2 - 3 * sums[..., 0], ("x",))
    values = np.tile([-1.0, 1.0], 20)
    rows = np.column_stack([values])
    left_out = jackknife(
        metric("even", lambda sums: np.abs(sums[..., 0]), ("x",)), Portion(np.arange(len(rows)), rows, len(rows))
    )
    assert np.ptp(left_out) == 0
    lopsided = metric("lopsided", lambda sums: np.where(np.abs(sums[..., 0]) < 1.5, 0, sums[..., 0]), ("x",))
    assert "jackknife" in interval(lopsided, table(rows, ("x",)), BCA).flags[0]
    assert interval(square, table(rows, ("x",)), BCA).flags == ()


def test_no_end_is_moved_to_an_estimate_that_lies_outside():
    rows = np.random.default_rng(4).normal(size=(60, 1500))
    found = interval(HIGHEST, table(rows, tuple(map(str, range(1500)))), PERCENTILE)
    assert (found.low, found.high, found.flags) == (None, None, (OUTSIDE,))


def test_an_undefined_value_is_nan_with_a_flag():
    found = interval(RATIO, table(np.zeros((30, 2))), Design())
    assert np.isnan(found.value)
    assert (found.low, found.flags) == (None, (UNDEFINED,))


def test_one_unit_has_a_value_and_no_interval():
    found = interval(MEAN, means([3.0]), Design())
    assert (found.value, found.low, found.units, found.flags) == (3.0, None, 1, (TOO_FEW,))


def test_metrics_of_one_table_are_given_together_with_what_the_task_says_of_them():
    one, other = means(skewed()), table(skewed(90).reshape(30, 3), HIGHEST.columns)
    made = scores(
        {"mean": one, "share": one, "highest": other},
        metrics=(MEAN, SHARE, HIGHEST),
        flags={"mean": ("provisional",)},
        parts={"mean": {"threshold": 0.5}},
    )
    found = values(made, Design())
    assert list(found) == ["mean", "share", "highest"]
    assert found["mean"].flags == ("provisional",)
    assert found["mean"].parts == {"threshold": 0.5}
    assert OPTIMISTIC in found["highest"].flags
    assert found["mean"].low == interval(MEAN, one, Design()).low


@settings(deadline=None, max_examples=50)
@given(st.lists(numbers, min_size=15, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_units_changes_nothing(values, dice):
    one, order = means(values), list(range(len(values)))
    dice.shuffle(order)
    shuffled = means([values[place] for place in order], units=tuple(names(len(values))[place] for place in order))
    first, second = (interval(MEAN, each, Design(draws=50)) for each in (one, shuffled))
    assert second.value == pytest.approx(first.value)
    assert (first.low is None) == (second.low is None)
    if first.low is not None:
        assert (second.low, second.high) == pytest.approx((first.low, first.high))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=15, max_size=30), st.sampled_from(["percentile", "bca"]))
def test_an_interval_holds_its_estimate(rows, method):
    for each in (F1, HIGHEST):
        found = interval(each, table(rows, each.columns), Design(draws=100, interval=method))
        assert found.low is None or found.low <= found.value <= found.high
        assert found.low is not None or found.flags


def test_a_wide_table_is_drawn_in_little_memory():
    import tracemalloc

    rows = np.ones((200, 2000)) + np.arange(200)[:, None]
    wide = UnitRows("unit", names(200), tuple(map(str, range(2000))), rows)
    tracemalloc.start()
    interval(HIGHEST, wide, Design())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
