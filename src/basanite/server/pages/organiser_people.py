"""People: who asks to lead a team, roles, exceptions to the separation of duty, and two-person approvals (X-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.actions import two_people
from basanite.campaign.actions.overview import Involved, people_involved
from basanite.campaign.model.refusals import missing
from basanite.campaign.people import roles, teams
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Approval, Batch, DutyException, LeadRequest, Reference, Submission
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.organiser_data import words_of
from basanite.server.pages.organiser_frame import BASE, ConfirmPage, Organiser, at, finish_form, name_of, perform
from basanite.server.pages.organiser_results import LEVELS
from basanite.server.pages.templates import Paged
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
PEOPLE_ADDRESS = f"{BASE}/people"
ROLES = {
    "evaluation": sentence("evaluation team"),
    "judge": sentence("judge"),
    "annotator": sentence("annotator"),
    "adjudicator": sentence("adjudicator"),
}
OTHERS = {"team_maker": sentence("can create a team"), "administrator": sentence("administrator")}
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

    template = "organiser/people.html"
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


@ROUTER.get(PEOPLE_ADDRESS)
def people(
    request: Request,
    caller: Organiser,
    role: Annotated[str, Query(max_length=40)] = "",
    after: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The page."""
    return show(request, caller, _people_page(caller, role, after))


@ROUTER.post(f"{PEOPLE_ADDRESS}/requests/{{asked}}")
def decide_lead(request: Request, caller: Organiser, form: PostedForm, asked: str) -> Response:
    """Let somebody lead a team, or not."""
    accept = form.text("accept") == "yes"

    def act(session: Session) -> None:
        _check_request(session, caller, asked)
        teams.decide_lead(session, caller.office, caller.actor, asked, accept=accept, reason=form.text("reason"))

    words = (
        say_plain("They can create a team now, and get an email.")
        if accept
        else say_plain("Declined. They get an email.")
    )
    return finish_form(request, caller, act, lambda: _people_page(caller), at(caller, "/people"), words)


