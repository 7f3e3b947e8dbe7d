"""An annotator at work: the own queue, a text with all that was done to it, and events taken in one after the other.

Events are kept once under the id that the page gave them, in one order for all tabs, for ever (R-15). Sending the
same event twice (a lost answer, a second tab, a page that was offline) changes nothing; a page with events based on
an older state gets those that came between, so that all tabs come to the same.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import problem, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import (
    AnnotationDocument,
    AnnotationEvent,
    AnnotationProject,
    AnnotationSuggestion,
    AnnotationTask,
)
from basanite.campaign.work.annotation import packages, suggestions
from basanite.campaign.work.annotation.live_records import LiveRecord, live_record
from basanite.campaign.work.annotation.lookup import REPEAT, bench_of, find_project, own_task, require_open, tasks_of
from basanite.campaign.work.annotation.packages import Bench, text_of
from basanite.campaign.work.lookup import log_event
from basanite.problems import Problem
from basanite.reading.package.documents import Document
from basanite.work.annotation.config import Config
from basanite.work.annotation.events import Event, Object, State, shape_faults
from basanite.work.annotation.replay import Received, receive_into, replay
from basanite.work.annotation.review import Review, review

MOST_AT_ONCE: Final = 500
LARGEST_BATCH: Final = 4 * 2**20
MOST_REVIEWED: Final = 300
"""Objects of a text up to which the reasoner is asked on every save."""
IDLE: Final = timedelta(minutes=5)
"""A pause that is longer is no work."""


@dataclass(frozen=True)
class Kept:
    """An event with its place in the order of its task."""

    sequence: int
    event: Event
    at: datetime

    def as_dict(self) -> dict[str, Any]:
        """As pages get it."""
        return {"sequence": self.sequence, "at": self.at.isoformat(), **self.event.as_dict()}


def task_events(session: Session, task: AnnotationTask, *, after: int = 0, generation: int | None = None) -> list[Kept]:
    """The events of a task in their order, those after a number; of an older generation if one is named."""
    asked = select(AnnotationEvent).where(
        AnnotationEvent.task_id == task.id,
        AnnotationEvent.generation == (task.generation if generation is None else generation),
        AnnotationEvent.sequence > after,
    )
    rows = session.scalars(asked.order_by(AnnotationEvent.sequence))
    return [Kept(row.sequence, Event(row.client_id, row.kind, row.data), row.at) for row in rows]


def last_sequence(session: Session, task: AnnotationTask) -> int:
    """The number of a task's newest event."""
    asked = select(func.max(AnnotationEvent.sequence)).where(AnnotationEvent.task_id == task.id)
    return session.scalar(asked.where(AnnotationEvent.generation == task.generation)) or 0


def write(
    session: Session, task: AnnotationTask, events: Sequence[Event], *, after: int, at: datetime
) -> tuple[Kept, ...]:
    """Add events behind the number of the newest one; the caller holds the task."""
    rows = [_row(task, event, after + number, at) for number, event in enumerate(events, start=1)]
    session.add_all(rows)
    session.flush()
    return tuple(Kept(row.sequence, event, at) for row, event in zip(rows, events, strict=True))


def write_at(
    session: Session, task: AnnotationTask, events: Sequence[Event], moments: Mapping[str, datetime], now: datetime
) -> None:
    """Write a whole record again under the generation that its task has now, at the moments of the old events."""
    last, rows = now, list[AnnotationEvent]()
    for number, event in enumerate(events, start=1):
        last = moments.get(event.id, moments.get(event.id.removesuffix(".made"), last))
        rows.append(_row(task, event, number, last))
    session.add_all(rows)
    session.flush()


def check_batch(events: Sequence[Event]) -> None:
    """Refuse more than a page would ever send."""
    if len(events) > MOST_AT_ONCE:
        fix = f"send at most {MOST_AT_ONCE} events at once"
        raise refused("X-8", f"{len(events)} events at once", fix, status=413)
    size = sum(len(json.dumps(event.as_dict(), default=str)) for event in events)
    if size > LARGEST_BATCH:
        raise refused("X-8", f"{size} bytes of events at once", f"send at most {LARGEST_BATCH}", status=413)


