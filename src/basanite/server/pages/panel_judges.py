"""The judges of a panel: seats, invitations, removal, and what they are paid (P-22)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.actions import two_people
from basanite.campaign.model.refusals import RefusedError, problem, refused
from basanite.campaign.people.persons import by_mail
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Panel, Team
from basanite.campaign.work.panels import enrolment, payroll
from basanite.campaign.work.panels.enrolment import SeatFacts, seats
from basanite.campaign.work.panels.lookup import locked_panel
from basanite.problems import Problem
from basanite.server.catalogue import plural, say, say_plain, sentence
from basanite.server.pages import templates
from basanite.server.pages.forms import PostedForm
from basanite.server.pages.frame import show
from basanite.server.pages.judge import amount
from basanite.server.pages.judge_questions import flowing
from basanite.server.pages.organiser_frame import (
    PANEL,
    Organiser,
    PanelHead,
    act_on_panel,
    name_of,
    panel_address,
    panel_head,
    panel_with_scheme,
)
from basanite.server.pages.panel_create import pay_rule
from basanite.server.pages.templates import Paged
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

    template = "panels/judges.html"
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
    return show(request, caller, _judges_page(caller, panel, after=after))


@ROUTER.post(f"{PANEL}/judges")
def enrol(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Give seats to people by their addresses: all of them, or nobody and what is wrong with each."""
    mails, group = form.raw("mails"), form.text("group", "judge")
    wanted = list(dict.fromkeys(mails.replace(",", " ").split()))

    def act(session: Session, row: Panel) -> None:
        for person in _persons(session, caller, wanted):
            enrolment.enrol(session, caller.office, caller.actor, row.id, person, group=group)

    words = plural(len(wanted), "{count} judge is enrolled.", "{count} judges are enrolled.").striptags()
    return act_on_panel(
        request, caller, panel, act, lambda: _judges_page(caller, panel, mails, group), words, then="/judges"
    )


@ROUTER.post(f"{PANEL}/judges/{{person}}/remove")
def remove(request: Request, caller: Organiser, panel: str, person: str, form: PostedForm) -> Response:
    """End a seat; work that is done counts and is paid."""
    reason = form.text("reason")

    def act(session: Session, row: Panel) -> None:
        enrolment.remove(session, caller.office, caller.actor, row.id, person, reason=reason)

    words = say_plain("The judge is removed from the panel. Open items go to other judges.")
    return act_on_panel(request, caller, panel, act, lambda: _judges_page(caller, panel), words, then="/judges")


@ROUTER.post(f"{PANEL}/plan")
def plan(request: Request, caller: Organiser, panel: str, form: PostedForm) -> Response:
    """Fill the places that are open with the judges there are."""

    def act(session: Session, row: Panel) -> None:
        require_organiser(session, caller.actor, row.campaign_id)
        if row.state != "open":
            raise refused("P-22", say_plain("the panel is not open"), say_plain("open the panel first"), status=409)
        enrolment.plan_again(session, caller.office, locked_panel(session, row.id))

    words = say_plain("Missing work is planned, as far as judges are available.")
    return act_on_panel(request, caller, panel, act, lambda: _judges_page(caller, panel), words, then="/judges")


def _persons(session: Session, caller: Caller, mails: list[str]) -> list[str]:
    """Everybody with these addresses; refused with every address that nobody has."""
    if not mails or len(mails) > MOST_MAILS:
        fix = say_plain("enter one address per line, at most {most}", most=MOST_MAILS)
        raise refused("P-22", say_plain("there are no addresses, or too many"), fix, status=422)
    found_there = {mail: by_mail(session, caller.office, mail) if "@" in mail else None for mail in mails}
    unknown = [mail for mail, person in found_there.items() if person is None]
    if unknown:
        raise RefusedError(list(_unknown(unknown)), status=422)
    return [person.id for person in found_there.values() if person is not None]


def _unknown(mails: Iterable[str]) -> Iterable[Problem]:
    fix = say_plain("check the address, or ask the person to sign up first")
    for mail in mails:
        yield problem("P-34", say_plain("there is no account with the address {mail}", mail=mail), fix, found=mail)


