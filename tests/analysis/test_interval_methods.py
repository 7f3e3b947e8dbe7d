"""Each method of an interval against an independent formula, and what follows from a metric's own choice (S-25)."""

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import brentq
from tests.analysis.samples import F1, MEAN, counts, means, metric, table

from basanite.analysis.interval_methods import METHODS, Sample, exact_bounds, student_quantile
from basanite.analysis.intervals import TOO_FEW, interval, left_out
from basanite.analysis.paired import difference
from basanite.analysis.resampling import Portion
from basanite.analysis.results import Design
from basanite.errors import SettingError
from basanite.kernel import NOT_NEGATIVE
from basanite.kernel import SHARE as UNIT

SHARE = metric("share", MEAN.reduce, ("x", "count"), range=UNIT, interval="wilson")


def sample(values, level=0.95):
    """A mean of these values, with draws that no method below needs."""
    values = np.asarray(values, dtype=np.float64)
    without = (values.sum() - values) / (len(values) - 1)
    return Sample(float(values.mean()), np.zeros(0), len(values), level, lambda: without)


def zeros_and_ones(units, hits):
    return (np.arange(units) < hits).astype(float)


@pytest.mark.parametrize("freedom", [14, 29, 99, 999])
@pytest.mark.parametrize("tail", [0.9, 0.975, 0.995])
def test_the_quantile_of_t_is_that_of_scipy(freedom, tail):
    assert student_quantile(tail, freedom) == pytest.approx(scipy.stats.t.ppf(tail, freedom), rel=1e-4)


@pytest.mark.parametrize(("hits", "trials"), [(0.0, 15.0), (0.4, 33.3), (7.0, 20.0), (20.0, 20.0), (99.0, 1e7)])
def test_exact_bounds_are_quantiles_of_beta_distributions(hits, trials):
    low = scipy.stats.beta.ppf(0.025, hits, trials - hits + 1) if hits else 0.0
    high = scipy.stats.beta.ppf(0.975, hits + 1, trials - hits) if hits < trials else 1.0
    assert exact_bounds(hits / trials, trials, 0.95) == pytest.approx((low, high), rel=1e-6)


def test_without_skewness_a_studentized_interval_is_that_of_the_t_test():
    values = np.concatenate([np.arange(-15.0, 0), np.arange(1.0, 16)])
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert METHODS["studentized"](sample(values)) == pytest.approx((theirs.low, theirs.high), rel=1e-4)


def test_a_studentized_interval_solves_the_cubic_of_hall():
    values = np.random.default_rng(5).exponential(size=40)
    number, mean, deviation = 40, values.mean(), values.std()
    skewness = scipy.stats.skew(values)

    def bent(truth):
        w = (mean - truth) / (deviation * (number / (number - 1)) ** 0.5)  # in deviations that divide by n - 1
        return w + skewness * w**2 / 3 + skewness**2 * w**3 / 27 + skewness / (6 * number)

    step = scipy.stats.t.ppf(0.975, number - 1) / number**0.5
    wanted = [brentq(lambda truth, side=side: bent(truth) - side, mean - 9, mean + 9) for side in (step, -step)]
    assert METHODS["studentized"](sample(values)) == pytest.approx(wanted, rel=1e-4)


def test_a_wilson_interval_is_the_formula_with_the_jackknifes_trials_and_t():
    share, trials, quantile = 0.1, 29, scipy.stats.t.ppf(0.975, 29)  # s^2/n of 30 zeros and ones is p(1-p)/29
    square = quantile**2 / trials
    middle, half = share + square / 2, (square * share * (1 - share) + square**2 / 4) ** 0.5
    wanted = (middle - half) / (1 + square), (middle + half) / (1 + square)
    assert METHODS["wilson"](sample(zeros_and_ones(30, 3))) == pytest.approx(wanted, rel=1e-3)


def test_an_exact_interval_shrinks_the_trials_as_t_is_wider_than_the_normal():
    trials = 29 * (1.959964 / scipy.stats.t.ppf(0.975, 29)) ** 2
    wanted = (
        scipy.stats.beta.ppf(0.025, 0.1 * trials, 0.9 * trials + 1),
        scipy.stats.beta.ppf(0.975, 0.1 * trials + 1, 0.9 * trials),
    )
    assert METHODS["exact"](sample(zeros_and_ones(30, 3))) == pytest.approx(wanted, rel=1e-3)


def test_an_exact_interval_of_many_hits_is_wilsons():
    many = sample(np.tile([0.0, 1.0], 500))
    assert METHODS["exact"](many) == METHODS["wilson"](many)
    theirs = scipy.stats.binomtest(500, 1000).proportion_ci(method="exact")
    assert METHODS["exact"](many) == pytest.approx((theirs.low, theirs.high), abs=0.001)


def test_units_are_left_out_once_for_an_exact_interval_that_is_wilsons():
    values = zeros_and_ones(4_000, 2_000)
    without, runs = (values.sum() - values) / (len(values) - 1), []

    def leave_out():
        runs.append(1)
        return without

    METHODS["exact"](Sample(0.5, np.zeros(0), len(values), 0.95, leave_out))
    assert len(runs) == 1


