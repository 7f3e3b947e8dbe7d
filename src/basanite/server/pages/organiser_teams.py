"""Teams: the list with what looks odd among them, and one team with all that can be done to it (X-7, P-34)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.actions import approvals, overview, two_people
from basanite.campaign.intake import standings
from basanite.campaign.intake.similarity import similar
from basanite.campaign.model.refusals import missing
from basanite.campaign.people import teams
from basanite.campaign.people.persons import personal
from basanite.campaign.people.privacy import shared_addresses
from basanite.campaign.store.tables import Submission
from basanite.server.catalogue import plural, say, say_plain
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_frame import BASE, ConfirmPage, Organiser, at, finish_form, name_of, perform
from basanite.server.pages.templates import Paged
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
TEAMS_ADDRESS = f"{BASE}/teams"
MOST_ODD = 100


@dataclass(frozen=True)
class TeamLine:
    """One team."""

    id: str
    name: str
    pseudonym: str
    track: str
    state: str
    pi: str
    members: int
    runs: int
    named: datetime | None


@dataclass(frozen=True)
class NearLine:
    """Two runs of different teams that are nearly the same."""

    run: str
    team: str
    other_run: str
    other_team: str
    label: str
    other_label: str


@dataclass(frozen=True)
class SharedLine:
    """Teams whose people were at one address."""

    teams: tuple[str, ...]
    people: tuple[str, ...]


@dataclass(frozen=True)
class TeamsPage:
    """Teams, and hints."""

    template = "organiser/teams.html"
    title: str
    found: Paged[TeamLine]
    near: tuple[NearLine, ...]
    shared: tuple[SharedLine, ...]
    tracks: tuple[tuple[str, str], ...]


@ROUTER.get(TEAMS_ADDRESS)
def list_teams(request: Request, caller: Organiser, after: Annotated[str, Query(max_length=400)] = "") -> Response:
    """The page."""
    return show(request, caller, _teams_page(caller, after))


@ROUTER.post(TEAMS_ADDRESS)
def make(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Make a team for somebody who leads it."""
    given = {"name": form.text("name"), "pi": form.text("mail"), "track": form.text("track")}
    again, words = partial(_teams_page, caller), say_plain("The team is created. Its PI invites the other members.")
    return perform(request, caller, "team add", given, again=again, then="/teams", words=words)


def _teams_page(caller: Caller, after: str = "") -> TeamsPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = overview.list_teams(session, row.id, after=after, limit=templates.ROWS + 1)
        lines = [_line(session, caller, one) for one in found]
        return TeamsPage(
            say("Teams"),
            templates.page_of(lines, key=lambda one: one.name, path=at(caller, "/teams"), after=after),
            _near_lines(session, caller),
            _shared_lines(session, caller),
            tuple((one.id, one.title) for one in campaign.tracks),
        )


def _line(session: Session, caller: Caller, one: overview.TeamFacts) -> TeamLine:
    pi = name_of(session, caller, one.pi)
    return TeamLine(one.id, one.name, one.pseudonym, one.track, one.state, pi, one.members, one.runs, one.named)


def _near_lines(session: Session, caller: Caller) -> tuple[NearLine, ...]:
    campaign_id = caller.here[0].id
    known = overview.team_names(session, campaign_id)
    pairs = similar(session, caller.actor, campaign_id, MOST_ODD)
    return tuple(
        NearLine(
            one.submission,
            known.get(one.team, ""),
            one.other,
            known.get(one.other_team, ""),
            session.get_one(Submission, one.submission).label,
            session.get_one(Submission, one.other).label,
        )
        for one in pairs
    )


def _shared_lines(session: Session, caller: Caller) -> tuple[SharedLine, ...]:
    campaign_id = caller.here[0].id
    known = overview.team_names(session, campaign_id)
    found = shared_addresses(session, caller.actor, campaign_id)[:MOST_ODD]
    return tuple(
        SharedLine(
            tuple(known.get(team, "") for team in one.teams),
            tuple(name_of(session, caller, person) for person in one.people),
        )
        for one in found
    )


TEAM_ADDRESS = f"{BASE}/teams/{{team}}"


@dataclass(frozen=True)
class MemberLine:
    """One person of the team."""

    person: str
    name: str
    mail: str
    site: str
    pi: bool
    waiting: bool
    since: datetime


