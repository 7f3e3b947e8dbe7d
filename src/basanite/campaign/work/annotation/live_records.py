"""Records of texts that are being annotated, kept in this process between two saves (R-42).

Events are only ever added, so a record that is kept takes in those that came since, from any process. What a
transaction took in counts once it is committed: a record that it changed is put back then, and dropped if it fails.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import event as listening
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.database import Database
from basanite.campaign.store.tables import AnnotationEvent, AnnotationTask
from basanite.work.annotation.config import Config
from basanite.work.annotation.events import Event, Object
from basanite.work.annotation.replay import Log

MOST: Final = 64
"""Records that a process keeps; those that nobody saved into for longest make room."""
INFO: Final = "annotation-records"
Key = tuple[str, int]

_kept: WeakKeyDictionary[Database, OrderedDict[Key, LiveRecord]] = WeakKeyDictionary()
_guard = threading.Lock()


@dataclass
class LiveRecord:
    """A record, the number of the last event in it, and what there was when it was last told."""

    log: Log
    sequence: int = 0
    objects: Mapping[str, Object] = field(default_factory=dict)
    told: bool = False
    """Whether `objects` is what there was before."""


def live_record(session: Session, office: Office, task: AnnotationTask, config: Config) -> LiveRecord:
    """The record of a task that the caller holds, up to its newest event."""
    key: Key = task.id, task.generation
    mine: dict[Key, LiveRecord] = session.info.setdefault(INFO, {})
    if key not in mine:
        with _guard:
            kept = _kept.setdefault(office.database, OrderedDict())
            mine[key] = kept.pop(key) if key in kept else LiveRecord(Log(config))
        if len(mine) == 1:
            listening.listen(session, "after_commit", lambda committed: _put_back(office, committed), once=True)
    record = mine[key]
    for number, event in _since(session, task, record.sequence):
        record.log.take(event)
        record.sequence = number
    return record


def _since(session: Session, task: AnnotationTask, after: int) -> list[tuple[int, Event]]:
    columns = (AnnotationEvent.sequence, AnnotationEvent.client_id, AnnotationEvent.kind, AnnotationEvent.data)
    asked = select(*columns).where(
        AnnotationEvent.task_id == task.id,
        AnnotationEvent.generation == task.generation,
        AnnotationEvent.sequence > after,
    )
    rows: Any = session.execute(asked.order_by(AnnotationEvent.sequence))
    return [(sequence, Event(id_, kind, data)) for sequence, id_, kind, data in rows]


def _put_back(office: Office, session: Session) -> None:
    mine: dict[Key, LiveRecord] = session.info.pop(INFO, {})
    with _guard:
        kept = _kept.setdefault(office.database, OrderedDict())
        kept.update(mine)
        while len(kept) > MOST:
            kept.popitem(last=False)
