"""What judges are owed: a statement for each, the effective hourly rate, and a payroll table (P-22, X-14).

Nothing is rejected here: every judgement that was given is paid. Names come out of the sealed personal data at the
moment of printing, and for organisers alone.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import personal
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.personal import seal_bytes, unseal_bytes
from basanite.campaign.store.tables import Judgement, Panel, Seat
from basanite.campaign.work.panels.lookup import find_panel, note, scheme_of
from basanite.canonical import canonical_text
from basanite.reports.outputs.data_files import csv_cell
from basanite.work import pay as paid
from basanite.work.answers import Judgement as Done

COLUMNS = ("person", "name", "mail", "group", "items", "hours", "currency", "pay", "rate_per_hour", "floor", "missing")


@dataclass(frozen=True)
class Statement:
    """What one judge did and is owed."""

    person_id: str
    group: str
    state: str
    items: int
    """Everything that was judged, training and checks included."""
    hours: float
    pay: str
    """An amount with two decimals, as money is written."""
    currency: str
    rate: float | None
    """What an hour came to; None without any time."""
    below_floor: bool
    floor: float
    missing: str
    """What is lacking to the floor, which an organiser may pay as a bonus."""


def statements(session: Session, office: Office, panel_id: str) -> tuple[Statement, ...]:
    """A statement for every judge of a panel, with a warning where an hour came to less than the floor."""
    panel = find_panel(session, panel_id)
    seats = session.scalars(select(Seat).where(Seat.panel_id == panel.id).order_by(Seat.person_id))
    return tuple(_statement(session, panel, seat) for seat in seats)


def statement(session: Session, panel_id: str, person_id: str) -> Statement | None:
    """What one judge is owed so far, for the judge's own page."""
    seat = session.scalar(select(Seat).where(Seat.panel_id == panel_id, Seat.person_id == person_id))
    return None if seat is None else _statement(session, find_panel(session, panel_id), seat)


def _statement(session: Session, panel: Panel, seat: Seat) -> Statement:
    """Each item once; a correction adds its own time to that of its item."""
    question = select(Judgement.item_id, Judgement.seconds).where(
        Judgement.panel_id == panel.id, Judgement.person_id == seat.person_id
    )
    work = [Done(item, seat.person_id, {}, seconds=seconds) for item, seconds in session.execute(question)]
    pay = scheme_of(panel).pay
    made = next(iter(paid.statements(work, pay)), None) or paid.Statement(
        seat.person_id, 0, 0.0, 0, paid.CENT * 0, pay.currency, pay.floor
    )
    facts = (seat.person_id, seat.group, seat.state, made.items, round(made.hours, 6), str(made.amount), made.currency)
    rate = None if made.rate is None else round(made.rate, 2)
    return Statement(*facts, rate, made.below_floor, made.floor, str(made.bonus.quantize(paid.CENT)))


def sealed_statement(session: Session, office: Office, panel: Panel, seat: Seat) -> bytes:
    """The statement of a judge who leaves, sealed with the person's own key (P-21)."""
    plain = canonical_text(asdict(_statement(session, panel, seat)))
    return seal_bytes(office.vault, seat.person_id, plain.encode())


def settlement(office: Office, seat: Seat) -> Statement | None:
    """The statement at the end of a seat; None if there is none, or if the person was erased."""
    plain = None if seat.settled is None else unseal_bytes(office.vault, seat.person_id, seat.settled)
    return None if plain is None else Statement(**json.loads(plain))


def payroll(session: Session, office: Office, actor: Actor, panel_id: str) -> bytes:
    """The payroll as CSV for anyone who pays, with names and addresses; that it was taken out stands in the log."""
    panel = find_panel(session, panel_id)
    require_organiser(session, actor, panel.campaign_id)
    lines = [COLUMNS, *(_line(session, office, one) for one in statements(session, office, panel_id))]
    note(session, office, actor, panel, "panel.payroll", panel.id, judges=len(lines) - 1)
    return table(lines)


def _line(session: Session, office: Office, one: Statement) -> tuple[str, ...]:
    who = personal(session, office, one.person_id)
    rate = "" if one.rate is None else f"{one.rate:.2f}"
    work = (one.group, str(one.items), f"{one.hours:.4f}", one.currency)
    return (one.person_id, who.name, who.mail, *work, one.pay, rate, f"{one.floor:.2f}", one.missing)


def table(rows: Iterable[Iterable[str]]) -> bytes:
    """Rows as CSV whose cells no spreadsheet takes for formulas (X-14)."""
    held = io.StringIO(newline="")
    csv.writer(held, lineterminator="\n").writerows([map(csv_cell, row) for row in rows])
    return held.getvalue().encode()