@dataclass(frozen=True)
class TeamPage:
    """One team with all that can be done to it."""

    template = "organiser/team.html"
    title: str
    team: overview.TeamFacts
    members: tuple[MemberLine, ...]
    others: tuple[tuple[str, str], ...]
    """Teams it could be merged into."""
    windows: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    counting: int
    """How many of its runs still count."""


@ROUTER.get(TEAM_ADDRESS)
def team(request: Request, caller: Organiser, team: str) -> Response:
    """The page."""
    return show(request, caller, _team_page(caller, team))


@ROUTER.post(f"{TEAM_ADDRESS}/place")
def place(request: Request, caller: Organiser, form: PostedForm, team: str) -> Response:
    """Put somebody into the team."""
    given, words = {"name": team, "who": form.text("mail")}, say_plain("The person is added to the team.")
    return _perform(request, caller, "team place", given, team, words)


@ROUTER.post(f"{TEAM_ADDRESS}/pi")
def make_pi(request: Request, caller: Organiser, form: PostedForm, team: str) -> Response:
    """Another member becomes the PI."""
    given, words = {"name": team, "who": form.text("person")}, say_plain("The team has a new PI.")
    return _perform(request, caller, "team hand-over", given, team, words)


@ROUTER.post(f"{TEAM_ADDRESS}/extra")
def extra(request: Request, caller: Organiser, form: PostedForm, team: str) -> Response:
    """Give the team attempts beyond the quota."""
    number = form.text("count")
    count = int(number) if number.isdecimal() and len(number) < 6 else 0
    given = {name: form.text(name) for name in ("window", "task", "language", "reason")}
    words = say_plain("The team has extra attempts.")
    return _perform(request, caller, "extra", given | {"team": team, "count": count}, team, words)


@ROUTER.get(f"{TEAM_ADDRESS}/remove/{{person}}")
def ask_remove(request: Request, caller: Organiser, team: str, person: str) -> Response:
    """Before somebody is taken out of the team."""
    return show(request, caller, _removal_page(caller, team, person))


@ROUTER.post(f"{TEAM_ADDRESS}/remove/{{person}}")
def remove(request: Request, caller: Organiser, form: PostedForm, team: str, person: str) -> Response:
    """Take somebody out of the team."""
    again, words = partial(_removal_page, caller, team, person), say_plain("The person is removed from the team.")
    given = {"name": team, "who": person}
    return perform(request, caller, "team leave", given, again=again, then=f"/teams/{team}", words=words)


@ROUTER.post(f"{TEAM_ADDRESS}/split")
def split(request: Request, caller: Organiser, form: PostedForm, team: str) -> Response:
    """Some members become a team of their own."""
    given = {"old": team, "name": form.text("name"), "pi": form.text("pi"), "others": form.all("people")}
    words = say_plain("The team is split. All members are notified.")
    return _perform(request, caller, "team split", given, team, words)


@ROUTER.get(f"{TEAM_ADDRESS}/merge/{{into}}")
def ask_merge(request: Request, caller: Organiser, team: str, into: str) -> Response:
    """Before a team is merged into another."""
    return show(request, caller, _merge_page(caller, team, into))


@ROUTER.get(f"{TEAM_ADDRESS}/merge")
def choose_merge(request: Request, caller: Organiser, team: str, into: str = "") -> Response:
    """The same, for the form that chooses the other team."""
    return show(request, caller, _merge_page(caller, team, into[:100]))


@ROUTER.post(f"{TEAM_ADDRESS}/merge/{{into}}")
def merge(request: Request, caller: Organiser, form: PostedForm, team: str, into: str) -> Response:
    """Merge the team into another."""
    again, words = (
        partial(_merge_page, caller, team, into),
        say_plain("The teams are merged. All their members are notified."),
    )
    given = {"name": team, "into": into}
    return perform(request, caller, "team merge", given, again=again, then=f"/teams/{into}", words=words)


@ROUTER.get(f"{TEAM_ADDRESS}/disqualify")
def ask_disqualify(request: Request, caller: Organiser, team: str) -> Response:
    """Before all runs of a team are voided."""
    return show(request, caller, _disqualification_page(caller, team))


