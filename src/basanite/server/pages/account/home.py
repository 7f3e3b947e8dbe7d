"""My account: name, zone, password, providers, and every browser that is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.people.persons import change_personal, personal
from basanite.campaign.settings import Provider
from basanite.campaign.store.tables import Account, Identity
from basanite.server.accounts import guards, joining, second_factor, sessions, signing_in
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation import times
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
MOST_BROWSERS = 100


@dataclass(frozen=True)
class Browser:
    """One signed-in browser."""

    digest: str
    agent: str
    made: datetime
    seen: datetime
    strong: bool
    this: bool


@dataclass(frozen=True)
class HomePage:
    """Everything about the own account."""

    title: str
    name: str
    mail: str
    zone: str
    zones: tuple[str, ...]
    has_password: bool
    second_factor: bool
    browsers: tuple[Browser, ...]
    identities: tuple[str, ...]
    """The issuers that this account is connected to."""
    providers: tuple[Provider, ...]
    """Those that it could still be connected to."""


@ROUTER.get("/account")
def home(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page."""
    return show(request, caller, _page(request, caller))


@ROUTER.post("/account/profile")
def change_profile(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Another name, another zone."""
    guards.count_try(request, "profile")  # a refusal tells that there is such a name
    person, zone = str(caller.viewer.person), form.text("zone")
    try:
        with caller.office.writing() as session:
            change_personal(session, caller.office, caller.actor, person, name=form.text("name"))
            session.get_one(Account, person).zone = zone if zone in times.zones() else "UTC"
    except RefusedError as error:
        return refuse(request, caller, _page(request, caller), error)
    return go(caller, "/account", said("Your changes are kept."))


@ROUTER.post("/account/password")
def change_password(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """A new password; all sessions end."""
    guards.count_try(request, "password")
    office, person = caller.office, str(caller.viewer.person)
    try:
        with office.writing() as session:
            account = session.get_one(Account, person)
            if account.password and not signing_in.is_password(session, office, person, form.raw("old")):
                raise refused(
                    "P-11", "the old password is not right", "type it again, or ask for a new one", status=401
                )
            joining.set_password(session, office, caller.actor, account, form.raw("password"))
    except RefusedError as error:
        return refuse(request, caller, _page(request, caller), error)
    return go(caller, "/sign-in", said("Your new password works. All your sessions were ended."))


@ROUTER.post("/account/sessions/end")
def end_sessions(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Sign out one browser, or all others."""
    person, this = str(caller.viewer.person), request.state.signed_in.digest
    with caller.office.writing() as session:
        chosen = [one.digest for one in sessions.mine(session, caller.office, person) if one.digest != this]
        if form.text("session"):
            chosen = [digest for digest in chosen if digest == form.text("session")]
        count = sessions.revoke(session, caller.office, caller.actor, person, chosen, why="by owner") if chosen else 0
    return go(caller, "/account", said("{count} signed out.", count=count))


def _page(request: Request, caller: Caller) -> HomePage:
    office, person = caller.office, str(caller.viewer.person)
    signed = getattr(request.state, "signed_in", None)
    with office.reading() as session:
        account, known = session.get_one(Account, person), personal(session, office, person)
        issuers = tuple(session.scalars(select(Identity.issuer).where(Identity.person_id == person)))
        browsers = [_browser(one, signed.digest if signed else "") for one in sessions.mine(session, office, person)]
    return HomePage(
        say("Your account"),
        known.name,
        known.mail,
        account.zone,
        tuple(times.zones()),
        account.password is not None,
        second_factor.is_on(account),
        tuple(browsers[:MOST_BROWSERS]),
        issuers,
        tuple(one for one in office.settings.accounts.providers if one.issuer not in issuers),
    )


def _browser(one: sessions.SignedIn, this: str) -> Browser:
    return Browser(one.digest, one.agent or "a browser", one.made, one.seen, one.strong, one.digest == this)
