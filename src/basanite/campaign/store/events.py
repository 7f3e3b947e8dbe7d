"""The event log: only added to, each event holding the digest of the one before, so that no past can be rewritten."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import Event
from basanite.canonical import canonical_text

BEGINNING = "0" * 64
LOCK = 0x62617361
"""The advisory lock of the log's head on PostgreSQL; on SQLite a writer is alone anyway."""


_HEAD = select(Event.sequence, Event.digest).where(Event.sequence == select(func.max(Event.sequence)).scalar_subquery())
"""Asked at every event, and so built once."""


def record(
    session: Session,
    kind: str,
    *,
    at: datetime,
    actor: str,
    subject: str,
    campaign_id: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> Event:
    """Add an event in the caller's transaction; `data` holds ids and facts, never personal data or a secret."""
    # Seven arguments: they are the columns of the row, which numbers and digests itself, and every caller names them.
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    session.flush()
    sequence, previous = head(session)
    event = Event(sequence=sequence + 1, campaign_id=campaign_id, at=at, actor=actor, kind=kind, subject=subject)
    event.data, event.previous = dict(data or {}), previous
    event.digest = _digest(previous, _content(event))
    session.add(event)
    session.flush()
    return event


def head(session: Session) -> tuple[int, str]:
    """The number and the digest of the newest event."""
    row = session.execute(_HEAD).first()
    return (row[0], row[1]) if row else (0, BEGINNING)


def broken(session: Session, anchors: Iterable[tuple[int, str]] = ()) -> Iterator[int]:
    """The numbers of events that were changed, or before which one is missing; none if the chain holds.

    A chain that was cut off at its end, or written again as a whole, holds in itself: only `anchors`, the numbers and
    digests that receipts carry (X-6), tell. The number of one that does not hold is given, too.
    """
    previous, expected, wanted = BEGINNING, 1, _by_number(anchors)
    for event in session.scalars(select(Event).order_by(Event.sequence).execution_options(yield_per=1000)):
        if event.sequence != expected or event.previous != previous or not _holds(event, wanted):
            yield event.sequence
        wanted.pop(event.sequence, None)
        previous, expected = event.digest, event.sequence + 1
    yield from sorted(wanted)


def _by_number(anchors: Iterable[tuple[int, str]]) -> dict[int, set[str]]:
    wanted: dict[int, set[str]] = {}
    for sequence, digest in anchors:
        wanted.setdefault(sequence, set()).add(digest)
    wanted.pop(0, None)  # before the first event there is nothing to hold
    return wanted


def _holds(event: Event, wanted: Mapping[int, set[str]]) -> bool:
    """Whether an event is what its digest says, and what every anchor says."""
    try:
        right = event.digest == _digest(event.previous, _content(event))
    except ValueError:  # somebody wrote nan or infinity into the table, which no event holds
        right = False
    return right and wanted.get(event.sequence, set()) <= {event.digest}


def _content(event: Event) -> dict[str, Any]:
    """What the digest of an event covers."""
    names = ("sequence", "campaign_id", "actor", "kind", "subject", "data")
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds")
    return {"at": at, **{name: getattr(event, name) for name in names}}


def _digest(previous: str, content: Mapping[str, Any]) -> str:
    return hashlib.sha256(f"{previous}\n{canonical_text(content)}".encode()).hexdigest()
