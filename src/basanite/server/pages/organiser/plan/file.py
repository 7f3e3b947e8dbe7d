"""The campaign's file: a new version is previewed first, with what changes and which deviations that makes (P-28)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.exposure import unprotected
from basanite.campaign.model.freezing import Change
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.organising import plans
from basanite.campaign.organising.looking import previewing
from basanite.campaign.organising.looking.previewing import PlanPreview
from basanite.campaign.store.tables import Deviation
from basanite.campaign.turns import turn
from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.problems import Problem
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.organiser.carrying import back, carried
from basanite.server.pages.organiser.desk import BASE, Organiser, at, name_of, refusal
from basanite.server.pages.organiser.plan.changes import ChangeLine, change_lines
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/plan"
LARGEST = 150 * 1024
"""Bytes of a campaign's file that the form takes; larger ones come by the command line."""
SHOWN = 200


@dataclass(frozen=True)
class VersionLine:
    """One version of the file."""

    version: int
    digest: str
    made: datetime
    by: str
    reason: str


@dataclass(frozen=True)
class DeviationLine:
    """A change of what was frozen."""

    window: str
    at: datetime
    by: str
    reason: str
    results_known: bool
    changes: tuple[ChangeLine, ...]


@dataclass(frozen=True)
class FilePage:
    """The file, its versions and deviations; or a new version before it holds."""

    title: str
    text: str
    versions: tuple[VersionLine, ...]
    deviations: tuple[DeviationLine, ...]
    preview: PlanPreview | None = None
    fresh: str = ""
    """The text that is previewed, in Base64: it comes back byte by byte, whatever browsers do to lines."""
    reason: str = ""
    shown: tuple[ChangeLine, ...] = ()
    """The changes of the preview, in words."""
    warnings: tuple[Problem, ...] = ()
    """What the new version leaves open to probing."""


@ROUTER.get(ADDRESS)
def plan(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.get(f"{ADDRESS}/{{version}}.toml")
def download(caller: Organiser, version: int) -> Response:
    """One version of the file, as it was given."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = {one.version: one.text for one in previewing.versions(session, row.id)}
    if version not in found:
        raise missing("version")
    name = f'attachment; filename="{row.slug}-{version}.toml"'
    return Response(found[version], media_type="application/toml", headers={"Content-Disposition": name})


@ROUTER.post(f"{ADDRESS}/preview")
async def preview(request: Request, caller: Organiser) -> Response:
    """Look at a new version; nothing is kept."""
    taken = await take(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_previewed, request, caller, taken)
    finally:
        taken.forget()


@ROUTER.post(ADDRESS)
async def change(request: Request, caller: Organiser) -> Response:
    """Let the version that was looked at hold."""
    taken = await take(request, caller.office.settings.data / "uploads", LARGEST)
    taken.forget()
    return await run_in_threadpool(_changed, request, caller, taken)


def _previewed(request: Request, caller: Caller, taken: Taken) -> Response:
    try:
        text = _text(taken)
        with turn(caller.office, caller.viewer.party, "preview"), caller.office.reading() as session:
            found = previewing.preview(session, caller.office, caller.here[0].id, text)
    except InvalidInputError as error:
        return refuse(request, caller, _asked(caller), refusal(error))
    except RefusedError as error:
        return refuse(request, caller, _asked(caller), error)
    return show(request, caller, _asked(caller, found, carried(text)))


def _text(taken: Taken) -> str:
    if taken.path is None:
        raise refused("P-28", said("there is no file"), said("choose the campaign's file"), status=422)
    try:
        return read_bounded(taken.path, LARGEST).decode("utf-8")
    except UnicodeDecodeError:
        raise refused("P-28", said("this is no text in UTF-8"), said("save it as UTF-8"), status=422) from None


def _changed(request: Request, caller: Caller, taken: Taken) -> Response:
    text, reason = back(taken.form.text("text")), taken.form.text("reason")
    try:
        with caller.office.writing() as session:
            found = _same(session, caller, text, taken.form.text("digest"))
            plans.change(session, caller.office, caller.actor, caller.here[0].id, text, reason=reason)
    except InvalidInputError as error:
        return refuse(request, caller, _asked(caller), refusal(error))
    except RefusedError as error:
        with caller.office.reading() as session:
            again = previewing.preview(session, caller.office, caller.here[0].id, text)
        return refuse(request, caller, _asked(caller, again, carried(text), reason), error)
    words = (
        said("The new version holds.") if not found.deviations else said("The new version holds; deviations are kept.")
    )
    return go(caller, at(caller, "/plan"), words)


def _same(session: Session, caller: Caller, text: str, digest: str) -> PlanPreview:
    """The preview of exactly the text that was looked at."""
    found = previewing.preview(session, caller.office, caller.here[0].id, text)
    if found.digest != digest:
        raise refused("P-28", said("the file changed since the preview"), said("upload it again"), status=409)
    return found


def _asked(caller: Caller, found: PlanPreview | None = None, fresh: str = "", reason: str = "") -> FilePage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        versions = previewing.versions(session, row.id)
        lines = [
            VersionLine(one.version, one.digest, one.made, name_of(session, caller, one.made_by), one.reason)
            for one in versions[:SHOWN]
        ]
        gone = [_deviation(session, caller, one) for one in plans.deviations(session, row.id)[::-1][:SHOWN]]
    return FilePage(
        say("Plan and deviations"),
        versions[0].text,
        tuple(lines),
        tuple(gone),
        found,
        fresh,
        reason,
        change_lines(found.changes, found.campaign, campaign) if found else (),
        unprotected(found.campaign) if found else (),
    )


def _deviation(session: Session, caller: Caller, one: Deviation) -> DeviationLine:
    gone = [Change(each["what"], each["from"], each["to"]) for each in one.changes]
    lines = change_lines(gone, caller.here[1])
    return DeviationLine(one.window, one.at, name_of(session, caller, one.by), one.reason, one.results_known, lines)
