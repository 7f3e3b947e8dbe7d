"""Which combinations of events make up a total, and how likely each is: exact enumeration with priors (R-11).

The worlds are all ways to reach the total within the stated bounds; their prior weights, divided by their sum, are
their probabilities. No world at all means that total and bounds contradict the theory.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from basanite.errors import SettingError, UnknownNameError
from basanite.reading.limits import LimitReachedError, Limits, Undecided
from basanite.reading.reasoner.worlds.theory_file import Event, Theory
from basanite.registry import suggestion

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
    return Combinations(tuple(_ranked(theory, counted)))


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
                self._count_world()
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
            self._count_step()
            yield count

    def _count_step(self) -> None:
        self.steps += 1
        if self.steps > min(self.limits.bindings, STEPS_PER_WORLD * self.limits.worlds):
            raise LimitReachedError("worlds", self.limits.worlds)

    def _count_world(self) -> None:
        self.found += 1
        if self.found > self.limits.worlds:
            raise LimitReachedError("worlds", self.limits.worlds)


def _ranked(theory: Theory, counted: Sequence[Mapping[str, int]]) -> Iterator[World]:
    """Worlds with their probabilities, the most likely first; those that the priors exclude are left out."""
    weighed = [(_log_weight(theory, counts), counts) for counts in counted]
    possible = [(weight, counts) for weight, counts in weighed if weight > -math.inf]
    if not possible:
        return
    most = max(weight for weight, _ in possible)
    total = math.fsum(math.exp(weight - most) for weight, _ in possible)
    names = [event.name for event in theory.events]
    for weight, counts in sorted(possible, key=lambda one: (-one[0], [-one[1][name] for name in names])):
        yield World({name: counts[name] for name in names}, math.exp(weight - most) / total)


def _log_weight(theory: Theory, counts: Mapping[str, int]) -> float:
    """The logarithm of a world's prior probability."""
    own = [_log_poisson(event.rate, counts[event.name]) for event in theory.events if event.rate is not None]
    followed = [_log_choices(theory.choices(event.name), counts[event.name], counts) for event in theory.events]
    return math.fsum([*own, *followed])


def _log_poisson(rate: float, count: int) -> float:
    return count * math.log(rate) - rate - math.lgamma(count + 1)


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
