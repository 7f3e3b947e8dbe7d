"""Matchings against SciPy, to the choice among equally good ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from basanite.metrics.matching import best_matching


def tables(seed):
    """A sparse table of any worth, and one of few values, in which many matchings are equally good."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12, 2)
    return rng.random(shape) * (rng.random(shape) < 0.4), rng.integers(0, 4, shape) / 4


@pytest.mark.parametrize("seed", range(60))
def test_a_matching_is_the_one_that_scipy_gives(seed):
    for worth in tables(seed):
        found, expected = best_matching(worth), linear_sum_assignment(worth, maximize=True)
        assert [places.tolist() for places in found] == [places.tolist() for places in expected]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_nothing_is_matched_where_there_is_nothing(shape):
    assert [len(places) for places in best_matching(np.zeros(shape))] == [min(shape)] * 2
