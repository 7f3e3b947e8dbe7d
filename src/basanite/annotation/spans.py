"""Words of a text: every place where they occur, and pieces made plain (sorted, joined, without blanks at the ends)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from basanite.annotation.events.model import Part

MOST_FOUND: Final = 2_000
"""Places of the same words that are marked at once."""


def occurrences(
    text: str, parts: Sequence[Part], *, whole_words: bool = True, match_case: bool = True
) -> tuple[tuple[Part, ...], ...]:
    """Every place where the words of a mention occur, its own among them, in their order; at most 2,000.

    Words in several pieces occur again where the same pieces come with the same number of characters between them.

    >>> occurrences("Jets beat jets. Jetset!", [(0, 4)], match_case=False)
    (((0, 4),), ((10, 14),))
    """
    if not parts:
        return ()
    origin, end = parts[0][0], parts[-1][1]
    shape = tuple((start - origin, stop - origin) for start, stop in parts)
    found = list[tuple[Part, ...]]()
    for place in _places(text, text[origin : parts[0][1]], match_case):
        if place + end - origin <= len(text) and _same(text, parts, shape, place, match_case):
            pieces = tuple((place + start, place + stop) for start, stop in shape)
            if (not whole_words or _whole(text, pieces)) and len(found) < MOST_FOUND:
                found.append(pieces)
    return tuple(found)


def _places(text: str, words: str, match_case: bool) -> Iterator[int]:
    flags = re.NOFLAG if match_case else re.IGNORECASE
    return (match.start() for match in re.compile(f"(?={re.escape(words)})", flags).finditer(text))


def _same(text: str, parts: Sequence[Part], shape: Sequence[Part], place: int, match_case: bool) -> bool:
    for (start, end), (first, last) in zip(parts, shape, strict=True):
        here, there = text[start:end], text[place + first : place + last]
        if here != there and (match_case or here.casefold() != there.casefold()):
            return False
    return True


def _whole(text: str, pieces: Iterable[Part]) -> bool:
    """Whether no piece begins or ends inside a word."""
    return not any(_inside(text, place) for piece in pieces for place in piece)


def _inside(text: str, place: int) -> bool:
    """Whether a position lies between two characters of one word; marks belong to the letter before them."""
    return 0 < place < len(text) and _wordly(text[place - 1]) and _wordly(text[place])


def _wordly(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")
