"""The additive state of the linear pass: everything FERM, Calinski-Harabasz, RS and C-root-K need, and no more.

A state is counts, zero rows, sums of unit vectors, sums of shifted rows and of their squares, class by class. States of
streams, shards and shift levels add up (F-5): O(K d) numbers however many rows there are. Shifting by a pilot mean
keeps the squares small where features sit far from zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.metrics.representation.results import Floats, Numbers

BY_CLASS: Final = ("counts", "zeros", "unit", "sums", "spread")
"""The parts of the state that have one entry for each class."""


@dataclass(frozen=True)
class ClassSums:
    """Sums over the rows of each class; `a + b` is the state of both together."""

    names: tuple[Hashable, ...]
    counts: Numbers
    zeros: Numbers
    """How many rows of each class are all zero."""
    unit: Floats
    """s_i: the sum of unit vectors, `[K, d]`."""
    shift: Floats
    """The pilot mean that was taken off before `sums`, `squares` and `spread`."""
    sums: Floats
    """The sum of shifted rows, `[K, d]`; nan where only cosine measures were asked for."""
    squares: Floats
    """The sum of squares of the shifted rows for each feature, `[d]`."""
    spread: Floats
    """The sum of squared lengths of the shifted rows for each class, `[K]`."""
    negative: bool
    """Whether any feature is below zero (F-10)."""

    @property
    def rows(self) -> int:
        """N: how many rows there are."""
        return int(self.counts.sum())

    @property
    def dimensions(self) -> int:
        """d: how many features a row has."""
        return int(self.unit.shape[1])

    @property
    def centroids(self) -> Floats:
        """c_i - shift: the mean of each class, less the pilot mean."""
        return np.asarray(self.sums / np.maximum(self.counts, 1)[:, None])

    @property
    def centre(self) -> Floats:
        """The mean of all rows."""
        return np.asarray(self.shift + self.sums.sum(axis=0) / max(self.rows, 1))

    def __add__(self, other: ClassSums) -> ClassSums:
        """The state of both sets of rows; classes are joined by name."""
        if self.dimensions != other.dimensions:
            raise FeaturesError(
                f"Features of {self.dimensions} and of {other.dimensions} dimensions cannot be measured together."
            )
        names = tuple(dict.fromkeys((*self.names, *other.names)))
        first, second = self.placed(names), other.shifted(self.shift).placed(names)
        return replace(
            first,
            counts=first.counts + second.counts,
            zeros=first.zeros + second.zeros,
            unit=first.unit + second.unit,
            sums=first.sums + second.sums,
            squares=first.squares + second.squares,
            spread=first.spread + second.spread,
            negative=first.negative or second.negative,
        )

    def places(self, names: Sequence[Hashable]) -> Numbers:
        """Where these classes stand in the state."""
        known = {name: place for place, name in enumerate(self.names)}
        lacking = [name for name in names if name not in known]
        if lacking:
            raise FeaturesError(f"The state holds no class {lacking[0]!r}. Make it from the same labels.")
        return np.array([known[name] for name in names], dtype=np.int64)

    def shifted(self, shift: Floats) -> ClassSums:
        """The same state about another pilot mean."""
        move = self.shift - shift
        if not move.any():
            return self
        counts = self.counts[:, None]
        squares = self.squares + 2 * move * self.sums.sum(axis=0) + self.rows * move**2
        spread = self.spread + 2 * self.sums @ move + self.counts * (move @ move)
        return replace(self, shift=shift, sums=self.sums + counts * move, squares=squares, spread=spread)

    def placed(self, names: Sequence[Hashable]) -> ClassSums:
        """The same state with these names, in this order: classes without rows are nothing but zeros."""
        if tuple(names) == self.names:
            return self
        places = {name: place for place, name in enumerate(names)}
        to = np.array([places[name] for name in self.names], dtype=np.int64)
        wide: dict[str, Any] = {name: _spread_out(getattr(self, name), to, len(names)) for name in BY_CLASS}
        return replace(self, names=tuple(names), **wide)

    def only(self, places: Numbers) -> ClassSums:
        """The state of some classes only: what is left when the others are taken away."""
        chosen: dict[str, Any] = {name: getattr(self, name)[places] for name in BY_CLASS}
        squares = np.full_like(self.squares, np.nan)  # squares are kept for all classes together
        return replace(self, names=tuple(self.names[place] for place in places), squares=squares, **chosen)

    def without_empty(self) -> ClassSums:
        """The same state without classes that have no row."""
        if self.counts.all():
            return self
        return replace(self.only(np.flatnonzero(self.counts)), squares=self.squares)


def no_rows(names: Sequence[Hashable], shift: Floats, *, moments: bool = True) -> ClassSums:
    """The state before the first row; without moments only the cosine measures can be had from it."""
    size, dimensions = len(names), len(shift)
    start = 0.0 if moments else np.nan
    return ClassSums(
        names=tuple(names),
        counts=np.zeros(size, np.int64),
        zeros=np.zeros(size, np.int64),
        unit=np.zeros((size, dimensions)),
        shift=np.asarray(shift, np.float64),
        sums=np.full((size, dimensions), start),
        squares=np.full(dimensions, start),
        spread=np.full(size, start),
        negative=False,
    )


def _spread_out(values: NDArray[Any], to: Numbers, size: int) -> NDArray[Any]:
    wide = np.zeros((size, *values.shape[1:]), values.dtype)
    wide[to] = values
    return wide


@dataclass(frozen=True)
class Radii:
    """What a second pass adds for Davies-Bouldin: sums of distances to the own centroid, and of their squares."""

    distances: Floats
    squares: Floats
    largest: Floats
    """The largest distance of a row to the centroid of its class."""

    def placed(self, names: Sequence[Hashable], among: Sequence[Hashable]) -> Radii:
        """Sums that stand in the order of `names` put into the order of `among`: that of a state they belong to."""
        places = {name: place for place, name in enumerate(among)}
        to = np.array([places[name] for name in names], dtype=np.int64)
        return Radii(*(_spread_out(part, to, len(among)) for part in (self.distances, self.squares, self.largest)))

    def __add__(self, other: Radii) -> Radii:
        """The sums over both sets of rows of the same classes about the same centroids."""
        return Radii(
            self.distances + other.distances,
            self.squares + other.squares,
            np.maximum(self.largest, other.largest),
        )
