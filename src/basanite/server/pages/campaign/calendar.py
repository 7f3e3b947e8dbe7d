"""The calendar: what I may submit now, how many are left, when it resets, what opens next, and all milestones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.organising.milestones import Standing, milestones
from basanite.server.catalogue import say
from basanite.server.pages.campaign.slots import Row, Slot, rows, slots
from basanite.server.pages.foundation.frame import show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Stone:
    """A milestone in words."""

    title: str
    at: datetime
    ends: datetime | None
    owner: str
    deliverable: str
    state: str
    note: str


@dataclass(frozen=True)
class CalendarPage:
    """Slots of the own team, windows and milestones."""

    title: str
    slots: tuple[Slot, ...]
    open: tuple[Row, ...]
    coming: tuple[Row, ...]
    past: tuple[Row, ...]
    stones: tuple[Stone, ...]
    feed: str
    member: bool


@ROUTER.get("/campaigns/{slug}/calendar")
def calendar(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        mine, stones = slots(session, caller), milestones(session, row.id)
    listed = rows(campaign, caller.now)
    by_state = {state: tuple(one for one in listed if one.state == state) for state in ("open", "coming", "past")}
    page = CalendarPage(
        say("Calendar"),
        mine,
        by_state["open"],
        by_state["coming"],
        by_state["past"][::-1],
        tuple(map(_stone, stones)),
        f"/api/v1/campaigns/{row.slug}/calendar.ics",
        caller.viewer.team is not None,
    )
    return show(request, caller, page)


def _stone(standing: Standing) -> Stone:
    one = standing.milestone
    ends = one.ends.utc if one.ends else None
    return Stone(one.title, one.at.utc, ends, one.owner, one.deliverable, standing.state, standing.note)
