"""What a demo holds, in figures: for whoever looks at it with a program."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.tables import (
    Appeal,
    Approval,
    Batch,
    LeadRequest,
    Membership,
    Person,
    Question,
    Release,
    Signature,
    Submission,
    Team,
)


def facts(office: Office) -> dict[str, Any]:
    """People, teams, submissions by state, what was released, and what waits for somebody."""
    with office.reading() as session:
        states = select(Submission.state, func.count()).group_by(Submission.state).order_by(Submission.state)
        released = select(Release.window, Release.level).order_by(Release.at)
        return {
            "people": _count(session, select(Person.id)),
            "teams": list(session.scalars(select(Team.name).order_by(Team.name))),
            "submissions": {row[0]: row[1] for row in session.execute(states)},
            "released": [f"{window}: {level}" for window, level in session.execute(released)],
            "appeals": list(session.scalars(select(Appeal.state))),
            "rescored": list(session.scalars(select(Batch.state))),
            "waiting": _waiting(session),
        }


def _waiting(session: Session) -> dict[str, int]:
    return {
        "teams to be led": _count(session, select(LeadRequest.id).where(LeadRequest.state == "asked")),
        "places in teams": _count(session, select(Membership.id).where(Membership.state == "asked")),
        "signatures": _count(session, select(Signature.id).where(Signature.state == "uploaded")),
        "acts of two": _count(session, select(Approval.id).where(Approval.state == "waiting")),
        "questions": _count(session, select(Question.id).where(Question.answered.is_(None))),
    }


def _count(session: Session, question: Select[Any]) -> int:
    return session.scalar(select(func.count()).select_from(question.subquery())) or 0
