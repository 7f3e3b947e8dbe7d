"""A forgotten password: ask for a link, then choose a new password with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.links import look_at_link
from basanite.server.accounts import guards, joining, passwords
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ResetPage:
    """Asking for a link, the sentence after that, or choosing a password."""

    title: str
    secret: str = field(default="", repr=False)
    sent: bool = False
    shortest: int = passwords.SHORTEST


@ROUTER.get("/forgotten")
def forgotten(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The form that asks for a link."""
    return show(request, caller, ResetPage(say("A new password")))


@ROUTER.post("/forgotten")
def asked(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """Mail a link, if there is such an account; the answer is the same if not."""
    guards.count_try(request, "reset")
    with caller.office.writing() as session:
        joining.ask_for_reset(session, caller.office, form.text("mail"))
    return show(request, caller, ResetPage(say("Look into your mail"), sent=True))


@ROUTER.get("/reset/{secret}")
def reset(request: Request, caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """The form for a new password, if the link still works."""
    with caller.office.reading() as session:
        look_at_link(session, caller.office, secret, "reset", "password")
    return show(request, caller, ResetPage(say("Choose a new password"), secret))


@ROUTER.post("/reset/{secret}")
def was_reset(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled, secret: str) -> Response:
    """Set the new password."""
    guards.count_try(request, "reset")
    try:
        with caller.office.writing() as session:
            tokens = bool(form.text("tokens"))
            joining.reset(session, caller.office, secret, form.raw("password"), tokens=tokens)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, ResetPage(say("Choose a new password"), secret), error)
    ended = said("Your new password works. All your sessions and API tokens were ended.")
    return go(caller, "/sign-in", ended if tokens else said("Your new password works. All your sessions were ended."))
