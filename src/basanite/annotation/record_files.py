"""Records in a file, one a line: document, annotator, version of the configuration, and all events in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from basanite.annotation.events import Event, event_of
from basanite.annotation.events.shapes import MOST_EVENTS
from basanite.annotation.migrating import Record
from basanite.problems import Findings
from basanite.reading.package.ndjson import LineFaults, records

RULE: Final = "R-15"
KEYS: Final = frozenset({"document", "annotator", "version", "events"})


def read_records(path: Path, findings: Findings) -> tuple[Record, ...]:
    """The records of a file; lines with problems are left out."""
    faults = LineFaults(path.name, RULE, findings)
    found: list[Record] = []
    with faults.unreadable():
        for number, entry in records(path, faults):
            found += _record(number, entry, faults)
    return tuple(found)


def _record(number: int, entry: Mapping[str, Any], faults: LineFaults) -> Iterator[Record]:
    faults.unknown_keys(number, entry, KEYS)
    document = faults.text(number, entry, "document")
    version, events = entry.get("version"), entry.get("events")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        faults.add(number, "the version is no whole number", 'write "version": 1', found=repr(version))
    elif not isinstance(events, list) or len(events) > MOST_EVENTS:
        faults.add(number, "the events are no list", f"write at most {MOST_EVENTS} events")
    elif document:
        yield Record(document, str(entry.get("annotator", "")), version, tuple(_event(one) for one in events))


def _event(data: object) -> Event:
    found = event_of(data)
    return found if isinstance(found.data, Mapping) else Event(found.id, found.kind, {})


def record_lines(found: Iterable[Record]) -> Iterator[str]:
    """Records as lines of such a file."""
    for one in found:
        entry = {
            "document": one.document,
            "annotator": one.annotator,
            "version": one.version,
            "events": [event.as_dict() for event in one.events],
        }
        yield json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
