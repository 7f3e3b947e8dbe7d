"""Readability: a machine's ratings of passages beside those of an expert panel and of novices (R-3).

The reference is the mean of the experts. The score difference says how much nearer to it the machine lies than the
novices do; the proportional target whether it lies within the experts' range, worth the less the wider that is; the
correlation whether it orders passages as the experts do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import ANY, SHARE, SIGNED_SHARE, Metric, Rows
from basanite.metrics.relevance import pearson
from basanite.metrics.retrieval.detection import ratio

Reals: TypeAlias = NDArray[np.float64]

PLAN = "Strassel and others, The DARPA Machine Reading Program, LREC (2010), evaluation of readability"
COLUMNS = ("gain", "has_novice", "worth", "has_expert", "both", "x", "y", "xx", "yy", "xy")
MARGIN = 1e-8
"""Numbers nearer than this are equal: a rating on the edge of the range is inside, equal values tie."""


@dataclass(frozen=True)
class Readings:
    """Passages with everybody's ratings, passages x judges; nan where a judge gave none."""

    units: Sequence[str]
    experts: Reals
    novices: Reals
    machine: Reals


@dataclass(frozen=True)
class Gold:
    """What the experts say of each passage: the mean of their ratings and their range; nan without experts."""

    mean: Reals
    low: Reals
    high: Reals


def gold_of(experts: ArrayLike) -> Gold:
    """The reference rating and the range of each passage.

    >>> gold_of([[2, 4], [3, np.nan]]).mean.tolist()
    [3.0, 3.0]
    """
    given = np.asarray(experts, np.float64)
    known = ~np.isnan(given)
    rated = known.any(axis=1)
    low = np.where(known, given, np.inf).min(axis=1, initial=np.inf)
    high = np.where(known, given, -np.inf).max(axis=1, initial=-np.inf)
    mean = ratio(np.where(known, given, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    return Gold(mean, np.where(rated, low, np.nan), np.where(rated, high, np.nan))


def worth(ratings: ArrayLike, gold: Gold) -> Reals:
    """1 / (1 + width) where a rating lies in the experts' range, else 0; for one rating a passage or a column each.

    >>> worth([3.0, 5.0], gold_of([[2, 4], [3, 4]])).round(4).tolist()
    [0.3333, 0.0]
    """
    given = np.asarray(ratings, np.float64)
    low, high = (side if given.ndim == 1 else side[:, None] for side in (gold.low, gold.high))
    hit = (given >= low - MARGIN) & (given <= high + MARGIN)
    return np.where(hit, 1 / (1 + high - low), 0.0)


def novice_errors(novices: Reals, gold: Gold) -> Reals:
    """How far each novice lies from the reference, passages x novices; nan where one is not known."""
    return np.abs(novices - gold.mean[:, None])


def rows(block: Readings) -> Rows:
    """What each passage contributes to all three values."""
    gold, machine = gold_of(block.experts), np.asarray(block.machine, np.float64)
    error = novice_errors(np.asarray(block.novices, np.float64), gold)
    known = ~np.isnan(error)
    expected = ratio(np.where(known, error, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    return rows_of(gold, machine, expected)


def rows_of(gold: Gold, machine: Reals, expected: Reals) -> Rows:
    """The same from the mean error of novices on each passage, which is nan where none is known."""
    rated = ~np.isnan(gold.mean) & ~np.isnan(machine)
    compared = rated & ~np.isnan(expected)
    x, y = np.where(rated, machine, 0), np.where(rated, gold.mean, 0)
    gain = np.where(compared, np.where(compared, expected, 0) - np.abs(y - x), 0)
    hits = np.where(rated, worth(machine, gold), 0)
    table = [gain, compared, hits, rated, rated, x, y, x * x, y * y, x * y]
    return np.column_stack(table).astype(np.float64)


def _gain(sums: Rows) -> Reals:
    return ratio(sums[..., 0], sums[..., 1])


def _worth(sums: Rows) -> Reals:
    return ratio(sums[..., 2], sums[..., 3])


SCORE_DIFFERENCE = Metric(
    name="score_difference",
    summary="How much nearer the machine lies to the experts' mean than novices do, mean over passages",
    citation=PLAN,
    family="readability",
    statistics=rows,
    reduce=_gain,
    range=ANY,
    columns=COLUMNS,
    unit="passage",
    linear=True,
    carrier="has_novice",
    interval="expanded",
)
PROPORTIONAL_TARGET = replace(
    SCORE_DIFFERENCE,
    name="proportional_target",
    summary="Mean over passages of 1 / (1 + width of the experts' range) where the machine lies in it, else 0",
    reduce=_worth,
    range=SHARE,
    carrier="has_expert",
)
CORRELATION = replace(
    SCORE_DIFFERENCE,
    name="correlation",
    summary="Pearson correlation of the machine's ratings and the means of the experts",
    reduce=pearson,
    range=SIGNED_SHARE,
    linear=False,
    carrier="both",
)
METRICS = (SCORE_DIFFERENCE, PROPORTIONAL_TARGET, CORRELATION)


def values(experts: ArrayLike, novices: ArrayLike, machine: ArrayLike) -> dict[str, float]:
    """All three values from ratings, passages x judges; nan where a judge gave none.

    >>> values([[2, 4], [4, 4]], [[1, 3], [5, 2]], [3, 4])["score_difference"]
    1.25
    """
    given = (np.asarray(array, np.float64) for array in (experts, novices, machine))
    return _all_of(rows(Readings((), *given)))


def best_constant(experts: ArrayLike) -> float:
    """The one rating that, given to every passage, has the largest score difference: the median of the means (S-3).

    >>> best_constant([[1, 3], [4, 4], [5, 5]])
    4.0
    """
    means = gold_of(experts).mean
    known = means[~np.isnan(means)]
    return float(np.median(known)) if len(known) else float("nan")


def to_scale(ratings: ArrayLike, low: float, high: float, step: float = 1.0) -> Reals:
    """Ratings brought to the nearest step of the scale; a half goes up, as people write it.

    >>> to_scale([1.2, 2.5, 4.9], 1, 5).tolist()
    [1.0, 3.0, 5.0]
    """
    steps = np.floor((np.asarray(ratings, np.float64) - low) / step + 0.5 + MARGIN)
    return np.asarray(np.clip(low + steps * step, low, high))


def novices_as_machines(experts: ArrayLike, novices: ArrayLike) -> list[dict[str, float]]:
    """Each novice scored as if the machine, against the others, on the passages that novice rated (S-3)."""
    panel, gold = np.asarray(novices, np.float64), gold_of(experts)
    errors = novice_errors(panel, gold)
    known = ~np.isnan(errors)
    sums, sizes = np.where(known, errors, 0).sum(axis=1), known.sum(axis=1)
    found = []
    for own, error, rated in zip(panel.T, errors.T, known.T, strict=True):
        others = ratio(sums - np.where(rated, error, 0), (sizes - rated).astype(np.float64))
        found.append(_all_of(rows_of(gold, own, others)))
    return found


def _all_of(table: Rows) -> dict[str, float]:
    with np.errstate(all="ignore"):
        return {metric.name: metric.of(table) for metric in METRICS}
