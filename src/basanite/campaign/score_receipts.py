"""Receipts of scores: made only of what the release policy shows, so that none exists before its time (X-6).

What a receipt says is what its reader may see: the team's own by default, the public's for the published site. A
re-scoring makes a new receipt that names the one it takes the place of.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Office
from basanite.campaign.receipts import ScoreFacts, sign_receipt
from basanite.campaign.results import visibility
from basanite.campaign.results.facts import adopted_results
from basanite.campaign.results.views import SeenResult
from basanite.campaign.store import events
from basanite.campaign.store.tables import ProgramRun, Receipt, Reference, Result, Submission
from basanite.canonical import plain_values


def score_receipt(
    session: Session,
    office: Office,
    submission_id: str,
    result_key: str | None = None,
    *,
    viewer: Viewer | None = None,
) -> Receipt:
    """The receipt of the score that holds, as its team (or another viewer) may see it; refused before release.

    Asking again gives the same receipt, unless standing, result or what is shown has changed.
    """
    session.flush()
    # two workers sign it once
    submission = session.get_one(Submission, submission_id, with_for_update=True, populate_existing=True)
    seen = visibility.result(session, office, viewer or Viewer(team=submission.team_id), submission_id)
    if seen is None or not seen.data or seen.superseded:
        raise refused("X-6", "there is no score to show yet", "wait until it is released", status=404)
    row = _result(session, submission_id)
    if result_key not in (None, row.key):
        raise refused("X-6", "this result has been superseded", "request the receipt of the active result", status=409)
    said = _score_statement(session, row, seen)
    old = _newest(session, submission_id)
    submission.unsigned = False
    same = _same(session, submission, said)
    return same or _make_score_receipt(session, office, submission, row, said, old)


def score_receipts(session: Session, submission_id: str) -> tuple[Receipt, ...]:
    """All score receipts of a submission, oldest first; the newest supersedes those before it."""
    question = select(Receipt).where(Receipt.submission_id == submission_id, Receipt.kind == "score")
    return tuple(session.scalars(question.order_by(Receipt.at, Receipt.id)))


def _make_score_receipt(
    session: Session, office: Office, submission: Submission, row: Result, said: dict[str, Any], old: Receipt | None
) -> Receipt:
    superseded = old.id if old is not None and old.result_key != row.key else None
    more = {"result": said, "supersedes": superseded}
    events.record(
        session,
        "receipt.score",
        at=office.clock(),
        actor="system",
        subject=submission.id,
        campaign_id=submission.campaign_id,
        data={"supersedes": superseded},
    )
    return sign_receipt(session, office, "score", submission, ScoreFacts(more, row.key, superseded))


def _score_statement(session: Session, row: Result, seen: SeenResult) -> dict[str, Any]:
    """Everything that the value depends on besides the archive, so that it can be made again (M80)."""
    reference = session.get_one(Reference, row.reference_id)
    open_truth = reference.released is not None or not reference.sealed
    digests, settings = dict(seen.data.get("digests", {})), dict(seen.provenance.settings)
    if not open_truth:  # a plain digest of a sealed key would confirm guesses, and its seed stays secret
        digests.pop("reference", None)
        settings.pop("seed", None)
    return plain_values(  # type: ignore[no-any-return]
        {
            **_program_statement(session, row.submission_id),
            "digests": digests,
            "level": seen.level,
            "plan_version": seen.provenance.plan,
            "primary": seen.primary,
            "reference": {"commitment": reference.commitment, "version": reference.version},
            "settings": settings,
            "signature": seen.data.get("signature", ""),
            "software": seen.provenance.software,
            "task": seen.data.get("task", ""),
            "values": seen.data.get("values", {}),
        }
    )


def _program_statement(session: Session, submission_id: str) -> dict[str, Any]:
    """Of a program what was run on what, and what came of it: digests, as commitments where they are sealed (G-4)."""
    run = session.get(ProgramRun, submission_id)
    if run is None or not run.outputs:
        return {}
    archive = session.get_one(Submission, submission_id).sha256
    same = run.differing == 0 if run.checked else None
    return {"program": {"archive": archive, "inputs": run.inputs, "outputs": run.outputs, "same_again": same}}


def _same(session: Session, submission: Submission, said: dict[str, Any]) -> Receipt | None:
    for receipt in reversed(score_receipts(session, submission.id)):
        content = json.loads(receipt.content)["content"]
        if content["result"] == said and content["standing"] == submission.standing:
            return receipt
    return None


def _result(session: Session, submission_id: str) -> Result:
    return adopted_results(session, [submission_id])[submission_id]


def _newest(session: Session, submission_id: str) -> Receipt | None:
    found = score_receipts(session, submission_id)
    return found[-1] if found else None
