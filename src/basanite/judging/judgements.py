"""What judges said, as values: the beginning of everything that combines, measures or pays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from basanite.judging.schemes.model import JUDGE


@dataclass(frozen=True)
class Judgement:
    """One judge's answers about one item. The judge is known by a number that tells nothing (P-21)."""

    item: str
    judge: str
    answers: Mapping[str, Any]
    group: str = JUDGE
    round: int = 1
    position: int = 1
    seconds: float = 0.0
    flags: tuple[str, ...] = ()
    flipped: bool = False
    """In pairwise judging: the item's second text stood on the left."""


@dataclass(frozen=True)
class Ranking:
    """The items of one round in the order that a judge put them in, the best first."""

    judge: str
    round: int
    order: tuple[str, ...]


@dataclass(frozen=True)
class Decision:
    """What an adjudicator decided about an item; no answers are "none of these"."""

    item: str
    answers: Mapping[str, Any] | None
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """Everything that was said in a panel, to be combined into files."""

    judgements: Sequence[Judgement]
    rankings: Sequence[Ranking] = ()
    decisions: Sequence[Decision] = ()
    criteria: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What each expert went by, in the expert's own words."""


def by_item(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Judgements of each item, in the order of judges."""
    found: dict[str, list[Judgement]] = {}
    for each in sorted(judgements, key=lambda each: (each.item, each.judge)):
        found.setdefault(each.item, []).append(each)
    return found
