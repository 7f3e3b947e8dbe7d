"""What happens to teams later: the PI hands over, people leave, teams merge and split (P-34).

Quotas, submissions and agreements stay with the team that they belong to. Merging and splitting are therefore acts of
organisers: a new team would otherwise be a way to new attempts.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import lock_person
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.people.teams.making import new_team
from basanite.campaign.people.teams.reading import find_active, find_team, members, pi_of, require_pi, team_members
from basanite.campaign.store import events
from basanite.campaign.store.tables import Membership, Team


def hand_over(session: Session, office: Office, actor: Actor, team_id: str, *, to: str) -> Team:
    """Another active member becomes the PI; the old one stays a member. Consent to be named does not pass on (P-25)."""
    team = find_team(session, team_id)
    require_pi(session, actor, team)
    new, old = find_active(session, team.id, to), pi_of(session, team.id)
    if old == to:
        raise refused("P-34", "this person is the PI already", "name another member", status=409)
    if old is not None:
        find_active(session, team.id, old).role = "member"
    new.role = "pi"
    team.named_consent, team.named_by = None, None
    _record(session, office, actor, "team.handed_over", team, {"from": old, "to": to})
    tell(
        session,
        office,
        "handed_over",
        persons=team_members(session, team.id),
        campaign_id=team.campaign_id,
        data={"team": team.id, "who_person": to},
    )
    return team


def leave(session: Session, office: Office, actor: Actor, team_id: str, *, person_id: str | None = None) -> None:
    """Leave a team, or be removed by the PI. A PI hands over first; the last one to leave closes the team.

    Taking back a request that still waits is leaving, too.
    """
    team, person = find_team(session, team_id), person_id or actor.id
    if person != actor.id:
        require_pi(session, actor, team)
    row = _membership(session, team.id, person)
    others = [member for member in members(session, team.id) if member.person != person]
    if row.role == "pi" and others:
        raise refused(
            "P-34", "the PI cannot leave while others are in the team", "hand the team over first", status=409
        )
    end_membership(row, actor.id, office.clock())
    if row.role == "pi":
        team.state = "left"
    _record(session, office, actor, "membership.left", team, {"person": person})
    told = [pi for pi in [pi_of(session, team.id), person] if pi is not None]
    tell(
        session,
        office,
        "member_left",
        persons=told,
        campaign_id=team.campaign_id,
        data={"team": team.id, "who_person": person},
    )


def merge(session: Session, office: Office, actor: Actor, team_id: str, *, into: str) -> Team:
    """One team becomes part of another: its people move, its submissions stay under its name (P-34)."""
    old, new = find_team(session, team_id), find_team(session, into)
    require_organiser(session, actor, old.campaign_id)
    if old.id == new.id or old.campaign_id != new.campaign_id:
        raise refused("P-34", "these are not two teams of one campaign", "name two teams of one campaign", status=422)
    told = {*team_members(session, old.id), *team_members(session, new.id)}
    for member in members(session, old.id, states=("active", "asked")):
        _move(session, office, actor, member.person, old, new, state=member.state)
    old.state, old.successor = "merged", new.id
    _record(session, office, actor, "team.merged", old, {"into": new.id})
    tell(
        session,
        office,
        "team_merged",
        persons=sorted(told),
        campaign_id=old.campaign_id,
        data={"team": old.id, "into_team": new.id},
        once=old.id,
    )
    return new


def split(
    session: Session,
    office: Office,
    actor: Actor,
    team_id: str,
    *,
    name: str,
    pi: str,
    people: Iterable[str] = (),
    code: str = "",
) -> Team:
    """Some people of a team become a team of their own; those named must be in the old one, whose PI stays."""
    old = find_team(session, team_id)
    require_organiser(session, actor, old.campaign_id)
    going = list(dict.fromkeys([pi, *people]))
    if pi_of(session, old.id) in going:
        raise refused("P-34", "the PI of a team stays with it", "hand the team over first, then split", status=409)
    told = team_members(session, old.id)
    new = new_team(session, office, actor, old.campaign_id, name=name, code=code, track=old.track)
    for person in going:
        find_active(session, old.id, person)
        _move(session, office, actor, person, old, new, role="pi" if person == pi else "member")
    _record(session, office, actor, "team.split", old, {"new": new.id})
    tell(
        session,
        office,
        "team_split",
        persons=told,
        campaign_id=old.campaign_id,
        data={"team": old.id, "into_team": new.id},
        once=new.id,
    )
    return new


def end_membership(row: Membership, by: str, at: datetime) -> None:
    """Write the end of a membership."""
    row.state, row.ended = "left", at
    row.decided_by = row.decided_by or by


def _membership(session: Session, team_id: str, person_id: str) -> Membership:
    for member in members(session, team_id, states=("active", "asked")):
        if member.person == person_id:
            return session.get_one(Membership, member.membership)
    raise missing("member")


def _move(
    session: Session,
    office: Office,
    actor: Actor,
    person: str,
    old: Team,
    new: Team,
    *,
    role: str = "member",
    state: str = "active",
) -> None:
    """End one membership and begin another in the same transaction, so that nobody is in two teams or in none."""
    lock_person(session, person)
    row, now = _membership(session, old.id, person), office.clock()
    end_membership(row, actor.id, now)
    session.add(
        Membership(
            team_id=new.id,
            person_id=person,
            role=role,
            site=row.site,
            state=state,
            asked=now,
            decided=now,
            decided_by=actor.id,
        )
    )
    session.flush()


def _record(session: Session, office: Office, actor: Actor, kind: str, team: Team, data: dict[str, str | None]) -> None:
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=team.id, campaign_id=team.campaign_id, data=data
    )
