"""Silhouette, Dunn and point-biserial from what one pairwise sweep left: sums, minima and maxima of distances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.representation.measures.results import (
    SINGLETONS,
    UNDEFINED,
    Classes,
    Floats,
    Labels,
    Measured,
    Numbers,
    classes_of,
)
from basanite.representation.measures.spread import blur, scatter
from basanite.representation.measures.sums import PIECE, ClassSums, Features, radii, shape_of

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

    def times(self, factor: float) -> PairSums:
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


TILE: Final = 512
"""Rows of a panel and of a piece: a tile of float32 is 1 MB and stays in the cache."""
MOST_CLASSES: Final = 64
"""Classes of a panel."""
STRIP_BYTES: Final = 1 << 28
"""Prepared rows that are held in memory at a time."""

Tile = NDArray[Any]


@dataclass(frozen=True)
class Panel:
    """Some whole classes: `first` to `last` (not included), rows `start` to `stop` in class order."""

    first: int
    last: int
    start: int
    stop: int

    def pieces(self) -> Iterator[tuple[int, int]]:
        """The rows a few at a time."""
        for start in range(self.start, self.stop, TILE):
            yield start, min(start + TILE, self.stop)


@dataclass(frozen=True)
class Job:
    """One part of the sweep: the panels of a strip against some panels that do not come before them."""

    strip: tuple[Panel, ...]
    columns: tuple[Panel, ...]


@dataclass(frozen=True)
class Plan:
    """The rows in class order, prepared on demand, and the jobs that make up the sweep."""

    features: Features
    classes: Classes
    centre: Floats
    dtype: np.dtype[Any]
    scale: float = 1.0
    """A power of two that brings distances near 1, so that squares fit any type; sums are scaled back at the end."""

    @classmethod
    def of(cls, features: Features, classes: Classes, sums: ClassSums, precision: str) -> Plan:
        """The plan for features whose linear state is known."""
        size = float(np.sqrt(scatter(sums)[0].sum() / max(sums.rows, 1)))
        return cls(features, classes, sums.centre, np.dtype(precision), 2.0 ** -round(np.log2(size)) if size else 1.0)

    @cached_property
    def panels(self) -> tuple[Panel, ...]:
        """All rows in panels."""
        return tuple(_panels(self.classes))

    def jobs(self, parts: int) -> Iterator[Job]:
        """The sweep in jobs: every pair of panels is in exactly one."""
        for strip in self._strips():
            reached = [panel for panel in self.panels if panel.start >= strip[0].start]
            for part in range(min(parts, len(reached))):
                yield Job(strip, tuple(reached[part::parts]))

    def rows(self, start: int, stop: int) -> Floats:
        """Some rows in class order, centred and scaled, as float64."""
        numbers = self.classes.order[start:stop]
        rows = np.array(self.features[numbers], dtype=np.float64)
        rows -= self.centre
        rows *= self.scale
        return rows

    def apart(self, first: Numbers, second: Numbers) -> Floats:
        """Scaled differences of pairs of rows: no digit is lost to cancellation."""
        order = self.classes.order
        left = np.asarray(self.features[order[first]], dtype=np.float64)
        right = np.asarray(self.features[order[second]], dtype=np.float64)
        return np.asarray((left - right) * self.scale)

    def exact(self, first: Numbers, second: Numbers) -> Floats:
        """Scaled distances between pairs of rows by difference, also where squares would vanish."""
        away = self.apart(first, second)
        largest = np.abs(away).max(axis=1)
        return np.asarray(largest * np.linalg.norm(away / np.where(largest > 0, largest, 1.0)[:, None], axis=1))

    def left_form(self, start: int, stop: int, dtype: np.dtype[Any] | None = None) -> Tile:
        """Prepared rows of the left form."""
        return self._form(start, stop, dtype, left=True)

    def right_form(self, start: int, stop: int, dtype: np.dtype[Any] | None = None) -> Tile:
        """Prepared rows of the right form."""
        return self._form(start, stop, dtype, left=False)

    def _form(self, start: int, stop: int, dtype: np.dtype[Any] | None, *, left: bool) -> Tile:
        made = np.empty((stop - start, len(self.centre) + 2), dtype or self.dtype)
        for at in range(start, stop, TILE):
            rows = self.rows(at, min(at + TILE, stop))
            some = made[at - start : at - start + len(rows)]
            squares = np.einsum("ij,ij->i", rows, rows)
            np.multiply(rows, -2.0 if left else 1.0, out=some[:, :-2], casting="unsafe")
            some[:, -2], some[:, -1] = (squares, 1.0) if left else (1.0, squares)
        return made

    def _strips(self) -> Iterator[tuple[Panel, ...]]:
        most = max(TILE, STRIP_BYTES // ((len(self.centre) + 2) * self.dtype.itemsize))
        strip: list[Panel] = []
        for panel in self.panels:
            if strip and panel.stop - strip[0].start > most:
                yield tuple(strip)
                strip = []
            strip.append(panel)
        yield tuple(strip)


def _panels(classes: Classes) -> Iterator[Panel]:
    """Whole classes up to a tile's rows; a larger class is a panel of its own."""
    starts = classes.starts.tolist()
    first = 0
    for place in range(1, len(classes)):
        if starts[place + 1] - starts[first] > TILE or place - first >= MOST_CLASSES:
            yield Panel(first, place, starts[first], starts[place])
            first = place
    yield Panel(first, len(classes), starts[first], starts[-1])


