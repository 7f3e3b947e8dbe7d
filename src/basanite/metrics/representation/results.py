"""What a measure gives: never only a number, but also its flags, its parts and the figures of each class (F-4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
OURS: Final = "ours"
UNDEFINED: Final = "undefined"
COINCIDENT: Final = "coincident_centroids"
SUBSAMPLED: Final = "subsampled"
NOT_CONVERGED: Final = "not_converged"

FLAGS: Final[Mapping[str, str]] = {
    NEGATIVE_INTER: "The mean similarity between classes is negative: a ratio to it has no order.",
    UNSTABLE: "The mean similarity between classes is below 0.01: the ratio moves wildly. Look at its two parts.",
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
}
"""Every value that `measure run` names, and which way is better."""

CHANGES_WITH_CLASSES: Final = ("rs", "c_root_k", "point_biserial", "h_score", "leep")
"""Measures that move with the number of classes alone: not to be compared across different K (F-10)."""


@dataclass(frozen=True)
class Measured:
    """One value with what must stand beside it: flags (see `FLAGS`), the parts it is made of, and words."""

    value: float
    flags: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def flagged(self, *flags: str) -> Measured:
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


def different_classes_note(name: str, classes: Sequence[int]) -> str | None:
    """A warning where a measure is compared across data with different numbers of classes (F-10).

    >>> different_classes_note("rs", [10, 47])
    'rs moves with the number of classes alone; these data have 10 and 47 of them.'
    >>> different_classes_note("gap", [10, 47]) is None
    True
    """
    kinds = sorted(set(classes))
    if len(kinds) < 2 or name not in CHANGES_WITH_CLASSES:
        return None
    counts = f"{', '.join(map(str, kinds[:-1]))} and {kinds[-1]}"
    return f"{name} moves with the number of classes alone; these data have {counts} of them."
