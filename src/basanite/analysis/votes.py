"""Votes of judges on items, as arrays sorted by item: counts are sums over neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


def decided(share: Reals, tie: Tie = "N") -> Reals:
    """1 where a share is above a half, 0 where below; a half goes by the tie rule, nan stays (C08).

    >>> decided(np.array([0.4, 0.5, 0.6])).tolist(), decided(np.array([0.5]), "R").tolist()
    ([0.0, 0.0, 1.0], [1.0])
    """
    edge = 0.5 - TIE_WIDTH if tie == "R" else 0.5 + TIE_WIDTH
    return np.where(np.isnan(share), np.nan, (share > edge).astype(np.float64))


def any_relevant(share: Reals) -> Reals:
    """1 where at least one vote says relevant."""
    return np.where(np.isnan(share), np.nan, (share > 0).astype(np.float64))


def all_relevant(share: Reals) -> Reals:
    """1 where no vote says otherwise."""
    return np.where(np.isnan(share), np.nan, (share >= 1).astype(np.float64))
