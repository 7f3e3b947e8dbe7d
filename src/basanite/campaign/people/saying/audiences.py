"""Audiences: to whom something is said, by role and by status in the campaign (P-34)."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.viewer import JUDGING, Viewer
from basanite.campaign.people.roles import holders
from basanite.campaign.people.terms.rules import unaccepted
from basanite.campaign.store.tables import LeadRequest, Membership, Submission, Team

Group = Callable[[Session, str], set[str]]


def _members(session: Session, campaign_id: str, *states: str, pi: bool = False) -> set[str]:
    query = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    query = query.where(Team.campaign_id == campaign_id, Team.state == "active", Membership.state.in_(states))
    return set(session.scalars(query.where(Membership.role == "pi") if pi else query))


def _staff(session: Session, campaign_id: str) -> set[str]:
    return set(holders(session, campaign_id, ("evaluation",)))


def _judges(session: Session, campaign_id: str) -> set[str]:
    return set(holders(session, campaign_id, JUDGING))


def _no_submission(session: Session, campaign_id: str) -> set[str]:
    """PIs of teams that never submitted."""
    busy = select(Submission.team_id).where(Submission.campaign_id == campaign_id)
    query = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    found = query.where(Team.campaign_id == campaign_id, Team.state == "active", Team.id.not_in(busy))
    return set(session.scalars(found.where(Membership.state == "active", Membership.role == "pi")))


def _rules_open(session: Session, campaign_id: str) -> set[str]:
    return {person for person in _members(session, campaign_id, "active") if unaccepted(session, campaign_id, person)}


def _asking(session: Session, campaign_id: str) -> set[str]:
    query = select(LeadRequest.person_id).where(LeadRequest.campaign_id == campaign_id, LeadRequest.state == "asked")
    return set(session.scalars(query)) | _members(session, campaign_id, "asked")


def _everybody(session: Session, campaign_id: str) -> set[str]:
    groups: tuple[Group, ...] = (_staff, _judges, _team_members)
    return set().union(*(group(session, campaign_id) for group in groups))


def _team_members(session: Session, campaign_id: str) -> set[str]:
    return _members(session, campaign_id, "active")


def _pis(session: Session, campaign_id: str) -> set[str]:
    return _members(session, campaign_id, "active", pi=True)


AUDIENCES: dict[str, Group] = {
    "everybody": _everybody,
    "teams": _team_members,
    "pis": _pis,
    "judges": _judges,
    "evaluation": _staff,
    "asking": _asking,
    "rules-not-accepted": _rules_open,
    "without-submission": _no_submission,
}
"""Groups of people by role and status."""


def people_of(session: Session, campaign_id: str, audience: str) -> tuple[str, ...]:
    """The person ids of an audience at this moment."""
    return tuple(sorted(AUDIENCES[audience](session, campaign_id)))


def belongs(viewer: Viewer, audience: str) -> bool:
    """Whether a viewer may read what is said to an audience; organisers read everything.

    >>> belongs(Viewer("p", team="t"), "pis")
    False
    """
    if viewer.staff or audience == "everybody":
        return True
    groups = {"teams": viewer.team is not None, "pis": viewer.pi, "judges": bool(viewer.roles & JUDGING)}
    return groups.get(audience, False)
