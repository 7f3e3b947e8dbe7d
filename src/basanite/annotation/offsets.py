"""Positions in a text, counted as browsers count (UTF-16 units) and as we do (code points), each turned into the other.

JavaScript counts an emoji as two. A page also shows CR LF as one line end and so does not count the CR. Positions are
converted at the edge, once; one inside a pair of units is moved outwards, so that no character is cut in two.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class Offsets:
    """The places in a text where the two ways of counting part."""

    length: int
    wide: tuple[int, ...] = ()
    """Positions of the characters that take two UTF-16 units."""
    unseen: tuple[int, ...] = ()
    """Positions of the CRs that a page does not count, because a LF follows."""

    @classmethod
    def of(cls, text: str, *, line_ends: bool = False) -> Offsets:
        """The places of a text; with `line_ends` CR LF counts as one, as in the text of a page."""
        wide = () if text.isascii() else tuple(place for place, char in enumerate(text) if char > "\uffff")
        unseen = tuple(place for place in range(len(text)) if text.startswith("\r\n", place)) if line_ends else ()
        return cls(len(text), wide, unseen)

    @property
    def units(self) -> int:
        """The length as browsers count it.

        >>> Offsets.of("a😀b").units
        4
        """
        return self.to_utf16(self.length)

    def to_utf16(self, place: int) -> int:
        """A position as browsers count it.

        >>> Offsets.of("a😀b").to_utf16(2)
        3
        """
        return place + bisect_left(self.wide, place) - bisect_left(self.unseen, place)

    def start(self, unit: int) -> int:
        """The position where a piece begins that a browser lets begin there.

        >>> [Offsets.of("a😀b").start(unit) for unit in range(5)]
        [0, 1, 1, 2, 3]
        """
        return bisect_right(range(self.length + 1), unit, key=self.to_utf16) - 1

    def end(self, unit: int) -> int:
        """The position where a piece ends that a browser lets end there.

        >>> [Offsets.of("a😀b").end(unit) for unit in range(5)]
        [0, 1, 2, 2, 3]
        """
        return bisect_left(range(self.length + 1), unit, key=self.to_utf16)
