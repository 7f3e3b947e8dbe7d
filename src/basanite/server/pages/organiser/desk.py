"""What the pages of organisers share: their address, who may open them, and how a form ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.people.persons import by_mail, personal
from basanite.campaign.store.tables import Approval
from basanite.errors import InvalidInputError
from basanite.server.catalogue import said
from basanite.server.pages.foundation.frame import Page, go, refuse
from basanite.server.roles import Caller, allow

BASE = "/campaigns/{slug}/organise"
Organiser = Annotated[Caller, allow("evaluation")]
MOST_PROBLEMS = 50
MACHINE = {"command": said("the command line"), "system": said("the server")}


def at(caller: Caller, part: str = "") -> str:
    """The address of an organisers' page of this campaign."""
    return BASE.format(slug=caller.here[0].slug) + part


def done(
    request: Request,
    caller: Caller,
    act: Callable[[Session], object],
    again: Callable[[], Page],
    then: str,
    words: str,
) -> Response:
    """Do it and go on with a sentence; or show the page again with what was wrong. What waits for a second says so."""
    try:
        with caller.office.writing() as session:
            waits = isinstance(act(session), Approval)
    except InvalidInputError as error:
        return refuse(request, caller, again(), refusal(error))
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, again(), error)
    return go(caller, then, said("This waits now for a second organiser.") if waits else words)


def refusal(error: InvalidInputError) -> RefusedError:
    """What is wrong with a campaign's file, line by line, as a form shows it."""
    found = [
        problem(
            one.rule, f"{said('line {number}', number=one.line)}: {one.message}" if one.line else one.message, one.fix
        )
        for one in error.findings.problems[:MOST_PROBLEMS]
    ]
    return RefusedError(found, status=422)


def name_of(session: Session, caller: Caller, person: str | None) -> str:
    """What a person is called, for organisers; the machine itself has a name, too."""
    if person is None:
        return ""
    return MACHINE.get(person) or personal(session, caller.office, person).name


def person_with(session: Session, caller: Caller, mail: str) -> str:
    """The person with this mail address; refused if there is none, so that a slip gives nobody a role."""
    person = by_mail(session, caller.office, mail) if "@" in mail else None
    if person is None:
        message = said("nobody has an account with this mail address")
        raise refused("P-34", message, said("look at the address, or let the person sign up first"), status=422)
    return person.id
