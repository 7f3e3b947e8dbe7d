"""Scores of classes: how well probabilities fit what is true, and how well any scores rank the items of a class.

Log loss, Brier score and calibration error are sums over items. Areas under curves are not: their rows are the scores
and the truth of each item, and every draw is computed again, as for multi-label confidences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, SHARE, Metric, Rows, column_ratio, ratio
from basanite.metrics.retrieval.average_precision import (
    PLAIN,
    Confidences,
    classes_of,
    no_sums,
    plain_average_precision,
    rows,
)

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
GOOD = "Good, Rational Decisions, Journal of the Royal Statistical Society B 14(1) (1952)"
BRIER_1950 = "Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78(1) (1950)"
GUO = "Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML (2017)"
HANLEY = "Hanley and McNeil, The meaning and use of the area under a ROC curve, Radiology 143(1) (1982)"
LEAST: float = float(np.finfo(np.float64).eps)
"""What a probability of 0 counts as in the log loss, and 1 less than which 1 counts as: as in scikit-learn."""
SUMS = ("items", "log loss", "squared error")
BIN_COLUMNS = ("items", "confidence", "hits")


@dataclass(frozen=True)
class ScoredClasses:
    """Items with the number of their class and a score for each class."""

    units: Sequence[str]
    truth: Numbers
    scores: Floats
    """Items x classes."""
    positive: int | None = None
    """The one class that is looked for, where there are two."""
    bins: int = 15


def probability_rows(block: ScoredClasses) -> Rows:
    """One row for each item: `SUMS`, then `BIN_COLUMNS` of each bin of confidence.

    The error of two classes is that of one of them, so that it lies between 0 and 1.

    >>> block = ScoredClasses(["a"], np.array([1]), np.array([[0.25, 0.75]]), positive=1, bins=2)
    >>> probability_rows(block).round(4).tolist()
    [[1.0, 0.2877, 0.0625, 0.0, 0.0, 0.0, 1.0, 0.75, 1.0]]
    """
    items = np.arange(len(block.truth))
    given = np.clip(block.scores[items, block.truth], LEAST, 1 - LEAST)
    right = np.zeros_like(block.scores)
    right[items, block.truth] = 1
    squared = ((block.scores - right) ** 2).sum(axis=1) / (2 if block.scores.shape[1] == 2 else 1)
    found = np.zeros((len(items), len(SUMS) + len(BIN_COLUMNS) * block.bins))
    found[:, 0], found[:, 1], found[:, 2] = 1, -np.log(given), squared
    confidence, hit = confidences(block)
    first = len(SUMS) + len(BIN_COLUMNS) * bin_of(confidence, block.bins)
    found[items, first], found[items, first + 1], found[items, first + 2] = 1, confidence, hit
    return found


def confidences(block: ScoredClasses) -> tuple[Floats, NDArray[np.bool_]]:
    """The probability of the positive class and whether it is true; without one, of the likeliest class."""
    if block.positive is not None:
        return block.scores[:, block.positive], block.truth == block.positive
    best = block.scores.argmax(axis=1)
    return block.scores[np.arange(len(best)), best], best == block.truth


def bin_of(confidence: Floats, bins: int) -> Numbers:
    """The bin of each confidence: bins are equally wide, and each holds its upper edge.

    >>> bin_of(np.array([0.0, 0.1, 0.11, 1.0]), 10).tolist()
    [0, 0, 1, 9]
    """
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    return np.searchsorted(edges, confidence, side="left").astype(np.int64)


def bins_of(sums: Rows) -> Rows:
    """The sums of each bin, `[..., bins, 3]`."""
    part = sums[..., len(SUMS) :]
    return part.reshape(*part.shape[:-1], -1, len(BIN_COLUMNS))


def calibration_error(sums: Rows) -> Floats:
    """The mean over items of the gap between confidence and share of hits in their bin."""
    bins = bins_of(sums)
    return ratio(np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1), sums[..., 0])


def rank_rows(block: ScoredClasses) -> Rows:
    """The scores of each item, then which class is its own: of the positive class alone, or of all."""
    columns = range(block.scores.shape[1]) if block.positive is None else (block.positive,)
    truth = np.column_stack([block.truth == at for at in columns])
    return rows(Confidences(block.units, truth, block.scores[:, list(columns)]))


def roc_areas(positive: NDArray[np.bool_], score: Floats, weights: Rows) -> Floats:
    """The area under the ROC curve in each draw: how often an item of the class has the higher score; ties are half.

    >>> roc_areas(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]), np.ones((1, 3))).tolist()
    [0.75]
    """
    if not len(score):
        return np.full(len(weights), np.nan)
    order = np.argsort(score, kind="stable")
    rising, inside, drawn = score[order], positive[order], weights[:, order]
    starts = np.flatnonzero(np.append(True, rising[1:] != rising[:-1]))
    own = np.add.reduceat(drawn * inside, starts, axis=1)
    others = np.add.reduceat(drawn * ~inside, starts, axis=1)
    below = np.cumsum(others, axis=1) - others
    return ratio((own * (below + others / 2)).sum(axis=1), own.sum(axis=1) * others.sum(axis=1))


Area = Callable[[NDArray[np.bool_], Floats, Rows], Floats]


def mean_area(table: Rows, weights: Rows, *, area: Area) -> Floats:
    """The mean over the classes for which it is defined in a draw."""
    found = np.column_stack([area(positive, score, weights) for score, positive in classes_of(table)])
    defined = ~np.isnan(found)
    return ratio(np.where(defined, found, 0).sum(axis=1), defined.sum(axis=1).astype(np.float64))


LOG_LOSS = Metric(
    name="log_loss",
    title="Log loss",
    summary="Mean negative logarithm of the probability of the true class",
    citation=GOOD,
    family="class_probabilities",
    statistics=probability_rows,
    reduce=partial(column_ratio, top=1, bottom=0),
    range=NOT_NEGATIVE,
    best="low",
    unit="item",
    linear=True,
)
BRIER = replace(
    LOG_LOSS,
    name="brier",
    title="Brier score",
    summary="Mean squared error of the probabilities: summed over classes, or of one class where there are two",
    citation=BRIER_1950,
    reduce=partial(column_ratio, top=2, bottom=0),
    range=(0.0, 2.0),
)
ECE = replace(
    LOG_LOSS,
    name="ece",
    title="ECE",
    summary="Expected calibration error: mean gap between confidence and accuracy over confidence bins",
    citation=GUO,
    reduce=calibration_error,
    range=SHARE,
    linear=False,
    interval="none",
)
ROC_AUC = Metric(
    name="roc_auc",
    title="ROC AUC",
    summary="Area under the ROC curve of the positive class; for several classes, the mean of each against the rest",
    citation=HANLEY,
    family="class_rankings",
    statistics=rank_rows,
    reduce=no_sums,
    range=SHARE,
    compute=partial(mean_area, area=roc_areas),
    unit="item",
    by_item=False,
    interval="wilson",
)
AVERAGE_PRECISION = replace(
    ROC_AUC,
    name="average_precision",
    title="Average precision",
    summary="Average precision of the positive class; for several classes, the mean of each against the rest",
    citation=PLAIN,
    compute=partial(mean_area, area=plain_average_precision),
)
CLASS_ROC_AUC = replace(
    ROC_AUC,
    name="class_roc_auc",
    title="ROC AUC (one class)",
    summary="Area under the ROC curve of one class against the rest",
    overall=False,
    by_item=True,
)
CLASS_AVERAGE_PRECISION = replace(
    AVERAGE_PRECISION,
    name="class_average_precision",
    title="Average precision (one class)",
    summary="Average precision of one class against the rest",
    overall=False,
    by_item=True,
)
OF_PROBABILITIES = (LOG_LOSS, BRIER, ECE)
OF_SCORES = (ROC_AUC, AVERAGE_PRECISION)
BY_CLASS = (CLASS_ROC_AUC, CLASS_AVERAGE_PRECISION)
METRICS = (*OF_PROBABILITIES, *OF_SCORES, *BY_CLASS)
