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

from basanite.representation.measures.pairs import Column, Job, PairSums, Panel, Plan, Strip, Tile, no_pairs
from basanite.representation.measures.results import Classes, Floats, Labels, Numbers, classes_of
from basanite.representation.measures.spread import scatter
from basanite.representation.measures.sums import ClassSums, Features, linear_pass, shape_of

CHUNK: Final = 4096
TIED: Final = 1e-13
"""Squared distances that differ by less than this share are as good as each other."""


def rounding(dtype: np.dtype[np.floating], dimensions: int) -> float:
    """Bound on the error of a squared distance made by a product, as a share of the two squared lengths."""
    return float(np.finfo(dtype).eps * 4 * (1 + np.sqrt(dimensions)))


class Extremes:
    """The least distance between classes and the largest inside one, as tiles of squared distances pass by."""

    def __init__(self, plan: Plan, codes: Numbers) -> None:
        self.plan, self.codes = plan, codes
        self.gap, self.diameter = float("inf"), 0.0

    def see(self, squares: Tile, start: int, low: int, scale: float) -> None:
        """Take in a tile of rows from `start` and columns from `low` in class order."""
        rows = self.codes[start : start + len(squares)]
        columns = self.codes[low : low + squares.shape[1]]
        error = rounding(squares.dtype, len(self.plan.centre)) * scale
        if rows[-1] < columns[0]:
            self._closest(squares, start, low, error)
        elif rows[0] == columns[-1]:
            self._farthest(squares, start, low, error)
        else:
            same = rows[:, None] == columns
            self._closest(np.where(same, np.inf, squares), start, low, error)
            self._farthest(np.where(same, squares, -np.inf), start, low, error)

    def _closest(self, squares: Tile, start: int, low: int, error: float) -> None:
        least = float(squares.min())
        if self.gap > 0 and np.isfinite(least) and least <= self.gap**2 + error:
            first, second = np.nonzero(squares <= min(self.gap**2 + error, least + 2 * error))
            about = np.full(len(first), first[0] + start)
            self.gap = min(self.gap, self._exact(first + start, second + low, about, "least"))

    def _farthest(self, squares: Tile, start: int, low: int, error: float) -> None:
        most = float(squares.max())
        if most >= self.diameter**2 - error:
            first, second = np.nonzero(squares >= max(self.diameter**2 - error, most - 2 * error))
            about = self.plan.classes.starts[self.codes[first + start]]
            self.diameter = max(self.diameter, self._exact(first + start, second + low, about, "most"))

    def _exact(self, first: Numbers, second: Numbers, about: Numbers, which: Literal["least", "most"]) -> float:
        """The least or largest distance of some pairs by difference; of many, those a narrower product leaves."""
        while len(first) > CHUNK:
            squares, error = self._about(first, second, about)
            away = squares - squares.min() if which == "least" else squares.max() - squares
            if error == 0:  # every row is the one that they are moved to
                return 0.0
            left = np.flatnonzero(away <= 2 * error)
            if error <= TIED * float(squares.max() if which == "most" else squares.min()):
                left = left[np.argsort(away[left], kind="stable")[:CHUNK]]
            if 2 * len(left) > len(first):
                break
            first, second, about = first[left], second[left], about[left]
        parts = [self.plan.exact(first[at : at + CHUNK], second[at : at + CHUNK]) for at in range(0, len(first), CHUNK)]
        found = np.concatenate(parts)
        return float(found.min() if which == "least" else found.max())

    def _about(self, first: Numbers, second: Numbers, about: Numbers) -> tuple[Floats, float]:
        """Squared distances of pairs whose rows are both moved to one of the rows, and the bound on their error."""
        (left, left_at), (right, right_at) = (self._offsets(rows, about) for rows in (first, second))
        lengths, others = (np.einsum("ij,ij->i", side, side) for side in (left, right))
        products = (left @ right.T)[left_at, right_at]
        error = rounding(np.dtype(np.float64), left.shape[1]) * float(lengths.max() + others.max())
        return lengths[left_at] + others[right_at] - 2 * products, error

    def _offsets(self, rows: Numbers, about: Numbers) -> tuple[Floats, NDArray[np.intp]]:
        distinct, one, at = np.unique(rows, return_index=True, return_inverse=True)
        return self.plan.apart(distinct, about[one]), at


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
    work = partial(sweep_job, plan)
    found: Iterable[PairSums] = map(work, jobs) if executor is None else executor.map(work, jobs)
    return replace(reduce(or_, found).times(1 / plan.scale), squares=float(scatter(state)[0].sum()) * rows)


def sweep_job(plan: Plan, job: Job) -> PairSums:
    """What one job leaves: all rows, but only the pairs of the job."""
    sweep = _Sweep(plan)
    strip = Strip(plan, job.strip)
    for panel in job.columns:
        column = strip.right_form(panel)
        for other in job.strip:
            if other == panel:
                sweep.inside(strip, column)
            elif other.start < panel.start:
                sweep.across(strip, other, column)
    return sweep.result()


def distance_table(plan: Plan) -> tuple[NDArray[np.floating], float]:
    """The scaled distances between all rows in class order, and the largest squared length of a row."""
    rows = len(plan.classes.codes)
    made, longest = np.zeros((rows, rows), plan.dtype), 0.0
    sweep = _Sweep(plan, extremes=False)
    for panel in plan.panels:
        for start, stop in panel.pieces():
            left = plan.left_form(start, stop)
            longest = max(longest, float(left[:, -2].max()))
            for other in plan.panels:
                for low, high in other.pieces():
                    if low >= start:
                        made[start:stop, low:high] = sweep.distances(left, plan.right_form(low, high), start, low)
                        made[low:high, start:stop] = made[start:stop, low:high].T
    return made, longest


class _Sweep:
    """The state of a running sweep: rows in class order."""

    def __init__(self, plan: Plan, *, extremes: bool = True) -> None:
        self.plan = plan
        self.found = no_pairs(len(plan.classes.codes))
        self.counts = plan.classes.counts.astype(np.float64)
        self.starts = plan.classes.starts
        self.codes = plan.classes.codes[plan.classes.order]
        self.extremes = Extremes(plan, self.codes) if extremes else None
        self.within = self.between = 0.0
        self.room = np.empty(0, plan.dtype)

    def inside(self, strip: Strip, column: Column) -> None:
        """All pairs inside one panel: of several classes, or of one class in pieces."""
        panel = column.panel
        sums = np.zeros((panel.stop - panel.start, panel.last - panel.first))
        for start, stop in panel.pieces():
            for low, high in panel.pieces():
                if low >= start:  # what lies below the diagonal is seen from the other side
                    tile = self.distances(strip.left_form(start, stop), column.right_form(low, high), start, low)
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
                tile = self.distances(strip.left_form(start, stop), column.right_form(low, high), start, low)
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
            squares = (
                self.plan.left_form(start, start + len(left), wide)
                @ self.plan.right_form(low, low + len(right), wide).T
            )
        if least <= FAINT * scale:  # rounding may leave a little less than nothing
            np.maximum(squares, 0.0, out=squares)
            self._sharpen(squares, start, low, squares < CLOSE * scale)
        if start == low:
            np.fill_diagonal(squares, 0.0)
        if self.extremes is not None:
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
            gap=float("inf") if self.extremes is None else self.extremes.gap,
            diameter=0.0 if self.extremes is None else self.extremes.diameter,
        )


def _least(squares: Tile, *, diagonal: bool) -> float:
    """The least of a tile, its diagonal left out where that is rows with themselves."""
    if diagonal:
        np.fill_diagonal(squares, np.inf)
    return float(squares.min())
