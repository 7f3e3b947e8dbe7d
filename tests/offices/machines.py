"""Processes to be killed (workers, servers, workers without room on their disk), and whether all is well after it."""

from __future__ import annotations

import logging
import os
import resource
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from logging.handlers import MemoryHandler
from multiprocessing import get_context
from multiprocessing.process import BaseProcess as Process
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.jobs.worker import run, running
from basanite.campaign.office import Office
from basanite.campaign.settings import Settings
from basanite.campaign.store import events, looks
from basanite.campaign.store.tables import (
    Adoption,
    Charge,
    Event,
    Looks,
    Message,
    Receipt,
    Result,
    Submission,
    Upload,
    Worker,
)
from basanite.sandbox import kernel

QUICK: Mapping[str, float] = {
    "silent_seconds": 3,
    "poll_seconds": 0.2,
    "duty_seconds": 1,
    "pause_seconds": 0.1,
    "tries": 50,
    "seconds": 60,
}
"""Limits that make faults show in seconds; so many tries that kills alone end nothing."""


PRELOADED = [
    "tests.offices.machines",
    "tests.offices.submitting",
    "basanite.campaign.duties",
    "basanite.server.app",
    "basanite.server.pages",
    "uvicorn.main",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
]
"""What processes import that are to be at work at once; the server loads its pages only when it starts."""


