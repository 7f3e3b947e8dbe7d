"""Roles: who may do what in a campaign, and that nobody both judges and takes part (X-4)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.model.viewer import VISITOR, Viewer
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import check_role, lock_person
from basanite.campaign.people.links import password_link
from basanite.campaign.people.persons import find_person
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Grant, Membership, Person, Team

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
        raise refused("X-4", "only the evaluation team may do this", "ask an organiser of this campaign", status=403)


def grant(
    session: Session,
    office: Office,
    actor: Actor,
    *,
    person_id: str,
    role: str,
    campaign_id: str | None = None,
    reason: str = "",
    seconded_by: str | None = None,
) -> Grant:
    """Give a role. Excluded: who is in a team of the campaign (X-4); a second person where the campaign says `role`."""
    _check_grant(session, actor, role, campaign_id)
    find_person(session, person_id)
    lock_person(session, person_id)
    check_role(session, campaign_id, person_id, role)
    if not makes_first_organisers(session, actor, campaign_id, role):
        _check_second(session, actor, campaign_id, seconded_by)
    held = _held(session, person_id, role, campaign_id)
    return held or _granted(session, office, actor, person_id, role, campaign_id, reason, seconded_by)


def revoke(
    session: Session, office: Office, actor: Actor, *, person_id: str, role: str, campaign_id: str | None = None
) -> None:
    """Take a role away, from this moment on; tokens that leaned on it lose it with it (X-11)."""
    _check_grant(session, actor, role, campaign_id)
    held = _held(session, person_id, role, campaign_id)
    if held is None:
        raise refused("X-4", f"this person does not hold the role {role}", "look at the list of roles", status=404)
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


def _held(session: Session, person_id: str, role: str, campaign_id: str | None) -> Grant | None:
    query = select(Grant).where(Grant.ended.is_(None), Grant.person_id == person_id, Grant.role == role)
    return session.scalars(query.where(Grant.campaign_id == campaign_id)).first()


def _check_grant(session: Session, actor: Actor, role: str, campaign_id: str | None) -> None:
    if role not in ROLES:
        raise refused("X-4", f"there is no role {role!r}", f"one of: {', '.join(ROLES)}", status=422)
    if (role in SERVER_WIDE) != (campaign_id is None):
        cure = "leave the campaign out" if role in SERVER_WIDE else "name the campaign"
        raise refused("X-4", f"the role {role} belongs to {_realm(role)}", cure, status=422)
    require_organiser(session, actor, campaign_id)


def _realm(role: str) -> str:
    return "the whole server" if role in SERVER_WIDE else "one campaign"


def _check_second(session: Session, actor: Actor, campaign_id: str | None, seconded_by: str | None) -> None:
    """Where the campaign says so, one more organiser stands behind a role (X-4)."""
    if campaign_id is None or "role" not in in_force(session, campaign_id).campaign.two_people:
        return
    if seconded_by is None:
        raise refused(
            "X-4", "giving a role takes two people in this campaign", "ask for it as an act of two", status=409
        )
    check_second(session, actor, campaign_id, seconded_by)


def makes_first_organisers(session: Session, actor: Actor, campaign_id: str | None, role: str) -> bool:
    """Whether there is nobody yet who could be asked: the machine's command line makes the first two organisers."""
    able = holders(session, campaign_id, ("evaluation", "administrator"))
    return actor.id in MACHINE and role == "evaluation" and len(able) < 2


def check_second(session: Session, actor: Actor, campaign_id: str | None, seconded_by: str) -> None:
    """Refuse a second who is the first, no organiser, or nobody by name (the command line could be the first one's)."""
    if seconded_by == actor.id or not viewer(session, campaign_id, seconded_by).staff:
        raise refused("X-4", "the second person must be another organiser", "ask somebody else of the team", status=403)


def _granted(
    session: Session,
    office: Office,
    actor: Actor,
    person_id: str,
    role: str,
    campaign_id: str | None,
    reason: str,
    seconded_by: str | None,
) -> Grant:
    now = office.clock()
    row = Grant(
        campaign_id=campaign_id,
        person_id=person_id,
        role=role,
        at=now,
        by=actor.id,
        seconded_by=seconded_by,
        reason=reason,
    )
    session.add(row)
    session.flush()
    data = {"role": role, "person": person_id, "reason": reason, "seconded_by": seconded_by}
    events.record(session, "role.granted", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data)
    kind = "administrator_granted" if role in SERVER_WIDE else "role_granted"
    words = {"role": role, "desk": DESKS.get(role, ""), "password": password_link(session, office, person_id)}
    once = f"grant:{row.id}"
    tell(session, office, kind, persons=[person_id], campaign_id=campaign_id, data=words, once=once)
    return row
