"""Re-scoring as a batch that is looked at first: nothing on any board changes before it is applied.

A batch scores every submission of one place against a version of the truth, by the same jobs as ever, and stores each
result under its key. What would change, and who would move in rank, is shown; then the batch is applied (the new
version holds, results are adopted, receipts superseded, teams told) or cancelled. History keeps both results.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import announcements, plans, references, two_people
from basanite.campaign.actions.moves import moves
from basanite.campaign.actions.registry import NEWEST, Argument, Arguments, At, Listing, Outcome, Reason, action, newest
from basanite.campaign.jobs.queue import enqueue
from basanite.campaign.jobs.scoring_process import material
from basanite.campaign.model.refusals import RefusedError, missing, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import check_second, require_organiser
from basanite.campaign.results.facts import adopt, adopted_results
from basanite.campaign.store import events, looks
from basanite.campaign.store.tables import Approval, Batch, BatchItem, Reference, Result, Submission

SCORED = ("scored", "failed")
"""States of submissions that a new version of the truth touches; what is on its way is scored with what holds."""
DONE = ("scored", "invalid", "failed")


def preview(
    session: Session, office: Office, actor: Actor, reference_id: str, *, reason: str, appeal_id: str | None = None
) -> Batch:
    """Begin a batch: every submission of the reference's place is scored against it, and nothing changes yet."""
    reference = _reference(session, reference_id)
    require_organiser(session, actor, reference.campaign_id)
    _check_begin(session, reference, reason)
    batch = Batch(
        campaign_id=reference.campaign_id,
        reference_id=reference.id,
        reason=reason,
        state="running",
        appeal_id=appeal_id,
        by=actor.id,
        made=office.clock(),
    )
    session.add(batch)
    session.flush()
    count = _add_items(session, office, batch, affected_submissions(session, reference))
    _log(session, office, actor, batch, "previewed", submissions=count)
    settle(session, batch)
    return batch


def affected_submissions(session: Session, reference: Reference) -> tuple[Submission, ...]:
    """Every submission that was scored for the place of a reference, whatever its standing: history needs all."""
    question = select(Submission).where(
        Submission.campaign_id == reference.campaign_id,
        Submission.task == reference.task,
        Submission.language == reference.language,
        Submission.queryset == reference.queryset,
        Submission.dataset == reference.dataset,
        Submission.state.in_(SCORED),
    )
    return tuple(session.scalars(question.order_by(Submission.received, Submission.id)))


def settle(session: Session, batch: Batch) -> bool:
    """Whether all of a running batch is computed; it is then ready to be applied or cancelled."""
    if batch.state == "running" and not _states(session, batch, ("waiting",)):
        batch.state = "ready"
        session.flush()
    return batch.state == "ready"


def find(session: Session, batch_id: str) -> Batch:
    """The batch of an id, locked for anyone who decides about it."""
    batch = session.get(Batch, batch_id, with_for_update=True, populate_existing=True)
    if batch is None:
        raise _unknown(batch_id)
    return batch


def _unknown(batch_id: str) -> RefusedError:
    return refused("P-7", f"there is no re-scoring {batch_id}", "list the re-scorings", status=404)


def batches(session: Session, campaign_id: str) -> tuple[Batch, ...]:
    """All re-scorings of a campaign, oldest first."""
    return tuple(session.scalars(select(Batch).where(Batch.campaign_id == campaign_id).order_by(Batch.made, Batch.id)))


def items(session: Session, batch: Batch) -> tuple[BatchItem, ...]:
    """The submissions of a batch."""
    return tuple(session.scalars(select(BatchItem).where(BatchItem.batch_id == batch.id).order_by(BatchItem.id)))


def apply(session: Session, office: Office, actor: Actor, batch_id: str, *, seconded_by: str | None = None) -> Batch:
    """Let the new version and its results hold: from this moment on, everywhere at once."""
    batch = find(session, batch_id)
    require_organiser(session, actor, batch.campaign_id)
    reference = _reference(session, batch.reference_id)
    _check_second(session, actor, batch, seconded_by)
    old = references.lock_active(session, reference)
    _check_ready(session, office, batch, reference)
    _put_in_force(session, office, actor, old, reference, seconded_by)
    changed = _adopt_all(session, office, batch)
    batch.state, batch.ended, batch.seconded_by = "applied", office.clock(), seconded_by
    _log(session, office, actor, batch, "applied", submissions=len(changed))
    _end_failed(session, office, batch)
    announcements.mail_rescoring(session, office, batch, changed)
    return batch


