"""Votes of judges on items, and how they become one verdict on each item by a rule that has a name (S-18, C08).

Dawid and Skene: which items are relevant, and how good each judge is, found together by maximum a posteriori (S-18).

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
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
Tie = Literal["N", "R"]
"""What an item is when its votes are in balance: not relevant (the default, C08) or relevant."""

TIE_WIDTH = 1e-9


@dataclass(frozen=True)
class Votes:
    """Vote v is by judge `judge[v]` on item `item[v]`; items rise. Make one with `votes_of`."""

    judge: Numbers
    item: Numbers
    relevant: NDArray[np.bool_]
    judges: int
    items: int

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def starts(self) -> Numbers:
        """Where the votes of each item start, and last where those of the last one end."""
        return np.searchsorted(self.item, np.arange(self.items + 1)).astype(np.int64)

    @cached_property
    def per_item(self) -> Numbers:
        """K: how many votes each item has."""
        return np.diff(self.starts)

    def sums(self, values: Reals) -> Reals:
        """The sum of `values[..., votes]` over the votes of each item: `[..., items]`, 0 where there are none."""
        made = np.zeros((*values.shape[:-1], self.items))
        voted = np.flatnonzero(self.per_item)
        if len(voted):
            made[..., voted] = np.add.reduceat(values, self.starts[voted], axis=-1)
        return made

    def relevant_votes(self) -> Reals:
        """r: how many votes say relevant, for each item."""
        return self.sums(self.relevant.astype(np.float64))


def votes_of(judge: ArrayLike, item: ArrayLike, relevant: ArrayLike, *, judges: int, items: int) -> Votes:
    """Votes in any order, sorted by item."""
    judge, item = np.asarray(judge, np.int64), np.asarray(item, np.int64)
    order = np.lexsort((judge, item))
    return Votes(judge[order], item[order], np.asarray(relevant, np.bool_)[order], judges, items)


def shares(votes: Votes) -> Reals:
    """r/K: the share of votes that say relevant; nan for an item without votes (M13).

    >>> shares(votes_of([0, 1, 2, 0], [0, 0, 0, 1], [1, 1, 0, 1], judges=3, items=2)).round(3).tolist()
    [0.667, 1.0]
    """
    return votes.relevant_votes() / np.where(votes.per_item > 0, votes.per_item, np.nan)


def single_shares(votes: Votes) -> Reals:
    """What each item would be by one of its votes alone, all in turn: `[most votes of an item, items]` of 0 and 1.

    An item with fewer votes uses them again, so that it seems to vary less: what follows for judges is a lower bound.

    >>> single_shares(votes_of([0, 1, 0], [0, 0, 1], [1, 0, 1], judges=2, items=2)).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    turns = np.arange(votes.per_item.max(initial=0))[:, None] % np.maximum(votes.per_item, 1)
    chosen = np.append(votes.relevant, False)[np.where(votes.per_item > 0, votes.starts[:-1] + turns, len(votes))]
    return np.where(votes.per_item > 0, chosen.astype(np.float64), np.nan)


def decide_by_majority(share: Reals, tie: Tie = "N") -> Reals:
    """1 where a share is above one half, 0 where below; the tie rule decides one half, and nan stays nan (C08).

    >>> decide_by_majority(np.array([0.4, 0.5, 0.6])).tolist(), decide_by_majority(np.array([0.5]), "R").tolist()
    ([0.0, 0.0, 1.0], [1.0])
    """
    edge = 0.5 - TIE_WIDTH if tie == "R" else 0.5 + TIE_WIDTH
    return np.where(np.isnan(share), np.nan, (share > edge).astype(np.float64))


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
        chance = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        return np.where(votes.per_item > 0, chance, np.nan)


@dataclass(frozen=True)
class Fitted:
    """The judges and items of the best run, and an account of all of them."""

    model: JudgeModel
    posterior: Reals
    restarts: tuple[Restart, ...]


def fit(votes: Votes, *, starts: int = STARTS) -> Fitted:
    """Fit by EM from the majority and from `starts - 1` perturbed majorities; deterministic for the same votes."""
    one_coin = np.bincount(votes.judge, minlength=votes.judges) < FEW_ITEMS
    runs = [(name, *_run(votes, start, one_coin)) for name, start in _starts(votes, starts)]
    values = [log_posterior(model, votes) for _, model, _, _ in runs]
    best = next(at for at, value in enumerate(values) if value >= max(values) - CLOSE * (1 + abs(value)))
    ends = [model.posterior(votes) for _, model, _, _ in runs]
    labels = decide_by_majority(ends[best])
    apart = [int(np.sum(np.nan_to_num(decide_by_majority(end)) != np.nan_to_num(labels))) for end in ends]
    restarts = [
        Restart(name, steps, settled, value, differing)
        for (name, _, steps, settled), value, differing in zip(runs, values, apart, strict=True)
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


def best_judges(votes: Votes, chance: Reals, one_coin: NDArray[np.bool_]) -> JudgeModel:
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
    model, before = best_judges(votes, chance, one_coin), -np.inf
    for step in range(1, MOST_STEPS + 1):
        now = log_posterior(model, votes)
        if now - before <= SETTLED * (1 + abs(now)):
            return model, step, True
        before = now
        model = best_judges(votes, np.nan_to_num(model.posterior(votes)), one_coin)
    return model, MOST_STEPS, False


def _starts(votes: Votes, starts: int) -> Iterator[tuple[str, Reals]]:
    """The majority (a tie is a half), then the same with each item moved half-way to a number drawn for it."""
    share = np.nan_to_num(shares(votes))
    majority = (decide_by_majority(share, "N") + decide_by_majority(share, "R")) / 2
    yield "majority", majority
    source = np.random.PCG64(0)
    for number in range(1, starts):
        drawn = (source.random_raw(votes.items) >> np.uint64(11)).astype(np.float64) / 2**53
        yield f"disturbed majority {number}", (majority + drawn) / 2


def _by_judge(votes: Votes, values: Reals) -> Reals:
    return np.bincount(votes.judge, weights=values, minlength=votes.judges).astype(np.float64)


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

    def shares(self) -> Reals:
        """The share of each item: 0 or 1, or r/K if raw; nan without votes."""
        combination = self.combination
        if self.fitted is not None:
            return decide_by_majority(self.fitted.posterior, combination.tie)
        share = shares(self.votes)
        if combination.judging == "raw":
            return share
        if combination.rule == "majority":
            return decide_by_majority(share, combination.tie)
        relevant = share > 0 if combination.rule == "any" else share >= 1
        return np.where(np.isnan(share), np.nan, relevant.astype(np.float64))


def panel_of(votes: Votes, combination: Combination | None = None) -> Panel:
    """The panel of these votes; fits the judges if the rule needs it."""
    chosen = combination or Combination()
    needs_fit = chosen.judging == "binary" and chosen.rule == "dawid_skene"
    return Panel(votes, chosen, fit(votes) if needs_fit else None)
