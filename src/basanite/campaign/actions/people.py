"""Actions on people: personal data, roles, and exceptions to the separation of duty (P-21, X-4)."""

from __future__ import annotations

from typing import Annotated

from sqlalchemy import select

from basanite.campaign.actions import approvals, two_people
from basanite.campaign.actions.registry import (
    NEWEST,
    Argument,
    Arguments,
    At,
    Option,
    Outcome,
    Reason,
    action,
    list_outcome,
    newest,
    rows_of,
)
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import SYSTEM
from basanite.campaign.people import privacy, roles, roster, roster_entry
from basanite.campaign.people.persons import Newcomer, NewDetails, add_person, change_personal, personal
from basanite.campaign.people.teams import grant_team_maker
from basanite.campaign.store.tables import DutyException, Person, Team

Mail = Annotated[str, Argument("The person, by email address or id.", metavar="MAIL")]
MOST_AT_ONCE = 2_000
"""New people that a page or a program enters at once: nobody else can write meanwhile."""
CHOICES = ("evaluation", "administrator", "judge", "annotator", "adjudicator", "team_maker")


class OnePerson(Arguments):
    """A person."""

    who: Mail


class NewPerson(OnePerson):
    """A mail address and whose it is."""

    name: Annotated[str, Option("The person's name.", required=True)]


class Correction(OnePerson):
    """What is right of a person's name and address."""

    name: Annotated[str | None, Option("The right name.")] = None
    address: Annotated[str | None, Option("The correct email address.", metavar="MAIL", name="mail")] = None


class PersonRole(OnePerson):
    """A role of a person."""

    role: Annotated[str, Argument("The role.", choices=CHOICES)]


class Granting(PersonRole):
    """A role for a person, with its reason."""

    reason: Reason = ""


class ExceptionWanted(OnePerson):
    """A person who should judge and take part, with the reason."""

    reason: Reason = ""


class PeopleFile(Arguments):
    """A table of people and teams, and what is done with it."""

    text: Annotated[str, Argument("The table: CSV with a header.", metavar="FILE", file=True)]
    apply: Annotated[bool, Option("Enter them. Without this, the table is only checked.")] = False
    invite: Annotated[bool, Option("Invite members by mail; without this, they are placed in their teams.")] = False


class OneException(Arguments):
    """An exception to the separation of duty."""

    which: Annotated[str, Argument("An id, or the newest.", metavar="EXCEPTION")] = NEWEST


@action(
    "people add", role="administrator", hint='new@people.example --name "Kim Doe" --data season', logs="person.added"
)
def add(at: At, given: NewPerson) -> Outcome:
    """Add a person with the address MAIL, who chooses a password at the server."""
    person = add_person(at.session, at.office, Newcomer(name=given.name, mail=given.who), actor=at.actor)
    return Outcome({"person": person.id}, (f"Added, as {person.id}.",))


@action(
    "people import",
    hint="people.csv --apply --data season",
    logs="person.added team.made membership.placed membership.invited role.granted approval.asked",
)
def import_people(at: At, given: PeopleFile) -> Outcome:
    """Enter people, teams and judges from a table: all of it, or nothing if anything in it is wrong.

    FILE is a CSV with a header. The columns are mail, name, team, role, track, code and site, of which only mail is
    needed. A team that is new is created, and needs one line with the role pi; judges, annotators and adjudicators
    have no team.
    """
    lines = roster.read_lines(given.text, roster.COLUMNS, ("mail",))
    known = roster_entry.look_up(at.session, at.office, at.campaign_id, lines, lock=given.apply)
    planned = roster.plan_roster(lines, known)
    counts = roster_entry.counts_of(planned)
    waiting = 0
    if at.bound and given.apply and len(planned.newcomers) > MOST_AT_ONCE:
        message = (
            f"the table has more than {MOST_AT_ONCE:,} new people, and everybody else waits while they are entered"
        )
        raise refused("P-43", message, "split it, or ask who runs the server to enter it there", status=422)
    if given.apply:
        roster_entry.enter_roster(*at.who, at.campaign_id, planned, invite=given.invite)
        waiting = sum(_grant_from_table(at, role, line["mail"]) for role, line in planned.roles)
    data = {"applied": given.apply, "invite": given.invite, "waiting": waiting, **counts.as_dict()}
    hint = "" if given.apply or counts.nothing else "\nNothing is entered yet: repeat the command with --apply."
    return Outcome(data, (_in_words(counts, waiting),), hint=hint)


