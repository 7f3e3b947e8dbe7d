"""Actions on teams: members and leaders, agreements they sign, resources they share (M61, M93, P-26, P-34)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from sqlalchemy import select

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
)
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.people import agreements, membership, resources, roster, teams
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Team
from basanite.problems import Problem

DECISIONS = ("team", "agreement", "decision", "reason")
"""The columns of a table of decisions on signed copies."""
TeamName = Annotated[str, Argument("The team, by its name or id.")]
Mail = Annotated[str, Argument("The person, by email address or id.", metavar="MAIL")]


class OneTeam(Arguments):
    """A team."""

    name: TeamName


class NewTeam(OneTeam):
    """A team and who leads it."""

    pi: Annotated[str, Option("Its PI.", metavar="MAIL", required=True)]
    track: Annotated[str, Option("The track it takes part in.")] = ""


class TeamPerson(OneTeam):
    """A person in a team."""

    who: Mail


class Merger(OneTeam):
    """A team that becomes part of another."""

    into: Annotated[str, Option("The team to merge into.", required=True)]


class Split(Arguments):
    """Some people of a team who become a team of their own."""

    old: Annotated[str, Argument("The team, by its name or id.", metavar="NAME")]
    name: Annotated[str, Option("The name of the new team.", required=True)]
    pi: Annotated[str, Option("The PI of the new team.", metavar="MAIL", required=True)]
    others: Annotated[
        tuple[str, ...], Option("Another member of the new team. Can be repeated.", metavar="MAIL", name="with")
    ] = ()


class LeadDecision(Arguments):
    """Whether somebody may lead a team."""

    who: Mail
    accept: Annotated[bool, Option("Whether this person may lead a team.", name="accept/refuse", required=True)]
    reason: Annotated[str, Option("The reason; shown to the person.")] = ""


@action("team list", reads=True, hint="--data season")
def list_teams(at: At, given: Arguments) -> Outcome:
    """List the teams of a campaign with their members."""
    found = at.session.scalars(select(Team).where(Team.campaign_id == at.campaign_id).order_by(Team.name)).all()
    rows = [
        {"team": one.name, "pseudonym": one.pseudonym, "track": one.track, "state": one.state}
        | {"members": [personal(at.session, at.office, who.person).name for who in teams.members(at.session, one.id)]}
        for one in found
    ]
    return list_outcome("teams", rows, ("team", "pseudonym", "track", "state", "members"), "There are no teams yet.")


@action("team add", hint="Gamma --pi kim@people.example --data season", logs="team.made")
def add_team(at: At, given: NewTeam) -> Outcome:
    """Create the team NAME; its PI accepts the other members."""
    row = teams.create_team(
        *at.who, at.campaign_id, teams.NewTeam(name=given.name, track=given.track), pi=at.person(given.pi)
    )
    words = f"{given.name} takes part, as {row.pseudonym} on boards without names."
    return Outcome({"team": row.id, "pseudonym": row.pseudonym}, (words,))


@action("team place", hint="Beta kim@people.example --data season", logs="membership.placed")
def place_person(at: At, given: TeamPerson) -> Outcome:
    """Put the person with the address MAIL into the team NAME."""
    team = at.team(given.name)
    membership.place_member(*at.who, team, at.person(given.who))
    return Outcome({"team": team}, (f"{given.who} is in {given.name}.",))


@action("team merge", hint="Beta --into Alpha --data season", logs="team.merged")
def merge_team(at: At, given: Merger) -> Outcome:
    """Merge the team NAME into another; its submissions stay under its old name."""
    target = at.team(given.into)
    membership.merge(*at.who, at.team(given.name), into=target)
    return Outcome({"team": target}, (f"{given.name} is now part of {given.into}.",))


@action("team split", hint="Alpha --name Delta --pi alan@people.example --data season", logs="team.split")
def split_team(at: At, given: Split) -> Outcome:
    """Split some members of the team NAME off into a team of their own; the old team keeps its PI."""
    if at.bound and not given.pi:
        raise refused("P-34", "the new team has no PI", "choose a PI", status=422)
    team, people = at.team(given.old), [at.person(one) for one in given.others]
    row = membership.split(*at.who, team, membership.Split(name=given.name, pi=at.person(given.pi), people=people))
    return Outcome({"team": row.id, "pseudonym": row.pseudonym}, (f"{given.name} is a team of its own.",))


@action("team hand-over", hint="Alpha alan@people.example --data season", logs="team.handed_over")
def hand_over_team(at: At, given: TeamPerson) -> Outcome:
    """Make another member the PI of the team NAME; the old one stays a member."""
    team = at.team(given.name)
    membership.hand_over(*at.who, team, to=at.person(given.who))
    return Outcome({"team": team}, (f"{given.who} leads {given.name} now.",))


@action("team leave", hint="Alpha alan@people.example --data season", logs="membership.left")
def leave_team(at: At, given: TeamPerson) -> Outcome:
    """Remove the person with the address MAIL from the team NAME; the team closes with its last member."""
    team = at.team(given.name)
    membership.leave(*at.who, team, person_id=at.person(given.who))
    return Outcome({"team": team}, (f"{given.who} is no longer in {given.name}.",))


@action("team invite", hint="Alpha new@people.example --data season", logs="membership.invited")
def invite_person(at: At, given: TeamPerson) -> Outcome:
    """Invite the address MAIL into the team NAME, by an email with a link."""
    team = at.team(given.name)
    membership.invite(*at.who, team, mail=given.who)
    return Outcome({"team": team}, (f"{given.who} gets an email with a link.",))


@action("team requests", reads=True, hint="--data season")
def list_lead_requests(at: At, given: Arguments) -> Outcome:
    """List requests to lead a team."""
    rows = [
        {"request": one.id, "name": personal(at.session, at.office, one.person_id).name}
        | {"at": one.asked, "text": one.text}
        for one in teams.lead_requests(at.session, at.campaign_id)
    ]
    return list_outcome("requests", rows, ("request", "name", "at", "text"), "There are no requests.")


@action("team decide", hint="kim@people.example --accept --data season", logs="lead.granted lead.refused role.granted")
def decide_request(at: At, given: LeadDecision) -> Outcome:
    """Allow the person with the address MAIL to create a team, requested or not, or refuse the request."""
    person = at.person(given.who)
    waiting = [one for one in teams.lead_requests(at.session, at.campaign_id) if one.person_id == person]
    if waiting:
        teams.decide_lead(*at.who, waiting[0].id, accept=given.accept, reason=given.reason)
    elif given.accept:
        teams.grant_team_maker(*at.who, at.campaign_id, person)
    else:
        raise missing("request to lead a team")
    words = f"{given.who} may {'now' if given.accept else 'not'} make a team."
    return Outcome({"accepted": given.accept}, (words,))


class OneAgreement(Arguments):
    """An agreement of a team."""

    team: TeamName
    which: Annotated[str, Argument("The id of the agreement.", metavar="AGREEMENT")]


class AgreementRefusal(OneAgreement):
    """An agreement of a team whose copy is refused, and why."""

    reason: Reason = ""


class RegisterWanted(Arguments):
    """What of the register is listed."""

    late: Annotated[bool, Option("Only what should have been shared by now.", name="overdue")] = False


class NewResource(Arguments):
    """A resource that a team declares."""

    team: TeamName
    kind: Annotated[str, Argument("What kind it is.", choices=resources.KINDS)]
    description: Annotated[str, Argument("What it is.")]
    language: Annotated[str, Option("The language of the resource.")] = ""
    used_in: Annotated[str, Option("The window of first use; required for harvested data.", metavar="WINDOW")] = ""


class ResourceSharing(Arguments):
    """Where the other teams find a resource."""

    team: TeamName
    where: Annotated[str, Argument("Where it lies.")]
    which: Annotated[str, Argument("An id, or the newest.", metavar="RESOURCE")] = NEWEST


class OneResource(Arguments):
    """A resource of a team."""

    team: TeamName
    which: Annotated[str, Argument("An id, or the newest.", metavar="RESOURCE")] = NEWEST


@action("agreement list", reads=True, hint="--data season")
def list_agreements(at: At, given: Arguments) -> Outcome:
    """List each team's agreements and the missing certificates of deletion."""
    now = at.plan.now(at.office.clock())
    teams = at.session.scalars(select(Team).where(Team.campaign_id == at.campaign_id).order_by(Team.name)).all()
    rows = [
        _row(one.name, agreements.standing(at.session, at.plan.campaign, one.id, each.id, now))
        for one in teams
        for each in at.plan.campaign.agreements
    ]
    asked = [asdict(one) for one in agreements.deletions(at.session, at.campaign_id, now)]
    late = [f"Certificate of deletion overdue: {one['agreement']} ({one['team']})" for one in asked if one["overdue"]]
    columns = ("team", "agreement", "state", "version", "uploaded", "executed", "expires")
    found = list_outcome("agreements", rows, columns, "The plan has no agreements.", deletions=asked)
    return Outcome(found.data, listing=found.listing, after=tuple(late))


