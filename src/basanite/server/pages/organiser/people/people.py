"""People: who asks to lead a team, who holds which role, and exceptions to the separation of duty (X-4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.organising import approvals, seconding
from basanite.campaign.organising.looking.people import Involved, involved
from basanite.campaign.people import exceptions, roles
from basanite.campaign.people.persons import personal
from basanite.campaign.people.teams import making
from basanite.campaign.store.tables import DutyException, LeadRequest
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser.confirm import ConfirmPage
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of, person_with
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/people"
ROLES = {
    "evaluation": sentence("evaluation team"),
    "judge": sentence("judge"),
    "annotator": sentence("annotator"),
    "adjudicator": sentence("adjudicator"),
}
OTHERS = {"team_maker": sentence("may make a team"), "administrator": sentence("administrator")}
GIVEN_BY_US = (*ROLES, "team_maker")
"""Roles that can be taken away here; administrators belong to the whole server."""
MOST_REQUESTS = 200


@dataclass(frozen=True)
class RequestLine:
    """Somebody who asks to lead a team."""

    id: str
    name: str
    mail: str
    text: str
    at: datetime


@dataclass(frozen=True)
class PersonLine:
    """Somebody who has to do with the campaign."""

    person: str
    name: str
    mail: str
    roles: tuple[tuple[str, str], ...]
    """Role and how it is called."""
    team_id: str
    team: str
    pi: bool


@dataclass(frozen=True)
class ExceptionLine:
    """Somebody who judges and takes part, with leave."""

    id: str
    name: str
    reason: str
    asked_by: str
    at: datetime
    holds: bool
    mine: bool
    """Whether the reader asked for it, and so cannot agree to it."""


@dataclass(frozen=True)
class PeoplePage:
    """Requests, people, exceptions."""

    title: str
    requests: tuple[RequestLine, ...]
    found: Paged[PersonLine]
    role: str
    choices: tuple[tuple[str, str], ...]
    exceptions: tuple[ExceptionLine, ...]
    two: bool
    """Whether giving a role takes two people."""
    mail: str = ""
    reason: str = ""


@ROUTER.get(ADDRESS)
def people(
    request: Request,
    caller: Organiser,
    role: Annotated[str, Query(max_length=40)] = "",
    after: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, role, after))


@ROUTER.post(f"{ADDRESS}/requests/{{asked}}")
def decide_lead(request: Request, caller: Organiser, form: Filled, asked: str) -> Response:
    """Let somebody lead a team, or not."""
    accept = form.text("accept") == "yes"

    def act(session: Session) -> None:
        _check_request(session, caller, asked)
        making.decide_lead(session, caller.office, caller.actor, asked, accept=accept, reason=form.text("reason"))

    words = said("They may make a team now, and get a mail.") if accept else said("Refused. They get a mail.")
    return done(request, caller, act, lambda: _asked(caller), at(caller, "/people"), words)


@ROUTER.post(f"{ADDRESS}/grant")
def grant(request: Request, caller: Organiser, form: Filled) -> Response:
    """Give somebody a role; where the campaign says so, a second organiser must agree."""
    mail, role, reason = form.text("mail"), form.text("role"), form.text("reason")

    def act(session: Session) -> object:
        row, campaign = caller.here
        person = person_with(session, caller, mail)
        who = (session, caller.office, caller.actor)
        if role == "team_maker":
            return making.grant_team_maker(*who, row.id, person)
        if role in ROLES and approvals.needs_two(campaign, "role"):
            return seconding.ask_to_grant(*who, row.id, person, role, reason=reason)
        return roles.grant(*who, person_id=person, role=role, campaign_id=row.id, reason=reason)

    again = lambda: _asked(caller, mail=mail, reason=reason)  # noqa: E731 - what was typed stays
    return done(request, caller, act, again, at(caller, "/people"), said("The role is given."))


@ROUTER.get(f"{ADDRESS}/{{person}}/revoke/{{role}}")
def ask_revoke(request: Request, caller: Organiser, person: str, role: str) -> Response:
    """Before a role is taken away."""
    return show(request, caller, _revoking(caller, person, role))


@ROUTER.post(f"{ADDRESS}/{{person}}/revoke/{{role}}")
def revoke(request: Request, caller: Organiser, form: Filled, person: str, role: str) -> Response:
    """Take a role away."""

    def act(session: Session) -> None:
        if role not in GIVEN_BY_US:
            raise missing("role")
        if person == caller.viewer.person and role == "evaluation":
            message = said("nobody takes the own role away")
            raise refused("X-4", message, said("let another organiser do it"), status=409)
        roles.revoke(session, caller.office, caller.actor, person_id=person, role=role, campaign_id=caller.here[0].id)

    again = lambda: _revoking(caller, person, role)  # noqa: E731
    return done(request, caller, act, again, at(caller, "/people"), said("The role is taken away."))


@ROUTER.post(f"{ADDRESS}/exceptions")
def ask_exception(request: Request, caller: Organiser, form: Filled) -> Response:
    """Ask that somebody may judge and take part."""

    def act(session: Session) -> None:
        person, campaign_id = person_with(session, caller, form.text("mail")), caller.here[0].id
        reason = form.text("reason")
        exceptions.ask_exception(session, caller.office, caller.actor, campaign_id, person, reason=reason)

    words = said("Another organiser is asked to agree.")
    return done(request, caller, act, lambda: _asked(caller), at(caller, "/people"), words)


@ROUTER.post(f"{ADDRESS}/exceptions/{{exception}}")
def decide_exception(request: Request, caller: Organiser, form: Filled, exception: str) -> Response:
    """Agree to an exception, or end it."""
    agree = form.text("agree") == "yes"

    def act(session: Session) -> None:
        known = [one.id for one in exceptions.exceptions(session, caller.here[0].id)]
        if exception not in known:
            raise missing("exception")
        deed = exceptions.second_exception if agree else exceptions.end_exception
        deed(session, caller.office, caller.actor, exception)

    words = said("The exception holds.") if agree else said("The exception is ended.")
    return done(request, caller, act, lambda: _asked(caller), at(caller, "/people"), words)


def _check_request(session: Session, caller: Caller, asked: str) -> None:
    """A request of another campaign is not here, whoever asks."""
    campaign_id = caller.here[0].id
    found = [one.id for state in ("asked", "granted", "refused") for one in _requests(session, campaign_id, state)]
    if asked not in found:
        raise missing("request")


def _requests(session: Session, campaign_id: str, state: str) -> tuple[LeadRequest, ...]:
    return making.lead_requests(session, campaign_id, state=state)


def _asked(caller: Caller, role: str = "", after: str = "", *, mail: str = "", reason: str = "") -> PeoplePage:
    row, campaign = caller.here
    chosen = role if role in (*ROLES, *OTHERS) else ""
    with caller.office.reading() as session:
        found = involved(session, row.id, role=chosen, after=after, limit=paging.ROWS + 1)
        lines = [_line(session, caller, one) for one in found]
        waiting = making.lead_requests(session, row.id)[:MOST_REQUESTS]
        return PeoplePage(
            say("People"),
            tuple(_request(session, caller, one) for one in waiting),
            paging.paged(lines, key=lambda one: one.person, path=at(caller, "/people"), after=after, role=chosen),
            chosen,
            tuple((name, str(say(word))) for name, word in ROLES.items()),
            tuple(_exception(session, caller, one) for one in exceptions.exceptions(session, row.id) if not one.ended),
            approvals.needs_two(campaign, "role"),
            mail,
            reason,
        )


def _request(session: Session, caller: Caller, one: LeadRequest) -> RequestLine:
    known = personal(session, caller.office, one.person_id)
    return RequestLine(one.id, known.name, known.mail, one.text, one.asked)


def _line(session: Session, caller: Caller, one: Involved) -> PersonLine:
    known = personal(session, caller.office, one.person)
    held = tuple((name, str(say((ROLES | OTHERS).get(name, name)))) for name in one.roles)
    return PersonLine(one.person, known.name, known.mail, held, one.team_id or "", one.team, one.pi)


def _exception(session: Session, caller: Caller, one: DutyException) -> ExceptionLine:
    return ExceptionLine(
        one.id,
        name_of(session, caller, one.person_id),
        one.reason,
        name_of(session, caller, one.asked_by),
        one.asked,
        one.seconded is not None,
        one.asked_by == caller.viewer.person,
    )


def _revoking(caller: Caller, person: str, role: str) -> ConfirmPage:
    if role not in GIVEN_BY_US:
        raise missing("role")
    with caller.office.reading() as session:
        if role not in roles.viewer(session, caller.here[0].id, person).roles:  # nobody of another campaign is named
            raise missing("role")
        name = name_of(session, caller, person)
    word = str(say((ROLES | OTHERS)[role]))
    return ConfirmPage(
        say("Take a role away"),
        (say("From this moment on, {name} can do nothing more as: {role}.", name=name, role=word),),
        at(caller, f"/people/{person}/revoke/{role}"),
        say("Take it away"),
        at(caller, "/people"),
        reason=False,
    )
