"""A campaign at a glance: what is open, what comes next, what waits for me, and what I sent last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.intake.standings import missing_primaries
from basanite.campaign.model import stages
from basanite.campaign.organising import appeals
from basanite.campaign.people.teams import reading
from basanite.campaign.people.terms.resources import resources
from basanite.campaign.people.terms.rules import unaccepted
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import SeenSubmission
from basanite.campaign.store.tables import Announcement, Team
from basanite.server.catalogue import say
from basanite.server.pages.campaign.slots import Row, Slot, row_of, slots
from basanite.server.pages.foundation.frame import show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
NEWEST = 5


@dataclass(frozen=True)
class Duty:
    """Something that waits for the reader."""

    text: str
    address: str
    until: datetime | None = None


@dataclass(frozen=True)
class HomePage:
    """Everything on the first page of a campaign."""

    title: str
    open: tuple[Row, ...]
    coming: tuple[Row, ...]
    slots: tuple[Slot, ...]
    duties: tuple[Duty, ...]
    newest: tuple[SeenSubmission, ...]
    team: str
    news_title: str = ""
    news_at: datetime | None = None


@ROUTER.get("/campaigns/{slug}")
def home(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        team = session.get(Team, caller.viewer.team) if caller.viewer.team else None
        news = session.scalars(
            select(Announcement)
            .where(Announcement.campaign_id == row.id, Announcement.audience == "everybody")
            .order_by(Announcement.at.desc())
            .limit(1)
        ).first()
        page = HomePage(
            campaign.title,
            tuple(row_of(campaign, window, caller.now) for window in stages.open_windows(campaign, caller.now)),
            tuple(row_of(campaign, window, caller.now) for window in stages.upcoming(campaign, caller.now, 3)),
            slots(session, caller),
            tuple(_duties(session, caller)),
            _newest(session, caller),
            team.name if team else "",
            news.title if news else "",
            news.at if news else None,
        )
    return show(request, caller, page)


def _newest(session: Session, caller: Caller) -> tuple[SeenSubmission, ...]:
    if caller.viewer.team is None:
        return ()
    return seeing.submissions(session, caller.office, caller.viewer, caller.here[0].id, limit=NEWEST)


def _duties(session: Session, caller: Caller) -> Iterator[Duty]:
    row, _ = caller.here
    base, person = f"/campaigns/{row.slug}", caller.viewer.person
    if person is None:
        return
    takes_part = caller.viewer.team is not None or caller.may_join(session)
    if takes_part and unaccepted(session, row.id, person):
        yield Duty(say("Accept the rules before you download or submit."), f"{base}/packs")
    if caller.may_join(session):
        yield from _joining(session, row.id, person, f"{base}/team")
    if caller.viewer.team is not None:
        yield from _without_primary(session, caller, base)
        yield from _unshared(session, caller, base)
    if caller.viewer.pi:
        yield from _certifications(session, caller, base)


def _joining(session: Session, campaign_id: str, person: str, address: str) -> Iterator[Duty]:
    """The way into a team, unless it is somebody else's turn to decide."""
    lead = reading.lead_state(session, campaign_id, person)
    if lead == "granted":
        yield Duty(say("Make your team: the organizers agreed that you lead one."), address)
    elif lead != "asked" and not reading.asked_team(session, campaign_id, person):
        yield Duty(say("Join a team, or ask to lead one."), address)


def _without_primary(session: Session, caller: Caller, base: str) -> Iterator[Duty]:
    """The warning of C46, while something can be done about it."""
    for one in missing_primaries(session, caller.here[0].id, caller.team, caller.now):
        named = {"window": one.window.title, "what": ", ".join(one.what)}
        text = say("Your team has no primary run in {window} ({what}). Make one of your runs primary.", **named)
        yield Duty(text, f"{base}/submissions?window={quote(one.window.id)}", one.window.closes.utc)


def _unshared(session: Session, caller: Caller, base: str) -> Iterator[Duty]:
    """Resources that the team should have shared by now (M93)."""
    late = [one for one in resources(session, caller.here[0].id, caller.now, team_id=caller.team) if one.overdue]
    for one in late:
        yield Duty(
            say("Share a resource of your team: {what}", what=one.description[:80]), f"{base}/resources#r-{one.id}"
        )


def _certifications(session: Session, caller: Caller, base: str) -> Iterator[Duty]:
    row, campaign = caller.here
    for window in campaign.windows:
        ends = appeals.certification_ends(session, row.id, window.id) if window.certification else None
        if ends is None or caller.now >= ends or caller.viewer.team in appeals.certified(session, row.id, window.id):
            continue
        text = say("Look at your results of {window}, and certify or appeal.", window=window.title)
        yield Duty(text, f"{base}/certification/{window.id}", ends)
