"""My team: ask to lead one or to join one, make it, let people in, invite, hand over, leave, agree to be named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Track
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.persons import personal
from basanite.campaign.people.teams import changing, joining, making, reading
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/team"
User = Annotated[Caller, allow("user")]
Member = Annotated[Caller, allow("member")]
Pi = Annotated[Caller, allow("pi")]


@dataclass(frozen=True)
class MemberLine:
    """One person of the team, by name."""

    membership: str
    person: str
    name: str
    site: str
    pi: bool
    me: bool
    since: datetime


@dataclass(frozen=True)
class TeamPage:
    """The own team, or the ways into one."""

    title: str
    team: str = ""
    pseudonym: str = ""
    track: str = ""
    named: datetime | None = None
    pi: bool = False
    members: tuple[MemberLine, ...] = ()
    waiting: tuple[MemberLine, ...] = ()
    lead: str = ""
    """Where the reader stands with leading: nothing, `asked`, `refused`, `granted`."""
    asked: str = ""
    """The team that the reader has asked to join."""
    teams: tuple[tuple[str, str], ...] = ()
    tracks: tuple[Track, ...] = ()
    other_part: bool = False
    """Whether the reader is an organizer, a judge or the like, who needs no team."""


@ROUTER.get(ADDRESS)
def team(request: Request, caller: User) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(f"{ADDRESS}/lead")
def ask_to_lead(request: Request, caller: User, form: Filled) -> Response:
    """Ask the organisers for leave to make a team."""

    def act(session: Session) -> None:
        making.ask_to_lead(session, caller.office, caller.actor, caller.here[0].id, text=form.text("text"))

    return _done(request, caller, act, said("The organisers have your request. You get a mail when they decide."))


@ROUTER.post(f"{ADDRESS}/make")
def make(request: Request, caller: User, form: Filled) -> Response:
    """Make the team; its maker is its PI."""

    def act(session: Session) -> None:
        words = {"name": form.text("name"), "code": form.text("code"), "site": form.text("site")}
        making.create_team(session, caller.office, caller.actor, caller.here[0].id, **words, track=form.text("track"))

    return _done(request, caller, act, said("Your team is made. Welcome."))


@ROUTER.post(f"{ADDRESS}/join")
def ask_to_join(request: Request, caller: User, form: Filled) -> Response:
    """Ask a team's PI for a place."""

    def act(session: Session) -> None:
        known = dict(reading.teams_to_join(session, caller.here[0].id))
        wanted = form.text("team") if form.text("team") in known else ""
        joining.ask_to_join(session, caller.office, caller.actor, wanted, site=form.text("site"))

    return _done(request, caller, act, said("The PI has your request. You get a mail when it is decided."))


@ROUTER.post(f"{ADDRESS}/decide")
def decide(request: Request, caller: Pi, form: Filled) -> Response:
    """Let somebody in, or not."""
    accept = form.text("accept") == "yes"

    def act(session: Session) -> None:
        joining.decide_join(session, caller.office, caller.actor, form.text("membership"), accept=accept)

    words = said("There is a new member in your team.") if accept else said("The request is refused.")
    return _done(request, caller, act, words)


@ROUTER.post(f"{ADDRESS}/invite")
def invite(request: Request, caller: Pi, form: Filled) -> Response:
    """Invite a mail address."""

    def act(session: Session) -> None:
        joining.invite(session, caller.office, caller.actor, caller.team, mail=form.text("mail"))

    return _done(request, caller, act, said("The invitation is on its way."))


@ROUTER.post(f"{ADDRESS}/hand-over")
def hand_over(request: Request, caller: Pi, form: Filled) -> Response:
    """Another member becomes the PI."""

    def act(session: Session) -> None:
        changing.hand_over(session, caller.office, caller.actor, caller.team, to=form.text("person"))

    return _done(request, caller, act, said("Your team has a new PI."))


@ROUTER.post(f"{ADDRESS}/leave")
def leave(request: Request, caller: Member, form: Filled) -> Response:
    """Leave the team, or as PI remove somebody from it."""

    def act(session: Session) -> None:
        person = form.text("person") or None
        changing.leave(session, caller.office, caller.actor, caller.team, person_id=person)

    return _done(request, caller, act, said("Done. The team is told."))


@ROUTER.post(f"{ADDRESS}/naming")
def naming(request: Request, caller: Pi, form: Filled) -> Response:
    """Agree to be named in public, or not any more (P-25)."""

    def act(session: Session) -> None:
        agrees = form.text("agrees") == "yes"
        making.allow_naming(session, caller.office, caller.actor, caller.team, agrees=agrees)

    return _done(request, caller, act, said("Your choice is kept."))


def _done(request: Request, caller: Caller, act: Callable[[Session], Any], words: str) -> Response:
    """Do it, and go back to the page with a sentence; or show the page with what was wrong."""
    try:
        with caller.office.writing() as session:
            act(session)
    except RefusedError as error:
        return refuse(request, caller, _asked(caller), error)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug), words)


def _asked(caller: Caller) -> TeamPage:
    with caller.office.reading() as session:
        return _mine(session, caller) if caller.viewer.team else _outside(session, caller)


def _mine(session: Session, caller: Caller) -> TeamPage:
    team = reading.find_team(session, caller.team)
    lines = tuple(_line(session, caller, one) for one in reading.members(session, team.id))
    waiting = joining.waiting(session, team.id) if caller.viewer.pi else ()
    return TeamPage(
        say("Your team"),
        team.name,
        team.pseudonym,
        team.track,
        team.named_consent,
        caller.viewer.pi,
        lines,
        tuple(_line(session, caller, one) for one in waiting),
    )


def _outside(session: Session, caller: Caller) -> TeamPage:
    row, campaign = caller.here
    person = str(caller.viewer.person)
    return TeamPage(
        say("Take part"),
        lead=reading.lead_state(session, row.id, person),
        asked=reading.asked_team(session, row.id, person),
        teams=reading.teams_to_join(session, row.id),
        tracks=campaign.tracks,
        other_part=not caller.may_join(session),
    )


def _line(session: Session, caller: Caller, one: reading.Member) -> MemberLine:
    name = personal(session, caller.office, one.person).name
    mine = one.person == caller.viewer.person
    return MemberLine(one.membership, one.person, name, one.site, one.role == "pi", mine, one.asked)
