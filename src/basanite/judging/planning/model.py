"""What a plan is made of: judges, and their assignments in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from basanite.judging.schemes.model import JUDGE
from basanite.problems import Problem

TRAINING_ROUND = 0


@dataclass(frozen=True)
class Judge:
    """Somebody who judges: the group, and what was declared (P-22)."""

    id: str
    group: str = JUDGE
    languages: frozenset[str] = frozenset()
    """Languages known; nothing declared is no bar."""
    conflicts: frozenset[str] = frozenset()
    """Teams or systems whose items this judge must not get."""
    most: int = 0
    """The most items this judge takes on; 0 is any number."""
    active: bool = True
    """Whether there may be new work: who withdrew gets none, and what was done counts."""


@dataclass(frozen=True, order=True)
class Assignment:
    """One item for one judge. Rounds and positions count from 1; round 0 is training."""

    judge: str
    round: int
    position: int
    item: str
    flipped: bool = False
    """In pairwise judging: the item's second text stands on the left."""


@dataclass(frozen=True)
class Plan:
    """All assignments in the order of judges, rounds and positions, and what could not be done as wished."""

    assignments: tuple[Assignment, ...]
    warnings: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[Assignment]:
        return iter(self.assignments)

    def __len__(self) -> int:
        return len(self.assignments)

    def of(self, judge: str) -> tuple[Assignment, ...]:
        """The assignments of one judge in order."""
        return tuple(each for each in self.assignments if each.judge == judge)
