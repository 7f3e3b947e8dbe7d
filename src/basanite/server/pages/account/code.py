"""The second step of signing in: a code of the second factor, or a recovery code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import refused
from basanite.server.accounts import guards, signing_in
from basanite.server.catalogue import say
from basanite.server.pages.account.sign_in import HALF_WAY, let_in
from basanite.server.pages.foundation.forms import Filled, target
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class CodePage:
    """The form for a code."""

    title: str


@ROUTER.get("/sign-in/code")
def code(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The form; only after a right password."""
    if signing_in.who_is_half_way(caller.office, request.cookies.get(HALF_WAY)) is None:
        return go(caller, "/sign-in")
    return show(request, caller, CodePage(say("Your second factor")))


@ROUTER.post("/sign-in/code")
def code_given(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled) -> Response:
    """Try a code."""
    guards.count_try(request, "code")
    found = signing_in.who_is_half_way(caller.office, request.cookies.get(HALF_WAY))
    if found is None:
        return go(caller, "/sign-in")
    person, then = found
    with caller.office.writing() as session:
        attempt = signing_in.with_code(session, caller.office, person, form.text("code"))
    if attempt.outcome == "in":
        return let_in(request, caller, person, target(request, then), strong=True)
    if attempt.until is not None:
        message = f"this account is locked until {attempt.until:%H:%M:%S} UTC"
        wrong = refused("P-11", message, "wait until then", status=429, retry_at=attempt.until)
    else:
        wrong = refused("X-11", "this code is not right, or was used before", "wait for the next one", status=401)
    return refuse(request, caller, CodePage(say("Your second factor")), wrong)
