"""A new version of the campaign's file, looked at before it holds: what changes, and which deviations that makes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.freezing import Change, changes, departures
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Office
from basanite.campaign.organising import plans
from basanite.campaign.store.plans import parsed
from basanite.campaign.store.tables import PlanVersion


@dataclass(frozen=True)
class Departing:
    """A window that has opened and would hold differently."""

    window: str
    title: str
    changes: tuple[Change, ...]
    results_known: bool


@dataclass(frozen=True)
class PlanPreview:
    """What a file would change; `digest` stands for exactly this file."""

    digest: str
    changes: tuple[Change, ...]
    deviations: tuple[Departing, ...]
    campaign: Campaign
    """The plan of the file."""


def preview(session: Session, office: Office, campaign_id: str, text: str) -> PlanPreview:
    """Read a file and compare it with the plan that holds; nothing is kept. Its problems are a refusal."""
    plan, new = plans.current(session, campaign_id), parsed(text)
    if new.slug != plan.campaign.slug:
        raise refused("P-28", f"the file is of another campaign, {new.slug!r}", "leave the slug as it is", status=422)
    now = plans.now(office, plan.row)
    opened = [window for window in plan.campaign.windows if window.opens.utc <= now]
    found = [
        Departing(window.id, window.title, gone, plans.results_known(session, plan.row.id, window.id))
        for window, gone in ((window, departures(plan.campaign, new, window.id)) for window in opened)
        if gone
    ]
    digest = hashlib.sha256(text.encode()).hexdigest()
    return PlanPreview(digest, changes(plan.campaign, new), tuple(found), new)


def versions(session: Session, campaign_id: str) -> tuple[PlanVersion, ...]:
    """All versions of a campaign's file, newest first."""
    query = select(PlanVersion).where(PlanVersion.campaign_id == campaign_id)
    return tuple(session.scalars(query.order_by(PlanVersion.version.desc())))
