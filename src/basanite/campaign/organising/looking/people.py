"""Everybody who has to do with a campaign: roles, requests and teams, in pages by key."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Select, select, union
from sqlalchemy.orm import Session

from basanite.campaign.people.roles import viewer
from basanite.campaign.store.tables import Grant, LeadRequest, Membership, Team


@dataclass(frozen=True)
class Involved:
    """One person in a campaign, without personal data."""

    person: str
    roles: tuple[str, ...]
    team_id: str | None
    team: str
    pi: bool


def involved(
    session: Session, campaign_id: str, *, role: str = "", after: str = "", limit: int = 50
) -> tuple[Involved, ...]:
    """People with a role, a place in a team, or a request; `after` is the id where the last page ended."""
    found = _holders(campaign_id, role) if role else _everybody(campaign_id)
    ids = session.scalars(found.where(found.selected_columns[0] > after).order_by("person").limit(limit))
    return tuple(_involved(session, campaign_id, person) for person in ids)


def _holders(campaign_id: str, role: str) -> Select[str]:
    query = select(Grant.person_id.label("person")).where(Grant.campaign_id == campaign_id, Grant.role == role)
    return query.where(Grant.ended.is_(None)).distinct()


def _everybody(campaign_id: str) -> Select[str]:
    roles = select(Grant.person_id.label("person")).where(Grant.campaign_id == campaign_id, Grant.ended.is_(None))
    places = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    there = places.where(Team.campaign_id == campaign_id, Membership.state.in_(("active", "asked")))
    asking = select(LeadRequest.person_id).where(LeadRequest.campaign_id == campaign_id, LeadRequest.state == "asked")
    return select(union(roles, there, asking).subquery().c.person)


def _involved(session: Session, campaign_id: str, person: str) -> Involved:
    seen = viewer(session, campaign_id, person)
    team = session.get(Team, seen.team) if seen.team else None
    return Involved(person, tuple(sorted(seen.roles)), seen.team, team.name if team else "", seen.pi)
