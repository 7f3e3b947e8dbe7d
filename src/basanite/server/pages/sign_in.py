"""Signing in and out, by password, code or provider; making an account; and links from mails (P-11, X-11).

A link leads to a page with a button, since a mail program that looks at links must not use them up. Who asks for an
account or a new password gets the same answer whether the address is known or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.people.links import look_at_link
from basanite.campaign.people.persons import personal
from basanite.campaign.people.privacy import note_address
from basanite.campaign.settings import Provider
from basanite.campaign.store.tables import Account
from basanite.server.accounts import authentication, oidc, registration, second_factor, sessions
from basanite.server.catalogue import say, say_plain
from basanite.server.guard import count_try
from basanite.server.pages import frame
from basanite.server.pages.forms import PostedForm, target
from basanite.server.pages.frame import go, refuse, show
from basanite.server.roles import Caller, allow, is_telling

ROUTER = APIRouter(include_in_schema=False)
HALF_WAY = "basanite-half-way"


@dataclass(frozen=True)
class SignInPage:
    """The form for mail address and password."""

    template = "account/sign_in.html"
    title: str
    then: str
    mail: str = ""
    providers: tuple[Provider, ...] = ()
    sign_up: bool = True


@ROUTER.get("/sign-in")
def show_sign_in(request: Request, caller: Annotated[Caller, allow("visitor")], then: str = "/") -> Response:
    """The form; who is signed in already goes on."""
    where = target(request, then)
    return go(caller, where) if caller.known else show(request, caller, _sign_in_page(caller.office, where))


@ROUTER.post("/sign-in")
def sign_in_by_password(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """Try a password."""
    count_try(request, "sign-in")
    office, mail, then = caller.office, form.text("mail"), target(request, form.text("then"))
    with office.writing() as session:
        attempt = authentication.try_password(session, office, mail, form.raw("password"), caller.address)
    if attempt.outcome == "in":
        return let_in(request, caller, attempt.person, then)
    if attempt.outcome == "second factor":
        return ask_for_code(caller, attempt.person, then)
    return refuse(request, caller, _sign_in_page(office, then, mail), _attempt_refusal(attempt))


@ROUTER.post("/sign-out")
def sign_out(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """End this session, on the server too."""
    signed = getattr(request.state, "signed_in", None)
    if signed is not None:
        with caller.office.writing() as session:
            sessions.revoke(session, caller.office, caller.actor, signed.person, [signed.digest], why="signed out")
    response = go(caller, "/", say_plain("You are signed out."))
    frame.delete_cookie(response, caller.office, sessions.cookie_name(caller.office))
    return response


def let_in(request: Request, caller: Caller, person: str, then: str, *, strong: bool = False) -> Response:
    """Begin a session under a new id; one that this browser had before ends (X-11)."""
    office, agent = caller.office, sessions.browser_in_words(request.headers.get("user-agent", ""))
    before = getattr(request.state, "signed_in", None)
    with office.writing() as session:
        if before is not None:
            sessions.revoke(session, office, caller.actor, before.person, [before.digest], why="signed in again")
        cookie = sessions.start(session, office, person, strong=strong, agent=agent)
        if is_telling(caller.address):
            note_address(session, office, person, caller.address)
    response = go(caller, then)
    frame.set_session_cookie(response, office, cookie)
    frame.delete_cookie(response, office, HALF_WAY)
    return response


def ask_for_code(caller: Caller, person: str, then: str) -> Response:
    """The password was right: on to the second factor."""
    response = go(caller, "/sign-in/code")
    frame.set_cookie(
        response, caller.office, HALF_WAY, authentication.half_way_cookie(caller.office, person, then), seconds=600
    )
    return response


def _sign_in_page(office: Office, then: str, mail: str = "") -> SignInPage:
    settings = office.settings.accounts
    return SignInPage(say("Sign in"), then, mail, settings.providers, settings.sign_up)


def _attempt_refusal(attempt: authentication.Attempt) -> RefusedError:
    if attempt.until is not None:
        message = f"sign-in with this address is locked until {attempt.until:%H:%M:%S} UTC"
        return refused(
            "P-11", message, "wait until then, or request a new password", status=429, retry_at=attempt.until
        )
    fix = "check both; if you have just signed up, confirm your email address first"
    return refused("P-11", "the email address or password is wrong", fix, status=401)


@dataclass(frozen=True)
class CodePage:
    """The form for a code."""

    template = "account/code.html"
    title: str


@ROUTER.get("/sign-in/code")
def show_code(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The form; only after a right password."""
    if authentication.who_is_half_way(caller.office, request.cookies.get(HALF_WAY)) is None:
        return go(caller, "/sign-in")
    return show(request, caller, CodePage(say("Your second factor")))


