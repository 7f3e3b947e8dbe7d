"""The theory of a total: which events are counted, what each is worth, and how often it is to be expected (R-11).

An event comes at a rate of its own (`poisson`), or is one of the choices that may follow another event (`per`), each
with its probability; what is left of the choices' probability is that none of them happens.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.formats.packs.toml_document import TomlReport, read_toml
from basanite.problems import Findings

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
LARGEST_COUNT: Final = 10**9
MOST_EVENTS: Final = 50

_DOCUMENT_KEYS: Final = {"format", "name", "unit", "subject", "event", "note"}
_EVENT_KEYS: Final = {"name", "label", "points", "poisson", "per", "probability", "at_most", "property"}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that is counted: what it adds to the total, and how likely each count is."""

    name: str
    label: str
    points: int
    rate: float | None = None
    """The mean of the Poisson prior, for an event that comes by itself."""
    per: str = ""
    """The event that this one may follow, once for each time that one happens."""
    probability: float = 0.0
    at_most: int | None = None
    property: str = ""
    """The property whose value the count is, so that a world can be told as statements."""


@dataclass(frozen=True)
class Theory:
    """A linear total and the events that it is made of."""

    name: str
    unit: str
    subject: str
    events: tuple[Event, ...]

    def event(self, name: str) -> Event | None:
        """The event of that name."""
        return next((event for event in self.events if event.name == name), None)

    def choices(self, name: str) -> tuple[Event, ...]:
        """The events that may follow this one."""
        return tuple(event for event in self.events if event.per == name)


def read_theory(path: Path, findings: Findings) -> Theory | None:
    """Read a theory; whatever is wrong with it becomes problems, and then there is none."""
    found = Findings(limit=None)
    report = TomlReport(path.name, "R-11", found)
    document = read_toml(path, "theory", report)
    theory = None if document is None else _theory(document, report)
    findings.merge(found)
    return theory if found.valid else None


def _theory(document: Mapping[str, Any], report: TomlReport) -> Theory:
    report.unknown_keys(document, _DOCUMENT_KEYS, "the file")
    events = tuple(_event(entry, place, report) for place, entry in report.tables(document, "event"))
    if not 0 < len(events) <= MOST_EVENTS:
        report.add(f"the file names {len(events)} events", f"write one [[event]] for each, at most {MOST_EVENTS}")
    _check_together(events, report)
    words = {key: report.text(document, key, "the file", needed=key == "name") for key in ("name", "unit", "subject")}
    return Theory(words["name"], words["unit"] or "points", words["subject"] or "?total", events)


def _event(entry: Mapping[str, Any], place: str, report: TomlReport) -> Event:
    report.unknown_keys(entry, _EVENT_KEYS, place)
    name = report.text(entry, "name", place)
    if name and not NAME.fullmatch(name):
        report.add(f"the name of {place} is not one word", "write letters, digits, - and _", found=name)
    rate = _number(entry, "poisson", place, report, least=0.0)
    probability = _number(entry, "probability", place, report, least=0.0, most=1.0)
    return Event(
        name,
        report.text(entry, "label", place, needed=False) or name,
        _count(entry, "points", place, report) or 0,
        rate,
        report.text(entry, "per", place, needed=False),
        probability or 0.0,
        _count(entry, "at_most", place, report) if "at_most" in entry else None,
        report.text(entry, "property", place, needed=False),
    )


def _number(
    entry: Mapping[str, Any], key: str, place: str, report: TomlReport, *, least: float, most: float = 1e6
) -> float | None:
    """A number above `least` and up to `most`; nothing if it is not given, or with a problem if it is no such."""
    value = entry.get(key)
    if value is None:
        return None
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and least < value <= most
    ):
        return float(value)
    report.add(
        f"`{key}` of {place} is not a number above {least:g} and up to {most:g}",
        f"write {key} = 0.5",
        found=repr(value),
    )
    return None


def _count(entry: Mapping[str, Any], key: str, place: str, report: TomlReport) -> int | None:
    value = entry.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT:
        return value
    report.add(f"`{key}` of {place} is not a whole number from 0", f"write {key} = 3", found=repr(value))
    return None


def _check_together(events: Iterable[Event], report: TomlReport) -> None:
    events = tuple(events)
    by_name = {event.name: event for event in events}
    for name, times in Counter(event.name for event in events).items():
        if times > 1:
            report.add(f"the event {name} is declared {times} times", "give every event a name of its own", found=name)
    for event in events:
        _check_prior(event, by_name, report)
    for name in by_name:
        _check_choices(name, events, report)


def _check_prior(event: Event, by_name: Mapping[str, Event], report: TomlReport) -> None:
    if bool(event.per) == (event.rate is not None):
        report.add(f"the event {event.name} needs either `poisson` or `per`", "write one of the two", found=event.name)
    elif event.per and (event.per not in by_name or by_name[event.per].per):
        report.add(
            f"the event {event.name} follows {event.per!r}, which is no event with a rate of its own",
            "name an event that has `poisson`",
            found=event.per,
        )
    elif event.per and not event.probability:
        report.add(f"the event {event.name} has no `probability`", "write how often it follows, as 0.86")
    elif not event.per and event.points == 0 and event.at_most is None:
        report.add(f"the event {event.name} adds nothing and has no bound", "write `points`, or `at_most` as a bound")


def _check_choices(name: str, events: Iterable[Event], report: TomlReport) -> None:
    together = math.fsum(event.probability for event in events if event.per == name)
    if together > 1 + 1e-9:
        report.add(
            f"the choices after {name} have probabilities that add up to {together:g}",
            "make them add up to 1 at most; the rest is that none happens",
        )
