"""My team: ask to lead or join one, make it, let people in, invite, hand over, leave, agree to be named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Track
from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.people import membership, teams
from basanite.campaign.people.links import look_at_link
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import CampaignRow, Team
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
TEAM_ADDRESS = "/campaigns/{slug}/team"
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

    template = "teams/team.html"
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


@ROUTER.get(TEAM_ADDRESS)
def show_team(request: Request, caller: User) -> Response:
    """The page."""
    return show(request, caller, _team_page(caller))


@ROUTER.post(f"{TEAM_ADDRESS}/lead")
def ask_to_lead(request: Request, caller: User, form: PostedForm) -> Response:
    """Ask the organisers for leave to make a team."""

    def act(session: Session) -> None:
        teams.ask_to_lead(session, caller.office, caller.actor, caller.here[0].id, text=form.text("text"))

    return _change_team(
        request, caller, act, say_plain("The organizers have your request. You get an email when they decide.")
    )


@ROUTER.post(f"{TEAM_ADDRESS}/make")
def make_team(request: Request, caller: User, form: PostedForm) -> Response:
    """Make the team; its maker is its PI."""

    def act(session: Session) -> None:
        words = {"name": form.text("name"), "code": form.text("code"), "site": form.text("site")}
        teams.create_team(
            session, caller.office, caller.actor, caller.here[0].id, teams.NewTeam(**words, track=form.text("track"))
        )

    return _change_team(request, caller, act, say_plain("Your team is created. Welcome."))


@ROUTER.post(f"{TEAM_ADDRESS}/join")
def ask_to_join(request: Request, caller: User, form: PostedForm) -> Response:
    """Ask a team's PI for a place."""

    def act(session: Session) -> None:
        known = dict(teams.teams_to_join(session, caller.here[0].id))
        wanted = form.text("team") if form.text("team") in known else ""
        membership.ask_to_join(session, caller.office, caller.actor, wanted, site=form.text("site"))

    return _change_team(
        request, caller, act, say_plain("The PI has your request. You get an email when it is decided.")
    )


@ROUTER.post(f"{TEAM_ADDRESS}/decide")
def decide_request(request: Request, caller: Pi, form: PostedForm) -> Response:
    """Let somebody in, or not."""
    accept = form.text("accept") == "yes"

    def act(session: Session) -> None:
        membership.decide_join(session, caller.office, caller.actor, form.text("membership"), accept=accept)

    words = say_plain("The new member has joined your team.") if accept else say_plain("The request is declined.")
    return _change_team(request, caller, act, words)


@ROUTER.post(f"{TEAM_ADDRESS}/invite")
def invite(request: Request, caller: Pi, form: PostedForm) -> Response:
    """Invite a mail address."""

    def act(session: Session) -> None:
        membership.invite(session, caller.office, caller.actor, caller.team, mail=form.text("mail"))

    return _change_team(request, caller, act, say_plain("The invitation is sent."))


@ROUTER.post(f"{TEAM_ADDRESS}/hand-over")
def hand_over(request: Request, caller: Pi, form: PostedForm) -> Response:
    """Another member becomes the PI."""

    def act(session: Session) -> None:
        membership.hand_over(session, caller.office, caller.actor, caller.team, to=form.text("person"))

    return _change_team(request, caller, act, say_plain("Your team has a new PI."))


@ROUTER.post(f"{TEAM_ADDRESS}/leave")
def leave_team(request: Request, caller: Member, form: PostedForm) -> Response:
    """Leave the team, or as PI remove somebody from it."""

    def act(session: Session) -> None:
        person = form.text("person") or None
        membership.leave(session, caller.office, caller.actor, caller.team, person_id=person)

    return _change_team(request, caller, act, say_plain("Done. The team is notified."))


@ROUTER.post(f"{TEAM_ADDRESS}/naming")
def change_naming(request: Request, caller: Pi, form: PostedForm) -> Response:
    """Agree to be named in public, or not any more (P-25)."""

    def act(session: Session) -> None:
        agrees = form.text("agrees") == "yes"
        teams.allow_naming(session, caller.office, caller.actor, caller.team, agrees=agrees)

    return _change_team(request, caller, act, say_plain("Your choice is saved."))


def _change_team(request: Request, caller: Caller, act: Callable[[Session], Any], words: str) -> Response:
    """Do it, and go back to the page with a sentence; or show the page with what was wrong."""
    try:
        with caller.office.writing() as session:
            act(session)
    except RefusedError as error:
        return refuse(request, caller, _team_page(caller), error)
    return go(caller, TEAM_ADDRESS.format(slug=caller.here[0].slug), words)


def _team_page(caller: Caller) -> TeamPage:
    with caller.office.reading() as session:
        return _own_team(session, caller) if caller.viewer.team else _ways_in(session, caller)


def _own_team(session: Session, caller: Caller) -> TeamPage:
    team = teams.find_team(session, caller.team)
    lines = tuple(_member_line(session, caller, one) for one in teams.members(session, team.id))
    waiting = teams.members(session, team.id, states=("asked",)) if caller.viewer.pi else ()
    return TeamPage(
        say("Your team"),
        team.name,
        team.pseudonym,
        team.track,
        team.named_consent,
        caller.viewer.pi,
        lines,
        tuple(_member_line(session, caller, one) for one in waiting),
    )


def _ways_in(session: Session, caller: Caller) -> TeamPage:
    row, campaign = caller.here
    person = str(caller.viewer.person)
    return TeamPage(
        say("Take part"),
        lead=teams.lead_state(session, row.id, person),
        asked=teams.asked_team(session, row.id, person),
        teams=teams.teams_to_join(session, row.id),
        tracks=campaign.tracks,
        other_part=not caller.may_join(session),
    )


def _member_line(session: Session, caller: Caller, one: teams.Member) -> MemberLine:
    name = personal(session, caller.office, one.person).name
    mine = one.person == caller.viewer.person
    return MemberLine(one.membership, one.person, name, one.site, one.role == "pi", mine, one.asked)


INVITATION_ADDRESS = "/invitations/{secret}"


@dataclass(frozen=True)
class InvitationPage:
    """What the link is about."""

    template = "teams/invitation.html"
    title: str
    secret: str = field(repr=False)
    team: str


@ROUTER.get(INVITATION_ADDRESS)
def show_invitation(request: Request, caller: Annotated[Caller, allow("user")], secret: str) -> Response:
    """The question, for the account that the link was made for alone."""
    return show(request, caller, _invitation_page(caller, secret))


@ROUTER.post(INVITATION_ADDRESS)
def accept_invitation(
    request: Request, caller: Annotated[Caller, allow("user")], form: PostedForm, secret: str
) -> Response:
    """Accept the invitation."""
    try:
        with caller.office.writing() as session:
            row = membership.accept_invitation(session, caller.office, caller.actor, secret)
            campaign = session.get_one(Team, row.team_id).campaign_id
            slug = session.get_one(CampaignRow, campaign).slug
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _invitation_page(caller, secret), error)
    return go(caller, f"/campaigns/{slug}/team", say_plain("Done. The team is notified."))


def _invitation_page(caller: Caller, secret: str) -> InvitationPage:
    with caller.office.reading() as session:
        link = look_at_link(session, caller.office, secret, "invitation")
        if link.person_id != caller.viewer.person:
            raise missing("link")
        return InvitationPage(say("You are invited"), secret, teams.find_team(session, link.data["team"]).name)
