"""Computing time: what a team's programs have used in a window, and what is left of it (G-2, G-3)."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Window
from basanite.campaign.model.programs import rounded_minutes
from basanite.campaign.model.refusals import refused
from basanite.campaign.store.tables import Charge, ProgramRun, Submission


def used(session: Session, campaign_id: str, window: str, team_id: str) -> float:
    """Seconds that a team's programs have used in a window; runs whose attempt was given back cost nothing."""
    question = (
        select(func.sum(ProgramRun.compute))
        .join(Submission, Submission.id == ProgramRun.submission_id)
        .join(Charge, Charge.submission_id == ProgramRun.submission_id)
        .where(ProgramRun.team_id == team_id, ProgramRun.window == window, Submission.campaign_id == campaign_id)
        .where(Charge.state != "refunded")
    )
    return float(session.scalar(question) or 0.0)


def left(session: Session, campaign_id: str, window: Window, team_id: str) -> float:
    """Seconds that a team's programs may still use in a window; without bound where it takes none."""
    if window.programs is None:
        return float("inf")
    return window.programs.compute.total_seconds() - used(session, campaign_id, window.id, team_id)


def check(session: Session, campaign_id: str, window: Window, team_id: str) -> None:
    """Refuse a program of a team whose computing time is used up."""
    if left(session, campaign_id, window, team_id) <= 0 and window.programs is not None:
        most = rounded_minutes(window.programs.compute.total_seconds())
        message = f"your team has used its {most} minutes of computing time in this window"
        raise refused("G-3", message, "ask the organizers, or wait for another window", status=403)
