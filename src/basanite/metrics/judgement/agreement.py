"""How far judges agree beside alpha: kappa, percent, classes, rankings, each judge against the rest, ICC (S-20).

Tables are items x judges with nan where a judge gave nothing. What cannot be said is said so with the reason.

Intraclass correlations: how reliable one rating is, and how reliable the mean of a panel is (S-20).

P. E. Shrout, J. L. Fleiss, Intraclass correlations, Psychological Bulletin 86 (1979); K. O. McGraw, S. P. Wong,
Forming inferences about some intraclass correlation coefficients, Psychological Methods 1 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from basanite.kernel import ratio
from basanite.metrics.judgement.alpha import UNANIMOUS, Counted, coincidences, counts_of, distinct
from basanite.metrics.judgement.estimate import Estimate, Reals, table_of, undefined_estimate
from basanite.metrics.ranks import mean_ranks

Weights = Literal["none", "linear", "quadratic"]
NO_PAIRS = "no item has two ratings"
CONCORDANT = 0.5
"""Judges whose rankings follow less than this share of their own stars are named."""


def percent_agreement(ratings: ArrayLike) -> Estimate:
    """The share of equal pairs of ratings of one item, each item weighing by its number of ratings.

    >>> percent_agreement([[1, 1], [1, 2]]).value
    0.5
    """
    table = coincidences(counts_of(ratings))
    return Estimate(float(np.trace(table) / table.sum())) if table.size else undefined_estimate(NO_PAIRS)


def class_agreement(ratings: ArrayLike) -> dict[float, Estimate]:
    """For each value, the chance that another rating of the item is the same, which one alpha hides for rare ones.

    >>> {value: found.value for value, found in class_agreement([[0, 0], [0, 0], [0, 1]]).items()}
    {0.0: 0.8, 1.0: 0.0}
    """
    return class_agreement_of(counts_of(ratings))


def class_agreement_of(counted: Counted) -> dict[float, Estimate]:
    """The same from how often each item got each value."""
    table = coincidences(counted)
    shares = ratio(np.diagonal(table), table.sum(axis=1))
    return {float(value): Estimate(float(share)) for value, share in zip(counted.values, shares, strict=True)}


def kappa(first: ArrayLike, second: ArrayLike, weights: Weights = "none") -> Estimate:
    """Cohen's kappa of two judges over the items both rated; weights by steps between the values in use.

    J. Cohen, Weighted kappa, Psychological Bulletin 70 (1968).

    >>> round(kappa([1, 2, 3, 3], [1, 2, 3, 2], "linear").value, 4)
    0.7143
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    both = ~(np.isnan(one) | np.isnan(other))
    if not both.any():
        return undefined_estimate("the judges share no item")
    values, place = distinct(np.concatenate([one[both], other[both]]))
    size, shared = len(values), int(both.sum())
    joint = np.bincount(place[:shared] * size + place[shared:], minlength=size**2).reshape(size, size)
    apart = _apart(size, weights)
    expected = joint.sum(axis=1) @ apart @ joint.sum(axis=0) / shared
    return Estimate(float(1 - (joint * apart).sum() / expected)) if expected > 0 else undefined_estimate(UNANIMOUS)


def _apart(size: int, weights: Weights) -> Reals:
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    return {"none": (steps > 0).astype(np.float64), "linear": steps, "quadratic": steps**2}[weights]


def kendalls_w(scores: ArrayLike) -> Estimate:
    """Kendall's coefficient of concordance of judges over the items that all of them ranked, corrected for ties.

    M. G. Kendall, B. Babington Smith, The problem of m rankings, Annals of Mathematical Statistics 10 (1939).

    >>> kendalls_w([[1, 2], [2, 3], [3, 9]]).value
    1.0
    """
    table = table_of(scores)
    table = table[~np.isnan(table).any(axis=1)]
    items, judges = table.shape
    if items < 2 or judges < 2:
        return undefined_estimate("fewer than two items that all judges ranked, or fewer than two judges")
    ranks = mean_ranks(table)
    ties = sum(
        float((times**3 - times).sum()) for times in (np.unique(column, return_counts=True)[1] for column in table.T)
    )
    most = judges**2 * (items**3 - items) - judges * ties
    spread = ((ranks.sum(axis=1) - judges * (items + 1) / 2) ** 2).sum()
    return Estimate(float(12 * spread / most)) if most > 0 else undefined_estimate("every judge ties all items")


