"""Reading tasks: made by those who may, fetched as a streamed graph in the form that the caller takes (R-23)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from basanite.campaign.answering import tasks
from basanite.campaign.answering.tasks import Wanted
from basanite.campaign.store.tables import ReadingTaskRow
from basanite.server.api.reading.calls import GRAPHS, Id, Maker, Reader, binary, count, wanted
from basanite.server.roles import Caller

ROUTER = APIRouter()
MEDIA = {name: media for media, name in GRAPHS.items()}
FETCHED: dict[int | str, dict[str, Any]] = {**binary(*GRAPHS), 304: {"description": "What you have is what there is."}}


class TaskWanted(BaseModel):
    """What a task should hold."""

    package: str = Field(default="", max_length=100)
    """Its id or name; the only one needs none."""
    part: str = Field(default="train", max_length=100)
    mode: Literal["practice", "formal"] = "practice"
    types: list[str] = Field(default_factory=list, max_length=50)
    """Query types; none: all."""
    classes: list[str] = Field(default_factory=list, max_length=100)
    """Only queries about these classes; none: all."""
    sample: int | None = Field(default=None, ge=1, le=100_000)
    seed: int = Field(default=0, ge=0, le=2**31)
    phase: str = Field(default="", max_length=100)
    source: Literal["all", "package", "generated"] = "package"
    """Queries of the package, those that its ontology makes possible, or both."""
    unanswered: bool = False
    """Also queries without an answer in the annotations."""
    texts: bool = True


class TaskShown(BaseModel):
    """A reading task."""

    id: str
    url: str
    package: str
    mode: str
    part: str
    content: str
    """The hash of everything in it: its name in the graph."""
    queries: list[str]
    documents: int
    made: datetime


@ROUTER.post("/tasks", status_code=201)
def make_reading_task(asked: TaskWanted, caller: Maker, request: Request, response: Response) -> TaskShown:
    """Make a reading task: to practise on, or, for the evaluation team, a formal one."""
    count(request, caller)
    chosen = Wanted(
        asked.part,
        asked.mode,
        tuple(asked.types),
        tuple(asked.classes),
        asked.sample,
        asked.seed,
        asked.phase,
        asked.source,
        asked.unanswered,
        asked.texts,
    )
    row = tasks.make(caller.office, caller.actor, caller.viewer, caller.here[0].id, asked.package, chosen)
    shown = _shown(caller, row)
    response.headers["Location"] = shown.url
    return shown


@ROUTER.get("/tasks")
def list_reading_tasks(caller: Reader) -> list[TaskShown]:
    """The tasks that the caller may fetch, newest first."""
    with caller.office.reading() as session:
        found = tasks.tasks(session, caller.office, caller.viewer, caller.here[0].id)
    return [_shown(caller, row) for row in found]


@ROUTER.get("/tasks/{task_id}", response_class=StreamingResponse, responses=FETCHED)
def fetch_reading_task(task_id: Id, caller: Reader, request: Request) -> Response:
    """The graph of a task; with `If-None-Match`, only if it is another than the one you have."""
    with caller.office.reading() as session:
        row = tasks.task(session, caller.office, caller.viewer, caller.here[0].id, task_id)
    form = wanted(request, GRAPHS)
    digest = str(row.files[form])
    headers = {"ETag": f'"{digest}"', "Vary": "Accept, Authorization, Cookie", "Cache-Control": "private, no-cache"}
    if _matches(request.headers.get("if-none-match", ""), digest):
        return Response(status_code=304, headers=headers)
    store = caller.office.sealed if row.sealed else caller.office.files
    headers["Content-Length"] = str(store.size(digest))
    return StreamingResponse(store.pieces(digest), media_type=MEDIA[form], headers=headers)


def _matches(given: str, digest: str) -> bool:
    """Whether a caller has this content already; weak marks compare the same here (RFC 9110)."""
    marks = {mark.strip().removeprefix("W/") for mark in given.split(",")[:50]}
    return f'"{digest}"' in marks or "*" in marks


def _shown(caller: Caller, row: ReadingTaskRow) -> TaskShown:
    return TaskShown(
        id=row.id,
        url=f"/api/v1/campaigns/{caller.here[0].slug}/reading/tasks/{row.id}",
        package=row.reading_package_id,
        mode=row.mode,
        part=row.part,
        content=row.content,
        queries=list(row.queries),
        documents=row.documents,
        made=row.made,
    )
