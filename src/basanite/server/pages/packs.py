"""Data: packs with their usage, the agreements and rules that open them, and the register of resources (P-26, M93)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from basanite.campaign.actions.packs import PackListing, hand_out, list_files, obstacles, published_keys
from basanite.campaign.model.plan import Pack, UsageRules
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.people import agreements
from basanite.campaign.people import resources as register
from basanite.campaign.people.resources import Declared
from basanite.campaign.people.teams import find_team
from basanite.formats.datasets.domains import Domain, shipped_domains
from basanite.formats.datasets.usage_rules import UsageRule
from basanite.problems import Problem
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import PostedForm, UploadForm, read_upload_form
from basanite.server.pages.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
PACKS_ADDRESS = "/campaigns/{slug}/packs"


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

    template = "campaign/packs.html"
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


@ROUTER.get(PACKS_ADDRESS)
def show_packs(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page."""
    return show(request, caller, _packs_page(caller))


@ROUTER.post(f"{PACKS_ADDRESS}/rules")
def accept_rules(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Accept a version of the rules."""
    row = caller.here[0]
    with caller.office.writing() as session:
        agreements.accept_rules(session, caller.office, caller.actor, row.id, form.text("rules"), form.text("version"))
    return go(caller, PACKS_ADDRESS.format(slug=row.slug), say_plain("Thank you. You accepted the rules."))


@ROUTER.post(f"{PACKS_ADDRESS}/agreements/{{agreement}}")
async def sign_agreement(request: Request, caller: Annotated[Caller, allow("pi")], agreement: str) -> Response:
    """The PI uploads a signed copy."""
    folder = caller.office.settings.data / "uploads"
    taken = await read_upload_form(request, folder, agreements.LARGEST_COPY)
    try:
        return await run_in_threadpool(_keep_copy, request, caller, agreement, taken)
    finally:
        taken.forget()


@ROUTER.post(f"{PACKS_ADDRESS}/deletions/{{signature}}")
def certify_deletion(
    request: Request, caller: Annotated[Caller, allow("pi")], form: PostedForm, signature: str
) -> Response:
    """The PI certifies that the data are deleted (P-26)."""
    with caller.office.writing() as session:
        agreements.certify_deletion(session, caller.office, caller.actor, signature)
    return go(
        caller, PACKS_ADDRESS.format(slug=caller.here[0].slug), say_plain("Thank you. The deletion is certified.")
    )


@ROUTER.get(f"{PACKS_ADDRESS}/files/{{file}}")
def download_file(caller: Annotated[Caller, allow("member", "evaluation")], file: str) -> Response:
    """A file of a pack, for who may have it; who took it is recorded (P-26)."""
    with caller.office.writing() as session:
        handed = hand_out(session, caller.office, caller.actor, caller.viewer, caller.here, file)
    return FileResponse(handed.path, media_type="application/octet-stream", filename=handed.name)


def _keep_copy(request: Request, caller: Caller, agreement: str, taken: UploadForm) -> Response:
    try:
        if taken.path is None:
            raise refused("P-26", "the file is missing", "choose the signed copy", status=422)
        with caller.office.writing() as session:
            copy = taken.path.read_bytes()
            agreements.sign(session, caller.office, caller.actor, caller.team, agreement, copy=copy)
    except RefusedError as error:
        return refuse(request, caller, _packs_page(caller), error)
    return go(caller, PACKS_ADDRESS.format(slug=caller.here[0].slug), say_plain("The signed copy is uploaded."))


def _packs_page(caller: Caller) -> PacksPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        left = agreements.unaccepted_rules(session, row.id, str(caller.viewer.person))
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
    asked = agreements.deletions(session, row.id, caller.now) if caller.viewer.pi else ()
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
    return tuple((one.action, _usage_answer(one)) for one in agreements.rules_of_pack(pack))


def _usage_answer(rule: UsageRule) -> str:
    word = say("yes") if rule.allowed else say("no")
    return say("{word}: {condition}", word=word, condition=rule.condition) if rule.condition else word


RESOURCES_ADDRESS = "/campaigns/{slug}/resources"
Reader = Annotated[Caller, allow("member", "evaluation")]
Member = Annotated[Caller, allow("member")]
KINDS = {
    "harvested": sentence("Data harvested from the web"),
    "purchased": sentence("Purchased data"),
    "open_queries": sentence("Use of open queries"),
    "adaptation": sentence("Online adaptation to evaluation data"),
}


@dataclass(frozen=True)
class ResourceLine:
    """One entry of the register."""

    one: Declared
    kind: str
    window: str
    """The title of the window in which it is first used."""
    team: str
    """The name of the team, for the evaluation team alone."""


@dataclass(frozen=True)
class ResourcesPage:
    """The register as the reader may see it."""

    template = "teams/resources.html"
    title: str
    mine: tuple[ResourceLine, ...]
    shared: tuple[ResourceLine, ...]
    """What other teams have shared."""
    member: bool
    kinds: tuple[tuple[str, str], ...]
    languages: tuple[str, ...]
    windows: tuple[tuple[str, str], ...]
    description: str = ""
    """What was typed into a form that could not be taken."""


@ROUTER.get(RESOURCES_ADDRESS)
def show_resources(request: Request, caller: Reader) -> Response:
    """The page."""
    return show(request, caller, _resources_page(caller))


@ROUTER.post(RESOURCES_ADDRESS)
def declare_resource(request: Request, caller: Member, form: PostedForm) -> Response:
    """Declare a resource."""

    def act(session: Session) -> None:
        words = {name: form.text(name) for name in ("kind", "description", "language", "used_in")}
        register.declare(session, caller.office, caller.actor, caller.team, register.NewResource(**words))

    return _change_register(request, caller, act, say_plain("The resource is declared."), form.text("description"))


@ROUTER.post(f"{RESOURCES_ADDRESS}/{{resource}}/share")
def share_resource(request: Request, caller: Member, form: PostedForm, resource: str) -> Response:
    """Say where the other teams find a resource."""

    def act(session: Session) -> None:
        register.require_entry(session, caller.here[0].id, resource)
        register.mark_shared(session, caller.office, caller.actor, resource, where=form.text("where"))

    return _change_register(
        request, caller, act, say_plain("Thank you. All teams can now see where to find the resource.")
    )


@ROUTER.post(f"{RESOURCES_ADDRESS}/{{resource}}/withdraw")
def withdraw_resource(request: Request, caller: Member, form: PostedForm, resource: str) -> Response:
    """Take back a declaration that was made by mistake."""

    def act(session: Session) -> None:
        register.require_entry(session, caller.here[0].id, resource)
        register.withdraw(session, caller.office, caller.actor, resource)

    return _change_register(request, caller, act, say_plain("The declaration is withdrawn."))


def _change_register(
    request: Request, caller: Caller, act: Callable[[Session], Any], words: str, description: str = ""
) -> Response:
    try:
        with caller.office.writing() as session:
            act(session)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _resources_page(caller, description), error)
    return go(caller, RESOURCES_ADDRESS.format(slug=caller.here[0].slug), words)


def _resources_page(caller: Caller, description: str = "") -> ResourcesPage:
    row, campaign = caller.here
    team = caller.viewer.team
    with caller.office.reading() as session:
        listed = register.resources(session, row.id, caller.now, team_id=team)
        others = register.shared_with_all(session, row.id, caller.now) if team else ()
        return ResourcesPage(
            say("Resources"),
            tuple(_resource_line(session, caller, one, named=team is None) for one in listed),
            tuple(_resource_line(session, caller, one) for one in others if one.team != team),
            team is not None,
            tuple((kind, str(say(text))) for kind, text in KINDS.items()),
            campaign.languages,
            tuple((one.id, one.title) for one in campaign.windows),
            description,
        )


def _resource_line(session: Session, caller: Caller, one: Declared, *, named: bool = False) -> ResourceLine:
    windows = {window.id: window.title for window in caller.here[1].windows}
    team = find_team(session, one.team).name if named else ""
    return ResourceLine(one, str(say(KINDS[one.kind])), windows.get(one.used_in, one.used_in), team)
