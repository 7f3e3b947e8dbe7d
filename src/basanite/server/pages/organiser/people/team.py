"""One team as organisers see it: members, attempts beyond the quota, merging, splitting, and taking it out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.intake import quotas, standings
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.organising import approvals, seconding
from basanite.campaign.organising.looking import teams as looking
from basanite.campaign.people.persons import personal
from basanite.campaign.people.teams import changing, joining, reading
from basanite.server.catalogue import plural, said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.confirm import ConfirmPage
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, person_with
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/teams/{{team}}"


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

    title: str
    team: looking.TeamFacts
    members: tuple[MemberLine, ...]
    others: tuple[tuple[str, str], ...]
    """Teams it could be merged into."""
    windows: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    counting: int
    """How many of its runs still count."""


@ROUTER.get(ADDRESS)
def team(request: Request, caller: Organiser, team: str) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, team))


@ROUTER.post(f"{ADDRESS}/place")
def place(request: Request, caller: Organiser, form: Filled, team: str) -> Response:
    """Put somebody into the team."""

    def act(session: Session) -> None:
        _here(session, caller, team)
        joining.place_member(
            session, caller.office, caller.actor, team, person_with(session, caller, form.text("mail"))
        )

    return _done(request, caller, act, team, said("They are in the team now."))


@ROUTER.post(f"{ADDRESS}/pi")
def make_pi(request: Request, caller: Organiser, form: Filled, team: str) -> Response:
    """Another member becomes the PI."""

    def act(session: Session) -> None:
        _here(session, caller, team)
        changing.hand_over(session, caller.office, caller.actor, team, to=form.text("person"))

    return _done(request, caller, act, team, said("The team has a new PI."))


@ROUTER.post(f"{ADDRESS}/extra")
def extra(request: Request, caller: Organiser, form: Filled, team: str) -> Response:
    """Give the team attempts beyond the quota."""

    def act(session: Session) -> None:
        _here(session, caller, team)
        number = form.text("count")
        count = int(number) if number.isdecimal() and len(number) < 6 else 0
        names = {name: form.text(name) for name in ("task", "language", "reason")}
        quotas.give_extra(session, caller.office, caller.actor, team, form.text("window"), count, **names)

    return _done(request, caller, act, team, said("The team has more attempts now."))


@ROUTER.get(f"{ADDRESS}/remove/{{person}}")
def ask_remove(request: Request, caller: Organiser, team: str, person: str) -> Response:
    """Before somebody is taken out of the team."""
    return show(request, caller, _removing(caller, team, person))


@ROUTER.post(f"{ADDRESS}/remove/{{person}}")
def remove(request: Request, caller: Organiser, form: Filled, team: str, person: str) -> Response:
    """Take somebody out of the team."""

    def act(session: Session) -> None:
        _here(session, caller, team)
        changing.leave(session, caller.office, caller.actor, team, person_id=person)

    again = lambda: _removing(caller, team, person)  # noqa: E731
    return done(request, caller, act, again, at(caller, f"/teams/{team}"), said("They are no longer in the team."))


@ROUTER.post(f"{ADDRESS}/split")
def split(request: Request, caller: Organiser, form: Filled, team: str) -> Response:
    """Some members become a team of their own."""

    def act(session: Session) -> None:
        _here(session, caller, team)
        going, pi = form.all("people"), form.text("pi")
        if not pi:
            message = said("the new team has no PI")
            raise refused("P-34", message, said("choose who leads it"), status=422)
        changing.split(session, caller.office, caller.actor, team, name=form.text("name"), pi=pi, people=going)

    return _done(request, caller, act, team, said("There are two teams now. All their members are told."))


@ROUTER.get(f"{ADDRESS}/merge/{{into}}")
def ask_merge(request: Request, caller: Organiser, team: str, into: str) -> Response:
    """Before a team is merged into another."""
    return show(request, caller, _merging(caller, team, into))


@ROUTER.get(f"{ADDRESS}/merge")
def choose_merge(request: Request, caller: Organiser, team: str, into: str = "") -> Response:
    """The same, for the form that chooses the other team."""
    return show(request, caller, _merging(caller, team, into[:100]))


@ROUTER.post(f"{ADDRESS}/merge/{{into}}")
def merge(request: Request, caller: Organiser, form: Filled, team: str, into: str) -> Response:
    """Merge the team into another."""

    def act(session: Session) -> None:
        _here(session, caller, team)
        changing.merge(session, caller.office, caller.actor, team, into=into)

    words = said("The teams are merged. All their members are told.")
    return done(request, caller, act, lambda: _merging(caller, team, into), at(caller, f"/teams/{into}"), words)


@ROUTER.get(f"{ADDRESS}/disqualify")
def ask_disqualify(request: Request, caller: Organiser, team: str) -> Response:
    """Before all runs of a team are voided."""
    return show(request, caller, _disqualifying(caller, team))


@ROUTER.post(f"{ADDRESS}/disqualify")
def disqualify(request: Request, caller: Organiser, form: Filled, team: str) -> Response:
    """Void every run of the team that still counts; where the campaign says so, a second organiser must agree."""
    reason, two = form.text("reason"), approvals.needs_two(caller.here[1], "void")

    def act(session: Session) -> object:
        _here(session, caller, team)
        who, made = (session, caller.office, caller.actor), None
        for run in looking.counting_runs(session, team):
            if two:
                made = seconding.ask_to_void(*who, caller.here[0].id, run, reason=reason)
            else:
                standings.disqualify(*who, run, reason=reason)
        return made

    again = lambda: _disqualifying(caller, team, reason)  # noqa: E731
    return done(request, caller, act, again, at(caller, f"/teams/{team}"), said("All its runs are disqualified."))


def _here(session: Session, caller: Caller, team: str) -> looking.TeamFacts:
    """The team, if it is of this campaign."""
    return looking.team(session, caller.here[0].id, team)


def _done(request: Request, caller: Caller, act: object, team: str, words: str) -> Response:
    return done(request, caller, act, lambda: _asked(caller, team), at(caller, f"/teams/{team}"), words)  # type: ignore[arg-type]


def _asked(caller: Caller, team: str) -> TeamPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        facts = _here(session, caller, team)
        people = [] if facts.state != "active" else reading.members(session, team, states=("active", "asked"))
        names = looking.names(session, row.id)
        return TeamPage(
            facts.name,
            facts,
            tuple(_member(session, caller, one) for one in people),
            tuple((other, name) for other, name in names.items() if other != team),
            tuple((one.id, one.title) for one in campaign.windows),
            tuple(dict.fromkeys(task for one in campaign.windows for task in one.tasks)),
            campaign.languages,
            len(looking.counting_runs(session, team)),
        )


def _member(session: Session, caller: Caller, one: reading.Member) -> MemberLine:
    known = personal(session, caller.office, one.person)
    return MemberLine(one.person, known.name, known.mail, one.site, one.role == "pi", one.state == "asked", one.asked)


def _removing(caller: Caller, team: str, person: str) -> ConfirmPage:
    with caller.office.reading() as session:
        facts = _here(session, caller, team)
        if person not in {one.person for one in reading.members(session, team, states=("active", "asked"))}:
            raise missing("member")  # nobody of another campaign is named
        name = personal(session, caller.office, person).name
    return ConfirmPage(
        say("Take somebody out of a team"),
        (say("{name} leaves {team}. What they submitted stays with the team.", name=name, team=facts.name),),
        at(caller, f"/teams/{team}/remove/{person}"),
        say("Take out"),
        at(caller, f"/teams/{team}"),
        reason=False,
    )


def _merging(caller: Caller, team: str, into: str) -> ConfirmPage:
    with caller.office.reading() as session:
        old, new = _here(session, caller, team), _here(session, caller, into)
    if old.id == new.id:
        raise missing("other team")
    return ConfirmPage(
        say("Merge two teams"),
        (
            say("All {count} members of {old} move to {new}.", count=old.members, old=old.name, new=new.name),
            say("The submissions of {old} stay under its name; its attempts are gone with it.", old=old.name),
        ),
        at(caller, f"/teams/{team}/merge/{into}"),
        say("Merge"),
        at(caller, f"/teams/{team}"),
        reason=False,
    )


def _disqualifying(caller: Caller, team: str, given: str = "") -> ConfirmPage:
    with caller.office.reading() as session:
        facts, runs = _here(session, caller, team), looking.counting_runs(session, team)
    words = plural(len(runs), "{count} run leaves all comparisons.", "{count} runs leave all comparisons.")
    return ConfirmPage(
        say("Disqualify {team}", team=facts.name),
        (words, say("Nothing is deleted; boards count them as disqualified, and the team sees the reason.")),
        at(caller, f"/teams/{team}/disqualify"),
        say("Disqualify"),
        at(caller, f"/teams/{team}"),
        given=given,
        two=approvals.needs_two(caller.here[1], "void"),
    )
