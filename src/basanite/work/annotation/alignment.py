"""Several annotations of one text side by side: which objects are meant to be the same, and where they differ (R-15).

Objects are paired within their category and inside of what they lie in, one to one and as well as all together can be:
first by the words they mark, then by what is filled in. What has no partner stands alone; nothing is lost because
something else stands at the same words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from basanite.metrics.matching import best_matching
from basanite.work.annotation.config import Config
from basanite.work.annotation.events import Object, State

SAME_WORDS: Final = 100.0
LEAST: Final = 1e-6
"""A pair that has nothing in common is none, unless neither of the two has words or values to compare."""
Slots = frozenset[tuple[str, tuple[tuple[int, int], ...]]]


@dataclass(frozen=True)
class Aligned:
    """Objects of several annotators that are meant to be the same one; None where an annotator has none."""

    key: str
    """What this is called in decisions: a digest of the objects."""
    category: str
    parent: str
    """The key of what it lies in; nothing for what lies in the text itself."""
    sides: tuple[Object | None, ...]
    differs: tuple[str, ...] = ()
    """What is not the same: `there`, names of fields, names of slots, `inferred`, `note`."""

    @property
    def unanimous(self) -> bool:
        """Whether all annotators say the same."""
        return not self.differs


def align(config: Config, states: Sequence[State]) -> tuple[Aligned, ...]:
    """All objects of some annotations of one text, in the order of the configuration; parents before their parts."""
    return tuple(_Aligner(config, states).all())


def slots_of(one: Object) -> Slots:
    """The words of an object by slot, whatever their order."""
    return frozenset((slot, mention.parts) for slot, several in one.mentions.items() for mention in several)


def likeness(one: Object, other: Object) -> float:
    """How much two objects have in common: the same words, then words in common, then equal values.

    >>> likeness(Object("a", "Team", fields={"name": "Jets"}), Object("b", "Team", fields={"name": "Jets"}))
    1.0
    """
    mine, theirs = slots_of(one), slots_of(other)
    exact = len(mine & theirs)
    shared = _shared_words(mine, theirs) if mine and theirs and exact < len(mine | theirs) else 0.0
    keys = one.fields.keys() | other.fields.keys()
    equal = sum(one.fields.get(key) == other.fields.get(key) for key in keys) / len(keys) if keys else 0.0
    return SAME_WORDS * exact + 10 * shared + equal


def _shared_words(mine: Slots, theirs: Slots) -> float:
    """Characters that both mark over those that any of them marks."""
    pieces = [(slot, part) for slot, parts in mine for part in parts]
    others = [(slot, part) for slot, parts in theirs for part in parts]
    both = sum(
        max(min(part[1], other[1]) - max(part[0], other[0]), 0)
        for slot, part in pieces
        for again, other in others
        if slot == again
    )
    total = sum(part[1] - part[0] for _, part in (*pieces, *others))
    return both / (total - both) if total > both else 0.0


Content = frozenset[tuple[object, ...]]


@dataclass
class _Group:
    """Objects that were found to belong together, by the number of their annotator, and all that lies in them."""

    sides: dict[int, Object] = field(default_factory=dict)
    inside: list[Content] = field(default_factory=list)

    def likeness(self, other: Object, inside: Content) -> float:
        """The best of what one has in common with any, what lies in them included."""
        own = max(likeness(one, other) for one in self.sides.values())
        return own + 5 * max(_share(content, inside) for content in self.inside)


def _share(one: Content, other: Content) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


class _Aligner:
    """Annotations on their way to be put side by side."""

    def __init__(self, config: Config, states: Sequence[State]) -> None:
        self.config, self.states = config, states
        self.names: list[dict[str, str]] = [{} for _ in states]
        """Of each annotator, the key that an object was put under."""

    def all(self) -> Iterator[Aligned]:
        """Everything, from the text itself downwards."""
        found = list(self._inside("", dict.fromkeys(range(len(self.states)), ""), ""))
        for key, category, parent, group in found:
            sides = tuple(group.sides.get(at) for at in range(len(self.states)))
            yield Aligned(key, category, parent, sides, tuple(self._differs(sides)))

    def _inside(self, category: str, parents: Mapping[int, str], key: str) -> Iterator[tuple[str, str, str, _Group]]:
        for part in self.config.parts.get(category, ()):
            for group in self._groups(part.name, parents):
                name = _key(part.name, key, group)
                for at, one in group.sides.items():
                    self.names[at][one.id] = name
                yield name, part.name, key, group
                yield from self._inside(part.name, {at: one.id for at, one in group.sides.items()}, name)

    def _groups(self, category: str, parents: Mapping[int, str]) -> list[_Group]:
        groups: list[_Group] = []
        single = self.config.categories[category].single
        for at, parent in parents.items():
            objects = self.states[at].children(parent, category)
            inside = [self._content(at, one) for one in objects]
            # What stands once in its place is the same thing, whatever is said of it.
            pairs = {0: 0} if single and groups and objects else _pairs(groups, objects, inside)
            for place, (one, content) in enumerate(zip(objects, inside, strict=True)):
                group = groups[pairs[place]] if place in pairs else _Group()
                if place not in pairs:
                    groups.append(group)
                group.sides[at] = one
                group.inside.append(content)
        return sorted(groups, key=_place)

    def _content(self, at: int, one: Object) -> Content:
        """Everything that lies in an object: words and values, wherever."""
        found: set[tuple[object, ...]] = set()
        waiting = list(self.states[at].by_parent.get(one.id, ()))
        while waiting:
            part = waiting.pop()
            found.update((part.category, *slot) for slot in slots_of(part))
            found.update((part.category, *entry) for entry in part.fields.items())
            waiting += self.states[at].by_parent.get(part.id, ())
        return frozenset(found)

    def _differs(self, sides: Sequence[Object | None]) -> Iterator[str]:
        there = [one for one in sides if one is not None]
        if len(there) < len(sides):
            yield "there"
        names = dict.fromkeys(name for one in there for name in one.fields)
        yield from (
            name
            for name in names
            if len({self._value(at, one, name) for at, one in enumerate(sides) if one is not None}) > 1
        )
        slots = dict.fromkeys(slot for one in there for slot in one.mentions)
        yield from (slot for slot in slots if len({_words(one, slot) for one in there}) > 1)
        if len({one.inferred for one in there}) > 1:
            yield "inferred"

    def _value(self, at: int, one: Object, name: str) -> str | None:
        """A value; a pointer by what it points to, for every annotator has names of their own."""
        value = one.fields.get(name)
        return None if value is None else self.names[at].get(value, value)


def _words(one: Object, slot: str) -> frozenset[tuple[tuple[int, int], ...]]:
    return frozenset(mention.parts for mention in one.mentions.get(slot, ()))


def _pairs(groups: Sequence[_Group], objects: Sequence[Object], inside: Sequence[Content]) -> dict[int, int]:
    """Which object goes to which group: such as say the same at once, of the others the best pairs together."""
    pairs = _alike(groups, objects, inside)
    left = [at for at in range(len(groups)) if at not in pairs.values()]
    right = [at for at in range(len(objects)) if at not in pairs]
    return {**pairs, **_best_pairs(groups, objects, inside, left, right)}


def _alike(groups: Sequence[_Group], objects: Sequence[Object], inside: Sequence[Content]) -> dict[int, int]:
    """Pairs that say exactly the same of the same words: there is nothing to weigh, however many there are."""
    waiting: dict[tuple[object, ...], list[int]] = {}
    for at, group in enumerate(groups):
        for one, content in zip(group.sides.values(), group.inside, strict=True):
            waiting.setdefault(_signature(one, content), []).append(at)
    pairs: dict[int, int] = {}
    for place, (one, content) in enumerate(zip(objects, inside, strict=True)):
        same = [at for at in waiting.get(_signature(one, content), ()) if at not in pairs.values()]
        if same and one.mentions:
            pairs[place] = same[0]
    return pairs


def _signature(one: Object, inside: Content) -> tuple[object, ...]:
    return slots_of(one), frozenset(one.fields.items()), inside


def _best_pairs(
    groups: Sequence[_Group],
    objects: Sequence[Object],
    inside: Sequence[Content],
    left: Sequence[int],
    right: Sequence[int],
) -> dict[int, int]:
    if not left or not right:
        return {}
    table = np.array([[groups[row].likeness(objects[at], inside[at]) for at in right] for row in left])
    # Of equally good pairs the earlier ones: nobody should depend on a solver's taste.
    tilt = np.abs(np.subtract.outer(np.arange(len(left)), np.arange(len(right)))) * 1e-9
    pairs = zip(*(places.tolist() for places in best_matching(table - tilt)), strict=True)
    return {
        right[column]: left[row]
        for row, column in pairs
        if table[row, column] > LEAST
        # Frames without words or values of their own can only be distinguished by their order.
        or (objects[right[column]].empty or any(other.empty for other in groups[left[row]].sides.values()))
    }


def _place(group: _Group) -> tuple[int, int, str]:
    parts = [part for one in group.sides.values() for _, mention in slots_of(one) for part in mention]
    return (*min(parts, default=(-1, -1)), min(one.id for one in group.sides.values()))


def _key(category: str, parent: str, group: _Group) -> str:
    sides = [[at, one.id] for at, one in sorted(group.sides.items())]
    return hashlib.sha256(json.dumps([category, parent, sides]).encode()).hexdigest()[:24]
