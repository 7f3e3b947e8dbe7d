"""Data packs with what they may be used for, the agreements that open them, and the rules that everybody accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.model.plan import Pack, UsageRules
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.packs.downloading import hand_out, obstacles
from basanite.campaign.packs.files import PackListing, list_files
from basanite.campaign.packs.keys import published_keys
from basanite.campaign.people.terms import agreements, deletions, rules
from basanite.formats.packs.domains import Domain, shipped_domains
from basanite.formats.packs.usage_rules import UsageRule
from basanite.problems import Problem
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.pages.foundation.multipart import Taken, take
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/packs"


@dataclass(frozen=True)
class PackCard:
    """One pack as the reader may have it."""

    id: str
    title: str
    released: datetime
    is_out: bool
    files: tuple[PackListing, ...]
    obstacles: tuple[Problem, ...]
    """What is still to be done before it can be downloaded."""
    usage: tuple[tuple[str, str], ...]
    """What may be done with it, and whether."""
    key: str
    key_at: datetime | None


@dataclass(frozen=True)
class AgreementCard:
    """An agreement, and where the team stands with it."""

    id: str
    title: str
    version: str
    text: str
    state: str
    expires: datetime | None
    deletion: str = ""
    """The signature whose data are to be deleted, if a certificate is owed."""


@dataclass(frozen=True)
class PacksPage:
    """Rules, agreements, packs."""

    title: str
    to_accept: tuple[UsageRules, ...]
    accepted: tuple[UsageRules, ...]
    agreements: tuple[AgreementCard, ...]
    packs: tuple[PackCard, ...]
    member: bool
    pi: bool
    staff: bool
    domains: tuple[Domain, ...] = ()
    """The domains that are known by now, with what belongs to each (M87)."""
    may_join: bool = False


@ROUTER.get(ADDRESS)
def packs(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/rules")
def accept_rules(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Accept a version of the rules."""
    row = caller.here[0]
    with caller.office.writing() as session:
        rules.accept_rules(session, caller.office, caller.actor, row.id, form.text("rules"), form.text("version"))
    return go(caller, ADDRESS.format(slug=row.slug), said("Thank you. You have accepted the rules."))


@ROUTER.post(f"{ADDRESS}/agreements/{{agreement}}")
async def sign(request: Request, caller: Annotated[Caller, allow("pi")], agreement: str) -> Response:
    """The PI uploads a signed copy."""
    folder = caller.office.settings.data / "uploads"
    taken = await take(request, folder, agreements.LARGEST_COPY)
    try:
        return await run_in_threadpool(_signed, request, caller, agreement, taken)
    finally:
        taken.forget()


@ROUTER.post(f"{ADDRESS}/deletions/{{signature}}")
def certify_deletion(
    request: Request, caller: Annotated[Caller, allow("pi")], form: Filled, signature: str
) -> Response:
    """The PI certifies that the data are deleted (P-26)."""
    with caller.office.writing() as session:
        deletions.certify_deletion(session, caller.office, caller.actor, signature)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug), said("Thank you. The deletion is certified."))


@ROUTER.get(f"{ADDRESS}/files/{{file}}")
def download(caller: Annotated[Caller, allow("member", "evaluation")], file: str) -> Response:
    """A file of a pack, for who may have it; who took it is recorded (P-26)."""
    row, campaign = caller.here
    with caller.office.writing() as session:
        handed = hand_out(session, caller.office, caller.actor, caller.viewer, row.id, campaign, file)
    return FileResponse(handed.path, media_type="application/octet-stream", filename=handed.name)


def _signed(request: Request, caller: Caller, agreement: str, taken: Taken) -> Response:
    try:
        if taken.path is None:
            raise refused("P-26", "there is no file", "choose the signed copy", status=422)
        with caller.office.writing() as session:
            copy = taken.path.read_bytes()
            agreements.sign(session, caller.office, caller.actor, caller.team, agreement, copy=copy)
    except RefusedError as error:
        return refuse(request, caller, _asked(caller), error)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug), said("The signed copy is here."))


def _asked(caller: Caller) -> PacksPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        left = rules.unaccepted(session, row.id, str(caller.viewer.person))
        return PacksPage(
            say("Data and rules"),
            left,
            tuple(one for one in campaign.rules if one not in left),
            tuple(_agreements(session, caller)),
            tuple(_packs(session, caller)),
            caller.viewer.team is not None,
            caller.viewer.pi,
            caller.viewer.staff,
            tuple(_domains(caller)),
            caller.may_join(session),
        )


def _domains(caller: Caller) -> Iterator[Domain]:
    """Domains that the plan has released, as the catalogue describes them."""
    known = shipped_domains().domains
    out = (release for release in caller.here[1].domains if release.released.utc <= caller.now)
    codes = dict.fromkeys(code for release in out for code in release.codes)
    yield from (known[code] for code in codes if code in known)


def _agreements(session: Session, caller: Caller) -> Iterator[AgreementCard]:
    row, campaign = caller.here
    asked = deletions.deletions(session, row.id, caller.now) if caller.viewer.pi else ()
    mine = (one for one in asked if one.team == caller.viewer.team and one.certified is None)
    owed = {one.agreement: one.signature for one in mine}
    for one in campaign.agreements:
        standing = agreements.standing(session, campaign, caller.viewer.team, one.id, caller.now)
        expires = one.expires.utc if one.expires else None
        yield AgreementCard(one.id, one.title, one.version, one.text, standing.state, expires, owed.get(one.id, ""))


def _packs(session: Session, caller: Caller) -> Iterator[PackCard]:
    row, campaign = caller.here
    files = list_files(session, row.id, campaign)
    keys = {one.pack: one.key for one in published_keys(session, caller.office, row.id, campaign)}
    may = caller.viewer.team is not None or caller.viewer.staff
    for pack in campaign.packs:
        is_out = pack.released.utc <= caller.now
        found = tuple(obstacles(session, caller.viewer, row.id, campaign, pack, caller.now)) if may else ()
        found = () if caller.viewer.staff else found
        yield PackCard(
            pack.id,
            pack.title,
            pack.released.utc,
            is_out,
            tuple(one for one in files if one.pack == pack.id) if is_out and may and not found else (),
            found,
            _usage(pack),
            keys.get(pack.id, "") if may and not found else "",
            pack.key_at.utc if pack.key_at else None,
        )


def _usage(pack: Pack) -> tuple[tuple[str, str], ...]:
    return tuple((one.action, _answer(one)) for one in rules.rules_of_pack(pack))


def _answer(rule: UsageRule) -> str:
    word = say("yes") if rule.allowed else say("no")
    return say("{word}: {condition}", word=word, condition=rule.condition) if rule.condition else word
