"""Versions of the truth: each is sealed and checked before it can open a task; what is shown is a commitment (X-1)."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.organising import approvals, reference_files, references, seconding
from basanite.campaign.organising.references import Place
from basanite.campaign.store.tables import Reference
from basanite.campaign.turns import turn
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.organiser.desk import BASE, Organiser, at, name_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/references"
LARGEST = 2 * 2**30


@dataclass(frozen=True)
class VersionLine:
    """One version of the truth."""

    id: str
    place: str
    version: int
    state: str
    made: datetime
    by: str
    reason: str
    commitment: str
    released: datetime | None
    previewable: bool
    """Whether a re-scoring with it can be previewed."""


@dataclass(frozen=True)
class ReferencesPage:
    """All versions, place by place, and a form for another."""

    title: str
    versions: tuple[VersionLine, ...]
    places: tuple[tuple[str, str], ...]
    two: bool
    chosen: str = ""
    reason: str = ""


@ROUTER.get(ADDRESS)
def list_references(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(ADDRESS)
async def add(request: Request, caller: Organiser) -> Response:
    """Add a version; the first of a place opens its task."""
    taken = await take(request, caller.office.sealed.folder / "fresh", LARGEST)
    try:
        return await run_in_threadpool(_added, request, caller, taken)
    finally:
        taken.forget()


def places(campaign: Campaign) -> dict[str, Place]:
    """Every place that a window takes, by what a form says to mean it."""
    every = (place for window in campaign.windows for place in references.window_places(campaign, window))
    return {"|".join((place.task, place.dataset, place.language, place.queryset)): place for place in every}


def words_of(place: Place | Reference) -> str:
    """A place in one line."""
    return " · ".join(part for part in (place.task, place.dataset, place.language, place.queryset) if part)


def _added(request: Request, caller: Caller, taken: Taken) -> Response:
    chosen, reason = taken.form.text("place"), taken.form.text("reason")
    try:
        if taken.path is None:
            raise refused("M36", said("there is no file"), said("choose the file or archive of the key"), status=422)
        place = places(caller.here[1]).get(chosen)
        if place is None:
            raise refused("M62", said("no window takes this"), said("choose what the reference is for"), status=422)
        with tempfile.TemporaryDirectory(dir=taken.path.parent) as folder:  # beside the sealed files, never elsewhere
            named = taken.path.rename(Path(folder) / _plain(taken.name))
            state = _kept(caller, place, named, reason)
    except RefusedError as error:
        return refuse(request, caller, _asked(caller, chosen, reason), error)
    return go(caller, at(caller, "/references"), _said(state))


def _plain(name: str) -> str:
    """The name of an uploaded file without what could leave its folder; formats are told by its ending."""
    ending = "".join(Path(name).suffixes[-2:])[-20:]
    kept = "".join(char for char in ending if char.isascii() and (char.isalnum() or char == "."))
    return f"reference{kept}"


def _kept(caller: Caller, place: Place, path: Path, reason: str) -> str:
    row, campaign = caller.here
    office, two = caller.office, approvals.needs_two(campaign, "reference")
    with office.reading() as session:
        held = references.holding(session, row.id, place)
    material = reference_files.take_in(office, reference_files.Paths((path,))).after(held)
    with turn(office, row.id, "preview"):
        reference_files.check(office, campaign, place, material)
    with office.writing() as session:
        who = (session, office, caller.actor, row.id)
        made = references.add(*who, place, material, reason=reason, hold=two)
        if held is None and two:
            seconding.ask_to_open(*who, made.id)
        return "waits" if held is None and two else made.state


def _said(state: str) -> str:
    if state == "waits":
        return said("This waits now for a second organiser.")
    if state == "active":
        return said("The reference is sealed and holds: the task is open.")
    return said("The version is sealed and proposed. Preview a re-scoring to see what it would change.")


def _asked(caller: Caller, chosen: str = "", reason: str = "") -> ReferencesPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        lines = tuple(_line(session, caller, one) for one in references.versions(session, row.id)[::-1])
    known = tuple((value, words_of(place)) for value, place in places(campaign).items())
    return ReferencesPage(say("References"), lines, known, approvals.needs_two(campaign, "reference"), chosen, reason)


def _line(session: Session, caller: Caller, one: Reference) -> VersionLine:
    return VersionLine(
        one.id,
        words_of(one),
        one.version,
        one.state,
        one.made,
        name_of(session, caller, one.by),
        one.reason,
        one.commitment,
        one.released,
        one.state in ("proposed", "active"),
    )
