"""Batches for a crowd platform: a template and a table go out, results come back bound to what was sent (X-18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.panels.preparing import batches as acts
from basanite.campaign.store.tables import CrowdBatch, Panel
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.server.catalogue import plural, said
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.organiser.desk import MOST_PROBLEMS, Organiser
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, acted, found, head, here
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
SHOWN = 200
MEDIA = {"template.xml": "application/xml", "rows.csv": "text/csv"}


@dataclass(frozen=True)
class BatchLine:
    """One batch."""

    id: str
    number: int
    state: str
    rows: int
    made: datetime
    imported: datetime | None = None


@dataclass(frozen=True)
class BatchesPage:
    """All batches, and what was wrong with results that were refused."""

    title: str
    panel: PanelHead
    may_export: bool
    batches: tuple[BatchLine, ...]
    refusals: tuple[Problem, ...] = ()
    refused: int = 0
    """How many there are; not all are listed."""
    place: str = "/batches"


@ROUTER.get(f"{PANEL}/batches")
def batches(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel))


@ROUTER.post(f"{PANEL}/batches")
def export(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Make a batch."""

    def act(session: Session, row: Panel) -> None:
        acts.export_batch(session, caller.office, caller.actor, row.id)

    words = said("The batch is made. Download its template and its rows.")
    return acted(request, caller, panel, act, lambda: _asked(caller, panel), words, then="/batches")


@ROUTER.get(f"{PANEL}/batches/{{batch}}/{{name}}")
def download(caller: Organiser, panel: str, batch: str, name: str) -> Response:
    """The template, or the table of rows, as they went out."""
    with caller.office.reading() as session:
        row, _ = found(session, caller, panel)
        acts.find_batch(session, batch, panel_id=row.id)
        sent = acts.sent(session, batch)
    if name not in MEDIA:
        raise refused("X-18", said("there is no such file"), said("look at the list of batches"), status=404)
    content = sent.template.encode() if name == "template.xml" else sent.table
    plain = f'attachment; filename="{row.name}-{sent.number}-{name}"'
    return Response(content, media_type=MEDIA[name], headers={"Content-Disposition": plain})


@ROUTER.post(f"{PANEL}/batches/{{batch}}")
async def results(request: Request, caller: Organiser, panel: str, batch: str) -> Response:
    """Take in results: all of them, or none and what is wrong with each row."""
    taken = await take(request, caller.office.sealed.folder / "fresh", acts.LARGEST)  # it names workers
    try:
        return await run_in_threadpool(_taken_in, request, caller, panel, batch, taken)
    finally:
        taken.forget()


def _taken_in(request: Request, caller: Caller, panel: str, batch: str, taken: Taken) -> Response:
    try:
        if taken.path is None:
            raise refused("X-18", said("there is no file"), said("choose the results of the platform"), status=422)
        raw = read_bounded(taken.path, acts.LARGEST)
        with caller.office.writing() as session:
            row, _ = found(session, caller, panel)
            acts.find_batch(session, batch, panel_id=row.id)
            made = acts.import_batch(session, caller.office, caller.actor, batch, raw, file=taken.name)
    except RefusedError as error:
        if error.status == 404:
            raise
        return show(request, caller, _asked(caller, panel, error.problems), status=error.status)
    return go(caller, here(caller, panel, "/batches"), _said(made))


def _said(made: acts.Imported) -> str:
    words = plural(made.votes, "{count} judgement is taken in.", "{count} judgements are taken in.")
    known = plural(made.repeated, "{count} was known.", "{count} were known.")
    return f"{words} {known}" if made.repeated else str(words)


def _asked(caller: Caller, name: str, refusals: tuple[Problem, ...] = ()) -> BatchesPage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        lines = tuple(_line(one) for one in acts.batches(session, panel.id)[::-1][:SHOWN])
        top = head(session, panel, scheme)
    listed = tuple(refusals[:MOST_PROBLEMS])
    return BatchesPage(said("Crowd batches"), top, panel.state == "open", lines, listed, len(refusals))


def _line(one: CrowdBatch) -> BatchLine:
    return BatchLine(one.id, one.number, one.state, len(one.hits), one.made, one.imported)
