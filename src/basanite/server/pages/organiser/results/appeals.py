"""Appeals: what teams contest, by when it is to be answered, and the decision with its reason (P-24)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.organising import appeals as acts
from basanite.campaign.organising import references
from basanite.campaign.organising.looking.teams import names
from basanite.campaign.store.tables import Appeal
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.pages.organiser.plan.references import words_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/appeals"
SHOWN = 200


@dataclass(frozen=True)
class AppealLine:
    """One appeal."""

    number: int
    team: str
    window: str
    run: str
    text: str
    at: datetime
    deadline: datetime
    overdue: bool
    state: str
    decision: str
    decided_by: str


@dataclass(frozen=True)
class AppealsPage:
    """Open appeals, and what was decided."""

    title: str
    open: tuple[AppealLine, ...]
    decided: tuple[AppealLine, ...]
    references: tuple[tuple[str, str], ...]
    """Versions that an appeal may bring into force."""
    number: int = 0
    reason: str = ""


@ROUTER.get(ADDRESS)
def appeals(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/{{number}}")
def decide(request: Request, caller: Organiser, form: Filled, number: int) -> Response:
    """Decide an appeal; one that is upheld begins a re-scoring that is previewed like any other."""
    upheld, reason, version = form.text("decision") == "uphold", form.text("reason"), form.text("reference")

    def act(session: Session) -> None:
        campaign_id = caller.here[0].id
        appeal = acts.by_number(session, campaign_id, number)
        if version and version not in {one.id for one in references.versions(session, campaign_id)}:
            raise missing("reference")
        who = (session, caller.office, caller.actor, appeal.id)
        acts.decide(*who, upheld=upheld, reason=reason, reference_id=version or None)

    then = at(caller, "/rescoring" if upheld else "/appeals")
    upheld_words = said("Upheld. A re-scoring is being computed; look at it before it holds.")
    words = upheld_words if upheld else said("Refused. The PI gets a mail with the reason.")
    return done(request, caller, act, lambda: _asked(caller, number, reason), then, words)


def _asked(caller: Caller, number: int = 0, reason: str = "") -> AppealsPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        known = names(session, row.id)
        lines = [_line(session, caller, one, known.get(one.team_id, "")) for one in acts.appeals(session, row.id)]
        choices = [one for one in references.versions(session, row.id) if one.state in ("proposed", "active")]
    waiting = tuple(one for one in lines if one.state == "open")[:SHOWN]
    decided = tuple(one for one in lines[::-1] if one.state != "open")[:SHOWN]
    versions = tuple(
        (one.id, str(say("{place}, version {version}", place=words_of(one), version=one.version))) for one in choices
    )
    return AppealsPage(say("Appeals"), waiting, decided, versions, number, reason)


def _line(session: Session, caller: Caller, one: Appeal, team: str) -> AppealLine:
    return AppealLine(
        one.number,
        team,
        one.window,
        one.submission_id or "",
        one.text,
        one.at,
        one.deadline,
        one.state == "open" and one.deadline <= caller.office.clock(),
        one.state,
        one.decision,
        name_of(session, caller, one.decided_by),
    )
