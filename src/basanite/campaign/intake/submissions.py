"""Submissions once they are in: found, and their place in the queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.intake.entitlement import belongs
from basanite.campaign.model.refusals import missing
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import is_organiser
from basanite.campaign.store.tables import Submission

WAITING = ("received", "validating", "scoring")


@dataclass(frozen=True)
class Place:
    """Where a submission stands in the queue."""

    ahead: int
    """Submissions of all teams that came before it and have not ended."""
    within: timedelta
    """How long it takes at the most if everything before it takes as long as anything may."""


def get(session: Session, actor: Actor, submission_id: str) -> Submission:
    """A submission of the actor's own team, or any for organisers; those of other teams do not exist."""
    row = session.get(Submission, submission_id)
    if row is None:
        raise missing("submission")
    if not (is_organiser(session, actor, row.campaign_id) or belongs(session, actor, row.team_id)):
        raise missing("submission")
    return row


def place(session: Session, office: Office, row: Submission) -> Place | None:
    """Where a submission stands in the queue; None once it has ended."""
    if row.state not in WAITING:
        return None
    waiting = select(func.count()).select_from(Submission).where(Submission.state.in_(WAITING))
    ahead = session.scalar(waiting.where(Submission.received < row.received)) or 0
    return Place(ahead, bound(office, ahead))


def bound(office: Office, ahead: int) -> timedelta:
    """The longest that a submission with so many before it can take on one worker process.

    Each of two stages is tried a few times, each try within its limit; a worker that died is noticed after a while.
    """
    limits = office.settings.limits
    each = 2 * limits.tries * (limits.seconds + limits.silent_seconds)
    return timedelta(seconds=each * (1 + ahead // max(office.settings.workers, 1)))