@dataclass
class Machines:
    """The processes of one office, by name; what they print is kept in a folder.

    They are forked from a server that has imported everything, so that they are at work at once and can be killed
    there, not while they are still starting.
    """

    office: Office
    folder: Path
    processes: dict[str, Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.starter = get_context("forkserver")
        self.starter.set_forkserver_preload(PRELOADED)

    def start(self, name: str, program: Callable[..., None], *arguments: Any) -> None:
        """Start a function with arguments as a process of its own."""
        given = (str(self.folder / f"{name}.log"), program, *arguments)
        process: Any = self.starter.Process(target=_printing, args=given, name=name, daemon=True)
        process.start()
        self.processes[name] = process

    def worker(self, name: str) -> None:
        """Start a worker."""
        self.start(name, work, self.office.settings)

    def kill(self, name: str) -> None:
        """Kill a process as a power cut would."""
        process = self.processes.pop(name)
        process.kill()
        process.join()

    def terminate(self, name: str) -> None:
        """Ask a process to end, and wait for it."""
        process = self.processes.pop(name)
        process.terminate()
        process.join()

    def stop_all(self) -> None:
        """Kill what is left."""
        for name in list(self.processes):
            self.kill(name)

    def at_work(self, name: str) -> bool:
        """Whether a worker has said that it is there."""
        with self.office.reading() as session:
            found = select(Worker.id).where(Worker.process == self.processes[name].pid, Worker.stopped.is_(None))
            return session.scalar(found) is not None

    def logs(self) -> str:
        """The end of what each process printed."""
        return "\n".join(f"== {path.name}\n{path.read_text()[-2000:]}" for path in sorted(self.folder.glob("*.log")))


def _printing(log: str, program: Callable[..., None], *arguments: Any) -> None:
    """Run a program with its output in a file; it ends with the server that forked it, and so with the test."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    logging.basicConfig(level=logging.WARNING, format="%(process)d %(message)s", force=True)
    program(*arguments)


def work(settings: Settings) -> None:
    """Be a worker until the end."""
    run(Office.open(settings), threading.Event())


def wait_until(check: Callable[[], bool], seconds: float, step: float = 0.25) -> bool:
    """Wait for something to become true; whether it did in time."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


def serve(settings: Settings, port: int, grace: int = 2) -> None:
    """Be a server without a worker until the end; `grace` is how long calls may take to end when it is stopped."""
    import uvicorn

    from basanite.server.app import make_app
    from basanite.server.connections import server_config

    app = make_app(Office.open(settings))
    uvicorn.Server(server_config(app, settings, "127.0.0.1", port, timeout_graceful_shutdown=grace)).run()


def free_port() -> int:
    """A port on loopback that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def work_on_full_disk(settings: Settings, begins: float, lasts: float) -> None:
    """Be a worker on a machine whose disk is full for a while: whatever it or its children write is refused.

    What it logs meanwhile is held in memory, for the log cannot be written either.
    """
    held = MemoryHandler(100_000, flushLevel=logging.CRITICAL + 1, target=logging.StreamHandler())
    logging.basicConfig(level=logging.WARNING, handlers=[held], force=True)
    with running(Office.open(settings)):
        threading.Timer(begins, _set_room, (0,)).start()
        threading.Timer(begins + lasts, _set_room, (resource.RLIM_INFINITY, held)).start()
        threading.Event().wait()


def _set_room(most: int, held: MemoryHandler | None = None) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    if held is not None:
        held.capacity = 1
        held.flush()


def descendants(process: int) -> set[int]:
    """The processes that a process started, and those that these started."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, IndexError):
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    found, fresh = set[int](), {process}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


FINAL = ("scored", "invalid", "failed")
COSTS = {"scored": "charged", "invalid": "freed", "failed": "refunded"}


def states(office: Office) -> Counter[str]:
    """How many submissions are in which state."""
    with office.reading() as session:
        return Counter(session.scalars(select(Submission.state)))


def all_ended(office: Office) -> bool:
    """Whether every submission is in a final state."""
    return set(states(office)) <= set(FINAL)


@dataclass(frozen=True)
class Judgement:
    """What the database says of all submissions."""

    states: Counter[str]
    wrong: tuple[str, ...]
    tries: int
    workers: int

    @property
    def words(self) -> str:
        """What became of all, in one line.

        >>> Judgement(Counter({"scored": 3, "invalid": 1}), (), tries=1, workers=2).words
        'all 4 submissions ended, each once: 1 invalid, 3 scored'
        """
        ends = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        if self.wrong:
            return f"{len(self.wrong)} things wrong; {ends}"
        if self.states.total() == 1:
            return f"the submission ended once: {next(iter(self.states))}"
        return f"all {self.states.total()} submissions ended, each once: {ends}"

    def table(self, **more: Any) -> str:
        """The judgement for people, after some facts about how it came to be."""
        rows = {name.replace("_", " "): value for name, value in more.items()}
        rows |= {f"ended {name}": count for name, count in sorted(self.states.items())}
        rows |= {"worker processes": self.workers, "most tries of a stage": self.tries, "wrong": len(self.wrong)}
        wide = max(map(len, rows))
        return "\n".join(f"  {name:<{wide}}  {value:>10}" for name, value in rows.items())


def judge(office: Office) -> Judgement:
    """Look at every row: each submission ended once, with one cost, one result if scored, one receipt, one story."""
    with office.reading() as session:
        rows = session.scalars(select(Submission)).all()
        wrong = [f"event {number} of the log" for number in events.broken(session)]
        for row in rows:
            wrong += [f"{row.id} ({row.state}): {fault}" for fault in _faults(session, row)]
        reserved = select(Charge.id).join(Upload, Upload.id == Charge.upload_id, isouter=True)
        loose = reserved.where(Charge.state == "reserved", func.coalesce(Upload.state, "") != "open")
        wrong += [f"attempt {one} is taken by nothing" for one in session.scalars(loose)]
        wrong += _wrong_counts(session, rows)
        workers = session.scalar(select(func.count()).select_from(Worker)) or 0
        tries = max((row.tries for row in rows), default=0)
        return Judgement(Counter(row.state for row in rows), tuple(wrong), tries, workers)


def _faults(session: Session, row: Submission) -> Iterator[str]:
    if row.state not in FINAL:
        yield "has not ended"
        return
    charges = list(session.scalars(select(Charge.state).where(Charge.submission_id == row.id)))
    if charges != [COSTS[row.state]]:
        yield f"costs {charges}"
    yield from _results(session, row)
    yield from _story(session, row)


def _wrong_counts(session: Session, rows: Iterable[Submission]) -> list[str]:
    """Whether the numbers of results that are kept are those of the submissions that are scored."""
    kept = {tuple(getattr(one, name) for name in looks.PLACE): one.count for one in session.scalars(select(Looks))}
    there = Counter(tuple(getattr(row, name) for name in looks.PLACE) for row in rows if row.state == "scored")
    return [] if kept == there else [f"looks are {kept}, results are {dict(there)}"]


def _results(session: Session, row: Submission) -> Iterator[str]:
    receipts = select(func.count()).where(Receipt.submission_id == row.id, Receipt.kind == "intake")
    counts = {
        "results": session.scalar(select(func.count()).where(Result.submission_id == row.id)),
        "adoptions": session.scalar(select(func.count()).where(Adoption.submission_id == row.id)),
    }
    for name, count in counts.items():
        if count != int(row.state == "scored"):
            yield f"{count} {name}"
    if session.scalar(receipts) != 1:
        yield "not one intake receipt"


def _story(session: Session, row: Submission) -> Iterator[str]:
    """The log tells one verdict, and nobody is told anything twice."""
    said = Counter(session.scalars(select(Event.kind).where(Event.subject == row.id)))
    ends = {kind: said[f"submission.{kind}"] for kind in FINAL}
    if ends != {kind: int(kind == row.state) for kind in FINAL} or said["submission.accepted"] != 1:
        yield f"the log says {dict(said)}"
    if row.state != "failed" and said["submission.valid"] != int(row.state == "scored"):
        yield f"the log says {dict(said)}"
    mails = select(Message.template).where(Message.once.contains(row.id), Message.kind == "mail")
    told = Counter(session.scalars(mails))
    if twice := [template for template, count in told.items() if count > 1]:
        yield f"told twice: {twice}"