def time_spent(moments: Iterable[datetime]) -> timedelta:
    """How long somebody worked, from the moments of opening, events and ending; long pauses do not count (R-22).

    >>> start = datetime(2026, 1, 1)
    >>> time_spent([start, start + timedelta(minutes=2), start + timedelta(hours=3)])
    datetime.timedelta(seconds=120)
    """
    gaps = (later - earlier for earlier, later in pairwise(sorted(moments)))
    return sum((gap for gap in gaps if gap <= IDLE), timedelta())


def _row(task: AnnotationTask, event: Event, sequence: int, at: datetime) -> AnnotationEvent:
    return AnnotationEvent(
        campaign_id=task.campaign_id,
        task_id=task.id,
        generation=task.generation,
        sequence=sequence,
        client_id=event.id,
        kind=event.kind,
        data=dict(event.data),
        at=at,
    )


RULE: Final = "R-15"
ASKED: Final = "R-43"


@dataclass(frozen=True)
class Waiting:
    """A task as it stands in somebody's queue."""

    id: str
    project_id: str
    document: str
    length: int
    role: str
    state: str
    position: int
    opened: datetime | None
    finished: datetime | None

    def as_dict(self) -> dict[str, Any]:
        """As the API gives it."""
        moments = {"opened": self.opened, "finished": self.finished}
        return {
            **{name: getattr(self, name) for name in ("id", "document", "length", "role", "state", "position")},
            **{name: None if at is None else at.isoformat() for name, at in moments.items()},
        }


@dataclass(frozen=True)
class Opened:
    """Everything that the page needs to go on with a text where it was left."""

    task: AnnotationTask
    project: AnnotationProject
    document: Document
    bench: Bench
    events: tuple[Kept, ...]
    state: State
    review: Review
    guidelines: str
    suggested: tuple[AnnotationSuggestion, ...] = ()
    """What is suggested for it, answered or not."""

    @property
    def config(self) -> Config:
        """What can be marked."""
        return self.bench.config

    @property
    def sequence(self) -> int:
        """The number of the newest event."""
        return self.events[-1].sequence if self.events else 0


@dataclass(frozen=True)
class Appended:
    """What became of events that were sent."""

    sequence: int
    """The number of the newest event; send it as `after` the next time."""
    accepted: tuple[str, ...]
    """Ids that are in the log now, those that were there before included."""
    refused: Mapping[str, tuple[Problem, ...]]
    """Ids that are not, and why."""
    events: tuple[Kept, ...]
    """All events after the number that the sender knew, in the log's order: own ones and those of other tabs."""
    state: State
    review: Review | None
    """What the reasoner says; nothing where the text is so large that it is asked apart, in pauses."""
    stage: str
    """The state of the task: `working` or `done`."""
    changed: tuple[Object, ...] = ()
    """Objects that are new or other than the sender knows; all of them for one who missed a save."""
    gone: tuple[str, ...] = ()
    """Objects that are no longer there."""

    def as_dict(self) -> dict[str, Any]:
        """As the API gives it."""
        return {
            "sequence": self.sequence,
            "accepted": list(self.accepted),
            "refused": {id_: [one.as_dict() for one in problems] for id_, problems in self.refused.items()},
            "events": [one.as_dict() for one in self.events],
            "state": self.stage,
        }


def queue(session: Session, project_id: str, person_id: str) -> tuple[Waiting, ...]:
    """The tasks of one person in a project, in their order; nobody sees anybody else's."""
    asked = select(AnnotationTask, AnnotationDocument).join(
        AnnotationDocument, AnnotationDocument.id == AnnotationTask.document_id
    )
    mine = asked.where(
        AnnotationTask.project_id == project_id,
        AnnotationTask.person_id == person_id,
        AnnotationTask.state != "withdrawn",
    )
    last = AnnotationTask.role == "adjudicator"
    rows = session.execute(mine.order_by(last, AnnotationTask.position)).all()
    return tuple(_waiting(task, document) for task, document in rows)


