"""A model of how much a server carries: measured costs and an event's numbers in, utilisation of each part out.

It is a model. Every part is a station with so many places, each busy for some measured seconds per call or submission.
Utilisation is demand by capacity in the busiest hour; what is above 1 cannot be carried and waits. Nothing here
measures: `scale.py` does, and checks the model against a run that it was not made from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

HOUR = 3600.0
COMFORTABLE = 0.7
"""The utilisation that a part is planned for: beyond it waiting grows quickly."""


@dataclass(frozen=True)
class Call:
    """What one call takes: CPU seconds of a web process and of the database, seconds of the one writer."""

    web: float
    database: float = 0.0
    writer: float = 0.0


@dataclass(frozen=True)
class Scoring:
    """What one submission takes once it is in: seconds of a worker's place, CPU seconds, seconds of the one writer."""

    place: float
    cpu: float
    writer: float = 0.0
    database: float = 0.0


@dataclass(frozen=True)
class Room:
    """Bytes that one submission leaves: in the database, in the file that was sent, in the files that we write."""

    database: float
    sent: float
    ours: float

    @property
    def all(self) -> float:
        """All of them."""
        return self.database + self.sent + self.ours


@dataclass(frozen=True)
class Figures:
    """What was measured on one engine."""

    engine: str
    calls: Mapping[str, Mapping[int, Call]]
    """By kind, then by how many submissions were stored."""
    scoring: Scoring
    room: Room
    idle: float = 0.0
    """The share of the one writer's time that each worker takes by looking for work."""
    board_row: float = 0.0
    """CPU seconds that each further team on a board adds to looking at it."""
    board_teams: int = 1
    """How many teams were on the board that was measured."""


@dataclass(frozen=True)
class Event:
    """What is expected of an event. The last hour before its deadline is what it must be made for."""

    name: str
    teams: int
    users: int
    submissions: int
    last_hour: float
    """The share of all submissions that come in the last hour."""
    looking: float
    """The share of all users who look at pages in that hour."""
    calls_an_hour: float
    """How often each of them does."""
    mix: Mapping[str, float] = field(default_factory=dict)
    """The share of each kind of call among these."""
    sent_bytes: float = 0.0
    """The size of one submission; 0: as measured."""

    @property
    def submissions_a_second(self) -> float:
        """In the last hour."""
        return self.submissions * self.last_hour / HOUR

    @property
    def calls_a_second(self) -> float:
        """In the last hour, without those that submit."""
        return self.users * self.looking * self.calls_an_hour / HOUR


@dataclass(frozen=True)
class Deployment:
    """What is there to carry it."""

    engine: str
    web: int = 1
    """Web processes; each is busy on one core at a time."""
    workers: int = 1
    """Submissions that are scored side by side, each on a core of its own."""
    database: int = 1
    """Cores of PostgreSQL; a file has none of its own."""
    disk: float = 100e9
    """Bytes of disk, for files and database."""
    line: float = 100e6
    """Bytes a second that the disk and the line to it take."""


@dataclass(frozen=True)
class Load:
    """One part in the last hour."""

    part: str
    demand: float
    capacity: float

    @property
    def utilisation(self) -> float:
        """Demand by capacity; above 1 it is not carried.

        >>> Load("web", 3.0, 2.0).utilisation
        1.5
        """
        return self.demand / self.capacity


def cost_at(points: Mapping[int, float], stored: float) -> float:
    """A cost at some number of stored submissions: straight lines between what was measured, the last goes on.

    A line that falls beyond the last point is taken as level: nothing becomes cheaper by being more.

    >>> rising, falling = {1000: 1.0, 2000: 2.0}, {1000: 2.0, 2000: 1.0}
    >>> cost_at(rising, 1500), cost_at(rising, 4000), cost_at(falling, 9000)
    (1.5, 4.0, 1.0)
    """
    known = sorted(points.items())
    if stored <= known[0][0] or len(known) == 1:
        return known[0][1]
    for (left, low), (right, high) in pairwise(known):
        if stored <= right:
            return low + (high - low) * (stored - left) / (right - left)
    (left, low), (right, high) = known[-2:]
    return high + max(high - low, 0.0) * (stored - right) / (right - left)


def call_at(points: Mapping[int, Call], stored: float) -> Call:
    """A call at some number of stored submissions."""
    parts = {
        name: {size: getattr(call, name) for size, call in points.items()} for name in ("web", "database", "writer")
    }
    return Call(**{name: cost_at(values, stored) for name, values in parts.items()})


def looks(event: Event, figures: Figures) -> Call:
    """What one look at a page takes on average, when all submissions are stored and all teams are on the board."""
    taken = [(share, _look(kind, event, figures)) for kind, share in event.mix.items()]
    whole = sum(share for share, _ in taken) or 1.0
    parts = ("web", "database", "writer")
    return Call(**{name: sum(share * getattr(call, name) for share, call in taken) / whole for name in parts})


def _look(kind: str, event: Event, figures: Figures) -> Call:
    call = call_at(figures.calls[kind], event.submissions)
    if kind != "board":
        return call
    return replace(call, web=max(call.web + figures.board_row * (event.teams - figures.board_teams), 0.0))


