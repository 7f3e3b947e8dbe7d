"""From events to what there is: a pure fold, the same for every tab and after every reload (R-15).

To undo an event means that it never happened: what there is then follows from all other events, in their order. So
undoing the making of an object takes away all that was said of it, and doing it again brings all of it back; undoing a
removal brings back the object with its parts. An event that speaks of something that is not there is kept and changes
nothing, until an undo or redo brings that thing back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from basanite.annotation.config.model import Category, Config
from basanite.annotation.events.model import Event, Mention, Object, State, single_id
from basanite.annotation.events.shapes import shape_faults

MARKS: Final = frozenset({"undo", "redo", "done", "reopen"})
"""Events that change no object; they cannot be undone."""


def replay(config: Config, events: Iterable[Event]) -> State:
    """What events come to, in their order; an id that comes again is passed over."""
    log = Log(config)
    for event in events:
        log.take(event)
    return log.state()


@dataclass
class _Thing:
    """An object while events change it."""

    id: str
    category: Category
    parent: str
    fields: dict[str, str] = field(default_factory=dict)
    mentions: dict[str, dict[str, Mention]] = field(default_factory=dict)
    inferred: bool = False
    note: str = ""
    parts: dict[str, None] = field(default_factory=dict)

    def frozen(self) -> Object:
        """The object as it stands."""
        mentions = {slot: tuple(several.values()) for slot, several in self.mentions.items() if several}
        return Object(self.id, self.category.name, self.parent, dict(self.fields), mentions, self.inferred, self.note)


class Log:
    """Events taken in one after the other, and what they come to so far."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.events: dict[str, Event] = {}
        self.kinds: dict[str, str] = {}
        self.undone: set[str] = set()
        self.redoable: list[tuple[str, ...]] = []
        self.done = False
        self.made: dict[str, str] = {}
        self.fold = _Fold(config)
        self.stale = False
        """Whether something was undone or redone since all was gone through."""

    def take(self, event: Event) -> None:
        """Take in one event; after undo or redo everything is gone through again, once, when it is asked for."""
        if event.id in self.events or any(shape_faults(event)):
            return
        self.events[event.id] = event
        self.kinds[event.id] = event.kind
        if event.kind in ("undo", "redo"):
            self._turn(event)
        elif event.kind in MARKS:
            self.done = event.kind == "done"
        else:
            self.redoable.clear()
            if not self.stale:
                self.fold.take(event)
            if event.kind in ("create", "row.add"):
                self.made[event.data["object"]] = event.data["category"]

    def _turn(self, event: Event) -> None:
        """Undo or redo the events that one names, as far as they can be and are not already."""
        wanted = event.kind == "undo"
        turned = tuple(
            id_
            for id_ in dict.fromkeys(event.data["events"])
            if id_ in self.events and self.events[id_].kind not in MARKS and (id_ in self.undone) != wanted
        )
        if wanted:
            self.undone.update(turned)
            self.redoable += [turned] if turned else []
        else:
            self.undone.difference_update(turned)
            self._shorten(turned)
        self.stale = self.stale or bool(turned)

    def _shorten(self, turned: tuple[str, ...]) -> None:
        """Take what was done again off the list of what can be; mostly it is the last, and a long list stays quick."""
        if self.redoable and self.redoable[-1] == turned:
            self.redoable.pop()
        elif turned:
            left = (tuple(id_ for id_ in ids if id_ in self.undone) for ids in self.redoable)
            self.redoable = [ids for ids in left if ids]

    def _refresh(self) -> None:
        self.fold = _Fold(self.config)
        for event in self.events.values():
            if event.kind not in MARKS and event.id not in self.undone:
                self.fold.take(event)
        self.stale = False

    def state(self) -> State:
        """What there is now."""
        if self.stale:
            self._refresh()
        return State(
            {thing.id: thing.frozen() for thing in self.fold.things.values()},
            self.fold.note,
            self.done,
            frozenset(self.undone),
            dict(self.fold.idle),
            self._undoable(),
            self.redoable[-1] if self.redoable else (),
            dict(self.kinds),
            dict(self.made),
        )

    def _undoable(self) -> tuple[str, ...]:
        """The last group of events that had an effect and is not undone."""
        live = [one for one in self.events.values() if one.kind not in MARKS and one.id not in self.undone]
        last = next((one for one in reversed(live) if one.id not in self.fold.idle), None)
        return () if last is None else tuple(one.id for one in live if one.group == last.group)