def my_tasks(session: Session, campaign_id: str, person_id: str) -> tuple[Waiting, ...]:
    """The tasks of one person in all projects of a campaign."""
    mine = select(AnnotationTask.project_id).where(
        AnnotationTask.campaign_id == campaign_id, AnnotationTask.person_id == person_id
    )
    found = sorted(set(session.scalars(mine)))
    return tuple(task for project_id in found for task in queue(session, project_id, person_id))


def open_task(session: Session, office: Office, actor: Actor, task_id: str) -> Opened:
    """A text with all that its owner did to it."""
    task = own_task(session, actor, task_id, lock=True)
    if task.opened is None:
        task.opened = office.clock()
    if task.state == "waiting":
        task.state = "working"
        task.suggestions = suggestions.set_for(session, task)
    return task_snapshot(session, office, task)


def task_snapshot(session: Session, office: Office, task: AnnotationTask) -> Opened:
    """A task as it stands; who may see it has been asked before."""
    project = find_project(session, task.project_id)
    bench = bench_of(session, office, project, task.generation)
    document = text_of(office, session.get_one(AnnotationDocument, task.document_id))
    kept = tuple(task_events(session, task))
    state = replay(bench.config, (one.event for one in kept))
    found = review(bench.config, bench.reasoner, document, state)
    told = packages.guidelines(office, project)
    return Opened(task, project, document, bench, kept, state, found, told, suggestions.shown(session, task))


def append(
    session: Session, office: Office, actor: Actor, task_id: str, events: Sequence[Event], *, after: int
) -> Appended:
    """Take events in: each once, in one order for all tabs; gives back all that the sender does not know yet."""
    check_batch(events)
    task = own_task(session, actor, task_id, lock=True)
    project = find_project(session, task.project_id)
    require_open(project)
    return append_events(session, office, task, project, events, after=after)


def append_events(
    session: Session,
    office: Office,
    task: AnnotationTask,
    project: AnnotationProject,
    events: Sequence[Event],
    *,
    after: int,
) -> Appended:
    """The same for a task that is locked already and may be written to."""
    bench, now = bench_of(session, office, project, task.generation), office.clock()
    row = session.get_one(AnnotationDocument, task.document_id)
    record = live_record(session, office, task, bench.config)
    told = record.objects if record.told else record.log.state().objects
    told, refused = told if after == record.sequence else {}, dict[str, tuple[Problem, ...]]()
    finished = task.state == "done" and task.role == "annotator"
    if finished and tasks_of(session, task.document_id, "adjudicator"):  # somebody compares it: it stays as it is
        events, refused = _too_late(record, events)
    end = _Ending(bench, lambda: text_of(office, row))
    received = [end.receive(record, one, row.length) for one in _up_to_endings(events)]
    accepted = [event for one in received for event in one.accepted]
    for one in received:
        refused |= one.refused
    write(session, task, accepted, after=record.sequence, at=now)
    record.sequence, state = record.sequence + len(accepted), record.log.state()
    record.objects, record.told = state.objects, True
    _set_stage(session, office, task, state, now)
    return Appended(
        sequence=record.sequence,
        accepted=(*(id_ for one in received for id_ in one.known), *(event.id for event in accepted)),
        refused=refused,
        events=tuple(task_events(session, task, after=after)),
        state=state,
        review=end.review(state) if len(state.objects) <= MOST_REVIEWED else None,
        stage=task.state,
        changed=tuple(one for id_, one in state.objects.items() if told.get(id_) != one),
        gone=tuple(id_ for id_ in told if id_ not in state.objects),
    )


def review_task(session: Session, office: Office, actor: Actor, task_id: str) -> Review:
    """What the reasoner says of a text as it stands: asked in pauses where a text is too large to ask on every save."""
    task = own_task(session, actor, task_id)
    return task_snapshot(session, office, task).review


