"""What the data of each kind of event looks like, and how large it may be: strangers send events (X-8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from basanite.annotation.events.model import EVENT_KINDS, Event
from basanite.problems import shortened
from basanite.registry import suggestion

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
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and "\0" not in value and _encodable(value)


def _encodable(value: str) -> bool:
    """Whether it is Unicode text: half of a surrogate pair is none, and could not be stored."""
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)


def _word(value: object) -> bool:
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


def _truth(value: object) -> bool:
    return isinstance(value, bool)


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
    "undo": {"events": (_ids, f"a list of 1 to {MOST_UNDONE} ids of events")},
    "redo": {"events": (_ids, f"a list of 1 to {MOST_UNDONE} ids of events")},
    "done": {},
    "reopen": {},
}


def shape_faults(event: Event) -> Iterator[Fault]:
    """What is wrong with an event before anything else is known: its id, its kind, its keys, their sizes."""
    if not is_id(event.id):
        yield Fault("the id is none", "give 1 to 64 letters, digits, '-', '_', '.' or ':'", shortened(str(event.id)))
    shape = SHAPES.get(event.kind) if isinstance(event.kind, str) else None
    if shape is None:
        yield Fault(f"there is no kind {str(event.kind)[:40]!r}", suggestion(str(event.kind)[:40], EVENT_KINDS))
        return
    data: object = event.data
    if not isinstance(data, Mapping):
        yield Fault("the data are no object", 'send {"object": …}')
        return
    yield from _key_faults(event, shape)


def _key_faults(event: Event, shape: Mapping[str, tuple[Test, str]]) -> Iterator[Fault]:
    data: Mapping[str, Any] = event.data
    for key in sorted(str(key)[:40] for key in data if key not in shape and key != "group"):
        yield Fault(f"{event.kind} has no {key!r}", suggestion(key, [*shape, "group"]))
    if "group" in data and not is_id(data["group"]):
        yield Fault("the group is no id", "give 1 to 64 letters, digits or '-'", shortened(repr(data["group"])))
    for key, (test, wanted) in shape.items():
        if key not in data or not test(data[key]):
            yield Fault(f"{event.kind}: {key!r} is missing or wrong", f"send {wanted}", shortened(repr(data.get(key))))
