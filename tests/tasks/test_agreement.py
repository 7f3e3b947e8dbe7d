"""Agreement on verdicts and on grades, against the krippendorff package, printed examples and counting pair by pair."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from tests.analysis.tables_of_votes import FIVE, panels, votes_in

from basanite.metrics.judgement.agreement import one_way
from basanite.metrics.judgement.alpha import alpha_listed, listed_ratings, percent_listed
from basanite.tasks.agreement import agreement, grade_agreement, judge_agreement

SEEDS = range(6)


@settings(max_examples=60, deadline=None)
@given(panels())
def test_alpha_of_votes_is_our_peers(table):
    votes = votes_in(table)
    ours = agreement(votes).alpha
    paired = votes.per_item[votes.item] > 1
    if len(set(votes.relevant[paired])) < 2:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"), abs=1e-12)


def test_agreement_by_hand():
    found = agreement(votes_in(FIVE))
    assert found.percent == pytest.approx((4 + 1 + 0 + 2 + 2) / 15)
    assert found.votes_per_item == {2: 2, 3: 1, 4: 2}
    assert found.relevant == pytest.approx((4 + 1 + 0 + 0) / (4 + 2 + 1 + 0 + 1))
    assert found.per_judge.tolist() == pytest.approx(
        [(1 + 1 / 2 + 0 + 1 + 2 / 3) / 5, (1 + 1 / 2 + 0 + 1 + 2 / 3) / 5, (1 + 0 + 0) / 3, (1 + 2 / 3) / 2]
    )


@settings(max_examples=40, deadline=None)
@given(panels())
def test_percent_and_judges_agree_as_counted_pair_by_pair(table):
    votes = votes_in(table)
    alike, total = 0.0, 0
    rest = [[] for _ in table]
    for column in table.T:
        given = [(judge, vote) for judge, vote in enumerate(column) if not np.isnan(vote)]
        for judge, vote in given if len(given) > 1 else ():
            same = [other == vote for number, other in given if number != judge]
            rest[judge].append(np.mean(same))
            alike, total = alike + np.mean(same), total + 1
    assert np.allclose(judge_agreement(votes), [np.mean(r) if r else np.nan for r in rest], equal_nan=True)
    assert np.allclose(agreement(votes).percent, alike / total if total else np.nan, equal_nan=True)


def test_reliability_is_that_of_shrout_and_fleiss():
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    one, mean = one_way(ratings.ravel(), np.repeat(np.arange(6), 4))
    assert (round(one.value, 2), round(mean.value, 2)) == (0.17, 0.44)
    assert [found.reason for found in one_way([1, 0], [0, 1])] == ["fewer than two items with two ratings"] * 2
    assert [found.reason for found in one_way([1, 1, 1, 1], [0, 0, 1, 1])] == ["nothing varies between items"] * 2


def sample(seed, grades):
    """Grades of 12 items by 4 judges with gaps: as a table for the peer, and as a list for us."""
    rng = np.random.default_rng(seed)
    table = np.clip(np.round(rng.integers(0, grades, 12) + rng.normal(0, 0.7, (4, 12))), 0, grades - 1)
    table[rng.random(table.shape) < 0.3] = np.nan
    judge, item = np.nonzero(~np.isnan(table))
    return table, table[judge, item], item


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_of_a_list_of_grades_is_that_of_its_package(seed, level):
    table, grades, item = sample(seed, 4)
    wanted = krippendorff.alpha(table, level_of_measurement=level)
    assert alpha_listed(listed_ratings(grades, item), level).value == pytest.approx(wanted, abs=1e-12)
    if level == "interval":
        assert grade_agreement(grades, item).alpha == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_of_two_grades_is_the_nominal_one(seed):
    table, grades, item = sample(seed, 2)
    wanted = krippendorff.alpha(table, level_of_measurement="nominal")
    assert grade_agreement(grades, item).alpha == pytest.approx(wanted, abs=1e-12)


def test_agreement_that_cannot_be_told_says_why():
    for grades, item, reason in (
        ([1.0, 2.0], [0, 1], "no item has two ratings"),
        ([1.0, 1.0], [0, 0], "all ratings are the same, so there is nothing to agree about"),
        ([], [], "no item has two ratings"),
    ):
        found = alpha_listed(listed_ratings(grades, item), "interval")
        assert np.isnan(found.value)
        assert found.reason == reason
    assert percent_listed(listed_ratings([], [])).reason == "no item has two ratings"
    alone = grade_agreement([1.0, 0.0], [0, 1])
    assert np.isnan([alone.percent, alone.alpha, alone.reliability]).all()
