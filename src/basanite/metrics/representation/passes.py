"""The linear pass: one read of the features gives the state of every linear measure, a second one the radii.

Rows are taken class by class in small pieces that stay in the cache, as float64 whatever their own type; so a row's
length can neither overflow nor vanish, and sums are as good as they can be. Features may be any array that can be
sliced and indexed (NumPy, memory-mapped, or one of our stored arrays): only a piece of it is ever in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from basanite.errors import FeaturesError
from basanite.metrics.representation.classes import Classes, Labels, classes_of, named_rows
from basanite.metrics.representation.results import Floats, Numbers
from basanite.metrics.representation.sums import ClassSums, Radii, no_rows

PIECE = 128
"""Rows of one piece: with 1536 features as float64 a megabyte and a half."""
PILOT = 256
"""Rows that the pilot mean is taken from, evenly spread."""
_SAFE = (1e-290, 1e290)
"""Squared lengths outside this range are taken again, scaled: squares may have overflowed or vanished."""
CURE = "(rows count from 0). Mend these rows or leave them out."


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
    return sum(found, next(found)).placed(classes.names, sums.names)


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
