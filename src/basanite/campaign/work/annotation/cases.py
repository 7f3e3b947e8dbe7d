"""The cases of a text: what annotators said side by side, which decision holds for each, and what comes of it.

A decision and its events are written together; the events of the decision that held before are undone, not removed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import AnnotationDecision, AnnotationDocument, AnnotationTask
from basanite.campaign.work.annotation.annotator_work import Appended, append_events, task_events
from basanite.campaign.work.annotation.lookup import bench_of, find_project, tasks_of
from basanite.campaign.work.decisions import standing_decisions
from basanite.work.annotation.alignment import Aligned, align
from basanite.work.annotation.config import Config
from basanite.work.annotation.events import Event, Object, State, single_id
from basanite.work.annotation.replay import replay

TAKEN: Final = "take"
NONE: Final = "none"
UNANIMOUS: Final = "unanimous"
REOPENED: Final = "reopen"


@dataclass(frozen=True)
class Case:
    """One thing to decide: what each annotator has there, and what was decided."""

    aligned: Aligned
    decision: AnnotationDecision | None
    """The decision that holds; None while it is open."""
    parent_name: str
    """What it lies in, in the adjudicator's record."""
    single: bool
    hidden: bool
    """Whether what it lies in is not (yet) part of the result: there is nothing to decide then."""
    rejected: bool
    """Whether it never will be, for what it lies in was decided to be none of these."""
    names: Mapping[str, str]
    """The objects of the adjudicator's record by the key of their case."""

    def as_dict(self) -> dict[str, Any]:
        """As pages and the API give it; who the annotators are is not said."""
        decided = self.decision
        return {
            "case": self.aligned.key,
            "category": self.aligned.category,
            "parent": self.aligned.parent,
            "sides": [None if side is None else side.as_dict() for side in self.aligned.sides],
            "differs": list(self.aligned.differs),
            "unanimous": self.aligned.unanimous,
            "verdict": decided.verdict if decided else "",
            "code": decided.code if decided else "",
            "note": decided.note if decided else "",
            "hidden": self.hidden,
            "rejected": self.rejected,
        }


@dataclass(frozen=True)
class Table:
    """All annotations of a text side by side."""

    document: AnnotationDocument
    config: Config
    tasks: tuple[AnnotationTask, ...]
    """One for each side, in the order of the sides."""
    states: tuple[State, ...]
    keys: tuple[Mapping[str, str], ...]
    """Of each side, the case that every object is in."""
    cases: tuple[Case, ...]
    record: AnnotationTask | None
    """The adjudicator's own record, once there is one."""
    result: State
    """What was decided so far."""

    @property
    def open_cases(self) -> tuple[Case, ...]:
        """What is still to be decided; what lies in something that was rejected is not."""
        return tuple(case for case in self.cases if case.decision is None and not case.rejected)

    @property
    def apart(self) -> tuple[Case, ...]:
        """The cases on which annotators differ."""
        return tuple(case for case in self.cases if not case.aligned.unanimous)


def table(session: Session, office: Office, document: AnnotationDocument) -> Table:
    """The annotations of a text side by side, as far as they were there when its adjudication began."""
    project = find_project(session, document.project_id)
    standing = tasks_of(session, document.id, "adjudicator")
    record = standing[-1] if standing else None
    generation = record.generation if record else project.generation
    config = bench_of(session, office, project, generation).config
    tasks = tuple(task for task in tasks_of(session, document.id) if task.state == "done")
    if record is not None:
        tasks = tuple(task for task in tasks if task.finished is not None and task.made <= record.made)
    states = tuple(
        replay(config, (one.event for one in task_events(session, task, generation=generation))) for task in tasks
    )
    aligned = align(config, states) if states else ()
    result = replay(config, (one.event for one in task_events(session, record))) if record else State()
    asked = select(AnnotationDecision).where(AnnotationDecision.document_id == document.id)
    rows = session.scalars(asked.order_by(AnnotationDecision.sequence))
    decided = standing_decisions(rows, lambda row: row.case, lambda row: row.verdict == REOPENED)
    whole = Table(document, config, tasks, states, _keys(aligned, len(states)), (), record, result)
    return _with_cases(whole, aligned, decided)


def live_events(session: Session, task: AnnotationTask) -> list[Event]:
    """The events of a record that are not undone, undoing itself left out."""
    kept = [one.event for one in task_events(session, task)]
    undone: set[str] = set()
    for event in kept:
        if event.kind == "undo":
            undone.update(event.data["events"])
        elif event.kind == "redo":
            undone.difference_update(event.data["events"])
    return [one for one in kept if one.id not in undone and one.kind not in ("undo", "redo", "done", "reopen")]


def _with_cases(whole: Table, aligned: tuple[Aligned, ...], decided: Mapping[str, AnnotationDecision]) -> Table:
    made: dict[str, Case] = {}
    names: dict[str, str] = {}
    for one in aligned:
        parent = made.get(one.parent)
        parent_name = names.get(one.parent, "")
        single = whole.config.categories[one.category].single
        name = single_id(parent_name, one.category) if single else f"k{one.key}"
        hidden = bool(one.parent) and (one.parent not in names or parent_name not in whole.result.objects)
        rejected = parent is not None and (parent.rejected or (parent.decision is not None and hidden))
        names[one.key] = name
        found = decided.get(one.key)
        made[one.key] = Case(one, found, parent_name, single, hidden, rejected, names)
    cases = tuple(made.values())
    return Table(whole.document, whole.config, whole.tasks, whole.states, whole.keys, cases, whole.record, whole.result)


