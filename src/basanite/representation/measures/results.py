"""Classes of labelled rows, and what a measure gives: not only a number, but also flags, parts and figures (F-4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.kernel import Direction

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

NEGATIVE_INTER: Final = "negative_inter"
UNSTABLE: Final = "unstable"
INTER_ZERO: Final = "inter_zero"
SINGLETONS: Final = "singletons"
ZERO_ROWS: Final = "zero_rows"
NO_DIRECTION: Final = "no_direction"
NEGATIVE_FEATURES: Final = "negative_features"
FEW_ROWS: Final = "rows_at_most_dimensions"
OURS: Final = "defined by Basanite"
UNDEFINED: Final = "undefined"
COINCIDENT: Final = "coincident_centroids"
SUBSAMPLED: Final = "subsampled"
NOT_CONVERGED: Final = "not_converged"

FLAGS: Final[Mapping[str, str]] = {
    NEGATIVE_INTER: "The mean similarity between classes is negative: a ratio to it has no order.",
    UNSTABLE: "The mean similarity between classes is below 0.01: the ratio is unstable. Look at its two parts.",
    INTER_ZERO: "The mean similarity between classes is zero, so the ratio is undefined.",
    SINGLETONS: "Some classes have one row: they have no similarity inside.",
    ZERO_ROWS: "Some rows are all zero: their cosine with everything is taken as 0.",
    NO_DIRECTION: "The unit vectors of some class cancel out: it has no angular centroid.",
    NEGATIVE_FEATURES: "The features hold negative values. Do not centre, standardise or whiten before FERM.",
    FEW_ROWS: "There are no more rows than dimensions plus one: the H-score is then K - 1 whatever the features.",
    OURS: "A measure of Basanite's own, not of the FERM paper.",
    UNDEFINED: "The value is undefined for these data.",
    COINCIDENT: "Two class centroids coincide.",
    SUBSAMPLED: "Computed on a seeded random part of the rows.",
    NOT_CONVERGED: "The iteration stopped before it converged.",
}
"""What each flag means, for reports."""

DIRECTIONS: Final[Mapping[str, Direction]] = {
    "ferm1": "high",
    "ferm2": "high",
    "ferm3": "high",
    "ferm4": "high",
    "gap": "high",
    "collapse": "low",
    "silhouette": "high",
    "davies_bouldin": "low",
    "calinski_harabasz": "high",
    "dunn": "high",
    "rs": "high",
    "point_biserial": "high",
    "c_root_k": "high",
    "leep": "high",
    "h_score": "high",
    "otce_wd": "low",
    "otce_wt": "low",
    "logme": "high",
    "nce": "high",
    "transrate": "high",
    "rankme": "high",
    "effective_rank": "high",
}
"""Every value that `measure run` names, and which way is better."""

CHANGES_WITH_CLASSES: Final = ("rs", "c_root_k", "point_biserial", "h_score", "leep", "nce", "logme", "transrate")
"""Measures that change with the number of classes alone: not to be compared across different K (F-10)."""


@dataclass(frozen=True)
class Measured:
    """One value with what must stand beside it: flags (see `FLAGS`), the parts it is made of, and words."""

    value: float
    flags: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def with_flags(self, *flags: str) -> Measured:
        """The same value with more flags, each once."""
        return replace(self, flags=tuple(dict.fromkeys((*self.flags, *flags))))


@dataclass(frozen=True)
class ClassFigures:
    """The cosine figures of each class: arrays in the order of `names`."""

    names: tuple[Hashable, ...]
    counts: Numbers
    zeros: Numbers
    intra: Floats
    """A_i: the mean cosine of pairs inside the class; nan for a class of one row."""
    inter: Floats
    """B_i: the mean cosine with the rows of all other classes."""
    ratio: Floats
    rival: Numbers
    """The place in `names` of the nearest rival: the other class with the largest mean cosine."""
    rival_cosine: Floats
    directed: NDArray[np.bool_]
    """Whether the class has an angular centroid (its unit vectors do not cancel)."""


@dataclass(frozen=True)
class SampleFigures:
    """The figures of each row, by which the worst represented ones are found (F-13)."""

    own_cosine: Floats
    """The mean cosine with the other rows of its own class; nan in a class of one row."""
    rival_cosine: Floats
    """The largest mean cosine with another class."""
    rival: Numbers
    silhouette: Floats | None = None

    def worst(self, most: int) -> Numbers:
        """The rows that are represented worst, worst first: by silhouette, or by own minus rival cosine.

        >>> SampleFigures(np.array([0.9, 0.2, 0.5]), np.array([0.1, 0.6, 0.4]), np.array([1, 0, 0])).worst(2).tolist()
        [1, 2]
        """
        margin = self.own_cosine - self.rival_cosine if self.silhouette is None else self.silhouette
        return np.argsort(np.where(np.isnan(margin), np.inf, margin), kind="stable")[:most]


def number_or_none(value: float | None) -> float | None:
    """A number as tables and JSON hold it: None where it is undefined.

    >>> number_or_none(0.5), number_or_none(float("nan"))
    (0.5, None)
    """
    return None if value is None or np.isnan(value) else float(value)


def different_classes_note(name: str, classes: Sequence[int]) -> str | None:
    """A warning where a measure is compared across data with different numbers of classes (F-10).

    >>> different_classes_note("rs", [10, 47])
    'rs changes with the number of classes alone; these data have 10 and 47 of them.'
    >>> different_classes_note("gap", [10, 47]) is None
    True
    """
    kinds = sorted(set(classes))
    if len(kinds) < 2 or name not in CHANGES_WITH_CLASSES:
        return None
    counts = f"{', '.join(map(str, kinds[:-1]))} and {kinds[-1]}"
    return f"{name} changes with the number of classes alone; these data have {counts} of them."


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
        missing = np.flatnonzero(np.isnan(array)) if array.dtype.kind in "fc" else np.empty(0, np.int64)
        if missing.size:
            raise FeaturesError(f"No label (nan) {named_rows(missing)}. Give every row a label, or leave the row out.")
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

    def subset(self, rows: Numbers) -> Classes:
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
