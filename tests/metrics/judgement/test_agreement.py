"""Kappa, W, ICC and single judges against scikit-learn, scipy, published tables and plain loops."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare
from sklearn.metrics import cohen_kappa_score

from basanite.metrics.judgement.agreement import (
    class_agreement,
    intraclass,
    judge_figures,
    kappa,
    kendalls_w,
    percent_agreement,
    rank_consistency,
    reliability_of_mean,
)
from basanite.metrics.judgement.estimate import with_interval

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_that_of_scikit_learn(weights, seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(1, 6, 40)
    other = np.clip(one + rng.integers(-1, 2, 40), 1, 5)
    peer = cohen_kappa_score(one, other, weights=None if weights == "none" else weights)
    assert kappa(one, other, weights).value == pytest.approx(peer, abs=1e-12)


def test_kappa_passes_over_items_that_one_judge_left_out():
    assert kappa([1, 2, np.nan, 2, 1], [1, 2, 2, 1, np.nan]) == kappa([1, 2, 2], [1, 2, 1])
    assert "share no item" in kappa([1, np.nan], [np.nan, 1]).reason
    assert "the same" in kappa([2, 2], [2, 2]).reason


@pytest.mark.parametrize("seed", range(5))
def test_w_with_ties_is_friedmans_statistic_over_its_largest_value(seed):
    scores = np.random.default_rng(seed).integers(1, 5, (9, 5)).astype(float)
    assert kendalls_w(scores).value == pytest.approx(friedmanchisquare(*scores)[0] / (5 * 8), abs=1e-9)


def test_w_is_undefined_with_a_reason_where_all_is_tied_or_nobody_ranked_the_same():
    assert "ties" in kendalls_w([[1, 1], [1, 1]]).reason
    assert "fewer" in kendalls_w([[1, np.nan], [np.nan, 2]]).reason


def test_intraclass_correlations_are_those_of_shrout_and_fleiss():
    found = intraclass(SHROUT_FLEISS)
    published = {
        "one_way": 0.17,
        "agreement": 0.29,
        "consistency": 0.71,
        "one_way_mean": 0.44,
        "agreement_mean": 0.62,
        "consistency_mean": 0.91,
    }
    assert {name: round(getattr(found, name).value, 2) for name in published} == published


@pytest.mark.parametrize("seed", range(4))
def test_the_one_way_correlation_comes_from_an_analysis_of_variance_with_missing_ratings(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(0, 1, (12, 1)) + rng.normal(0, 1, (12, 4))
    table[rng.random(table.shape) < 0.3] = np.nan
    table[:, 0] = np.nan_to_num(table[:, 0])
    groups = [[x for x in row if not math.isnan(x)] for row in table]
    total = [x for group in groups for x in group]
    between = sum(len(g) * (np.mean(g) - np.mean(total)) ** 2 for g in groups) / (len(groups) - 1)
    within = sum((x - np.mean(g)) ** 2 for g in groups for x in g) / (len(total) - len(groups))
    typical = (len(total) - sum(len(g) ** 2 for g in groups) / len(total)) / (len(groups) - 1)
    found = intraclass(table)
    assert found.one_way.value == pytest.approx((between - within) / (between + (typical - 1) * within))
    assert reliability_of_mean(table).value == pytest.approx((between - within) / between)


def test_reliability_that_cannot_be_told_says_why():
    assert intraclass([[1, 2]]).one_way.reason
    assert intraclass([[1, np.nan], [np.nan, 2]]).consistency.reason
    assert intraclass([[3, 3], [3, 3]]).one_way_mean.reason


def test_the_mean_of_more_judges_is_more_reliable():
    rng = np.random.default_rng(0)
    table = rng.normal(0, 1, (200, 1)) + rng.normal(0, 1, (200, 8))
    assert reliability_of_mean(table[:, :2]).value < reliability_of_mean(table).value - 0.1


def test_percent_is_the_share_of_equal_pairs():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 3, (20, 4)).astype(float)
    pairs = [one == other for row in table for one, other in itertools.combinations(row, 2)]
    assert percent_agreement(table).value == pytest.approx(np.mean(pairs))
    assert percent_agreement([[1, np.nan]]).reason


def test_a_rare_class_on_which_nobody_agrees_is_seen_by_itself():
    table = np.zeros((50, 2))
    table[0, 0] = table[1, 1] = 1
    found = class_agreement(table)
    assert percent_agreement(table).value == pytest.approx(0.96)
    assert found[1.0].value == 0
    assert found[0.0].value == pytest.approx(96 / 98)


def test_bias_spread_and_distance_of_a_judge_come_from_the_others_on_the_same_items():
    rng = np.random.default_rng(2)
    table = rng.normal(0, 1, (30, 4))
    table[:, 1] += 2
    table[rng.random(table.shape) < 0.2] = np.nan
    for at, judge in enumerate(judge_figures(table)):
        shared = [row for row in table if not np.isnan(row[at]) and (~np.isnan(row)).sum() > 1]
        apart = [row[at] - np.nanmean(np.delete(row, at)) for row in shared]
        assert judge.items == len(shared)
        assert judge.bias == pytest.approx(np.mean(apart))
        assert judge.distance == pytest.approx(np.mean(np.abs(apart)))
        assert judge.spread == pytest.approx(np.nanstd(table[:, at], ddof=1))
        others = [np.nanmean(np.delete(row, at)) for row in shared]
        assert judge.correlation.value == pytest.approx(np.corrcoef([row[at] for row in shared], others)[0, 1])


def test_a_judge_whom_nobody_shares_an_item_with_has_no_bias():
    judge = judge_figures([[1, np.nan], [np.nan, 2], [3, np.nan]])[0]
    assert math.isnan(judge.bias)
    assert judge.correlation.reason


def test_ranks_that_follow_the_stars_are_consistent_and_reversed_ones_are_not():
    stars = [5, 4, 4, 2, 1]
    assert rank_consistency(stars, [1, 3, 2, 4, 5]).value == 1
    assert rank_consistency(stars, [5, 3, 4, 2, 1]).value == 0
    assert rank_consistency([5, 4, 3], [1, 3, 2]).value == pytest.approx(2 / 3)
    assert rank_consistency([3, 3], [1, 2]).reason


def test_intervals_draw_items_and_hold_the_estimate():
    rng = np.random.default_rng(3)
    table = rng.normal(0, 1, (60, 1)) + rng.normal(0, 0.7, (60, 3))
    found = with_interval(table, reliability_of_mean, draws=300)
    assert found.low < found.value < found.high
    assert with_interval(table, reliability_of_mean, draws=300) == found
    assert with_interval(table[:10], reliability_of_mean).low is None
