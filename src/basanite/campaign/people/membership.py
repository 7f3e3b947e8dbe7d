"""Who is in a team: asking, inviting and approving, handing over, leaving, merging and splitting (M61, P-34).

One person is in one team of a campaign (X-7), and in none who judges it (X-4). Every step is told by mail. Quotas,
submissions and agreements stay with the team that they belong to. Merging and splitting are therefore acts of
organizers: a new team would otherwise be a way to new attempts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.links import make_link, password_link, use_link
from basanite.campaign.people.persons import Newcomer, add_person, by_mail, find_person
from basanite.campaign.people.roles import check_membership, lock_person, require_organiser
from basanite.campaign.people.teams import (
    NewTeam,
    check_one_team,
    find_active,
    find_team,
    members,
    new_team,
    pi_of,
    require_pi,
    team_members,
)
from basanite.campaign.store import events
from basanite.campaign.store.tables import Membership, Team

LONGEST_SITE = 100


def ask_to_join(session: Session, office: Office, actor: Actor, team_id: str, *, site: str = "") -> Membership:
    """Ask for a place in a team; its PI gets a mail. Until approved, nothing can be submitted."""
    team = find_team(session, team_id)
    _check_newcomer(session, team, actor.id)
    row = _add_member(session, office, team, actor.id, site, state="asked")
    _record_membership(session, office, "membership.asked", actor, team, row)
    pi = pi_of(session, team.id)
    if pi is not None:
        data = {"team": team.id, "who_person": actor.id}
        tell(session, office, "join_asked", persons=[pi], campaign_id=team.campaign_id, data=data, once=row.id)
    return row


def decide_join(session: Session, office: Office, actor: Actor, membership_id: str, *, accept: bool) -> Membership:
    """The PI takes somebody into the team, or does not; that nobody is in two teams is checked again here."""
    row, team = _waiting_row(session, membership_id)
    require_pi(session, actor, team)
    if row.state != "asked":
        raise refused("M61", f"this was already decided: {row.state}", "see the list of members", status=409)
    lock_person(session, row.person_id)
    if accept:
        check_membership(session, team.campaign_id, row.person_id)
    now = office.clock()
    row.state, row.decided, row.decided_by = ("active" if accept else "refused"), now, actor.id
    _record_membership(session, office, "membership.approved" if accept else "membership.refused", actor, team, row)
    template = "join_approved" if accept else "join_refused"
    words = {"team": team.id, "password": password_link(session, office, row.person_id)}
    tell(session, office, template, persons=[row.person_id], campaign_id=team.campaign_id, data=words, once=row.id)
    return row


def invite(session: Session, office: Office, actor: Actor, team_id: str, *, mail: str, site: str = "") -> None:
    """The PI invites an address; the link in the mail works for the account of that address alone.

    The answer is the same whether the address has an account or not: nobody learns that from us.
    """
    team = find_team(session, team_id)
    require_pi(session, actor, team)
    person = by_mail(session, office, mail) or add_person(session, office, Newcomer(name="", mail=mail), actor=actor)
    check_membership(session, team.campaign_id, person.id)
    data = {"team": team.id, "site": site[:LONGEST_SITE], "by": actor.id}
    link = make_link(session, office, "invitation", person_id=person.id, data=data)
    events.record(
        session,
        "membership.invited",
        at=office.clock(),
        actor=actor.id,
        subject=team.id,
        campaign_id=team.campaign_id,
        data={"person": person.id},
    )
    password = password_link(session, office, person.id)
    words = {"team": team.id, "who_person": actor.id, "link": link.number, "password": password}
    tell(session, office, "invited", persons=[person.id], campaign_id=team.campaign_id, data=words, once=link.number)


def accept_invitation(session: Session, office: Office, actor: Actor, secret: str) -> Membership:
    """Use an invitation: a place in the team at once, if nothing speaks against it by now."""
    link = use_link(session, office, secret, "invitation", person_id=actor.id)
    team = find_team(session, link.data["team"])
    _check_newcomer(session, team, actor.id)
    row = _add_member(session, office, team, actor.id, link.data["site"], state="active")
    row.decided, row.decided_by = office.clock(), link.data["by"]
    _record_membership(session, office, "membership.accepted", actor, team, row)
    return row


def place_member(
    session: Session, office: Office, actor: Actor, team_id: str, person_id: str, *, site: str = ""
) -> Membership:
    """An organiser puts a person into a team (by command, or importing a campaign), under the same checks."""
    team = find_team(session, team_id)
    require_organiser(session, actor, team.campaign_id)
    _check_newcomer(session, team, person_id)
    row = _add_member(session, office, team, person_id, site, state="active")
    row.decided, row.decided_by = office.clock(), actor.id
    _record_membership(session, office, "membership.placed", actor, team, row)
    words = {"team": team.id, "password": password_link(session, office, person_id)}
    tell(session, office, "join_approved", persons=[person_id], campaign_id=team.campaign_id, data=words, once=row.id)
    return row


def _check_newcomer(session: Session, team: Team, person_id: str) -> None:
    find_person(session, person_id)
    lock_person(session, person_id)
    check_membership(session, team.campaign_id, person_id)
    check_one_team(session, team.campaign_id, person_id)


def _add_member(session: Session, office: Office, team: Team, person_id: str, site: str, *, state: str) -> Membership:
    row = Membership(team_id=team.id, person_id=person_id, site=site[:LONGEST_SITE], state=state, asked=office.clock())
    session.add(row)
    session.flush()
    return row


def _waiting_row(session: Session, membership_id: str) -> tuple[Membership, Team]:
    query = select(Membership, Team).join(Team, Team.id == Membership.team_id).where(Membership.id == membership_id)
    found = session.execute(query).first()
    if found is None:
        raise missing("request")
    return found[0], found[1]


def _record_membership(session: Session, office: Office, kind: str, actor: Actor, team: Team, row: Membership) -> None:
    data = {"team": team.id, "person": row.person_id}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=team.campaign_id, data=data
    )


def hand_over(session: Session, office: Office, actor: Actor, team_id: str, *, to: str) -> Team:
    """Another active member becomes the PI; the old one stays a member. Consent to be named does not pass on (P-25)."""
    team = find_team(session, team_id)
    require_pi(session, actor, team)
    new, old = find_active(session, team.id, to), pi_of(session, team.id)
    if old == to:
        raise refused("P-34", "this person is already the PI", "name another member", status=409)
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
            "P-34", "the PI cannot leave while the team has other members", "hand over the team first", status=409
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
        raise refused(
            "P-34", "these are not two teams of the same campaign", "name two teams of the same campaign", status=422
        )
    told = {*team_members(session, old.id), *team_members(session, new.id)}
    for member in members(session, old.id, states=("active", "asked")):
        moved = Membership(team_id=new.id, person_id=member.person, role="member", state=member.state)
        _move(session, office, actor, old, moved)
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


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a team that becomes a team of its own."""

    name: str
    pi: str
    people: Sequence[str] = ()
    code: str = ""


