"""Positions of other tools turned into ours: the quoted words tell how the tool counted.

Browsers count UTF-16 units, so an emoji is two; some tools count bytes; some count the CR of CR LF, others do not. All
of them quote the words, so the way of counting under which the words are right is the one that was used. Where nothing
tells them apart, the format's usual way is taken.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from basanite.annotation.offsets import Offsets

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
