"""A database server that is killed as by a power cut."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from tests.offices.machines import descendants, wait_until
from tests.offices.postgres import Postgres


def kill_server(server: Postgres) -> None:
    """Kill a server and every process that it started; its data stay as they were at that moment."""
    every = {server.process.pid, *descendants(server.process.pid)}
    for process in every:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    server.process.wait()
    wait_until(lambda: not any(os.path.exists(f"/proc/{process}") for process in every), 10, 0.02)  # noqa: PTH110
