"""Paired differences: against brute force and scipy, and when there is no verdict."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.samples import COST, F1, MEAN, RATIO, counts, means, metric, names, table

from basanite.analysis.paired import IncomparableError, between_levels, difference, give_verdict
from basanite.analysis.resampling import signs, weights
from basanite.analysis.results import Design
from basanite.kernel import LevelRows

DESIGN = Design()
small = st.integers(0, 4)


def pair(units, *, gap=0.0, seed=0):
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=units)
    return means(shared + gap + generator.normal(size=units)), means(shared + generator.normal(size=units))


def two_counts(units, seed=0):
    generator = np.random.default_rng(seed)
    return counts(generator, units, skill=0.8), counts(generator, units, skill=0.6)


@pytest.mark.req("S-12")
def test_the_exact_p_of_a_mean_is_that_of_all_sign_flips():
    first, second = pair(9, gap=0.9)
    gaps = first.rows[:, 0] - second.rows[:, 0]
    flipped = [abs(np.dot(signs, gaps)) for signs in itertools.product([1, -1], repeat=9)]
    by_hand = np.mean(np.array(flipped) >= abs(gaps.sum()) - 1e-12)
    assert difference(MEAN, first, second, design=DESIGN).p == pytest.approx(by_hand)


@pytest.mark.req("S-12")
def test_the_p_of_a_mean_is_that_of_scipy():
    for units, resamples, close in ((12, np.inf, 1e-9), (40, 20_000, 0.1)):
        first, second = pair(units, gap=0.4, seed=3)
        samples = first.rows[:, 0], second.rows[:, 0]
        theirs = scipy.stats.permutation_test(
            samples, lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=resamples, rng=1
        )
        ours = difference(MEAN, first, second, design=DESIGN, draws=20_000)
        assert ours.p == pytest.approx(theirs.pvalue, rel=close)


@pytest.mark.req("S-12")
def test_the_exact_p_of_a_nonlinear_metric_swaps_rows_and_studentises():
    first, second = two_counts(8, seed=7)  # here the plain difference would give another p, 0.42
    observed = _studentised(first.rows, second.rows)
    swaps = itertools.product([False, True], repeat=8)
    drawn = [_studentised(*_swapped(first.rows, second.rows, np.array(swap))) for swap in swaps]
    by_hand = np.mean(np.array(drawn) >= observed - 1e-9)
    assert difference(F1, first, second, design=DESIGN).p == pytest.approx(by_hand)
    assert 0 < by_hand < 1


@pytest.mark.req("S-12")
def test_the_sampled_p_of_a_nonlinear_metric_swaps_rows_by_the_shared_signs():
    first, second = two_counts(30, seed=5)
    observed = _studentised(first.rows, second.rows)
    swaps = signs(30, draws=300, seed=0) < 0
    drawn = [_studentised(*_swapped(first.rows, second.rows, swap)) for swap in swaps]
    by_hand = (np.count_nonzero(np.array(drawn) >= observed - 1e-9) + 1) / 301
    assert difference(F1, first, second, design=DESIGN, draws=300).p == pytest.approx(by_hand)


@pytest.mark.req("S-12")
def test_a_linear_metric_with_unequal_counts_swaps_rows_too():
    first, second = pair(9, gap=0.9)
    rows = second.rows.copy()
    rows[2] = 0
    second = table(rows)
    as_ratio = replace(MEAN, linear=False)
    flipped, swapped = (difference(each, first, second, design=DESIGN).p for each in (MEAN, as_ratio))
    assert flipped == swapped


@pytest.mark.req("S-12")
def test_identical_systems_have_p_one():
    first, _ = pair(30)
    found = difference(MEAN, first, first, design=DESIGN)
    assert (found.difference, found.p, found.p_adjusted, found.verdict) == (0.0, 1.0, 1.0, "identical")
    assert difference(F1, *[two_counts(30)[0]] * 2, design=DESIGN).verdict == "identical"


def test_a_sampled_p_is_never_zero():
    found = difference(MEAN, means(np.arange(40.0) + 9), means(np.arange(40.0)), design=DESIGN, draws=500)
    assert found.p == 1 / 501


def test_the_better_system_is_the_verdict():
    first, second = pair(60, gap=1.0)
    assert difference(MEAN, first, second, design=DESIGN).verdict == "first"
    assert difference(COST, first, second, design=DESIGN).verdict == "second"
    assert difference(replace(MEAN, best="none"), first, second, design=DESIGN).verdict == "different"
    assert difference(MEAN, *pair(60), design=DESIGN).verdict == "no difference shown"


@pytest.mark.req("S-12")
def test_one_unit_that_makes_most_of_the_difference_leaves_it_undecided():
    first, second = pair(60, gap=1.0)
    rows = first.rows.copy()
    rows[17, 0] += 40
    found = difference(MEAN, table(rows), second, design=DESIGN)
    assert found.verdict == "undecided"
    assert found.dominant == "u0017"
    assert "u0017" in found.note
    assert found.moved[0][0] == "u0017"


@pytest.mark.req("S-12")
def test_p_and_interval_that_disagree_leave_it_undecided():
    clear = difference(MEAN, *pair(60, gap=1.0), design=DESIGN)
    unclear = difference(MEAN, *pair(60), design=DESIGN)
    assert unclear.low < 0 < unclear.high
    for found, p, words in ((clear, 0.06, "p 0.06 is above 0.05"), (unclear, 0.04, "p 0.04 is at most 0.05")):
        one = give_verdict(replace(found, p=p, p_adjusted=p), MEAN, alpha=0.05)
        assert one.verdict == "undecided"
        assert words in one.note
        assert f"{one.low:.4g} to {one.high:.4g}" in one.note


def test_a_difference_clear_alone_but_not_in_its_family_is_not_shown():
    clear = difference(MEAN, *pair(60, gap=1.0), design=DESIGN)
    assert give_verdict(replace(clear, p_adjusted=0.3), MEAN, alpha=0.05, family=10).verdict == "no difference shown"


def test_the_interval_of_a_difference_uses_the_shared_weights():
    first, second = two_counts(40)
    drawn = weights(40, draws=DESIGN.draws, seed=0)
    design = replace(DESIGN, interval="percentile")
    gaps = F1.value(drawn @ first.rows) - F1.value(drawn @ second.rows)
    found = difference(F1, first, second, design=design)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(gaps, [0.025, 0.975])))
    assert found.method == "percentile"


def test_units_are_matched_by_name():
    first, second = pair(30, gap=0.5)
    turned = means(second.rows[::-1, 0], units=names(30)[::-1])
    one, other = (difference(MEAN, first, each, design=DESIGN) for each in (second, turned))
    assert (one.p, one.verdict) == (other.p, other.verdict)
    assert [unit for unit, _ in one.moved] == [unit for unit, _ in other.moved]


def test_systems_with_other_units_are_refused_with_a_cure():
    first, second = means(np.arange(20.0)), means(np.arange(20.0), units=(*names(19), "stranger"))
    with pytest.raises(IncomparableError, match=r"'stranger'.*Score both against the same reference"):
        difference(MEAN, first, second, design=DESIGN)


@pytest.mark.req("S-10")
def test_systems_with_other_clusters_are_refused():
    first, second = (means(np.arange(20.0), clusters=np.arange(20) // size) for size in (2, 4))
    with pytest.raises(IncomparableError, match="clusters"):
        difference(MEAN, first, second, design=DESIGN)


@pytest.mark.req("S-10")
def test_the_test_flips_whole_clusters():
    first, second = pair(9, gap=0.9)
    clusters = np.repeat(np.arange(9), 3)
    doubled = [table(np.repeat(each.rows, 3, axis=0), clusters=clusters) for each in (first, second)]
    assert difference(MEAN, *doubled, design=DESIGN).p == difference(MEAN, first, second, design=DESIGN).p


def test_a_dominant_cluster_is_named_by_its_unit():
    values = np.zeros(40)
    values[::2], values[22] = 1, 50
    found = difference(
        MEAN,
        means(values, clusters=np.arange(40) // 2),
        means(np.zeros(40), clusters=np.arange(40) // 2),
        design=DESIGN,
    )
    assert found.dominant == "the cluster of u0022"


def test_an_undefined_value_gives_an_undefined_difference():
    found = difference(RATIO, table(np.zeros((20, 2))), means(np.arange(20.0)), design=DESIGN, names=("A", "B"))
    assert found.verdict == "undefined"
    assert found.note == "the value of A is undefined"
    assert np.isnan([found.difference, found.p, found.p_adjusted]).all()


def test_values_that_may_be_infinite_are_compared_without_harm():
    steep = metric("steep", lambda sums: np.where(sums[..., 0] > 24.5, np.inf, sums[..., 0]), ("x", "count"))
    found = difference(steep, means(np.tile([0.0, 1.1], 20)), means(np.ones(40) * 0.6), design=DESIGN)
    assert found.difference == pytest.approx(-2.0)
    assert 0 < found.p <= 1
    assert found.verdict in ("no difference shown", "undecided")


def test_one_unit_cannot_decide():
    found = difference(MEAN, means([3.0]), means([1.0]), design=DESIGN)
    assert (found.difference, found.p, found.low, found.verdict) == (2.0, 1.0, None, "undecided")


def test_too_few_units_for_any_small_p_leave_it_undecided():
    found = difference(MEAN, means([1.0, 1.1, 1.2, 1.1, 1.0]), means(np.zeros(5)), design=DESIGN)
    assert found.p == found.smallest_p == 2 / 32
    assert "no adjusted p below 0.0625 is possible" in found.note


def test_a_nonlinear_difference_undefined_in_some_draws_counts_them_as_far_apart():
    first = table([[1, 1], [0, 0], [0, 0]])
    second = table([[0, 0], [0, 0], [0, 1]])
    found = difference(RATIO, first, second, design=DESIGN)
    assert found.difference == 1
    assert found.p == 1


@pytest.mark.req("S-9")
def test_two_levels_are_compared_over_the_units_they_share():
    news, talk = LevelRows(np.arange(30), np.ones((30, 2))), LevelRows(np.arange(50)[:9:-1], np.ones((40, 2)))
    news.rows[:, 0] += np.arange(30) % 5
    talk.rows[:, 0] = np.arange(50)[:9:-1] % 3
    both = means(np.zeros(50), levels={"genre": {"news": news, "talk": talk}})
    found = between_levels(MEAN, both, "genre", ("news", "talk"), design=DESIGN)
    shared = np.arange(10, 30)
    assert found.difference == pytest.approx(np.mean(1 + shared % 5 - shared % 3))
    assert (found.first, found.second) == ("news", "talk")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(*[small] * 6), min_size=1, max_size=20))
def test_a_difference_is_antisymmetric_and_its_p_is_in_range(rows):
    cells = np.array(rows, dtype=float)
    first, second = table(cells[:, :3], F1.columns), table(cells[:, 3:], F1.columns)
    one, other = (
        difference(F1, *each, design=Design(draws=40), draws=99) for each in ((first, second), (second, first))
    )
    if one.verdict == "undefined":
        assert other.verdict == "undefined"
        return
    assert one.difference == pytest.approx(-other.difference)
    assert 0 < one.p == other.p <= 1
    assert {one.verdict, other.verdict} in ({"first", "second"}, {one.verdict})
    assert (one.low is None) == (other.low is None)
    if one.low is not None:
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)


def _swapped(first, second, swap):
    return np.where(swap[:, None], second, first), np.where(swap[:, None], first, second)


def _studentised(first, second):
    """The difference over the root of the centred sum of squares of what single swaps around the middle change."""
    middle = (first.sum(axis=0) + second.sum(axis=0)) / 2
    pulls = np.array(
        [F1.value(middle + (a - b) / 2) - F1.value(middle - (a - b) / 2) for a, b in zip(first, second, strict=True)]
    )
    return abs(F1.of(first) - F1.of(second)) / np.sqrt(np.sum((pulls - pulls.mean()) ** 2))
