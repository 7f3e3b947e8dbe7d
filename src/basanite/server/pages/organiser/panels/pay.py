"""What judges are owed: a statement for each, the effective hourly rate with a warning, and the payroll (P-22)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.panels.watching import paying
from basanite.server.catalogue import said
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.judging.money import amount
from basanite.server.pages.organiser.desk import Organiser, name_of
from basanite.server.pages.organiser.panels.desk import PANEL, PanelHead, found, head, here
from basanite.server.pages.organiser.panels.presets import pay_rule
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
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
        row, scheme = found(session, caller, panel)
        owed = paying.statements(session, caller.office, row.id)
        rest = [one for one in owed if one.person_id > after][: paging.ROWS + 1]
        lines = [_line(session, caller, one, row.state) for one in rest]
        top = head(session, row, scheme)
    path = here(caller, panel, "/pay")
    page = PayPage(
        said("Pay"),
        top,
        pay_rule(scheme),
        amount(scheme.pay.floor, scheme.pay.currency),
        sum(one.below_floor for one in owed),
        paging.paged(lines, key=lambda one: one.person, path=path, after=after or None),
        sum(one.items for one in owed),
        f"{sum(one.hours for one in owed):.2f}",
        money(sum((Decimal(one.pay) for one in owed), Decimal(0)), scheme.pay.currency),
    )
    return show(request, caller, page)


@ROUTER.get(f"{PANEL}/pay.csv")
def payroll(caller: Organiser, panel: str) -> Response:
    """The payroll as a table for a spreadsheet."""
    with caller.office.writing() as session:  # that names and addresses were taken out stands in the log
        row, _ = found(session, caller, panel)
        content = paying.payroll(session, caller.office, caller.actor, row.id)
    name = f'attachment; filename="payroll-{panel}.csv"'
    return Response(content, media_type="text/csv", headers={"Content-Disposition": name})


def money(value: Decimal, currency: str) -> str:
    """A sum of money that was counted, not measured.

    >>> money(Decimal("1250.5"), "EUR")
    '1,250.50 EUR'
    """
    return f"{value:,.2f} {currency}".strip()


def _line(session: Session, caller: Caller, one: paying.Statement, state: str) -> PayLine:
    rate = "–" if one.rate is None else amount(one.rate, one.currency)
    settled = one.state in SETTLED or state in ("closed", "cancelled")
    name = name_of(session, caller, one.person_id)
    lacks = money(Decimal(one.missing), one.currency) if one.below_floor else ""
    owed = money(Decimal(one.pay), one.currency)
    return PayLine(one.person_id, name, one.items, f"{one.hours:.2f}", owed, rate, lacks, settled)
