"""Adjusted p, groups and rank ranges."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.samples import COST, MEAN, means

from basanite.analysis.comparison import beats, draws_for, groups, holm, rank_ranges, ranking, romano_wolf, studentise
from basanite.analysis.paired import enter
from basanite.analysis.results import Design, Difference
from basanite.errors import SettingError


def decided(first, second, verdict):
    return Difference("mean", first, second, 0.0, None, None, 0.0, 0.0, verdict)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]


def test_holm_counts_undefined_tests_but_does_not_adjust_them():
    found = holm([0.01, float("nan")])
    assert found[0] == 0.02
    assert np.isnan(found[1])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_only_raises(p_values):
    found = holm(p_values)
    order = np.argsort(p_values)
    assert (np.diff(np.array(found)[order]) >= 0).all()
    assert all(p <= adjusted <= 1 for p, adjusted in zip(p_values, found, strict=True))


def test_romano_wolf_by_hand():
    draws = np.array([[0.1, -2.5, 0.3], [1.0, 0.2, -3.0], [-4.0, 0.1, 0.1], [0.5, 0.5, 0.5]])
    observed = np.array([3.5, -2.0, 0.4])
    by_hand = [(1 + 1) / 5, (2 + 1) / 5, (2 + 1) / 5]
    assert romano_wolf(observed, draws) == pytest.approx(by_hand)


def test_romano_wolf_is_kinder_than_holm_when_tests_go_together():
    draws = np.repeat(np.random.default_rng(0).normal(size=(20_000, 1)), 5, axis=1)
    observed = np.full(5, 2.2)
    alone = np.mean(np.abs(draws[:, 0]) >= 2.2)
    assert romano_wolf(observed, draws)[0] == pytest.approx(alone, rel=0.01)
    assert holm([alone] * 5)[0] == pytest.approx(5 * alone)


def test_romano_wolf_seldom_cries_wolf():
    alarms = 0
    for campaign in range(60):
        generator = np.random.default_rng(campaign)
        systems = [(name, means(generator.normal(size=40)), (MEAN,)) for name in "ABCD"]
        pairs = list(combinations(enter(systems, Design(draws=1)), 2))
        alarms += min(romano_wolf(*studentise(pairs, draws=400, seed=0))) <= 0.05
    assert alarms <= 8


def test_tests_have_their_own_draws():
    assert draws_for(Design(draws=50, test_draws=1000), 1) == 10_000
    assert draws_for(Design(), 120) == 12_000
    assert draws_for(Design(test_draws=50_000), 120) == 50_000


def test_a_family_in_which_nothing_could_be_shown_is_refused_with_the_draws_needed():
    with pytest.raises(SettingError, match="set test_draws to 55,000 or more"):
        draws_for(Design(alpha=0.001), 55)
    assert draws_for(Design(alpha=0.001, test_draws=55_000), 55) == 55_000


def test_a_group_ends_only_where_all_above_beat_all_below():
    order = ["a", "b", "c", "d"]
    chain = {("a", "c"), ("a", "d"), ("b", "d")}
    assert groups(order, chain) == (("a", "b", "c", "d"),)
    assert groups(order, chain | {("b", "c")}) == (("a", "b"), ("c", "d"))
    assert groups(order, {("a", other) for other in "bcd"}) == (("a",), ("b", "c", "d"))
    assert groups(order, set()) == (("a", "b", "c", "d"),)


def test_rank_ranges_count_those_shown_better_and_those_shown_worse():
    found = rank_ranges(["a", "b", "c", "d"], {("a", "c"), ("a", "d"), ("b", "d")})
    assert found == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}


def test_a_ranking_names_those_not_shown_worse_than_the_best():
    found = [decided("a", "b", "undecided"), decided("a", "c", "first"), decided("b", "c", "no difference shown")]
    made = ranking(MEAN, {"c": 0.1, "a": 0.9, "b": 0.5}, found)
    assert made.order == ("a", "b", "c")
    assert made.not_worse_than_best == ("a", "b")
    assert made.groups == (("a", "b", "c"),)


def test_low_is_best_where_the_metric_says_so_and_undefined_comes_last():
    assert ranking(COST, {"a": 0.9, "b": float("nan"), "c": 0.1}, []).order == ("c", "a", "b")


def test_the_winner_is_the_system_the_verdict_names():
    found = [decided("a", "b", "second"), decided("a", "c", "first"), decided("b", "c", "identical")]
    assert beats(found) == {("b", "a"), ("a", "c")}