def loads(event: Event, deployment: Deployment, figures: Figures) -> tuple[Load, ...]:
    """Demand and capacity of every part in the last hour."""
    look, submit = looks(event, figures), call_at(figures.calls["submit"], event.submissions)
    calls, submissions = event.calls_a_second, event.submissions_a_second
    room = replace(figures.room, sent=event.sent_bytes or figures.room.sent)
    database = calls * look.database + submissions * (submit.database + figures.scoring.database)
    writer = calls * look.writer + submissions * (submit.writer + figures.scoring.writer)
    found = [
        Load("web", calls * look.web + submissions * submit.web, deployment.web),
        Load("workers", submissions * figures.scoring.place, deployment.workers),
        Load("writer", writer + deployment.workers * figures.idle, 1.0),
        Load("disk", event.submissions * room.all, deployment.disk),
        Load("line", submissions * 2 * room.all, deployment.line),  # written when it comes, read when it is scored
    ]
    return (*found, Load("database", database, deployment.database)) if database else tuple(found)


def first_full(found: tuple[Load, ...]) -> Load:
    """The part that is the first to be full if the event grows."""
    return max(found, key=lambda load: load.utilisation)


def headroom(found: tuple[Load, ...]) -> float:
    """How many times the event could be as large until its first part is full.

    >>> headroom((Load("web", 1.0, 4.0), Load("disk", 1.0, 2.0)))
    2.0
    """
    return 1 / first_full(found).utilisation


def wanted(event: Event, deployment: Deployment, figures: Figures) -> Deployment:
    """The smallest deployment on which every part that can be added to stays comfortable."""
    need = {load.part: load.demand / COMFORTABLE for load in loads(event, deployment, figures)}
    return replace(
        deployment,
        web=_places(need["web"], deployment.web),
        workers=_places(need["workers"], deployment.workers),
        database=_places(need.get("database", 0.0), deployment.database),
        disk=max(deployment.disk, need["disk"]),
        line=max(deployment.line, need["line"]),
    )


def _places(need: float, there: int) -> int:
    return max(there, math.ceil(need - 1e-9))


def wait_for_last(event: Event, deployment: Deployment, figures: Figures) -> float:
    """Seconds from the deadline until the last submission of the last hour is scored, if nothing was waiting before."""
    rate = min(deployment.workers / figures.scoring.place, _writer_rate(event, figures))
    backlog = max(event.submissions_a_second - rate, 0.0) * HOUR
    return figures.scoring.place + backlog / rate


def _writer_rate(event: Event, figures: Figures) -> float:
    """Submissions a second that the one writer can take in and see through."""
    each = call_at(figures.calls["submit"], event.submissions).writer + figures.scoring.writer
    return 1 / each if each else math.inf


@dataclass(frozen=True)
class Crew:
    """A run on one machine, with everything on the same cores: its users and its workers."""

    cores: int
    workers: int
    users: int
    thinking: float
    """Seconds between two calls of one user."""
    stored: int
    mix: Mapping[str, float]
    caller: float = 0.0
    """CPU seconds that the caller itself takes for a call: it runs on the same cores."""


@dataclass(frozen=True)
class Foretold:
    """What the model says of a run."""

    calls_a_second: float
    wait: float
    """Mean seconds of a call."""
    scored_a_second: float


def foretell(crew: Crew, figures: Figures) -> Foretold:
    """Calls, their wait, and the rate of the queue on one machine whose cores users and workers share.

    Users think and call, one web process answers: mean value analysis of a closed line. Everything that wants a core is
    slowed down by as much as there are more who want one than there are cores.
    """
    each = _mixed(crew, figures)
    calls, wait = 0.0, each.web + each.database
    for _ in range(50):  # calls and slowness depend on each other
        busy = calls * (each.web + each.database + crew.caller)
        slow = max(1.0, (crew.workers + busy) / crew.cores)
        calls, wait = answered(crew.users, crew.thinking, (each.web + each.database) * slow, crew.caller * slow)
    slowed = (figures.scoring.cpu + figures.scoring.database) * slow
    return Foretold(calls, wait, crew.workers / max(figures.scoring.place, slowed))


def _mixed(crew: Crew, figures: Figures) -> Call:
    taken = [(share, call_at(figures.calls[kind], crew.stored)) for kind, share in crew.mix.items()]
    parts = ("web", "database", "writer")
    return Call(**{name: sum(share * getattr(call, name) for share, call in taken) for name in parts})


def answered(users: int, thinking: float, service: float, more: float = 0.0) -> tuple[float, float]:
    """Calls a second, and the mean wait of one, of users who think and then wait for one place of service.

    `more` is spent on each call without anybody else waiting for it.

    >>> answered(1, 1.0, 0.25)
    (0.8, 0.25)
    """
    waiting, calls, wait = 0.0, 0.0, service
    for number in range(1, users + 1):
        wait = service * (1 + waiting)
        calls = number / (thinking + wait + more)
        waiting = calls * wait
    return calls, wait + more
