"""Exceptions to the separation of duty: one organiser asks and says why, another agrees (X-4)."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import check_second, organisers, require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import DutyException


def ask_exception(
    session: Session, office: Office, actor: Actor, campaign_id: str, person_id: str, *, reason: str
) -> DutyException:
    """Ask that a person may judge and take part; nothing is allowed before another organiser agrees."""
    require_organiser(session, actor, campaign_id)
    find_person(session, person_id)
    if not reason.strip():
        raise refused("X-4", "an exception without a reason", "say why it is needed", status=422)
    now = office.clock()
    row = DutyException(campaign_id=campaign_id, person_id=person_id, reason=reason, asked=now, asked_by=actor.id)
    session.add(row)
    session.flush()
    _record(session, office, actor, "exception.asked", row)
    others = [person for person in organisers(session, campaign_id) if person != actor.id]
    words = {"who_person": actor.id, "about_person": person_id, "reason": reason}
    tell(session, office, "exception_asked", persons=others, campaign_id=campaign_id, data=words, once=row.id)
    return row


def second_exception(session: Session, office: Office, actor: Actor, exception_id: str) -> DutyException:
    """Agree to an exception as the second organiser."""
    row = _open(session, exception_id)
    require_organiser(session, actor, row.campaign_id)
    check_second(session, Actor(row.asked_by), row.campaign_id, actor.id)
    if row.seconded is not None:
        raise refused("X-4", "this exception holds already", "look at the list of exceptions", status=409)
    row.seconded, row.seconded_by = office.clock(), actor.id
    _record(session, office, actor, "exception.seconded", row)
    return row


def end_exception(session: Session, office: Office, actor: Actor, exception_id: str) -> DutyException:
    """End an exception, or refuse one that waits."""
    row = _open(session, exception_id)
    require_organiser(session, actor, row.campaign_id)
    row.ended, row.ended_by = office.clock(), actor.id
    _record(session, office, actor, "exception.ended", row)
    return row


def exceptions(session: Session, campaign_id: str) -> tuple[DutyException, ...]:
    """All exceptions of a campaign, the newest last."""
    query = select(DutyException).where(DutyException.campaign_id == campaign_id)
    return tuple(session.scalars(query.order_by(DutyException.asked, DutyException.id)))


def _open(session: Session, exception_id: str) -> DutyException:
    row = session.get(DutyException, exception_id)
    if row is None or row.ended is not None:
        raise missing("exception")
    return row


def _record(session: Session, office: Office, actor: Actor, kind: str, row: DutyException) -> None:
    data = {"person": row.person_id, "reason": row.reason}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )
