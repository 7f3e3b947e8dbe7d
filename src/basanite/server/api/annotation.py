"""Annotation for programs: the own tasks, a text with all events, events sent, results of a project (R-15, P-32).

An annotator sees the own tasks and nothing else. Events are taken in once, no matter who sends them how often.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.store.tables import AnnotationTask
from basanite.campaign.work.annotation import annotator_work, exchange, monitor
from basanite.campaign.work.annotation.annotator_work import MOST_AT_ONCE, Opened
from basanite.campaign.work.annotation.exchange import ALL
from basanite.campaign.work.annotation.lookup import project_named, projects
from basanite.server.roles import Caller, allow
from basanite.work.annotation.replay import event_of

ROUTER = APIRouter(prefix="/campaigns/{slug}/annotation", tags=["annotation"])
Annotator = Annotated[Caller, allow("annotator", "adjudicator", scope="read")]
Writer = Annotated[Caller, allow("annotator", "adjudicator", scope="submit")]
Checker = Annotated[Caller, allow("adjudicator", "evaluation", scope="read")]
Id = Annotated[str, Path(max_length=64)]


class AnnotationTaskShown(BaseModel):
    """One of the own tasks."""

    id: str
    project: str
    document: str
    length: int
    role: str
    state: str
    position: int
    opened: str | None
    finished: str | None


class TasksShown(BaseModel):
    """The own tasks, in the order in which they come."""

    tasks: list[AnnotationTaskShown]


class OpenedShown(BaseModel):
    """A text with all that its owner did to it."""

    id: str
    document: str
    text: str
    version: int
    """Of the configuration."""
    state: str
    sequence: int
    events: list[dict[str, Any]]
    objects: list[dict[str, Any]]
    review: dict[str, Any]
    suggestions: list[dict[str, Any]]
    """Accept one by `suggestion` in the data of the `create` that it becomes; refuse it by `dismiss`."""


class EventSent(BaseModel):
    """One change."""

    id: str = Field(max_length=64)
    kind: str = Field(max_length=40)
    data: dict[str, Any] = Field(default_factory=dict, max_length=10)


class EventsSent(BaseModel):
    """Changes in their order, and the number of the newest event that the sender knows."""

    after: int = Field(default=0, ge=0, le=10**9)
    events: list[EventSent] = Field(max_length=MOST_AT_ONCE)


class AppendedShown(BaseModel):
    """What became of events, and all that the sender does not know yet."""

    sequence: int
    accepted: list[str]
    refused: dict[str, list[dict[str, Any]]]
    events: list[dict[str, Any]]
    objects: list[dict[str, Any]]
    """Objects that are new or changed since `after`."""
    gone: list[str]
    """Ids of objects that are no longer there."""
    review: dict[str, Any] | None
    """What the reasoner says; null for a large text: ask for it with `GET …/tasks/ID/review` in a pause."""
    state: str


class ReviewShown(BaseModel):
    """What the reasoner says of a text as it stands."""

    review: dict[str, Any]


class ProjectsShown(BaseModel):
    """The projects of a campaign, and how far they are."""

    projects: list[dict[str, Any]]


class FilesShown(BaseModel):
    """Files of an export by name, and what the format could not keep."""

    texts: int
    not_kept: list[str]
    open_texts: list[str]
    files: dict[str, str]


@ROUTER.get("/tasks")
def list_tasks(caller: Annotator) -> TasksShown:
    """The own tasks in all projects of the campaign."""
    row, _ = caller.here
    with caller.office.reading() as session:
        names = {project.id: project.name for project in projects(session, row.id)}
        mine = annotator_work.my_tasks(session, row.id, caller.actor.id)
    return TasksShown(tasks=[AnnotationTaskShown(project=names[one.project_id], **one.as_dict()) for one in mine])


@ROUTER.get("/tasks/{task_id}")
def show_task(task_id: Id, caller: Annotator) -> OpenedShown:
    """One of the own tasks; those of others do not exist."""
    with caller.office.writing() as session:
        _check_here(session, caller, task_id)
        return _text_with_events(annotator_work.open_task(session, caller.office, caller.actor, task_id))


@ROUTER.post("/tasks/{task_id}/events")
def send_events(task_id: Id, sent: EventsSent, caller: Writer) -> AppendedShown:
    """Send changes; what was sent before changes nothing, and what other tabs sent comes back.

    A text with N open contradictions is finished by `{"kind": "done", "data": {"contradictions": N}}`.
    """
    events = [event_of(one.model_dump()) for one in sent.events]
    with caller.office.writing() as session:
        _check_here(session, caller, task_id)
        made = annotator_work.append(session, caller.office, caller.actor, task_id, events, after=sent.after)
    objects = [one.as_dict() for one in made.changed]
    review = None if made.review is None else made.review.as_dict()
    return AppendedShown(objects=objects, gone=list(made.gone), review=review, **made.as_dict())


@ROUTER.get("/tasks/{task_id}/review")
def show_review(task_id: Id, caller: Annotator) -> ReviewShown:
    """What the reasoner says of one of the own texts: contradictions, gaps, and what follows."""
    with caller.office.reading() as session:
        _check_here(session, caller, task_id)
        found = annotator_work.review_task(session, caller.office, caller.actor, task_id)
    return ReviewShown(review=found.as_dict())


@ROUTER.get("/projects")
def list_projects(caller: Checker) -> ProjectsShown:
    """The projects of the campaign and how far everybody is; for adjudicators and organisers."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = [
            monitor.progress(session, caller.office, caller.actor, one.id).as_dict()
            for one in projects(session, row.id)
        ]
    return ProjectsShown(projects=found)


@ROUTER.get("/projects/{project}/agreement")
def show_agreement(project: Id, caller: Checker) -> dict[str, Any]:
    """How far annotators agree: spans apart from labels, per category, field and text."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = project_named(session, row.id, project)
        return monitor.agreement(session, caller.office, caller.actor, found.id).as_dict()


@ROUTER.get("/projects/{project}/export")
def export_project(
    project: Id,
    caller: Checker,
    format: Annotated[str, Query(max_length=40)] = "annotations",  # noqa: A002
) -> FilesShown:
    """The adjudicated annotations in one of the formats."""
    row, _ = caller.here
    if format not in ALL:
        raise refused("P-32", f"there is no format {format!r}", f"one of: {', '.join(ALL)}", status=422)
    with caller.office.writing() as session:
        found = project_named(session, row.id, project)
        shared = exchange.export(session, caller.office, caller.actor, found.id, exchange.ExportChoice(format))
    files = {name: data.decode("utf-8") for name, data in shared.files.items()}
    not_kept = [one.message for one in shared.problems]
    return FilesShown(texts=shared.texts, not_kept=not_kept, open_texts=list(shared.open_texts), files=files)


def _check_here(session: Session, caller: Caller, task_id: str) -> None:
    """A task of another campaign is none of this one."""
    task = session.get(AnnotationTask, task_id)
    if task is None or task.campaign_id != caller.here[0].id:
        raise missing("annotation task")


def _text_with_events(found: Opened) -> OpenedShown:
    return OpenedShown(
        id=found.task.id,
        document=found.document.name,
        text=found.document.text,
        version=found.config.version,
        state=found.task.state,
        sequence=found.sequence,
        events=[one.as_dict() for one in found.events],
        objects=[one.as_dict() for one in found.state.objects.values()],
        review=found.review.as_dict(),
        suggestions=[
            {"id": one.id, "source": one.source, "score": one.score, "category": one.category}
            | {"parts": one.parts, "fields": one.fields}
            for one in found.suggested
        ],
    )
