"""Every miss and every false alarm of a system, as columns: counted by factor, and the worst of them listed.

These are single documents, so they may only be made from a key that the user holds (M72).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.figures import Image

MISS, FALSE_ALARM = "miss", "false alarm"

Places = NDArray[np.int64]
Names = NDArray[np.str_]


@dataclass(frozen=True)
class NonTargets:
    """One kind of non-target: how many documents of it there are, and how many were returned (M86)."""

    kind: str
    false_alarms: int
    documents: int
    share: float
    """Of all false alarms whose kind is known; nan where there are none."""
    rate: float
    """False alarms among the documents of this kind; nan where there are none."""


@dataclass(frozen=True)
class Mistakes:
    """Misses and false alarms; `query` and `document` are places in the names, one entry for each mistake."""

    task: str
    system: str
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    query: Places
    document: Places
    confidence: NDArray[np.float64]
    missed: NDArray[np.bool_]
    query_factors: Mapping[str, Names]
    document_factors: Mapping[str, Names]
    kinds: tuple[str, ...] = ()
    """The names of the kinds of non-targets; none where no annotation was given."""
    kind: Places = field(default_factory=lambda: np.zeros(0, np.int64))
    """The kind of each mistake, as a place in the names; -1 for misses and what is not annotated."""
    non_targets: tuple[NonTargets, ...] = ()
    strings: Mapping[str, str] = field(default_factory=dict)
    """What each query asks for, where the query pack is there."""
    images: Mapping[tuple[str, str], Image] = field(default_factory=dict)
    """By query and document: what the system showed for it."""
    digests: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.query)

    @property
    def misses(self) -> int:
        """How many relevant documents were not returned."""
        return int(np.count_nonzero(self.missed))

    @property
    def false_alarms(self) -> int:
        """How many other documents were returned."""
        return len(self) - self.misses

    def factors(self) -> dict[str, Names]:
        """The level of each mistake for every factor of its document and (called `query …`) of its query."""
        documents = {name: levels[self.document] for name, levels in self.document_factors.items()}
        return documents | {f"query {name}": levels[self.query] for name, levels in self.query_factors.items()}

    def worst(self, most: int) -> Places:
        """The places of at most so many mistakes, the worst first.

        A miss is the worse the lower its confidence, a false alarm the higher. Each outcome has half the room, and
        what one does not need goes to the other.
        """
        order = np.lexsort((self.document, self.query, -self.badness()))
        misses, alarms = order[self.missed[order]], order[~self.missed[order]]
        misses = misses[: max(most // 2, most - len(alarms))]
        chosen = np.zeros(len(self), dtype=np.bool_)
        chosen[misses] = chosen[alarms[: max(most - len(misses), 0)]] = True
        return order[chosen[order]]

    def badness(self) -> NDArray[np.float64]:
        """How sure the system was of what is wrong, from 0 to 1."""
        return np.where(self.missed, 1 - self.confidence, self.confidence)


def level_counts(mistakes: Mistakes) -> dict[str, dict[str, dict[str, int]]]:
    """By factor and level: how many misses and false alarms; what has no level is counted under "".

    >>> one = np.array([0])
    >>> genre = {"genre": np.array(["NT"])}
    >>> level_counts(Mistakes("clir", "A", ("q1",), ("d1",), one, one, np.array([0.2]), np.array([True]), {}, genre))
    {'genre': {'NT': {'miss': 1, 'false alarm': 0}}}
    """
    found: dict[str, dict[str, dict[str, int]]] = {}
    for factor, levels in mistakes.factors().items():
        names, place = np.unique(levels, return_inverse=True)
        misses = np.bincount(place[mistakes.missed], minlength=len(names))
        alarms = np.bincount(place[~mistakes.missed], minlength=len(names))
        found[factor] = {
            str(name): {MISS: int(missed), FALSE_ALARM: int(returned)}
            for name, missed, returned in zip(names, misses, alarms, strict=True)
        }
    return found
