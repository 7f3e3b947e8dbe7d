"""The additive state of the linear pass: everything FERM, Calinski-Harabasz, RS and C-root-K need, and no more.

A state is counts, zero rows, sums of unit vectors, sums of shifted rows and of their squares, class by class. States of
streams, shards and shift levels add up (F-5): O(K d) numbers however many rows there are. Shifting by a pilot mean
keeps the squares small where features sit far from zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.representation.measures.results import Classes, Floats, Labels, Numbers, classes_of, named_rows

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
        first, second = self.in_order(names), other.about(self.shift).in_order(names)
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

    def about(self, shift: Floats) -> ClassSums:
        """The same state about another pilot mean."""
        move = self.shift - shift
        if not move.any():
            return self
        counts = self.counts[:, None]
        squares = self.squares + 2 * move * self.sums.sum(axis=0) + self.rows * move**2
        spread = self.spread + 2 * self.sums @ move + self.counts * (move @ move)
        return replace(self, shift=shift, sums=self.sums + counts * move, squares=squares, spread=spread)

    def in_order(self, names: Sequence[Hashable]) -> ClassSums:
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

    def in_order(self, names: Sequence[Hashable], among: Sequence[Hashable]) -> Radii:
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


PIECE = 128
"""Rows of one piece: with 1536 features as float64 a megabyte and a half."""
PILOT = 256
"""Rows that the pilot mean is taken from, evenly spread."""
_SAFE = (1e-290, 1e290)
"""Squared lengths outside this range are taken again, scaled: squares may have overflowed or vanished."""
CURE = "(rows count from 0). Fix these rows or leave them out."


class Features(Protocol):
    """What is measured: `[N, d]`, any array that can be indexed by a slice or by row numbers."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and of features."""

    def __getitem__(self, rows: Any, /) -> Any:
        """Some rows."""


def linear_pass(
    features: Features, labels: Labels | Classes, *, moments: bool = True, executor: Executor | None = None
) -> ClassSums:
    """The state of all linear measures by one read; `moments=False` keeps only what FERM needs.

    >>> linear_pass(np.eye(3), ["a", "a", "b"]).unit.tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    rows, _ = shape_of(features)
    classes = classes_of(labels, rows)
    shift = pilot_mean(features)
    parts = list(_spans(classes, executor))
    work = partial(_class_sums, features, classes, shift, moments)
    try:
        return total(map(work, parts) if executor is None else executor.map(work, parts))
    except FeaturesError:
        refuse_all_infinite(features)
        raise


def radii(features: Features, labels: Labels | Classes, sums: ClassSums, *, executor: Executor | None = None) -> Radii:
    """The second pass: how far rows lie from the centroid of their class; in the order of the state's classes."""
    classes = classes_of(labels, shape_of(features)[0])
    centres = sums.shift + sums.centroids[sums.places(classes.names)]
    parts = list(_spans(classes, executor))
    work = partial(_class_radii, features, classes, centres)
    found = iter(map(work, parts) if executor is None else executor.map(work, parts))
    return sum(found, next(found)).in_order(classes.names, sums.names)


@dataclass
class LinearPass:
    """The same pass over batches as they come: classes may turn up at any time.

    >>> stream = LinearPass()
    >>> stream.add(np.eye(2), ["a", "b"])
    >>> stream.add(np.eye(2), ["b", "c"])
    >>> stream.sums().counts.tolist()
    [1, 2, 1]
    """

    moments: bool = True
    _state: ClassSums | None = None
    _seen: int = 0

    def add(self, features: Features, labels: Labels) -> None:
        """Take in one batch; a bad number is named by its row in the whole stream."""
        rows, _ = shape_of(features)
        classes = Classes.of(labels)
        if len(classes.codes) != rows:
            raise FeaturesError(f"A batch has {len(classes.codes)} labels for {rows} rows. Give one for each row.")
        if not rows:
            return
        shift = pilot_mean(features) if self._state is None else self._state.shift
        try:
            found = total(_class_sums(features, classes, shift, self.moments, part) for part in _spans(classes))
        except FeaturesError:
            refuse_all_infinite(features, self._seen)
            raise
        self._state = found if self._state is None else self._state + found
        self._seen += rows

    def sums(self) -> ClassSums:
        """The state so far."""
        if self._state is None:
            raise FeaturesError("No row has come yet. Give at least one batch.")
        return self._state


def total(parts: Iterable[ClassSums]) -> ClassSums:
    """The state of all parts together: shards, batches or levels."""
    found = iter(parts)
    return sum(found, next(found))


def shape_of(features: Features) -> tuple[int, int]:
    """Rows and dimensions; anything but a non-empty table of numbers is refused."""
    shape = tuple(features.shape)
    if len(shape) != 2 or not shape[1]:
        raise FeaturesError(f"Features must be a table, rows by dimensions; these have the shape {shape}.")
    return int(shape[0]), int(shape[1])


def pilot_mean(features: Features) -> Floats:
    """The mean of a few rows: near enough to the mean of all that squares about it do not cancel."""
    rows, dimensions = shape_of(features)
    places = np.unique(np.linspace(0, max(rows - 1, 0), min(rows, PILOT)).astype(np.int64))
    some = np.asarray(features[places], dtype=np.float64) if rows else np.zeros((1, dimensions))
    with np.errstate(all="ignore"):
        mean = some.mean(axis=0)
    return np.where(np.isfinite(mean), mean, 0.0)


