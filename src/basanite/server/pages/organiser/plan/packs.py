"""Data packs and their files, encrypted early where the plan has a key minute; agreements and deletions (M89, P-26)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.plan import Pack
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.organising.looking.teams import Copy, copies, names
from basanite.campaign.packs import downloading, files, keys
from basanite.campaign.people.terms import agreements, deletions
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/packs"
LARGEST = 8 * 2**30
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
    files: tuple[files.PackListing, ...]
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

    title: str
    packs: tuple[PackCard, ...]
    copies: tuple[Copy, ...]
    deletions: tuple[DeletionLine, ...]
    largest: int = LARGEST
    agreements: Mapping[str, str] = field(default_factory=dict)
    """What the agreements are called."""


@ROUTER.get(ADDRESS)
def packs(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/{{pack}}/files")
async def add(request: Request, caller: Organiser, pack: str) -> Response:
    """Put a file into a pack; with a key minute it is encrypted before it lies anywhere."""
    taken = await take(request, caller.office.settings.data / "uploads", LARGEST)
    try:
        return await run_in_threadpool(_added, request, caller, pack, taken)
    finally:
        taken.forget()


@ROUTER.get(f"{ADDRESS}/agreements/{{copy}}")
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


@ROUTER.post(f"{ADDRESS}/agreements/{{copy}}")
def decide_copy(request: Request, caller: Organiser, form: Filled, copy: str) -> Response:
    """Sign too, or refuse the copy with a reason."""
    accept = form.text("accept") == "yes"

    def act(session: Session) -> None:
        _check_copy(session, caller, copy)
        who = (session, caller.office, caller.actor, copy)
        if accept:
            agreements.counter_sign(*who)
        else:
            agreements.refuse_signature(*who, reason=form.text("reason"))

    words = said("The agreement is executed.") if accept else said("The copy is refused. The PI gets a mail.")
    return done(request, caller, act, lambda: _asked(caller), at(caller, "/packs"), words)


def _check_copy(session: Session, caller: Caller, copy: str) -> None:
    """A copy of another campaign is not here, whoever asks."""
    if copy not in {one.id for one in copies(session, caller.here[0].id, most=10**6)}:
        raise missing("copy")


def _added(request: Request, caller: Caller, pack: str, taken: Taken) -> Response:
    row, campaign = caller.here
    try:
        if taken.path is None:
            raise refused("M89", said("there is no file"), said("choose a file"), status=422)
        with caller.office.writing() as session:
            found = files.find_pack(campaign, pack)
            files.add_file(session, caller.office, caller.actor, row.id, found, taken.path, taken.name)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _asked(caller), error)
    return go(caller, at(caller, "/packs"), said("The file is in the pack."))


def _asked(caller: Caller) -> PacksPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        listed = files.list_files(session, row.id, campaign)
        taken = [one.pack for one in downloading.downloads(session, row.id)]
        known = names(session, row.id)
        owed = [
            DeletionLine(known.get(one.team, ""), one.agreement, one.due, one.certified, one.overdue)
            for one in deletions.deletions(session, row.id, caller.now)
        ]
        signed = copies(session, row.id)
    cards = tuple(_card(caller, pack, listed, taken.count(pack.id)) for pack in campaign.packs)
    named = {one.id: one.title for one in campaign.agreements}
    return PacksPage(say("Packs and agreements"), cards, signed, tuple(owed), agreements=named)


def _card(caller: Caller, pack: Pack, listed: tuple[files.PackListing, ...], downloads: int) -> PackCard:
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
        keys.is_out(pack, caller.now),
        own[:SHOWN],
        max(len(own) - SHOWN, 0),
        downloads,
    )
