"""What the levels of a shift share: every distance and product is made once, and levels are sums of parts (F-5, F-28).

All repeats and draws take their rows from the same union, so its distances are made once. A level has the first rows of
each class: what it needs of a side is the sum over these rows, which grows from level to level, and the two sides of a
level add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from basanite.representation.measures.pairs import PairSums, Plan
from basanite.representation.measures.results import Classes, Floats, Numbers
from basanite.representation.measures.spread import scatter
from basanite.representation.measures.sums import ClassSums, linear_pass
from basanite.representation.measures.sweep import Precision, distance_table, rounding
from basanite.representation.measures.transfer import Moments

MOST_BYTES: Final = 1 << 30
"""Of a table of distances, and of the products of both sides; beyond that each level is measured by itself."""
Rows = Sequence[Numbers]
"""The rows of each class of a side, in the order in which levels take them."""


@dataclass(frozen=True)
class Table:
    """The distances between all rows of the union."""

    plan: Plan
    distances: NDArray[np.floating[Any]]
    """In the order of the classes of the plan."""
    place: Numbers
    """Where each row stands in that order."""
    error: float
    """Bound on the error of a squared distance."""

    @classmethod
    def of(cls, features: Any, classes: Classes, precision: Precision) -> Self | None:
        """The table, if it fits into memory."""
        rows = len(classes.codes)
        if rows**2 * np.dtype(precision).itemsize > MOST_BYTES:
            return None
        plan = Plan.of(features, classes, linear_pass(features, classes), precision)
        made, longest = distance_table(plan)
        place = np.empty(rows, np.int64)
        place[classes.order] = np.arange(rows)
        return cls(plan, made, place, 2 * longest * rounding(plan.dtype, len(plan.centre)))

    def exact(self, first: Numbers, second: Numbers) -> Floats:
        """Distances by difference, of pairs that are given by their places; scaled as the table is."""
        return self.plan.exact(first, second)


@dataclass(frozen=True)
class SidePairs:
    """For one side and so many rows of each class: sums of, least and largest distances from every row to the class."""

    sums: Floats
    """`[K, N]`, N all rows of the table."""
    least: Floats | None
    largest: Floats | None


def side_pairs(table: Table, rows: Rows, counts: Sequence[int], *, extremes: bool) -> dict[int, SidePairs]:
    """The state of one side at every number of rows that a level takes, each from the one before."""
    size = (len(rows), len(table.place))
    sums = np.zeros(size)
    least, largest = (np.full(size, np.inf), np.full(size, -1.0)) if extremes else (None, None)
    found = {}
    for low, high in pairwise((0, *counts)):
        taken = np.concatenate([own[low:high] for own in rows])
        part = table.distances[table.place[taken]].reshape(len(rows), high - low, -1)
        sums = sums + part.sum(axis=1, dtype=np.float64)
        if least is not None and largest is not None:
            least, largest = np.minimum(least, part.min(axis=1)), np.maximum(largest, part.max(axis=1))
        found[high] = SidePairs(sums, least, largest)
    return found


def level_pairs(
    table: Table, parts: Sequence[SidePairs], rows: Numbers, classes: Classes, state: ClassSums
) -> PairSums:
    """What a sweep over the rows of a level would leave."""
    places = table.place[rows]
    sums = np.concatenate([part.sums for part in parts])[:, places]
    at = np.arange(len(places))
    own = sums[classes.codes, at]
    within = float(own.sum()) / 2
    between = float(sums.sum() - own.sum()) / 2
    means = sums / classes.counts[:, None]
    means[classes.codes, at] = np.inf
    rival = means.argmin(axis=0)
    gap, diameter = _extremes(table, parts, places, classes) if parts[0].least is not None else (np.nan, np.nan)
    pairs = PairSums(own, means[rival, at], rival.astype(np.int64), within, between, gap, diameter)
    squares = float(scatter(state)[0].sum()) * len(places)
    return PairSums(**{**vars(pairs.times(1 / table.plan.scale)), "squares": squares})


def _extremes(table: Table, parts: Sequence[SidePairs], places: Numbers, classes: Classes) -> tuple[float, float]:
    """The least distance between classes and the largest inside one: those that rounding leaves, by difference."""
    at = np.arange(len(places))
    least = np.concatenate([part.least for part in parts if part.least is not None])[:, places]
    largest = np.concatenate([part.largest for part in parts if part.largest is not None])[classes.codes, places]
    least[classes.codes, at] = np.inf
    gap, diameter = float(least.min()), float(largest.max())
    near, column = np.nonzero(least <= np.sqrt(gap**2 + 2 * table.error))
    far = np.flatnonzero(largest >= np.sqrt(max(diameter**2 - 2 * table.error, 0.0)))
    if gap > 0:
        gap = min(
            _exact(table, places, classes, int(row), int(kind), 1) for kind, row in zip(near, column, strict=True)
        )
    if diameter > 0:
        diameter = max(_exact(table, places, classes, int(row), int(classes.codes[row]), -1) for row in far)
    return gap, diameter


def _exact(table: Table, places: Numbers, classes: Classes, row: int, kind: int, sign: int) -> float:
    """The least (1) or largest (-1) distance from a row to a class, taken again by difference where it may decide."""
    others = places[classes.members(kind)]
    away = table.distances[places[row], others].astype(np.float64) ** 2
    best = (sign * away).min()
    some = others[sign * away <= best + 2 * table.error]
    exact = table.exact(np.full_like(some, places[row]), some)
    return float(exact.min() if sign == 1 else exact.max())


def side_products(features: Any, rows: Rows, counts: Sequence[int], shift: Floats) -> dict[int, Floats]:
    """For one side the sums of products of features over the first rows of each class, `[d, d]` for each count."""
    products, found = np.zeros((len(shift), len(shift))), {}
    for low, high in pairwise((0, *counts)):
        taken = np.concatenate([own[low:high] for own in rows])
        away = np.asarray(features[taken], dtype=np.float64) - shift
        products = products + away.T @ away
        found[high] = products
    return found


def products_fit(dimensions: int, levels: int) -> bool:
    """Whether the products of all levels fit into memory."""
    return 8 * dimensions**2 * (levels + 2) <= MOST_BYTES


def level_moments(parts: Sequence[Floats], state: ClassSums) -> Moments:
    """The moments that the H-score takes, from products about the shift of the state."""
    middle = state.sums.sum(axis=0) / state.rows
    covariance = sum(parts[1:], parts[0]) / state.rows - np.outer(middle, middle)
    means = (state.centroids - middle) * np.sqrt(state.counts / state.rows)[:, None]
    return Moments(covariance, means)
