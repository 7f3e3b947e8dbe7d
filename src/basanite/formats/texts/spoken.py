"""What was said, as a transcriber may write it: plain words, words that may be left out, readings that may be chosen.

In STM files `(uh)` may be said or not, `{ can not / cannot / @ }` is one of several readings, and `@` is none. In any
transcript `<background> … </background>` marks speech from the background, which is not scored (M92).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from basanite.formats.items import ContentError

BACKGROUND: Final = "background"
NOTHING: Final = "@"
IGNORED: Final = "IGNORE_TIME_SEGMENT_IN_SCORING"

_SPANS = re.compile(r"<background>(?:(?!</?background>).)*</background>", re.IGNORECASE | re.DOTALL)
_LEFT_OVER = re.compile(r"</?background>", re.IGNORECASE)
_FIX = "write alternatives as { one / another }, spaces around each sign, and none inside another"


@dataclass(frozen=True)
class Said:
    """What was said, place by place: for each place the readings that are allowed there."""

    places: tuple[tuple[str, ...], ...]

    @property
    def plain(self) -> str | None:
        """The text if there is nothing to choose."""
        if any(len(readings) > 1 for readings in self.places):
            return None
        return self.places[0][0] if len(self.places) == 1 else spaced(readings[0] for readings in self.places)


def spaced(texts: Iterable[str]) -> str:
    """Texts one after the other with one space between them, none where a text is empty.

    >>> spaced(["one ", "", "two"])
    'one two'
    """
    return " ".join(filter(None, map(str.strip, texts)))


@dataclass(frozen=True)
class Utterance:
    """One stretch of speech: what was said by each of its transcribers, when it began, and whether it counts."""

    said: tuple[Said, ...]
    start: float = 0.0
    scored: bool = True


def as_said(text: str) -> Said:
    """A text with nothing to choose, without what is marked as background."""
    return Said(((without_background(text),),))


def without_background(text: str) -> str:
    """The text without its background speech (M92).

    >>> without_background("so I said <background>taxi taxi</background> yes").split()
    ['so', 'I', 'said', 'yes']
    """
    if "<" not in text:
        return text
    parts = _SPANS.split(text)
    kept = text if len(parts) == 1 else spaced(parts)
    if _LEFT_OVER.search(kept):
        fix = "close every <background> with </background>, and put none into another"
        raise ContentError("a mark of background speech is not closed or not opened", fix, text)
    return kept


def parse_said(text: str) -> Said:
    """The transcript of an STM line.

    >>> parse_said("I { can not / cannot } (uh) say").places
    (('I',), ('can not', 'cannot'), ('uh', ''), ('say',))
    """
    places: list[tuple[str, ...]] = []
    plain: list[str] = []
    inside: list[str] | None = None
    for token in without_background(text).split():
        if inside is not None:
            inside.append(token)
            if token == "}":
                places.append(_readings(inside[:-1], text))
                inside = None
        elif token == "{" or _optional(token):
            _close(plain, places)
            inside = [] if token == "{" else None
            places += [(token[1:-1], "")] if inside is None else []
        else:
            plain.append(_word(token, text))
    if inside is not None:
        raise ContentError("a { is never closed", _FIX, text)
    _close(plain, places)
    return Said(tuple(places))


def _optional(token: str) -> bool:
    return len(token) > 2 and token[0] == "(" and token[-1] == ")"


def _word(token: str, text: str) -> str:
    if token == "}":
        raise ContentError("a } closes nothing", _FIX, text)
    return "" if token == NOTHING else token


def _close(plain: list[str], places: list[tuple[str, ...]]) -> None:
    if plain:
        places.append((" ".join(filter(None, plain)),))
        plain.clear()


def _readings(tokens: list[str], text: str) -> tuple[str, ...]:
    if "{" in tokens:
        raise ContentError("alternatives stand inside alternatives", _FIX, text)
    groups: list[list[str]] = [[]]
    for token in tokens:
        if token == "/":
            groups.append([])
        else:
            groups[-1].append(token.strip("()") if _optional(token) else token)
    if not all(groups):
        raise ContentError("an alternative is empty", f"write {NOTHING} for nothing", text)
    return tuple(" ".join(token for token in group if token != NOTHING) for group in groups)
