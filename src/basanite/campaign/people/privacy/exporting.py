"""Access: everything that we hold about a person, for that person to read and take away (P-21)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Column, RowMapping, Select, String, Table, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.persons import find_person, personal
from basanite.campaign.people.roles import is_organiser
from basanite.campaign.store import events
from basanite.campaign.store.personal import unseal_bytes
from basanite.campaign.store.tables import Base, Seat

WHOLE = frozenset({
    "acceptances", "accounts", "addresses_seen", "appeals", "certifications", "downloads", "duty_exceptions",
    "grants", "identities", "judgements", "lead_requests", "links", "memberships", "messages", "panel_consents",
    "panel_round_ends", "panel_seats", "people", "questions", "read_marks", "resources", "sessions", "signatures",
    "tokens",
})  # fmt: skip
"""Tables about people, given in full. Of any other row that names the person only its id, kind and moments are given:
a submission's state, or which other it resembles, is not for everybody to know at any time (P-5, X-7)."""
SECRET = frozenset({"sealed", "mail_digest", "password", "second_factor", "csrf", "digest"})
"""Columns that are never given out, even to the person: they would help somebody else to get in."""
NAMING = frozenset({"by", "actor", "subject", "signatory", "person_id"})


def export_person(session: Session, office: Office, actor: Actor, person_id: str) -> dict[str, Any]:
    """Personal data in plain words, and each row of each table that names the person."""
    find_person(session, person_id)
    check_own(session, actor, person_id)
    known, now = personal(session, office, person_id), office.clock()
    events.record(session, "person.exported", at=now, actor=actor.id, subject=person_id)
    return {
        "format": "basanite-person/1",
        "person": person_id,
        "exported": now.isoformat(),
        "personal": {"name": known.name, "mail": known.mail, "other": dict(known.other)},
        "judging": [_judging(office, seat) for seat in session.scalars(_seats(person_id))],
        "rows": dict(_rows(session, person_id)),
    }


def _seats(person_id: str) -> Select[Any]:
    return select(Seat).where(Seat.person_id == person_id).order_by(Seat.joined, Seat.id)


def _judging(office: Office, seat: Seat) -> dict[str, Any]:
    """What a judge declared to a panel and was owed at the end, which lies sealed (P-22)."""
    sealed = {"declared": seat.declared, "settled": seat.settled}
    plain = {name: unseal_bytes(office.vault, seat.person_id, value) for name, value in sealed.items() if value}
    return {"panel": seat.panel_id, **{name: json.loads(value) for name, value in plain.items() if value}}


def check_own(session: Session, actor: Actor, person_id: str) -> None:
    """Refuse everybody but the person and administrators."""
    if actor.id != person_id and not is_organiser(session, actor, None):
        raise refused("P-21", "only the person or an administrator may do this", "ask an administrator", status=403)


def _rows(session: Session, person_id: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for table in Base.metadata.sorted_tables:
        columns = [column for column in table.columns if _names_people(table, column)]
        named = or_(*(column == person_id for column in columns)) if columns else None
        found = [] if named is None else session.execute(select(table).where(named)).mappings().all()
        if found:
            yield table.name, [_given(table, row) for row in found]


def _names_people(table: Table, column: Column[Any]) -> bool:
    """Whether a column holds ids of people: who it is about, or who did it."""
    if table.name == "people":
        return column.name == "id"
    return isinstance(column.type, String) and (column.name in NAMING or column.name.endswith("_by"))


def _given(table: Table, row: RowMapping) -> dict[str, Any]:
    keys = {column.name for column in table.primary_key} | {"kind", "role"}
    whole = table.name in WHOLE
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
        if name not in SECRET
        and not isinstance(value, bytes)
        and (whole or name in keys or isinstance(value, datetime))
    }
