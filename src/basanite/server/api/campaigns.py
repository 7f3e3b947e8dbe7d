"""Which campaigns there are, and one at a glance."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel
from sqlalchemy import select

from basanite.campaign.model.plan import Campaign
from basanite.campaign.organising import plans
from basanite.campaign.store.tables import CampaignRow
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(prefix="/campaigns", tags=["campaigns"])
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


@ROUTER.get("")
def list_campaigns(caller: Anybody) -> list[CampaignShown]:
    """All campaigns of this server."""
    with caller.office.reading() as session:
        slugs = session.scalars(select(CampaignRow.slug).order_by(CampaignRow.slug).limit(MOST)).all()
        found = [plans.current(session, slug) for slug in slugs]
    return [CampaignShown(**_facts(plan.campaign, plan.version)) for plan in found]


@ROUTER.get("/{slug}")
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
