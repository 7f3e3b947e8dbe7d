"""Windows and milestones: extend one with a reason that everybody is told, and say where a milestone stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.exposure import Exposure, exposures, is_open
from basanite.campaign.organising import milestones, plans
from basanite.campaign.organising.milestones import STATES
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.campaign import slots
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.times import zone
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/windows"
WORDS = {
    "planned": sentence("planned"),
    "done": sentence("done"),
    "moved": sentence("moved"),
    "dropped": sentence("dropped"),
}


@dataclass(frozen=True)
class WindowCard:
    """One window with what an extension needs."""

    row: slots.Row
    naming: str
    frozen: datetime | None
    """When its plan was frozen: when it opened."""
    ends: str
    """Its end as the campaign's file would write it."""
    exposed: tuple[Exposure, ...] = ()
    """What a team may look at on a sealed reference, task by task."""
    unprotected: bool = False


@dataclass(frozen=True)
class StoneCard:
    """One milestone."""

    id: str
    title: str
    at: datetime
    owner: str
    deliverable: str
    state: str
    note: str


@dataclass(frozen=True)
class WindowsPage:
    """All windows and milestones."""

    title: str
    windows: tuple[WindowCard, ...]
    stones: tuple[StoneCard, ...]
    states: tuple[tuple[str, str], ...]
    zone: str
    chosen: str = ""
    """The window whose form was sent."""
    closes: str = ""
    reason: str = ""


@ROUTER.get(ADDRESS)
def windows(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/{{window}}/extend")
def extend(request: Request, caller: Organiser, form: Filled, window: str) -> Response:
    """Let a window close later."""
    closes, reason = form.text("closes").replace("T", " "), form.text("reason")

    def act(session: Session) -> None:
        slug = caller.here[0].slug
        plans.extend_window(session, caller.office, caller.actor, slug, window, closes, reason=reason)

    again = lambda: _asked(caller, window, closes, reason)  # noqa: E731 - what was typed stays
    words = said("The window closes later. Everybody in a team gets a mail with the reason.")
    return done(request, caller, act, again, at(caller, "/windows"), words)


@ROUTER.post(f"{ADDRESS}/milestones/{{stone}}")
def set_state(request: Request, caller: Organiser, form: Filled, stone: str) -> Response:
    """Say where a milestone stands."""

    def act(session: Session) -> None:
        words = (form.text("state"), form.text("note"))
        milestones.set_state(session, caller.office, caller.actor, caller.here[0].id, stone, *words)

    return done(request, caller, act, lambda: _asked(caller), at(caller, "/windows"), said("The milestone is updated."))


def _asked(caller: Caller, chosen: str = "", closes: str = "", reason: str = "") -> WindowsPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        frozen = {one.window: one.at for one in plans.freezes(session, row.id)}
        stones = milestones.milestones(session, row.id)
    exposed, open_ = tuple(exposures(campaign)), {one.window for one in exposures(campaign) if is_open(campaign, one)}
    cards = [
        WindowCard(
            one,
            campaign.window(one.id).naming,
            frozen.get(one.id),
            f"{one.closes.astimezone(zone(campaign.zone)):%Y-%m-%dT%H:%M}",
            tuple(each for each in exposed if each.window == one.id),
            one.id in open_,
        )
        for one in slots.rows(campaign, caller.now)
    ]
    return WindowsPage(
        say("Windows and milestones"),
        tuple(cards),
        tuple(_stone(one) for one in stones),
        tuple((state, str(say(WORDS[state]))) for state in STATES),
        campaign.zone,
        chosen,
        closes,
        reason,
    )


def _stone(standing: milestones.Standing) -> StoneCard:
    one = standing.milestone
    return StoneCard(one.id, one.title, one.at.utc, one.owner, one.deliverable, standing.state, standing.note)
