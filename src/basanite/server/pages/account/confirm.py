"""Links from mails: a page with a button, since a mail program that looks at links must not use them up (X-11)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.people.links import look_at_link
from basanite.server.accounts import joining
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ConfirmPage:
    """The button that confirms a mail address."""

    title: str
    secret: str = field(repr=False)


@ROUTER.get("/confirm/{secret}")
def confirm(request: Request, caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """The button, if the link still works."""
    with caller.office.reading() as session:
        look_at_link(session, caller.office, secret, "confirm")
    return show(request, caller, ConfirmPage(say("Confirm your mail address"), secret))


@ROUTER.post("/confirm/{secret}")
def confirmed(request: Request, caller: Annotated[Caller, allow("visitor")], form: Filled, secret: str) -> Response:
    """Take the address as confirmed."""
    with caller.office.writing() as session:
        joining.confirm(session, caller.office, secret)
    return go(caller, "/sign-in", said("Your mail address is confirmed. You can sign in now."))
