"""Before release each PI sees the own results for a set time, and confirms them or appeals (P-24).

An appeal has a number, a deadline by which it is decided, a decision and a reason. One that is upheld becomes a
re-scoring that is previewed like any other; a release lists those that are still open.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, no_reason, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import plans, references, rescoring, telling
from basanite.campaign.people.roles import require_organiser, viewer
from basanite.campaign.store import events
from basanite.campaign.store.tables import Appeal, Batch, CampaignRow, Certification, Release, Submission

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
    telling.certified(session, office, row)
    return row


def open_appeal(
    session: Session,
    office: Office,
    actor: Actor,
    campaign_id: str,
    window: str,
    text: str,
    *,
    submission_id: str | None = None,
) -> Appeal:
    """Contest the own results: by the PI, while certification runs."""
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
    telling.appeal_made(session, office, row)
    return row


def decide(
    session: Session,
    office: Office,
    actor: Actor,
    appeal_id: str,
    *,
    upheld: bool,
    reason: str,
    reference_id: str | None = None,
) -> Batch | None:
    """Decide an appeal, with a reason; one that is upheld begins a previewed re-scoring, which is answered."""
    appeal = find(session, appeal_id)
    require_organiser(session, actor, appeal.campaign_id)
    if not reason.strip():
        raise no_reason("P-24", "a decision without a reason")
    _close(session, office, actor, appeal, "upheld" if upheld else "refused", reason)
    telling.appeal_decided(session, office, appeal)
    if not upheld:
        return None
    version = reference_id or _reference_of(session, appeal)
    why = f"appeal {appeal.number}: {reason}"
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


def certified(session: Session, campaign_id: str, window: str) -> dict[str, datetime]:
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
        raise refused("P-24", "the results of this window are not out for certification", "wait until they are")
    if plans.now(office, session.get_one(CampaignRow, campaign_id)) >= ends:
        raise refused("P-24", f"the time for this was over at {ends:%Y-%m-%d %H:%M} UTC", "write to the organisers")


def find(session: Session, appeal_id: str) -> Appeal:
    """The appeal of an id, locked for whoever decides it."""
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
        raise refused("P-24", f"this appeal was {appeal.state} already", "open another if there is new ground")
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
        raise refused("P-24", "an appeal needs grounds", f"write 1 to {LONGEST_TEXT:,} characters", status=422)


def _check_own(session: Session, team_id: str, window: str, submission_id: str | None) -> None:
    if submission_id is None:
        return
    submission = session.get(Submission, submission_id)
    if submission is None or (submission.team_id, submission.window) != (team_id, window):
        raise missing("submission")


def _reference_of(session: Session, appeal: Appeal) -> str:
    """The version that the appealed submission is scored against: run again, with what was mended in our program."""
    submission = None if appeal.submission_id is None else session.get(Submission, appeal.submission_id)
    if submission is None:
        fix = "name the version of the reference that is to hold"
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
