"""Events before they enter the log: what is malformed is refused with its cure; what comes too late is not (R-15).

Another tab may have removed the object that an event speaks of. Such an event is kept, since an undo may bring the
object back; only what could never have an effect is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from basanite.annotation.config.model import Category, Config
from basanite.annotation.events.model import Event, State, single_id
from basanite.annotation.events.replaying import MARKS, Log
from basanite.annotation.events.shapes import MOST_EVENTS, MOST_OBJECTS, Fault, is_id, shape_faults
from basanite.problems import Problem
from basanite.registry import suggestion

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
    return _checked(_Check(config, state.made, state.seen, length), event)


def receive(config: Config, before: Iterable[Event], new: Iterable[Event], *, length: int | None = None) -> Received:
    """Take new events in after others, each checked against all before it; ids that are known are passed over."""
    log = Log(config)
    for event in before:
        log.take(event)
    accepted, known, refused = list[Event](), list[str](), dict[str, tuple[Problem, ...]]()
    for event in new:
        problems = _checked(_Check(config, log.made, log.kinds, length), event)
        if event.id in log.events:
            known.append(event.id)
        elif problems:
            refused[event.id] = problems
        else:
            log.take(event)
            accepted.append(event)
    return Received(log.state(), tuple(accepted), tuple(known), refused)


def _checked(checker: _Check, event: Event) -> tuple[Problem, ...]:
    faults = list(shape_faults(event)) or list(checker.faults(event))
    return tuple(
        Problem(RULE, f"event {event.id[:64]}", None, None, fault.message, fault.fix, fault.found) for fault in faults
    )


@dataclass(frozen=True)
class _Check:
    """What an event is held against: the configuration, and all that was ever made."""

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
            yield from self._known(event)

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
            yield Fault(f"{id_} is no name for a {name}", f"it stands once: call it {single_id(parent, name)}", id_)
        elif not category.single and not is_id(id_):
            yield Fault(f"{id_} is no name for a {name}", "give it letters, digits and '-'", id_)
        yield from self._place(category, parent)

    def _place(self, category: Category, parent: str) -> Iterator[Fault]:
        above = self.category(parent) if parent else None
        if parent and above is None:
            yield Fault(f"there is no object {parent}", "make it first", parent)
        elif category.parent != (above.name if above else ""):
            where = f"a {category.parent}" if category.parent else "the document itself"
            yield Fault(f"a {category.name} does not lie there", f"put it into {where}", parent)

    def _known(self, event: Event) -> Iterator[Fault]:
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