def _keys(aligned: tuple[Aligned, ...], count: int) -> tuple[Mapping[str, str], ...]:
    found: list[dict[str, str]] = [{} for _ in range(count)]
    for one in aligned:
        for at, side in enumerate(one.sides):
            if side is not None:
                found[at][side.id] = one.key
    return tuple(found)


Parts = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Content:
    """What is said of an object, no matter who says it; pointers go by the keys of cases."""

    fields: Mapping[str, str] = field(default_factory=dict)
    mentions: Mapping[str, tuple[Parts, ...]] = field(default_factory=dict)
    inferred: bool = False
    note: str = ""


def content_of(one: Object, keys: Mapping[str, str] | None = None) -> Content:
    """What an annotator said of an object; a pointer to another of their objects becomes one to its case."""
    names = keys or {}
    fields = {name: names.get(value, value) for name, value in one.fields.items()}
    words = {slot: tuple(mention.parts for mention in several) for slot, several in one.mentions.items()}
    return Content(fields, words, one.inferred, one.note)


def _events(config: Config, case: Case, content: Content, id_: str) -> Iterator[Event]:
    category = config.categories[case.aligned.category]
    name = object_name(case)
    numbers = iter(range(1_000_000))

    def event(kind: str, **data: object) -> Event:
        return Event(f"{id_}-{next(numbers)}", kind, {"group": id_, **data})

    # A single with nothing said of it needs an event, too: it was found, and lies there.
    kind = "row.add" if category.table else "create"
    yield event(kind, object=name, category=category.name, parent=case.parent_name)
    for key, value in content.fields.items():
        entry = category.field(key)
        points = entry is not None and entry.kind == "object"
        yield event("set", object=name, field=key, value=case.names.get(value, value) if points else value)
    for slot, several in content.mentions.items():
        for parts in several:
            yield event("span.add", object=name, field=slot, parts=[list(part) for part in parts])
    if content.inferred:
        yield event("inferred", object=name, value=True)
    if content.note:
        yield event("note", object=name, text=content.note)


def object_name(case: Case) -> str:
    """The name of the object of a case in the adjudicator's record: singles are named after their place."""
    return single_id(case.parent_name, case.aligned.category) if case.single else f"k{case.aligned.key}"


@dataclass(frozen=True)
class Settled:
    """A case with what was decided about it, on its way to be kept."""

    case: Case
    verdict: str
    chosen: str = ""
    content: Content | None = None
    code: str = ""
    note: str = ""
    id: str = ""
    """That of the decision."""


def decision_id(task: AnnotationTask, key: str = "") -> str:
    """The id of a decision: the same for the same key, so that what is sent twice counts once."""
    return hashlib.sha256(f"{task.id}\n{key}".encode()).hexdigest()[:20] if key else secrets.token_hex(10)


def keep(
    session: Session, office: Office, actor: Actor, task: AnnotationTask, settled: Sequence[Settled]
) -> list[AnnotationDecision]:
    """Write decisions and their events; the events of the decisions that held before are undone."""
    config = bench_of(session, office, find_project(session, task.project_id), task.generation).config
    live = {event.id for event in live_events(session, task)}
    asked = select(func.max(AnnotationDecision.sequence)).where(AnnotationDecision.document_id == task.document_id)
    first = (session.scalar(asked) or 0) + 1
    events: list[Event] = []
    rows: list[AnnotationDecision] = []
    for sequence, one in enumerate(settled, start=first):
        earlier = [old for old in (one.case.decision.events if one.case.decision else []) if old in live]
        events += [Event(f"{one.id}-undo", "undo", {"events": earlier})] if earlier else []
        written = [] if one.content is None else list(_events(config, one.case, one.content, one.id))
        events += written
        rows.append(_row(office, actor, task, one, sequence, written))
    write_events(session, office, task, events)
    session.add_all(rows)
    session.flush()
    return rows


def _row(
    office: Office, actor: Actor, task: AnnotationTask, settled: Settled, sequence: int, events: Sequence[Event]
) -> AnnotationDecision:
    return AnnotationDecision(
        id=settled.id,
        campaign_id=task.campaign_id,
        document_id=task.document_id,
        task_id=task.id,
        generation=task.generation,
        sequence=sequence,
        case=settled.case.aligned.key,
        verdict=settled.verdict,
        chosen=settled.chosen,
        code=settled.code,
        note=settled.note,
        events=[event.id for event in events],
        at=office.clock(),
        by=actor.id,
    )


def write_events(session: Session, office: Office, task: AnnotationTask, events: Sequence[Event]) -> Appended:
    """Events into the adjudicator's record; what the configuration does not allow is refused as a whole."""
    appended = append_events(session, office, task, find_project(session, task.project_id), events, after=0)
    if appended.refused:
        raise RefusedError([one for problems in appended.refused.values() for one in problems], status=422)
    return appended
