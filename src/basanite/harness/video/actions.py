"""The twelve actions, how often they were published to occur, and the moves they are drawn as (H-1, H-3).

An action is two moves one after the other. Eight of them form four pairs that are each other's reverse, so that whoever
counts moves without regard to their order confuses the two, and whoever looks at a longer stretch of time need not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import numpy as np

Part = Literal["train", "test"]
Move = Literal["left", "right", "up", "down", "grow", "shrink", "clockwise", "back"]

ACTIONS: Final[Mapping[str, tuple[Move, Move]]] = {
    "AnswerPhone": ("clockwise", "down"),
    "DriveCar": ("right", "up"),
    "Eat": ("down", "clockwise"),
    "FightPerson": ("clockwise", "back"),
    "GetOutCar": ("up", "right"),
    "HandShake": ("up", "down"),
    "HugPerson": ("left", "grow"),
    "Kiss": ("grow", "left"),
    "Run": ("right", "right"),
    "SitDown": ("shrink", "back"),
    "SitUp": ("shrink", "grow"),
    "StandUp": ("back", "shrink"),
}
"""In the order of the alphabet, which is the order of labels (A6)."""

REVERSED: Final = (("AnswerPhone", "Eat"), ("DriveCar", "GetOutCar"), ("HugPerson", "Kiss"), ("SitDown", "StandUp"))


class Published(NamedTuple):
    """What the published set holds of one part."""

    by_labels: tuple[int, int, int]
    """Clips with one, two and three labels."""
    by_action: tuple[int, ...]
    """Samples of every action, in the order of `ACTIONS`."""

    @property
    def clips(self) -> int:
        """How many clips there are."""
        return sum(self.by_labels)

    @property
    def samples(self) -> int:
        """How many labels there are."""
        return sum(self.by_action)


PUBLISHED: Final[Mapping[Part, Published]] = {
    "train": Published((750, 68, 5), (66, 85, 40, 54, 51, 32, 64, 114, 135, 104, 24, 132)),
    "test": Published((798, 84, 2), (64, 102, 33, 70, 57, 45, 66, 103, 141, 108, 37, 146)),
}


def planted(part: Part, clips: int, dice: np.random.Generator) -> list[tuple[int, ...]]:
    """The labels of every clip, so many with one, two and three labels, and each action as often, as published.

    Fewer clips than published keep the shares; every action occurs at least twice.

    >>> found = planted("train", 823, np.random.default_rng(0))
    >>> [sum(len(labels) == size for labels in found) for size in (1, 2, 3)]
    [750, 68, 5]
    """
    known = PUBLISHED[part]
    sizes = shares(known.by_labels, clips)
    left = np.array(shares(known.by_action, sizes[0] + 2 * sizes[1] + 3 * sizes[2], least=2))
    found = []
    for size in np.repeat([3, 2, 1], sizes[::-1]):
        labels = dice.choice(len(left), size, replace=False, p=left / left.sum())
        labels = labels if (left[labels] > 0).all() and (left > 0).sum() >= size else np.argsort(-left)[:size]
        left[labels] -= 1
        found.append(tuple(sorted(int(label) for label in labels)))
    return [found[place] for place in dice.permutation(len(found))]


def shares(parts: tuple[int, ...], total: int, *, least: int = 0) -> list[int]:
    """A total divided in these proportions by largest remainders; no part gets fewer than the least.

    >>> shares((2, 1, 1), 6), shares((97, 2, 1), 12, least=2)
    ([3, 2, 1], [8, 2, 2])
    """
    exact = [part * total / sum(parts) for part in parts]
    found = [int(share) for share in exact]
    for place in sorted(range(len(parts)), key=lambda place: found[place] - exact[place])[: total - sum(found)]:
        found[place] += 1
    for place, share in enumerate(found):
        found[place] = max(share, least)
    while sum(found) > total:
        found[int(np.argmax(found))] -= 1
    return found