@action("agreement accept", hint="Alpha data --data season", logs="agreement.executed")
def accept_agreement(at: At, given: OneAgreement) -> Outcome:
    """Countersign the copy of an AGREEMENT that a TEAM uploaded; the team gets access to its data."""
    row = agreements.counter_sign(*at.who, signature_of(at, given.team, given.which))
    return Outcome({"signature": row.id, "state": row.state}, (f"{given.which} of {given.team} is executed.",))


@action("agreement refuse", hint='Alpha data --reason "page 2 is missing" --data season', logs="agreement.refused")
def refuse_agreement(at: At, given: AgreementRefusal) -> Outcome:
    """Refuse the copy of an AGREEMENT that a TEAM uploaded, with a reason."""
    row = agreements.refuse_signature(*at.who, signature_of(at, given.team, given.which), reason=given.reason)
    return Outcome({"signature": row.id, "state": row.state}, (f"{given.which} of {given.team} is refused.",))


class AgreementsFile(Arguments):
    """A table of decisions on signed copies, and whether they are made."""

    text: Annotated[str, Argument("The table: CSV with a header.", metavar="FILE", file=True)]
    apply: Annotated[bool, Option("Make the decisions. Without this, the table is only checked.")] = False


@action("agreement import", hint="signed.csv --apply --data season", logs="agreement.executed agreement.refused")
def import_agreements(at: At, given: AgreementsFile) -> Outcome:
    """Countersign or refuse many signed copies from a table: all of them, or none if anything in it is wrong.

    FILE is a CSV with a header. The columns are team, agreement, decision (accept or refuse) and reason; a refusal
    needs a reason.
    """
    lines = roster.read_lines(given.text, DECISIONS, DECISIONS[:3])
    waiting = {
        (at.session.get_one(Team, one.team_id).name, one.agreement): one.id
        for one in agreements.waiting_copies(at.session, at.campaign_id)
    }
    seen: dict[tuple[str, str], int] = {}
    wrong = [problem for line in lines for problem in _decision_problems(line, waiting, seen)]
    if wrong:
        raise RefusedError([*roster.common_causes(wrong, len(lines)), *wrong], status=422)
    for line in lines if given.apply else ():
        signature = waiting[line["team"], line["agreement"]]
        if line["decision"].lower() == "accept":
            agreements.counter_sign(*at.who, signature)
        else:
            agreements.refuse_signature(*at.who, signature, reason=line["reason"])
    accepted = sum(line["decision"].lower() == "accept" for line in lines)
    counts = {"accepted": accepted, "refused": len(lines) - accepted}
    hint = "" if given.apply else "\nNothing is decided yet: repeat the command with --apply."
    words = f"accepted: {counts['accepted']:,}; refused: {counts['refused']:,}"
    return Outcome({"applied": given.apply, **counts}, (words,), hint=hint)


