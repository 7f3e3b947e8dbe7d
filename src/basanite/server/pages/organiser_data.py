"""References, sealed and checked before they open a task, and data packs with agreements and deletions (X-1, P-26)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions import references, two_people
from basanite.campaign.actions.overview import SignedCopy, signed_copies, team_names
from basanite.campaign.actions.packs import NewFile, PackListing, add_file, downloads, find_pack, is_out, list_files
from basanite.campaign.actions.reference_intake import LARGEST as REFERENCE_LARGEST
from basanite.campaign.actions.reference_intake import add_from_file
from basanite.campaign.actions.references import Place
from basanite.campaign.model.plan import Campaign, Pack
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.people import agreements
from basanite.campaign.store.tables import Reference
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.forms import PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.pages.organiser_frame import BASE, Organiser, at, finish_form, name_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
REFERENCE_ADDRESS = f"{BASE}/references"


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

    template = "organiser/references.html"
    title: str
    versions: tuple[VersionLine, ...]
    places: tuple[tuple[str, str], ...]
    two: bool
    chosen: str = ""
    reason: str = ""


@ROUTER.get(REFERENCE_ADDRESS)
def list_references(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _reference_page(caller))


@ROUTER.post(REFERENCE_ADDRESS)
async def add_reference(request: Request, caller: Organiser) -> Response:
    """Add a version; the first of a place opens its task."""
    taken = await read_upload_form(request, caller.office.sealed.scratch, REFERENCE_LARGEST)
    try:
        return await run_in_threadpool(_add_reference, request, caller, taken)
    finally:
        taken.forget()


def places(campaign: Campaign) -> dict[str, Place]:
    """Every place that a window takes, by what a form says to mean it."""
    every = (place for window in campaign.windows for place in references.window_places(campaign, window))
    return {"|".join((place.task, place.dataset, place.language, place.queryset)): place for place in every}


def words_of(place: Place | Reference) -> str:
    """A place in one line."""
    return " · ".join(part for part in (place.task, place.dataset, place.language, place.queryset) if part)


def _add_reference(request: Request, caller: Caller, taken: UploadForm) -> Response:
    chosen, reason = taken.form.text("place"), taken.form.text("reason")
    try:
        if taken.path is None:
            raise refused(
                "M36",
                say_plain("the file is missing"),
                say_plain("choose the file or archive of the answer key"),
                status=422,
            )
        place = places(caller.here[1]).get(chosen)
        if place is None:
            raise refused(
                "M62", say_plain("no window accepts this"), say_plain("choose what the reference is for"), status=422
            )
        given = {"name": taken.name, "reason": reason}
        made = add_from_file(caller.office, caller.actor, caller.here, place, taken.path, **given)
    except RefusedError as error:
        return refuse(request, caller, _reference_page(caller, chosen, reason), error)
    return go(caller, at(caller, "/references"), _reference_words(caller, made))


def _reference_words(caller: Caller, made: Reference) -> str:
    if made.version == 1 and two_people.needs_two(caller.here[1], "reference"):
        return say_plain("Your request waits for a second organizer.")
    if made.state == "active":
        return say_plain("The reference is sealed and active. The task is open.")
    return say_plain("The version is sealed and proposed. Preview a re-scoring to see what it would change.")


def _reference_page(caller: Caller, chosen: str = "", reason: str = "") -> ReferencesPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        lines = tuple(_line(session, caller, one) for one in references.versions(session, row.id)[::-1])
    known = tuple((value, words_of(place)) for value, place in places(campaign).items())
    return ReferencesPage(say("References"), lines, known, two_people.needs_two(campaign, "reference"), chosen, reason)


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


PACK_ADDRESS = f"{BASE}/packs"
PACK_LARGEST = 8 * 2**30
SHOWN = 500


@dataclass(frozen=True)
class PackCard:
    """One pack of the plan."""

    id: str
    title: str
    family: str
    released: datetime
    is_out: bool
    sealed: bool
    agreement: str
    key_at: datetime | None
    key_out: bool
    files: tuple[PackListing, ...]
    more: int
    """How many files are not listed."""
    downloads: int


@dataclass(frozen=True)
class DeletionLine:
    """A certificate of deletion that was asked for."""

    team: str
    agreement: str
    due: datetime
    certified: datetime | None
    overdue: bool


@dataclass(frozen=True)
class PacksPage:
    """Packs, agreements, deletions."""

    template = "organiser/packs.html"
    title: str
    packs: tuple[PackCard, ...]
    copies: tuple[SignedCopy, ...]
    deletions: tuple[DeletionLine, ...]
    largest: int = PACK_LARGEST
    agreements: Mapping[str, str] = field(default_factory=dict)
    """What the agreements are called."""


@ROUTER.get(PACK_ADDRESS)
def packs(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _pack_page(caller))


@ROUTER.post(f"{PACK_ADDRESS}/{{pack}}/files")
async def upload_file(request: Request, caller: Organiser, pack: str) -> Response:
    """Put a file into a pack; with a key minute it is encrypted before it lies anywhere."""
    taken = await read_upload_form(request, caller.office.settings.data / "uploads", PACK_LARGEST)
    try:
        return await run_in_threadpool(_add_file, request, caller, pack, taken)
    finally:
        taken.forget()


@ROUTER.get(f"{PACK_ADDRESS}/agreements/{{copy}}")
def signed_copy(caller: Organiser, copy: str) -> Response:
    """A signed copy, to look at before signing too."""
    with caller.office.reading() as session:
        _check_copy(session, caller, copy)
        found = agreements.signed_copy(session, caller.office, caller.actor, copy)
    if found is None:
        raise missing("copy")
    kind, content = found
    ending = kind.rpartition("/")[2]
    headers = {"Content-Disposition": f'attachment; filename="agreement.{ending}"'}
    return Response(content, media_type=kind, headers=headers)


@ROUTER.post(f"{PACK_ADDRESS}/agreements/{{copy}}")
def decide_copy(request: Request, caller: Organiser, form: PostedForm, copy: str) -> Response:
    """Sign too, or refuse the copy with a reason."""
    accept = form.text("accept") == "yes"

    def act(session: Session) -> None:
        _check_copy(session, caller, copy)
        who = (session, caller.office, caller.actor, copy)
        if accept:
            agreements.counter_sign(*who)
        else:
            agreements.refuse_signature(*who, reason=form.text("reason"))

    words = (
        say_plain("The agreement is executed.") if accept else say_plain("The copy is declined. The PI gets an email.")
    )
    return finish_form(request, caller, act, lambda: _pack_page(caller), at(caller, "/packs"), words)


def _check_copy(session: Session, caller: Caller, copy: str) -> None:
    """A copy of another campaign is not here, no matter who asks."""
    if copy not in {one.id for one in signed_copies(session, caller.here[0].id, most=10**6)}:
        raise missing("copy")


def _add_file(request: Request, caller: Caller, pack: str, taken: UploadForm) -> Response:
    row, campaign = caller.here
    try:
        if taken.path is None:
            raise refused("M89", say_plain("the file is missing"), say_plain("choose a file"), status=422)
        with caller.office.writing() as session:
            found = find_pack(campaign, pack)
            add_file(session, caller.office, caller.actor, row.id, found, NewFile(taken.path, taken.name))
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _pack_page(caller), error)
    return go(caller, at(caller, "/packs"), say_plain("The file is added to the data pack."))


def _pack_page(caller: Caller) -> PacksPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        listed = list_files(session, row.id, campaign)
        taken = [one.pack for one in downloads(session, row.id)]
        known = team_names(session, row.id)
        owed = [
            DeletionLine(known.get(one.team, ""), one.agreement, one.due, one.certified, one.overdue)
            for one in agreements.deletions(session, row.id, caller.now)
        ]
        signed = signed_copies(session, row.id)
    cards = tuple(_card(caller, pack, listed, taken.count(pack.id)) for pack in campaign.packs)
    named = {one.id: one.title for one in campaign.agreements}
    return PacksPage(say("Data packs and agreements"), cards, signed, tuple(owed), agreements=named)


def _card(caller: Caller, pack: Pack, listed: tuple[PackListing, ...], downloads: int) -> PackCard:
    own = tuple(one for one in listed if one.pack == pack.id)
    return PackCard(
        pack.id,
        pack.title,
        pack.family,
        pack.released.utc,
        pack.released.utc <= caller.now,
        pack.sealed,
        pack.agreement,
        pack.key_at.utc if pack.key_at else None,
        is_out(pack, caller.now),
        own[:SHOWN],
        max(len(own) - SHOWN, 0),
        downloads,
    )