@dataclass(frozen=True)
class JudgeFigures:
    """One judge against the rest of the panel, over the items that others rated too."""

    items: int
    bias: float
    """Mean of the judge's rating less the mean of the others on the same item."""
    spread: float
    """Standard deviation of the judge's own ratings."""
    distance: float
    """Mean distance from the mean of the others."""
    correlation: Estimate
    """With the mean of the others."""


def judge_figures(ratings: ArrayLike) -> tuple[JudgeFigures, ...]:
    """Bias, spread and agreement with the rest for each judge, in the order of the columns.

    >>> [judge.bias for judge in judge_figures([[1, 2, 2], [3, 4, 4]])]
    [-1.0, 0.5, 0.5]
    """
    table = table_of(ratings)
    known = ~np.isnan(table)
    sums, sizes = np.where(known, table, 0).sum(axis=1), known.sum(axis=1)
    return tuple(_judge(table[:, at], sums, sizes) for at in range(table.shape[1]))


def _judge(own: Reals, sums: Reals, sizes: Reals) -> JudgeFigures:
    rated = ~np.isnan(own)
    shared = rated & (sizes > 1)
    if not shared.any():
        nothing = undefined_estimate("nobody else rated these items")
        return JudgeFigures(0, np.nan, _spread(own[rated]), np.nan, nothing)
    mine, others = own[shared], (sums - np.where(rated, own, 0))[shared] / (sizes[shared] - 1)
    apart = mine - others
    x, y = mine - mine.mean(), others - others.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    correlation = Estimate(float(x @ y / scale)) if scale > 1e-12 else undefined_estimate("one side does not vary")
    return JudgeFigures(
        int(shared.sum()), float(apart.mean()), _spread(own[rated]), float(np.abs(apart).mean()), correlation
    )


def _spread(values: Reals) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def rank_consistency(stars: ArrayLike, ranks: ArrayLike) -> Estimate:
    """The share of pairs with different stars that the ranking of the same round puts in that order; rank 1 is best.

    >>> rank_consistency([5, 3, 3, 1], [1, 2, 3, 4]).value
    1.0
    """
    given, rank = np.asarray(stars, np.float64), np.asarray(ranks, np.float64)
    both = ~(np.isnan(given) | np.isnan(rank))
    better = np.sign(np.subtract.outer(given[both], given[both]))
    before = np.sign(np.subtract.outer(rank[both], rank[both]))
    pairs = int(np.count_nonzero(better))
    if not pairs:
        return undefined_estimate("no two passages of the round have both different stars and ranks")
    tied = np.count_nonzero((before == 0) & (better != 0))
    return Estimate(float((np.count_nonzero(better * before < 0) + tied / 2) / pairs))


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
        return undefined_estimate(FEW), undefined_estimate(FEW)
    means = np.bincount(place, weights=rating) / size
    between = (size * (means - rating.mean()) ** 2).sum() / (items - 1)
    within = ((rating - means[place]) ** 2).sum() / (total - items)
    typical = (total - (size**2).sum() / total) / (items - 1)
    return _share(between - within, between + (typical - 1) * within), _share(between - within, between)


def _two_way(table: Reals) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    items, judges = table.shape
    if items < 2 or judges < 2:
        nothing = undefined_estimate(INCOMPLETE)
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
    return Estimate(float(top / bottom)) if bottom > 1e-12 else undefined_estimate(FLAT)
