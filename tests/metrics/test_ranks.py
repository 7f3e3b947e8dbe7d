"""Ranks against SciPy, to the bit."""

import numpy as np
import pytest
from scipy.stats import rankdata

from basanite.metrics.ranks import mean_ranks


@pytest.mark.parametrize("seed", range(20))
def test_ranks_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12, 2)
    for table in (rng.random(shape), rng.integers(0, 4, shape) / 4):
        assert np.array_equal(mean_ranks(table), rankdata(table, axis=0))
        assert np.array_equal(mean_ranks(table[:, 0]), rankdata(table[:, 0]))


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_nothing_has_no_ranks(shape):
    assert mean_ranks(np.empty(shape)).shape == shape
