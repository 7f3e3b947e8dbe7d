"""Intraclass correlations: how reliable one rating is, and how reliable the mean of a panel is (S-20).

P. E. Shrout, J. L. Fleiss, Intraclass correlations, Psychological Bulletin 86 (1979); K. O. McGraw, S. P. Wong,
Forming inferences about some intraclass correlation coefficients, Psychological Methods 1 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from basanite.metrics.judgement.estimate import Estimate, Reals, table_of, undefined

FEW = "fewer than two items with two ratings"
FLAT = "nothing varies between items"
INCOMPLETE = "fewer than two items that all judges rated, or fewer than two judges"


@dataclass(frozen=True)
class Intraclass:
    """Reliability of a single rating and of the mean of a panel's ratings."""

    one_way: Estimate
    """ICC(1): one rating, judges differ from item to item; items may have different numbers of ratings."""
    one_way_mean: Estimate
    """ICC(1,k): the mean of an item's ratings."""
    consistency: Estimate
    """ICC(C,1): one rating, a judge's own bias forgiven; over the items that all judges rated."""
    agreement: Estimate
    """ICC(A,1): one rating, bias not forgiven."""
    consistency_mean: Estimate
    """ICC(C,k): the mean of the panel."""
    agreement_mean: Estimate
    """ICC(A,k): the mean of the panel, bias not forgiven."""


def intraclass(ratings: ArrayLike) -> Intraclass:
    """All of them from items x judges, nan where a rating is missing.

    >>> round(intraclass([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    ...       .consistency.value, 2)
    0.71
    """
    table = table_of(ratings)
    return Intraclass(*_one_way(table), *_two_way(table[~np.isnan(table).any(axis=1)]))


def reliability_of_mean(ratings: ArrayLike) -> Estimate:
    """ICC(1,k), which stands beside alpha where a panel's mean is the reference."""
    return _one_way(table_of(ratings))[1]


def _one_way(table: Reals) -> tuple[Estimate, Estimate]:
    item, judge = np.nonzero(~np.isnan(table))
    return one_way(table[item, judge], item)


def one_way(values: ArrayLike, item: ArrayLike) -> tuple[Estimate, Estimate]:
    """ICC(1) and ICC(1,k) of ratings in a list with the item of each: one rating, and the mean of an item's ratings.

    >>> one, mean = one_way([9, 8, 9, 1, 2, 1, 5, 4, 6], [0, 0, 0, 1, 1, 1, 2, 2, 2])
    >>> one.value < mean.value
    True
    """
    rating, place = np.asarray(values, np.float64), np.unique(np.asarray(item), return_inverse=True)[1]
    size = np.bincount(place).astype(np.float64)
    total, items = len(rating), len(size)
    if items < 2 or total <= items:
        return undefined(FEW), undefined(FEW)
    means = np.bincount(place, weights=rating) / size
    between = (size * (means - rating.mean()) ** 2).sum() / (items - 1)
    within = ((rating - means[place]) ** 2).sum() / (total - items)
    typical = (total - (size**2).sum() / total) / (items - 1)
    return _share(between - within, between + (typical - 1) * within), _share(between - within, between)


def _two_way(table: Reals) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    items, judges = table.shape
    if items < 2 or judges < 2:
        nothing = undefined(INCOMPLETE)
        return nothing, nothing, nothing, nothing
    overall = table.mean()
    by_item, by_judge = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    rows = judges * ((by_item - overall) ** 2).sum() / (items - 1)
    columns = items * ((by_judge - overall) ** 2).sum() / (judges - 1)
    rest = ((table - by_item - by_judge + overall) ** 2).sum() / ((items - 1) * (judges - 1))
    bias = columns - rest
    return (
        _share(rows - rest, rows + (judges - 1) * rest),
        _share(rows - rest, rows + (judges - 1) * rest + judges * bias / items),
        _share(rows - rest, rows),
        _share(rows - rest, rows + bias / items),
    )


def _share(top: float, bottom: float) -> Estimate:
    return Estimate(float(top / bottom)) if bottom > 1e-12 else undefined(FLAT)
