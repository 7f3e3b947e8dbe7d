"""Where the milestones of the calendar stand: kick-off, visits, reports, each with its owner and its state (P-19)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Milestone
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import plans
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import MilestoneState

STATES: Final = ("planned", "done", "moved", "dropped")


@dataclass(frozen=True)
class Standing:
    """A milestone and how it stands now."""

    milestone: Milestone
    state: str = "planned"
    note: str = ""
    by: str = ""
    at: datetime | None = None


def milestones(session: Session, campaign_id: str) -> tuple[Standing, ...]:
    """All milestones of the plan that holds, in the order of time, each with its newest state."""
    campaign = plans.current(session, campaign_id).campaign
    question = select(MilestoneState).where(MilestoneState.campaign_id == campaign_id).order_by(MilestoneState.at)
    newest = {row.milestone: row for row in session.scalars(question)}
    ordered = sorted(campaign.milestones, key=lambda milestone: (milestone.at.utc, milestone.id))
    return tuple(_standing(milestone, newest.get(milestone.id)) for milestone in ordered)


def set_state(
    session: Session, office: Office, actor: Actor, campaign_id: str, milestone: str, state: str, note: str = ""
) -> MilestoneState:
    """Say where a milestone stands; what was said before stays."""
    require_organiser(session, actor, campaign_id)
    known = [one.id for one in plans.current(session, campaign_id).campaign.milestones]
    if milestone not in known:
        raise refused("P-19", f"the plan has no milestone {milestone!r}", f"one of: {', '.join(known)}", status=404)
    if state not in STATES:
        raise refused("P-19", f"{state!r} is no state of a milestone", f"one of: {', '.join(STATES)}", status=422)
    row = MilestoneState(
        campaign_id=campaign_id, milestone=milestone, state=state, note=note, by=actor.id, at=office.clock()
    )
    session.add(row)
    session.flush()
    events.record(
        session,
        "milestone.changed",
        at=row.at,
        actor=actor.id,
        subject=milestone,
        campaign_id=campaign_id,
        data={"state": state, "note": note},
    )
    return row


def _standing(milestone: Milestone, row: MilestoneState | None) -> Standing:
    return Standing(milestone) if row is None else Standing(milestone, row.state, row.note, row.by, row.at)
