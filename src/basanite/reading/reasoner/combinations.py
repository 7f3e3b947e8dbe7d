"""Which combinations of events make up a total, and how likely each is: exact enumeration with priors (R-11).

A file of theory says which events are counted and what each is worth. An event comes at a rate of its own (`poisson`),
or is one of the choices that may follow another event (`per`), each with its probability; what is left of the choices'
probability is that none of them happens.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError, UnknownNameError
from basanite.formats.toml_file import TomlReport, read_checked_toml
from basanite.problems import Findings
from basanite.reading.limits import LimitReachedError, Limits, Undecided
from basanite.registry import suggestion

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
    return read_checked_toml(path, "theory", "R-11", _theory, findings)


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
            f"the event {event.name} follows {event.per!r}, which is not an event with a rate of its own",
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


STEPS_PER_WORLD = 20
"""Counts that are tried for each world that is allowed: most lead nowhere."""


@dataclass(frozen=True)
class Bounds:
    """What is stated about counts: least, most, or exactly so many, by the name of the event."""

    at_least: Mapping[str, int] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    exactly: Mapping[str, int] = field(default_factory=dict)

    def of(self, event: Event, most: int) -> range:
        """The counts that an event may have, given the most that there is room for."""
        low = max(self.at_least.get(event.name, 0), self.exactly.get(event.name, 0))
        ceilings = (event.at_most, self.at_most.get(event.name), self.exactly.get(event.name))
        return range(low, min([most, *(ceiling for ceiling in ceilings if ceiling is not None)]) + 1)


@dataclass(frozen=True)
class World:
    """One way to reach the total."""

    counts: Mapping[str, int]
    probability: float


@dataclass(frozen=True)
class Combinations:
    """All worlds, the most likely first; none and nothing undecided: a contradiction."""

    worlds: tuple[World, ...]
    undecided: tuple[Undecided, ...] = ()

    @property
    def consistent(self) -> bool | None:
        """Whether any world fits; not known where a limit was reached."""
        return None if self.undecided else bool(self.worlds)

    def marginals(self) -> dict[str, dict[int, float]]:
        """For every event, how likely each of its counts is."""
        parts: defaultdict[str, defaultdict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for world in self.worlds:
            for name, count in world.counts.items():
                parts[name][count].append(world.probability)
        return {name: {count: math.fsum(parts[name][count]) for count in sorted(parts[name])} for name in parts}


def combinations(
    theory: Theory, total: int, bounds: Bounds | None = None, *, limits: Limits | None = None
) -> Combinations:
    """The ranked worlds of a total; a limit that is reached leaves the question undecided (X-13)."""
    bounds, limits = bounds or Bounds(), limits or Limits()
    _check_names(theory, bounds)
    if total < 0:
        raise SettingError(f"The total is {total}: give a whole number from 0.")
    try:
        counted = list(_Enumeration(theory, bounds, limits).worlds(total))
    except LimitReachedError as reached:
        return Combinations((), (Undecided.by_limit(reached),))
    return Combinations(tuple(_ranked_worlds(theory, counted)))


def _check_names(theory: Theory, bounds: Bounds) -> None:
    names = tuple(event.name for event in theory.events)
    for name in {*bounds.at_least, *bounds.at_most, *bounds.exactly} - {*names}:
        raise UnknownNameError(f"The theory counts no event {name!r}. {suggestion(name, names)}")


class _Enumeration:
    """A walk over the events in order of worth; steps and worlds are counted against the limits."""

    def __init__(self, theory: Theory, bounds: Bounds, limits: Limits) -> None:
        self.bounds, self.limits, self.steps, self.found = bounds, limits, 0, 0
        free = sorted((event for event in theory.events if not event.per), key=lambda event: -event.points)
        self.order = [*free, *(choice for event in free for choice in theory.choices(event.name))]

    def worlds(self, total: int) -> Iterator[dict[str, int]]:
        """Every way to reach the total."""
        yield from self._from(0, total, {})

    def _from(self, at: int, rest: int, counts: dict[str, int]) -> Iterator[dict[str, int]]:
        if at == len(self.order):
            if rest == 0:
                self.found += 1
                if self.found > self.limits.worlds:
                    raise LimitReachedError("worlds", self.limits.worlds)
                yield dict(counts)
            return
        event = self.order[at]
        for count in self._counts(at, rest, counts):
            counts[event.name] = count
            yield from self._from(at + 1, rest - count * event.points, counts)
        counts.pop(event.name, None)

    def _counts(self, at: int, rest: int, counts: Mapping[str, int]) -> Iterator[int]:
        """The counts to try for one event; the last one that is worth anything is settled by what is left."""
        event = self.order[at]
        room = rest // event.points if event.points else rest + counts.get(event.per, 0) + (event.at_most or 0)
        if event.per:
            siblings = (other for other in self.order[:at] if other.per == event.per)
            room = min(room, counts[event.per] - sum(counts[other.name] for other in siblings))
        allowed = self.bounds.of(event, room)
        if at == len(self.order) - 1 and event.points:
            allowed = allowed if rest % event.points == 0 and rest // event.points in allowed else range(0)
            allowed = allowed and range(rest // event.points, rest // event.points + 1)
        for count in allowed:
            self.steps += 1
            if self.steps > min(self.limits.bindings, STEPS_PER_WORLD * self.limits.worlds):
                raise LimitReachedError("worlds", self.limits.worlds)
            yield count


def _ranked_worlds(theory: Theory, counted: Sequence[Mapping[str, int]]) -> Iterator[World]:
    """Worlds with their probabilities, the most likely first; those that the priors exclude are left out."""
    possible = [(weight, counts) for counts in counted if (weight := _log_weight(theory, counts)) > -math.inf]
    if not possible:
        return
    most = max(weight for weight, _ in possible)
    total = math.fsum(math.exp(weight - most) for weight, _ in possible)
    names = [event.name for event in theory.events]
    for weight, counts in sorted(possible, key=lambda one: (-one[0], [-one[1][name] for name in names])):
        yield World({name: counts[name] for name in names}, math.exp(weight - most) / total)


def _log_weight(theory: Theory, counts: Mapping[str, int]) -> float:
    """The logarithm of a world's prior probability: Poisson for events that come by themselves, then choices."""
    rates = ((event.rate, counts[event.name]) for event in theory.events if event.rate is not None)
    own = [count * math.log(rate) - rate - math.lgamma(count + 1) for rate, count in rates]
    followed = [_log_choices(theory.choices(event.name), counts[event.name], counts) for event in theory.events]
    return math.fsum([*own, *followed])


def _log_choices(choices: Sequence[Event], times: int, counts: Mapping[str, int]) -> float:
    """Of so many chances each took one of the choices or none: the multinomial probability."""
    if not choices:
        return 0.0
    none = times - sum(counts[choice.name] for choice in choices)
    left = max(1.0 - math.fsum(choice.probability for choice in choices), 0.0)
    parts = [(none, left), *((counts[choice.name], choice.probability) for choice in choices)]
    ways = math.lgamma(times + 1) - math.fsum(math.lgamma(count + 1) for count, _ in parts)
    return ways + math.fsum(_log_power(share, count) for count, share in parts)


def _log_power(share: float, count: int) -> float:
    """The logarithm of `share ** count`; a share that is only rounding is none."""
    if count == 0:
        return 0.0
    return count * math.log(share) if share > 1e-12 else -math.inf
