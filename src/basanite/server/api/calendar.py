"""The calendar: rows with what is left for the caller's team, milestones, and both as iCalendar (P-19, P-27)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel

from basanite.campaign.intake import quotas
from basanite.campaign.intake.standings import missing_primaries
from basanite.campaign.model import stages
from basanite.campaign.model.calendar import Allowance
from basanite.campaign.model.plan import Campaign, Instant, Window
from basanite.campaign.model.time.ical import feed
from basanite.campaign.model.time.zones import spelt
from basanite.campaign.organising.milestones import Standing, milestones
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns/{slug}", tags=["calendar"])
Anybody = Annotated[Caller, allow("visitor", scope="read")]


class Moment(BaseModel):
    """A moment in UTC, with the zone it was declared in, and in words."""

    utc: datetime
    zone: str
    words: str


class AllowanceShown(BaseModel):
    """What the caller's team may submit now, and how often."""

    task: str
    language: str
    track: str
    count: int
    used: int
    left: int
    left_of: dict[str, int]
    resets: datetime | None


class WindowShown(BaseModel):
    """One row of the calendar."""

    id: str
    title: str
    event: str
    kind: str
    tasks: list[str]
    languages: list[str]
    dataset: list[str]
    querysets: list[str]
    domains: list[str]
    tracks: list[str]
    opens: Moment
    closes: Moment
    is_open: bool
    feedback: str
    blind: bool
    quota: int
    period: str
    types: dict[str, int]
    mine: list[AllowanceShown]
    """For a member of a team, while it is open."""
    without_primary: list[str]
    """While it is open, what your team has submitted to it without a primary run: it would not be compared (C46)."""


class MilestoneShown(BaseModel):
    """Something in the calendar that nobody submits to."""

    id: str
    title: str
    at: Moment
    ends: Moment | None
    owner: str
    deliverable: str
    state: str
    note: str


@ROUTER.get("/windows")
def list_windows(caller: Anybody) -> list[WindowShown]:
    """All rows of the calendar; for a member of a team with what is left of each."""
    _, campaign = caller.here
    mine, lacking = allowances_of(caller), _without_primary(caller)
    return [_window(campaign, window, mine, caller.now, lacking.get(window.id, [])) for window in campaign.windows]


@ROUTER.get("/milestones")
def list_milestones(caller: Anybody) -> list[MilestoneShown]:
    """Kick-off, releases, visits, reports: with owner and state."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        return [_milestone(campaign, standing) for standing in milestones(session, row.id)]


@ROUTER.get("/calendar.ics", response_class=Response, responses={200: {"content": {"text/calendar": {}}}})
def show_icalendar(caller: Anybody) -> Response:
    """Windows and milestones for a calendar program."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        states = {standing.milestone.id: standing.state for standing in milestones(session, row.id)}
    return Response(feed(campaign, caller.now, states), media_type="text/calendar; charset=utf-8")


def allowances_of(caller: Caller) -> tuple[Allowance, ...]:
    """What the caller's team may submit now; nothing for who is in none."""
    _, campaign = caller.here
    if caller.viewer.team is None:
        return ()
    with caller.office.reading() as session:
        return quotas.allowances(session, caller.office, campaign, caller.viewer.team)


def _without_primary(caller: Caller) -> dict[str, list[str]]:
    if caller.viewer.team is None:
        return {}
    with caller.office.reading() as session:
        found = missing_primaries(session, caller.here[0].id, caller.viewer.team, caller.now)
    return {one.window.id: list(one.what) for one in found}


def _moment(campaign: Campaign, instant: Instant) -> Moment:
    return Moment(utc=instant.utc, zone=instant.zone, words=spelt(instant.utc, campaign.zone))


def _window(
    campaign: Campaign, window: Window, mine: tuple[Allowance, ...], now: datetime, lacking: list[str]
) -> WindowShown:
    return WindowShown(
        id=window.id,
        title=window.title,
        event=window.event,
        kind=window.kind,
        tasks=list(window.tasks),
        languages=list(stages.languages(campaign, window)),
        dataset=list(window.dataset),
        querysets=list(window.querysets),
        domains=list(window.domains),
        tracks=[track.id for track in stages.window_tracks(campaign, window)],
        opens=_moment(campaign, window.opens),
        closes=_moment(campaign, window.closes),
        is_open=stages.is_open(window, now),
        feedback=window.feedback,
        blind=stages.is_blind(window),
        quota=window.quota.count,
        period=window.quota.period,
        types=dict(window.quota.types),
        mine=[_allowance(one) for one in mine if one.window.id == window.id],
        without_primary=lacking,
    )


def _allowance(one: Allowance) -> AllowanceShown:
    return AllowanceShown(
        task=one.task,
        language=one.language,
        track=one.track,
        count=one.balance.count,
        used=one.balance.used,
        left=one.left,
        left_of={kind: one.left_of(kind) for kind in ("primary", "contrastive")},
        resets=one.resets,
    )


def _milestone(campaign: Campaign, standing: Standing) -> MilestoneShown:
    stone = standing.milestone
    return MilestoneShown(
        id=stone.id,
        title=stone.title,
        at=_moment(campaign, stone.at),
        ends=_moment(campaign, stone.ends) if stone.ends else None,
        owner=stone.owner,
        deliverable=stone.deliverable,
        state=standing.state,
        note=standing.note,
    )
