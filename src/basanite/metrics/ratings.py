"""Ratings: how far predicted numbers lie from the true ones, for each rating and on average (H-21).

mRMSE is the mean of the roots of each rating's mean squared error; the root of the pooled mean would be another
number. A rating that an item does not have is left out of that rating's mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import NOT_NEGATIVE, Metric, Rows, ratio

PLAN = "DARPA Deep Learning evaluation plan v4 (2010), section 5.4.1"
FORMULA = "mean over ratings of sqrt(mean over items of (prediction - rating)^2)"


@dataclass(frozen=True)
class Rated:
    """Items with the true and the predicted numbers, items x ratings; a true one that is missing is nan."""

    units: Sequence[str]
    truth: NDArray[np.float64]
    predicted: NDArray[np.float64]


def clip_to_scale(predicted: ArrayLike, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Predictions brought into the range of the scale, and which ones had to be (A18).

    >>> clip_to_scale([0.5, 3.0, 5.5], 1, 5)[0].tolist()
    [1.0, 3.0, 5.0]
    """
    given = np.asarray(predicted, np.float64)
    return np.clip(given, low, high), (given < low) | (given > high)


def squared_errors(block: Rated) -> Rows:
    """For each item the squared error and 1 of each rating it has, and 0 and 0 of each it does not have."""
    known = ~np.isnan(block.truth)
    errors = np.where(known, np.subtract(block.predicted, np.where(known, block.truth, 0)), 0) ** 2
    return np.stack([errors, known], axis=-1).reshape(len(known), -1).astype(np.float64)


def mean_root(sums: Rows) -> NDArray[np.float64]:
    """The mean of the roots of the ratings that have any item."""
    roots = np.sqrt(ratio(sums[..., ::2], sums[..., 1::2]))
    defined = ~np.isnan(roots)
    return ratio(np.where(defined, roots, 0).sum(axis=-1), defined.sum(axis=-1).astype(np.float64))


MRMSE = Metric(
    name="mrmse",
    title="mRMSE",
    summary="Mean over ratings of the root mean squared error of each",
    citation=PLAN,
    family="ratings",
    statistics=squared_errors,
    reduce=mean_root,
    range=NOT_NEGATIVE,
    best="low",
    unit="item",
    by_item=False,
)
RMSE = Metric(
    name="rmse",
    title="RMSE",
    summary="Root mean squared error of the predictions of one rating",
    citation=PLAN,
    family="ratings",
    statistics=squared_errors,
    reduce=mean_root,
    range=NOT_NEGATIVE,
    best="low",
    unit="item",
    overall=False,
    fewest=50,
)
METRICS = (MRMSE, RMSE)


def values(truth: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """mRMSE of two tables of items x ratings (or one column each); nan in the truth is a missing rating.

    >>> values([[1, 5], [2, 4]], [[1, 5], [4, 4]])["mrmse"].__round__(4)
    0.7071
    """
    known, given = (np.asarray(array, np.float64) for array in (truth, predicted))
    if known.ndim == 1:
        known, given = known[:, None], given[:, None]
    return {"mrmse": MRMSE.of(squared_errors(Rated((), known, given)))}
