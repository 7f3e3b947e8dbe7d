"""Roles: who may do what in a campaign, and that nobody both judges and takes part (X-4).

Separation of duty holds in both directions wherever somebody gets in: role, membership, invitation, import. The
person's row is locked first, so that a role and a membership that are given at the same moment see each other. An
exception takes two organizers: one asks and says why, another agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.policy import VISITOR, Viewer
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.links import password_link
from basanite.campaign.people.persons import find_person
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import DutyException, Grant, Membership, Person, Team

EXCLUDING = frozenset({"judge", "annotator", "adjudicator", "evaluation"})


def lock_person(session: Session, person_id: str) -> None:
    """Be alone with a person until the transaction ends."""
    session.execute(select(Person.id).where(Person.id == person_id).with_for_update())


def check_role(session: Session, campaign_id: str | None, person_id: str, role: str) -> None:
    """Refuse a judging or evaluating role to a member of a team."""
    if (
        role in EXCLUDING
        and is_member(session, campaign_id, person_id)
        and not has_exception(session, campaign_id, person_id)
    ):
        raise refused(
            "X-4",
            f"this person is in a team of the campaign and cannot be its {role}",
            "ask the person to leave the team, or ask two organizers to record an exception with its reason",
            status=409,
        )


def check_membership(session: Session, campaign_id: str, person_id: str) -> None:
    """Refuse a place in a team to somebody who judges or evaluates."""
    roles = excluding_roles(session, campaign_id, person_id)
    if roles and not has_exception(session, campaign_id, person_id):
        raise refused(
            "X-4",
            f"this person is {' and '.join(roles)} of the campaign and cannot be in one of its teams",
            "revoke the role first, or ask two organizers to record an exception with its reason",
            status=409,
        )


def is_member(session: Session, campaign_id: str | None, person_id: str) -> bool:
    """Whether a person is, or asks to be, in a team of the campaign."""
    query = select(Membership.id).join(Team, Team.id == Membership.team_id)
    found = query.where(
        Team.campaign_id == campaign_id,
        Team.state == "active",
        Membership.person_id == person_id,
        Membership.state.in_(("active", "asked")),
    )
    return session.scalars(found).first() is not None


def excluding_roles(session: Session, campaign_id: str, person_id: str) -> list[str]:
    """The roles of a person that keep them out of teams."""
    query = select(Grant.role).where(Grant.ended.is_(None), Grant.person_id == person_id)
    found = query.where(Grant.campaign_id == campaign_id, Grant.role.in_(EXCLUDING))
    return sorted(set(session.scalars(found)))


def has_exception(session: Session, campaign_id: str | None, person_id: str) -> bool:
    """Whether two organisers recorded an exception for this person."""
    query = select(DutyException.id).where(
        DutyException.campaign_id == campaign_id,
        DutyException.person_id == person_id,
        DutyException.seconded.is_not(None),
        DutyException.ended.is_(None),
    )
    return session.scalars(query).first() is not None


def duty_conflicts(session: Session, campaign_id: str) -> tuple[str, ...]:
    """Persons who judge and take part without an exception, or are in two teams; only rows from elsewhere can do it."""
    query = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    places = query.where(Team.campaign_id == campaign_id, Team.state == "active", Membership.state == "active")
    count = Counter(session.scalars(places))
    judging = [person for person in count if excluding_roles(session, campaign_id, person)]
    unexcused = {person for person in judging if not has_exception(session, campaign_id, person)}
    return tuple(sorted(unexcused | {person for person, times in count.items() if times > 1}))


ROLES = ("judge", "annotator", "adjudicator", "evaluation", "administrator", "team_maker")
DESKS = {"evaluation": "organise", "judge": "judging", "annotator": "annotate", "adjudicator": "adjudicate"}
"""Where each role has its work, below the page of the campaign."""
SERVER_WIDE = frozenset({"administrator"})
MACHINE = frozenset({"command", "system"})
"""Who stands at the machine's own command line could write the database anyway; the log says that it was there."""


def viewer(session: Session, campaign_id: str | None, person_id: str | None) -> Viewer:
    """A person as seen from one campaign: roles and team of this moment; a stranger is a visitor."""
    given = {"campaign": campaign_id, "person": person_id}
    found = [] if person_id is None else session.execute(_ROLES, given).all()
    if person_id is None or not found:
        return VISITOR
    roles = frozenset(role for (role,) in found if role is not None)
    membership = session.execute(_TEAM, given).first()
    if membership is None:
        return Viewer(person_id, roles, campaign=campaign_id)
    return Viewer(person_id, roles, membership.team_id, membership.role == "pi", campaign_id)


