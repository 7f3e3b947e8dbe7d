"""The events of a task: kept once under the id that the page gave them, in one order for all tabs, for ever (R-15).

Whoever sends the same event twice (a lost answer, a second tab, a page that was offline) changes nothing; whoever sends
events based on an older state gets those that came between, so that all tabs come to the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.annotation.events import Event
from basanite.campaign.model.refusals import refused
from basanite.campaign.store.tables import AnnotationEvent, AnnotationTask

MOST_AT_ONCE: Final = 500
LARGEST_BATCH: Final = 4 * 2**20
IDLE: Final = timedelta(minutes=5)
"""A pause that is longer is no work."""


@dataclass(frozen=True)
class Kept:
    """An event with its place in the order of its task."""

    sequence: int
    event: Event
    at: datetime

    def as_dict(self) -> dict[str, Any]:
        """As pages get it."""
        return {"sequence": self.sequence, "at": self.at.isoformat(), **self.event.as_dict()}


def recorded(session: Session, task: AnnotationTask, *, after: int = 0, generation: int | None = None) -> list[Kept]:
    """The events of a task in their order, those after a number; of an older generation if one is named."""
    asked = select(AnnotationEvent).where(
        AnnotationEvent.task_id == task.id,
        AnnotationEvent.generation == (task.generation if generation is None else generation),
        AnnotationEvent.sequence > after,
    )
    rows = session.scalars(asked.order_by(AnnotationEvent.sequence))
    return [Kept(row.sequence, Event(row.client_id, row.kind, row.data), row.at) for row in rows]


def last(session: Session, task: AnnotationTask) -> int:
    """The number of a task's newest event."""
    asked = select(func.max(AnnotationEvent.sequence)).where(AnnotationEvent.task_id == task.id)
    return session.scalar(asked.where(AnnotationEvent.generation == task.generation)) or 0


def write(
    session: Session, task: AnnotationTask, events: Sequence[Event], *, after: int, at: datetime
) -> tuple[Kept, ...]:
    """Add events behind the number of the newest one; the caller holds the task."""
    rows = [_row(task, event, after + number, at) for number, event in enumerate(events, start=1)]
    session.add_all(rows)
    session.flush()
    return tuple(Kept(row.sequence, event, at) for row, event in zip(rows, events, strict=True))


def write_at(
    session: Session, task: AnnotationTask, events: Sequence[Event], moments: Mapping[str, datetime], now: datetime
) -> None:
    """Write a whole record anew under the generation that its task has now, at the moments of the old events."""
    last, rows = now, list[AnnotationEvent]()
    for number, event in enumerate(events, start=1):
        last = moments.get(event.id, moments.get(event.id.removesuffix(".made"), last))
        rows.append(_row(task, event, number, last))
    session.add_all(rows)
    session.flush()


def check_batch(events: Sequence[Event]) -> None:
    """Refuse more than a page would ever send."""
    if len(events) > MOST_AT_ONCE:
        fix = f"send at most {MOST_AT_ONCE} events at once"
        raise refused("X-8", f"{len(events)} events at once", fix, status=413)
    size = sum(len(json.dumps(event.as_dict(), default=str)) for event in events)
    if size > LARGEST_BATCH:
        raise refused("X-8", f"{size} bytes of events at once", f"send at most {LARGEST_BATCH}", status=413)


def time_spent(moments: Iterable[datetime]) -> timedelta:
    """How long somebody worked, from the moments of opening, events and ending; long pauses do not count (R-22).

    >>> start = datetime(2026, 1, 1)
    >>> time_spent([start, start + timedelta(minutes=2), start + timedelta(hours=3)])
    datetime.timedelta(seconds=120)
    """
    gaps = (later - earlier for earlier, later in pairwise(sorted(moments)))
    return sum((gap for gap in gaps if gap <= IDLE), timedelta())


def _row(task: AnnotationTask, event: Event, sequence: int, at: datetime) -> AnnotationEvent:
    return AnnotationEvent(
        campaign_id=task.campaign_id,
        task_id=task.id,
        generation=task.generation,
        sequence=sequence,
        client_id=event.id,
        kind=event.kind,
        data=dict(event.data),
        at=at,
    )
