"""Average precision of classifiers that give confidences: 11-point interpolated and plain, for many draws at once.

Instances with the same confidence pass a threshold together, so precision is taken after each *distinct* confidence
and the order of rows cannot matter (A19). Recall levels are compared in integers, 10 tp >= t positives, because 0.3 as
a float is not always reached by 3 of 10 (A20). A class without positives is undefined and leaves the mean (A21).

Neither is a sum over instances. The rows are therefore the raw confidences and labels, and `compute` gives the value
for any weights: the instances are sorted once and every draw is a row of cumulative sums (S-7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import SHARE, Metric, Rows

Reals = NDArray[np.float64]

PLAN = "DARPA Deep Learning evaluation plan v4 (2010), section 5.4.1, after Yang and Pedersen, ICML (1997)"
PLAIN = "Su, Yuan and Zhu, A relationship between the average precision and the area under the ROC curve, ICTIR (2015)"
LEVELS = range(11)


@dataclass(frozen=True)
class Confidences:
    """Instances with the truth and the confidence of each class: arrays of instances x classes."""

    units: Sequence[str]
    positive: NDArray[np.bool_]
    confidence: Reals


@dataclass(frozen=True)
class Curve:
    """After each distinct confidence that a positive has, from the highest down: how much lies at or above it.

    Arrays are draws x thresholds; what is counted are weights, so they are whole numbers.
    """

    hits: Reals
    all: Reals
    positives: Reals
    """Of each draw, found or not."""

    @classmethod
    def of(cls, positive: NDArray[np.bool_], confidence: Reals, weights: Reals) -> Curve:
        """The curve of one class for every draw of weights (A19: equal confidences pass together)."""
        order = np.argsort(-confidence, kind="stable")
        falling, labels = confidence[order], np.flatnonzero(positive[order])
        ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(falling) - 1)
        ends = ends[np.unique(np.searchsorted(ends, labels))]
        sorted_weights = weights[:, order]
        hits = np.cumsum(sorted_weights[:, labels], axis=1)
        reached = hits[:, np.searchsorted(labels, ends, side="right") - 1]
        total = hits[:, -1] if len(labels) else np.zeros(len(weights))
        return cls(reached, np.cumsum(sorted_weights, axis=1)[:, ends], total)

    @property
    def precision(self) -> Reals:
        """The share of positives at or above each threshold; 0 where a draw has nothing there."""
        return np.divide(self.hits, self.all, out=np.zeros_like(self.hits), where=self.all > 0)


def eleven_points(hits: Reals, precision: Reals, positives: ArrayLike) -> Reals:
    """The mean over recalls of 0, 0.1 … 1 of the best precision at that recall or a higher one.

    `hits` rise along the last axis. Recall hits/positives >= t/10 is compared as 10 hits >= t positives (A20).

    >>> float(eleven_points(np.array([1.0, 2.0, 3.0]), np.array([1, 2 / 5, 3 / 9]), 3).round(4))
    0.5939
    """
    best = np.maximum.accumulate(precision[..., ::-1], axis=-1)[..., ::-1]
    padded = np.concatenate([best, np.zeros((*best.shape[:-1], 1))], axis=-1)  # a recall never reached counts 0
    total, tenfold = np.asarray(positives, np.float64)[..., None], 10 * hits
    below = [np.count_nonzero(tenfold < level * total, axis=-1) for level in LEVELS]
    reached = np.take_along_axis(padded, np.stack(below, axis=-1), axis=-1)
    return np.asarray(reached.sum(axis=-1) / len(LEVELS))


def _interpolate(curve: Curve) -> Reals:
    return np.where(curve.positives > 0, eleven_points(curve.hits, curve.precision, curve.positives), np.nan)


def _plain(curve: Curve) -> Reals:
    """The sum of precision times the step in recall, as scikit-learn's `average_precision_score` has it."""
    steps = np.diff(curve.hits, axis=1, prepend=0)
    return _divide((steps * curve.precision).sum(axis=1), curve.positives)


