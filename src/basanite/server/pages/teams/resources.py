"""The register of resources: what a team declared, what it has to share by when, and what others have shared (M93)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.people.teams.reading import find_team
from basanite.campaign.people.terms import resources as register
from basanite.campaign.people.terms.resources import Declared
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/resources"
Reader = Annotated[Caller, allow("member", "evaluation")]
Member = Annotated[Caller, allow("member")]
KINDS = {
    "harvested": sentence("Data harvested from the web"),
    "purchased": sentence("Purchased data"),
    "open_queries": sentence("Use of open queries"),
    "adaptation": sentence("Online adaptation to evaluation data"),
}


@dataclass(frozen=True)
class Line:
    """One entry of the register."""

    one: Declared
    kind: str
    window: str
    """The title of the window in which it is first used."""
    team: str
    """The name of the team, for the evaluation team alone."""


@dataclass(frozen=True)
class ResourcesPage:
    """The register as the reader may see it."""

    title: str
    mine: tuple[Line, ...]
    shared: tuple[Line, ...]
    """What other teams have shared."""
    member: bool
    kinds: tuple[tuple[str, str], ...]
    languages: tuple[str, ...]
    windows: tuple[tuple[str, str], ...]
    description: str = ""
    """What was typed into a form that could not be taken."""


@ROUTER.get(ADDRESS)
def resources(request: Request, caller: Reader) -> Response:
    """The page."""
    return show(request, caller, _register(caller))


@ROUTER.post(ADDRESS)
def declare(request: Request, caller: Member, form: Filled) -> Response:
    """Declare a resource."""

    def act(session: Session) -> None:
        words = {name: form.text(name) for name in ("kind", "description", "language", "used_in")}
        register.declare(session, caller.office, caller.actor, caller.team, **words)

    return _act(request, caller, act, said("The resource is declared."), form.text("description"))


@ROUTER.post(f"{ADDRESS}/{{resource}}/share")
def share(request: Request, caller: Member, form: Filled, resource: str) -> Response:
    """Say where the other teams find a resource."""

    def act(session: Session) -> None:
        register.require_entry(session, caller.here[0].id, resource)
        register.mark_shared(session, caller.office, caller.actor, resource, where=form.text("where"))

    return _act(request, caller, act, said("Thank you. All teams now see where to find it."))


@ROUTER.post(f"{ADDRESS}/{{resource}}/withdraw")
def withdraw(request: Request, caller: Member, form: Filled, resource: str) -> Response:
    """Take back a declaration that was made by mistake."""

    def act(session: Session) -> None:
        register.require_entry(session, caller.here[0].id, resource)
        register.withdraw(session, caller.office, caller.actor, resource)

    return _act(request, caller, act, said("The declaration is withdrawn."))


def _act(
    request: Request, caller: Caller, act: Callable[[Session], Any], words: str, description: str = ""
) -> Response:
    try:
        with caller.office.writing() as session:
            act(session)
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _register(caller, description), error)
    return go(caller, ADDRESS.format(slug=caller.here[0].slug), words)


def _register(caller: Caller, description: str = "") -> ResourcesPage:
    row, campaign = caller.here
    team = caller.viewer.team
    with caller.office.reading() as session:
        listed = register.resources(session, row.id, caller.now, team_id=team)
        others = register.shared_with_all(session, row.id, caller.now) if team else ()
        return ResourcesPage(
            say("Resources"),
            tuple(_line(session, caller, one, named=team is None) for one in listed),
            tuple(_line(session, caller, one) for one in others if one.team != team),
            team is not None,
            tuple((kind, str(say(text))) for kind, text in KINDS.items()),
            campaign.languages,
            tuple((one.id, one.title) for one in campaign.windows),
            description,
        )


def _line(session: Session, caller: Caller, one: Declared, *, named: bool = False) -> Line:
    windows = {window.id: window.title for window in caller.here[1].windows}
    team = find_team(session, one.team).name if named else ""
    return Line(one, str(say(KINDS[one.kind])), windows.get(one.used_in, one.used_in), team)
