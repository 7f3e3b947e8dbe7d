"""Which result holds for a submission: the newest adoption counts, older ones are its history (design rule 2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.database import in_blocks
from basanite.campaign.store.tables import Adoption, Result, Submission


def adopted(session: Session, submission_ids: Iterable[str]) -> dict[str, Result]:
    """The result that holds for each of these submissions, for those that have one."""
    found: dict[str, Result] = {}
    for some in in_blocks(dict.fromkeys(submission_ids)):
        found |= _some(session, some)
    return found


def history(session: Session, submission_id: str) -> tuple[Result, ...]:
    """All results that held for a submission, oldest first; the last one holds now."""
    question = select(Result).join(Adoption, Adoption.result_key == Result.key)
    return tuple(session.scalars(question.where(Adoption.submission_id == submission_id).order_by(Adoption.sequence)))


def adopt(session: Session, office: Office, submission_id: str, result_key: str, *, batch_id: str | None) -> Adoption:
    """Let a result hold for its submission from now on; the one before stays in the history."""
    row = Adoption(submission_id=submission_id, result_key=result_key, batch_id=batch_id, at=office.clock())
    session.add(row)
    session.get_one(Submission, submission_id).unsigned = True
    session.flush()
    return row


def content(office: Office, result: Result) -> Mapping[str, Any]:
    """The whole `score --json` object of a result: for `seeing` and for the evaluation team's own work alone."""
    data: Mapping[str, Any] = json.loads(office.files.read(result.digest))
    return data


def _some(session: Session, ids: list[str]) -> dict[str, Result]:
    newest = select(func.max(Adoption.sequence)).where(Adoption.submission_id.in_(ids)).group_by(Adoption.submission_id)
    question = select(Adoption.submission_id, Result).join(Result, Result.key == Adoption.result_key)
    return {row[0]: row[1] for row in session.execute(question.where(Adoption.sequence.in_(newest)))}
