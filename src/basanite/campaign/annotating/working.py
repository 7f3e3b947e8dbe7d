"""An annotator at work: the own queue, a text with all that was done to it, and events taken in one after the other."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.annotation.config import Config
from basanite.annotation.events import Event, State, replay
from basanite.annotation.events.checking import receive
from basanite.annotation.review import Review, review
from basanite.campaign.annotating import packages
from basanite.campaign.annotating.finding import bench_of, find_project, own_task, require_open, tasks_of
from basanite.campaign.annotating.packages import Bench, text_of
from basanite.campaign.annotating.recorded import Kept, check_batch, recorded, write
from basanite.campaign.model.refusals import problem
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events as log
from basanite.campaign.store.tables import AnnotationDocument, AnnotationProject, AnnotationTask
from basanite.problems import Problem
from basanite.reading.package.documents import Document

RULE: Final = "R-15"


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
    review: Review
    stage: str
    """The state of the task: `working` or `done`."""

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
    rows = session.execute(mine.order_by(AnnotationTask.role.desc(), AnnotationTask.position)).all()
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
    return opened(session, office, task)


def opened(session: Session, office: Office, task: AnnotationTask) -> Opened:
    """A task as it stands; who may see it has been asked before."""
    project = find_project(session, task.project_id)
    bench = bench_of(session, office, project, task.generation)
    document = text_of(office, session.get_one(AnnotationDocument, task.document_id))
    kept = tuple(recorded(session, task))
    state = replay(bench.config, (one.event for one in kept))
    found = review(bench.config, bench.reasoner, document, state)
    return Opened(task, project, document, bench, kept, state, found, packages.guidelines(office, project))


def append(
    session: Session, office: Office, actor: Actor, task_id: str, events: Sequence[Event], *, after: int
) -> Appended:
    """Take events in: each once, in one order for all tabs; gives back all that the sender does not know yet."""
    check_batch(events)
    task = own_task(session, actor, task_id, lock=True)
    project = find_project(session, task.project_id)
    require_open(project)
    return take(session, office, task, project, events, after=after)


def take(
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
    before = recorded(session, task)
    late: dict[str, tuple[Problem, ...]] = {}
    if _locked(session, task):
        events, late = _too_late(before, events)
    received = receive(bench.config, [one.event for one in before], events, length=row.length)
    last = before[-1].sequence if before else 0
    written = write(session, task, received.accepted, after=last, at=now)
    _set_stage(session, task, received.state, now)
    return Appended(
        sequence=last + len(written),
        accepted=(*received.known, *(event.id for event in received.accepted)),
        refused={**received.refused, **late},
        events=tuple(one for one in (*before, *written) if one.sequence > after),
        state=received.state,
        review=review(bench.config, bench.reasoner, text_of(office, row), received.state),
        stage=task.state,
    )


def done(session: Session, office: Office, actor: Actor, task_id: str, *, key: str = "") -> Appended:
    """Say that a text is finished; with a key, sent twice it is said once."""
    return _mark(session, office, actor, task_id, "done", key)


def reopen(session: Session, office: Office, actor: Actor, task_id: str, *, key: str = "") -> Appended:
    """Go on with a text that was finished, as long as nobody has begun to adjudicate it."""
    return _mark(session, office, actor, task_id, "reopen", key)


def _mark(session: Session, office: Office, actor: Actor, task_id: str, kind: str, key: str) -> Appended:
    event = Event(key or f"{kind}-{secrets.token_hex(8)}", kind, {})
    return append(session, office, actor, task_id, [event], after=0)


def _locked(session: Session, task: AnnotationTask) -> bool:
    """Whether the record stays as it is: it is finished, and somebody has begun to compare it with another."""
    finished = task.state == "done" and task.role == "annotator"
    return finished and bool(tasks_of(session, task.document_id, "adjudicator"))


def _too_late(before: Sequence[Kept], events: Sequence[Event]) -> tuple[list[Event], dict[str, tuple[Problem, ...]]]:
    """Of events that come too late, those that are known already, and why the others are refused."""
    known = {one.event.id for one in before}
    fix = "tell the adjudicator, who can mend a slip without changing your record"
    late = problem(RULE, "somebody has begun to adjudicate this text", fix)
    return [one for one in events if one.id in known], {one.id: (late,) for one in events if one.id not in known}


def _set_stage(session: Session, task: AnnotationTask, state: State, now: datetime) -> None:
    was = task.state
    task.opened = task.opened or now
    task.state = "done" if state.done else "working"
    if task.state != was and "done" in (was, task.state):
        task.finished = now if state.done else None
        what = "annotation.done" if state.done else "annotation.reopened"
        data = {"document": task.document_id, "role": task.role}
        log.record(
            session, what, at=now, actor=task.person_id, subject=task.id, campaign_id=task.campaign_id, data=data
        )


def _waiting(task: AnnotationTask, document: AnnotationDocument) -> Waiting:
    return Waiting(
        id=task.id,
        project_id=task.project_id,
        document=document.name,
        length=document.length,
        role=task.role,
        state=task.state,
        position=task.position,
        opened=task.opened,
        finished=task.finished,
    )
