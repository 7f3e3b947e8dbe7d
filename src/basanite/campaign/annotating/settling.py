"""What a decision puts into the adjudicated annotation: the content of one side, or another one, as events.

A decision and its events are written together; the events of the decision that held before are undone, not removed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.annotation.config import Config
from basanite.annotation.events import Event, Object, single_id
from basanite.campaign.annotating.cases import Case, live_events
from basanite.campaign.annotating.finding import bench_of, find_project
from basanite.campaign.annotating.working import Appended, take
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import AnnotationDecision, AnnotationTask

Parts = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Content:
    """What is said of an object, whoever says it; pointers go by the keys of cases."""

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


def events_for(config: Config, case: Case, content: Content | None, id_: str) -> list[Event]:
    """The events that put an object into the record; none for no object."""
    return [] if content is None else list(_events(config, case, content, id_))


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


def decision_id(task: AnnotationTask, key: str) -> str:
    """The id of a decision: the same for the same key, so that what is sent twice counts once."""
    return hashlib.sha256(f"{task.id}\n{key}".encode()).hexdigest()[:20] if key else secrets.token_hex(10)


def keep(
    session: Session, office: Office, actor: Actor, task: AnnotationTask, settled: Sequence[tuple[str, Settled]]
) -> list[AnnotationDecision]:
    """Write decisions and their events; the events of the decisions that held before are undone."""
    config = bench_of(session, office, find_project(session, task.project_id), task.generation).config
    live = {event.id for event in live_events(session, task)}
    first = _next_sequence(session, task.document_id)
    events: list[Event] = []
    rows: list[AnnotationDecision] = []
    for at, (id_, one) in enumerate(settled):
        earlier = [old for old in (one.case.decision.events if one.case.decision else []) if old in live]
        events += [Event(f"{id_}-undo", "undo", {"events": earlier})] if earlier else []
        written = events_for(config, one.case, one.content, id_)
        events += written
        rows.append(_row(office, actor, task, id_, one, first + at, written))
    write_events(session, office, task, events)
    session.add_all(rows)
    session.flush()
    return rows


def _row(
    office: Office,
    actor: Actor,
    task: AnnotationTask,
    id_: str,
    settled: Settled,
    sequence: int,
    events: Sequence[Event],
) -> AnnotationDecision:
    return AnnotationDecision(
        id=id_,
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


def _next_sequence(session: Session, document_id: str) -> int:
    asked = select(func.max(AnnotationDecision.sequence)).where(AnnotationDecision.document_id == document_id)
    return (session.scalar(asked) or 0) + 1


def write_events(session: Session, office: Office, task: AnnotationTask, events: Sequence[Event]) -> Appended:
    """Events into the adjudicator's record; what the configuration does not allow is refused as a whole."""
    appended = take(session, office, task, find_project(session, task.project_id), events, after=0)
    if appended.refused:
        raise RefusedError([one for problems in appended.refused.values() for one in problems], status=422)
    return appended
