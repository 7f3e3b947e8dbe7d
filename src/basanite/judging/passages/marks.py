"""Surface marks that tell a genre at a glance, so that judges rate the language and not its kind (R-1).

The marks of each genre stand in `marks.toml`; every removal is logged. Texts are bounded before they come here, and no
pattern looks further than a line or a pair of brackets.
"""

from __future__ import annotations

import html
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from basanite.judging.passages.model import Removed

SHOWN: Final = 80
SPOKEN: Final = ("broadcast", "captions")
SHOUTED: Final = 0.8
"""A text with more capitals than this among its letters is in capitals throughout."""
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,10});")
_SENTENCE_START: Final = re.compile(r"(?:\A|[.?!]['\")]?\s+)([a-zà-ÿ])")
_ALONE: Final = re.compile(r"\bi\b")
_BLANKS: Final = re.compile(r"[ \t]{2,}|\t")
_GAPS: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class Mark:
    """One kind of mark: the genres it occurs in (none are all), what it looks like, and what stands there then."""

    name: str
    genres: tuple[str, ...]
    pattern: re.Pattern[str]
    instead: str


@cache
def marks() -> tuple[Mark, ...]:
    """All marks, in the order in which they are removed."""
    document = tomllib.loads(files(__package__).joinpath("marks.toml").read_text("utf-8"))
    return tuple(
        Mark(
            one["name"], tuple(one.get("genres", ())), re.compile(one["pattern"], re.MULTILINE), one.get("instead", "")
        )
        for one in document["marks"]
    )


def genres() -> frozenset[str]:
    """The genres whose marks are known.

    >>> "newswire" in genres()
    True
    """
    return frozenset(genre for mark in marks() for genre in mark.genres)


def without_marks(name: str, text: str, genre: str) -> tuple[str, tuple[Removed, ...]]:
    """The text of a passage without the marks of its genre, and what was taken out.

    >>> without_marks("p1", "PARIS, March 3 (AFN) -- Rain fell.", "newswire")[0]
    'Rain fell.'
    """
    removed: list[Removed] = []
    text = _GAPS.sub("\n\n", _BLANKS.sub(" ", text.replace("\r\n", "\n")))
    for mark in marks():
        if not mark.genres or genre in mark.genres:
            text = _applied(mark, name, text, removed)
    text = _decoded(name, text, removed)
    if genre in SPOKEN:
        text = _lowered(name, text, removed)
    return _tidy(text), tuple(removed)


def _applied(mark: Mark, name: str, text: str, removed: list[Removed]) -> str:
    found = list(mark.pattern.finditer(text))
    if not found:
        return text
    removed.append(Removed(name, mark.name, len(found), " ".join(found[0][0].split())[:SHOWN]))
    return mark.pattern.sub(mark.instead, text)


def _decoded(name: str, text: str, removed: list[Removed]) -> str:
    """Entities of HTML as the characters they stand for."""
    found = _ENTITY.findall(text)
    if found:
        removed.append(Removed(name, "entity", len(found), found[0]))
        text = html.unescape(text)
    return text


def _lowered(name: str, text: str, removed: list[Removed]) -> str:
    """Captions in capitals as sentences; names lose theirs, which the log says."""
    letters = [char for char in text if char.isalpha()]
    if not letters or sum(char.isupper() for char in letters) <= SHOUTED * len(letters):
        return text
    removed.append(Removed(name, "capitals throughout", 1, " ".join(text.split())[:SHOWN]))
    lowered = _ALONE.sub("I", text.strip().lower())
    return _SENTENCE_START.sub(lambda match: match[0][:-1] + match[1].upper(), lowered)


def _tidy(text: str) -> str:
    """Blanks and empty lines that removals left behind, and line breaks that say nothing."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    joined = "\n\n".join(part for part in paragraphs if part)
    return re.sub(r" ([,.;:?!])", r"\1", joined)
