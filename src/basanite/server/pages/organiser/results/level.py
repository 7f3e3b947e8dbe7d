"""Before a level is released: what stands in the way, open appeals, runs held back; then the button (M70, P-24)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.organising import appeals, approvals, plans, releasing
from basanite.campaign.organising.looking.teams import names
from basanite.campaign.store.tables import Submission
from basanite.problems import Problem
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done
from basanite.server.pages.organiser.results.release import LEVELS
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/release/{{window}}/{{level}}"
SHOWN = 100


@dataclass(frozen=True)
class OpenAppeal:
    """An appeal that nobody has decided."""

    number: int
    team: str
    text: str


@dataclass(frozen=True)
class HeldRun:
    """A run that stays hidden because its description lacks required fields."""

    id: str
    team: str
    label: str


@dataclass(frozen=True)
class LevelPage:
    """All that an organiser should know before a release."""

    title: str
    window: str
    window_title: str
    level: str
    level_title: str
    obstacles: tuple[Problem, ...]
    appeals: tuple[OpenAppeal, ...]
    held: tuple[HeldRun, ...]
    held_count: int
    no_primary: tuple[str, ...]
    unconfirmed: tuple[str, ...]
    effect: datetime | None
    """When it becomes visible, if the plan fixes a later moment."""
    two: bool
    reason: str = ""


@ROUTER.get(ADDRESS)
def level(request: Request, caller: Organiser, window: str, level: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, window, level))


@ROUTER.post(ADDRESS)
def release(request: Request, caller: Organiser, form: Filled, window: str, level: str) -> Response:
    """Release the level, or ask a second organiser where the campaign says so."""
    reason = form.text("reason")

    def act(session: Session) -> object:
        who = (session, caller.office, caller.actor, caller.here[0].id)
        return releasing.ask(*who, window, level, reason=reason)

    again = lambda: _asked(caller, window, level, reason)  # noqa: E731 - what was typed stays
    return done(request, caller, act, again, at(caller, "/release"), said("Released. Everybody concerned gets a mail."))


def _asked(caller: Caller, window: str, level: str, reason: str = "") -> LevelPage:
    row, campaign = caller.here
    if level not in LEVELS:
        raise missing("level")
    place = plans.find_window(campaign, window)
    with caller.office.reading() as session:
        ready = releasing.readiness(session, caller.office, row.id, window, level)
        known = names(session, row.id)
        waiting = [
            OpenAppeal(one.number, known.get(one.team_id, ""), one.text)
            for one in appeals.open_appeals(session, row.id, window)
        ]
        held = [_held(session, run, known) for run in ready.held[:SHOWN]]
    effect = releasing.takes_effect(place, caller.now)
    return LevelPage(
        say("Release"),
        window,
        place.title,
        level,
        str(say(LEVELS[level])),
        ready.obstacles,
        tuple(waiting)[:SHOWN],
        tuple(held),
        len(ready.held),
        tuple(known.get(team, "") for team in ready.no_primary[:SHOWN]),
        tuple(known.get(team, "") for team in ready.unconfirmed[:SHOWN]) if place.certification else (),
        effect if effect > caller.now else None,
        approvals.needs_two(campaign, "release"),
        reason,
    )


def _held(session: Session, run_id: str, known: dict[str, str]) -> HeldRun:
    run = session.get_one(Submission, run_id)
    return HeldRun(run.id, known.get(run.team_id, ""), run.label)