def _grant_from_table(at: At, role: str, mail: str) -> bool:
    """Grant a role; whether it waits for a second person."""
    wanted = roles.RoleGrant(at.person(mail), role, at.campaign_id, reason="from a table of people")
    if two_people.needs_two(at.plan.campaign, "role"):
        approvals.ask_to_grant(*at.who, at.campaign_id, wanted)
        return True
    roles.grant(*at.who, wanted)
    return False


def _in_words(counts: roster_entry.RosterCounts, waiting: int) -> str:
    made = (
        f"new people: {counts.people:,}",
        f"new teams: {counts.teams:,}",
        f"members: {counts.members:,}",
        f"roles: {counts.roles:,}",
        f"lines that change nothing: {counts.unchanged:,}",
    )
    return "; ".join(made) + (f". Roles that wait for a second organizer: {waiting:,}." if waiting else ".")


@action("people list", reads=True, hint="--data season")
def list_people(at: At, given: Arguments) -> Outcome:
    """List all people with roles and team."""
    rows = []
    for person in at.session.scalars(select(Person).order_by(Person.made, Person.id)):
        seen, known = roles.viewer(at.session, at.campaign_id, person.id), personal(at.session, at.office, person.id)
        if at.bound and not seen.roles and seen.team is None:
            continue  # who has no part in a campaign is named in none of its lists
        team = None if seen.team is None else at.session.get_one(Team, seen.team).name
        held = sorted(seen.roles) + (["pi"] if seen.pi else [])
        rows.append({"person": person.id, "name": known.name, "mail": known.mail, "roles": held, "team": team or ""})
    return list_outcome("people", rows, ("person", "name", "mail", "roles", "team"), "There are no people yet.")


@action(
    "people grant",
    two="role",
    hint="otto@people.example judge --data season",
    logs="role.granted approval.asked",
)
def grant_role(at: At, given: Granting) -> Outcome:
    """Grant a role to the person with the address MAIL; the campaign may require a second person's approval."""
    person, role = at.person(given.who), given.role
    if at.bound and role == "team_maker":
        return Outcome({"grant": grant_team_maker(*at.who, at.campaign_id, person).id})
    plan = None if role in roles.SERVER_WIDE and not at.bound else at.plan
    alone = plan is not None and len(roles.holders(at.session, plan.row.id, ("evaluation",))) < 2
    alone = alone and not at.bound  # only the machine's command line makes the first two organizers
    two = plan is not None and role not in roles.SERVER_WIDE and two_people.needs_two(plan.campaign, "role")
    if plan is not None and two and not alone:
        waits = approvals.ask_to_grant(*at.who, plan.row.id, roles.RoleGrant(person, role, reason=given.reason))
        hint = "This needs a second person: basanite admin approvals agree newest"
        return Outcome({"waits": waits.id}, waits=waits.id, hint=hint)
    campaign_id = None if plan is None else plan.row.id
    second = SYSTEM.id if alone else None  # the first two organisers have nobody to ask
    row = roles.grant(
        *at.who,
        roles.RoleGrant(person_id=person, role=role, campaign_id=campaign_id, reason=given.reason),
        seconded_by=second,
    )
    return Outcome({"grant": row.id}, (f"{given.who} now has the role {role}",))


