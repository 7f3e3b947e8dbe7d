"""Making an account; the same answer whether the address is known or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.server.accounts import guards, joining, passwords
from basanite.server.catalogue import say
from basanite.server.pages.foundation import cookies
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class SignUpPage:
    """The form of a new account, or the sentence after it."""

    title: str
    name: str = ""
    mail: str = ""
    shortest: int = passwords.SHORTEST
    sent: bool = False
    open: bool = True


@ROUTER.get("/sign-up")
def sign_up(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The form."""
    return show(request, caller, SignUpPage(say("Make an account"), open=caller.office.settings.accounts.sign_up))


@ROUTER.post("/sign-up")
def signed_up(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """Make the account, and mail a link to confirm the address."""
    guards.count_try(request, "sign-up")
    office, name, mail = caller.office, form.text("name"), form.text("mail")
    try:
        if not office.settings.accounts.sign_up:
            raise refused("P-11", "nobody can sign up here", "ask an organiser to invite you", status=403)
        if not name:
            raise refused("P-11", "the name is missing", "write how others shall call you", status=422)
        zone = request.cookies.get(cookies.ZONE, "UTC")
        with office.writing() as session:
            joining.sign_up(session, office, name=name, mail=mail, password=form.raw("password"), zone=zone)
    except RefusedError as error:
        page = SignUpPage(say("Make an account"), name, mail, open=office.settings.accounts.sign_up)
        return refuse(request, caller, page, error)
    return show(request, caller, SignUpPage(say("Look into your mail"), mail=mail, sent=True))
