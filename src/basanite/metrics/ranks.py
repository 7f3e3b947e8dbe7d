"""Ranks in NumPy, so that the base needs no SciPy for them (Y-4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def mean_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 within each column; equal values share the mean of their ranks.

    >>> mean_ranks([0.5, 0.1, 0.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    table = np.asarray(values, np.float64)
    if table.ndim > 1:
        return np.column_stack([mean_ranks(column) for column in table.T]) if table.size else np.empty(table.shape)
    _, place, counts = np.unique(table, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], np.float64)
