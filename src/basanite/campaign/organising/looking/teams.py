"""Teams as organisers see them: who leads, how many take part, what was submitted, and what looks odd (X-7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing
from basanite.campaign.people.teams.reading import pi_of
from basanite.campaign.store.tables import Membership, Signature, Submission, Team


@dataclass(frozen=True)
class TeamFacts:
    """One team in numbers."""

    id: str
    name: str
    code: str
    pseudonym: str
    track: str
    state: str
    pi: str | None
    """The person who leads it."""
    members: int
    runs: int
    named: datetime | None
    """Since when its PI agrees to be named in public (P-25)."""


@dataclass(frozen=True)
class Copy:
    """A signed copy of an agreement."""

    id: str
    team: str
    agreement: str
    version: str
    state: str
    uploaded: datetime


def teams(session: Session, campaign_id: str, *, after: str = "", limit: int = 50) -> tuple[TeamFacts, ...]:
    """The teams of a campaign by name; `after` is the name where the last page ended."""
    query = select(Team).where(Team.campaign_id == campaign_id, Team.name > after).order_by(Team.name).limit(limit)
    return tuple(_facts(session, row) for row in session.scalars(query))


def team(session: Session, campaign_id: str, team_id: str) -> TeamFacts:
    """One team of a campaign, whatever became of it."""
    row = session.get(Team, team_id)
    if row is None or row.campaign_id != campaign_id:
        raise missing("team")
    return _facts(session, row)


def names(session: Session, campaign_id: str) -> dict[str, str]:
    """The names of all teams of a campaign by id."""
    query = select(Team.id, Team.name).where(Team.campaign_id == campaign_id).order_by(Team.name)
    return {row[0]: row[1] for row in session.execute(query)}


def counting_runs(session: Session, team_id: str) -> tuple[str, ...]:
    """The submissions of a team that have neither been withdrawn nor disqualified, oldest first."""
    query = select(Submission.id).where(
        Submission.team_id == team_id, Submission.standing.in_(("on time", "late", "baseline"))
    )
    return tuple(session.scalars(query.order_by(Submission.received, Submission.id)))


def copies(session: Session, campaign_id: str, most: int = 500) -> tuple[Copy, ...]:
    """Signed copies of agreements, those that wait for a counter-signature first."""
    query = select(Signature, Team.name).join(Team, Team.id == Signature.team_id)
    rows = session.execute(query.where(Signature.campaign_id == campaign_id).order_by(Signature.uploaded.desc()))
    found = [Copy(row.id, name, row.agreement, row.version, row.state, row.uploaded) for row, name in rows]
    return tuple(sorted(found, key=lambda one: one.state != "uploaded")[:most])


def _facts(session: Session, row: Team) -> TeamFacts:
    members = select(func.count()).select_from(Membership)
    active = members.where(Membership.team_id == row.id, Membership.state == "active")
    runs = select(func.count()).select_from(Submission).where(Submission.team_id == row.id)
    return TeamFacts(
        row.id,
        row.name,
        row.code,
        row.pseudonym,
        row.track,
        row.state,
        pi_of(session, row.id),
        session.scalar(active) or 0,
        session.scalar(runs) or 0,
        row.named_consent,
    )