@dataclass
class Strip:
    """The prepared rows of a strip, left form: held if they fit, else prepared again piece by piece."""

    plan: Plan
    panels: tuple[Panel, ...]

    def __post_init__(self) -> None:
        start, stop = self.panels[0].start, self.panels[-1].stop
        size = (stop - start) * (len(self.plan.centre) + 2) * self.plan.dtype.itemsize
        self._start = start
        self._held = self.plan.left_form(start, stop) if size <= STRIP_BYTES * 2 else None

    def left_form(self, start: int, stop: int) -> Tile:
        """Some rows of the strip in left form."""
        if self._held is None:
            return self.plan.left_form(start, stop)
        return self._held[start - self._start : stop - self._start]

    def right_form(self, panel: Panel) -> Column:
        """The rows of a panel in right form, made from those held where they are."""
        if panel.stop - panel.start > STRIP_BYTES // (8 * (len(self.plan.centre) + 2)):
            return Column(self.plan, panel, None)
        if self._held is None or panel not in self.panels:
            return Column(self.plan, panel, self.plan.right_form(panel.start, panel.stop))
        left = self.left_form(panel.start, panel.stop)
        turned = np.empty_like(left)
        np.multiply(left[:, :-2], -0.5, out=turned[:, :-2])
        turned[:, -2], turned[:, -1] = left[:, -1], left[:, -2]
        return Column(self.plan, panel, turned)


@dataclass(frozen=True)
class Column:
    """A panel that meets all panels of a strip."""

    plan: Plan
    panel: Panel
    held: Tile | None

    def right_form(self, start: int, stop: int) -> Tile:
        """Some of its rows in right form."""
        if self.held is None:
            return self.plan.right_form(start, stop)
        return self.held[start - self.panel.start : stop - self.panel.start]


Dunn = Literal["points", "centroids", "centroid_diameter", "point_centroid"]


def dunn_by(
    definition: Dunn, features: Features, labels: Labels | Classes, *, sums: ClassSums, pairs: PairSums
) -> Measured:
    """Dunn's index by one of its definitions, from what the pass and the sweep left."""
    if definition == "points":
        return dunn_ratio(pairs.gap, pairs.diameter)
    if definition == "centroids":
        largest = float(radii(features, labels, sums).largest.max())
        return dunn_ratio(centroid_gap(sums), largest if largest > blur(sums) else 0.0)
    apart = centroid_gap(sums) if definition == "centroid_diameter" else point_to_centroid_gap(features, labels, sums)
    return dunn_ratio(apart, pairs.diameter)


def centroid_gap(sums: ClassSums) -> float:
    """The least distance between two class centroids (torchmetrics, Hub Miner)."""
    centroids = sums.without_empty().centroids
    nearest = [
        np.linalg.norm(centroids[place + 1 :] - centroids[place], axis=1).min() for place in range(len(centroids) - 1)
    ]
    return float(min(nearest))


def point_to_centroid_gap(features: Features, labels: Labels | Classes, sums: ClassSums) -> float:
    """The least distance from a row to the centroid of a class before its own: permetrics' default, asymmetric."""
    classes = classes_of(labels, shape_of(features)[0])
    centroids = sums.centroids[sums.places(classes.names)]
    least = np.inf
    for place in range(1, len(classes)):
        members = classes.members(place)
        for start in range(0, len(members), PIECE):
            rows = np.asarray(features[members[start : start + PIECE]], dtype=np.float64) - sums.shift
            away = (np.linalg.norm(rows - other, axis=1).min() for other in centroids[:place])
            least = min(least, *away)
    return float(least)
