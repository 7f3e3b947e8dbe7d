"""The plan that is in force, read from the newest version of a campaign's file; parsed once and kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.campaign_file import load
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import missing
from basanite.campaign.store.tables import CampaignRow, PlanVersion


class InForce(NamedTuple):
    """A campaign as it stands: its row, what its file says, and the number of that version."""

    row: CampaignRow
    campaign: Campaign
    version: int

    def now(self, moment: datetime) -> datetime:
        """The time in this campaign: that of the clock, unless the season is played at another time."""
        return moment + timedelta(seconds=self.row.clock_offset)


_NAMED = (
    select(CampaignRow, PlanVersion.text, PlanVersion.version)
    .join(PlanVersion, PlanVersion.campaign_id == CampaignRow.id)
    .where(or_(CampaignRow.slug == bindparam("name"), CampaignRow.id == bindparam("name")))
    .order_by(PlanVersion.version.desc())
    .limit(1)
)
"""Asked at every call that names a campaign, and so built once."""


def find_campaign(session: Session, slug_or_id: str) -> InForce | None:
    """The newest version of the campaign of this slug or id, if there is one."""
    found = session.execute(_NAMED, {"name": slug_or_id}).first()
    return None if found is None else InForce(found[0], parse_plan(found.text), found.version)


def in_force(session: Session, campaign_id: str) -> InForce:
    """The newest version of a campaign."""
    query = select(PlanVersion.text, PlanVersion.version).where(PlanVersion.campaign_id == campaign_id)
    found = session.execute(query.order_by(PlanVersion.version.desc()).limit(1)).first()
    if found is None:
        raise missing("campaign")
    return InForce(session.get_one(CampaignRow, campaign_id), parse_plan(found.text), found.version)


def at_version(session: Session, campaign_id: str, version: int) -> Campaign:
    """A campaign as one version of its file has it."""
    query = select(PlanVersion.text).where(PlanVersion.campaign_id == campaign_id, PlanVersion.version == version)
    found = session.scalar(query)
    if found is None:
        raise missing(f"version {version} of the plan")
    return parse_plan(found)


@lru_cache(maxsize=64)
def parse_plan(text: str) -> Campaign:
    """What a campaign's file says; one that was kept has been read before, so it can be read."""
    return load(text)
