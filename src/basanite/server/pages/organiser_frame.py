"""What the pages of organizers share: addresses, how a form ends, what is asked before, and the head of a panel."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.actions.registry import At, every_action
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.people.persons import by_mail, personal
from basanite.campaign.store.tables import Approval, Panel
from basanite.campaign.work.panels import adjudication, monitor
from basanite.campaign.work.panels.lookup import panel_named, scheme_of
from basanite.errors import InvalidInputError
from basanite.server.catalogue import say_plain
from basanite.server.pages.frame import Page, go, refuse
from basanite.server.roles import Caller, allow
from basanite.work.scheme import Scheme


@dataclass(frozen=True)
class ConfirmPage:
    """One act, said in full; its form leads to the same address."""

    template = "organiser/confirm.html"
    title: str
    words: tuple[str, ...]
    """What it does."""
    action: str
    button: str
    back: str
    facts: tuple[tuple[str, str], ...] = ()
    reason: bool = True
    """Whether a reason is asked for."""
    given: str = ""
    """A reason that was typed before."""
    two: bool = False
    """Whether a second organiser must agree."""
    safe: bool = False
    """Whether nothing is lost by it."""


def encode_text(text: str) -> str:
    """Text for a hidden field, in letters that no browser changes.

    >>> decode_text(encode_text("two\\nlines"))
    'two\\nlines'
    """
    return base64.b64encode(text.encode()).decode()


def decode_text(field: str) -> str:
    """What a hidden field carried; refused if it was made by something else."""
    try:
        return base64.b64decode(field, validate=True).decode()
    except (binascii.Error, ValueError):
        raise refused(
            "P-11", say_plain("this form cannot be read"), say_plain("use the form on its page"), status=422
        ) from None


BASE = "/campaigns/{slug}/organise"
Organiser = Annotated[Caller, allow("evaluation")]
MOST_PROBLEMS = 50
MACHINE = {"command": say_plain("the command line"), "system": say_plain("the server")}


def at(caller: Caller, part: str = "") -> str:
    """The address of an organisers' page of this campaign."""
    return BASE.format(slug=caller.here[0].slug) + part


def finish_form(
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
    return go(caller, then, say_plain("Your request waits for a second organizer.") if waits else words)


def perform(
    request: Request,
    caller: Caller,
    name: str,
    given: Mapping[str, object],
    *,
    again: Callable[[], Page],
    then: str,
    words: str,
) -> Response:
    """Do an action of this campaign with what a form says, and go on with a sentence."""
    # Seven arguments: what is done, and the three ways on from it, which every page names.
    action = every_action()[name]

    def act(session: Session) -> object:
        outcome = action.run(
            At(caller.office, session, caller.actor, caller.here[0].slug, bound=True), action.parse(given)
        )
        return session.get_one(Approval, outcome.waits) if outcome.waits else outcome

    return finish_form(request, caller, act, again, at(caller, then), words)


def refusal(error: InvalidInputError) -> RefusedError:
    """What is wrong with a campaign's file, line by line, as a form shows it."""
    found = [
        problem(
            one.rule,
            f"{say_plain('line {number}', number=one.line)}: {one.message}" if one.line else one.message,
            one.fix,
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
        message = say_plain("there is no account with this email address")
        raise refused("P-34", message, say_plain("check the address, or ask the person to sign up first"), status=422)
    return person.id


PANELS = f"{BASE}/judging"
PANEL = f"{PANELS}/{{panel}}"


@dataclass(frozen=True)
class PanelHead:
    """A panel as the head of its pages shows it."""

    id: str
    name: str
    title: str
    state: str
    """`draft`, `open`, `closed`, `cancelled`."""
    cases: int = 0
    """Disagreements that nobody decided yet."""
    flags: int = 0


def panel_address(caller: Caller, name: str, part: str = "") -> str:
    """The address of a page of a panel."""
    return at(caller, f"/judging/{name}{part}")


def panel_with_scheme(session: Session, caller: Caller, name: str) -> tuple[Panel, Scheme]:
    """The panel of this campaign with its scheme, or not found."""
    panel = panel_named(session, caller.here[0].id, name)
    return panel, scheme_of(panel)


def panel_head(session: Session, panel: Panel, scheme: Scheme) -> PanelHead:
    """What the tabs of a panel show."""
    waits = adjudication.open_cases(session, panel.id)
    flags = len(monitor.flags(session, panel.id))
    return PanelHead(panel.id, panel.name, scheme.title, panel.state, waits, flags)


def act_on_panel(
    request: Request,
    caller: Caller,
    name: str,
    act: Callable[[Session, Panel], object],
    again: Callable[[], Page],
    words: str,
    *,
    then: str = "",
) -> Response:
    """Act on the panel of this name and go on, or show the page again with what was wrong."""
    # Seven arguments: what is done, and the three ways on from it, as in `perform`.

    def inside(session: Session) -> object:
        return act(session, panel_named(session, caller.here[0].id, name))

    return finish_form(request, caller, inside, again, panel_address(caller, name, then), words)


def facts_of_item(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The facts of an item in pairs, in the order of their names.

    >>> facts_of_item({"system": "A", "genre": "weblog", "topic": ""})
    (('genre', 'weblog'), ('system', 'A'))
    """
    return tuple((name, str(value)) for name, value in sorted(facts.items()) if value not in ("", None))


def facts_in_words(facts: Mapping[str, Any]) -> str:
    """The facts of an item in one line.

    >>> facts_in_words({"system": "A", "genre": "weblog"})
    'genre weblog · system A'
    """
    return " · ".join(f"{name} {value}" for name, value in facts_of_item(facts))
