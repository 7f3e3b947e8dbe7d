"""Processes to be killed: workers, servers, and workers without room on their disk."""

from __future__ import annotations

import logging
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from logging.handlers import MemoryHandler
from multiprocessing import get_context
from multiprocessing.process import BaseProcess as Process
from pathlib import Path
from typing import Any

from sqlalchemy import select

from basanite.campaign.jobs.worker import run, running
from basanite.campaign.office import Office
from basanite.campaign.settings import Settings
from basanite.campaign.store.tables import Worker
from basanite.harness.sandbox import syscalls

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
    "basanite.testing.faults",
    "basanite.testing.submitting",
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
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
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
    from basanite.server.lines import configured

    app = make_app(Office.open(settings))
    uvicorn.Server(configured(app, settings, "127.0.0.1", port, timeout_graceful_shutdown=grace)).run()


def free_port() -> int:
    """A port on loopback that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def starved(settings: Settings, begins: float, lasts: float) -> None:
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
