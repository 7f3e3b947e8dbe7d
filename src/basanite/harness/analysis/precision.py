"""Average precision of one fold's scores under many draws of row weights, for the crossed bootstrap (S-7).

Scores are sorted once. Weights between two thresholds are added up by one sparse product for all draws, so a draw costs
little more than reading its weights; weights are whole numbers, so sums are those of `metrics.average_precision`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.analysis.crossed import Reals, Values
from basanite.metrics.retrieval.average_precision import Curve, eleven_points

Rows = NDArray[np.int64]


def precision_of(scores: Reals, truth: NDArray[np.bool_], *, plain: bool = False) -> Values:
    """The 11-point (or the plain) average precision as a function of row weights; nan without positives.

    >>> value = precision_of(np.array([0.9, 0.8, 0.6, 0.2, 0.2]), np.array([True, False, True, True, True]))
    >>> value(np.ones((1, 5))).round(4).tolist()
    [0.8545]
    """
    above, hits = _steps(scores, truth)

    def value(weights: Reals) -> Reals:
        turned = np.ascontiguousarray(weights.T)
        found = np.cumsum((hits @ turned).T, axis=1)
        positives = found[:, -1] if found.shape[1] else np.zeros(len(weights))
        curve = Curve(found, np.cumsum((above @ turned).T, axis=1), positives)
        return _plain(curve) if plain else _interpolated(curve)

    return value


def _steps(scores: Reals, truth: NDArray[np.bool_]) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Which rows each threshold adds: all of them, and the positives; equal scores pass together (A19)."""
    order = np.argsort(-scores, kind="stable")
    falling, labels = scores[order], np.flatnonzero(truth[order])
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(falling) - 1)
    ends = ends[np.unique(np.searchsorted(ends, labels))]
    past = np.concatenate([[0], ends + 1])
    return _matrix(order, past), _matrix(order[labels], np.searchsorted(labels, past), width=len(order))


def _matrix(rows: Rows, starts: Rows, width: int | None = None) -> scipy.sparse.csr_array:
    """One line for each threshold, with a one at every row that it adds."""
    used = rows[: starts[-1]]
    return scipy.sparse.csr_array(
        (np.ones(len(used)), used, starts), shape=(len(starts) - 1, len(rows) if width is None else width)
    )


def _interpolated(curve: Curve) -> Reals:
    return np.where(curve.positives > 0, eleven_points(curve.hits, curve.precision, curve.positives), np.nan)


def _plain(curve: Curve) -> Reals:
    gained = (np.diff(curve.hits, axis=1, prepend=0) * curve.precision).sum(axis=1)
    nothing = np.full(len(gained), np.nan)
    return np.asarray(np.divide(gained, curve.positives, out=nothing, where=curve.positives > 0))
