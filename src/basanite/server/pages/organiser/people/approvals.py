"""Acts that take two people: what waits for the second, and what was decided (X-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.organising import approvals as acts
from basanite.campaign.organising import seconding
from basanite.campaign.store.tables import Approval, Batch, Reference, Submission
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.pages.organiser.people.people import ROLES
from basanite.server.pages.organiser.plan.references import words_of
from basanite.server.pages.organiser.results.release import LEVELS
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/approvals"
SHOWN = 200
WORDS = {
    "release": sentence("Release of results"),
    "reference": sentence("Replacing a reference"),
    "void": sentence("Voiding a run"),
    "role": sentence("Giving a role"),
}


@dataclass(frozen=True)
class ActLine:
    """One act of two people."""

    id: str
    what: str
    about: str
    reason: str
    asked_by: str
    asked: datetime
    state: str
    decided_by: str
    mine: bool
    """Whether the reader asked for it, and so cannot be the second."""


@dataclass(frozen=True)
class ApprovalsPage:
    """What waits, and what was decided, the newest first."""

    title: str
    waiting: tuple[ActLine, ...]
    decided: tuple[ActLine, ...]
    acts: tuple[str, ...]
    """What takes two people in this campaign."""


@ROUTER.get(ADDRESS)
def approvals(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/{{approval}}")
def decide(request: Request, caller: Organiser, form: Filled, approval: str) -> Response:
    """Be the second person, or say no."""
    agree = form.text("agree") == "yes"

    def act(session: Session) -> None:
        if acts.find(session, approval).campaign_id != caller.here[0].id:
            raise missing("act that waits for a second person")
        (seconding.agree if agree else seconding.refuse)(session, caller.office, caller.actor, approval)

    words = said("Agreed, and done in both names.") if agree else said("Refused. Nothing was done.")
    return done(request, caller, act, lambda: _asked(caller), at(caller, "/approvals"), words)


def _asked(caller: Caller) -> ApprovalsPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = [_line(session, caller, one) for one in acts.of_campaign(session, row.id)[::-1][:SHOWN]]
    waiting = tuple(one for one in found if one.state == "waiting")
    decided = tuple(one for one in found if one.state != "waiting")
    named = tuple(str(say(WORDS[act])) for act in sorted(campaign.two_people) if act in WORDS)
    return ApprovalsPage(say("Acts of two people"), waiting, decided, named)


def _line(session: Session, caller: Caller, one: Approval) -> ActLine:
    return ActLine(
        one.id,
        str(say(WORDS.get(one.act, one.act))),
        _about(session, caller, one.data),
        one.reason,
        name_of(session, caller, one.asked_by),
        one.asked,
        one.state,
        name_of(session, caller, one.decided_by),
        one.asked_by == caller.viewer.person,
    )


def _about(session: Session, caller: Caller, data: Mapping[str, Any]) -> str:
    """What an act is about, in words."""
    if "person" in data:
        role = str(data.get("role", ""))
        return f"{name_of(session, caller, data['person'])}: {say(ROLES[role]) if role in ROLES else role}"
    if "submission" in data:
        run = session.get(Submission, data["submission"])
        return "" if run is None else f"{_window(caller, run.window)}, {run.number}: {run.label}"
    if "batch" in data or "reference" in data:
        batch = session.get(Batch, data["batch"]) if "batch" in data else None
        truth = session.get(Reference, (batch.reference_id if batch else data.get("reference")) or "")
        return "" if truth is None else said("{place}, version {version}", place=words_of(truth), version=truth.version)
    level = str(data.get("level", ""))
    named = _window(caller, str(data.get("window", ""))), str(say(LEVELS[level])) if level in LEVELS else level
    return ": ".join(filter(None, named))


def _window(caller: Caller, name: str) -> str:
    return next((one.title for one in caller.here[1].windows if one.id == name), name)