@ROUTER.post(f"{TEAM_ADDRESS}/disqualify")
def disqualify(request: Request, caller: Organiser, form: PostedForm, team: str) -> Response:
    """Void every run of the team that still counts; where the campaign says so, a second organiser must agree."""
    reason, two = form.text("reason"), two_people.needs_two(caller.here[1], "void")

    def act(session: Session) -> object:
        _here(session, caller, team)
        who, made = (session, caller.office, caller.actor), None
        for run in overview.counting_runs(session, team):
            if two:
                made = approvals.ask_to_void(*who, caller.here[0].id, run, reason=reason)
            else:
                standings.disqualify(*who, run, reason=reason)
        return made

    again = lambda: _disqualification_page(caller, team, reason)  # noqa: E731
    return finish_form(
        request, caller, act, again, at(caller, f"/teams/{team}"), say_plain("All its runs are disqualified.")
    )


def _here(session: Session, caller: Caller, team: str) -> overview.TeamFacts:
    """The team, if it is of this campaign."""
    return overview.team_facts(session, caller.here[0].id, team)


def _perform(
    request: Request, caller: Caller, name: str, given: Mapping[str, object], team: str, words: str
) -> Response:
    again = partial(_team_page, caller, team)
    return perform(request, caller, name, given, again=again, then=f"/teams/{team}", words=words)


def _team_page(caller: Caller, team: str) -> TeamPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        facts = _here(session, caller, team)
        people = [] if facts.state != "active" else teams.members(session, team, states=("active", "asked"))
        names = overview.team_names(session, row.id)
        return TeamPage(
            facts.name,
            facts,
            tuple(_member(session, caller, one) for one in people),
            tuple((other, name) for other, name in names.items() if other != team),
            tuple((one.id, one.title) for one in campaign.windows),
            tuple(dict.fromkeys(task for one in campaign.windows for task in one.tasks)),
            campaign.languages,
            len(overview.counting_runs(session, team)),
        )


def _member(session: Session, caller: Caller, one: teams.Member) -> MemberLine:
    known = personal(session, caller.office, one.person)
    return MemberLine(one.person, known.name, known.mail, one.site, one.role == "pi", one.state == "asked", one.asked)


def _removal_page(caller: Caller, team: str, person: str) -> ConfirmPage:
    with caller.office.reading() as session:
        facts = _here(session, caller, team)
        if person not in {one.person for one in teams.members(session, team, states=("active", "asked"))}:
            raise missing("member")  # nobody of another campaign is named
        name = personal(session, caller.office, person).name
    return ConfirmPage(
        say("Remove a person from a team"),
        (say("{name} leaves {team}. What they submitted stays with the team.", name=name, team=facts.name),),
        at(caller, f"/teams/{team}/remove/{person}"),
        say("Remove member"),
        at(caller, f"/teams/{team}"),
        reason=False,
    )


def _merge_page(caller: Caller, team: str, into: str) -> ConfirmPage:
    with caller.office.reading() as session:
        old, new = _here(session, caller, team), _here(session, caller, into)
    if old.id == new.id:
        raise missing("other team")
    return ConfirmPage(
        say("Merge two teams"),
        (
            say("All {count} members of {old} move to {new}.", count=old.members, old=old.name, new=new.name),
            say("The submissions of {old} stay under its name. Its remaining attempts are lost.", old=old.name),
        ),
        at(caller, f"/teams/{team}/merge/{into}"),
        say("Merge"),
        at(caller, f"/teams/{team}"),
        reason=False,
    )


def _disqualification_page(caller: Caller, team: str, given: str = "") -> ConfirmPage:
    with caller.office.reading() as session:
        facts, runs = _here(session, caller, team), overview.counting_runs(session, team)
    words = plural(
        len(runs), "{count} run is excluded from all comparisons.", "{count} runs are excluded from all comparisons."
    )
    return ConfirmPage(
        say("Disqualify {team}", team=facts.name),
        (words, say("Nothing is deleted. Leaderboards count the runs as disqualified, and the team sees the reason.")),
        at(caller, f"/teams/{team}/disqualify"),
        say("Disqualify"),
        at(caller, f"/teams/{team}"),
        given=given,
        two=two_people.needs_two(caller.here[1], "void"),
    )
