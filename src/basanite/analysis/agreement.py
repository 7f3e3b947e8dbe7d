"""Agreement of judges who give grades and not verdicts: how far apart they are matters, not only whether (S-20)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.analysis.judges import krippendorff_alpha, percent_agreement, reliability


@dataclass(frozen=True)
class GradeAgreement:
    """How far grades of the same items agree; nan where that is not defined."""

    percent: float
    """The share of pairs of grades on one item that are equal."""
    alpha: float
    """Krippendorff's alpha; of two grades the nominal one, of more the interval one."""
    reliability: float
    """ICC(1,k): the reliability of the mean of an item's grades, which is what counts here (S-20)."""


def grade_agreement(grades: ArrayLike, item: ArrayLike) -> GradeAgreement:
    """Agreement from one grade and one item number for each judgement."""
    counts = grade_counts(grades, item)
    nominal = counts.shape[1] <= 2
    alpha = krippendorff_alpha(counts) if nominal else interval_alpha(grades, item)
    return GradeAgreement(percent_agreement(counts), alpha, reliability(grades, item)[1])


def grade_counts(grades: ArrayLike, item: ArrayLike) -> NDArray[np.int64]:
    """How often each grade was given to each item: items x grades, both in rising order.

    >>> grade_counts([0, 1, 1], [7, 7, 9]).tolist()
    [[1, 1], [0, 1]]
    """
    classes, kind = np.unique(np.asarray(grades, np.float64), return_inverse=True)
    items, place = np.unique(np.asarray(item), return_inverse=True)
    flat = np.bincount(place * max(len(classes), 1) + kind, minlength=len(items) * len(classes))
    return flat.reshape(len(items), len(classes))


def interval_alpha(grades: ArrayLike, item: ArrayLike) -> float:
    """Krippendorff's alpha with squared differences; items with one grade carry no information.

    K. Krippendorff, Content Analysis (2004), chapter 11. Undefined (nan) if all grades are equal.

    >>> round(interval_alpha([1, 2, 3, 3, 1, 1], [0, 0, 1, 1, 2, 2]), 4)
    0.8276
    """
    value, place = np.asarray(grades, np.float64), np.unique(np.asarray(item), return_inverse=True)[1]
    size = np.bincount(place)
    paired = size[place] > 1
    value, place = value[paired], place[paired]
    if not len(value):
        return float("nan")
    total = len(value) * np.sum((value - value.mean()) ** 2) / (len(value) - 1)
    weight = np.maximum(size, 1)
    means = np.bincount(place, weights=value, minlength=len(size)) / weight
    within = np.bincount(place, weights=(value - means[place]) ** 2, minlength=len(size))
    apart = np.sum(within * weight / np.maximum(weight - 1, 1))
    return float(1 - apart / total) if total > 0 else float("nan")
