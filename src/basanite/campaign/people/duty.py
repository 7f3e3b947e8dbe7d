"""Separation of duty: whoever judges or evaluates in a campaign is in none of its teams, and the other way (X-4).

Both directions are checked wherever somebody gets in: role, membership, invitation, import. The person's row is locked
first, so that a role and a membership that are given at the same moment see each other.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
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
        and not excepted(session, campaign_id, person_id)
    ):
        raise refused(
            "X-4",
            f"this person is in a team of the campaign and cannot be its {role}",
            "let the person leave the team, or have two organisers record an exception with its reason",
            status=409,
        )


def check_membership(session: Session, campaign_id: str, person_id: str) -> None:
    """Refuse a place in a team to somebody who judges or evaluates."""
    roles = excluding_roles(session, campaign_id, person_id)
    if roles and not excepted(session, campaign_id, person_id):
        raise refused(
            "X-4",
            f"this person is {' and '.join(roles)} of the campaign and cannot be in one of its teams",
            "take the role away first, or have two organisers record an exception with its reason",
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


def excepted(session: Session, campaign_id: str | None, person_id: str) -> bool:
    """Whether two organisers recorded an exception for this person."""
    query = select(DutyException.id).where(
        DutyException.campaign_id == campaign_id,
        DutyException.person_id == person_id,
        DutyException.seconded.is_not(None),
        DutyException.ended.is_(None),
    )
    return session.scalars(query).first() is not None


def conflicts(session: Session, campaign_id: str) -> tuple[str, ...]:
    """Persons who judge and take part without an exception, or are in two teams; only rows from elsewhere can do it."""
    query = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    places = query.where(Team.campaign_id == campaign_id, Team.state == "active", Membership.state == "active")
    count = Counter(session.scalars(places))
    judging = [person for person in count if excluding_roles(session, campaign_id, person)]
    unexcused = {person for person in judging if not excepted(session, campaign_id, person)}
    return tuple(sorted(unexcused | {person for person, times in count.items() if times > 1}))