def split(session: Session, office: Office, actor: Actor, team_id: str, part: Split) -> Team:
    """Some people of a team become a team of their own; those named must be in the old one, whose PI stays."""
    old = find_team(session, team_id)
    require_organiser(session, actor, old.campaign_id)
    going = list(dict.fromkeys([part.pi, *part.people]))
    if pi_of(session, old.id) in going:
        raise refused(
            "P-34", "the PI of a team cannot leave it in a split", "hand over the team first, then split it", status=409
        )
    told = team_members(session, old.id)
    new = new_team(session, office, actor, old.campaign_id, NewTeam(part.name, code=part.code, track=old.track))
    for person in going:
        find_active(session, old.id, person)
        role = "pi" if person == part.pi else "member"
        _move(session, office, actor, old, Membership(team_id=new.id, person_id=person, role=role, state="active"))
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


def _move(session: Session, office: Office, actor: Actor, old: Team, new: Membership) -> None:
    """End one membership and begin another in the same transaction, so that nobody is in two teams or in none."""
    lock_person(session, new.person_id)
    row, now = _membership(session, old.id, new.person_id), office.clock()
    end_membership(row, actor.id, now)
    new.site, new.asked, new.decided, new.decided_by = row.site, now, now, actor.id
    session.add(new)
    session.flush()


def _record(session: Session, office: Office, actor: Actor, kind: str, team: Team, data: dict[str, str | None]) -> None:
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=team.id, campaign_id=team.campaign_id, data=data
    )
