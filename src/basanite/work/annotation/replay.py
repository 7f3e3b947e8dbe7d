"""From events to the state of an annotation, in the server's order; each is checked on its way in (R-15).

To undo an event means that it never happened: what there is then follows from all other events, in their order. So
undoing the making of an object takes away all that was said of it, and doing it again brings all of it back; undoing a
removal brings back the object with its parts. An event that speaks of something that is not there is kept and changes
nothing, until an undo or redo brings that thing back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from basanite.problems import Problem
from basanite.registry import suggestion
from basanite.work.annotation.config.model import Category, Config
from basanite.work.annotation.events import (
    MOST_EVENTS,
    MOST_OBJECTS,
    Event,
    Fault,
    Mention,
    Object,
    State,
    is_id,
    shape_faults,
    single_id,
)

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
    kept: Object | None = None
    """The object as it stood when it was last asked for; none once it was touched."""

    def frozen(self) -> Object:
        """The object as it stands; the same one as before if nothing has touched it."""
        self.kept = self.kept or self._frozen()
        return self.kept

    def _frozen(self) -> Object:
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
        self.contradictions = 0
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
            self.contradictions = event.data.get("contradictions", 0) if self.done else 0
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
        live = [one for one in self.events.values() if one.kind not in MARKS and one.id not in self.undone]
        last = next((one for one in reversed(live) if one.id not in self.fold.idle), None)
        undoable = () if last is None else tuple(one.id for one in live if one.group == last.group)
        return State(
            {thing.id: thing.frozen() for thing in self.fold.things.values()},
            self.fold.note,
            self.done,
            self.contradictions,
            dict(self.fold.suggested),
            frozenset(self.fold.dismissed),
            frozenset(self.undone),
            dict(self.fold.idle),
            undoable,
            self.redoable[-1] if self.redoable else (),
            dict(self.kinds),
            dict(self.made),
        )


class _Fold:
    """Objects while events change them."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.things: dict[str, _Thing] = {}
        self.idle: dict[str, str] = {}
        self.suggested: dict[str, str] = {}
        self.dismissed: set[str] = set()
        self.note = ""

    def take(self, event: Event) -> None:
        """Let one event change what there is; one that changes nothing is remembered with the reason."""
        reason = _WORK[event.kind](self, event)
        if reason:
            self.idle[event.id] = reason

    def thing(self, id_: str) -> _Thing | None:
        """The object of a name, which is about to change; a single is made as soon as it is spoken of."""
        found = self.things.get(id_)
        if found is not None:
            found.kept = None
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
            return f"{id_} is not a name for a {category.name}"
        if id_ in self.things:
            return f"{id_} already exists"
        if not self._lies(category, parent):
            return f"{parent or 'the document'} is not there, or has no {category.name}"
        self._make(id_, category, parent)
        if "suggestion" in event.data:
            self.suggested[event.data["suggestion"]] = id_
        return ""

    def dismiss(self, event: Event) -> str:
        """Refuse a suggestion."""
        self.dismissed.add(event.data["suggestion"])
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
        if thing is not None:
            thing.kept = None
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
    "dismiss": _Fold.dismiss,
}


RULE = "R-15"


@dataclass(frozen=True)
class Received:
    """What became of some events: the state after them, those taken, those known already, and problems of the rest."""

    state: State
    accepted: tuple[Event, ...] = ()
    known: tuple[str, ...] = ()
    refused: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)


def event_of(data: object) -> Event:
    """The event of an object as it was sent; whatever is wrong with it, `check` says."""
    found: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    return Event(str(found.get("id", ""))[:100], str(found.get("kind", ""))[:100], found.get("data", {}))


def check(config: Config, state: State, event: Event, *, length: int | None = None) -> tuple[Problem, ...]:
    """What is wrong with an event that would come next; `length` is that of the document's text."""
    return _event_problems(_Check(config, state.made, state.seen, length), event)


def receive(config: Config, before: Iterable[Event], new: Iterable[Event], *, length: int | None = None) -> Received:
    """Take new events in after others, each checked against all before it; ids that are known are passed over."""
    log = Log(config)
    for event in before:
        log.take(event)
    return receive_into(log, new, length=length)


def receive_into(log: Log, new: Iterable[Event], *, length: int | None = None) -> Received:
    """The same for a log that holds the events before already; it holds the new ones afterwards."""
    accepted, known, refused = list[Event](), list[str](), dict[str, tuple[Problem, ...]]()
    for event in new:
        problems = _event_problems(_Check(log.config, log.made, log.kinds, length), event)
        if event.id in log.events:
            known.append(event.id)
        elif problems:
            refused[event.id] = problems
        else:
            log.take(event)
            accepted.append(event)
    return Received(log.state(), tuple(accepted), tuple(known), refused)


