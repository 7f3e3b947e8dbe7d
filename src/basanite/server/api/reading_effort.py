"""Effort for programs: the work that went into a system before a run, and what runs scored for it (R-45)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field

from basanite.campaign.model.refusals import refused
from basanite.campaign.store.tables import ReadingEffort
from basanite.campaign.work.reading import efforts, runs
from basanite.reading.adaptation import adaptation_object, adaptation_report
from basanite.registry import suggestion
from basanite.reports.outputs import html
from basanite.scoring import find_task
from basanite.server.api.reading import Id, Maker, Reader, count

ROUTER = APIRouter()


class WorkSent(BaseModel):
    """Some work on a system; negative numbers correct a mistake and need a note."""

    activity: str = Field(max_length=60)
    """`rules`, `annotation`, `tooling` or another activity of the log of effort."""
    minutes: float = Field(allow_inf_nan=False)
    rules: int = 0
    examples: int = 0
    note: str = Field(default="", max_length=500)
    key: str = Field(min_length=1, max_length=100)
    """Names this line: sent twice, it counts once."""


class WorkShown(BaseModel):
    """A line of the log."""

    activity: str
    minutes: float
    rules: int
    examples: int
    note: str
    key: str
    at: datetime


class EffortShown(BaseModel):
    """All work that is kept with a run."""

    run: str
    hours: float
    work: list[WorkShown]


@ROUTER.post("/runs/{run_id}/effort", status_code=201)
def log_effort(run_id: Id, sent: WorkSent, caller: Maker, request: Request) -> EffortShown:
    """Log work that went into the system of a run before it."""
    count(request, caller)
    with caller.office.writing() as session:
        row = runs.run(session, caller.viewer, caller.here[0].id, run_id)
        work = efforts.Work(sent.activity, sent.minutes, sent.rules, sent.examples, sent.note)
        efforts.add_work(session, caller.office, caller.actor, row, work, key=sent.key)
        return _show_effort(run_id, efforts.work_on(session, [run_id]))


@ROUTER.get("/runs/{run_id}/effort")
def show_effort(run_id: Id, caller: Reader) -> EffortShown:
    """The work that is kept with a run."""
    with caller.office.reading() as session:
        runs.run(session, caller.viewer, caller.here[0].id, run_id)
        return _show_effort(run_id, efforts.work_on(session, [run_id]))


@ROUTER.get("/tasks/{task_id}/adaptation", response_model=None)
def show_adaptation(
    task_id: Id,
    caller: Reader,
    request: Request,
    metric: Annotated[str, Query(max_length=40)] = "f",
    form: Literal["json", "html"] = "json",
) -> Response:
    """The runs of a task against the work behind them; a value that would use up a result seen is left out."""
    count(request, caller)
    known = {one.name: one.display_name for one in find_task("reading").metrics}
    if metric not in known:
        raise refused("R-45", f"there is no metric {metric!r}", suggestion(metric, tuple(known)), status=422)
    found = efforts.adapted_runs(caller.office, caller.actor, caller.viewer, caller.here[0].id, task_id, metric=metric)
    if form == "json":
        data: Any = adaptation_object(metric, found)
        return JSONResponse(data)
    report = adaptation_report(caller.here[1].title, known[metric], found)
    headers = {"Content-Disposition": 'attachment; filename="adaptation.html"'}
    return HTMLResponse(html.render(report), headers=headers)


def _show_effort(run_id: str, lines: list[ReadingEffort]) -> EffortShown:
    work = [
        WorkShown(
            activity=one.activity,
            minutes=one.minutes,
            rules=one.rules,
            examples=one.examples,
            note=one.note,
            key=one.key,
            at=one.at,
        )
        for one in lines
    ]
    return EffortShown(run=run_id, hours=sum(one.minutes for one in lines) / 60, work=work)