def holders(session: Session, campaign_id: str | None, roles: Iterable[str]) -> tuple[str, ...]:
    """The persons who hold one of these roles in a campaign, server-wide roles included."""
    query = select(Grant.person_id).where(*_in_force(campaign_id), Grant.role.in_(tuple(roles)))
    return tuple(sorted(set(session.scalars(query))))


def organisers(session: Session, campaign_id: str | None) -> tuple[str, ...]:
    """The evaluation team of a campaign; the administrators if it has none yet."""
    return holders(session, campaign_id, ("evaluation",)) or holders(session, campaign_id, ("administrator",))


def is_organiser(session: Session, actor: Actor, campaign_id: str | None) -> bool:
    """Whether somebody may do what organisers do: evaluation team, administrator, or the machine's command line."""
    return actor.id in MACHINE or viewer(session, campaign_id, actor.id).staff


def require_organiser(session: Session, actor: Actor, campaign_id: str | None) -> None:
    """Refuse everybody but organisers."""
    if not is_organiser(session, actor, campaign_id):
        raise refused("X-4", "only the evaluation team may do this", "ask an organizer of this campaign", status=403)


@dataclass(frozen=True, slots=True)
class RoleGrant:
    """A role that somebody is to have, in one campaign or everywhere."""

    person_id: str
    role: str
    campaign_id: str | None = None
    reason: str = ""


def grant(
    session: Session, office: Office, actor: Actor, wanted: RoleGrant, *, seconded_by: str | None = None
) -> Grant:
    """Give a role. Excluded: who is in a team of the campaign (X-4); a second person where the campaign says `role`."""
    person_id, role, campaign_id = wanted.person_id, wanted.role, wanted.campaign_id
    _check_grant(session, actor, role, campaign_id)
    find_person(session, person_id)
    lock_person(session, person_id)
    check_role(session, campaign_id, person_id, role)
    # The machine's command line makes the first two organisers: there is nobody yet who could be asked.
    able = holders(session, campaign_id, ("evaluation", "administrator"))
    if not (actor.id in MACHINE and role == "evaluation" and len(able) < 2):
        _check_second(session, actor, campaign_id, seconded_by)
    held = _current_grant(session, person_id, role, campaign_id)
    return held or _add_grant(session, office, actor, wanted, seconded_by)


def revoke(
    session: Session, office: Office, actor: Actor, *, person_id: str, role: str, campaign_id: str | None = None
) -> None:
    """Take a role away, from this moment on; tokens that leaned on it lose it with it (X-11)."""
    _check_grant(session, actor, role, campaign_id)
    held = _current_grant(session, person_id, role, campaign_id)
    if held is None:
        raise refused("X-4", f"this person does not have the role {role}", "see the list of roles", status=404)
    end_grant(session, held, actor.id, office.clock())


def end_grant(session: Session, held: Grant, by: str, at: datetime) -> None:
    """Write the end of a role, and say so in the log."""
    held.ended, held.ended_by = at, by
    data = {"role": held.role, "person": held.person_id}
    events.record(session, "role.revoked", at=at, actor=by, subject=held.id, campaign_id=held.campaign_id, data=data)


def _in_force(campaign_id: Any) -> tuple[ColumnElement[bool], ...]:
    return Grant.ended.is_(None), or_(Grant.campaign_id == campaign_id, Grant.campaign_id.is_(None))


_ROLES = (
    select(Grant.role)
    .select_from(Person)
    .outerjoin(Grant, and_(Grant.person_id == Person.id, *_in_force(bindparam("campaign"))))
    .where(Person.id == bindparam("person"), Person.erased.is_(None))
)
"""One row for each role of a person, or one without a role; asked at every call, and so built once."""
_MEMBERSHIP = (
    select(Membership)
    .join(Team, Team.id == Membership.team_id)
    .where(Team.campaign_id == bindparam("campaign"), Team.state == "active")
    .where(Membership.person_id == bindparam("person"), Membership.state == "active")
)
_TEAM = _MEMBERSHIP.with_only_columns(Membership.team_id, Membership.role)


def _current_grant(session: Session, person_id: str, role: str, campaign_id: str | None) -> Grant | None:
    query = select(Grant).where(Grant.ended.is_(None), Grant.person_id == person_id, Grant.role == role)
    return session.scalars(query.where(Grant.campaign_id == campaign_id)).first()


def _check_grant(session: Session, actor: Actor, role: str, campaign_id: str | None) -> None:
    if role not in ROLES:
        raise refused("X-4", f"there is no role {role!r}", f"one of: {', '.join(ROLES)}", status=422)
    if (role in SERVER_WIDE) != (campaign_id is None):
        realm, fix = "one campaign", "name the campaign"
        if role in SERVER_WIDE:
            realm, fix = "the whole server", "omit the campaign"
        raise refused("X-4", f"the role {role} belongs to {realm}", fix, status=422)
    require_organiser(session, actor, campaign_id)


