"""Signing in at a provider, and connecting one to an account that is there already (X-11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from basanite.campaign.model.refusals import refused
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Account
from basanite.server.accounts import guards, oidc, second_factor, signing_in
from basanite.server.catalogue import said, say
from basanite.server.pages.account.sign_in import ask_for_code, let_in
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.forms import Filled, target
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
TRIP = "basanite-trip"
WAITING = "basanite-identity"


@dataclass(frozen=True)
class ProviderPage:
    """An identity waits for the password of the person who is signed in."""

    title: str
    issuer: str
    mail: str


@ROUTER.get("/oidc/{provider}")
def leave(request: Request, caller: Annotated[Caller, allow("visitor")], provider: str, then: str = "/") -> Response:
    """Send the browser to the provider."""
    guards.count_try(request, "oidc")
    address, trip = oidc.begin(caller.office, oidc.provider_named(caller.office, provider), target(request, then))
    response = RedirectResponse(address, 303)
    cookies.put(response, caller.office, TRIP, oidc.kept(caller.office, trip), seconds=oidc.ROUND_SECONDS)
    return response


@ROUTER.get("/oidc/{provider}/return")
def come_back(request: Request, caller: Annotated[Caller, allow("visitor")], provider: str) -> Response:
    """Who came back: let in, given an account, or asked for the password to connect it to one."""
    guards.count_try(request, "oidc-return")
    office = caller.office
    trip = oidc.trip_of(office, request.cookies.get(TRIP))
    foreign = oidc.finish(office, oidc.provider_named(office, provider), trip, request.query_params)
    then = target(request, trip.then if trip else "/")
    with office.reading() as session:
        person = oidc.find(session, foreign)
    response = _answer(request, caller, foreign, person, then)
    cookies.drop(response, office, TRIP)
    return response


@ROUTER.get("/account/connect")
def connect(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The question for the password."""
    foreign = oidc.waiting(caller.office, request.cookies.get(WAITING))
    return show(request, caller, _page(foreign)) if foreign else go(caller, "/account")


@ROUTER.post("/account/connect")
def connected(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Connect the identity, if the password is right."""
    guards.count_try(request, "connect")
    foreign = oidc.waiting(caller.office, request.cookies.get(WAITING))
    if foreign is None:
        return go(caller, "/account")
    person = str(caller.viewer.person)
    with caller.office.writing() as session:
        right = signing_in.is_password(session, caller.office, person, form.raw("password"))
        if right:
            oidc.join(session, caller.office, person, foreign)
    if not right:
        error = refused("X-11", "the password is not right", "type the password of this account", status=401)
        return refuse(request, caller, _page(foreign), error)
    response = go(caller, "/account", said("The provider is connected."))
    cookies.drop(response, caller.office, WAITING)
    return response


def _answer(request: Request, caller: Caller, foreign: oidc.Foreign, person: str | None, then: str) -> Response:
    office = caller.office
    if person is None and caller.known is not None:
        response = go(caller, "/account/connect")
        cookies.put(response, office, WAITING, oidc.kept(office, foreign), seconds=oidc.ROUND_SECONDS)
        return response
    with office.writing() as session:
        known, person = person, person or oidc.make_account(session, office, foreign)
        name, account = personal(session, office, person).name, session.get_one(Account, person)
        if account.closed is not None:
            raise refused("P-11", "this account is closed", "ask an organiser", status=403)
        second = second_factor.is_on(account)
    response = ask_for_code(caller, person, then) if second else let_in(request, caller, person, then)
    if known is None and foreign.name and name != foreign.name:
        words = said(
            "Your name can be taken for somebody else's here. You are called {name}; change it in your account.",
            name=name,
        )
        cookies.put_notice(response, office, "plain", words)
    return response


def _page(foreign: oidc.Foreign) -> ProviderPage:
    return ProviderPage(say("Connect a provider"), foreign.issuer, foreign.mail)
