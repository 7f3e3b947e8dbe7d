"""Who is told of what organisers do: ids and words only, never a score (P-10, M68)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Office
from basanite.campaign.people.roles import organisers
from basanite.campaign.people.teams.reading import pi_of, team_members
from basanite.campaign.store.tables import Appeal, Approval, Batch, Certification, Message, Release, Submission


def released(session: Session, office: Office, row: Release) -> None:
    """Results are out to every member of a team that took part."""
    persons = _members(session, teams_in_window(session, row.campaign_id, row.window))
    data = {"window": row.window, "level": row.level}
    tell(session, office, "results_released", persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


def to_certify(session: Session, office: Office, row: Release, until: datetime) -> None:
    """Each PI may look at the own results, and certify them or appeal."""
    persons = _pis(session, teams_in_window(session, row.campaign_id, row.window))
    data = {"window": row.window, "until": _moment(until)}
    tell(session, office, "results_to_certify", persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


def put_off(session: Session, row: Release, until: datetime) -> None:
    """Hold the mails of a release back until it takes effect."""
    session.execute(update(Message).where(Message.once.contains(f":{row.id}:")).values(due=until))


def rescored(session: Session, office: Office, batch: Batch, submissions: Sequence[Submission]) -> None:
    """Results were computed again: the members of the teams whose runs these are."""
    for window in dict.fromkeys(one.window for one in submissions):
        persons = _members(session, {one.team_id for one in submissions if one.window == window})
        data = {"window": window, "reason": batch.reason}
        once = f"{batch.id}:{window}"
        tell(session, office, "results_changed", persons=persons, campaign_id=batch.campaign_id, data=data, once=once)


def certified(session: Session, office: Office, row: Certification) -> None:
    """A PI confirmed the own results: the organisers."""
    data = {"team": row.team_id, "window": row.window}
    persons = organisers(session, row.campaign_id)
    tell(session, office, "certified", persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)


def appeal_made(session: Session, office: Office, appeal: Appeal) -> None:
    """A team appeals: the organisers."""
    facts = {"appeal": appeal.id, "number": appeal.number, "team": appeal.team_id, "window": appeal.window}
    data = {**facts, "until": _moment(appeal.deadline)}
    persons = organisers(session, appeal.campaign_id)
    tell(session, office, "appeal_made", persons=persons, campaign_id=appeal.campaign_id, data=data, once=appeal.id)


def appeal_decided(session: Session, office: Office, appeal: Appeal) -> None:
    """An appeal has been decided: the PI."""
    facts = {"appeal": appeal.id, "number": appeal.number, "window": appeal.window}
    data = facts | {"decision": appeal.state, "reason": appeal.decision}
    persons = _pis(session, [appeal.team_id])
    tell(session, office, "appeal_decided", persons=persons, campaign_id=appeal.campaign_id, data=data, once=appeal.id)


def second_wanted(session: Session, office: Office, approval: Approval) -> None:
    """An act waits for a second person: every other organiser."""
    persons = [one for one in organisers(session, approval.campaign_id) if one != approval.asked_by]
    words = {"approval": approval.id, "who_person": approval.asked_by, "act": approval.act, "reason": approval.reason}
    campaign = approval.campaign_id
    tell(session, office, "approval_asked", persons=persons, campaign_id=campaign, data=words, once=approval.id)


def teams_in_window(session: Session, campaign_id: str, window: str) -> tuple[str, ...]:
    """The teams with a submission in a window."""
    question = select(Submission.team_id).where(Submission.campaign_id == campaign_id, Submission.window == window)
    return tuple(session.scalars(question.distinct().order_by(Submission.team_id)))


def _pis(session: Session, teams: Iterable[str]) -> list[str]:
    return [person for person in (pi_of(session, team) for team in teams) if person is not None]


def _members(session: Session, teams: Iterable[str]) -> list[str]:
    return [person for team in teams for person in team_members(session, team)]


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
