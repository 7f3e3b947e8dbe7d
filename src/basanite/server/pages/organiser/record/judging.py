"""How judging goes: planned rounds, progress and agreement. Until a campaign judges, the page says what is planned."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.people.roles import holders
from basanite.server.catalogue import say
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, name_of

ROUTER = APIRouter(include_in_schema=False)
JUDGING = ("judge", "annotator", "adjudicator")


@dataclass(frozen=True)
class JudgingPage:
    """Who may judge, and what the plan says about judging."""

    title: str
    people: tuple[tuple[str, tuple[str, ...]], ...]
    """Role, and who holds it."""
    rules: tuple[tuple[str, str], ...]
    """What the campaign's file says under `judging`."""


@ROUTER.get(f"{BASE}/judging")
def judging(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        people = tuple(
            (role, tuple(name_of(session, caller, one) for one in holders(session, row.id, (role,))))
            for role in JUDGING
        )
    rules = tuple((str(name), str(value)) for name, value in campaign.judging.items())
    return show(request, caller, JudgingPage(say("Judging"), people, rules))
