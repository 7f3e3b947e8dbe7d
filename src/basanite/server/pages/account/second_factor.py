"""Setting up the second factor: a picture for the phone, one code to prove it, recovery codes to keep (X-11)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from itsdangerous import BadSignature, URLSafeTimedSerializer
from markupsafe import Markup

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Office
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Account
from basanite.server.accounts import guards, second_factor, sessions, signing_in
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/account/second-factor"
OFFERED_SECONDS = 1800


@dataclass(frozen=True)
class SecondFactorPage:
    """On: how many recovery codes are left. Off: a picture to scan. Just switched on: the recovery codes, once."""

    title: str
    on: bool = False
    left: int = 0
    picture: str = ""
    secret: str = field(default="", repr=False)
    kept: str = ""
    """The offered secret, signed and tied to the person, so that the form can bring it back."""
    codes: tuple[str, ...] = ()


@ROUTER.get(ADDRESS)
def second_factor_page(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """Where the second factor stands."""
    return show(request, caller, _page(caller))


@ROUTER.post(ADDRESS)
def switch_on(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Switch it on, if the code shows that the phone has the secret."""
    guards.count_try(request, "code")
    office, person = caller.office, str(caller.viewer.person)
    secret = _offered(office, person, form.raw("offered"))
    with office.writing() as session:
        account = session.get_one(Account, person)
        on = secret is None or second_factor.is_on(account)
        codes = None if on else second_factor.switch_on(session, office, account, str(secret), form.text("code"))
        cookie = sessions.renew(session, office, request.state.signed_in, strong=True) if codes else ""
    if not codes:
        wrong = refused(
            "X-11", "this code is not right", "look at the time of your phone, and try the next", status=422
        )
        return refuse(request, caller, _page(caller, secret), wrong)
    response = show(request, caller, SecondFactorPage(say("Your second factor is on"), True, len(codes), codes=codes))
    cookies.put_session(response, office, cookie)
    return response


@ROUTER.post(f"{ADDRESS}/off")
def switch_off(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Switch it off, with password and a code; who is of the evaluation team loses its pages with it."""
    guards.count_try(request, "code")
    office, person = caller.office, str(caller.viewer.person)
    with office.writing() as session:
        account = session.get_one(Account, person)
        right = signing_in.is_password(session, office, person, form.raw("password"))
        right = right and second_factor.accept(session, office, account, form.text("code"))
        if right:
            second_factor.switch_off(session, office, caller.actor, account)
            sessions.revoke(session, office, caller.actor, person, why="second factor off")
    if not right:
        wrong = refused("X-11", "password or code is not right", "type both again, with a new code", status=401)
        return refuse(request, caller, _page(caller), wrong)
    return go(caller, "/sign-in", said("The second factor is off. Please sign in again."))


def _page(caller: Caller, secret: str | None = None) -> SecondFactorPage:
    office, person = caller.office, str(caller.viewer.person)
    with office.reading() as session:
        account = session.get_one(Account, person)
        if second_factor.is_on(account):
            return SecondFactorPage(say("Second factor"), True, second_factor.recovery_left(office, account))
        mail = personal(session, office, person).mail
    secret = secret or second_factor.fresh_secret()
    offer = second_factor.offer(secret, mail or person)
    kept = _serializer(office).dumps([person, secret])
    return SecondFactorPage(say("Second factor"), picture=Markup(offer.picture), secret=secret, kept=kept)


def _offered(office: Office, person: str, kept: str) -> str | None:
    try:
        who, secret = _serializer(office).loads(kept, max_age=OFFERED_SECONDS)
    except (BadSignature, ValueError, TypeError):
        return None
    return str(secret) if who == person else None


def _serializer(office: Office) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(office.vault.secret("cookies", "offers"), salt="second factor")
