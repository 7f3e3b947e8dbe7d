"""Numbers as reports write them: in figures, in words, and as ordinals."""

from __future__ import annotations

import re
from typing import Final

from basanite.formats.texts.number_words import SMALL, TENS

ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_OTHERS: Final = {"a": 1, "an": 1, "single": 1, "lone": 1, "only": 1, "pair": 2, "both": 2, "twice": 2, "no": 0}

_VALUES: Final[dict[str, int]] = {
    **{word: value for value, word in enumerate(SMALL)},
    **{word: 10 * value for value, word in enumerate(TENS, start=2)},
    **{word: value for value, word in enumerate(ORDINALS, start=1)},
    "twentieth": 20,
    "thirtieth": 30,
    **_OTHERS,
}

_TEN, _UNIT = "|".join(TENS), "|".join(SMALL[1:10])
CARDINAL: Final = rf"(?>(?:{_TEN})-(?:{_UNIT})|(?:{'|'.join(SMALL[::-1])})|(?:{_TEN})|\d{{1,2}})"
"""A pattern of a whole number below 100, to be used without regard to case; forty-six is never 40 to 6."""
ORDINAL: Final = f"(?:{'|'.join(ORDINALS)})"


def number(words: str) -> int:
    """The value of a number below 100 in figures or in words.

    >>> number("Thirty-eight"), number("17"), number("third"), number("a pair of")
    (38, 17, 3, 2)
    """
    parts = re.findall(r"\d+|[a-z]+", words.lower())
    if "pair" in parts:
        return 2
    return sum(int(part) if part.isdigit() else _VALUES.get(part, 0) for part in parts)
