"""After ranking, experts list the criteria that they used (R-2)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.panels.attending import working
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse
from basanite.server.pages.judging.filled import number_of, seconds_of
from basanite.server.pages.judging.place import (
    BASE,
    At,
    Judge,
    at_of,
    base_of,
    desk_of,
    panel_of,
    sentence_of,
)
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class CriteriaPage:
    """A free list."""

    title: str
    at: At
    round: int
    key: str
    text: str = ""


def criteria_page(caller: Caller, found: working.Desk, text: str = "") -> CriteriaPage:
    """The page that asks for the criteria of a round."""
    return CriteriaPage(say("What did you go by?"), at_of(caller, found), found.round, secrets.token_urlsafe(18), text)


@ROUTER.post(f"{BASE}/criteria")
def criteria(request: Request, caller: Judge, form: Filled, panel: str) -> Response:
    """Keep the list, one criterion in each line."""
    listed = form.text("criteria").splitlines()
    try:
        with caller.office.writing() as session:
            panel_id, number = panel_of(session, caller, panel), number_of(form, "round")
            key, spent = form.text("key"), seconds_of(form, otherwise=0.0)
            working.criteria(session, caller.office, caller.actor, panel_id, number, listed, key=key, seconds=spent)
    except RefusedError as error:
        return _once_more(request, caller, panel, form.text("criteria"), error)
    return go(caller, base_of(caller, panel))


def _once_more(request: Request, caller: Caller, panel: str, text: str, error: RefusedError) -> Response:
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel)
    if found.stage != "criteria":
        return go(caller, base_of(caller, panel), sentence_of(error), "plain")
    return refuse(request, caller, criteria_page(caller, found, text), error)