@action("people revoke", hint="eva@people.example evaluation --data season", logs="role.revoked")
def revoke_role(at: At, given: PersonRole) -> Outcome:
    """Revoke a role of the person with the address MAIL."""
    campaign_id = None if given.role in roles.SERVER_WIDE and not at.bound else at.campaign_id
    person = at.person(given.who)
    if at.bound and person == at.actor.id and given.role == "evaluation":
        raise refused("X-4", "you cannot revoke your own role", "ask another organizer to do it", status=409)
    roles.revoke(*at.who, person_id=person, role=given.role, campaign_id=campaign_id)
    return Outcome({"revoked": given.role}, (f"{given.who} no longer has the role {given.role}",))


@action(
    "people correct",
    role="administrator",
    hint='alan@people.example --name "Alan M. Turing" --data season',
    logs="person.changed",
)
def correct_person(at: At, given: Correction) -> Outcome:
    """Correct the name or address of a person; the log names the field, not its values."""
    person = at.person(given.who)
    change_personal(*at.who, person, NewDetails(name=given.name, mail=given.address))
    return Outcome({"person": person}, (f"{person} is corrected.",))


@action("people export", role="administrator", hint="ada@people.example --data season", logs="person.exported")
def export_person(at: At, given: OnePerson) -> Outcome:
    """Print everything stored about the person with the address MAIL, as one JSON object."""
    return Outcome(privacy.export_person(*at.who, at.person(given.who)), json=True)


@action(
    "people erase",
    role="administrator",
    hint="alan@people.example --yes --data season",
    logs="person.erased",
    ask="Erase {who} permanently?",
)
def erase_person(at: At, given: OnePerson) -> Outcome:
    """Erase the person with the address MAIL permanently, backups included; scores and the log stay unchanged."""
    person = at.person(given.who)
    privacy.erase_person(*at.who, person)
    return Outcome({"erased": person}, (f"{person} is forgotten.",))


@action("exception list", reads=True, hint="--data season")
def list_exceptions(at: At, given: Arguments) -> Outcome:
    """List exceptions to the separation of duties, including pending ones."""
    columns = ("id", "person_id", "reason", "asked", "asked_by", "seconded", "seconded_by", "ended")
    rows = rows_of(roles.exceptions(at.session, at.campaign_id), columns)
    return list_outcome("exceptions", rows, columns, "There are none.")


@action("exception ask", hint='ada@people.example --reason "the only expert" --data season', logs="exception.asked")
def ask_exception(at: At, given: ExceptionWanted) -> Outcome:
    """Request that the person with the address MAIL may judge and take part; another organizer must approve."""
    row = roles.ask_exception(*at.who, at.campaign_id, at.person(given.who), reason=given.reason)
    return Outcome({"exception": row.id}, hint="Another organizer must approve: basanite admin exception agree")


@action("exception agree", hint="--as otto@people.example --data season", logs="exception.seconded")
def agree_to_exception(at: At, given: OneException) -> Outcome:
    """Approve an exception (an id, or the newest) as the second organizer. Identify yourself with --as."""
    row = roles.second_exception(*at.who, _exception_meant(at, given.which))
    return Outcome({"exception": row.id, "seconded": row.seconded}, ("The exception is active.",))


@action("exception end", hint="--data season", logs="exception.ended")
def end_exception(at: At, given: OneException) -> Outcome:
    """End an exception, or refuse a pending one (an id, or the newest)."""
    row = roles.end_exception(*at.who, _exception_meant(at, given.which))
    return Outcome({"exception": row.id, "ended": row.ended}, ("The exception is ended.",))


def _exception_meant(at: At, which: str) -> str:
    if which == NEWEST:
        found = roles.exceptions(at.session, at.campaign_id)
        return newest([one for one in found if one.ended is None], "exception")
    row = at.session.get(DutyException, which)
    at.check_here(None if row is None else row.campaign_id, "exception")
    return which
