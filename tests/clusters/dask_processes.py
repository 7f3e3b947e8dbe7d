"""A Dask cluster of real processes on this machine: a scheduler and workers that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STARTING = 60.0


@dataclass
class Processes:
    """The processes of a cluster, and what they were started with."""

    folder: Path
    options: tuple[str, ...] = ()
    scheduler: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the scheduler listens."""
        return str(json.loads((self.folder / "scheduler.json").read_text())["address"])

    def start(self, host: str = "127.0.0.1") -> None:
        """Start the scheduler and wait until it listens."""
        self.scheduler = self._process("scheduler", "--host", host, "--port", "0")
        until = time.monotonic() + STARTING
        while not self._is_listening():
            assert time.monotonic() < until, "the scheduler did not start"
            time.sleep(0.1)

    def _is_listening(self) -> bool:
        """Whether its file is there as a whole: for a moment it is there and empty."""
        with suppress(OSError, ValueError):
            return bool(self.address)
        return False

    def add(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        words = ("--nthreads", "1", "--no-nanny", "--death-timeout", "30")
        self.workers.append(self._process("worker", *words, **environment))
        return self.workers[-1]

    def _process(self, kind: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        place = self.folder / f"{kind}-{len(self.workers)}"
        place.mkdir()  # a worker stands in another folder than anyone who gives it work
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard"]
        file = ("--scheduler-file", str(self.folder / "scheduler.json"))
        path = os.pathsep.join(filter(None, (environment.pop("PYTHONPATH", ""), str(ROOT))))
        with (place / "log").open("wb") as log:
            return subprocess.Popen(
                [*command, *file, *self.options, *words],
                cwd=place,
                env={**os.environ, **environment, "PYTHONPATH": path},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def end(self) -> None:
        """End all of them, and wait until they have gone."""
        for process in filter(None, (*self.workers, self.scheduler)):
            process.kill()
            process.wait()


@contextmanager
def dask_cluster(folder: Path, *options: str, workers: int = 2, host: str = "127.0.0.1") -> Iterator[Processes]:
    """A cluster that ends with the block."""
    processes = Processes(folder, options)
    try:
        processes.start(host)
        for _ in range(workers):
            processes.add()
        yield processes
    finally:
        processes.end()


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process as a crash does."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
