"""Vetting: which passages of a pool are fit to be judged, and why the others are not (R-1)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from basanite.judging.passages.model import Dropped, Passage

STEP = "vetting"
_ANYTHING = re.compile(r"\w+")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Bounds:
    """What a passage must be like."""

    fewest_words: int = 30
    most_words: int = 400
    letters: float = 0.6
    """The least share of letters among all characters but blanks."""


def vetted(passages: Iterable[Passage], bounds: Bounds) -> tuple[list[Passage], list[Dropped]]:
    """The passages that are fit, in their order, and those that are not with the reason."""
    kept: list[Passage] = []
    dropped: list[Dropped] = []
    seen: dict[str, str] = {}
    for passage in passages:
        reason = next(_reasons(passage, bounds, seen), "")
        if reason:
            dropped.append(Dropped(passage.name, passage.genre, STEP, reason))
        else:
            seen[_fingerprint(passage.text)] = passage.name
            kept.append(passage)
    return kept, dropped


def _reasons(passage: Passage, bounds: Bounds, seen: dict[str, str]) -> Iterator[str]:
    words = len(_WORD.findall(passage.text))
    if words < bounds.fewest_words:
        yield f"{words} words, fewer than {bounds.fewest_words}"
    if words > bounds.most_words:
        yield f"{words} words, more than {bounds.most_words}"
    share = _letters(passage.text)
    if share < bounds.letters:
        yield f"{share:.0%} letters: a table or a list, no running text"
    twin = seen.get(_fingerprint(passage.text))
    if twin:
        yield f"the same text as {twin!r}"


def _letters(text: str) -> float:
    shown = [char for char in text if not char.isspace()]
    return sum(char.isalpha() for char in shown) / len(shown) if shown else 0.0


def _fingerprint(text: str) -> str:
    """The same for texts that differ in case, blanks and punctuation only."""
    return hashlib.sha256(" ".join(_ANYTHING.findall(text.casefold())).encode("utf-8", "surrogatepass")).hexdigest()
