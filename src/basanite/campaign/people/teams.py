"""Teams: a person asks to lead one, an organizer grants it, the person makes it and is its PI (M61)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.links import password_link
from basanite.campaign.people.names import (
    name_problems,
    plain_name,
    random_pseudonym,
    skeleton,
    team_id_problems,
    team_name_problems,
)
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.roles import (
    check_membership,
    end_grant,
    is_member,
    is_organiser,
    lock_person,
    organisers,
    require_organiser,
    viewer,
)
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import CampaignRow, Grant, LeadRequest, Membership, Team
from basanite.campaign.store.tables.people import code_of
from basanite.problems import Problem


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


def check_one_team(session: Session, campaign_id: str, person_id: str) -> None:
    """One person, one team in a campaign, those asked for included (X-7)."""
    if is_member(session, campaign_id, person_id):
        raise refused(
            "X-7",
            "a person can be in only one team of a campaign, and can ask only one at a time",
            "first leave the other team, or withdraw the request",
            status=409,
        )


LONGEST_TEXT = 2000


def ask_to_lead(session: Session, office: Office, actor: Actor, campaign_id: str, *, text: str = "") -> LeadRequest:
    """Ask the organisers for leave to make a team; asking again while it waits changes nothing."""
    find_person(session, actor.id)
    lock_person(session, actor.id)
    in_force(session, campaign_id)
    check_membership(session, campaign_id, actor.id)
    check_one_team(session, campaign_id, actor.id)
    query = select(LeadRequest).where(LeadRequest.person_id == actor.id, LeadRequest.campaign_id == campaign_id)
    waiting = session.scalars(query.where(LeadRequest.state == "asked")).first()
    return waiting or _add_request(session, office, actor, campaign_id, text[:LONGEST_TEXT])


def _add_request(session: Session, office: Office, actor: Actor, campaign_id: str, text: str) -> LeadRequest:
    now = office.clock()
    row = LeadRequest(campaign_id=campaign_id, person_id=actor.id, text=text, asked=now)
    session.add(row)
    session.flush()
    events.record(session, "lead.asked", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id)
    words = {"request": row.id, "who_person": actor.id}
    _tell_organisers(session, office, campaign_id, "lead_asked", words, row.id)
    return row


def lead_requests(session: Session, campaign_id: str, *, state: str = "asked") -> tuple[LeadRequest, ...]:
    """Who asks to lead a team, in order of asking."""
    query = select(LeadRequest).where(LeadRequest.campaign_id == campaign_id, LeadRequest.state == state)
    return tuple(session.scalars(query.order_by(LeadRequest.asked, LeadRequest.id)))


def decide_lead(
    session: Session, office: Office, actor: Actor, request_id: str, *, accept: bool, reason: str = ""
) -> LeadRequest:
    """Grant or refuse a request to lead a team."""
    row = session.get(LeadRequest, request_id)
    if row is None:
        raise missing("request")
    require_organiser(session, actor, row.campaign_id)
    if row.state != "asked":
        raise refused("M61", f"this request is already {row.state}", "see the list of requests", status=409)
    now = office.clock()
    row.state, row.decided, row.decided_by, row.reason = ("granted" if accept else "refused"), now, actor.id, reason
    kind = "lead.granted" if accept else "lead.refused"
    data = {"person": row.person_id, "reason": reason}
    events.record(session, kind, at=now, actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data)
    if accept:
        _give_leave(session, office, actor, row.campaign_id, row.person_id)
    else:
        words = {"reason": reason or "none given"}
        persons = [row.person_id]
        tell(session, office, "lead_refused", persons=persons, campaign_id=row.campaign_id, data=words, once=row.id)
    return row


def grant_team_maker(session: Session, office: Office, actor: Actor, campaign_id: str, person_id: str) -> Grant:
    """Give somebody leave to make a team, asked for or not; a waiting request is granted with it."""
    require_organiser(session, actor, campaign_id)
    find_person(session, person_id)
    for row in lead_requests(session, campaign_id):
        if row.person_id == person_id:
            decide_lead(session, office, actor, row.id, accept=True)
    return _leave_of(session, campaign_id, person_id) or _give_leave(session, office, actor, campaign_id, person_id)


def _give_leave(session: Session, office: Office, actor: Actor, campaign_id: str, person_id: str) -> Grant:
    lock_person(session, person_id)
    check_membership(session, campaign_id, person_id)
    now = office.clock()
    row = Grant(campaign_id=campaign_id, person_id=person_id, role="team_maker", at=now, by=actor.id)
    session.add(row)
    session.flush()
    data = {"role": "team_maker", "person": person_id}
    events.record(session, "role.granted", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data)
    words = {"password": password_link(session, office, person_id)}
    tell(session, office, "lead_granted", persons=[person_id], campaign_id=campaign_id, data=words, once=row.id)
    return row


@dataclass(frozen=True, slots=True)
class NewTeam:
    """A team that is to be made; without a code its name makes one, and the site is that of its PI."""

    name: str
    code: str = ""
    site: str = ""
    track: str = ""


def create_team(
    session: Session, office: Office, actor: Actor, campaign_id: str, new: NewTeam, *, pi: str | None = None
) -> Team:
    """Make a team; its maker is its PI. It takes an organiser's leave, which is used up; organisers may name the PI."""
    leader = pi or actor.id
    leave = _leave_of(session, campaign_id, leader)
    named_by_organiser = leader != actor.id and is_organiser(session, actor, campaign_id)
    if not named_by_organiser and (leave is None or leader != actor.id):
        raise refused(
            "M61", "creating a team requires the approval of an organizer", "ask to lead a team first", status=403
        )
    find_person(session, leader)
    lock_person(session, leader)
    check_membership(session, campaign_id, leader)
    check_one_team(session, campaign_id, leader)
    team = new_team(session, office, actor, campaign_id, new)
    lead_team(session, office, team, leader, new.site)
    _tell_organisers(session, office, campaign_id, "team_created", {"team": team.id}, team.id)
    if leave is not None:
        end_grant(session, leave, actor.id, office.clock())
    return team


