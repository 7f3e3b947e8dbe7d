"""What a panel ends in: files of declared formats, and a version of the reference that is previewed before it holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.organising import references
from basanite.campaign.panels.deciding import ending
from basanite.campaign.panels.found import panel_named
from basanite.campaign.store.tables import Reference
from basanite.server.catalogue import said
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.organiser.desk import Organiser, at
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, found, head
from basanite.server.pages.organiser.plan.references import places, words_of
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
SHOWN = 50


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
def results(request: Request, caller: Organiser, panel: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel))


@ROUTER.get(f"{PANEL}/results/{{name:path}}")
def download(caller: Organiser, panel: str, name: str) -> Response:
    """One file."""
    with caller.office.reading() as session:
        row, _ = found(session, caller, panel)
        made = {one.name: one.content for one in ending.files(session, caller.office, row.id).files}
    if name not in made:
        raise missing("file")
    plain = f"{row.name}-{name.replace('/', '-')}"
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    return Response(made[name], media_type="application/octet-stream", headers=headers)


@ROUTER.post(f"{PANEL}/results")
def make(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Make a version of the reference, and go where its re-scoring is previewed."""
    chosen, reason, unfinished = form.text("place"), form.text("reason"), bool(form.text("unfinished"))
    try:
        place = places(caller.here[1]).get(chosen)
        if place is None:
            raise refused("M62", said("no window takes this"), said("choose what the reference is for"), status=422)
        if not reason:
            raise refused("M88", said("a version needs its reason"), said("say what it is made of"), status=422)
        with caller.office.reading() as session:
            row = panel_named(session, caller.here[0].id, panel)
        made = ending.make_reference(caller.office, caller.actor, row.id, place, reason=reason, unfinished=unfinished)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller, panel, chosen, reason, unfinished), error)
    if made.state == "active":
        return go(caller, at(caller, "/references"), said("The reference is sealed and holds: the task is open."))
    words = said("The version is sealed and proposed. Preview a re-scoring to see what it would change.")
    return go(caller, at(caller, f"/rescoring?reference={made.id}"), words)


def _asked(caller: Caller, name: str, chosen: str = "", reason: str = "", unfinished: bool = False) -> ResultsPage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        ended = ending.files(session, caller.office, panel.id)
        versions = tuple(_versions(session, caller.here[0].id, panel.name))
        top = head(session, panel, scheme)
    wanted = {task for kind in scheme.files for task in TASKS.get(kind, ())}
    fitting = ((key, place) for key, place in places(caller.here[1]).items() if place.task.lower() in wanted)
    return ResultsPage(
        said("Results"),
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
    found_there = [one for one in references.versions(session, campaign_id)[::-1] if _judged(one)]
    return [VersionLine(one.id, words_of(one), one.version, one.made, one.reason) for one in found_there[:SHOWN]]


def _judged(one: Reference) -> bool:
    return bool(one.files.get("judged"))
