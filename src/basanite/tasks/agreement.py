"""How far judges of a task agree: votes for and against, or grades; all figures are those of `metrics.judgement`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from basanite.analysis.votes import Reals, Votes
from basanite.metrics.judgement.agreement import class_agreement_of, one_way
from basanite.metrics.judgement.alpha import alpha_listed, counted_of, listed_ratings, percent_listed


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
    listed = listed_ratings(votes.relevant, votes.item)
    by_verdict = class_agreement_of(counted_of(listed))
    sizes, items = np.unique(votes.per_item, return_counts=True)
    return Agreement(
        percent=percent_listed(listed).value,
        alpha=alpha_listed(listed).value,
        relevant=by_verdict[1.0].value if 1.0 in by_verdict else np.nan,
        other=by_verdict[0.0].value if 0.0 in by_verdict else np.nan,
        reliability=one_way(votes.relevant, votes.item)[1].value,
        per_judge=judge_agreement(votes),
        votes_per_item=dict(zip(sizes.tolist(), items.tolist(), strict=True)),
    )


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
    """Agreement from one grade and one item number for each judgement.

    >>> round(grade_agreement([1, 2, 3, 3, 1, 1], [0, 0, 1, 1, 2, 2]).alpha, 4)
    0.8276
    """
    listed = listed_ratings(grades, item)
    nominal = len(np.unique(np.asarray(grades, np.float64))) <= 2
    alpha = alpha_listed(listed, "nominal" if nominal else "interval")
    return GradeAgreement(percent_listed(listed).value, alpha.value, one_way(grades, item)[1].value)
