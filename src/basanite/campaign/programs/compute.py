"""Computing time: what a team's programs have used in a window, and what is left of it (G-2, G-3).

Each run counts in whole minutes, and only once its team may know that it has ended: a sum of exact times would tell how
long a program took on sealed items.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Window
from basanite.campaign.model.programs import rounded_minutes
from basanite.campaign.model.refusals import refused
from basanite.campaign.store.tables import Charge, ProgramRun, Submission

MINUTE = 60.0


def used(session: Session, campaign_id: str, window: str, team_id: str) -> float:
    """Seconds that a team's programs have used in a window; runs whose attempt was given back cost nothing."""
    question = (
        select(ProgramRun.compute)
        .join(Submission, Submission.id == ProgramRun.submission_id)
        .join(Charge, Charge.submission_id == ProgramRun.submission_id)
        .where(ProgramRun.team_id == team_id, ProgramRun.window == window, Submission.campaign_id == campaign_id)
        .where(Charge.state != "refunded", Submission.state != "running", ProgramRun.compute > 0)
    )
    return MINUTE * sum(rounded_minutes(seconds) for seconds in session.scalars(question))


def left(session: Session, campaign_id: str, window: Window, team_id: str) -> float:
    """Seconds that a team's programs may still use in a window; without bound where it takes none."""
    if window.programs is None:
        return float("inf")
    return window.programs.compute.total_seconds() - used(session, campaign_id, window.id, team_id)


def check(session: Session, campaign_id: str, window: Window, team_id: str) -> None:
    """Refuse a program of a team whose computing time is used up."""
    if left(session, campaign_id, window, team_id) <= 0 and window.programs is not None:
        most = rounded_minutes(window.programs.compute.total_seconds())
        message = f"your team has used its {most} min of computing time in this window"
        raise refused("G-3", message, "ask the organizers, or wait for another window", status=403)
