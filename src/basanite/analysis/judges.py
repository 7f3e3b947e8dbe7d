"""Judges: how their votes become one verdict on each item, and how far they agree with one another (S-18, S-20)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.analysis.dawid_skene import Fitted, decisions, fit
from basanite.analysis.votes import Numbers, Reals, Tie, Votes, all_relevant, any_relevant, decided, shares
from basanite.errors import SettingError

Judging = Literal["binary", "raw"]
Rule = Literal["majority", "any", "all", "dawid_skene"]
TIES = {"N": "a tie is not relevant", "R": "a tie is relevant"}


@dataclass(frozen=True)
class Combination:
    """How votes are combined: into one verdict by a rule, or not at all (raw: an item is relevant by its share)."""

    judging: Judging = "binary"
    rule: Rule = "majority"
    tie: Tie = "N"

    def __post_init__(self) -> None:
        given = {"judging": (self.judging, Judging), "rule": (self.rule, Rule), "tie": (self.tie, Tie)}
        for name, (value, known) in given.items():
            if value not in get_args(known):
                raise SettingError(f"{name}={value!r} is not known. Use one of {', '.join(get_args(known))}.")

    def __str__(self) -> str:
        """What the report and the result's name say of it (M12, C08).

        >>> str(Combination()), str(Combination("raw"))
        ('majority, a tie is not relevant', 'raw shares of votes')
        """
        if self.judging == "raw":
            return "raw shares of votes"
        tied = f", {TIES[self.tie]}" if self.rule in ("majority", "dawid_skene") else ""
        return {"any": "any vote", "all": "all votes", "dawid_skene": "Dawid-Skene"}.get(self.rule, self.rule) + tied


@dataclass(frozen=True)
class Panel:
    """Votes with the way they are combined: gives the share of each item that counts as relevant."""

    votes: Votes
    combination: Combination
    fitted: Fitted | None = None
    """What Dawid-Skene found, with its restarts, where that is the rule."""

    def shares(self, weights: Reals | None = None) -> Reals:
        """`[items]`, or `[draws, items]` for draws of votes: 0 or 1, or r/K if raw; nan without votes.

        Under Dawid-Skene a draw of votes keeps the judges as they were fitted to all votes.
        """
        combination = self.combination
        if self.fitted is not None:
            return decisions(self.fitted, self.votes, weights, tie=combination.tie)
        share = shares(self.votes, weights)
        if combination.judging == "raw":
            return share
        if combination.rule == "majority":
            return decided(share, combination.tie)
        return any_relevant(share) if combination.rule == "any" else all_relevant(share)


def panel_of(votes: Votes, combination: Combination | None = None) -> Panel:
    """The panel of these votes; fits the judges if the rule needs it."""
    chosen = combination or Combination()
    needs_fit = chosen.judging == "binary" and chosen.rule == "dawid_skene"
    return Panel(votes, chosen, fit(votes) if needs_fit else None)


@dataclass(frozen=True)
class Agreement:
    """How far judges agree; nan where that is not defined."""

    percent: float
    """The share of pairs of votes on one item that are alike, each item weighing by its number of votes."""
    alpha: float
    relevant: float
    other: float
    """Agreement on each verdict by itself, which one alpha hides where a verdict is rare (S-20)."""
    reliability: float
    """ICC(1,k): the reliability of the mean of the votes on an item, for raw judging (S-20)."""
    per_judge: Reals
    """For each judge, how often the other votes on the judge's items say the same."""
    votes_per_item: dict[int, int]
    """K, and how many items have so many votes."""


def agreement(votes: Votes) -> Agreement:
    """Everything about the agreement of judges on items with missing votes."""
    counts = verdict_counts(votes)
    other, relevant = class_agreement(counts)
    sizes, items = np.unique(votes.per_item, return_counts=True)
    return Agreement(
        percent=percent_agreement(counts),
        alpha=krippendorff_alpha(counts),
        relevant=float(relevant),
        other=float(other),
        reliability=reliability(votes.relevant, votes.item)[1],
        per_judge=judge_agreement(votes),
        votes_per_item=dict(zip(sizes.tolist(), items.tolist(), strict=True)),
    )


def verdict_counts(votes: Votes) -> Numbers:
    """For each item, how many votes say not relevant and relevant."""
    found = votes.relevant_votes().astype(np.int64)
    return np.column_stack([votes.per_item - found, found])


def percent_agreement(counts: ArrayLike) -> float:
    """The share of agreeing pairs of votes, over items with two or more (as Krippendorff's observed agreement).

    >>> percent_agreement([[2, 0], [1, 1]])
    0.5
    """
    table, size = _pairable(counts)
    alike = (table * (table - 1)).sum(axis=1) / (size - 1)
    return _over(alike.sum(), size.sum())


def krippendorff_alpha(counts: ArrayLike) -> float:
    """Alpha for nominal classes, `counts[items, classes]`; items with one vote or none carry no information.

    K. Krippendorff, Content Analysis (2004), chapter 11. Undefined (nan) if all votes are of one class.

    >>> round(krippendorff_alpha([[3, 0], [0, 3], [2, 1]]), 3)
    0.6
    """
    table, size = _pairable(counts)
    total, by_class = size.sum(), table.sum(axis=0)
    expected = _over(total**2 - (by_class**2).sum(), total * (total - 1))
    return 1 - _over(1 - percent_agreement(counts), expected)


def class_agreement(counts: ArrayLike) -> Reals:
    """For each class, the chance that another vote on the item is of it too, given that one is."""
    table, size = _pairable(counts)
    alike = (table * (table - 1) / (size - 1)[:, None]).sum(axis=0)
    total = table.sum(axis=0)
    return np.asarray(np.divide(alike, total, out=np.full(len(total), np.nan), where=total > 0))


def judge_agreement(votes: Votes) -> Reals:
    """For each judge, the mean share of the other votes on an item that say the same; nan without such items."""
    found = votes.relevant_votes()[votes.item]
    size = votes.per_item[votes.item].astype(np.float64)
    others = np.where(votes.relevant, found, size - found) - 1
    shared = size > 1
    judge = votes.judge[shared]
    same = np.bincount(judge, weights=others[shared] / (size[shared] - 1), minlength=votes.judges)
    items = np.bincount(judge, minlength=votes.judges)
    return np.asarray(np.divide(same, items, out=np.full(votes.judges, np.nan), where=items > 0))


def reliability(values: ArrayLike, item: ArrayLike) -> tuple[float, float]:
    """ICC(1) and ICC(1,k): reliability of one rating and of an item's mean, one-way, with unequal numbers of ratings.

    Shrout and Fleiss, Intraclass correlations, Psychological Bulletin (1979). Undefined (nan) if nothing varies.
    """
    rating, place = np.asarray(values, np.float64), np.unique(np.asarray(item), return_inverse=True)[1]
    size = np.bincount(place).astype(np.float64)
    total, items = len(rating), len(size)
    if items < 2 or total == items:
        return float("nan"), float("nan")
    means = np.bincount(place, weights=rating) / size
    between = (size * (means - rating.mean()) ** 2).sum() / (items - 1)
    within = ((rating - means[place]) ** 2).sum() / (total - items)
    typical = (total - (size**2).sum() / total) / (items - 1)
    return _over(between - within, between + (typical - 1) * within), _over(between - within, between)


def _pairable(counts: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = np.asarray(counts, np.float64)
    table = table[table.sum(axis=1) > 1]
    return table, table.sum(axis=1)


def _over(top: float, bottom: float) -> float:
    return float(top / bottom) if bottom > 0 else float("nan")
