"""A report as the reader looks at it: its text, the teams that it names, and where its sentences are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from basanite.reading.baseline.teams import Mention, mentions

Place = tuple[int, int]
"""Where a piece of text begins and ends, in code points."""

_SENTENCE: Final = re.compile(r"\S(?:[^.!?\n]|[.!?](?!\s|$)|\n(?!\s*\n))*[.!?]?")
"""A rule of its own and a plain one: what a baseline reads must not move when sentences are found better elsewhere."""


@dataclass(frozen=True)
class Report:
    """The text of one document."""

    text: str

    @cached_property
    def named(self) -> list[Mention]:
        """Where teams are named, in order."""
        return mentions(self.text)

    @cached_property
    def sentences(self) -> list[Place]:
        """Where sentences begin and end, in order."""
        return [match.span() for match in _SENTENCE.finditer(self.text)]

    def sentence(self, place: int) -> Place:
        """The sentence around a place; an empty one where there is none.

        >>> Report("It rained. The Jets lost.").sentence(15)
        (11, 25)
        """
        before = bisect_right(self.sentences, place, key=lambda sentence: sentence[0]) - 1
        begin, end = self.sentences[before] if before >= 0 else (place, place)
        return (begin, end) if place < end else (place, place)

    def inside(self, begin: int, end: int, pair: Collection[str] = ()) -> list[Mention]:
        """The teams named in a stretch of text; with a pair, only those two."""
        first = bisect_right(self.named, begin - 1, key=lambda mention: mention.start)
        last = bisect_right(self.named, end - 1, key=lambda mention: mention.start)
        return [mention for mention in self.named[first:last] if not pair or mention.team in pair]

    def last(self, place: int, pair: Collection[str]) -> str:
        """The team of a pair that was named last before a place, wherever that was."""
        until = bisect_right(self.named, place - 1, key=lambda mention: mention.start)
        return next((mention.team for mention in reversed(self.named[:until]) if mention.team in pair), "")
