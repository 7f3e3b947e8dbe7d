"""Entering people and teams from a table, all of it or nothing (P-43).

What a table names is looked up in a few queries, whatever its length, and nothing is checked a second time: a team made
by hand reads the names of all others, which 10,000 teams cannot do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people import membership
from basanite.campaign.people.names import organizer_looks, random_pseudonyms, skeleton
from basanite.campaign.people.persons import Newcomer, insert_person
from basanite.campaign.people.roles import EXCLUDING, organisers, require_organiser
from basanite.campaign.people.roster import Known, KnownTeam, Line, PlannedTeam, Roster
from basanite.campaign.people.teams import NewTeam, insert_team, lead_team
from basanite.campaign.store.personal import mail_digest, normal_mail
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import CampaignRow, DutyException, Grant, Membership, Person, Team

AT_ONCE = 500
"""So many addresses are asked for in one query."""


@dataclass(frozen=True)
class RosterCounts:
    """How many of what a table makes."""

    people: int
    teams: int
    members: int
    """People in teams beside their PIs, placed or invited."""
    roles: int
    unchanged: int

    @property
    def nothing(self) -> bool:
        """Whether all of it is so already."""
        return not (self.people or self.teams or self.members or self.roles)

    def as_dict(self) -> dict[str, int]:
        """The same as an object of JSON."""
        return asdict(self)


def counts_of(roster: Roster) -> RosterCounts:
    """What a table would make."""
    members = len(roster.joining) + sum(len(team.members) for team in roster.teams)
    return RosterCounts(len(roster.newcomers), len(roster.teams), members, len(roster.roles), roster.unchanged)


def look_up(session: Session, office: Office, campaign_id: str, lines: Sequence[Line], *, lock: bool) -> Known:
    """What the campaign has of the people and teams in a table, which may be kept as it is until the end."""
    if lock:  # names of teams are unique, and nobody joins another team meanwhile
        session.execute(select(CampaignRow.id).where(CampaignRow.id == campaign_id).with_for_update())
    people = _people(session, office, {normal_mail(line["mail"]) for line in lines}, lock=lock)
    rows = session.scalars(select(Team).where(Team.campaign_id == campaign_id)).all()
    led = _led_teams(session, campaign_id)
    organizers = organizer_looks(session, office)
    return Known(
        people,
        {one.skeleton: _known_team(one, led) for one in rows},
        frozenset({skeleton(one.pseudonym) for one in rows} | organizers),
        frozenset(skeleton(one.code) for one in rows),
        _members(session, campaign_id),
        _roles(session, campaign_id),
        _people_with_exceptions(session, campaign_id),
        frozenset(organizers),
        tuple(track.id for track in in_force(session, campaign_id).campaign.tracks),
    )


def enter_roster(
    session: Session, office: Office, actor: Actor, campaign_id: str, roster: Roster, *, invite: bool
) -> None:
    """Make what a table asks for, roles apart; members are placed, or invited by mail. Organizers are told once."""
    # Six arguments: who acts where, what, and how members come in.
    require_organiser(session, actor, campaign_id)
    for line in roster.newcomers:
        insert_person(session, office, Newcomer(name=line["name"], mail=line["mail"]), actor=actor)
    pseudonyms = random_pseudonyms(session.scalars(select(Team.pseudonym).where(Team.campaign_id == campaign_id)))
    joining = list(roster.joining)
    for planned in roster.teams:
        new = NewTeam(planned.name, planned.code, planned.pi["site"], planned.track)
        team = insert_team(session, office, actor, campaign_id, new, next(pseudonyms))
        lead_team(session, office, team, _person(session, office, planned.pi), new.site)
        joining += [(team.id, line) for line in planned.members]
    for team_id, line in joining:
        _bring_in(session, office, actor, team_id, line, invite=invite)
    if roster.teams:
        _tell_organizers(session, office, campaign_id, roster.teams)


def _bring_in(session: Session, office: Office, actor: Actor, team_id: str, line: Line, *, invite: bool) -> None:
    if invite:
        membership.invite(session, office, actor, team_id, mail=line["mail"], site=line["site"])
    else:
        membership.place_member(session, office, actor, team_id, _person(session, office, line), site=line["site"])


def _tell_organizers(session: Session, office: Office, campaign_id: str, made: Sequence[PlannedTeam]) -> None:
    people = organisers(session, campaign_id)
    tell(session, office, "teams_imported", persons=people, campaign_id=campaign_id, data={"count": str(len(made))})


def _person(session: Session, office: Office, line: Line) -> str:
    return session.scalars(select(Person.id).where(Person.mail_digest == mail_digest(office.vault, line["mail"]))).one()


def _people(session: Session, office: Office, mails: Iterable[str], *, lock: bool) -> dict[str, str]:
    """The people with these addresses."""
    by_digest = {mail_digest(office.vault, mail): mail for mail in mails}
    digests = sorted(by_digest)
    found: dict[str, str] = {}
    for begin in range(0, len(digests), AT_ONCE):
        wanted = Person.mail_digest.in_(digests[begin : begin + AT_ONCE])
        query = select(Person.mail_digest, Person.id).where(wanted).order_by(Person.id)
        query = query.with_for_update() if lock else query
        found |= {by_digest[digest]: person for digest, person in session.execute(query) if digest is not None}
    return found


def _known_team(row: Team, led: dict[str, str]) -> KnownTeam:
    return KnownTeam(row.id, row.name, row.state == "active", led.get(row.id, ""), row.track, row.code)


def _led_teams(session: Session, campaign_id: str) -> dict[str, str]:
    """The PI of each team."""
    query = select(Membership.team_id, Membership.person_id).join(Team, Team.id == Membership.team_id)
    leads = (Membership.role == "pi", Membership.state == "active")
    rows = session.execute(query.where(Team.campaign_id == campaign_id, *leads)).all()
    return {row.team_id: row.person_id for row in rows}


def _members(session: Session, campaign_id: str) -> dict[str, tuple[str, str]]:
    query = select(Membership.person_id, Membership.team_id, Membership.state).join(Team, Team.id == Membership.team_id)
    here = (Team.campaign_id == campaign_id, Team.state == "active", Membership.state.in_(("active", "asked")))
    return {person: (team, state) for person, team, state in session.execute(query.where(*here))}


def _roles(session: Session, campaign_id: str) -> dict[str, frozenset[str]]:
    query = select(Grant.person_id, Grant.role).where(Grant.campaign_id == campaign_id, Grant.ended.is_(None))
    found: dict[str, frozenset[str]] = {}
    for person, role in session.execute(query.where(Grant.role.in_(EXCLUDING))):
        found[person] = found.get(person, frozenset()) | {role}
    return found


def _people_with_exceptions(session: Session, campaign_id: str) -> frozenset[str]:
    holds = (DutyException.seconded.is_not(None), DutyException.ended.is_(None))
    query = select(DutyException.person_id).where(DutyException.campaign_id == campaign_id, *holds)
    return frozenset(session.scalars(query))
