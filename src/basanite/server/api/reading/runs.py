"""Runs: begun, answered in any number of pieces, and scored (R-23)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field

from basanite.campaign.answering import runs, scoring, services
from basanite.campaign.model.refusals import refused
from basanite.campaign.store.tables import ReadingRun, ReadingUpload
from basanite.server.api.reading.calls import SENT, Id, Maker, Reader, body_of, count, media_of, with_body
from basanite.server.api.schema import ProblemShown
from basanite.server.roles import Caller

ROUTER = APIRouter()
Key = Annotated[str, Query(max_length=100, description="Names this call: sent twice, it counts once.")]
HeaderKey = Annotated[str, Header(alias="Idempotency-Key", max_length=100)]


class RunWanted(BaseModel):
    """A system that is to answer a task."""

    task: str = Field(max_length=64)
    label: str = Field(min_length=1, max_length=100)
    """What the system is called; its own contributions to the gold are known by it (S-21)."""
    key: str = Field(min_length=1, max_length=100)
    """Asked for twice with the same key, there is one run."""


class RunShown(BaseModel):
    """A run."""

    id: str
    url: str
    task: str
    label: str
    made: datetime
    answers: int


class TakenShown(BaseModel):
    """What came of one call with answers."""

    id: str
    taken: int
    problems: list[ProblemShown]
    """What is wrong, line by line; lines without a problem were taken."""
    counted: int
    """How many problems there were, listed or not."""


class ScoreShown(BaseModel):
    """The score of a run as far as the caller may see it."""

    run: str
    level: str
    """`full`, `limited`, `top`, or `none` as long as nothing may be seen."""
    gold: str
    answers: int
    result: dict[str, Any] | None


@ROUTER.post("/runs", status_code=201)
def begin_run(asked: RunWanted, caller: Maker, request: Request, response: Response) -> RunShown:
    """Begin a run of a system on a task."""
    count(request, caller)
    with caller.office.writing() as session:
        words = {"label": asked.label, "key": asked.key}
        row = runs.start(session, caller.office, caller.actor, caller.viewer, caller.here[0].id, asked.task, **words)
        shown = _shown(caller, row, len(runs.answers(session, row)))
    response.headers["Location"] = shown.url
    return shown


@ROUTER.get("/runs")
def list_runs(caller: Reader) -> list[RunShown]:
    """The runs of the own team, newest first."""
    with caller.office.reading() as session:
        found = runs.runs(session, caller.viewer, caller.here[0].id)
        return [_shown(caller, row, len(runs.answers(session, row))) for row in found]


@ROUTER.get("/runs/{run_id}")
def show_run(run_id: Id, caller: Reader) -> RunShown:
    """One run."""
    with caller.office.reading() as session:
        row = runs.run(session, caller.viewer, caller.here[0].id, run_id)
        return _shown(caller, row, len(runs.answers(session, row)))


@ROUTER.post("/runs/{run_id}/answers", openapi_extra=body_of(*SENT))
async def send_answers(
    run_id: Id, caller: Maker, request: Request, key: Key = "", header: HeaderKey = ""
) -> TakenShown:
    """Send answers, all or some: NDJSON as in a submission, or RDF; what cannot be read is told line by line."""
    media, name = media_of(request, SENT), key or header
    if not name:
        fix = "add ?key=… or the header Idempotency-Key"
        raise refused("R-23", "the call has no key, so it could count twice", fix, status=422)

    def work(body: bytes) -> ReadingUpload:
        who = (caller.office, caller.actor, caller.viewer, caller.here[0].id)
        return services.take_answers(*who, run_id, body, media=media, key=name)

    made = await with_body(request, caller, work)
    problems = [ProblemShown(**one) for one in made.problems]
    return TakenShown(id=made.id, taken=made.taken, problems=problems, counted=made.counted)


@ROUTER.get("/runs/{run_id}/score")
def show_score(
    run_id: Id, caller: Reader, request: Request, gold: Annotated[str, Query(max_length=20)] = ""
) -> ScoreShown:
    """The score of a run against a version of the gold, the newest if none is named."""
    count(request, caller)
    with caller.office.reading() as session:
        row = runs.run(session, caller.viewer, caller.here[0].id, run_id)
    found = scoring.see(caller.office, caller.actor, caller.viewer, row, gold)
    result = None if found.result is None else dict(found.result)
    return ScoreShown(run=found.run, level=found.level, gold=found.gold, answers=found.answers, result=result)


def _shown(caller: Caller, row: ReadingRun, count_: int) -> RunShown:
    return RunShown(
        id=row.id,
        url=f"/api/v1/campaigns/{caller.here[0].slug}/reading/runs/{row.id}",
        task=row.reading_task_id,
        label=row.label,
        made=row.made,
        answers=count_,
    )
