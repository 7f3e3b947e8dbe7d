"""How a person gets into a team: asks and is approved by the PI, or is invited and accepts (M61)."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.duty import check_membership, is_member, lock_person
from basanite.campaign.people.links import make_link, password_link, use_link
from basanite.campaign.people.persons import add_person, by_mail, find_person
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.people.teams.reading import Member, find_team, members, pi_of, require_pi
from basanite.campaign.store import events
from basanite.campaign.store.tables import Membership, Team

LONGEST_SITE = 100


def ask_to_join(session: Session, office: Office, actor: Actor, team_id: str, *, site: str = "") -> Membership:
    """Ask for a place in a team; its PI gets a mail. Until approved, nothing can be submitted."""
    team = find_team(session, team_id)
    _check_newcomer(session, team, actor.id)
    row = _placed(session, office, team, actor.id, site, state="asked")
    _told(session, office, "membership.asked", actor, team, row)
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
        raise refused("M61", f"this was decided already: {row.state}", "look at the list of members", status=409)
    lock_person(session, row.person_id)
    if accept:
        check_membership(session, team.campaign_id, row.person_id)
    now = office.clock()
    row.state, row.decided, row.decided_by = ("active" if accept else "refused"), now, actor.id
    _told(session, office, "membership.approved" if accept else "membership.refused", actor, team, row)
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
    person = by_mail(session, office, mail) or add_person(session, office, name="", mail=mail, actor=actor)
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
    row = _placed(session, office, team, actor.id, link.data["site"], state="active")
    row.decided, row.decided_by = office.clock(), link.data["by"]
    _told(session, office, "membership.accepted", actor, team, row)
    return row


def place_member(
    session: Session, office: Office, actor: Actor, team_id: str, person_id: str, *, site: str = ""
) -> Membership:
    """An organiser puts a person into a team (by command, or importing a campaign), under the same checks."""
    team = find_team(session, team_id)
    require_organiser(session, actor, team.campaign_id)
    _check_newcomer(session, team, person_id)
    row = _placed(session, office, team, person_id, site, state="active")
    row.decided, row.decided_by = office.clock(), actor.id
    _told(session, office, "membership.placed", actor, team, row)
    words = {"team": team.id, "password": password_link(session, office, person_id)}
    tell(session, office, "join_approved", persons=[person_id], campaign_id=team.campaign_id, data=words, once=row.id)
    return row


def waiting(session: Session, team_id: str) -> tuple[Member, ...]:
    """Who asks for a place in a team."""
    return members(session, team_id, states=("asked",))


def check_one_team(session: Session, campaign_id: str, person_id: str) -> None:
    """One person, one team in a campaign, those asked for included (X-7)."""
    if is_member(session, campaign_id, person_id):
        raise refused(
            "X-7",
            "a person is in one team of a campaign, and asks for one at a time",
            "leave the other team, or take the request back, first",
            status=409,
        )


def _check_newcomer(session: Session, team: Team, person_id: str) -> None:
    find_person(session, person_id)
    lock_person(session, person_id)
    check_membership(session, team.campaign_id, person_id)
    check_one_team(session, team.campaign_id, person_id)


def _placed(session: Session, office: Office, team: Team, person_id: str, site: str, *, state: str) -> Membership:
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


def _told(session: Session, office: Office, kind: str, actor: Actor, team: Team, row: Membership) -> None:
    data = {"team": team.id, "person": row.person_id}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=team.campaign_id, data=data
    )
