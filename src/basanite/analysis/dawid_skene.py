"""Dawid and Skene: which items are relevant, and how good each judge is, found together by maximum a posteriori (S-18).

Every judge has a chance to recognise a relevant item and another to recognise one that is not; a judge of fewer than
20 items has a single chance for both, for want of evidence. A Dirichlet prior is worth two right votes and a wrong
one on each chance, and one item of each kind on the share of relevant items; so nobody is ever held infallible, and
the mirror image, in which all judges are wrong, is worse than the truth. EM starts at the majority; further starts
from disturbed majorities show whether that mattered, and the best end by posterior is taken (the first of equals).

A. P. Dawid, A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, JRSS C (1979).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.votes import Reals, Votes, decided, shares

FEW_ITEMS = 20
RIGHT, WRONG = 2.0, 1.0
"""What the prior adds to the counts of each chance."""
STARTS = 5
MOST_STEPS = 500
SETTLED, CLOSE = 1e-9, 1e-7
"""Relative gains of the posterior: below the first a run ends, below the second two ends are equal."""


@dataclass(frozen=True)
class Restart:
    """One run of EM: where it started and how it ended."""

    start: str
    steps: int
    settled: bool
    log_posterior: float
    differing: int
    """Items that this run would decide otherwise than the one that was taken."""


@dataclass(frozen=True)
class JudgeModel:
    """What the votes say of the judges; `one_coin` marks those with a single chance."""

    prevalence: float
    finds_relevant: Reals
    finds_other: Reals
    one_coin: NDArray[np.bool_]

    def weight(self, votes: Votes) -> Reals:
        """What each vote adds to the log odds that its item is relevant."""
        for_yes = np.log(self.finds_relevant) - np.log1p(-self.finds_other)
        for_no = np.log1p(-self.finds_relevant) - np.log(self.finds_other)
        return np.where(votes.relevant, for_yes[votes.judge], for_no[votes.judge])

    def posterior(self, votes: Votes) -> Reals:
        """The chance of each item to be relevant, with these judges; nan without votes."""
        odds = votes.sums(self.weight(votes)) + np.log(self.prevalence) - np.log1p(-self.prevalence)
        return np.where(votes.per_item > 0, _expit(odds), np.nan)


@dataclass(frozen=True)
class Fitted:
    """The judges and items of the best run, and an account of all of them."""

    model: JudgeModel
    posterior: Reals
    restarts: tuple[Restart, ...]


def fit(votes: Votes, *, starts: int = STARTS) -> Fitted:
    """Fit by EM from the majority and from `starts - 1` disturbed majorities; the same votes give the same result."""
    one_coin = np.bincount(votes.judge, minlength=votes.judges) < FEW_ITEMS
    runs = [(name, *_run(votes, start, one_coin)) for name, start in _starts(votes, starts)]
    values = [log_posterior(model, votes) for _, model, _, _ in runs]
    best = next(at for at, value in enumerate(values) if value >= max(values) - CLOSE * (1 + abs(value)))
    ends = [model.posterior(votes) for _, model, _, _ in runs]
    labels = decided(ends[best])
    restarts = [
        Restart(name, steps, settled, value, _differing(decided(end), labels))
        for (name, _, steps, settled), value, end in zip(runs, values, ends, strict=True)
    ]
    return Fitted(runs[best][1], ends[best], tuple(restarts))


def log_posterior(model: JudgeModel, votes: Votes) -> float:
    """The logarithm of what EM makes larger at every step: likelihood of the votes times the prior."""
    yes = np.where(votes.relevant, model.finds_relevant[votes.judge], 1 - model.finds_relevant[votes.judge])
    no = np.where(votes.relevant, 1 - model.finds_other[votes.judge], model.finds_other[votes.judge])
    voted = votes.per_item > 0
    as_relevant = votes.sums(np.log(yes))[voted] + np.log(model.prevalence)
    as_other = votes.sums(np.log(no))[voted] + np.log1p(-model.prevalence)
    coins = np.concatenate([model.finds_relevant, model.finds_other[~model.one_coin]])
    prior = RIGHT * np.log(coins).sum() + WRONG * np.log1p(-coins).sum()
    prior += np.log(model.prevalence) + np.log1p(-model.prevalence)
    return float(np.logaddexp(as_relevant, as_other).sum() + prior)


def maximised(votes: Votes, chance: Reals, one_coin: NDArray[np.bool_]) -> JudgeModel:
    """The judges that suit these chances of the items best, under the prior (the M step)."""
    truth = chance[votes.item]
    right_yes, yes = _by_judge(votes, truth * votes.relevant), _by_judge(votes, truth)
    right_no, no = _by_judge(votes, (1 - truth) * ~votes.relevant), _by_judge(votes, 1 - truth)
    either = (right_yes + right_no + RIGHT) / (yes + no + RIGHT + WRONG)
    finds_relevant = np.where(one_coin, either, (right_yes + RIGHT) / (yes + RIGHT + WRONG))
    finds_other = np.where(one_coin, either, (right_no + RIGHT) / (no + RIGHT + WRONG))
    voted = votes.per_item > 0
    prevalence = (chance[voted].sum() + 1) / (voted.sum() + 2)
    return JudgeModel(float(prevalence), finds_relevant, finds_other, one_coin)


def _run(votes: Votes, chance: Reals, one_coin: NDArray[np.bool_]) -> tuple[JudgeModel, int, bool]:
    model, before = maximised(votes, chance, one_coin), -np.inf
    for step in range(1, MOST_STEPS + 1):
        now = log_posterior(model, votes)
        if now - before <= SETTLED * (1 + abs(now)):
            return model, step, True
        before = now
        model = maximised(votes, np.nan_to_num(model.posterior(votes)), one_coin)
    return model, MOST_STEPS, False


def _starts(votes: Votes, starts: int) -> Iterator[tuple[str, Reals]]:
    """The majority (a tie is a half), then the same with each item moved half-way to a number drawn for it."""
    share = np.nan_to_num(shares(votes))
    majority = (decided(share, "N") + decided(share, "R")) / 2
    yield "majority", majority
    source = np.random.PCG64(0)
    for number in range(1, starts):
        drawn = (source.random_raw(votes.items) >> np.uint64(11)).astype(np.float64) / 2**53
        yield f"disturbed majority {number}", (majority + drawn) / 2


def _by_judge(votes: Votes, values: Reals) -> Reals:
    return np.bincount(votes.judge, weights=values, minlength=votes.judges).astype(np.float64)


def _differing(labels: Reals, taken: Reals) -> int:
    return int((np.nan_to_num(labels) != np.nan_to_num(taken)).sum())


def _expit(odds: Reals) -> Reals:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -700, 700))))