def ask_to_apply(session: Session, office: Office, actor: Actor, batch_id: str) -> Approval:
    """Ask a second person to put a new version of the truth in force."""
    batch = find(session, batch_id)
    require_organiser(session, actor, batch.campaign_id)
    data = {"batch": batch.id}
    campaign_id, reason = batch.campaign_id, batch.reason
    return two_people.ask(session, office, actor, campaign_id, two_people.Request("reference", data, reason))


def cancel(session: Session, office: Office, actor: Actor, batch_id: str) -> Batch:
    """Leave everything as it is; a version that was only proposed is refused, and what was computed stays unused."""
    batch = find(session, batch_id)
    require_organiser(session, actor, batch.campaign_id)
    _check_open(batch)
    reference = _reference(session, batch.reference_id)
    if reference.state == "proposed":
        reference.state = "refused"
        references.log(session, office, actor, reference, "refused")
    batch.state, batch.ended = "cancelled", office.clock()
    _log(session, office, actor, batch, "cancelled")
    return batch


def _reference(session: Session, reference_id: str | None) -> Reference:
    reference = None if reference_id is None else session.get(Reference, reference_id)
    if reference is None:
        raise refused("P-7", f"there is no reference {reference_id}", "list the references", status=404)
    return reference


def _check_begin(session: Session, reference: Reference, reason: str) -> None:
    if not reason.strip():
        raise no_reason("P-7", "a re-scoring needs a reason")
    if reference.state not in ("proposed", "active"):
        raise refused("P-7", f"this version is {reference.state}", "add a new version", status=409)
    question = select(Batch).where(Batch.reference_id == reference.id, Batch.state.in_(("running", "ready")))
    if session.scalars(question.limit(1)).first() is not None:
        raise refused(
            "P-7", "a preview of this version already exists", "apply or cancel that re-scoring first", status=409
        )


def _add_items(session: Session, office: Office, batch: Batch, submissions: Iterable[Submission]) -> int:
    listed = list(submissions)
    held = adopted_results(session, [one.id for one in listed])
    for submission in listed:
        old = held.get(submission.id)
        item = BatchItem(batch_id=batch.id, submission_id=submission.id, old_key=old.key if old else None)
        session.add(item)
        session.flush()
        enqueue(session, office, "score_item", f"score_item:{item.id}", batch_item_id=item.id)
    return len(listed)


def _states(session: Session, batch: Batch, states: tuple[str, ...]) -> int:
    question = select(BatchItem.id).where(BatchItem.batch_id == batch.id, BatchItem.state.in_(states))
    return len(session.scalars(question).all())


def _check_second(session: Session, actor: Actor, batch: Batch, seconded_by: str | None) -> None:
    if not takes_two(session, batch):
        return
    if seconded_by is None:
        raise refused(
            "X-4",
            "replacing a reference needs two people here",
            "request it, and ask another organizer to approve it",
            status=409,
        )
    check_second(session, actor, batch.campaign_id, seconded_by)


def _check_open(batch: Batch) -> None:
    if batch.state not in ("running", "ready"):
        raise refused("P-7", f"this re-scoring is already {batch.state}", "start a new one", status=409)


def _check_ready(session: Session, office: Office, batch: Batch, reference: Reference) -> None:
    _check_open(batch)
    if reference.state not in ("proposed", "active"):
        raise refused("P-7", f"its version is now {reference.state}", "cancel it, and add a new version", status=409)
    if not settle(session, batch):
        raise refused("P-7", "this re-scoring is still being computed", "wait, then try again", status=409)
    if failed := _states(session, batch, ("failed",)):
        message = f"{failed} of its submissions could not be scored"
        raise refused("P-7", message, "cancel it, fix the cause and start over", status=409)
    if late := newcomers(session, batch, reference):
        message = f"{len(late)} submissions were scored after this batch began"
        raise refused("P-7", message, "add them (`rescore renew`), then review again", status=409)
    if stale := overtaken_items(session, office, batch):
        message = f"{len(stale)} of its submissions have newer results, or the plan has changed"
        raise refused("P-7", message, "compute them again (`rescore renew`), then review again", status=409)


