"""What waits for the evaluation team, counted; and how full each window is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import (
    Appeal,
    Approval,
    Batch,
    DutyException,
    LeadRequest,
    Question,
    Signature,
    Submission,
)


@dataclass(frozen=True)
class Waiting:
    """How much of each kind waits for a decision."""

    leads: int
    approvals: int
    exceptions: int
    appeals: int
    rescorings: int
    questions: int
    copies: int


def waiting(session: Session, campaign_id: str) -> Waiting:
    """Count what waits in a campaign."""

    def count(table: type, *which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.campaign_id == campaign_id, *which)  # type: ignore[attr-defined]
        return session.scalar(query) or 0

    return Waiting(
        count(LeadRequest, LeadRequest.state == "asked"),
        count(Approval, Approval.state == "waiting"),
        count(DutyException, DutyException.seconded.is_(None), DutyException.ended.is_(None)),
        count(Appeal, Appeal.state == "open"),
        count(Batch, Batch.state.in_(("running", "ready"))),
        count(Question, Question.answered.is_(None)),
        count(Signature, Signature.state == "uploaded"),
    )


def runs_by_window(session: Session, campaign_id: str) -> dict[str, Mapping[str, int]]:
    """How many submissions of each state each window has."""
    query = select(Submission.window, Submission.state, func.count()).where(Submission.campaign_id == campaign_id)
    found: dict[str, dict[str, int]] = {}
    for window, state, number in session.execute(query.group_by(Submission.window, Submission.state)):
        found.setdefault(window, {})[state] = number
    return dict(found)