def _judges_page(caller: Caller, name: str, mails: str = "", group: str = "", after: str = "") -> JudgesPage:
    with caller.office.reading() as session:
        panel, scheme = panel_with_scheme(session, caller, name)
        rows = seats(session, caller.office, panel.id, after=after, limit=templates.ROWS + 1)
        lines = [_seat_line(session, caller, panel, one) for one in rows]
        count = len(enrolment.assignments_of(session, panel.id))
        top = panel_head(session, panel, scheme)
    path = panel_address(caller, name, "/judges")
    return JudgesPage(
        say_plain("Judges"),
        top,
        templates.page_of(lines, key=lambda one: one.person, path=path, after=after or None),
        tuple((each, str(say(GROUPS.get(each, each)))) for each in scheme.per_group),
        panel.state in ("draft", "open"),
        panel.state == "open",
        count,
        tuple(panel.warnings),
        flowing(scheme.consent.text),
        scheme.consent.version,
        two_people.needs_two(caller.here[1], "role"),
        mails,
        group,
    )


def _seat_line(session: Session, caller: Caller, panel: Panel, one: SeatFacts) -> SeatLine:
    return SeatLine(
        one.person_id,
        name_of(session, caller, one.person_id),
        say_plain(GROUPS.get(one.group, one.group)),
        one.state,
        one.consented,
        one.done,
        one.of,
        _declaration(session, one),
        one.state in AT_WORK and panel.state in ("draft", "open"),
    )


def _declaration(session: Session, one: SeatFacts) -> str:
    """Languages and conflicts as the judge declared them."""
    rows = [session.get(Team, team) for team in one.conflicts]
    teams = ", ".join(row.name for row in rows if row is not None)
    parts = [say_plain("knows {languages}", languages=", ".join(one.languages))] if one.languages else []
    return "; ".join([*parts, say_plain("conflict with {teams}", teams=teams)] if teams else parts)


SETTLED = ("withdrawn", "removed")


@dataclass(frozen=True)
class PayLine:
    """One judge's statement."""

    person: str
    name: str
    items: int
    hours: str
    pay: str
    rate: str
    lacks: str = ""
    """What is lacking to the floor."""
    settled: bool = False


@dataclass(frozen=True)
class PayPage:
    """All statements, and what they come to."""

    template = "panels/pay.html"
    title: str
    panel: PanelHead
    rule: str
    floor: str
    below: int
    found: Paged[PayLine]
    items: int
    hours: str
    total: str
    place: str = "/pay"


@ROUTER.get(f"{PANEL}/pay")
def pay(request: Request, caller: Organiser, panel: str, after: Annotated[str, Query(max_length=100)] = "") -> Response:
    """The page."""
    with caller.office.reading() as session:
        row, scheme = panel_with_scheme(session, caller, panel)
        owed = payroll.statements(session, caller.office, row.id)
        rest = [one for one in owed if one.person_id > after][: templates.ROWS + 1]
        lines = [_pay_line(session, caller, one, row.state) for one in rest]
        top = panel_head(session, row, scheme)
    path = panel_address(caller, panel, "/pay")
    page = PayPage(
        say_plain("Pay"),
        top,
        pay_rule(scheme),
        amount(scheme.pay.floor, scheme.pay.currency),
        sum(one.below_floor for one in owed),
        templates.page_of(lines, key=lambda one: one.person, path=path, after=after or None),
        sum(one.items for one in owed),
        f"{sum(one.hours for one in owed):.2f}",
        money(sum((Decimal(one.pay) for one in owed), Decimal(0)), scheme.pay.currency),
    )
    return show(request, caller, page)


@ROUTER.get(f"{PANEL}/pay.csv")
def download_payroll(caller: Organiser, panel: str) -> Response:
    """The payroll as a table for a spreadsheet."""
    with caller.office.writing() as session:  # that names and addresses were taken out stands in the log
        row, _ = panel_with_scheme(session, caller, panel)
        content = payroll.payroll(session, caller.office, caller.actor, row.id)
    name = f'attachment; filename="payroll-{panel}.csv"'
    return Response(content, media_type="text/csv", headers={"Content-Disposition": name})


def money(value: Decimal, currency: str) -> str:
    """A sum of money that was counted, not measured.

    >>> money(Decimal("1250.5"), "EUR")
    '1,250.50 EUR'
    """
    return f"{value:,.2f} {currency}".strip()


def _pay_line(session: Session, caller: Caller, one: payroll.Statement, state: str) -> PayLine:
    rate = "–" if one.rate is None else amount(one.rate, one.currency)
    settled = one.state in SETTLED or state in ("closed", "cancelled")
    name = name_of(session, caller, one.person_id)
    lacks = money(Decimal(one.missing), one.currency) if one.below_floor else ""
    owed = money(Decimal(one.pay), one.currency)
    return PayLine(one.person_id, name, one.items, f"{one.hours:.2f}", owed, rate, lacks, settled)
