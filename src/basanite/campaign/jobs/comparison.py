"""Scoring again for a batch, and comparing systems for a board: the same children, what they give is kept once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.analysis.packed_pairs import packed
from basanite.campaign.jobs.scoring_process import Material, comparison, material, order, run_order
from basanite.campaign.jobs.stages import Written, keep, keep_files, log, pause
from basanite.campaign.office import Office
from basanite.campaign.store.files import Stored
from basanite.campaign.store.tables import Adoption, Batch, BatchItem, Board, Result, Submission
from basanite.errors import BasaniteError


def score_item(office: Office, batch_item_id: str) -> str:
    """Score one submission of a batch against its reference; nothing changes but the batch. Gives its state."""
    with office.reading() as session:
        item = session.get_one(BatchItem, batch_item_id)
        if item.state != "waiting":
            return item.state
        submission = session.get_one(Submission, item.submission_id)
        batch = session.get_one(Batch, item.batch_id)
        try:
            used = material(session, office, submission, reference_id=batch.reference_id, newest=True)
        except BasaniteError as error:
            log.warning("batch item %s: %s", batch_item_id, error)
            return _end_item(office, batch_item_id, "failed")
    state, written = _scored_again(office, submission, used)
    return _end_item(office, batch_item_id, state, submission, used, written)


def _scored_again(office: Office, submission: Submission, used: Material) -> tuple[str, Written | None]:
    for number in range(1, office.settings.limits.tries + 1):
        try:
            with run_order(office, order(office, "examine", submission, used)) as outcome:
                if outcome.good:
                    result = outcome.path("result.json")
                    return ("invalid", None) if result is None else ("scored", keep_files(office, outcome, result))
        except Exception:  # noqa: BLE001 (whatever it is, it is our fault, and the batch must end)
            log.exception("submission %s could not be scored again", submission.id)
        pause(office, number)
    return "failed", None


def _end_item(
    office: Office,
    item_id: str,
    state: str,
    submission: Submission | None = None,
    used: Material | None = None,
    written: Written | None = None,
) -> str:
    with office.writing() as session:
        item = session.get_one(BatchItem, item_id, with_for_update=True, populate_existing=True)
        if item.state != "waiting":
            return item.state
        item.state = state
        if submission is not None and used is not None and written is not None:
            item.new_key = keep(session, office, submission, used, written)
        session.flush()
        _settle(session, item.batch_id)
        return state


def _settle(session: Session, batch_id: str) -> None:
    """A batch of which nothing is left to compute is ready to be looked at."""
    batch = session.get_one(Batch, batch_id, with_for_update=True, populate_existing=True)
    waiting = select(BatchItem.id).where(BatchItem.batch_id == batch_id, BatchItem.state == "waiting").limit(1)
    if batch.state == "running" and session.scalar(waiting) is None:
        batch.state = "ready"


def compare(office: Office, key: str, campaign_id: str, window: str, purpose: str, subject: Mapping[str, Any]) -> str:
    """Compare the systems of a subject (`systems`: name to submission) and keep the board under its key.

    `only`, if the subject has it, names the factor and level of the units that count.
    All are scored with the reference and the settings of the first. Gives `there` or `failed`.
    """
    with office.reading() as session:
        if session.get(Board, key) is not None:
            return "there"
        systems = {name: session.get_one(Submission, one) for name, one in subject["systems"].items()}
        first = next(iter(systems.values()))
        used = material(session, office, first, reference_id=_reference_of(session, first), newest=True)
    stored = _run_comparison(office, systems, used, subject.get("only", {}))
    if stored is None:
        return "failed"
    found = json.loads(office.files.read(stored.digest))
    with office.writing() as session:
        if session.get(Board, key) is None:
            session.add(
                Board(
                    key=key,
                    campaign_id=campaign_id,
                    window=window,
                    purpose=purpose,
                    subject=dict(subject),
                    digest=stored.digest,
                    ranking={
                        **{name: found[name] for name in ("rank_ranges", "groups")},
                        "detectable": found.get("detectable") or _detectable(found["differences"]),
                        "better": found.get("better") or _better(found["differences"]),
                    },
                    at=office.clock(),
                )
            )
    return "there"


def _detectable(differences: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """By metric, the smallest and the largest of the differences that pairs of systems would show (S-30)."""
    sizes: dict[str, list[float]] = {}
    for one in differences:
        if one.get("detectable") is not None:
            sizes.setdefault(one["metric"], []).append(one["detectable"])
    return {metric: [min(found), max(found)] for metric, found in sizes.items()}


def _better(differences: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By metric, who is significantly better than whom, packed."""
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for one in differences:
        by_metric.setdefault(one["metric"], []).append(one)
    stored = {}
    for metric, found in by_metric.items():
        order = list(dict.fromkeys(name for one in found for name in (one["first"], one["second"])))
        place = {name: at for at, name in enumerate(order)}
        better = np.zeros((len(order), len(order)), dtype=bool)
        for one in found:
            if one["verdict"] in ("first", "second"):
                pair = place[one["first"]], place[one["second"]]
                better[pair if one["verdict"] == "first" else pair[::-1]] = True
        stored[metric] = packed(order, better)
    return stored


def _reference_of(session: Session, submission: Submission) -> str | None:
    """The reference behind the result that holds for a submission."""
    question = select(Result.reference_id).join(Adoption, Adoption.result_key == Result.key)
    question = question.where(Adoption.submission_id == submission.id).order_by(Adoption.sequence.desc())
    return session.scalar(question.limit(1))


def _run_comparison(
    office: Office, systems: Mapping[str, Submission], used: Material, only: Mapping[str, str]
) -> Stored | None:
    for number in range(1, office.settings.limits.tries + 1):
        try:
            with run_order(office, comparison(office, systems, used, only)) as outcome:
                written = outcome.path("comparison.json") if outcome.good else None
                if written is not None:
                    return office.files.take(written)
        except Exception:  # noqa: BLE001 - a fault of ours or of the machine: it is logged and tried again
            log.exception("a comparison could not be made")
        pause(office, number)
    return None
