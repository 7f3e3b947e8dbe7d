"""What follows from published means alone, where nobody knows on which items two systems were right.

Two systems that are right on shares p and q of the same n items are each right alone on b and c of them, and
b - c = n(p - q). The test of McNemar depends on b + c, which lies between n|p - q| and n times the lesser of p + q and
2 - p - q. A difference holds if it does at the largest b + c, and cannot hold if it does not at the smallest one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from basanite.analysis.interval_methods import exact_bounds

Saying = Literal["holds", "cannot hold", "depends on the overlap", "not known: how many items"]
NORMAL_FROM: Final = 10_000
"""Beyond so many discordant items the binomial tail is that of the normal distribution to all digits that matter."""


@dataclass(frozen=True)
class PublishedMean:
    """The mean of one system on one task, and over how many items, if that was said."""

    system: str
    task: str
    value: float
    items: int | None = None


@dataclass(frozen=True)
class PublishedClaim:
    """What can be said of the difference of two published means, the better one first."""

    task: str
    first: PublishedMean
    second: PublishedMean
    saying: Saying
    discordant: tuple[int, int] | None = None
    """The least and the greatest number of items that only one of the two is right on."""


def published_claims(means: Sequence[PublishedMean], *, alpha: float = 0.05) -> list[PublishedClaim]:
    """Every pair of each task, adjusted by the number of its pairs (Bonferroni)."""
    found = []
    for task in dict.fromkeys(one.task for one in means):
        ranked = sorted((one for one in means if one.task == task), key=lambda one: -one.value)
        pairs = list(combinations(ranked, 2))
        found += [_claim(task, first, second, alpha / max(len(pairs), 1)) for first, second in pairs]
    return found


def _claim(task: str, first: PublishedMean, second: PublishedMean, alpha: float) -> PublishedClaim:
    items = first.items if first.items == second.items else None
    if items is None or not all(0 <= one.value <= 1 for one in (first, second)):
        return PublishedClaim(task, first, second, "not known: how many items")
    gap = round(items * (first.value - second.value))
    total = first.value + second.value
    most = max(gap, math.floor(items * min(total, 2 - total) + 1e-9))
    most -= (most - gap) % 2  # b + c and b - c are both even or both odd
    least = gap
    if gap == 0 or mcnemar(gap, least) > alpha:
        saying: Saying = "cannot hold"
    else:
        saying = "holds" if mcnemar(gap, most) <= alpha else "depends on the overlap"
    return PublishedClaim(task, first, second, saying, (least, most))


def mcnemar(gap: int, discordant: int) -> float:
    """The exact two-sided p of b - c = gap among b + c discordant items (McNemar 1947).

    >>> mcnemar(5, 5), mcnemar(0, 10)
    (0.0625, 1.0)
    """
    if gap == 0:
        return 1.0
    if discordant > NORMAL_FROM:
        return math.erfc((abs(gap) - 1) / math.sqrt(2 * discordant))
    losses = (discordant - abs(gap)) // 2
    tail = sum(math.comb(discordant, one) for one in range(losses + 1))
    return min(1.0, 2 * tail / 2**discordant) if discordant < 1000 else min(1.0, _log_tail(discordant, losses))


def _log_tail(discordant: int, losses: int) -> float:
    """Twice the lower tail of a fair binomial, where its terms are too large for floats."""
    base = math.lgamma(discordant + 1) - discordant * math.log(2)
    terms = (base - math.lgamma(one + 1) - math.lgamma(discordant - one + 1) for one in range(losses + 1))
    return 2 * math.fsum(math.exp(term) for term in terms)


def published_interval(mean: PublishedMean, level: float = 0.95) -> tuple[float, float] | None:
    """The exact interval of a share of so many items."""
    if not mean.items or not 0 <= mean.value <= 1:
        return None
    return exact_bounds(mean.value, mean.items, level)
