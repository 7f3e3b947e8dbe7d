"""Every change of an annotation is an event of a known shape; objects and mentions follow from them (R-15).

| kind | data |
|---|---|
| `create` | `object`, `category`, `parent` ("" for the document); perhaps `suggestion`, which it accepts |
| `remove` | `object`; what lies in it goes with it |
| `row.add`, `row.remove` | the same for rows of a table |
| `set` | `object`, `field`, `value` (text; "" empties the field) |
| `span.add` | `object`, `field` (the slot), `parts`: [[start, end], …] in code points, end excluded |
| `span.remove` | `object`, `field`, `mention`: the id of the event that added it |
| `inferred` | `object`, `value`: true or false |
| `note` | `object` ("" for the document), `text` |
| `dismiss` | `suggestion`: one that is refused |
| `undo`, `redo` | `events`: the ids of the events that are undone or done again |
| `done` | nothing, or `contradictions`: how many open ones the annotator has seen |
| `reopen` | nothing |

A single (a category that stands at most once in its place) needs no `create`: its object is called
`single_id(parent, category)` and is there as soon as something is said of it. Every event may carry a `group`: events
of one group (one press of a key) are undone together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

from basanite.problems import shortened
from basanite.registry import suggestion

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
    "dismiss",
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
    contradictions: int = 0
    """How many contradictions were left open when it was finished."""
    suggested: Mapping[str, str] = field(default_factory=dict)
    """Suggestions that were accepted, each with the object that it became."""
    dismissed: frozenset[str] = frozenset()
    """Suggestions that were refused."""
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


LONGEST_TEXT: Final = 10_000
"""Characters of a value or a note."""
MOST_PARTS: Final = 100
MOST_UNDONE: Final = 5_000
"""Events that one undo or redo names."""
MOST_OBJECTS: Final = 20_000
MOST_EVENTS: Final = 200_000
LARGEST_PLACE: Final = 2**31

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:\-]{0,63}")
_OBJECT: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_.:\-]{0,63})?(?:/[^\W\d][\w\-]{0,63}){0,16}")
_WORD: Final = re.compile(r"[^\W\d][\w\-]{0,63}")


@dataclass(frozen=True)
class Fault:
    """What is wrong with an event, and what to send instead."""

    message: str
    fix: str
    found: str = ""


def is_object_id(value: object) -> bool:
    """Whether a value can be the name of an object; those of singles are paths such as `t1/Score`."""
    return isinstance(value, str) and value != "" and _OBJECT.fullmatch(value) is not None


def is_id(value: object) -> bool:
    """Whether a value can be the id of an event, a group, or an object that a client names."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_parts(value: object) -> bool:
    """Whether a value is a list of pieces in their order that do not touch each other.

    >>> is_parts([[0, 4], [9, 13]]), is_parts([[4, 0]]), is_parts([[0, 4], [3, 5]])
    (True, False, False)
    """
    if not isinstance(value, list | tuple) or not 0 < len(value) <= MOST_PARTS:
        return False
    if not all(isinstance(part, list | tuple) and len(part) == 2 and all(map(_place, part)) for part in value):
        return False
    return all(start < end for start, end in value) and all(a[1] < b[0] for a, b in pairwise(value))


def _place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_PLACE


def _text(value: object) -> bool:
    """Whether it is Unicode text of a bounded length: half of a surrogate pair is none, and could not be stored."""
    return (
        isinstance(value, str)
        and len(value) <= LONGEST_TEXT
        and "\0" not in value
        and (value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value))
    )


def _word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _truth(value: object) -> bool:
    return isinstance(value, bool)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_PLACE


def _parent(value: object) -> bool:
    return value == "" or is_object_id(value)


def _ids(value: object) -> bool:
    return isinstance(value, list | tuple) and 0 < len(value) <= MOST_UNDONE and all(map(is_id, value))