class _Fold:
    """Objects while events change them."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.things: dict[str, _Thing] = {}
        self.idle: dict[str, str] = {}
        self.note = ""

    def take(self, event: Event) -> None:
        """Let one event change what there is; one that changes nothing is remembered with the reason."""
        reason = _WORK[event.kind](self, event)
        if reason:
            self.idle[event.id] = reason

    def thing(self, id_: str) -> _Thing | None:
        """The object of a name; a single is made as soon as it is spoken of."""
        found = self.things.get(id_)
        if found is not None or "/" not in id_:
            return found
        parent, _, name = id_.rpartition("/")
        category = self.config.categories.get(name)
        if category is None or not category.single or not self._lies(category, parent):
            return None
        return self._make(id_, category, parent)

    def _lies(self, category: Category, parent: str) -> bool:
        """Whether an object can lie there: in the document, or in an object of the right category."""
        above = self.thing(parent) if parent else None
        return category.parent == (above.category.name if above else "") and (above is not None or not parent)

    def _make(self, id_: str, category: Category, parent: str) -> _Thing:
        thing = self.things[id_] = _Thing(id_, category, parent)
        if parent:
            self.things[parent].parts[id_] = None
        return thing

    def create(self, event: Event) -> str:
        """Make an object."""
        id_, parent = event.data["object"], event.data["parent"]
        category = self.config.categories.get(event.data["category"])
        if category is None:
            return f"there is no category {event.data['category']}"
        if category.single != (id_ == single_id(parent, category.name)):
            return f"{id_} is no name for a {category.name}"
        if id_ in self.things:
            return f"{id_} is there already"
        if not self._lies(category, parent):
            return f"{parent or 'the document'} is not there, or has no {category.name}"
        self._make(id_, category, parent)
        return ""

    def remove(self, event: Event) -> str:
        """Take an object away, and all that lies in it."""
        thing = self.things.get(event.data["object"])
        if thing is None:
            return f"{event.data['object']} is not there"
        if thing.parent:
            del self.things[thing.parent].parts[thing.id]
        waiting = [thing]
        while waiting:
            gone = waiting.pop()
            del self.things[gone.id]
            waiting += [self.things[id_] for id_ in gone.parts]
        return ""

    def set(self, event: Event) -> str:
        """Fill in a field, or empty it."""
        thing, name = self.thing(event.data["object"]), event.data["field"]
        entry = thing.category.field(name) if thing else None
        if thing is None or entry is None or entry.kind == "span":
            return f"{event.data['object']} is not there, or has no field {name}"
        if event.data["value"]:
            thing.fields[name] = event.data["value"]
        else:
            thing.fields.pop(name, None)
        return ""

    def add_span(self, event: Event) -> str:
        """Mark words for a slot."""
        thing, name = self.thing(event.data["object"]), event.data["field"]
        slot = thing.category.field(name) if thing else None
        if thing is None or slot is None or slot.kind != "span":
            return f"{event.data['object']} is not there, or has no words for {name}"
        several = thing.mentions.setdefault(name, {})
        mention = Mention(event.id, tuple((start, end) for start, end in event.data["parts"]))
        if any(one.parts == mention.parts for one in several.values()):
            return "these words are marked already"
        several[event.id] = mention
        return ""

    def remove_span(self, event: Event) -> str:
        """Unmark words."""
        thing, name = self.things.get(event.data["object"]), event.data["field"]
        several = thing.mentions.get(name, {}) if thing else {}
        return "" if several.pop(event.data["mention"], None) else "these words are not marked"

    def infer(self, event: Event) -> str:
        """Tick or untick that an object is inferred."""
        thing = self.thing(event.data["object"])
        if thing is None or not thing.category.inferred:
            return f"{event.data['object']} is not there, or has no such box"
        thing.inferred = event.data["value"]
        return ""

    def write_note(self, event: Event) -> str:
        """Write a note for the document or an object."""
        if not event.data["object"]:
            self.note = event.data["text"]
            return ""
        thing = self.thing(event.data["object"])
        if thing is None:
            return f"{event.data['object']} is not there"
        thing.note = event.data["text"]
        return ""


_WORK: Final[dict[str, Callable[[_Fold, Event], str]]] = {
    "create": _Fold.create,
    "row.add": _Fold.create,
    "remove": _Fold.remove,
    "row.remove": _Fold.remove,
    "set": _Fold.set,
    "span.add": _Fold.add_span,
    "span.remove": _Fold.remove_span,
    "inferred": _Fold.infer,
    "note": _Fold.write_note,
}
