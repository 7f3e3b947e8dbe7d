"""Agreement on grades, against the krippendorff package and brute force."""

import krippendorff
import numpy as np
import pytest

from basanite.analysis.agreement import grade_agreement, grade_counts, interval_alpha

SEEDS = range(6)


def sample(seed, grades):
    """Grades of 12 items by 4 judges with gaps: as a table for the peer, and as a list for us."""
    rng = np.random.default_rng(seed)
    table = np.clip(np.round(rng.integers(0, grades, 12) + rng.normal(0, 0.7, (4, 12))), 0, grades - 1)
    table[rng.random(table.shape) < 0.3] = np.nan
    judge, item = np.nonzero(~np.isnan(table))
    return table, table[judge, item], item


@pytest.mark.req("T-5")
@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_of_grades_is_that_of_its_package(seed):
    table, grades, item = sample(seed, 4)
    wanted = krippendorff.alpha(table, level_of_measurement="interval")
    assert interval_alpha(grades, item) == pytest.approx(wanted, abs=1e-12)
    assert grade_agreement(grades, item).alpha == pytest.approx(wanted, abs=1e-12)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_of_two_grades_is_the_nominal_one(seed):
    table, grades, item = sample(seed, 2)
    wanted = krippendorff.alpha(table, level_of_measurement="nominal")
    assert grade_agreement(grades, item).alpha == pytest.approx(wanted, abs=1e-12)


def test_counts_are_those_of_each_item_and_grade():
    assert grade_counts([2, 0, 2, 1], [1, 1, 5, 5]).tolist() == [[1, 0, 1], [0, 1, 1]]


def test_agreement_that_cannot_be_told_is_undefined():
    for grades, item in (([1.0, 2.0], [0, 1]), ([1.0, 1.0], [0, 0]), ([], [])):
        assert np.isnan(interval_alpha(grades, item))
    alone = grade_agreement([1.0, 0.0], [0, 1])
    assert np.isnan([alone.percent, alone.alpha, alone.reliability]).all()
