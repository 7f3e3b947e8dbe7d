"""Certification: before release a PI looks at the own results, and confirms them or appeals (P-24)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.organising import appeals, plans
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import SeenSubmission
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/certification/{window}"
MOST = 200


@dataclass(frozen=True)
class AppealLine:
    """An appeal of the own team."""

    id: str
    number: int
    text: str
    state: str
    at: datetime
    deadline: datetime
    decision: str


@dataclass(frozen=True)
class CertificationPage:
    """The own results of a window, and what the PI may do about them."""

    title: str
    window: str
    window_title: str
    ends: datetime | None
    running: bool
    certified: datetime | None
    runs: tuple[SeenSubmission, ...]
    appeals: tuple[AppealLine, ...]
    pi: bool
    text: str = ""


@ROUTER.get(ADDRESS)
def certification(request: Request, caller: Annotated[Caller, allow("member")], window: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, window))


@ROUTER.post(ADDRESS)
def certify(request: Request, caller: Annotated[Caller, allow("pi")], form: Filled, window: str) -> Response:
    """Confirm the own results."""
    row, _ = caller.here
    try:
        with caller.office.writing() as session:
            appeals.certify(session, caller.office, caller.actor, row.id, window)
    except RefusedError as error:
        return refuse(request, caller, _asked(caller, window), error)
    return go(caller, _address(caller, window), said("Thank you. Your results are certified."))


@ROUTER.post(f"{ADDRESS}/appeals")
def appeal(request: Request, caller: Annotated[Caller, allow("pi")], form: Filled, window: str) -> Response:
    """Contest a result."""
    row, _ = caller.here
    text, submission = form.text("text"), form.text("submission") or None
    try:
        with caller.office.writing() as session:
            made = appeals.open_appeal(
                session, caller.office, caller.actor, row.id, window, text, submission_id=submission
            )
            number = made.number
    except RefusedError as error:
        return refuse(request, caller, _asked(caller, window, text), error)
    return go(caller, _address(caller, window), said("This is appeal {number}. The organisers decide.", number=number))


@ROUTER.post(f"{ADDRESS}/appeals/{{appeal}}/withdraw")
def withdraw_appeal(
    request: Request, caller: Annotated[Caller, allow("pi")], form: Filled, window: str, appeal: str
) -> Response:
    """Take an appeal back."""
    with caller.office.writing() as session:
        appeals.withdraw(session, caller.office, caller.actor, appeal)
    return go(caller, _address(caller, window), said("The appeal is taken back."))


def _address(caller: Caller, window: str) -> str:
    return ADDRESS.format(slug=caller.here[0].slug, window=window)


def _asked(caller: Caller, window: str, text: str = "") -> CertificationPage:
    row, campaign = caller.here
    plan, team = plans.find_window(campaign, window), caller.team
    with caller.office.reading() as session:
        ends = appeals.certification_ends(session, row.id, window)
        runs = seeing.submissions(session, caller.office, caller.viewer, row.id, window=window, limit=MOST)
        mine = [one for one in appeals.appeals(session, row.id, team_id=team) if one.window == window]
        return CertificationPage(
            say("Certification"),
            window,
            plan.title,
            ends,
            ends is not None and caller.now < ends,
            appeals.certified(session, row.id, window).get(team),
            runs,
            tuple(
                AppealLine(one.id, one.number, one.text, one.state, one.at, one.deadline, one.decision) for one in mine
            ),
            caller.viewer.pi,
            text,
        )
