"""Signing in with a password, or at a provider; and signing out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.people.privacy.addresses import note_address
from basanite.campaign.settings import Provider
from basanite.server.accounts import guards, sessions, signing_in
from basanite.server.catalogue import said, say
from basanite.server.known import is_telling
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.forms import Filled, target
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
HALF_WAY = "basanite-half-way"


@dataclass(frozen=True)
class SignInPage:
    """The form for mail address and password."""

    title: str
    then: str
    mail: str = ""
    providers: tuple[Provider, ...] = ()
    sign_up: bool = True


@ROUTER.get("/sign-in")
def sign_in(request: Request, caller: Annotated[Caller, allow("visitor")], then: str = "/") -> Response:
    """The form; who is signed in already goes on."""
    where = target(request, then)
    return go(caller, where) if caller.known else show(request, caller, _page(caller.office, where))


@ROUTER.post("/sign-in")
def signed_in(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """Try a password."""
    guards.count_try(request, "sign-in")
    office, mail, then = caller.office, form.text("mail"), target(request, form.text("then"))
    with office.writing() as session:
        attempt = signing_in.with_password(session, office, mail, form.raw("password"), caller.address)
    if attempt.outcome == "in":
        return let_in(request, caller, attempt.person, then)
    if attempt.outcome == "second factor":
        return ask_for_code(caller, attempt.person, then)
    return refuse(request, caller, _page(office, then, mail), _refusal(attempt))


@ROUTER.post("/sign-out")
def sign_out(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """End this session, on the server too."""
    signed = getattr(request.state, "signed_in", None)
    if signed is not None:
        with caller.office.writing() as session:
            sessions.revoke(session, caller.office, caller.actor, signed.person, [signed.digest], why="signed out")
    response = go(caller, "/", said("You are signed out."))
    cookies.drop(response, caller.office, sessions.cookie_name(caller.office))
    return response


def let_in(request: Request, caller: Caller, person: str, then: str, *, strong: bool = False) -> Response:
    """Begin a session under a new id; one that this browser had before ends (X-11)."""
    office, agent = caller.office, sessions.browser_in_words(request.headers.get("user-agent", ""))
    before = getattr(request.state, "signed_in", None)
    with office.writing() as session:
        if before is not None:
            sessions.revoke(session, office, caller.actor, before.person, [before.digest], why="signed in anew")
        cookie = sessions.start(session, office, person, strong=strong, agent=agent)
        if is_telling(caller.address):
            note_address(session, office, person, caller.address)
    response = go(caller, then)
    cookies.put_session(response, office, cookie)
    cookies.drop(response, office, HALF_WAY)
    return response


def ask_for_code(caller: Caller, person: str, then: str) -> Response:
    """The password was right: on to the second factor."""
    response = go(caller, "/sign-in/code")
    cookies.put(response, caller.office, HALF_WAY, signing_in.half_way(caller.office, person, then), seconds=600)
    return response


def _page(office: Office, then: str, mail: str = "") -> SignInPage:
    settings = office.settings.accounts
    return SignInPage(say("Sign in"), then, mail, settings.providers, settings.sign_up)


def _refusal(attempt: signing_in.Attempt) -> RefusedError:
    if attempt.until is not None:
        message = f"signing in with this address is locked until {attempt.until:%H:%M:%S} UTC"
        return refused(
            "P-11", message, "wait until then, or ask for a new password", status=429, retry_at=attempt.until
        )
    fix = "check both; confirm your address if you have just signed up"
    return refused("P-11", "mail address or password is not right", fix, status=401)