def _event_problems(checker: _Check, event: Event) -> tuple[Problem, ...]:
    faults = list(shape_faults(event)) or list(checker.faults(event))
    return tuple(
        Problem(RULE, f"event {event.id[:64]}", None, None, fault.message, fault.fix, fault.found) for fault in faults
    )


@dataclass(frozen=True)
class _Check:
    """What an event is compared with: the configuration, and all that was ever made."""

    config: Config
    made: Mapping[str, str]
    seen: Mapping[str, str]
    length: int | None

    def faults(self, event: Event) -> Iterator[Fault]:
        """What is wrong with a well-formed event."""
        if len(self.seen) >= MOST_EVENTS:
            yield Fault(f"there are {MOST_EVENTS} events", "finish this document; no more are taken")
        if event.kind in ("undo", "redo"):
            yield from self._turns(event)
        elif event.kind in ("create", "row.add"):
            yield from self._new(event)
        elif event.data.get("object"):
            yield from self._object_faults(event)

    def category(self, id_: str) -> Category | None:
        """The category of an object that is or was there; singles are where they may be."""
        if id_ in self.made:
            return self.config.categories.get(self.made[id_])
        parent, slash, name = id_.rpartition("/")
        found = self.config.categories.get(name) if slash else None
        if found is None or not found.single:
            return None
        above = self.category(parent) if parent else None
        return found if found.parent == (above.name if above else "") and (above or not parent) else None

    def _turns(self, event: Event) -> Iterator[Fault]:
        for id_ in event.data["events"]:
            if id_ not in self.seen:
                yield Fault(f"there is no event {id_}", f"{event.kind} events of this document", id_)
            elif self.seen[id_] in MARKS:
                yield Fault(
                    f"{self.seen[id_]} cannot be undone", "undo changes; send redo, done or reopen instead", id_
                )

    def _new(self, event: Event) -> Iterator[Fault]:
        id_, name, parent = event.data["object"], event.data["category"], event.data["parent"]
        category = self.config.categories.get(name)
        if category is None:
            yield Fault(f"there is no category {name}", suggestion(name, tuple(self.config.categories)), name)
            return
        if category.table != (event.kind == "row.add"):
            yield Fault(f"{event.kind} does not make a {name}", "send row.add for rows of a table, create for others")
        if len(self.made) >= MOST_OBJECTS:
            yield Fault(f"{MOST_OBJECTS} objects were made", "finish this document; no more are taken")
        if category.single and id_ != single_id(parent, name):
            yield Fault(f"{id_} is not a name for a {name}", f"it stands once: call it {single_id(parent, name)}", id_)
        elif not category.single and not is_id(id_):
            yield Fault(f"{id_} is not a name for a {name}", "give it letters, digits and '-'", id_)
        yield from self._place(category, parent)

    def _place(self, category: Category, parent: str) -> Iterator[Fault]:
        above = self.category(parent) if parent else None
        if parent and above is None:
            yield Fault(f"there is no object {parent}", "make it first", parent)
        elif category.parent != (above.name if above else ""):
            where = f"a {category.parent}" if category.parent else "the document itself"
            yield Fault(f"a {category.name} does not lie there", f"put it into {where}", parent)

    def _object_faults(self, event: Event) -> Iterator[Fault]:
        category = self.category(event.data["object"])
        if category is None:
            yield Fault(f"there is no object {event.data['object']}", "make it first", event.data["object"])
            return
        if "field" in event.data:
            yield from self._slot(event, category)
        if event.kind == "inferred" and not category.inferred:
            yield Fault(f"a {category.name} has no box for inferred", "write inferred: true in its category")
        if event.kind in ("remove", "row.remove") and category.table != (event.kind == "row.remove"):
            yield Fault(f"{event.kind} does not remove a {category.name}", "send row.remove for rows, else remove")

    def _slot(self, event: Event, category: Category) -> Iterator[Fault]:
        name, spans = event.data["field"], event.kind != "set"
        several = category.slots if spans else category.entries
        if name not in [one.name for one in several]:
            what = "words for" if spans else "field"
            yield Fault(
                f"a {category.name} has no {what} {name}", suggestion(name, [one.name for one in several]), name
            )
        if event.kind == "span.add" and self.length is not None and event.data["parts"][-1][1] > self.length:
            words = f"the words end at {event.data['parts'][-1][1]}, the text at {self.length}"
            yield Fault(words, "count code points of the document, not bytes or UTF-16 units")
