"""Processes that tell what they take: the time they hold the one place where all writers wait, and their CPU seconds.

On SQLite that place is the file, from BEGIN IMMEDIATE on; on PostgreSQL it is the head of the log, from its advisory
lock on. Both are given back with the end of the transaction, when the connection goes back to its pool. Where others
use the machine too, the time on the clock says more about them than about us: so the holder's processor time is kept
beside it, and what one commit takes at best is measured for itself.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

GRANTED = ("BEGIN IMMEDIATE", "SELECT pg_advisory_xact_lock")
EVERY = 0.2
TICKS = os.sysconf("SC_CLK_TCK")


class Held:
    """How long this process has held the writers' place, and how often."""

    def __init__(self):
        self.seconds, self.cpu, self.turns, self.lock = 0.0, 0.0, 0, threading.Lock()

    def granted(self, connection, cursor, statement, parameters, context, many):
        """A statement was answered; some of them mean that all other writers wait from now on."""
        if statement.startswith(GRANTED):
            connection.info.setdefault("held since", (time.perf_counter(), time.thread_time()))

    def given_back(self, connection, record):
        """A connection goes back to its pool: its transaction has ended."""
        since = record.info.pop("held since", None)
        if since is not None:
            with self.lock:
                self.seconds += time.perf_counter() - since[0]
                self.cpu += time.thread_time() - since[1]
                self.turns += 1


def watched():
    """Count from now on, on every engine of this process."""
    from sqlalchemy import Engine, event
    from sqlalchemy.pool import Pool

    held = Held()
    event.listen(Engine, "after_cursor_execute", held.granted)
    event.listen(Pool, "checkin", held.given_back)
    return held


def telling(path, program, *arguments):
    """Be a program that writes down, a few times a second, how long it held the writers' place."""
    held = watched()
    threading.Thread(target=_tell, args=(Path(path), held), daemon=True).start()
    program(*arguments)


def _tell(path, held):
    while True:
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps({"seconds": held.seconds, "cpu": held.cpu, "turns": held.turns}))
        fresh.replace(path)
        time.sleep(EVERY)


def told(path):
    """What a process has written down."""
    path = Path(path)
    return json.loads(path.read_text()) if path.exists() else {"seconds": 0.0, "cpu": 0.0, "turns": 0}


def commit_seconds(url, tries=40):
    """What it takes at best to write one row and have it kept."""
    from sqlalchemy import text

    from basanite.campaign.store.database import make_engine

    engine, seconds = make_engine(url), []
    with engine.execution_options(writes=True).begin() as connection:
        connection.execute(text("CREATE TABLE commits (number INTEGER)"))
    for number in range(tries):
        began = time.perf_counter()
        with engine.execution_options(writes=True).begin() as connection:
            connection.execute(text("INSERT INTO commits VALUES (:number)"), {"number": number})
        seconds.append(time.perf_counter() - began)
    engine.dispose()
    return min(seconds)


def cpu_of(process):
    """CPU seconds of a process and of its children that have ended; none if it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def cpu_of_database(server):
    """CPU seconds of a PostgreSQL and of those who serve its connections."""
    from tests.offices.machines import descendants

    if server is None:
        return 0.0
    ended = cpu_of(server.process.pid)
    return ended + sum(_own_cpu(one) for one in descendants(server.process.pid))


def _own_cpu(process):
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / TICKS
