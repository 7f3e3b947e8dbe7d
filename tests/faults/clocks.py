"""Processes on a machine whose wall clock is wrong, by as much as a file says, and can jump at any moment.

The kernel lets nobody give one process another wall clock (time namespaces move only the clock that counts from the
start of the machine). So the one function that everything in the process asks for the time is replaced: our own code,
the engine of the jobs, and the log.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from tests.offices.machines import serve, work

from basanite.campaign.settings import Settings

DAY = 86_400.0


def set_wrong(hands: Path) -> None:
    """From now on the time in this process is wrong by the seconds in a file."""
    right = time.time

    def wrong() -> float:
        with suppress(OSError, ValueError):
            return right() + float(hands.read_text())
        return right()

    time.time = wrong


def work_by(settings: Settings, hands: str) -> None:
    """Be a worker on such a machine."""
    set_wrong(Path(hands))
    work(settings)


def serve_by(settings: Settings, port: int, hands: str) -> None:
    """Be a server on such a machine."""
    set_wrong(Path(hands))
    serve(settings, port)
