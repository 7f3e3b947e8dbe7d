"""Made-up English sentences, another way to say each of them, and what a careless system makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

WHO: Final = ("the minister", "a farmer", "the old teacher", "my sister", "the new mayor", "a young driver")
DID: Final = ("bought", "described", "sold", "repaired", "found", "promised")
WHAT: Final = ("a small house", "the broken bridge", "two red cars", "the school", "a bag of rice", "many books")
WHERE: Final = ("near the river", "in the village", "at the market", "behind the church", "on the main road", "in town")
WHEN: Final = ("last year", "on Monday", "before the rain", "this morning", "after the vote", "in May")
OTHERWISE: Final = {
    "bought": "purchased",
    "described": "depicted",
    "repaired": "fixed",
    "small": "little",
    "near": "close to",
    "village": "hamlet",
    "many": "a lot of",
    "mayor": "head of the town",
    "main": "big",
    "promised": "pledged",
}


def sentence(rng: np.random.Generator) -> str:
    """One sentence."""
    who, did, what, where, when = (str(rng.choice(words)) for words in (WHO, DID, WHAT, WHERE, WHEN))
    text = f"{when} {who} {did} {what} {where}" if rng.random() < 0.3 else f"{who} {did} {what} {where} {when}"
    return text[0].upper() + text[1:] + "."


def otherwise(text: str) -> str:
    """The same in other words.

    >>> otherwise("My sister bought many books.")
    'My sister purchased a lot of books.'
    """
    return " ".join(OTHERWISE.get(word, word) for word in text.split())


def careless(words: Sequence[str], rate: float, rng: np.random.Generator) -> list[str]:
    """The words with some replaced, dropped or doubled, at this rate."""
    pool = " ".join((*WHO, *DID, *WHAT, *WHERE, *WHEN)).split()
    found: list[str] = []
    for word in words:
        die = rng.random() / rate
        found += [] if die < 0.25 else [str(rng.choice(pool))] if die < 0.85 else [word, word] if die < 1 else [word]
    return found


def spoken(text: str) -> str:
    """A sentence as it is said: no capitals, no full stop."""
    return text.rstrip(".").lower()
