"""Questions about teams."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor
from basanite.campaign.people.roles import is_organiser, viewer
from basanite.campaign.store.tables import Grant, LeadRequest, Membership, Team


@dataclass(frozen=True)
class Member:
    """One person in a team, without personal data."""

    membership: str
    person: str
    role: str
    site: str
    state: str
    asked: datetime


def find_team(session: Session, team_id: str) -> Team:
    """The team of an id, as long as it is active."""
    team = session.get(Team, team_id)
    if team is None or team.state != "active":
        raise missing("team")
    return team


def members(session: Session, team_id: str, *, states: tuple[str, ...] = ("active",)) -> tuple[Member, ...]:
    """Who is in a team: the PI first, then by the moment of asking."""
    query = select(Membership).where(Membership.team_id == team_id, Membership.state.in_(states))
    rows = sorted(session.scalars(query), key=lambda row: (row.role != "pi", row.asked, row.id))
    return tuple(Member(row.id, row.person_id, row.role, row.site, row.state, row.asked) for row in rows)


def team_members(session: Session, team_id: str) -> tuple[str, ...]:
    """The person ids of a team, for mails."""
    return tuple(member.person for member in members(session, team_id))


def pi_of(session: Session, team_id: str) -> str | None:
    """The person id of a team's PI."""
    return next((member.person for member in members(session, team_id) if member.role == "pi"), None)


def require_pi(session: Session, actor: Actor, team: Team) -> None:
    """Refuse everybody but the team's PI and organisers; to strangers the team does not exist."""
    seen = viewer(session, team.campaign_id, actor.id)
    if is_organiser(session, actor, team.campaign_id) or (seen.team == team.id and seen.pi):
        return
    if seen.team != team.id:
        raise missing("team")
    raise refused("M61", "only the PI of the team may do this", "ask your PI", status=403)


def find_active(session: Session, team_id: str, person_id: str) -> Membership:
    """The active membership of a person in a team."""
    query = select(Membership).where(
        Membership.team_id == team_id, Membership.person_id == person_id, Membership.state == "active"
    )
    row = session.scalars(query).first()
    if row is None:
        raise missing("member")
    return row


def teams_to_join(session: Session, campaign_id: str) -> tuple[tuple[str, str], ...]:
    """Id and name of the teams of a campaign."""
    query = select(Team.id, Team.name).where(Team.campaign_id == campaign_id, Team.state == "active")
    return tuple((row[0], row[1]) for row in session.execute(query.order_by(Team.name)))


def asked_team(session: Session, campaign_id: str, person_id: str) -> str:
    """The name of the team that a person has asked to join and that has not answered."""
    query = select(Team.name).join(Membership, Membership.team_id == Team.id)
    waiting = query.where(
        Team.campaign_id == campaign_id, Membership.person_id == person_id, Membership.state == "asked"
    )
    return session.scalar(waiting) or ""


def lead_state(session: Session, campaign_id: str, person_id: str) -> str:
    """Where a person stands with leading a team: nothing, `asked`, `refused`, or `granted` (may make one)."""
    leave = select(Grant.id).where(
        Grant.campaign_id == campaign_id,
        Grant.person_id == person_id,
        Grant.role == "team_maker",
        Grant.ended.is_(None),
    )
    if session.scalar(leave) is not None:
        return "granted"
    query = select(LeadRequest.state).where(
        LeadRequest.campaign_id == campaign_id, LeadRequest.person_id == person_id, LeadRequest.state != "granted"
    )
    return session.scalar(query.order_by(LeadRequest.asked.desc())) or ""
