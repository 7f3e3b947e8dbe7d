"""The judges of a panel: enrolled by mail address, removed with a reason, planned again; and their consent (P-22)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.organising import approvals
from basanite.campaign.panels.attending import joining
from basanite.campaign.panels.found import locked_panel
from basanite.campaign.panels.preparing import planned
from basanite.campaign.panels.watching.seats import SeatFacts, seats
from basanite.campaign.people.persons import by_mail
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Panel, Team
from basanite.problems import Problem
from basanite.server.catalogue import plural, said, say, sentence
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser.desk import Organiser, name_of
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, acted, found, head, here
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
MOST_MAILS = 500
GROUPS = {"judge": sentence("judges"), "expert": sentence("experts"), "novice": sentence("novices")}
AT_WORK = ("active", "paused")


@dataclass(frozen=True)
class SeatLine:
    """One judge."""

    person: str
    name: str
    group: str
    state: str
    consented: datetime | None
    done: int
    of: int
    declared: str = ""
    removable: bool = False


@dataclass(frozen=True)
class JudgesPage:
    """Everybody on the panel, a form for more, and the plan of work."""

    title: str
    panel: PanelHead
    found: Paged[SeatLine]
    groups: tuple[tuple[str, str], ...]
    may_enrol: bool
    may_plan: bool
    planned: int
    warnings: tuple[str, ...]
    consent: str
    consent_version: str
    two: bool = False
    """Whether a role takes two people here."""
    mails: str = ""
    group: str = ""
    place: str = "/judges"


@ROUTER.get(f"{PANEL}/judges")
def judges(
    request: Request, caller: Organiser, panel: str, after: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The page."""
    return show(request, caller, _asked(caller, panel, after=after))


@ROUTER.post(f"{PANEL}/judges")
def enrol(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Give seats to people by their addresses: all of them, or nobody and what is wrong with each."""
    mails, group = form.raw("mails"), form.text("group", "judge")
    wanted = list(dict.fromkeys(mails.replace(",", " ").split()))

    def act(session: Session, row: Panel) -> None:
        for person in _persons(session, caller, wanted):
            joining.enrol(session, caller.office, caller.actor, row.id, person, group=group)

    words = plural(len(wanted), "{count} judge is enrolled.", "{count} judges are enrolled.").striptags()
    return acted(request, caller, panel, act, lambda: _asked(caller, panel, mails, group), words, then="/judges")


@ROUTER.post(f"{PANEL}/judges/{{person}}/remove")
def remove(request: Request, caller: Organiser, panel: str, person: str, form: Filled) -> Response:
    """End a seat; work that is done counts and is paid."""
    reason = form.text("reason")

    def act(session: Session, row: Panel) -> None:
        joining.remove(session, caller.office, caller.actor, row.id, person, reason=reason)

    words = said("The judge is off the panel. Open items go to others.")
    return acted(request, caller, panel, act, lambda: _asked(caller, panel), words, then="/judges")


@ROUTER.post(f"{PANEL}/plan")
def plan(request: Request, caller: Organiser, panel: str, form: Filled) -> Response:
    """Fill the places that are open with the judges there are."""

    def act(session: Session, row: Panel) -> None:
        require_organiser(session, caller.actor, row.campaign_id)
        if row.state != "open":
            raise refused("P-22", said("the panel is not open"), said("open it first"), status=409)
        planned.plan_again(session, caller.office, locked_panel(session, row.id))

    words = said("What was missing is planned, as far as there are judges for it.")
    return acted(request, caller, panel, act, lambda: _asked(caller, panel), words, then="/judges")


def _persons(session: Session, caller: Caller, mails: list[str]) -> list[str]:
    """Everybody with these addresses; refused with every address that nobody has."""
    if not mails or len(mails) > MOST_MAILS:
        fix = said("write one address on each line, at most {most}", most=MOST_MAILS)
        raise refused("P-22", said("there are no addresses, or too many"), fix, status=422)
    found_there = {mail: by_mail(session, caller.office, mail) if "@" in mail else None for mail in mails}
    unknown = [mail for mail, person in found_there.items() if person is None]
    if unknown:
        raise RefusedError(list(_unknown(unknown)), status=422)
    return [person.id for person in found_there.values() if person is not None]


def _unknown(mails: Iterable[str]) -> Iterable[Problem]:
    fix = said("look at the address, or let the person sign up first")
    for mail in mails:
        yield problem("P-34", said("nobody has an account with the address {mail}", mail=mail), fix, found=mail)


def _asked(caller: Caller, name: str, mails: str = "", group: str = "", after: str = "") -> JudgesPage:
    with caller.office.reading() as session:
        panel, scheme = found(session, caller, name)
        rows = seats(session, caller.office, panel.id, after=after, limit=paging.ROWS + 1)
        lines = [_line(session, caller, panel, one) for one in rows]
        count = len(planned.assignments_of(session, panel.id))
        top = head(session, panel, scheme)
    path = here(caller, name, "/judges")
    return JudgesPage(
        said("Judges"),
        top,
        paging.paged(lines, key=lambda one: one.person, path=path, after=after or None),
        tuple((each, str(say(GROUPS.get(each, each)))) for each in scheme.per_group),
        panel.state in ("draft", "open"),
        panel.state == "open",
        count,
        tuple(panel.warnings),
        scheme.consent.text,
        scheme.consent.version,
        approvals.needs_two(caller.here[1], "role"),
        mails,
        group,
    )


def _line(session: Session, caller: Caller, panel: Panel, one: SeatFacts) -> SeatLine:
    return SeatLine(
        one.person_id,
        name_of(session, caller, one.person_id),
        said(GROUPS.get(one.group, one.group)),
        one.state,
        one.consented,
        one.done,
        one.of,
        _declared(session, one),
        one.state in AT_WORK and panel.state in ("draft", "open"),
    )


def _declared(session: Session, one: SeatFacts) -> str:
    """Languages and conflicts as the judge declared them."""
    rows = [session.get(Team, team) for team in one.conflicts]
    teams = ", ".join(row.name for row in rows if row is not None)
    parts = [said("knows {languages}", languages=", ".join(one.languages))] if one.languages else []
    return "; ".join([*parts, said("conflict with {teams}", teams=teams)] if teams else parts)
