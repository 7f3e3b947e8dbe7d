"""Silhouette, Dunn and point-biserial from what one pairwise sweep left: sums, minima and maxima of distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.results import SINGLETONS, UNDEFINED, Floats, Measured, Numbers

Average = Literal["micro", "macro"]
PointBiserial = Literal["pearson", "nbclust", "clustercrit"]


@dataclass(frozen=True)
class PairSums:
    """What the sweep over all pairs of rows leaves; parts of it merge with `|` (F-5)."""

    own: Floats
    """For each row the sum of distances to the rows of its own class."""
    rival_mean: Floats
    """For each row the least mean distance to another class."""
    rival: Numbers
    """Which class that is."""
    within: float
    """The sum of distances over pairs of the same class."""
    between: float
    """The sum of distances over pairs of different classes."""
    gap: float
    """The least distance between rows of different classes, exactly."""
    diameter: float
    """The largest distance inside a class, exactly."""
    squares: float = float("nan")
    """The sum of squared distances over all pairs: N times the total scatter, known from the linear pass."""

    def scaled(self, factor: float) -> PairSums:
        """The same with every distance multiplied."""
        figures = ("own", "rival_mean", "within", "between", "gap", "diameter")
        return replace(self, **{name: getattr(self, name) * factor for name in figures})

    def __or__(self, other: PairSums) -> PairSums:
        """Both parts of one sweep together."""
        nearer = other.rival_mean < self.rival_mean
        return replace(
            self,
            own=self.own + other.own,
            rival_mean=np.where(nearer, other.rival_mean, self.rival_mean),
            rival=np.where(nearer, other.rival, self.rival),
            within=self.within + other.within,
            between=self.between + other.between,
            gap=min(self.gap, other.gap),
            diameter=max(self.diameter, other.diameter),
        )


def no_pairs(rows: int) -> PairSums:
    """The state before the first pair."""
    nowhere = np.full(rows, -1, np.int64)
    return PairSums(np.zeros(rows), np.full(rows, np.inf), nowhere, 0.0, 0.0, float("inf"), 0.0)


def silhouettes(pairs: PairSums, classes: Classes) -> Floats:
    """The silhouette of each row; 0 in a class of one row, and where both means are 0."""
    others = classes.counts[classes.codes] - 1
    own = np.divide(pairs.own, others, out=np.zeros_like(pairs.own), where=others > 0)
    larger = np.maximum(own, pairs.rival_mean)
    defined = (others > 0) & (larger > 0)
    return np.divide(pairs.rival_mean - own, larger, out=np.zeros_like(own), where=defined)


def silhouette_of(pairs: PairSums, classes: Classes, *, average: Average = "micro") -> Measured:
    """The mean silhouette over rows, or over class means (`macro`); needs 2 <= K <= N - 1."""
    return silhouette_mean(silhouettes(pairs, classes), classes, average=average)


def silhouette_mean(each: Floats, classes: Classes, *, average: Average = "micro") -> Measured:
    """The silhouette of the data from that of each row."""
    if len(classes) >= len(each):
        return Measured(float("nan"), (UNDEFINED,), notes=("every row is a class of its own",))
    by_class = np.bincount(classes.codes, each, minlength=len(classes)) / classes.counts
    flags = (SINGLETONS,) if (classes.counts == 1).any() else ()
    value = each.mean() if average == "micro" else by_class.mean()
    return Measured(float(value), flags, {"worst_class": float(by_class.min())})


def dunn_of(pairs: PairSums) -> Measured:
    """The least distance between classes over the largest inside one; without any spread +inf, or nan."""
    return dunn_ratio(pairs.gap, pairs.diameter)


def dunn_ratio(gap: float, diameter: float) -> Measured:
    """Separation over size, as ruled: size 0 gives +inf, or nan if the separation is 0 too."""
    parts = {"gap": gap, "diameter": diameter}
    if diameter > 0:
        return Measured(gap / diameter, (), parts)
    return Measured(float("inf"), (), parts) if gap > 0 else Measured(float("nan"), (UNDEFINED,), parts)


def point_biserial_of(pairs: PairSums, classes: Classes, *, definition: PointBiserial = "pearson") -> Measured:
    """The correlation of distance with being of different classes, over all pairs of rows."""
    rows = float(len(classes.codes))
    inside = float((classes.counts * (classes.counts - 1)).sum()) / 2
    value = point_biserial_values(
        np.array(rows * (rows - 1) / 2),
        np.array(inside),
        np.array(pairs.within),
        np.array(pairs.between),
        np.array(pairs.squares),
        definition,
    )
    parts = {"within_pairs": inside, "between_pairs": rows * (rows - 1) / 2 - inside}
    return Measured(float(value), (UNDEFINED,) if np.isnan(value) else (), parts)


def point_biserial_values(
    pairs: Floats, inside: Floats, within: Floats, between: Floats, squares: Floats, definition: PointBiserial
) -> Floats:
    """The same from sums, for the data or for many draws at once; nan without pairs of one kind or without spread."""
    outside = pairs - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = between / outside - within / inside
        share = np.sqrt(inside * outside) / pairs
        mean = (within + between) / pairs
        variance = squares / pairs - mean**2
        spread = np.sqrt(np.where(variance > 1e-14 * squares / pairs, variance, np.nan))
        values = {
            "pearson": difference * share / spread,
            "nbclust": difference * share / (spread * np.sqrt(pairs / (pairs - 1))),
            "clustercrit": -difference * share,
        }[definition]
    return np.where((inside > 0) & (outside > 0), values, np.nan)