def with_lengths(rows: Floats, numbers: Numbers) -> tuple[Floats, Floats]:
    """Rows and |x_a| of each, where rows so huge or tiny that squares fail are scaled first: directions stay.

    nan and inf are refused by the number of their row (F-11).

    >>> scaled, length = with_lengths(np.array([[3.0, 4.0], [3e200, 4e200], [3e-320, 4e-320]]), np.arange(3))
    >>> np.round(scaled / length[:, None], 3).tolist()
    [[0.6, 0.8], [0.6, 0.8], [0.6, 0.8]]
    """
    squares = np.einsum("ij,ij->i", rows, rows)
    odd = np.flatnonzero(~((squares > _SAFE[0]) & (squares < _SAFE[1])))
    if odd.size:
        refuse_infinite(rows[odd], numbers[odd])
        largest = np.abs(rows[odd]).max(axis=1)
        rows = rows.copy()
        rows[odd] /= np.where(largest > 0, largest, 1.0)[:, None]
        squares[odd] = np.einsum("ij,ij->i", rows[odd], rows[odd])
    return rows, np.sqrt(squares)


def unit_rows(features: Features, numbers: Numbers) -> Floats:
    """Some rows as unit vectors; a zero row stays zero."""
    scaled, length = with_lengths(np.array(features[numbers], dtype=np.float64), numbers)
    return np.divide(scaled, length[:, None], out=np.zeros_like(scaled), where=length[:, None] > 0)


def refuse_infinite(rows: Floats, numbers: Numbers) -> None:
    """Raise if any row holds nan or inf, naming the rows."""
    bad = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        raise FeaturesError(f"nan or infinite features {named_rows(np.sort(numbers[bad]))} {CURE}")


def refuse_all_infinite(features: Features, first: int = 0) -> None:
    """The same for a whole array, read a few rows at a time: every bad row is counted."""
    rows, _ = shape_of(features)
    found = []
    for start in range(0, rows, 16 * PIECE):
        block = np.asarray(features[start : start + 16 * PIECE], dtype=np.float64)
        found.append(start + np.flatnonzero(~np.isfinite(block).all(axis=1)))
    bad = np.concatenate(found)
    if bad.size:
        raise FeaturesError(f"nan or infinite features {named_rows(bad, first)} {CURE}")


def _class_sums(features: Features, classes: Classes, shift: Floats, moments: bool, span: tuple[int, int]) -> ClassSums:
    """The state of the classes of a span, in pieces."""
    state = no_rows(classes.names, shift, moments=moments)
    negative = False
    for place, numbers in _pieces(classes, span):
        raw = np.asarray(features[numbers])
        negative = negative or bool(raw.min() < 0)
        rows = raw.astype(np.float64, copy=False)  # rows picked by number are a copy already
        _add_units(state, place, rows, numbers)
        if moments:
            _add_moments(state, place, rows)
    np.copyto(state.counts[slice(*span)], classes.counts[slice(*span)])
    return ClassSums(**{**vars(state), "negative": negative})


def _add_units(state: ClassSums, place: int, rows: Floats, numbers: Numbers) -> None:
    squares = np.einsum("ij,ij->i", rows, rows)
    if _sound(squares):
        state.unit[place] += (1.0 / np.sqrt(squares)) @ rows
        return
    scaled, length = with_lengths(rows, numbers)
    zero = length == 0
    state.zeros[place] += int(zero.sum())
    state.unit[place] += np.divide(1.0, length, out=np.zeros_like(length), where=~zero) @ scaled


def _sound(squares: Floats) -> bool:
    """Whether no square has overflowed or vanished; nan is not sound either."""
    return bool(squares.min() > _SAFE[0] and squares.max() < _SAFE[1])


def _add_moments(state: ClassSums, place: int, rows: Floats) -> None:
    """Add shifted rows and their squares to the state of a class; the rows are overwritten."""
    rows -= state.shift
    squares = np.einsum("ij,ij->j", rows, rows)
    state.sums[place] += np.ones(len(rows)) @ rows
    state.squares[:] += squares
    state.spread[place] += squares.sum()


def _class_radii(features: Features, classes: Classes, centres: Floats, span: tuple[int, int]) -> Radii:
    found = Radii(*np.zeros((3, len(classes))))
    for place, numbers in _pieces(classes, span):
        away = np.asarray(features[numbers], dtype=np.float64) - centres[place]
        squares = np.einsum("ij,ij->i", away, away)
        distances = np.sqrt(squares)
        found.distances[place] += distances.sum()
        found.squares[place] += squares.sum()
        found.largest[place] = max(found.largest[place], distances.max())
    return found


def _pieces(classes: Classes, span: tuple[int, int]) -> Iterator[tuple[int, Numbers]]:
    """The rows of each class of a span, a few at a time."""
    for place in range(*span):
        members = classes.members(place)
        for start in range(0, len(members), PIECE):
            yield place, members[start : start + PIECE]


def _spans(classes: Classes, executor: Executor | None = None) -> Iterator[tuple[int, int]]:
    """The classes in one part, or in some parts of about as many rows each for workers."""
    if executor is None:
        yield 0, len(classes)
        return
    parts = min(8, len(classes))
    edges = np.searchsorted(classes.starts, np.linspace(0, len(classes.codes), parts + 1))
    edges[0], edges[-1] = 0, len(classes)
    yield from ((low, high) for low, high in pairwise(edges.tolist()) if high > low)
