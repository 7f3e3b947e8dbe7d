"""My account: name, zone, password, signed-in browsers, the second factor, and tokens for programs (X-11)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from itsdangerous import BadSignature, URLSafeTimedSerializer
from markupsafe import Markup
from sqlalchemy import select

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.people.persons import NewDetails, change_personal, personal
from basanite.campaign.settings import Provider
from basanite.campaign.store.tables import Account, Identity
from basanite.server.accounts import authentication, registration, second_factor, sessions
from basanite.server.accounts.tokens import SCOPES, NewToken, make_token, revoke_token, tokens_of
from basanite.server.catalogue import say, say_plain
from basanite.server.guard import count_try
from basanite.server.pages import frame, times
from basanite.server.pages.forms import Form, PostedForm, target
from basanite.server.pages.frame import go, refuse, show
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
class AccountPage:
    """Everything about the own account."""

    template = "account/home.html"
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
def show_account(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page."""
    return show(request, caller, _account_page(request, caller))


@ROUTER.post("/account/profile")
def change_profile(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Another name, another zone."""
    count_try(request, "profile")  # a refusal tells that there is such a name
    person, zone = str(caller.viewer.person), form.text("zone")
    try:
        with caller.office.writing() as session:
            change_personal(session, caller.office, caller.actor, person, NewDetails(name=form.text("name")))
            session.get_one(Account, person).zone = zone if zone in times.zones() else "UTC"
    except RefusedError as error:
        return refuse(request, caller, _account_page(request, caller), error)
    return go(caller, "/account", say_plain("Your changes are saved."))


@ROUTER.post("/account/password")
def change_password(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """A new password; all sessions end."""
    count_try(request, "password")
    office, person = caller.office, str(caller.viewer.person)
    try:
        with office.writing() as session:
            account = session.get_one(Account, person)
            if account.password and not authentication.is_password_of(session, office, person, form.raw("old")):
                raise refused("P-11", "the old password is wrong", "enter it again, or request a new one", status=401)
            registration.set_password(session, office, caller.actor, account, form.raw("password"))
    except RefusedError as error:
        return refuse(request, caller, _account_page(request, caller), error)
    return go(caller, "/sign-in", say_plain("Your password is changed. All sessions were ended."))


@ROUTER.post("/account/sessions/end")
def end_sessions(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Sign out one browser, or all others."""
    person, this = str(caller.viewer.person), request.state.signed_in.digest
    with caller.office.writing() as session:
        chosen = [one.digest for one in sessions.mine(session, caller.office, person) if one.digest != this]
        if form.text("session"):
            chosen = [digest for digest in chosen if digest == form.text("session")]
        count = sessions.revoke(session, caller.office, caller.actor, person, chosen, why="by owner") if chosen else 0
    return go(caller, "/account", say_plain("{count} signed out.", count=count))


def _account_page(request: Request, caller: Caller) -> AccountPage:
    office, person = caller.office, str(caller.viewer.person)
    signed = getattr(request.state, "signed_in", None)
    with office.reading() as session:
        account, known = session.get_one(Account, person), personal(session, office, person)
        issuers = tuple(session.scalars(select(Identity.issuer).where(Identity.person_id == person)))
        browsers = [_browser(one, signed.digest if signed else "") for one in sessions.mine(session, office, person)]
    return AccountPage(
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


SECOND_FACTOR_ADDRESS = "/account/second-factor"
OFFERED_SECONDS = 1800


@dataclass(frozen=True)
class SecondFactorPage:
    """On: how many recovery codes are left. Off: a picture to scan. Just switched on: the recovery codes, once."""

    template = "account/second_factor.html"
    title: str
    on: bool = False
    left: int = 0
    picture: str = ""
    secret: str = field(default="", repr=False)
    kept: str = ""
    """The offered secret, signed and tied to the person, so that the form can bring it back."""
    codes: tuple[str, ...] = ()
    then: str = "/account"
    """Where to go on once it is set up."""
    password: bool = True
    """Whether the account has a password, which is asked for; who signs in elsewhere alone has none."""


@ROUTER.get(SECOND_FACTOR_ADDRESS)
def show_second_factor(request: Request, caller: Annotated[Caller, allow("user")], then: str = "/account") -> Response:
    """Where the second factor stands."""
    return show(request, caller, replace(_second_factor_page(caller), then=target(request, then, "/account")))


@ROUTER.post(SECOND_FACTOR_ADDRESS)
def switch_on(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Switch it on, if the code shows that the phone has the secret."""
    count_try(request, "code")
    office, person = caller.office, str(caller.viewer.person)
    secret = _offered_secret(office, person, form.raw("offered"))
    with office.writing() as session:
        account = session.get_one(Account, person)
        known = account.password is None or authentication.is_password_of(session, office, person, form.raw("password"))
        on = secret is None or not known or second_factor.is_on(account)
        codes = None if on else second_factor.switch_on(session, office, account, str(secret), form.text("code"))
        cookie = sessions.renew(session, office, request.state.signed_in, strong=True) if codes else ""
    then = target(request, form.text("then"), "/account")
    if not known:
        wrong = refused("X-11", "the password is wrong", "enter the password of this account", status=401)
        return refuse(request, caller, replace(_second_factor_page(caller, secret), then=then), wrong)
    if not codes:
        wrong = refused("X-11", "the code is wrong", "check the time on your phone, and try the next code", status=422)
        return refuse(request, caller, replace(_second_factor_page(caller, secret), then=then), wrong)
    page = SecondFactorPage(say("Your second factor is on"), True, len(codes), codes=codes, then=then)
    response = show(request, caller, page)
    frame.set_session_cookie(response, office, cookie)
    return response


@ROUTER.post(f"{SECOND_FACTOR_ADDRESS}/off")
def switch_off(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Switch it off, with password and a code; who is of the evaluation team loses its pages with it."""
    count_try(request, "code")
    office, person = caller.office, str(caller.viewer.person)
    with office.writing() as session:
        account = session.get_one(Account, person)
        right = authentication.is_password_of(session, office, person, form.raw("password"))
        right = right and second_factor.accept(session, office, account, form.text("code"))
        if right:
            second_factor.switch_off(session, office, caller.actor, account)
            sessions.revoke(session, office, caller.actor, person, why="second factor off")
    if not right:
        wrong = refused("X-11", "the password or code is wrong", "enter both again, with a new code", status=401)
        return refuse(request, caller, _second_factor_page(caller), wrong)
    return go(caller, "/sign-in", say_plain("The second factor is turned off. Please sign in again."))


def _second_factor_page(caller: Caller, secret: str | None = None) -> SecondFactorPage:
    office, person = caller.office, str(caller.viewer.person)
    with office.reading() as session:
        account = session.get_one(Account, person)
        if second_factor.is_on(account):
            return SecondFactorPage(say("Second factor"), True, second_factor.recovery_left(office, account))
        mail, password = personal(session, office, person).mail, account.password is not None
    secret = secret or second_factor.fresh_secret()
    offer = second_factor.offer(secret, mail or person)
    kept = _offer_serializer(office).dumps([person, secret])
    picture = Markup(offer.picture)
    return SecondFactorPage(say("Second factor"), picture=picture, secret=secret, kept=kept, password=password)


def _offered_secret(office: Office, person: str, kept: str) -> str | None:
    try:
        who, secret = _offer_serializer(office).loads(kept, max_age=OFFERED_SECONDS)
    except (BadSignature, ValueError, TypeError):
        return None
    return str(secret) if who == person else None


def _offer_serializer(office: Office) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(office.vault.secret("cookies", "offers"), salt="second factor")


TOKENS_ADDRESS = "/account/tokens"
DAYS = (7, 30, 90, 365)


@dataclass(frozen=True)
class TokenLine:
    """One token in use."""

    id: str
    label: str
    scopes: tuple[str, ...]
    made: datetime
    expires: datetime | None
    used: datetime | None


@dataclass(frozen=True)
class TokensPage:
    """The tokens in use, the form for another, and a new one's text this once."""

    template = "account/tokens.html"
    title: str
    tokens: tuple[TokenLine, ...]
    scopes: dict[str, str]
    days: tuple[int, ...] = DAYS
    fresh: str = ""
    address: str = ""


@ROUTER.get(TOKENS_ADDRESS)
def show_tokens(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page."""
    return show(request, caller, _tokens_page(caller))


@ROUTER.post(TOKENS_ADDRESS)
def create_token(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Make a token, and show it this once."""
    try:
        with caller.office.writing() as session:
            made = make_token(
                session,
                caller.office,
                caller.actor,
                NewToken(
                    person_id=str(caller.viewer.person),
                    label=form.text("label"),
                    scopes=form.all("scope"),
                    lasts=timedelta(days=_days(form)),
                ),
                maker=caller.known,
            )
    except RefusedError as error:
        return refuse(request, caller, _tokens_page(caller), error)
    return show(request, caller, _tokens_page(caller, made.text), status=201)


@ROUTER.post(f"{TOKENS_ADDRESS}/{{token}}/revoke")
def end_token(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm, token: str) -> Response:
    """Make a token worthless."""
    with caller.office.writing() as session:
        revoke_token(session, caller.office, caller.actor, person_id=str(caller.viewer.person), token_id=token)
    return go(caller, TOKENS_ADDRESS, say_plain("The token is revoked."))


def _days(form: Form) -> int:
    text = form.text("days")
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _tokens_page(caller: Caller, fresh: str = "") -> TokensPage:
    with caller.office.reading() as session:
        rows = tokens_of(session, str(caller.viewer.person), caller.office.clock())
    lines = [TokenLine(row.id, row.label, tuple(row.scopes), row.made, row.expires, row.used) for row in rows]
    return TokensPage(say("API tokens"), tuple(lines), SCOPES, fresh=fresh, address=caller.office.address)