def _up_to_endings(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Events in their order, cut before each that finishes the text: what it leaves open depends on all before."""
    part: list[Event] = []
    for event in events:
        if event.kind == "done" and part:
            yield part
            part = []
        part.append(event)
    if part:
        yield part


@dataclass
class _Ending:
    """Takes events in; people who finish a text have seen the contradictions that stay in it (R-43)."""

    bench: Bench
    document: Callable[[], Document]
    last: tuple[State, Review] | None = None

    def review(self, state: State) -> Review:
        """What the reasoner says; asked once for one state."""
        if self.last is None or self.last[0] is not state:
            self.last = state, review(self.bench.config, self.bench.reasoner, self.document(), state)
        return self.last[1]

    def receive(self, record: LiveRecord, events: Sequence[Event], length: int) -> Received:
        """Take in some events, of which the first may finish the text."""
        first = events[0]
        if first.kind != "done" or first.id in record.log.events or any(shape_faults(first)):
            return receive_into(record.log, events, length=length)
        found = len(self.review(record.log.state()).contradictions)
        seen = first.data.get("contradictions", 0)
        if found > seen:
            fix = f"correct them, or finish again and confirm that {found} stay"
            asked = problem(ASKED, f"open contradictions: {found}, confirmed: {seen}", fix)
            rest = receive_into(record.log, events[1:], length=length)
            return replace(rest, refused={**rest.refused, first.id: (asked,)})
        kept = {"contradictions": found} if found else {}
        return receive_into(record.log, [replace(first, data=kept), *events[1:]], length=length)


def finish_task(session: Session, office: Office, actor: Actor, task_id: str, *, key: str = "") -> Appended:
    """Say that a text is finished; with a key, sent twice it is said once."""
    return _mark(session, office, actor, task_id, "done", key)


def reopen_task(session: Session, office: Office, actor: Actor, task_id: str, *, key: str = "") -> Appended:
    """Go on with a text that was finished, as long as nobody has begun to adjudicate it."""
    return _mark(session, office, actor, task_id, "reopen", key)


def _mark(session: Session, office: Office, actor: Actor, task_id: str, kind: str, key: str) -> Appended:
    event = Event(key or f"{kind}-{secrets.token_hex(8)}", kind, {})
    return append(session, office, actor, task_id, [event], after=0)


def _too_late(record: LiveRecord, events: Sequence[Event]) -> tuple[list[Event], dict[str, tuple[Problem, ...]]]:
    """Of events that come too late, those that are known already, and why the others are refused."""
    known = record.log.events
    fix = "tell the adjudicator, who can fix a slip without changing your record"
    late = problem(RULE, "adjudication of this text has started", fix)
    return [one for one in events if one.id in known], {one.id: (late,) for one in events if one.id not in known}


def _set_stage(session: Session, office: Office, task: AnnotationTask, state: State, now: datetime) -> None:
    was = task.state
    task.opened = task.opened or now
    task.state = "done" if state.done else "working"
    if task.state != was and "done" in (was, task.state):
        task.finished = now if state.done else None
        task.contradictions = state.contradictions if state.done else 0
        what = "annotation.done" if state.done else "annotation.reopened"
        more = {"contradictions": task.contradictions} if task.contradictions else {}
        log_event(session, office, Actor(task.person_id), task, what, **_about(task), **more)


def _about(task: AnnotationTask) -> dict[str, str]:
    return {"document": task.document_id, "role": task.role}


def _waiting(task: AnnotationTask, document: AnnotationDocument) -> Waiting:
    return Waiting(
        id=task.id,
        project_id=task.project_id,
        document=document.name,
        length=document.length,
        role="annotator" if task.role == REPEAT else task.role,  # nobody is told that a text is a repetition
        state=task.state,
        position=task.position,
        opened=task.opened,
        finished=task.finished,
    )
