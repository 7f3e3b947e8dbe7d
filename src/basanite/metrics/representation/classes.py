"""Labels of any kind made into numbers: names may be any hashable, in any order, with gaps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.metrics.representation.results import Numbers

Labels = Sequence[Hashable] | NDArray[Any]
_PLAIN = ({int}, {bool})
_LISTED = 10


@dataclass(frozen=True)
class Classes:
    """The classes of N rows: their names in a fixed order, and the place of each row's class among them."""

    names: tuple[Hashable, ...]
    codes: Numbers

    @classmethod
    def of(cls, labels: Labels | Classes) -> Classes:
        """The classes of some labels, sorted; a missing label is refused with its row.

        >>> Classes.of(["b", "a", "b"])
        Classes(names=('a', 'b'), codes=array([1, 0, 1]))
        """
        if isinstance(labels, Classes):
            return labels
        array = _plain_array(labels)
        if array is None:
            return cls(*_by_hash(labels))
        _refuse_missing(array)
        names, codes = np.unique(array, return_inverse=True)
        return cls(tuple(names.tolist()), codes.reshape(-1).astype(np.int64))

    @cached_property
    def counts(self) -> Numbers:
        """How many rows each class has."""
        return np.bincount(self.codes, minlength=len(self.names)).astype(np.int64)

    @cached_property
    def order(self) -> Numbers:
        """The rows class by class, in their own order inside a class."""
        return np.argsort(self.codes, kind="stable")

    @cached_property
    def starts(self) -> Numbers:
        """Where each class starts in `order`, and the end."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    def members(self, place: int) -> Numbers:
        """The rows of one class."""
        return self.order[self.starts[place] : self.starts[place + 1]]

    def taken(self, rows: Numbers) -> Classes:
        """The classes of some rows only; classes without any row leave."""
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return Classes(tuple(self.names[place] for place in present), codes.reshape(-1).astype(np.int64))

    def __len__(self) -> int:
        return len(self.names)


def classes_of(labels: Labels | Classes, rows: int) -> Classes:
    """The classes of so many rows; at least two are needed for any measure."""
    found = labels if isinstance(labels, Classes) else Classes.of(labels)
    if len(found.codes) != rows:
        raise FeaturesError(f"There are {len(found.codes)} labels for {rows} rows of features. Give one for each row.")
    if len(found) < 2:
        raise FeaturesError(f"At least two classes are needed, and the labels name {len(found)}. Check the labels.")
    return found


def _plain_array(labels: Labels) -> NDArray[Any] | None:
    """Labels of one plain type as an array; others go by their hash, for an array would mix 1 with "1"."""
    if isinstance(labels, np.ndarray):
        if labels.ndim != 1:
            raise FeaturesError(f"Labels must be one for each row; these have the shape {labels.shape}.")
        return None if labels.dtype == object else labels
    array = np.asarray(labels) if {type(label) for label in labels} in _PLAIN else None
    return None if array is None or array.dtype == object else array


def _refuse_missing(array: NDArray[Any]) -> None:
    missing = np.flatnonzero(np.isnan(array)) if array.dtype.kind in "fc" else np.empty(0, np.int64)
    if missing.size:
        raise FeaturesError(f"No label (nan) {named_rows(missing)}. Give every row a label, or leave the row out.")


def _by_hash(labels: Sequence[Hashable] | NDArray[Any]) -> tuple[tuple[Hashable, ...], Numbers]:
    missing = [row for row, label in enumerate(labels) if label is None or label != label]
    if missing:
        raise FeaturesError(f"No label {named_rows(np.array(missing))}. Give every row a label, or leave the row out.")
    names = sorted(_distinct(labels), key=lambda name: (type(name).__name__, name if type(name) is str else repr(name)))
    places = {name: place for place, name in enumerate(names)}
    return tuple(names), np.fromiter((places[label] for label in labels), np.int64, len(labels))


def _distinct(labels: Sequence[Hashable] | NDArray[Any]) -> set[Hashable]:
    try:
        return set(labels)
    except TypeError as error:
        raise FeaturesError(f"A label cannot name a class: {error}. Use strings, numbers or tuples.") from error


def named_rows(rows: Numbers, first: int = 0) -> str:
    """Some rows in words, the first few by number (counted from 0).

    >>> named_rows(np.array([3, 5]))
    'in rows 3, 5'
    """
    listed = ", ".join(str(row + first) for row in rows[:_LISTED].tolist())
    more = f" and {len(rows) - _LISTED:,} more" if len(rows) > _LISTED else ""
    return f"in row{'s' if len(rows) > 1 else ''} {listed}{more}"