def _decision_problems(
    line: roster.Line, waiting: Mapping[tuple[str, str], str], seen: dict[tuple[str, str], int]
) -> Iterator[Problem]:
    what = line["team"], line["agreement"]
    if what not in waiting:
        message = f"no copy of {line['agreement']!r} by the team {line['team']!r} waits for a signature"
        yield line.problem(message, "see the list of agreements", rule="P-26")
    if seen.setdefault(what, line.number) != line.number:
        yield line.problem(f"the line repeats line {seen[what]}", "remove one of them")
    if line["decision"].lower() not in ("accept", "refuse"):
        yield line.problem("the decision is neither accept nor refuse", "write accept or refuse", line["decision"])
    if line["decision"].lower() == "refuse" and not line["reason"]:
        yield line.problem("a refusal needs a reason", "write it into the column reason; the PI reads it")


@action("agreement end", hint="Alpha speech --data season", logs="deletion.asked")
def end_agreement(at: At, given: OneAgreement) -> Outcome:
    """End an AGREEMENT of a TEAM; the team is asked to delete the data and certify the deletion."""
    row = agreements.ask_for_deletion(*at.who, signature_of(at, given.team, given.which))
    words = f"{given.team} is asked to delete the data."
    return Outcome({"signature": row.id, "asked": row.deletion_asked}, (words,))


