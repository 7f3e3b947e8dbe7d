"""How far judges agree beside alpha: kappa, percent, single classes, rankings, and each judge against the rest (S-20).

Tables are items x judges with nan where a judge gave nothing. What cannot be said is said so with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from basanite.metrics.judgement.alpha import UNANIMOUS, Counted, coincidences, counts_of, distinct
from basanite.metrics.judgement.estimate import Estimate, Reals, table_of, undefined
from basanite.metrics.retrieval.detection import ratio

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
    return Estimate(float(np.trace(table) / table.sum())) if table.size else undefined(NO_PAIRS)


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
        return undefined("the judges share no item")
    values, place = distinct(np.concatenate([one[both], other[both]]))
    size, shared = len(values), int(both.sum())
    joint = np.bincount(place[:shared] * size + place[shared:], minlength=size**2).reshape(size, size)
    apart = _apart(size, weights)
    expected = joint.sum(axis=1) @ apart @ joint.sum(axis=0) / shared
    return Estimate(float(1 - (joint * apart).sum() / expected)) if expected > 0 else undefined(UNANIMOUS)


def _apart(size: int, weights: Weights) -> Reals:
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    return {"none": (steps > 0).astype(np.float64), "linear": steps, "quadratic": steps**2}[weights]


def kendalls_w(scores: ArrayLike) -> Estimate:
    """Kendall's coefficient of concordance of judges over the items that all of them ranked, corrected for ties.

    M. G. Kendall, B. Babington Smith, The problem of m rankings, Annals of Mathematical Statistics 10 (1939).

    >>> kendalls_w([[1, 2], [2, 3], [3, 9]]).value
    1.0
    """
    from scipy.stats import rankdata  # here, because it is slow to load

    table = table_of(scores)
    table = table[~np.isnan(table).any(axis=1)]
    items, judges = table.shape
    if items < 2 or judges < 2:
        return undefined("fewer than two items that all judges ranked, or fewer than two judges")
    ranks = rankdata(table, axis=0)
    ties = sum(
        float((times**3 - times).sum()) for times in (np.unique(column, return_counts=True)[1] for column in table.T)
    )
    most = judges**2 * (items**3 - items) - judges * ties
    spread = ((ranks.sum(axis=1) - judges * (items + 1) / 2) ** 2).sum()
    return Estimate(float(12 * spread / most)) if most > 0 else undefined("every judge ties all items")


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
        nothing = undefined("nobody else rated these items")
        return JudgeFigures(0, np.nan, _spread(own[rated]), np.nan, nothing)
    mine, others = own[shared], (sums - np.where(rated, own, 0))[shared] / (sizes[shared] - 1)
    apart = mine - others
    correlation = correlated(mine, others)
    return JudgeFigures(
        int(shared.sum()), float(apart.mean()), _spread(own[rated]), float(np.abs(apart).mean()), correlation
    )


def _spread(values: Reals) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def correlated(one: Reals, other: Reals) -> Estimate:
    """Pearson's correlation, undefined where one side does not vary."""
    x, y = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return Estimate(float(x @ y / scale)) if scale > 1e-12 else undefined("one side does not vary")


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
        return undefined("no two passages of the round have both different stars and ranks")
    tied = np.count_nonzero((before == 0) & (better != 0))
    return Estimate(float((np.count_nonzero(better * before < 0) + tied / 2) / pairs))
