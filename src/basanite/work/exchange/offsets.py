"""Positions in a text in UTF-16 units and in code points, and in which of the two a file of another tool counts.

JavaScript counts an emoji as two. A page also shows CR LF as one line end and so does not count the CR. Positions are
converted at the edge, once; one inside a pair of units is moved outwards, so that no character is cut in two.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final


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


WAYS: Final = ("code-points", "utf-16", "bytes", "code-points-cr", "utf-16-cr")
Parts = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Quoted:
    """A piece of text as another tool gives it: positions in its own count, and the words if it has them."""

    parts: Parts
    words: str | None = None
    found: bool = False
    """Whether the positions are ours already, for the words were looked for."""


@dataclass(frozen=True)
class Text:
    """A text as it lay in a file, and as we keep it: line feeds only."""

    raw: str

    @cached_property
    def plain(self) -> str:
        """The text with line feeds only.

        >>> Text("a" + chr(13) + chr(10) + "b").plain == "a" + chr(10) + "b"
        True
        """
        return self.raw.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")

    @cached_property
    def _returns(self) -> list[int]:
        """Positions in the raw text that the plain one does not have."""
        mark = [0] if self.raw.startswith("\ufeff") else []
        return mark + [at for at in range(len(self.raw)) if self.raw.startswith("\r\n", at)]

    @cached_property
    def _plain_offsets(self) -> Offsets:
        return Offsets.of(self.plain)

    @cached_property
    def _raw_offsets(self) -> Offsets:
        return Offsets.of(self.raw)

    @cached_property
    def _bytes(self) -> bytes:
        return self.plain.encode("utf-8", "surrogatepass")

    def parts(self, piece: Quoted, way: str) -> Parts:
        """Pieces counted in some way, in code points of the plain text."""
        if piece.found:
            return piece.parts
        convert = _CONVERSIONS[way]
        return tuple((convert(self, start, False), convert(self, end, True)) for start, end in piece.parts)

    def look_for(self, words: str, before: str = "", after: str = "") -> Quoted | None:
        """Words that were quoted without a position, where they stand with this before and after them."""
        at = self.plain.find(before + words + after) if words else -1
        start = at + len(before)
        return None if at < 0 else Quoted(((start, start + len(words)),), words, found=True)

    def without_returns(self, place: int) -> int:
        """A position of the raw text in the plain one."""
        return place - bisect_left(self._returns, place)

    def from_units(self, place: int, end: bool) -> int:
        """A UTF-16 position of the plain text."""
        return self._plain_offsets.end(place) if end else self._plain_offsets.start(place)

    def from_raw_units(self, place: int, end: bool) -> int:
        """A UTF-16 position of the raw text."""
        raw = self._raw_offsets.end(place) if end else self._raw_offsets.start(place)
        return self.without_returns(raw)

    def from_bytes(self, place: int) -> int:
        """A position in UTF-8 bytes of the plain text; one inside a character is none."""
        head = self._bytes[: max(place, 0)]
        try:
            return len(head.decode("utf-8", "surrogatepass")) if place <= len(self._bytes) else -1
        except UnicodeDecodeError:
            return -1

    def says(self, piece: Quoted, way: str) -> bool:
        """Whether the words stand where a way of counting puts them; blanks and line ends are alike."""
        parts = self.parts(piece, way)
        inside = all(0 <= start < end <= len(self.plain) for start, end in parts)
        found = " ".join(self.plain[start:end] for start, end in parts)
        return inside and piece.words is not None and _flat(found) == _flat(piece.words)


_CONVERSIONS: Final[dict[str, Callable[[Text, int, bool], int]]] = {
    "code-points": lambda text, place, end: place,
    "utf-16": Text.from_units,
    "bytes": lambda text, place, end: text.from_bytes(place),
    "code-points-cr": lambda text, place, end: text.without_returns(place),
    "utf-16-cr": Text.from_raw_units,
}


def way_of(text: Text, pieces: Sequence[Quoted], usual: str) -> str:
    """The way of counting under which most of the quoted words are right; the usual one where nothing tells.

    >>> way_of(Text("😀 Jets"), [Quoted(((3, 7),), "Jets")], "code-points")
    'utf-16'
    """
    quoted = [piece for piece in pieces if piece.words is not None][:1000]
    order = (usual, *(way for way in WAYS if way != usual))
    return max(order, key=lambda way: sum(text.says(piece, way) for piece in quoted))


def _flat(words: str) -> str:
    return " ".join(words.split())