Test = Callable[[object], bool]
_OBJECT_KEY: Final[tuple[Test, str]] = (is_object_id, "the id of an object")
_NEW: Final[Mapping[str, tuple[Test, str]]] = {
    "object": _OBJECT_KEY,
    "category": (_word, "the name of a category"),
    "parent": (_parent, 'the id of the object that it lies in, or ""'),
}
_SLOT: Final[tuple[Test, str]] = (_word, "the name of a field")
SHAPES: Final[Mapping[str, Mapping[str, tuple[Test, str]]]] = {
    "create": _NEW,
    "row.add": _NEW,
    "remove": {"object": _OBJECT_KEY},
    "row.remove": {"object": _OBJECT_KEY},
    "set": {
        "object": _OBJECT_KEY,
        "field": _SLOT,
        "value": (_text, f"a text of at most {LONGEST_TEXT} characters"),
    },
    "span.add": {
        "object": _OBJECT_KEY,
        "field": _SLOT,
        "parts": (is_parts, f"1 to {MOST_PARTS} pairs [start, end] of code points, in order and apart"),
    },
    "span.remove": {
        "object": _OBJECT_KEY,
        "field": _SLOT,
        "mention": (is_id, "the id of the event that added the words"),
    },
    "inferred": {"object": _OBJECT_KEY, "value": (_truth, "true or false")},
    "note": {
        "object": (_parent, 'the id of an object, or "" for the document'),
        "text": (_text, f"a text of at most {LONGEST_TEXT} characters"),
    },
    "dismiss": {"suggestion": (is_id, "the id of a suggestion")},
    "undo": {"events": (_ids, f"a list of 1 to {MOST_UNDONE} ids of events")},
    "redo": {"events": (_ids, f"a list of 1 to {MOST_UNDONE} ids of events")},
    "done": {},
    "reopen": {},
}
_ACCEPTED: Final[Mapping[str, tuple[Test, str]]] = {"suggestion": (is_id, "the id of the suggestion that it accepts")}
OPTIONAL: Final[Mapping[str, Mapping[str, tuple[Test, str]]]] = {
    "create": _ACCEPTED,
    "row.add": _ACCEPTED,
    "done": {"contradictions": (_count, "the number of open contradictions that you have seen")},
}
"""Keys that an event may leave out."""


def shape_faults(event: Event) -> Iterator[Fault]:
    """What is wrong with an event before anything else is known: its id, its kind, its keys, their sizes."""
    if not is_id(event.id):
        yield Fault(
            "the id is not valid", "give 1 to 64 letters, digits, '-', '_', '.' or ':'", shortened(str(event.id))
        )
    shape = SHAPES.get(event.kind) if isinstance(event.kind, str) else None
    if shape is None:
        yield Fault(f"there is no kind {str(event.kind)[:40]!r}", suggestion(str(event.kind)[:40], EVENT_KINDS))
        return
    data: object = event.data
    if not isinstance(data, Mapping):
        yield Fault("the data are not an object", 'send {"object": …}')
        return
    yield from _key_faults(event, shape)


def _key_faults(event: Event, shape: Mapping[str, tuple[Test, str]]) -> Iterator[Fault]:
    data: Mapping[str, Any] = event.data
    more = OPTIONAL.get(event.kind, {})
    for key in sorted(str(key)[:40] for key in data if key not in {*shape, *more, "group"}):
        yield Fault(f"{event.kind} has no {key!r}", suggestion(key, [*shape, *more, "group"]))
    for key, (test, wanted) in more.items():
        if key in data and not test(data[key]):
            yield Fault(f"{event.kind}: {key!r} is wrong", f"send {wanted}", shortened(repr(data[key])))
    if "group" in data and not is_id(data["group"]):
        yield Fault("the group is not an id", "give 1 to 64 letters, digits or '-'", shortened(repr(data["group"])))
    for key, (test, wanted) in shape.items():
        if key not in data or not test(data[key]):
            yield Fault(f"{event.kind}: {key!r} is missing or wrong", f"send {wanted}", shortened(repr(data.get(key))))