@ROUTER.post("/sign-in/code")
def sign_in_by_code(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """Try a code."""
    count_try(request, "code")
    found = authentication.who_is_half_way(caller.office, request.cookies.get(HALF_WAY))
    if found is None:
        return go(caller, "/sign-in")
    person, then = found
    with caller.office.writing() as session:
        attempt = authentication.try_code(session, caller.office, person, form.text("code"))
    if attempt.outcome == "in":
        return let_in(request, caller, person, target(request, then), strong=True)
    if attempt.until is not None:
        message = f"this account is locked until {attempt.until:%H:%M:%S} UTC"
        wrong = refused("P-11", message, "wait until then", status=429, retry_at=attempt.until)
    else:
        wrong = refused("X-11", "the code is wrong or was already used", "wait for the next code", status=401)
    return refuse(request, caller, CodePage(say("Your second factor")), wrong)


@dataclass(frozen=True)
class SignUpPage:
    """The form of a new account, or the sentence after it."""

    template = "account/sign_up.html"
    title: str
    name: str = ""
    mail: str = ""
    then: str = "/"
    """Where the person came from, to go back to in the end."""
    shortest: int = authentication.SHORTEST_PASSWORD
    sent: bool = False
    open: bool = True


@ROUTER.get("/sign-up")
def show_sign_up(request: Request, caller: Annotated[Caller, allow("visitor")], then: str = "/") -> Response:
    """The form."""
    may = caller.office.settings.accounts.sign_up
    return show(request, caller, SignUpPage(say("Create account"), then=target(request, then), open=may))


@ROUTER.post("/sign-up")
def create_account(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """Make the account, and mail a link to confirm the address."""
    count_try(request, "sign-up")
    office, name, mail = caller.office, form.text("name"), form.text("mail")
    then = target(request, form.text("then"))
    try:
        if not office.settings.accounts.sign_up:
            raise refused("P-11", "sign-up is disabled here", "ask an organizer to invite you", status=403)
        if not name:
            raise refused("P-11", "the name is missing", "enter the name that others will see", status=422)
        zone = request.cookies.get(frame.ZONE_COOKIE, "UTC")
        newcomer = registration.SignUp(name, mail, form.raw("password"), zone, then)
        with office.writing() as session:
            registration.sign_up(session, office, newcomer)
    except RefusedError as error:
        page = SignUpPage(say("Create account"), name, mail, then, open=office.settings.accounts.sign_up)
        return refuse(request, caller, page, error)
    return show(request, caller, SignUpPage(say("Check your email"), mail=mail, sent=True))


@dataclass(frozen=True)
class ConfirmPage:
    """The button that confirms a mail address."""

    template = "account/confirm.html"
    title: str
    secret: str = field(repr=False)


@ROUTER.get("/confirm/{secret}")
def show_confirmation(request: Request, caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """The button, if the link still works."""
    with caller.office.reading() as session:
        look_at_link(session, caller.office, secret, "confirm")
    return show(request, caller, ConfirmPage(say("Confirm your email address"), secret))


@ROUTER.post("/confirm/{secret}")
def confirm_address(
    request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm, secret: str
) -> Response:
    """Take the address as confirmed."""
    with caller.office.writing() as session:
        then = target(request, registration.confirm(session, caller.office, secret))
    return go(
        caller,
        "/sign-in" + ("" if then == "/" else f"?{urlencode({'then': then})}"),
        say_plain("Your email address is confirmed. You can sign in now."),
    )


@dataclass(frozen=True)
class ResetPage:
    """Asking for a link, the sentence after that, or choosing a password."""

    template = "account/reset.html"
    title: str
    secret: str = field(default="", repr=False)
    sent: bool = False
    shortest: int = authentication.SHORTEST_PASSWORD


@ROUTER.get("/forgotten")
def show_forgotten(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The form that asks for a link."""
    return show(request, caller, ResetPage(say("Choose a new password")))


@ROUTER.post("/forgotten")
def ask_for_link(request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm) -> Response:
    """Mail a link, if there is such an account; the answer is the same if not."""
    count_try(request, "reset")
    with caller.office.writing() as session:
        registration.ask_for_reset(session, caller.office, form.text("mail"))
    return show(request, caller, ResetPage(say("Check your email"), sent=True))


@ROUTER.get("/reset/{secret}")
def show_reset(request: Request, caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """The form for a new password, if the link still works."""
    with caller.office.reading() as session:
        look_at_link(session, caller.office, secret, "reset", "password")
    return show(request, caller, ResetPage(say("Choose a new password"), secret))


@ROUTER.post("/reset/{secret}")
def set_new_password(
    request: Request, caller: Annotated[Caller, allow("visitor")], form: PostedForm, secret: str
) -> Response:
    """Set the new password."""
    count_try(request, "reset")
    try:
        with caller.office.writing() as session:
            tokens = bool(form.text("tokens"))
            registration.reset(session, caller.office, secret, form.raw("password"), tokens=tokens)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, ResetPage(say("Choose a new password"), secret), error)
    ended = say_plain("Your password is changed. All sessions and API tokens were ended.")
    return go(caller, "/sign-in", ended if tokens else say_plain("Your password is changed. All sessions were ended."))


TRIP = "basanite-trip"
WAITING = "basanite-identity"


@dataclass(frozen=True)
class ProviderPage:
    """An identity waits for the password of the person who is signed in."""

    template = "account/provider.html"
    title: str
    issuer: str
    mail: str


@ROUTER.get("/oidc/{provider}")
def go_to_provider(
    request: Request, caller: Annotated[Caller, allow("visitor")], provider: str, then: str = "/"
) -> Response:
    """Send the browser to the provider."""
    count_try(request, "oidc")
    address, trip = oidc.begin(caller.office, oidc.provider_named(caller.office, provider), target(request, then))
    response = RedirectResponse(address, 303)
    frame.set_cookie(response, caller.office, TRIP, oidc.cookie_value(caller.office, trip), seconds=oidc.ROUND_SECONDS)
    return response


@ROUTER.get("/oidc/{provider}/return")
def return_from_provider(request: Request, caller: Annotated[Caller, allow("visitor")], provider: str) -> Response:
    """Who came back: let in, given an account, or asked for the password to connect it to one."""
    count_try(request, "oidc-return")
    office = caller.office
    trip = oidc.trip_of(office, request.cookies.get(TRIP))
    foreign = oidc.finish(office, oidc.provider_named(office, provider), trip, request.query_params)
    then = target(request, trip.then if trip else "/")
    with office.reading() as session:
        person = oidc.find(session, foreign)
    response = _answer_identity(request, caller, foreign, person, then)
    frame.delete_cookie(response, office, TRIP)
    return response


@ROUTER.get("/account/connect")
def show_connection(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The question for the password."""
    foreign = oidc.waiting_identity(caller.office, request.cookies.get(WAITING))
    return show(request, caller, _provider_page(foreign)) if foreign else go(caller, "/account")


@ROUTER.post("/account/connect")
def connect_provider(request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm) -> Response:
    """Connect the identity, if the password is right."""
    count_try(request, "connect")
    foreign = oidc.waiting_identity(caller.office, request.cookies.get(WAITING))
    if foreign is None:
        return go(caller, "/account")
    person = str(caller.viewer.person)
    with caller.office.writing() as session:
        right = authentication.is_password_of(session, caller.office, person, form.raw("password"))
        if right:
            oidc.join(session, caller.office, person, foreign)
    if not right:
        error = refused("X-11", "the password is wrong", "enter the password of this account", status=401)
        return refuse(request, caller, _provider_page(foreign), error)
    response = go(caller, "/account", say_plain("The provider is connected."))
    frame.delete_cookie(response, caller.office, WAITING)
    return response


def _answer_identity(
    request: Request, caller: Caller, foreign: oidc.Foreign, person: str | None, then: str
) -> Response:
    office = caller.office
    if person is None and caller.known is not None:
        response = go(caller, "/account/connect")
        frame.set_cookie(response, office, WAITING, oidc.cookie_value(office, foreign), seconds=oidc.ROUND_SECONDS)
        return response
    with office.writing() as session:
        known, person = person, person or oidc.make_account(session, office, foreign)
        name, account = personal(session, office, person).name, session.get_one(Account, person)
        if account.closed is not None:
            raise refused("P-11", "this account is closed", "ask an organizer", status=403)
        second = second_factor.is_on(account)
    response = ask_for_code(caller, person, then) if second else let_in(request, caller, person, then)
    if known is None and foreign.name and name != foreign.name:
        words = say_plain(
            "Your name can be confused with another one here. You appear as {name}; you can "
            "change this in your account.",
            name=name,
        )
        frame.set_notice(response, office, "plain", words)
    return response


def _provider_page(foreign: oidc.Foreign) -> ProviderPage:
    return ProviderPage(say("Connect a provider"), foreign.issuer, foreign.mail)
