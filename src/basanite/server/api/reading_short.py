"""The short addresses of the reading services: a task or a run is found by its id alone, in whatever campaign it is.

Both kinds are documented: these are what the specification of the reading services names, and those within a campaign
follow the rest of this API. They do the same, by the same functions. People neither in a team of the campaign nor
in its evaluation team gets the answer that an unknown id gets, so nobody learns what there is (R-23, X-16).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.work.reading import runs as kept_runs
from basanite.campaign.work.reading import tasks as kept_tasks
from basanite.server.api.reading import (
    FETCHED,
    SENT,
    SERVED,
    HeaderKey,
    Id,
    Key,
    Package,
    ReadingTaskShown,
    RunShown,
    RunWanted,
    ScoreShown,
    TakenShown,
    TaskWanted,
    begin_run,
    body_of,
    fetch_reading_task,
    list_reading_tasks,
    list_runs,
    make_reading_task,
    send_answers,
    show_run,
    show_score,
)
from basanite.server.api.reading_services import REASONER_FORMS, Service, Triples, ask_reasoner
from basanite.server.roles import Caller, allow, within

ROUTER = APIRouter(tags=["reading"])
User = Annotated[Caller, allow("user", scope="read")]
Submitter = Annotated[Caller, allow("user", scope="submit")]
Slug = Annotated[str, Query(max_length=100, description="The campaign, by its slug.")]


class PlacedTask(TaskWanted):
    """What a task should hold, and in which campaign it is made."""

    campaign: str = Field(default="", max_length=100)
    """Its slug; it may stand in the query instead."""


def _within(caller: Caller, what: str, find: Callable[[Session], str]) -> Caller:
    """The caller in the campaign that is found; without a part in it there is nothing to be found."""
    try:
        with caller.office.reading() as session:
            here = within(session, caller, find(session))
    except RefusedError:  # its words would tell an unknown name from a stranger's
        raise missing(what) from None
    if not here.roles & SERVED:
        raise missing(what)
    return here


def _caller_in(caller: Caller, slug: str) -> Caller:
    if not slug:
        raise refused("R-23", "the call names no campaign", "add ?campaign=SLUG", status=422)
    return _within(caller, "campaign", lambda _: slug)


def _reader_of_task(task_id: Id, caller: User) -> Caller:
    return _within(caller, "reading task", lambda session: kept_tasks.campaign_of(session, task_id))


def _reader_of_run(run_id: Id, caller: User) -> Caller:
    return _within(caller, "run", lambda session: kept_runs.campaign_of(session, run_id))


def _maker_of_run(run_id: Id, caller: Submitter) -> Caller:
    return _within(caller, "run", lambda session: kept_runs.campaign_of(session, run_id))


def _reader_in(caller: User, campaign: Slug = "") -> Caller:
    return _caller_in(caller, campaign)


InCampaign = Annotated[Caller, Depends(_reader_in)]
OfTask = Annotated[Caller, Depends(_reader_of_task)]
OfRun = Annotated[Caller, Depends(_reader_of_run)]


@ROUTER.post("/reading-tasks", status_code=201)
def make_task_in_campaign(
    asked: PlacedTask, caller: Submitter, request: Request, response: Response, campaign: Slug = ""
) -> ReadingTaskShown:
    """Make a reading task in a campaign, which stands in the body or in the query."""
    here = _caller_in(caller, campaign or asked.campaign)
    return make_reading_task(asked, here, request, response)


@ROUTER.get("/reading-tasks")
def list_tasks_in_campaign(caller: InCampaign) -> list[ReadingTaskShown]:
    """The tasks of a campaign that the caller may fetch, newest first."""
    return list_reading_tasks(caller)


@ROUTER.get("/reading-tasks/{task_id}", response_class=StreamingResponse, responses=FETCHED)
def fetch_task_by_id(task_id: Id, caller: OfTask, request: Request) -> Response:
    """The graph of a task, streamed in the form that the caller takes."""
    return fetch_reading_task(task_id, caller, request)


@ROUTER.post("/runs", status_code=201)
def begin_run_of_task(asked: RunWanted, caller: Submitter, request: Request, response: Response) -> RunShown:
    """Begin a run of a system on a task, whose campaign is that of the run."""
    here = _within(caller, "reading task", lambda session: kept_tasks.campaign_of(session, asked.task))
    return begin_run(asked, here, request, response)


@ROUTER.get("/runs")
def list_runs_in_campaign(caller: InCampaign) -> list[RunShown]:
    """The runs of the own team in a campaign, newest first."""
    return list_runs(caller)


@ROUTER.get("/runs/{run_id}")
def show_run_by_id(run_id: Id, caller: OfRun) -> RunShown:
    """One run."""
    return show_run(run_id, caller)


@ROUTER.post("/runs/{run_id}/answers", openapi_extra=body_of(*SENT))
async def send_answers_of_run(
    run_id: Id,
    caller: Annotated[Caller, Depends(_maker_of_run)],
    request: Request,
    key: Key = "",
    header: HeaderKey = "",
) -> TakenShown:
    """Send answers of a run, all or some."""
    return await send_answers(run_id, caller, request, key, header)


@ROUTER.get("/runs/{run_id}/score")
def show_score_of_run(
    run_id: Id, caller: OfRun, request: Request, gold: Annotated[str, Query(max_length=20)] = ""
) -> ScoreShown:
    """The score of a run as far as the caller may see it."""
    return show_score(run_id, caller, request, gold)


@ROUTER.post("/dsrs/{service}", openapi_extra=body_of(*REASONER_FORMS))
async def reason_in_campaign(
    service: Service,
    caller: InCampaign,
    request: Request,
    package: Package = "",
    query: Triples = "",
    statement: Triples = "",
) -> dict[str, Any]:
    """Reason with the rules and the ontology of a package of a campaign, which stands in the query."""
    return await ask_reasoner(service, caller, request, package, query, statement)