def _check_second(session: Session, actor: Actor, campaign_id: str | None, seconded_by: str | None) -> None:
    """Where the campaign requires it, another organizer approves a role (X-4)."""
    if campaign_id is None or "role" not in in_force(session, campaign_id).campaign.two_people:
        return
    if seconded_by is None:
        raise refused(
            "X-4", "granting a role needs two people in this campaign", "request two-person approval", status=409
        )
    check_second(session, actor, campaign_id, seconded_by)


def check_second(session: Session, actor: Actor, campaign_id: str | None, seconded_by: str) -> None:
    """Refuse a second who is the first, no organiser, or nobody by name (the command line could be the first one's)."""
    if seconded_by == actor.id or not viewer(session, campaign_id, seconded_by).staff:
        raise refused(
            "X-4",
            "the second person must be another organizer",
            "ask another member of the evaluation team",
            status=403,
        )


def _add_grant(session: Session, office: Office, actor: Actor, wanted: RoleGrant, seconded_by: str | None) -> Grant:
    person_id, role, campaign_id = wanted.person_id, wanted.role, wanted.campaign_id
    now = office.clock()
    row = Grant(
        campaign_id=campaign_id,
        person_id=person_id,
        role=role,
        at=now,
        by=actor.id,
        seconded_by=seconded_by,
        reason=wanted.reason,
    )
    session.add(row)
    session.flush()
    data = {"role": role, "person": person_id, "reason": wanted.reason, "seconded_by": seconded_by}
    events.record(session, "role.granted", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data)
    kind = "administrator_granted" if role in SERVER_WIDE else "role_granted"
    words = {"role": role, "desk": DESKS.get(role, ""), "password": password_link(session, office, person_id)}
    once = f"grant:{row.id}"
    tell(session, office, kind, persons=[person_id], campaign_id=campaign_id, data=words, once=once)
    return row


def ask_exception(
    session: Session, office: Office, actor: Actor, campaign_id: str, person_id: str, *, reason: str
) -> DutyException:
    """Ask that a person may judge and take part; nothing is allowed before another organiser agrees."""
    require_organiser(session, actor, campaign_id)
    find_person(session, person_id)
    if not reason.strip():
        raise refused("X-4", "an exception needs a reason", "explain why it is needed", status=422)
    now = office.clock()
    row = DutyException(campaign_id=campaign_id, person_id=person_id, reason=reason, asked=now, asked_by=actor.id)
    session.add(row)
    session.flush()
    _record_exception(session, office, actor, "exception.asked", row)
    others = [person for person in organisers(session, campaign_id) if person != actor.id]
    words = {"who_person": actor.id, "about_person": person_id, "reason": reason}
    tell(session, office, "exception_asked", persons=others, campaign_id=campaign_id, data=words, once=row.id)
    return row


def second_exception(session: Session, office: Office, actor: Actor, exception_id: str) -> DutyException:
    """Agree to an exception as the second organiser."""
    row = _open_exception(session, exception_id)
    require_organiser(session, actor, row.campaign_id)
    check_second(session, Actor(row.asked_by), row.campaign_id, actor.id)
    if row.seconded is not None:
        raise refused("X-4", "this exception is already active", "see the list of exceptions", status=409)
    row.seconded, row.seconded_by = office.clock(), actor.id
    _record_exception(session, office, actor, "exception.seconded", row)
    return row


def end_exception(session: Session, office: Office, actor: Actor, exception_id: str) -> DutyException:
    """End an exception, or refuse one that waits."""
    row = _open_exception(session, exception_id)
    require_organiser(session, actor, row.campaign_id)
    row.ended, row.ended_by = office.clock(), actor.id
    _record_exception(session, office, actor, "exception.ended", row)
    return row


def exceptions(session: Session, campaign_id: str) -> tuple[DutyException, ...]:
    """All exceptions of a campaign, the newest last."""
    query = select(DutyException).where(DutyException.campaign_id == campaign_id)
    return tuple(session.scalars(query.order_by(DutyException.asked, DutyException.id)))


def _open_exception(session: Session, exception_id: str) -> DutyException:
    row = session.get(DutyException, exception_id)
    if row is None or row.ended is not None:
        raise missing("exception")
    return row


def _record_exception(session: Session, office: Office, actor: Actor, kind: str, row: DutyException) -> None:
    data = {"person": row.person_id, "reason": row.reason}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )
