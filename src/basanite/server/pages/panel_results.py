"""What a panel ends in: files, and a version of the reference; and batches for a crowd platform (X-18)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions import references
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.store.tables import CrowdBatch, Panel
from basanite.campaign.work.panels import batches, outcome
from basanite.campaign.work.panels.lookup import panel_named
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.server.catalogue import plural, say_plain
from basanite.server.pages.forms import PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_data import places, words_of
from basanite.server.pages.organiser_frame import (
    MOST_PROBLEMS,
    PANEL,
    Organiser,
    PanelHead,
    act_on_panel,
    at,
    panel_address,
    panel_head,
    panel_with_scheme,
)
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
TASKS = {
    "panels": ("readability",),
    "verdicts": ("e2e",),
    "key-query": ("clir", "e2e"),
    "key-domain": ("domainid",),
    "qrels": ("ranking",),
}
"""The tasks whose reference the files of a scheme can be."""
MOST_VERSIONS = 50


@dataclass(frozen=True)
class FileLine:
    """One file."""

    name: str
    size: int
    note: str


@dataclass(frozen=True)
class VersionLine:
    """A version of a reference that panels made."""

    id: str
    place: str
    version: int
    at: datetime
    reason: str


@dataclass(frozen=True)
class ResultsPage:
    """The files as they stand, and the form for a version of the reference."""

    template = "panels/results.html"
    title: str
    panel: PanelHead
    files: tuple[FileLine, ...]
    rule: str
    digest: str
    undecided: int
    judgements: int
    places: tuple[tuple[str, str], ...]
    versions: tuple[VersionLine, ...]
    chosen: str = ""
    reason: str = ""
    unfinished: bool = False
    place: str = "/results"


@ROUTER.get(f"{PANEL}/results")
def show_results(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    return show(request, caller, _results_page(caller, panel))


@ROUTER.get(f"{PANEL}/results/{{name:path}}")
def download(caller: Organiser, panel: str, name: str) -> Response:
    """One file."""
    with caller.office.reading() as session:
        row, _ = panel_with_scheme(session, caller, panel)
        made = {one.name: one.content for one in outcome.files(session, caller.office, row.id).files}
    if name not in made:
        raise missing("file")
    plain = f"{row.name}-{name.replace('/', '-')}"
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(made[name], media_type="application/octet-stream", headers=headers)


@ROUTER.post(f"{PANEL}/results")
def make_reference(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Make a version of the reference, and go where its re-scoring is previewed."""
    chosen, reason, unfinished = form.text("place"), form.text("reason"), bool(form.text("unfinished"))
    try:
        place = places(caller.here[1]).get(chosen)
        if place is None:
            raise refused(
                "M62", say_plain("no window accepts this"), say_plain("choose what the reference is for"), status=422
            )
        if not reason:
            raise refused(
                "M88", say_plain("a new version needs a reason"), say_plain("describe its content"), status=422
            )
        with caller.office.reading() as session:
            row = panel_named(session, caller.here[0].id, panel)
        made = outcome.make_reference(caller.office, caller.actor, row.id, place, reason=reason, unfinished=unfinished)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _results_page(caller, panel, chosen, reason, unfinished), error)
    if made.state == "active":
        return go(caller, at(caller, "/references"), say_plain("The reference is sealed and active. The task is open."))
    words = say_plain("The version is sealed and proposed. Preview a re-scoring to see what it would change.")
    return go(caller, at(caller, f"/rescoring?reference={made.id}"), words)


def _results_page(
    caller: Caller, name: str, chosen: str = "", reason: str = "", unfinished: bool = False
) -> ResultsPage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        ended = outcome.files(session, caller.office, panel.id)
        versions = tuple(_versions(session, caller.here[0].id, panel.name))
        top = panel_head(session, panel, scheme)
    wanted = {task for kind in scheme.files for task in TASKS.get(kind, ())}
    fitting = ((key, place) for key, place in places(caller.here[1]).items() if place.task.lower() in wanted)
    return ResultsPage(
        say_plain("Results"),
        top,
        tuple(FileLine(one.name, len(one.content), one.note) for one in ended.files if ended.judgements),
        ended.rule,
        ended.digest,
        ended.undecided,
        ended.judgements,
        tuple((key, words_of(place)) for key, place in fitting),
        versions,
        chosen,
        reason,
        unfinished,
    )