@ROUTER.post(f"{PEOPLE_ADDRESS}/grant")
def grant(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Give somebody a role; where the campaign says so, a second organiser must agree."""
    given = {"who": form.text("mail"), "role": form.text("role"), "reason": form.text("reason")}
    again = partial(_people_page, caller, mail=given["who"], reason=given["reason"])
    words = say_plain("The role is granted.")
    return perform(request, caller, "people grant", given, again=again, then="/people", words=words)


@ROUTER.get(f"{PEOPLE_ADDRESS}/{{person}}/revoke/{{role}}")
def ask_revoke(request: Request, caller: Organiser, person: str, role: str) -> Response:
    """Before a role is taken away."""
    return show(request, caller, _revocation_page(caller, person, role))


@ROUTER.post(f"{PEOPLE_ADDRESS}/{{person}}/revoke/{{role}}")
def revoke(request: Request, caller: Organiser, form: PostedForm, person: str, role: str) -> Response:
    """Take a role away."""
    if role not in GIVEN_BY_US:
        raise missing("role")
    again, words = partial(_revocation_page, caller, person, role), say_plain("The role is revoked.")
    given = {"who": person, "role": role}
    return perform(request, caller, "people revoke", given, again=again, then="/people", words=words)


@ROUTER.post(f"{PEOPLE_ADDRESS}/exceptions")
def ask_exception(request: Request, caller: Organiser, form: PostedForm) -> Response:
    """Ask that somebody may judge and take part."""
    given, again = {"who": form.text("mail"), "reason": form.text("reason")}, partial(_people_page, caller)
    words = say_plain("Another organizer is asked to approve.")
    return perform(request, caller, "exception ask", given, again=again, then="/people", words=words)


@ROUTER.post(f"{PEOPLE_ADDRESS}/exceptions/{{exception}}")
def decide_exception(request: Request, caller: Organiser, form: PostedForm, exception: str) -> Response:
    """Agree to an exception, or end it."""
    agree = form.text("agree") == "yes"
    words = say_plain("The exception is active.") if agree else say_plain("The exception is ended.")
    name, given, again = f"exception {'agree' if agree else 'end'}", {"which": exception}, partial(_people_page, caller)
    return perform(request, caller, name, given, again=again, then="/people", words=words)


def _check_request(session: Session, caller: Caller, asked: str) -> None:
    """A request of another campaign is not here, no matter who asks."""
    campaign_id = caller.here[0].id
    found = [
        one.id
        for state in ("asked", "granted", "refused")
        for one in teams.lead_requests(session, campaign_id, state=state)
    ]
    if asked not in found:
        raise missing("request")


def _people_page(caller: Caller, role: str = "", after: str = "", *, mail: str = "", reason: str = "") -> PeoplePage:
    row, campaign = caller.here
    chosen = role if role in (*ROLES, *OTHERS) else ""
    with caller.office.reading() as session:
        found = people_involved(session, row.id, role=chosen, after=after, limit=templates.ROWS + 1)
        lines = [_people_line(session, caller, one) for one in found]
        waiting = teams.lead_requests(session, row.id)[:MOST_REQUESTS]
        return PeoplePage(
            say("People"),
            tuple(_request(session, caller, one) for one in waiting),
            templates.page_of(lines, key=lambda one: one.person, path=at(caller, "/people"), after=after, role=chosen),
            chosen,
            tuple((name, str(say(word))) for name, word in ROLES.items()),
            tuple(_exception(session, caller, one) for one in roles.exceptions(session, row.id) if not one.ended),
            two_people.needs_two(campaign, "role"),
            mail,
            reason,
        )


def _request(session: Session, caller: Caller, one: LeadRequest) -> RequestLine:
    known = personal(session, caller.office, one.person_id)
    return RequestLine(one.id, known.name, known.mail, one.text, one.asked)


def _people_line(session: Session, caller: Caller, one: Involved) -> PersonLine:
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


def _revocation_page(caller: Caller, person: str, role: str) -> ConfirmPage:
    if role not in GIVEN_BY_US:
        raise missing("role")
    with caller.office.reading() as session:
        if role not in roles.viewer(session, caller.here[0].id, person).roles:  # nobody of another campaign is named
            raise missing("role")
        name = name_of(session, caller, person)
    word = str(say((ROLES | OTHERS)[role]))
    return ConfirmPage(
        say("Revoke a role"),
        (say("{name} loses all permissions of this role: {role}.", name=name, role=word),),
        at(caller, f"/people/{person}/revoke/{role}"),
        say("Revoke role"),
        at(caller, "/people"),
        reason=False,
    )


APPROVALS_ADDRESS = f"{BASE}/approvals"
SHOWN = 200
APPROVALS_WORDS = {
    "release": sentence("Release of results"),
    "reference": sentence("Replacing a reference"),
    "void": sentence("Voiding a run"),
    "role": sentence("Granting a role"),
}


@dataclass(frozen=True)
class ActLine:
    """One act of two people."""

    id: str
    what: str
    about: str
    reason: str
    asked_by: str
    asked: datetime
    state: str
    decided_by: str
    mine: bool
    """Whether the reader asked for it, and so cannot be the second."""


@dataclass(frozen=True)
class ApprovalsPage:
    """What waits, and what was decided, the newest first."""

    template = "organiser/approvals.html"
    title: str
    waiting: tuple[ActLine, ...]
    decided: tuple[ActLine, ...]
    acts: tuple[str, ...]
    """What takes two people in this campaign."""


@ROUTER.get(APPROVALS_ADDRESS)
def approvals(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _approvals_page(caller))


@ROUTER.post(f"{APPROVALS_ADDRESS}/{{approval}}")
def decide(request: Request, caller: Organiser, form: PostedForm, approval: str) -> Response:
    """Be the second person, or say no."""
    agree = form.text("agree") == "yes"
    words = say_plain("Approved and carried out in both names.") if agree else say_plain("Declined. Nothing was done.")
    name, given, again = (
        f"approvals {'agree' if agree else 'refuse'}",
        {"approval": approval},
        partial(_approvals_page, caller),
    )
    return perform(request, caller, name, given, again=again, then="/approvals", words=words)


def _approvals_page(caller: Caller) -> ApprovalsPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = [
            _approvals_line(session, caller, one) for one in two_people.all_requests(session, row.id)[::-1][:SHOWN]
        ]
    waiting = tuple(one for one in found if one.state == "waiting")
    decided = tuple(one for one in found if one.state != "waiting")
    named = tuple(str(say(APPROVALS_WORDS[act])) for act in sorted(campaign.two_people) if act in APPROVALS_WORDS)
    return ApprovalsPage(say("Two-person approvals"), waiting, decided, named)


def _approvals_line(session: Session, caller: Caller, one: Approval) -> ActLine:
    return ActLine(
        one.id,
        str(say(APPROVALS_WORDS.get(one.act, one.act))),
        _about(session, caller, one.data),
        one.reason,
        name_of(session, caller, one.asked_by),
        one.asked,
        one.state,
        name_of(session, caller, one.decided_by),
        one.asked_by == caller.viewer.person,
    )


def _about(session: Session, caller: Caller, data: Mapping[str, Any]) -> str:
    """What an act is about, in words."""
    if "person" in data:
        role = str(data.get("role", ""))
        return f"{name_of(session, caller, data['person'])}: {say(ROLES[role]) if role in ROLES else role}"
    if "submission" in data:
        run = session.get(Submission, data["submission"])
        return "" if run is None else f"{_window(caller, run.window)}, {run.number}: {run.label}"
    if "batch" in data or "reference" in data:
        batch = session.get(Batch, data["batch"]) if "batch" in data else None
        truth = session.get(Reference, (batch.reference_id if batch else data.get("reference")) or "")
        return (
            ""
            if truth is None
            else say_plain("{place}, version {version}", place=words_of(truth), version=truth.version)
        )
    level = str(data.get("level", ""))
    named = _window(caller, str(data.get("window", ""))), str(say(LEVELS[level])) if level in LEVELS else level
    return ": ".join(filter(None, named))


def _window(caller: Caller, name: str) -> str:
    return next((one.title for one in caller.here[1].windows if one.id == name), name)