def overtaken_items(session: Session, office: Office, batch: Batch) -> tuple[BatchItem, ...]:
    """Items whose old or new result is not the one they would get now: another batch was applied, or a plan."""
    listed = items(session, batch)
    held = adopted_results(session, [item.submission_id for item in listed])
    return tuple(item for item in listed if _is_overtaken(session, office, batch, item, held))


def _is_overtaken(session: Session, office: Office, batch: Batch, item: BatchItem, held: Mapping[str, Result]) -> bool:
    old = held.get(item.submission_id)
    if item.old_key != (old.key if old else None):
        return True
    if item.new_key is None:
        return False
    submission = session.get_one(Submission, item.submission_id)
    used = material(session, office, submission, reference_id=batch.reference_id, newest=True)
    return item.new_key != used.key(submission)


def newcomers(session: Session, batch: Batch, reference: Reference) -> tuple[Submission, ...]:
    """Submissions that were scored for this place since the batch began."""
    inside = {item.submission_id for item in items(session, batch)}
    return tuple(one for one in affected_submissions(session, reference) if one.id not in inside)


def renew(session: Session, office: Office, actor: Actor, batch_id: str) -> Batch:
    """Take in the submissions that were scored since the batch began, and compute again what was overtaken."""
    batch = find(session, batch_id)
    require_organiser(session, actor, batch.campaign_id)
    _check_open(batch)
    again = _ask_anew(session, office, overtaken_items(session, office, batch))
    new = newcomers(session, batch, _reference(session, batch.reference_id))
    count = again + _add_items(session, office, batch, new)
    batch.state = "running" if count else batch.state
    _log(session, office, actor, batch, "renewed", submissions=count)
    settle(session, batch)
    return batch


def _ask_anew(session: Session, office: Office, stale: Sequence[BatchItem]) -> int:
    """Score items once more; a result that has its key already is found there and kept as it is."""
    held = adopted_results(session, [item.submission_id for item in stale])
    for item in stale:
        old = held.get(item.submission_id)
        item.old_key, item.new_key, item.state = old.key if old else None, None, "waiting"
        session.flush()
        key = f"score_item:{item.id}:{secrets.token_hex(4)}"
        enqueue(session, office, "score_item", key, batch_item_id=item.id)
    return len(stale)


def _put_in_force(
    session: Session, office: Office, actor: Actor, old: Reference | None, reference: Reference, seconded_by: str | None
) -> None:
    if reference.state == "active":
        return
    if old is not None:
        old.state = "superseded"
        references.log(session, office, actor, old, "superseded")
    reference.state, reference.seconded_by = "active", seconded_by
    references.log(session, office, actor, reference, "activated")


def _adopt_all(session: Session, office: Office, batch: Batch) -> list[Submission]:
    """Adopt what is new; a result with the key it had is the same result, and is not adopted twice."""
    changed = []
    for item in items(session, batch):
        submission = session.get_one(Submission, item.submission_id)
        if item.new_key is not None and item.new_key != item.old_key:
            adopt(session, office, submission.id, item.new_key, batch_id=batch.id)
            changed.append(submission)
    return changed


def _end_failed(session: Session, office: Office, batch: Batch) -> None:
    """What had failed by our fault and has a result now is scored."""
    for item in items(session, batch):
        submission = session.get_one(Submission, item.submission_id)
        if item.state == "scored" and submission.state == "failed":
            submission.state, submission.state_at, submission.fault = "scored", office.clock(), ""
            looks.note(session, submission)


def _log(session: Session, office: Office, actor: Actor, batch: Batch, what: str, **data: int) -> None:
    events.record(
        session,
        f"rescoring.{what}",
        at=office.clock(),
        actor=actor.id,
        subject=batch.id,
        campaign_id=batch.campaign_id,
        data={"reference": batch.reference_id, "reason": batch.reason, **data},
    )


class RescoringWanted(Arguments):
    """The version against which everything is scored again."""

    reference: Annotated[str, Argument("An id of a reference, or the newest.")] = NEWEST
    reason: Reason = ""