@pytest.mark.parametrize("method", ["wilson", "exact"])
def test_a_method_for_shares_needs_a_range_with_two_ends(method):
    with pytest.raises(ValueError, match=f"open asks for {method} intervals, which need a range with two finite ends"):
        metric("open", MEAN.reduce, ("x", "count"), range=NOT_NEGATIVE, interval=method)
    unbounded = metric("open", MEAN.reduce, ("x", "count"), range=lambda **_: NOT_NEGATIVE, interval=method)
    found = interval(unbounded, means(np.random.default_rng(1).random(40)), Design(draws=50))
    assert (found.low, found.flags) == (None, ("no interval: its method needs a range with two finite ends",))


def test_the_longer_side_of_a_skewed_interval_is_at_most_twice_the_plain_one():
    for units in (15, 30, 1_000):
        values = (np.arange(units) == 0).astype(float) * units
        low, high = METHODS["studentized"](sample(values))
        plain = student_quantile(0.975, units - 1) * values.std(ddof=1) / units**0.5
        assert 1.9 < (high - 1) / plain < 2
        assert 1 - low < plain


def test_expanded_tails_are_those_of_hesterberg():
    draws = np.random.default_rng(1).normal(size=20_000)
    one = Sample(0.0, draws, 30, 0.95, lambda: np.zeros(0))
    tail = scipy.stats.norm.cdf(-scipy.stats.t.ppf(0.975, 29) * (30 / 29) ** 0.5)
    assert METHODS["expanded"](one) == pytest.approx(tuple(np.quantile(draws, [tail, 1 - tail])), rel=1e-3)


@pytest.mark.req("S-25")
def test_each_metric_has_its_own_method_unless_one_is_asked_for():
    one = means(zeros_and_ones(40, 13))
    found = {name: interval(SHARE, one, Design(interval=name)) for name in ("metric", "percentile")}
    assert [value.method for value in found.values()] == ["wilson", "percentile"]
    assert found["metric"].low != found["percentile"].low


def test_a_metric_may_need_more_units_than_others():
    careful = metric("careful", MEAN.reduce, ("x", "count"), fewest=50)
    few, enough = (interval(careful, means(np.arange(float(units))), Design()) for units in (49, 50))
    assert (few.low, few.method, few.flags) == (None, "", (f"{TOO_FEW} (this metric needs 50)",))
    assert (enough.low is not None, enough.method) == (True, "studentized")


def test_a_method_that_nobody_knows_is_refused_by_its_name():
    odd = metric("odd", MEAN.reduce, ("x", "count"), interval="lucky")
    with pytest.raises(SettingError, match=r"odd .*'lucky'"):
        interval(odd, means(np.arange(30.0)), Design())


def test_ends_stay_inside_the_range():
    found = interval(metric("mean", MEAN.reduce, ("x", "count"), range=UNIT), means(zeros_and_ones(20, 1)), Design())
    assert (found.method, found.low) == ("studentized", 0.0)


def test_a_value_that_is_undefined_without_one_unit_has_no_interval():
    rows = np.zeros((40, 2))
    rows[0] = 1, 1
    lucky = metric("lucky", lambda sums: np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan), ("x", "n"))
    found = interval(lucky, table(rows, ("x", "n")), Design(draws=40))
    assert found.low is None
    assert "undefined" in found.flags[0]


def test_many_units_are_left_out_in_a_thousand_groups():
    rows = np.column_stack([np.random.default_rng(2).exponential(size=2500), np.ones(2500)])
    without = left_out(MEAN, Portion(np.arange(2500), rows, 2500))
    assert without.shape == (1000,)
    assert without[3] == pytest.approx(np.delete(rows[:, 0], [3, 1003, 2003]).mean())
    error = (999 / 1000 * ((without - without.mean()) ** 2).sum()) ** 0.5
    assert error == pytest.approx(rows[:, 0].std(ddof=1) / 50, rel=0.1)


def test_a_difference_of_shares_is_studentized_for_it_is_no_share():
    first, second = (means(zeros_and_ones(40, hits)[order]) for hits, order in ((25, slice(None)), (14, slice(None))))
    found = difference(SHARE, first, second, design=Design())
    gaps = first.rows[:, 0] - second.rows[:, 0]
    assert found.method == "studentized"
    assert (found.low, found.high) == pytest.approx(METHODS["studentized"](sample(gaps)))


def test_the_interval_of_a_difference_leaves_whole_pairs_out():
    rng = np.random.default_rng(6)
    first, second = counts(rng, 30), counts(rng, 30)
    without = [F1.of(np.delete(a, 0, 0)) - F1.of(np.delete(b, 0, 0)) for a, b in [(first.rows, second.rows)]]
    portions = [left_out(F1, Portion(np.arange(30), one.rows, 30)) for one in (first, second)]
    assert portions[0][0] - portions[1][0] == pytest.approx(without[0])
    assert difference(F1, first, second, design=Design()).method == "studentized"


def test_skewed_means_are_held_where_percentiles_miss_them():
    rng, truth = np.random.default_rng(7), np.exp(0.5)
    held = {"studentized": 0, "percentile": 0}
    for _ in range(400):
        one = means(rng.lognormal(size=30))
        for name in held:
            found = interval(MEAN, one, Design(draws=300, interval="metric" if name == "studentized" else name))
            held[name] += found.low <= truth <= found.high
    assert held["studentized"] > held["percentile"] + 12
    assert held["studentized"] >= 0.9 * 400
