"""The seats of a panel as organisers see them: who, since when, consent, what was declared, and how far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.panels.attending.joining import progress_of
from basanite.campaign.panels.preparing.planned import declaration
from basanite.campaign.store.tables import Seat


@dataclass(frozen=True)
class SeatFacts:
    """One seat."""

    person_id: str
    group: str
    state: str
    joined: datetime
    consented: datetime | None
    consent_version: str
    languages: tuple[str, ...] | None
    """None if nothing was declared yet."""
    conflicts: tuple[str, ...]
    """Ids of teams."""
    done: int
    of: int


def seats(
    session: Session, office: Office, panel_id: str, *, after: str = "", limit: int = 50
) -> tuple[SeatFacts, ...]:
    """The seats of a panel by person id; `after` is where the last page ended."""
    question = select(Seat).where(Seat.panel_id == panel_id, Seat.person_id > after)
    rows = session.scalars(question.order_by(Seat.person_id).limit(limit))
    return tuple(_facts(session, office, row) for row in rows)


def _facts(session: Session, office: Office, row: Seat) -> SeatFacts:
    said = declaration(office, row)
    done, of = progress_of(session, row.panel_id, row.person_id)
    return SeatFacts(
        row.person_id,
        row.group,
        row.state,
        row.joined,
        row.consented,
        row.consent_version,
        None if said is None else said.languages,
        () if said is None else said.conflicts,
        done,
        of,
    )
