"""Silhouettes without pairs: by cosine or squared distance the mean distance to a class is affine in its mean."""

from __future__ import annotations

from typing import Literal

import numpy as np

from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.passes import Features, linear_pass, unit_rows
from basanite.metrics.representation.results import Floats, Numbers
from basanite.metrics.representation.sums import ClassSums

ByMeans = Literal["sqeuclidean", "cosine"]


def silhouettes_by_means(features: Features, classes: Classes, *, metric: ByMeans) -> Floats:
    """The silhouette of each row in N K d work: 1 - u.m_j, or |x|^2 + mean |y|^2 - 2 x.c_j."""
    sums = linear_pass(features, classes, moments=metric == "sqeuclidean")
    found = np.empty(len(classes.codes))
    step = max(1, (1 << 22) // max(len(classes), sums.dimensions))
    for start in range(0, len(found), step):
        rows = np.arange(start, min(start + step, len(found)))
        means = _squared(features, rows, sums) if metric == "sqeuclidean" else _cosine(features, rows, sums)
        found[rows] = _silhouettes(means, classes.codes[rows], classes.counts)
    return found


def _cosine(features: Features, rows: Numbers, sums: ClassSums) -> Floats:
    """The sum of cosine distances from each row to each class; that of a zero row with anything is 1."""
    totals: Floats = sums.counts - unit_rows(features, rows) @ sums.unit.T
    return totals


def _squared(features: Features, rows: Numbers, sums: ClassSums) -> Floats:
    """The sum of squared distances from each row to each class."""
    shifted = np.asarray(features[rows], dtype=np.float64) - sums.shift
    own = np.einsum("ij,ij->i", shifted, shifted)
    totals: Floats = own[:, None] * sums.counts + sums.spread - 2 * shifted @ sums.sums.T
    return np.asarray(np.maximum(totals, 0.0))


def _silhouettes(totals: Floats, codes: Numbers, counts: Numbers) -> Floats:
    at = np.arange(len(codes))
    others = counts[codes] - 1
    own = np.divide(totals[at, codes], others, out=np.zeros(len(codes)), where=others > 0)
    means = totals / counts
    means[at, codes] = np.inf
    rival = means.min(axis=1)
    larger = np.maximum(own, rival)
    return np.asarray(np.divide(rival - own, larger, out=np.zeros(len(codes)), where=(others > 0) & (larger > 0)))