@action("resource list", reads=True, hint="--overdue --data season")
def list_resources(at: At, given: RegisterWanted) -> Outcome:
    """List declared resources by team, with the date by which each must be shared."""
    ask = resources.overdue if given.late else resources.resources
    found = ask(at.session, at.campaign_id, at.plan.now(at.office.clock()))
    rows = [asdict(one) | {"team": at.session.get_one(Team, one.team).name} for one in found]
    columns = ("id", "team", "kind", "language", "share_by", "shared", "where", "overdue", "description")
    return list_outcome("resources", rows, columns, "There are no entries.")


@action(
    "resource declare",
    hint='Alpha purchased "a dictionary of Swahili" --data season',
    logs="resource.declared",
)
def declare_resource(at: At, given: NewResource) -> Outcome:
    """Declare a resource for a TEAM: what it harvested, purchased, asked for or adapted to."""
    row = resources.declare(*at.who, at.team(given.team), resources.NewResource(**given.model_dump(exclude={"team"})))
    return Outcome({"resource": row.id, "share_by": row.share_by}, (f"Declared, as {row.id}.",))


@action("resource share", hint="Alpha https://data.example --data season", logs="resource.shared")
def share_resource(at: At, given: ResourceSharing) -> Outcome:
    """Record WHERE other teams find a resource of a TEAM (an id, or the newest)."""
    row = resources.mark_shared(*at.who, _resource_meant(at, given.team, given.which), where=given.where)
    return Outcome({"resource": row.id, "shared": row.shared}, ("The resource is shared.",))


@action("resource withdraw", hint="Alpha --data season", logs="resource.withdrawn")
def withdraw_resource(at: At, given: OneResource) -> Outcome:
    """Withdraw a resource that a TEAM declared by mistake (an id, or the newest); it stays on record."""
    row = resources.withdraw(*at.who, _resource_meant(at, given.team, given.which))
    return Outcome({"resource": row.id, "withdrawn": row.withdrawn}, ("The declaration is withdrawn.",))


def signature_of(at: At, team: str, which: str) -> str:
    """The id of the signature of a team that counts for an agreement."""
    now, team_id = at.plan.now(at.office.clock()), at.team(team)
    found = agreements.standing(at.session, at.plan.campaign, team_id, which, now).signature
    if found is None:
        raise missing("signature")
    return found.id


def _row(team: str, found: agreements.Standing) -> dict[str, Any]:
    known = {name: getattr(found.signature, name, None) for name in ("version", "uploaded", "executed", "expires")}
    return {"team": team, "agreement": found.agreement.id, "state": found.state, **known}


def _resource_meant(at: At, team: str, which: str) -> str:
    """The id of a resource that a team declared."""
    now, team_id = at.plan.now(at.office.clock()), at.team(team)
    found = resources.resources(at.session, at.campaign_id, now, team_id=team_id)
    if which == NEWEST:
        return newest(found, "resource")
    if which not in {one.id for one in found}:
        raise missing("resource")
    return which
