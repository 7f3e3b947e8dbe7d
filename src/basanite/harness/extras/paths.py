"""Items changed in known ways, step by step along a path, to see which units of a learner care (A40).

Words of texts are left out, and words of praise and blame swapped for synonyms; square pictures are shifted; clips are
shifted, turned and played at other speeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.video.clips import read_clip
from basanite.harness.video.transforming import NAMED, transformed
from basanite.synthetic.review_words import ASPECTS, pool

Reals = NDArray[np.float64]
DROPPED: Final = (0.1, 0.2, 0.3, 0.4, 0.5)
SWAPPED: Final = (0.5, 1.0)
"""Shares of the words that have synonyms."""
SHIFTS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1), (0, 2), (2, 0), (0, -2), (-2, 0))


def path_of(items: Any) -> tuple[Iterable[Any], str]:
    """Changed versions of the items along a path, and what was done; none where no change is known.

    The versions come one at a time where all of them would not fit into memory.
    """
    if isinstance(items, list) and items and isinstance(items[0], Path):
        return transformed([read_clip(path) for path in items]), NAMED
    if isinstance(items, list):
        return _of_texts(items)
    side = int(np.sqrt(items.shape[1]))
    if side * side == items.shape[1] and side > 2:
        return list(shifted(np.asarray(items), side)), f"pictures of {side} by {side} shifted by one and two pixels"
    return [], "no transformation is known for these items"


def _of_texts(texts: Sequence[str]) -> tuple[list[list[str]], str]:
    dice = np.random.default_rng(0)
    path, kind = [[_without(text, share, dice) for text in texts] for share in DROPPED], "words left out, 10 % to 50 %"
    if not any(_bare(word) in synonyms() for text in texts for word in text.split()):
        return path, kind
    swapped = [[_swapped(text, share, dice) for text in texts] for share in SWAPPED]
    return [*path, *swapped], f"{kind}; words of praise and blame swapped for synonyms, half of them and all"


def _without(text: str, share: float, dice: np.random.Generator) -> str:
    words = text.split()
    kept = [word for word, drawn in zip(words, dice.random(len(words)), strict=True) if drawn >= share]
    return " ".join(kept or words[:1])


def _swapped(text: str, share: float, dice: np.random.Generator) -> str:
    """The text with a share of the words that have synonyms replaced by one of them; punctuation after it stays."""
    words = text.split()
    for place in np.flatnonzero(dice.random(len(words)) < share):
        bare = _bare(words[place])
        if others := synonyms().get(bare):
            words[place] = others[int(dice.integers(len(others)))] + words[place][len(bare) :]
    return " ".join(words)


def _bare(word: str) -> str:
    return word.rstrip(".,;!?")


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """By word, the others that say the same of the same aspect in the same form, of the words reviews are made of.

    >>> "tasty" in synonyms()["delicious"], "tasty" in synonyms()["bland"]
    (True, False)
    """
    found: dict[str, tuple[str, ...]] = {}
    for aspect in ASPECTS:
        for praise in (True, False):
            words = pool(aspect, praise=praise)
            for form in dict.fromkeys(words.forms):
                alike = [word for word, of in zip(words.words, words.forms, strict=True) if of == form]
                found |= {word: tuple(other for other in alike if other != word) for word in alike}
    return found


def shifted(rows: Reals, side: int) -> Iterator[Reals]:
    """Square pictures moved by each shift, with zeros where nothing was.

    >>> next(shifted(np.arange(4.0)[None], 2)).tolist()
    [[0.0, 0.0, 0.0, 2.0]]
    """
    pictures = rows.reshape(len(rows), side, side)
    for down, right in SHIFTS:
        padded = np.pad(pictures, ((0, 0), (side, side), (side, side)))
        moved = padded[:, side - down : 2 * side - down, side - right : 2 * side - right]
        yield moved.reshape(len(rows), -1)
