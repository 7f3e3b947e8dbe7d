"""Tokens for programs: made with a label, scopes and an end; shown once; revoked by a button (X-11)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled, Form
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow
from basanite.server.tokens import SCOPES, make_token, revoke_token, tokens_of

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/account/tokens"
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

    title: str
    tokens: tuple[TokenLine, ...]
    scopes: dict[str, str]
    days: tuple[int, ...] = DAYS
    fresh: str = ""
    address: str = ""


@ROUTER.get(ADDRESS)
def tokens(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page."""
    return show(request, caller, _page(caller))


@ROUTER.post(ADDRESS)
def token_made(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Make a token, and show it this once."""
    try:
        with caller.office.writing() as session:
            made = make_token(
                session,
                caller.office,
                caller.actor,
                person_id=str(caller.viewer.person),
                label=form.text("label"),
                scopes=form.all("scope"),
                lasts=timedelta(days=_days(form)),
                maker=caller.known,
            )
    except RefusedError as error:
        return refuse(request, caller, _page(caller), error)
    return show(request, caller, _page(caller, made.text), status=201)


@ROUTER.post(f"{ADDRESS}/{{token}}/revoke")
def token_revoked(request: Request, caller: Annotated[Caller, allow("user")], form: Filled, token: str) -> Response:
    """Make a token worthless."""
    with caller.office.writing() as session:
        revoke_token(session, caller.office, caller.actor, person_id=str(caller.viewer.person), token_id=token)
    return go(caller, ADDRESS, said("The token no longer works."))


def _days(form: Form) -> int:
    text = form.text("days")
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _page(caller: Caller, fresh: str = "") -> TokensPage:
    with caller.office.reading() as session:
        rows = tokens_of(session, str(caller.viewer.person), caller.office.clock())
    lines = [TokenLine(row.id, row.label, tuple(row.scopes), row.made, row.expires, row.used) for row in rows]
    return TokensPage(say("Tokens for programs"), tuple(lines), SCOPES, fresh=fresh, address=caller.office.address)
