"""What travels between formats: a text, the objects marked in it, and a list of all that was left behind (P-32)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from basanite.annotation.events import Mention, Object
from basanite.formats.foreign.losses import KEEP_IT
from basanite.formats.foreign.losses import RULE as RULE  # said in one way by all formats
from basanite.formats.foreign.losses import Losses as Losses
from basanite.problems import Findings, Problem, shortened

MENTION: Final = "mention"
LARGEST: Final = 64 * 2**20
"""Bytes of one file that is read."""
MOST_FILES: Final = 20_000
MOST_OBJECTS: Final = 20_000
MOST_TEXTS: Final = 20_000


@dataclass(frozen=True)
class Link:
    """One object points to another."""

    kind: str
    source: str
    target: str


@dataclass(frozen=True)
class Annotated:
    """A text with what one annotator marked in it."""

    document: str
    text: str
    objects: tuple[Object, ...] = ()
    links: tuple[Link, ...] = ()
    annotator: str = ""
    note: str = ""

    @cached_property
    def by_id(self) -> Mapping[str, Object]:
        """The objects by their ids."""
        return {one.id: one for one in self.objects}


@dataclass(frozen=True)
class Place:
    """Where the problems of one file go."""

    file: str
    findings: Findings

    def fault(self, line: int | None, message: str, fix: str, found: str = "") -> None:
        """Something cannot be read."""
        self.findings.add(Problem(RULE, self.file, line, None, message, fix, shortened(found), where="reference"))

    def lost(self, line: int | None, message: str, found: str = "") -> None:
        """Something can be read, but not kept."""
        self.findings.add(
            Problem(RULE, self.file, line, None, f"not kept: {message}", KEEP_IT, shortened(found), severity="warn")
        )


def in_order(objects: Iterable[Object]) -> tuple[Object, ...]:
    """Objects by where their words stand, parents before their parts."""
    several = {one.id: one for one in objects}
    depth = {id_: _depth(id_, several) for id_ in several}
    return tuple(sorted(several.values(), key=lambda one: (depth[one.id], first_place(one), one.category, one.id)))


def first_place(one: Object) -> tuple[int, int]:
    """Where an object's words begin and end; objects without words come first.

    >>> first_place(Object("a", "Team", mentions={"mention": (Mention("m", ((4, 8),)),)}))
    (4, 8)
    """
    parts = [part for several in one.mentions.values() for mention in several for part in mention.parts]
    return min(parts, default=(-1, -1))


def mentions_of(one: Object) -> list[tuple[str, Mention]]:
    """All words of an object with their slot, the own mention first."""
    slots = sorted(one.mentions, key=lambda slot: (slot != MENTION, slot))
    return [(slot, mention) for slot in slots for mention in one.mentions[slot]]


def by_slot(pairs: Iterable[tuple[str, Mention]]) -> Mapping[str, tuple[Mention, ...]]:
    """Words by slot."""
    found: dict[str, list[Mention]] = {}
    for slot, mention in pairs:
        found.setdefault(slot, []).append(mention)
    return {slot: tuple(several) for slot, several in found.items()}


def spelled(one: Annotated) -> tuple[object, ...]:
    """An annotation without the names of its objects, to tell whether two say the same."""
    paths = {thing.id: _path(thing, one) for thing in one.objects}
    links = sorted((link.kind, paths.get(link.source, ""), paths.get(link.target, "")) for link in one.links)
    return one.document, one.text, tuple(sorted(paths.values())), tuple(links), one.note


def check_parts(parts: Sequence[tuple[int, int]], length: int) -> bool:
    """Whether pieces lie in the text, in their order and apart."""
    places = [place for part in parts for place in part]
    rising = all(start < end for start, end in parts) and places == sorted(places)
    return bool(parts) and rising and places[0] >= 0 and places[-1] <= length


def joined(parts: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Pieces in their order; such as touch or overlap become one.

    >>> joined([(5, 9), (0, 3), (3, 4)])
    ((0, 4), (5, 9))
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def _depth(id_: str, several: Mapping[str, Object]) -> int:
    depth, seen = 0, {id_}
    while (parent := several[id_].parent) in several and parent not in seen:
        seen.add(parent)
        id_, depth = parent, depth + 1
    return depth


def _path(thing: Object, one: Annotated, deep: int = 0) -> str:
    parent = one.by_id.get(thing.parent) if deep < 20 else None
    mentions = sorted((slot, mention.parts) for slot, mention in mentions_of(thing))
    own = repr((thing.category, sorted(thing.fields.items()), mentions, thing.inferred, thing.note))
    return own if parent is None else f"{_path(parent, one, deep + 1)}/{own}"