def plain_average_precision(positive: NDArray[np.bool_], confidence: Reals, weights: Reals) -> Reals:
    """The plain average precision of one class in every draw of weights.

    >>> plain_average_precision(np.array([True, False, True]), np.array([3.0, 2.0, 1.0]), np.ones((1, 3))).round(4)
    array([0.8333])
    """
    return _plain(Curve.of(positive, confidence, weights))


def _divide(top: Reals, bottom: Reals) -> Reals:
    return np.asarray(np.divide(top, bottom, out=np.full(len(bottom), np.nan), where=bottom > 0))


def rows(block: Confidences) -> Rows:
    """The confidences of each instance, then its labels as 0 and 1: one column a class."""
    return np.column_stack([block.confidence, block.positive]).astype(np.float64)


def classes_of(table: Rows) -> Iterator[tuple[Reals, NDArray[np.bool_]]]:
    """Confidences and labels of each class from rows."""
    half = table.shape[1] // 2
    for at in range(half):
        yield table[:, at], table[:, half + at] > 0


def class_values(table: Rows, weights: Rows, *, value: Callable[[Curve], Reals]) -> Reals:
    """The value of each class in each draw, draws x classes; nan where a draw has no positive."""
    found = [value(Curve.of(positive, confidence, weights)) for confidence, positive in classes_of(table)]
    return np.column_stack([*found, np.empty((len(weights), 0))])


def mean_of_classes(table: Rows, weights: Rows, *, value: Callable[[Curve], Reals]) -> Reals:
    """The mean over the classes that are defined in a draw (A21, S-7)."""
    found = class_values(table, weights, value=value)
    defined = ~np.isnan(found)
    return _divide(np.where(defined, found, 0).sum(axis=1), defined.sum(axis=1).astype(np.float64))


def draws_without_positives(table: Rows, weights: Rows) -> NDArray[np.int64]:
    """For each class, in how many draws it has no positive and so leaves the mean (S-7)."""
    labels = table[:, table.shape[1] // 2 :]
    return np.asarray(np.count_nonzero(weights @ labels == 0, axis=0))


def no_sums(sums: Rows) -> Reals:
    """Average precision is no function of sums: undefined for them, whatever they are."""
    return np.full(np.shape(sums)[:-1], np.nan)


MAP11 = Metric(
    name="map11",
    title="MAP (11-point)",
    summary="Mean over classes of the 11-point interpolated average precision, by distinct confidences",
    citation=PLAN,
    family="labels",
    statistics=rows,
    reduce=no_sums,
    range=SHARE,
    compute=partial(mean_of_classes, value=_interpolate),
    unit="instance",
    by_item=False,
    interval="wilson",
    shared_name=True,
)
MAP = replace(
    MAP11,
    name="map",
    title="MAP",
    summary="Mean over classes of the plain (not interpolated) average precision, by distinct confidences",
    citation=PLAIN,
    compute=partial(mean_of_classes, value=_plain),
)
AP11 = replace(
    MAP11,
    name="ap11",
    title="AP (11-point)",
    summary="11-point interpolated average precision of one class, by distinct confidences",
    overall=False,
    by_item=True,
    carrier="label",
    shared_name=False,
)
AP = replace(
    MAP,
    name="ap",
    title="AP",
    summary="Plain (not interpolated) average precision of one class, by distinct confidences",
    overall=False,
    by_item=True,
    carrier="label",
    shared_name=False,
)
METRICS = (MAP11, MAP, AP11, AP)


def values(positive: ArrayLike, confidence: ArrayLike) -> dict[str, float]:
    """MAP in both forms from two tables of instances x classes (or one column each).

    >>> found = values([1, 0, 1, 1, 1], [0.9, 0.8, 0.6, 0.2, 0.2])
    >>> round(found["map11"], 4), round(found["map"], 4)
    (0.8545, 0.8167)
    """
    truth, given = (np.asarray(array, np.float64) for array in (positive, confidence))
    if truth.ndim == 1:
        truth, given = truth[:, None], given[:, None]
    table = rows(Confidences((), truth > 0, given))
    return {metric.name: metric.of(table) for metric in (MAP11, MAP)}
