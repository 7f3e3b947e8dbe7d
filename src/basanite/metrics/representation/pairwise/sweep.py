"""One tiled sweep over all pairs of rows: everything silhouette, Dunn and point-biserial need, each distance once.

Rows are taken class by class in panels; a tile holds the distances between two panels, made by one matrix product of
centred rows. A panel is either several whole classes or one class in pieces, so the sum of distances from a row to a
class is complete when two panels have met, and only its minimum over classes is kept: memory grows with N, not with N
times K or N squared. Tiles are float32 with float64 sums (or float64 throughout); a tile with distances so small that
float32 would lose them is made again in float64, and the extremes that Dunn rests on are recomputed by difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.representation.classes import Classes, Labels, classes_of
from basanite.metrics.representation.pairwise.extremes import Extremes
from basanite.metrics.representation.pairwise.pairs import PairSums, no_pairs
from basanite.metrics.representation.pairwise.panels import Column, Job, Panel, Plan, Strip, Tile
from basanite.metrics.representation.passes import Features, linear_pass, shape_of
from basanite.metrics.representation.results import Floats, Numbers
from basanite.metrics.representation.spread import scatter
from basanite.metrics.representation.sums import ClassSums

Precision = Literal["float32", "float64"]
JOBS: Final = 8
"""Parts that workers get of each strip, each of about as many pairs."""
CLOSE: Final = 1e-9
"""A float64 squared distance below this share of the squared lengths has lost digits to cancellation."""
FAINT: Final = 1e-3
"""A float32 tile whose least squared distance is below this share of the squared lengths is made again in float64."""


def pairwise_sweep(
    features: Features,
    labels: Labels | Classes,
    *,
    precision: Precision = "float32",
    executor: Executor | None = None,
    sums: ClassSums | None = None,
) -> PairSums:
    """The sums, minima and maxima of all pairwise Euclidean distances; `sums` spares one read of the features.

    >>> pairwise_sweep(np.array([[0.0], [1.0], [5.0]]), ["a", "a", "b"]).gap
    4.0
    """
    rows, _ = shape_of(features)
    classes = classes_of(labels, rows)
    state = linear_pass(features, classes) if sums is None else sums
    plan = Plan.of(features, classes, state, precision)
    jobs = list(plan.jobs(1 if executor is None else JOBS))
    work = partial(swept, plan)
    found: Iterable[PairSums] = map(work, jobs) if executor is None else executor.map(work, jobs)
    return replace(reduce(or_, found).scaled(1 / plan.scale), squares=float(scatter(state)[0].sum()) * rows)


def swept(plan: Plan, job: Job) -> PairSums:
    """What one job leaves: all rows, but only the pairs of the job."""
    sweep = _Sweep(plan)
    strip = Strip(plan, job.strip)
    for panel in job.columns:
        column = strip.right(panel)
        for other in job.strip:
            if other == panel:
                sweep.inside(strip, column)
            elif other.start < panel.start:
                sweep.across(strip, other, column)
    return sweep.result()


class _Sweep:
    """The state of a running sweep: rows in class order."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.found = no_pairs(len(plan.classes.codes))
        self.counts = plan.classes.counts.astype(np.float64)
        self.starts = plan.classes.starts
        self.codes = plan.classes.codes[plan.classes.order]
        self.extremes = Extremes(plan, self.codes)
        self.within = self.between = 0.0
        self.room = np.empty(0, plan.dtype)

    def inside(self, strip: Strip, column: Column) -> None:
        """All pairs inside one panel: of several classes, or of one class in pieces."""
        panel = column.panel
        sums = np.zeros((panel.stop - panel.start, panel.last - panel.first))
        for start, stop in panel.pieces():
            for low, high in panel.pieces():
                if low >= start:  # what lies below the diagonal is seen from the other side
                    tile = self.distances(strip.left(start, stop), column.right(low, high), start, low)
                    sums[start - panel.start : stop - panel.start] += self._by_class(tile, low, high, panel)
                if low > start:
                    sums[low - panel.start : high - panel.start] += self._by_class(tile.T, start, stop, panel)
        at, place = np.arange(len(sums)), self.codes[panel.start : panel.stop] - panel.first
        own = sums[at, place]
        self.found.own[panel.start : panel.stop] = own
        self.within += float(own.sum()) / 2
        self.between += float(sums.sum() - own.sum()) / 2
        means = sums / self.counts[panel.first : panel.last]
        means[at, place] = np.inf
        self._nearest(panel.start, panel.stop, means, panel)

    def across(self, strip: Strip, panel: Panel, column: Column) -> None:
        """All pairs between two panels: each distance serves the row and the column."""
        other = column.panel
        down = np.zeros((other.stop - other.start, panel.last - panel.first))
        for start, stop in panel.pieces():
            sums = np.zeros((stop - start, other.last - other.first))
            for low, high in other.pieces():
                tile = self.distances(strip.left(start, stop), column.right(low, high), start, low)
                sums += self._by_class(tile, low, high, other)
                down[low - other.start : high - other.start] += self._by_class(tile.T, start, stop, panel)
            self.between += float(sums.sum())
            self._nearest(start, stop, sums / self.counts[other.first : other.last], other)
        self._nearest(other.start, other.stop, down / self.counts[panel.first : panel.last], panel)

    def distances(self, left: Tile, right: Tile, start: int, low: int) -> Tile:
        """A tile of distances; what is faint in float32 is made again in float64."""
        squares = np.matmul(left, right.T, out=self._room(len(left), len(right)))
        scale = float(left[:, -2].max() + right[:, -1].max())
        least = _least(squares, diagonal=start == low)
        if squares.dtype == np.float32 and least < FAINT * scale:
            wide = np.dtype(np.float64)
            squares = self.plan.left(start, start + len(left), wide) @ self.plan.right(low, low + len(right), wide).T
        if least <= FAINT * scale:  # rounding may leave a little less than nothing
            np.maximum(squares, 0.0, out=squares)
            self._sharpen(squares, start, low, squares < CLOSE * scale)
        if start == low:
            np.fill_diagonal(squares, 0.0)
        self.extremes.see(squares, start, low, scale)
        return np.asarray(np.sqrt(squares, out=squares))

    def _sharpen(self, squares: Tile, start: int, low: int, faint: NDArray[np.bool_]) -> None:
        """Make what the product of a tile lost again, a knot of close rows at a time, moved to one of them."""
        for row in np.flatnonzero(faint.any(axis=1)).tolist():
            columns = np.flatnonzero(faint[row])
            if columns.size:  # not yet made with an earlier knot
                rows = np.flatnonzero(faint[:, columns[0]])
                knot = np.ix_(rows, columns)
                squares[knot] = np.where(faint[knot], self._knot(rows + start, columns + low), squares[knot])
                faint[knot] = False

    def _knot(self, rows: Numbers, columns: Numbers) -> Floats:
        """Squared distances of some rows that lie close together; the closest of all by difference."""
        left, right = (self.plan.apart(some, np.full_like(some, rows[0])) for some in (rows, columns))
        lengths, others = (np.einsum("ij,ij->i", side, side) for side in (left, right))
        made: Floats = lengths[:, None] + others - 2 * left @ right.T
        first, second = np.nonzero(made < CLOSE * (lengths.max() + others.max()))
        made[first, second] = self.plan.exact(rows[first], columns[second]) ** 2
        return made

    def _room(self, rows: int, columns: int) -> Tile:
        """Memory for a tile, the same again and again: it stays in the cache."""
        if rows * columns > len(self.room):
            self.room = np.empty(rows * columns, self.plan.dtype)
        return self.room[: rows * columns].reshape(rows, columns)

    def _by_class(self, tile: Tile, low: int, high: int, panel: Panel) -> Floats:
        """The sum of distances from each row of a tile to each class of a panel, in float64."""
        if panel.last - panel.first == 1:
            return np.asarray(tile.sum(axis=1, dtype=np.float64))[:, None]
        edges = (self.starts[panel.first : panel.last] - low).tolist()
        if tile.flags.c_contiguous:
            return np.asarray(np.add.reduceat(tile, edges, axis=1, dtype=np.float64))
        ends = [*edges[1:], high - low]
        return np.stack([tile[:, a:b].sum(axis=1, dtype=np.float64) for a, b in zip(edges, ends, strict=True)], axis=1)

    def _nearest(self, start: int, stop: int, means: Floats, panel: Panel) -> None:
        """Mean distances from some rows to the classes of a panel are complete: keep the least."""
        best = means.argmin(axis=1)
        least = means[np.arange(len(means)), best]
        nearer = least < self.found.rival_mean[start:stop]
        self.found.rival_mean[start:stop][nearer] = least[nearer]
        self.found.rival[start:stop][nearer] = best[nearer] + panel.first

    def result(self) -> PairSums:
        """What was found, rows in their own order."""
        back = np.empty_like(self.plan.classes.order)
        back[self.plan.classes.order] = np.arange(len(back))
        return PairSums(
            own=self.found.own[back],
            rival_mean=self.found.rival_mean[back],
            rival=self.found.rival[back],
            within=self.within,
            between=self.between,
            gap=self.extremes.gap,
            diameter=self.extremes.diameter,
        )


def _least(squares: Tile, *, diagonal: bool) -> float:
    """The least of a tile, its diagonal left out where that is rows with themselves."""
    if diagonal:
        np.fill_diagonal(squares, np.inf)
    return float(squares.min())