def _versions(session: Session, campaign_id: str, name: str) -> list[VersionLine]:
    """The versions whose truth people made, the newest first."""
    found_there = [one for one in references.versions(session, campaign_id)[::-1] if one.files.get("judged")]
    return [
        VersionLine(one.id, words_of(one), one.version, one.made, one.reason) for one in found_there[:MOST_VERSIONS]
    ]


MOST_BATCHES = 200
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

    template = "panels/batches.html"
    title: str
    panel: PanelHead
    may_export: bool
    batches: tuple[BatchLine, ...]
    refusals: tuple[Problem, ...] = ()
    refused: int = 0
    """How many there are; not all are listed."""
    place: str = "/batches"


@ROUTER.get(f"{PANEL}/batches")
def show_batches(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    return show(request, caller, _batches_page(caller, panel))


@ROUTER.post(f"{PANEL}/batches")
def export_batch(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Make a batch."""

    def act(session: Session, row: Panel) -> None:
        batches.export_batch(session, caller.office, caller.actor, row.id)

    words = say_plain("The batch is ready. Download its template and its rows.")
    return act_on_panel(request, caller, panel, act, lambda: _batches_page(caller, panel), words, then="/batches")


@ROUTER.get(f"{PANEL}/batches/{{batch}}/{{name}}")
def download_batch(caller: Organiser, panel: str, batch: str, name: str) -> Response:
    """The template, or the table of rows, as they went out."""
    with caller.office.reading() as session:
        row, _ = panel_with_scheme(session, caller, panel)
        batches.find_batch(session, batch, panel_id=row.id)
        sent = batches.batch_files(session, batch)
    if name not in MEDIA:
        raise refused("X-18", say_plain("no such file"), say_plain("see the list of batches"), status=404)
    content = sent.template.encode() if name == "template.xml" else sent.table
    plain = f'attachment; filename="{row.name}-{sent.number}-{name}"'
    return Response(content, media_type=MEDIA[name], headers={"Content-Disposition": plain})


@ROUTER.post(f"{PANEL}/batches/{{batch}}")
async def import_results(request: Request, caller: Organiser, panel: str, batch: str) -> Response:
    """Take in results: all of them, or none and what is wrong with each row."""
    taken = await read_upload_form(request, caller.office.sealed.scratch, batches.LARGEST)  # it names workers
    try:
        return await run_in_threadpool(_import_results, request, caller, panel, batch, taken)
    finally:
        taken.forget()


def _import_results(request: Request, caller: Caller, panel: str, batch: str, taken: UploadForm) -> Response:
    try:
        if taken.path is None:
            raise refused(
                "X-18", say_plain("the file is missing"), say_plain("choose the platform's results file"), status=422
            )
        raw = read_bounded(taken.path, batches.LARGEST)
        with caller.office.writing() as session:
            row, _ = panel_with_scheme(session, caller, panel)
            batches.find_batch(session, batch, panel_id=row.id)
            made = batches.import_batch(session, caller.office, caller.actor, batch, raw, file=taken.name)
    except RefusedError as error:
        if error.status == 404:
            raise
        return show(request, caller, _batches_page(caller, panel, error.problems), status=error.status)
    words = plural(made.votes, "{count} judgment is imported.", "{count} judgments are imported.")
    known = plural(made.repeated, "{count} was already known.", "{count} were already known.")
    return go(caller, panel_address(caller, panel, "/batches"), f"{words} {known}" if made.repeated else str(words))


def _batches_page(caller: Caller, name: str, refusals: tuple[Problem, ...] = ()) -> BatchesPage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        lines = tuple(_batch_line(one) for one in batches.batches(session, panel.id)[::-1][:MOST_BATCHES])
        top = panel_head(session, panel, scheme)
    listed = tuple(refusals[:MOST_PROBLEMS])
    return BatchesPage(say_plain("Crowd batches"), top, panel.state == "open", lines, listed, len(refusals))


def _batch_line(one: CrowdBatch) -> BatchLine:
    return BatchLine(one.id, one.number, one.state, len(one.hits), one.made, one.imported)
