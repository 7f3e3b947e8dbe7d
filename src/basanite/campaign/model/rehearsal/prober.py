"""A simulated team that wants the labels, not a good system: it says yes to chosen documents and reads AQWV (X-23).

It knows how AQWV is made: each relevant document of a query adds 1/R over the number of queries that have some, each
other one takes beta/(N - R) over the number of all queries. It asks for one query at a time, halves what holds relevant
documents, and so finds them one by one. On the ladder it tries a document more for each query, and keeps what moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

Labels = frozenset[tuple[str, str]]
"""Pairs of a query and a document."""
Look = Callable[[Labels], float | None]
"""Submits yes for these pairs and no for all others, and gives the value that is shown; None: the looks are over."""
Climb = Callable[[Labels], bool | None]
"""Submits the same on the ladder, and says whether the team's value moved; None: the attempts are over."""
ROUNDING: Final = 0.0005 + 1e-9


@dataclass
class Prober:
    """What a team knows of a key, and how it asks for more."""

    documents: Mapping[str, Sequence[str]]
    """By query, the documents that answers are about."""
    beta: float
    look: Look
    climb: Climb
    found: set[tuple[str, str]] = field(default_factory=set)
    """Pairs that it holds for relevant."""

    def probe(self) -> Labels:
        """Ask until the attempts are over or everything is known; gives the pairs that it holds for relevant."""
        try:
            answered = self._answered()
            for query in self.documents if answered else ():
                documents = self.documents[query]
                self._ask(_Asked(query, answered, set(range(len(documents)))), documents, None)
        except _OverError:
            self._try_more()
        return frozenset(self.found)

    def _try_more(self) -> None:
        """Climb with a document more for each query, as long as there are attempts."""
        for column in zip_longest(*self.documents.values()):
            more = {pair for pair in zip(self.documents, column, strict=True) if pair[1] is not None}
            moved = self.climb(frozenset(self.found | more))
            if moved is None:
                return
            self.found |= more if moved else set()

    def _answered(self) -> int:
        """How many queries have relevant documents: yes to all of one gains its share, if it has some."""
        for query, documents in self.documents.items():
            gain = self._value(query, documents) + self.beta / len(self.documents)
            if gain > 2 * ROUNDING:
                return max(round(1 / gain), 1)
        return 0

    def _value(self, query: str, documents: Sequence[str]) -> float:
        value = self.look(frozenset((query, document) for document in documents))
        if value is None:
            raise _OverError
        return value

    def _ask(self, asked: _Asked, group: Sequence[str], inside: int | None) -> None:
        """Find the relevant documents of a group by halves; `inside` is their number, where it is known."""
        if inside == 0 or (inside is None and len(group) == 1):
            return
        if inside == len(group):
            self.found |= {(asked.query, document) for document in group}
            return
        half, rest = group[: len(group) // 2], group[len(group) // 2 :]
        hits = self._count(asked, half)
        self._ask(asked, half, hits)
        left = self._count(asked, rest) if inside is None or hits is None else inside - hits
        self._ask(asked, rest, left)

    def _count(self, asked: _Asked, group: Sequence[str]) -> int | None:
        """How many of a group are relevant; None if the value leaves it open."""
        value, all_ = self._value(asked.query, group), len(self.documents[asked.query])
        fits = {}
        for relevant in asked.counts:
            gain = 1 / (relevant * asked.answered) if relevant else 0.0
            price = self.beta / ((all_ - relevant) * len(self.documents))
            hits = round((value + len(group) * price) / (gain + price)) if relevant else 0
            off = hits * gain - (len(group) - hits) * price - value
            if 0 <= hits <= min(len(group), relevant) and abs(off) <= ROUNDING:
                fits[relevant] = hits
        asked.counts &= set(fits)
        possible = set(fits.values())
        return possible.pop() if len(possible) == 1 else None


@dataclass
class _Asked:
    """One query that is asked about."""

    query: str
    answered: int
    """How many queries have relevant documents."""
    counts: set[int]
    """How many documents may be relevant to it, as far as that is known."""


class _OverError(Exception):
    """The looks are used up."""