def new_team(session: Session, office: Office, actor: Actor, campaign_id: str, new: NewTeam) -> Team:
    """A team without members, with a name that nobody can take for another's and a random pseudonym."""
    plain, code = plain_name(new.name), new.code or code_of(plain_name(new.name))
    session.execute(select(CampaignRow.id).where(CampaignRow.id == campaign_id).with_for_update())  # names are unique
    _check_names(session, office, campaign_id, plain, code)
    taken = session.scalars(select(Team.pseudonym).where(Team.campaign_id == campaign_id))
    return insert_team(session, office, actor, campaign_id, replace(new, code=code), random_pseudonym(taken))


def insert_team(session: Session, office: Office, actor: Actor, campaign_id: str, new: NewTeam, pseudonym: str) -> Team:
    """A team without members, whose names were checked."""
    now, plain, code = office.clock(), plain_name(new.name), new.code
    team = Team(
        campaign_id=campaign_id,
        name=plain,
        skeleton=skeleton(plain),
        code=code,
        pseudonym=pseudonym,
        track=new.track,
        made=now,
        made_by=actor.id,
    )
    session.add(team)
    session.flush()
    events.record(
        session, "team.made", at=now, actor=actor.id, subject=team.id, campaign_id=campaign_id, data={"code": code}
    )
    return team


def allow_naming(session: Session, office: Office, actor: Actor, team_id: str, *, agrees: bool) -> Team:
    """The PI agrees, or no longer agrees, that the team is named in public (P-25); nobody can agree for the PI."""
    team = find_team(session, team_id)
    require_pi(session, actor, team)
    if is_organiser(session, actor, team.campaign_id) and agrees:
        raise refused("P-25", "only the PI can agree to show the team name in public", "ask the PI", status=403)
    now = office.clock()
    team.named_consent, team.named_by = (now, actor.id) if agrees else (None, None)
    kind = "team.named" if agrees else "team.unnamed"
    events.record(session, kind, at=now, actor=actor.id, subject=team.id, campaign_id=team.campaign_id)
    return team


def lead_team(session: Session, office: Office, team: Team, leader: str, site: str) -> None:
    """Make somebody the PI of a new team, and tell them."""
    now = office.clock()
    session.add(
        Membership(
            team_id=team.id,
            person_id=leader,
            role="pi",
            site=site,
            state="active",
            asked=now,
            decided=now,
            decided_by=leader,
        )
    )
    session.flush()
    words = {"team": team.id, "password": password_link(session, office, leader)}
    tell(session, office, "team_ready", persons=[leader], campaign_id=team.campaign_id, data=words, once=team.id)


def _leave_of(session: Session, campaign_id: str, person_id: str) -> Grant | None:
    query = select(Grant).where(Grant.person_id == person_id, Grant.campaign_id == campaign_id)
    return session.scalars(query.where(Grant.role == "team_maker", Grant.ended.is_(None))).first()


def _check_names(session: Session, office: Office, campaign_id: str, name: str, code: str) -> None:
    problems = [*name_problems(name, what="team name"), *team_id_problems(code)]
    problems += team_name_problems(session, office, campaign_id, name)
    codes = session.scalars(select(Team.code).where(Team.campaign_id == campaign_id))
    if skeleton(code) in set(map(skeleton, codes)):
        problems.append(
            Problem("M56", "", None, None, "another team has a TeamID that looks the same", "choose another TeamID")
        )
    if problems:
        raise RefusedError(problems, status=422)


def _tell_organisers(
    session: Session, office: Office, campaign_id: str, template: str, data: dict[str, str], once: str
) -> None:
    tell(
        session,
        office,
        template,
        persons=organisers(session, campaign_id),
        campaign_id=campaign_id,
        data=data,
        once=once,
    )
