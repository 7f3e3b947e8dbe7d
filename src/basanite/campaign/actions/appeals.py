"""Before release each PI sees the own results for a set time, and confirms them or appeals (P-24).

An appeal has a number, a deadline by which it is decided, a decision and a reason. One that is upheld becomes a
re-scoring that is previewed like any other; a release lists those that are still open.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from basanite.campaign.actions import announcements, plans, references, rescoring
from basanite.campaign.actions.registry import (
    Argument,
    Arguments,
    At,
    Option,
    Outcome,
    Reason,
    action,
    list_outcome,
    rows_of,
)
from basanite.campaign.model.refusals import missing, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser, viewer
from basanite.campaign.store import events
from basanite.campaign.store.tables import Appeal, Batch, CampaignRow, Certification, Release, Submission, Team

ANSWER_WITHIN: Final = timedelta(days=7)
"""How long the evaluation team has to decide."""
LONGEST_TEXT: Final = 10_000


def certify(session: Session, office: Office, actor: Actor, campaign_id: str, window: str) -> Certification:
    """Confirm the own results of a window: by the PI, while certification runs."""
    team_id = _pi_of(session, actor, campaign_id)
    check_running(session, office, campaign_id, window)
    found = session.scalars(_certifications(campaign_id, window, team_id)).first()
    if found is not None:
        return found
    row = Certification(campaign_id=campaign_id, window=window, team_id=team_id, by=actor.id, at=office.clock())
    session.add(row)
    session.flush()
    _log(session, office, actor, campaign_id, "results.certified", row.id, window=window, team=team_id)
    announcements.mail_certified(session, office, row)
    return row


@dataclass(frozen=True, slots=True)
class Objection:
    """What a PI contests: the results of a window, or one submission of it."""

    window: str
    text: str
    submission_id: str | None = None


def open_appeal(session: Session, office: Office, actor: Actor, campaign_id: str, objection: Objection) -> Appeal:
    """Contest the own results: by the PI, while certification runs."""
    window, text, submission_id = objection.window, objection.text, objection.submission_id
    team_id = _pi_of(session, actor, campaign_id)
    check_running(session, office, campaign_id, window)
    _check_text(text)
    _check_own(session, team_id, window, submission_id)
    # numbers are given out one after the other
    session.get_one(CampaignRow, campaign_id, with_for_update=True, populate_existing=True)
    newest = session.scalar(select(func.max(Appeal.number)).where(Appeal.campaign_id == campaign_id))
    row = Appeal(
        campaign_id=campaign_id,
        number=(newest or 0) + 1,
        window=window,
        team_id=team_id,
        submission_id=submission_id,
        text=text,
        by=actor.id,
        at=office.clock(),
        deadline=office.clock() + ANSWER_WITHIN,
        state="open",
    )
    session.add(row)
    session.flush()
    _log(session, office, actor, campaign_id, "appeal.opened", row.id, window=window, number=row.number, team=team_id)
    announcements.mail_appeal(session, office, row)
    return row


@dataclass(frozen=True, slots=True)
class Decision:
    """What organisers decide about an appeal; one that is upheld may name the version to score again with."""

    upheld: bool
    reason: str
    reference_id: str | None = None


def decide_appeal(session: Session, office: Office, actor: Actor, appeal_id: str, decision: Decision) -> Batch | None:
    """Decide an appeal, with a reason; one that is upheld begins a previewed re-scoring, which is answered."""
    appeal = find(session, appeal_id)
    require_organiser(session, actor, appeal.campaign_id)
    if not decision.reason.strip():
        raise no_reason("P-24", "a decision needs a reason")
    _close(session, office, actor, appeal, "upheld" if decision.upheld else "refused", decision.reason)
    announcements.mail_decision(session, office, appeal)
    if not decision.upheld:
        return None
    version = decision.reference_id or _reference_of(session, appeal)
    why = f"appeal {appeal.number}: {decision.reason}"
    return rescoring.preview(session, office, actor, version, reason=why, appeal_id=appeal.id)


def withdraw(session: Session, office: Office, actor: Actor, appeal_id: str) -> Appeal:
    """Take the own appeal back."""
    appeal = find(session, appeal_id)
    if _pi_of(session, actor, appeal.campaign_id) != appeal.team_id:
        raise missing("appeal")
    _close(session, office, actor, appeal, "withdrawn", "")
    return appeal


def appeals(session: Session, campaign_id: str, *, team_id: str | None = None) -> tuple[Appeal, ...]:
    """All appeals of a campaign or of one team, by number."""
    question = select(Appeal).where(Appeal.campaign_id == campaign_id).order_by(Appeal.number)
    return tuple(session.scalars(question if team_id is None else question.where(Appeal.team_id == team_id)))


def open_appeals(session: Session, campaign_id: str, window: str) -> tuple[Appeal, ...]:
    """The appeals of a window that nobody has decided yet."""
    return tuple(one for one in appeals(session, campaign_id) if one.window == window and one.state == "open")


def certification_times(session: Session, campaign_id: str, window: str) -> dict[str, datetime]:
    """When each team confirmed its results, by team."""
    return {row.team_id: row.at for row in session.scalars(_certifications(campaign_id, window))}


def certification_ends(session: Session, campaign_id: str, window: str) -> datetime | None:
    """When the time for confirming and appealing is over; None if it has not begun."""
    question = select(Release.at).where(
        Release.campaign_id == campaign_id, Release.window == window, Release.level == "certification"
    )
    begun = session.scalar(question)
    length = plans.find_window(plans.current(session, campaign_id).campaign, window).certification
    return None if begun is None else begun + length


def check_running(session: Session, office: Office, campaign_id: str, window: str) -> None:
    """Refuse what may be done while certification runs only."""
    ends = certification_ends(session, campaign_id, window)
    if ends is None:
        raise refused("P-24", "the results of this window have not been sent for certification", "wait until they have")
    if plans.now(office, session.get_one(CampaignRow, campaign_id)) >= ends:
        raise refused("P-24", f"the deadline was {ends:%Y-%m-%d %H:%M} UTC", "write to the organizers")


def find(session: Session, appeal_id: str) -> Appeal:
    """The appeal of an id, locked for anyone who decides it."""
    appeal = session.get(Appeal, appeal_id, with_for_update=True, populate_existing=True)
    if appeal is None:
        raise missing("appeal")
    return appeal


def by_number(session: Session, campaign_id: str, number: int) -> Appeal:
    """The appeal of a number."""
    question = select(Appeal).where(Appeal.campaign_id == campaign_id, Appeal.number == number)
    appeal = session.scalars(question).first()
    if appeal is None:
        raise missing("appeal")
    return appeal


def _close(session: Session, office: Office, actor: Actor, appeal: Appeal, state: str, reason: str) -> None:
    if appeal.state != "open":
        raise refused("P-24", f"this appeal is already {appeal.state}", "file another appeal if there is new evidence")
    appeal.state, appeal.decision = state, reason
    appeal.decided, appeal.decided_by = office.clock(), actor.id
    facts = {"window": appeal.window, "number": appeal.number, "team": appeal.team_id, "reason": reason}
    _log(session, office, actor, appeal.campaign_id, f"appeal.{state}", appeal.id, **facts)


def _pi_of(session: Session, actor: Actor, campaign_id: str) -> str:
    seen = viewer(session, campaign_id, actor.id)
    if seen.team is None or not seen.pi:
        raise refused("P-24", "only a team's PI may do this", "ask your PI", status=403)
    return seen.team


def _check_text(text: str) -> None:
    if not text.strip() or len(text) > LONGEST_TEXT:
        raise refused("P-24", "an appeal needs a reason", f"write 1 to {LONGEST_TEXT:,} characters", status=422)


def _check_own(session: Session, team_id: str, window: str, submission_id: str | None) -> None:
    if submission_id is None:
        return
    submission = session.get(Submission, submission_id)
    if submission is None or (submission.team_id, submission.window) != (team_id, window):
        raise missing("submission")


def _reference_of(session: Session, appeal: Appeal) -> str:
    """The version that the appealed submission is scored against: run again, with what was fixed in our program."""
    submission = None if appeal.submission_id is None else session.get(Submission, appeal.submission_id)
    if submission is None:
        fix = "name the reference version that becomes active"
        raise refused("P-24", "this appeal names no submission", fix, status=422).with_hint("--reference")
    place = (submission.task, submission.language, submission.queryset, submission.dataset)
    reference = references.active(session, appeal.campaign_id, *place)
    if reference is None:
        raise missing("reference")
    return reference.id


def _certifications(campaign_id: str, window: str, team_id: str | None = None) -> Select[Certification]:
    question = select(Certification).where(Certification.campaign_id == campaign_id, Certification.window == window)
    return question if team_id is None else question.where(Certification.team_id == team_id)


def _log(
    session: Session, office: Office, actor: Actor, campaign_id: str, kind: str, subject: str, **data: Any
) -> None:
    events.record(session, kind, at=office.clock(), actor=actor.id, subject=subject, campaign_id=campaign_id, data=data)


class AppealDecision(Arguments):
    """What becomes of an appeal."""

    number: Annotated[int, Argument("The number of the appeal.")]
    upheld: Annotated[bool, Option("Whether the team is right.", name="uphold/refuse", required=True)]
    reference: Annotated[str | None, Option("The version of the reference to activate instead (an id).")] = None
    reason: Reason = ""


@action("appeal list", reads=True, hint="--data season")
def list_appeals(at: At, given: Arguments) -> Outcome:
    """List all appeals by number, with deadline and decision."""
    found = appeals(at.session, at.campaign_id)
    columns = ("number", "team", "window", "state", "deadline", "text", "decision")
    plain = rows_of(found, ("number", *columns[2:]))
    rows = [row | {"team": at.session.get_one(Team, one.team_id).name} for one, row in zip(found, plain, strict=True)]
    return list_outcome("appeals", rows, columns, "There are no appeals.")


@action(
    "appeal decide",
    hint='1 --uphold --reason "it is wrong" --data season',
    logs="appeal.upheld appeal.refused rescoring.previewed",
)
def decide_by_number(at: At, given: AppealDecision) -> Outcome:
    """Decide the appeal with this NUMBER; an upheld appeal starts a re-scoring, previewed like any other."""
    row = by_number(at.session, at.campaign_id, given.number)
    if at.bound and given.reference is not None:
        references.check_version(at.session, at.campaign_id, given.reference)
    batch = decide_appeal(
        *at.who, row.id, Decision(upheld=given.upheld, reason=given.reason, reference_id=given.reference)
    )
    hint = "" if batch is None else "\nReview the re-scoring with: basanite admin rescore show"
    shown = {"number": given.number, "state": row.state, "batch": None if batch is None else batch.id}
    return Outcome(shown, (f"Appeal {given.number} is {row.state}.",), hint=hint)
