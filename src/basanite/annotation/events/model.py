"""Events and what they add up to: plain values that every tab, every server and every replay sees alike (R-15).

| kind | data |
|---|---|
| `create` | `object`, `category`, `parent` ("" for the document) |
| `remove` | `object`; what lies in it goes with it |
| `row.add`, `row.remove` | the same for rows of a table |
| `set` | `object`, `field`, `value` (text; "" empties the field) |
| `span.add` | `object`, `field` (the slot), `parts`: [[start, end], …] in code points, end excluded |
| `span.remove` | `object`, `field`, `mention`: the id of the event that added it |
| `inferred` | `object`, `value`: true or false |
| `note` | `object` ("" for the document), `text` |
| `undo`, `redo` | `events`: the ids of the events that are undone or done again |
| `done`, `reopen` | nothing |

A single (a category that stands at most once in its place) needs no `create`: its object is called
`single_id(parent, category)` and is there as soon as something is said of it. Every event may carry a `group`: events
of one group (one press of a key) are undone together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, get_args

EventKind = Literal[
    "create",
    "remove",
    "row.add",
    "row.remove",
    "set",
    "span.add",
    "span.remove",
    "inferred",
    "note",
    "undo",
    "redo",
    "done",
    "reopen",
]
EVENT_KINDS: Final = get_args(EventKind)
Part: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Event:
    """One change, by the id that the client gave it; a second event of the same id is the same event."""

    id: str
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """What it is undone together with; an event without a group stands for itself."""
        group = self.data.get("group")
        return group if isinstance(group, str) and group else self.id

    def as_dict(self) -> dict[str, Any]:
        """The object that is stored and sent."""
        return {"id": self.id, "kind": self.kind, "data": dict(self.data)}


@dataclass(frozen=True)
class Mention:
    """Words of the text, perhaps in several pieces; known by the id of the event that added it."""

    id: str
    parts: tuple[Part, ...]

    def words(self, text: str) -> str:
        """The words themselves, pieces apart by a blank.

        >>> Mention("e1", ((0, 3), (9, 13))).words("The tall Jets")
        'The Jets'
        """
        return " ".join(text[start:end] for start, end in self.parts)


@dataclass(frozen=True)
class Object:
    """Something that an annotator made, as it stands now."""

    id: str
    category: str
    parent: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    mentions: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    inferred: bool = False
    note: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing is said of it."""
        return not (self.fields or self.mentions or self.inferred)

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {
            "id": self.id,
            "category": self.category,
            "parent": self.parent,
            "fields": dict(self.fields),
            "mentions": {
                slot: [{"id": one.id, "parts": [list(part) for part in one.parts]} for one in several]
                for slot, several in self.mentions.items()
            },
            "inferred": self.inferred,
            "note": self.note,
        }


@dataclass(frozen=True)
class State:
    """What all events together come to."""

    objects: Mapping[str, Object] = field(default_factory=dict)
    """In the order in which they were made; parents stand before their parts."""
    note: str = ""
    done: bool = False
    undone: frozenset[str] = frozenset()
    """Events that are undone now."""
    idle: Mapping[str, str] = field(default_factory=dict)
    """Events that change nothing, and why: they speak of something that is not there (any more)."""
    undo: tuple[str, ...] = ()
    """What the next undo would undo."""
    redo: tuple[str, ...] = ()
    """What the next redo would do again."""
    seen: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Every event there was, with its kind."""
    made: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Every object that was ever made, removed ones among them, with its category."""

    @cached_property
    def by_parent(self) -> Mapping[str, tuple[Object, ...]]:
        """The objects that lie in each, in their order."""
        found: dict[str, list[Object]] = {}
        for one in self.objects.values():
            found.setdefault(one.parent, []).append(one)
        return {parent: tuple(several) for parent, several in found.items()}

    def children(self, parent: str, category: str = "") -> tuple[Object, ...]:
        """The objects that lie in one, perhaps those of one category; "" is the document."""
        several = self.by_parent.get(parent, ())
        return tuple(one for one in several if one.category == category) if category else several

    def of(self, category: str) -> tuple[Object, ...]:
        """All objects of a category."""
        return tuple(one for one in self.objects.values() if one.category == category)

    def upwards(self, id_: str) -> Iterator[Object]:
        """An object and those that it lies in, the innermost first."""
        while id_ in self.objects:
            yield self.objects[id_]
            id_ = self.objects[id_].parent

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {
            "objects": [one.as_dict() for one in self.objects.values()],
            "note": self.note,
            "done": self.done,
            "undo": list(self.undo),
            "redo": list(self.redo),
            "idle": dict(self.idle),
        }


def single_id(parent: str, category: str) -> str:
    """The name of the one object of a category in its place.

    >>> single_id("t1", "Score"), single_id("", "Weather")
    ('t1/Score', '/Weather')
    """
    return f"{parent}/{category}"
