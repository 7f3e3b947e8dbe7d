"""What was said or heard, as NIST's files write it: alternatives, optional words, and speech from the background.

`(uh)` may be said or not, `{ can not / cannot / @ }` is one of several readings, and `@` is none; alternatives may
stand inside alternatives. In any transcript `<background> … </background>` marks speech from the background, which is
not scored (M92).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from basanite.formats.items import ContentError

BACKGROUND: Final = "background"
NOTHING: Final = "@"
MOST_READINGS: Final = 500
"""Readings of one place of a transcript, alternatives inside alternatives written out."""
DEEPEST: Final = 50
"""Alternatives inside alternatives."""

_SPANS = re.compile(r"<background>(?:(?!</?background>).)*</background>", re.IGNORECASE | re.DOTALL)
_LEFT_OVER = re.compile(r"</?background>", re.IGNORECASE)
_FIX = "write alternatives as { one / another }, and @ for nothing"
_WORD = re.compile(r"[{}]|[^\s{}]+")
_INSIDE = re.compile(r"[{}/]|[^\s{}/]+")

Words = tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """What was said, place by place: for each place the readings that are allowed there."""

    places: tuple[tuple[str, ...], ...]
    slots: tuple[tuple[Words, ...], ...] = field(default=(), compare=False, repr=False)
    """The same as it is written, with parentheses around optional words; only what NIST's files hold has it."""

    @property
    def plain(self) -> str | None:
        """The text if there is nothing to choose."""
        if any(len(readings) > 1 for readings in self.places):
            return None
        return self.places[0][0] if len(self.places) == 1 else join_texts(readings[0] for readings in self.places)

    @property
    def written(self) -> tuple[tuple[Words, ...], ...]:
        """The readings as words, as they are written."""
        return self.slots or tuple(tuple(tuple(one.split()) for one in readings) for readings in self.places)


def join_texts(texts: Iterable[str]) -> str:
    """Texts one after the other with one space between them, none where a text is empty.

    >>> join_texts(["one ", "", "two"])
    'one two'
    """
    return " ".join(filter(None, map(str.strip, texts)))


def join_said(parts: Sequence[Said]) -> Said:
    """What was said in several stretches, one after the other."""
    if len(parts) == 1:
        return parts[0]
    places = tuple(place for part in parts for place in part.places)
    return Said(places, tuple(slot for part in parts for slot in part.written))


def as_said(text: str) -> Said:
    """A text with nothing to choose, without what is marked as background."""
    return Said(((without_background(text),),))


def as_heard(text: str) -> Said:
    """A text with nothing to choose, as it is."""
    return Said(((text,),))


def without_background(text: str) -> str:
    """The text without its background speech (M92).

    >>> without_background("so I said <background>taxi taxi</background> yes").split()
    ['so', 'I', 'said', 'yes']
    """
    if "<" not in text:
        return text
    parts = _SPANS.split(text)
    kept = text if len(parts) == 1 else join_texts(parts)
    if _LEFT_OVER.search(kept):
        fix = "close every <background> with </background>, and put none into another"
        raise ContentError("a mark of background speech is not closed or not opened", fix, text)
    return kept


def parse_said(text: str) -> Said:
    """The words of a line of STM or TRN.

    >>> parse_said("I { can not / cannot } (uh) say").places
    (('I',), ('can not', 'cannot'), ('uh', ''), ('say',))
    >>> parse_said("{ a { b / @ } / c }").places
    (('a b', 'a', 'c'),)
    """
    slots = _Reader(without_background(text)).slots()
    places: list[tuple[str, ...]] = []
    plain: list[str] = []
    for slot in slots:
        optional = len(slot) == 1 and len(slot[0]) == 1 and is_optional(slot[0][0])
        if len(slot) == 1 and not optional:
            plain += slot[0]
            continue
        if plain or not slot:
            places.append((" ".join(plain),))
            plain = []
        places.append((slot[0][0][1:-1], "") if optional else tuple(" ".join(map(_bare, way)) for way in slot))
    if plain or (not places and text.strip()):
        places.append((" ".join(plain),))
    return Said(tuple(places), tuple(slots))


def is_optional(word: str) -> bool:
    """Whether a word stands in parentheses.

    >>> is_optional("(uh)"), is_optional("()"), is_optional("uh")
    (True, False, False)
    """
    return len(word) > 2 and word[0] == "(" and word[-1] == ")"


def _bare(word: str) -> str:
    return word[1:-1] if is_optional(word) else word


class _Reader:
    """Reads words and alternatives from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def slots(self) -> list[tuple[Words, ...]]:
        """Each word, and each place with alternatives, as the readings that may stand there."""
        found: list[tuple[Words, ...]] = []
        while token := self._next(_WORD):
            if token == "}":
                raise ContentError("a } closes nothing", _FIX, self.text)
            found.append(self._alternatives() if token == "{" else ((token,) if token != NOTHING else (),))
        return found

    def _next(self, pattern: re.Pattern[str]) -> str:
        found = pattern.search(self.text, self.at)
        self.at = len(self.text) if found is None else found.end()
        return "" if found is None else found[0]

    def _alternatives(self) -> tuple[Words, ...]:
        """The readings up to the closing brace; alternatives inside are written out."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ContentError(f"alternatives lie more than {DEEPEST} deep", _FIX, self.text)
        readings: list[Words] = []
        parts: list[tuple[Words, ...]] = []
        while token := self._next(_INSIDE):
            if token == "{":
                parts.append(self._alternatives())
            elif token in "/}":
                readings += self._readings(parts)
                parts = []
                if token == "}":
                    self.depth -= 1
                    return tuple(readings)
            else:
                parts.append(((token,) if token != NOTHING else (),))
        raise ContentError("a { is never closed", _FIX, self.text)

    def _readings(self, parts: Sequence[tuple[Words, ...]]) -> list[Words]:
        size = 1
        for part in parts:
            size *= len(part)
        if not parts or size > MOST_READINGS:
            message = f"alternatives allow more than {MOST_READINGS} readings" if parts else "an alternative is empty"
            raise ContentError(message, _FIX if parts else f"write {NOTHING} for nothing", self.text)
        return [tuple(word for words in way for word in words) for way in product(*parts)]
