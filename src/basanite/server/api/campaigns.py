"""Which campaigns there are, and one at a glance."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy import select

from basanite.campaign.actions import plans
from basanite.campaign.actions.calendar import Standing, milestones
from basanite.campaign.intake import charges
from basanite.campaign.intake.standings import missing_primaries
from basanite.campaign.model import windows
from basanite.campaign.model.calendar import Allowance
from basanite.campaign.model.ical import calendar_feed
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.zones import Instant, spelt
from basanite.campaign.store.tables import CampaignRow
from basanite.server.roles import Caller, allow, may_see_drafts

CAMPAIGNS = APIRouter(prefix="/campaigns", tags=["campaigns"])
Anybody = Annotated[Caller, allow("visitor", scope="read")]
MOST = 500


class CampaignShown(BaseModel):
    """A campaign at a glance."""

    slug: str
    title: str
    zone: str
    period: str
    plan_version: str
    version: int
    languages: list[str]
    tasks: list[str]


class Overview(CampaignShown):
    """A campaign, and what the caller is in it."""

    now: datetime
    roles: list[str]
    member_of_a_team: bool


@CAMPAIGNS.get("")
def list_campaigns(caller: Anybody) -> list[CampaignShown]:
    """All campaigns of this server; drafts for their organizers alone."""
    with caller.office.reading() as session:
        slugs = session.scalars(select(CampaignRow.slug).order_by(CampaignRow.slug).limit(MOST)).all()
        found = [plans.current(session, slug) for slug in slugs]
        person = caller.viewer.person
        found = [plan for plan in found if plan.row.published or may_see_drafts(session, plan.row.id, person)]
    return [CampaignShown(**_facts(plan.campaign, plan.version)) for plan in found]


@CAMPAIGNS.get("/{slug}")
def show_campaign(caller: Anybody) -> Overview:
    """One campaign."""
    _, campaign = caller.here
    return Overview(
        **_facts(campaign, caller.plan_version),
        now=caller.now,
        roles=sorted(caller.roles),
        member_of_a_team=caller.viewer.team is not None,
    )


def _facts(campaign: Campaign, version: int) -> dict[str, Any]:
    return {
        "slug": campaign.slug,
        "title": campaign.title,
        "zone": campaign.zone,
        "period": campaign.period,
        "plan_version": campaign.plan_version,
        "version": version,
        "languages": list(campaign.languages),
        "tasks": sorted({task for window in campaign.windows for task in window.tasks}),
    }


CALENDAR = APIRouter(prefix="/campaigns/{slug}", tags=["calendar"])


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
    programs: dict[str, Any] | None
    """Where programs are taken in place of answers: how they are asked and what they may use (G-3)."""
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


@CALENDAR.get("/windows")
def list_windows(caller: Anybody) -> list[WindowShown]:
    """All rows of the calendar; for a member of a team with what is left of each."""
    _, campaign = caller.here
    mine, lacking = allowances_of(caller), _missing_primaries(caller)
    return [_window(campaign, window, mine, caller.now, lacking.get(window.id, [])) for window in campaign.windows]


@CALENDAR.get("/milestones")
def list_milestones(caller: Anybody) -> list[MilestoneShown]:
    """Kick-off, releases, visits, reports: with owner and state."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        return [_milestone(campaign, standing) for standing in milestones(session, row.id)]


@CALENDAR.get("/calendar.ics", response_class=Response, responses={200: {"content": {"text/calendar": {}}}})
def show_icalendar(caller: Anybody) -> Response:
    """Windows and milestones for a calendar program."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        states = {standing.milestone.id: standing.state for standing in milestones(session, row.id)}
    return Response(calendar_feed(campaign, caller.now, states), media_type="text/calendar; charset=utf-8")


def allowances_of(caller: Caller) -> tuple[Allowance, ...]:
    """What the caller's team may submit now; nothing for who is in none."""
    _, campaign = caller.here
    if caller.viewer.team is None:
        return ()
    with caller.office.reading() as session:
        return charges.allowances(session, caller.office, campaign, caller.viewer.team)


def _missing_primaries(caller: Caller) -> dict[str, list[str]]:
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
        languages=list(windows.languages(campaign, window)),
        dataset=list(window.dataset),
        querysets=list(window.querysets),
        domains=list(window.domains),
        tracks=[track.id for track in windows.window_tracks(campaign, window)],
        opens=_moment(campaign, window.opens),
        closes=_moment(campaign, window.closes),
        is_open=windows.is_open(window, now),
        feedback=window.feedback,
        blind=windows.is_blind(window),
        quota=window.quota.count,
        period=window.quota.period,
        types=dict(window.quota.types),
        mine=[_allowance(one) for one in mine if one.window.id == window.id],
        programs=_programs(window),
        without_primary=lacking,
    )


def _programs(window: Window) -> dict[str, Any] | None:
    """What teams must know to write a program for a window."""
    if window.programs is None:
        return None
    names = ("answers", "mode", "runner", "cores", "memory", "gpus", "batch", "output", "unpacked", "header")
    facts = {name: getattr(window.programs, name) for name in names}
    item, compute = window.programs.item_time, window.programs.compute
    return facts | {"item_seconds": item.total_seconds(), "compute_seconds": compute.total_seconds()}


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