class OneRescoring(Arguments):
    """A re-scoring."""

    batch: Annotated[str, Argument("An id of a re-scoring, or the newest.")] = NEWEST


@action(
    "rescore preview",
    hint='--reason "wrong labels" --data season',
    logs="rescoring.previewed",
)
def preview_rescoring(at: At, given: RescoringWanted) -> Outcome:
    """Score every affected submission against REFERENCE (an id, or the newest); nothing changes yet."""
    chosen = given.reference
    if chosen == NEWEST:
        found = sorted(references.versions(at.session, at.campaign_id), key=lambda one: one.made)
        chosen = newest(found, "reference")
    elif at.bound:
        references.check_version(at.session, at.campaign_id, chosen)
    batch = preview(*at.who, chosen, reason=given.reason)
    count = len(items(at.session, batch))
    shown = {"batch": batch.id, "state": batch.state, "submissions": count}
    hint = "Look at it with: basanite admin rescore show"
    return Outcome(shown, (f"{count} submissions are scored again.",), hint=hint)


@action("rescore show", reads=True, hint="--data season")
def show_rescoring(at: At, given: OneRescoring) -> Outcome:
    """Show what a re-scoring (an id, or the newest) would change: values before and after, and ranks."""
    row = _batch_meant(at, given.batch)
    state = "ready" if row.state == "running" and not _states(at.session, row, ("waiting",)) else row.state
    rows: list[dict[str, Any]] = [
        {"run": f"{one.team}/{one.number}", "window": one.window, "state": one.state}
        | {"before": one.before, "after": one.after, "rank": f"{one.rank_before or '-'} -> {one.rank_after or '-'}"}
        for one in moves(at.session, row)
    ]
    head = f"Re-scoring {row.id} is {state}: {row.reason}"
    listing = Listing(rows, ("run", "window", "state", "before", "after", "rank"), "No submissions are affected.")
    return Outcome({"batch": row.id, "state": state, "reason": row.reason, "runs": rows}, (head,), listing)


@action(
    "rescore apply",
    two="reference",
    hint="--data season",
    logs="rescoring.applied reference.activated approval.asked",
)
def apply_rescoring(at: At, given: OneRescoring) -> Outcome:
    """Activate a re-scoring (an id, or the newest); the campaign may require a second person's approval."""
    row = _batch_meant(at, given.batch)
    if takes_two(at.session, row):
        waits = ask_to_apply(*at.who, row.id)
        shown = {"batch": row.id, "state": row.state, "waits": waits.id}
        hint = "This needs a second person: basanite admin approvals agree newest"
        return Outcome(shown, hint=hint, waits=waits.id)
    row = apply(*at.who, row.id)
    return Outcome({"batch": row.id, "state": row.state}, ("Applied. The new results are now active.",))


@action("rescore cancel", hint="--data season", logs="rescoring.cancelled reference.refused")
def cancel_rescoring(at: At, given: OneRescoring) -> Outcome:
    """Cancel a re-scoring and reject the proposed version; nothing changes."""
    row = cancel(*at.who, _batch_meant(at, given.batch).id)
    return Outcome({"batch": row.id, "state": row.state}, ("Canceled. Nothing has changed.",))


@action("rescore renew", hint="--data season", logs="rescoring.renewed")
def renew_rescoring(at: At, given: OneRescoring) -> Outcome:
    """Include submissions that were scored since the re-scoring began."""
    row = renew(*at.who, _batch_meant(at, given.batch).id)
    return Outcome({"batch": row.id, "state": row.state}, (f"Re-scoring {row.id} is {row.state}.",))


def takes_two(session: Session, batch: Batch) -> bool:
    """Replacing a reference takes two people where the campaign says so; running it again over the same does not."""
    new = session.get_one(Reference, batch.reference_id).state == "proposed"
    return new and two_people.needs_two(plans.current(session, batch.campaign_id).campaign, "reference")


def _batch_meant(at: At, batch: str) -> Batch:
    chosen = newest(batches(at.session, at.campaign_id), "re-scoring") if batch == NEWEST else batch
    row = at.session.get(Batch, chosen)
    if row is None or (at.bound and row.campaign_id != at.campaign_id):
        raise missing("re-scoring") if at.bound else _unknown(chosen)
    return row
