"""The log of one campaign, newest first, in pages by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import Event


@dataclass(frozen=True)
class Entry:
    """One event."""

    sequence: int
    at: datetime
    actor: str
    kind: str
    subject: str
    data: Mapping[str, Any]


def entries(
    session: Session, campaign_id: str, *, kind: str = "", before: int | None = None, limit: int = 50
) -> tuple[Entry, ...]:
    """What happened in a campaign; kinds may be given by their beginning, like `submission`."""
    query = select(Event).where(Event.campaign_id == campaign_id)
    query = query.where(Event.kind.startswith(kind, autoescape=True)) if kind else query
    query = query if before is None else query.where(Event.sequence < before)
    rows = session.scalars(query.order_by(Event.sequence.desc()).limit(limit))
    return tuple(Entry(row.sequence, row.at, row.actor, row.kind, row.subject, row.data) for row in rows)


def kinds(session: Session, campaign_id: str) -> tuple[str, ...]:
    """The beginnings of all kinds that occur, to choose from."""
    found = session.scalars(select(Event.kind).where(Event.campaign_id == campaign_id).distinct())
    return tuple(sorted({kind.partition(".")[0] for kind in found}))
