"""At any time: the instructions, the consent that was given, the own pay so far, and the way out (P-22)."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from basanite.campaign.panels.attending import joining
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, show
from basanite.server.pages.judging.money import Lines, own_statement
from basanite.server.pages.judging.place import BASE, At, Judge, at_of, base_of, desk_of, panel_of
from basanite.server.pages.judging.shown import flowing, told

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class AboutPage:
    """What a judge may want to read again."""

    title: str
    at: At
    instructions: Markup
    version: str
    consent: str
    pay: Lines = ()
    can_stop: bool = True


@ROUTER.get(f"{BASE}/about")
def about(request: Request, caller: Judge, panel: str) -> Response:
    """The page."""
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel)
        pay = own_statement(session, caller, found.panel_id, found.scheme.pay)
    scheme, at = found.scheme, at_of(caller, found)
    facts = (
        told(scheme.instructions),
        scheme.consent.version,
        flowing(scheme.consent.text),
        pay,
        found.stage != "closed",
    )
    return show(request, caller, AboutPage(say("About this panel"), at, *facts))


@ROUTER.post(f"{BASE}/withdraw")
def withdraw(caller: Judge, form: Filled, panel: str) -> Response:
    """Stop: no more items, and the past work is settled."""
    with caller.office.writing() as session:
        joining.withdraw(session, caller.office, caller.actor, panel_of(session, caller, panel))
    return go(caller, base_of(caller, panel), said("You have stopped judging on this panel."))
