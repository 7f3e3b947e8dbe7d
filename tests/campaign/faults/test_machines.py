"""Workers that stop without dying, die with their children at work, or find no room on the disk."""

import os
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url
from tests.offices.machines import all_ended, descendants, judge, states, wait_until, work_on_full_disk
from tests.offices.submitting import submit

FULL = 6.0
"""Seconds that the disk is full."""
REFUSED = re.compile("disk I/O error|disk is full|File too large")


def at_work_on(office):
    """Whether a submission is being worked on."""
    return bool({"validating", "scoring"} & set(states(office)))


def frozen_at_work(office, process):
    """Whether a worker is frozen while it holds a submission; one that holds the file's lock is let go again.

    SQLite lets nobody write while a process stands still in the middle of a transaction, no matter who it is.
    """
    os.kill(process, signal.SIGSTOP)
    assert wait_until(lambda: stands_still(process), 10, 0.001)
    if at_work_on(office) and others_can_write(office):
        return True
    os.kill(process, signal.SIGCONT)
    return False


def stands_still(process):
    """Whether all threads have stopped: one that is asking the system for a lock meanwhile still gets it."""
    try:
        stats = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/stat")]
    except (FileNotFoundError, ProcessLookupError):  # a thread ended just now
        return False
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def others_can_write(office):
    """Whether a transaction that writes can begin."""
    with closing(sqlite3.connect(make_url(office.settings.database_url).database, timeout=0.5)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True


@pytest.mark.slow
@pytest.mark.fault("worker frozen, then awake again")
def test_what_a_frozen_worker_held_is_done_by_another_and_counts_once_when_it_wakes(place, pack, fault):
    office, teams, machines = place()
    for member in teams.members[:3]:
        submit(office, member, pack.perfect)
    machines.worker("frozen")
    worker = machines.processes["frozen"].pid
    assert wait_until(lambda: frozen_at_work(office, worker), 60, 0.02), machines.logs()
    began = time.monotonic()
    machines.worker("other")
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    seconds = time.monotonic() - began
    os.kill(worker, signal.SIGCONT)
    time.sleep(3)  # what it still worked on is finished now
    judgement = judge(office)
    done = "a worker was stopped at work (SIGSTOP), another started; the first went on when all was done"
    fault(done=done, became=judgement.words, seconds=seconds)
    assert judgement.wrong == ()
    assert states(office) == {"scored": 3}


@pytest.mark.fault("kill -9 of a worker at work")
def test_children_die_with_their_worker(place, pack, fault):
    office, teams, machines = place()
    for member in teams.members:
        submit(office, member, pack.perfect)
    machines.worker("killed")
    worker = machines.processes["killed"].pid
    assert wait_until(lambda: descendants(worker), 60, 0.005), machines.logs()
    children = descendants(worker)
    machines.kill("killed")
    began = time.monotonic()
    assert wait_until(lambda: not any(map(alive, children)), 10), children
    machines.worker("next")
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    judgement = judge(office)
    done = "the only worker was killed while its child read a file, and another was started"
    fault(done=done, became=f"the child died with it; {judgement.words}", seconds=time.monotonic() - began)
    assert judgement.wrong == ()


def alive(process):
    """Whether a process runs; one that ended and waits to be fetched does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def without_room(office, teams, machines, pack):
    """A worker has 8 submissions to do, and for a while no room; gives the judgement and the seconds after that."""
    for number in range(8):
        submit(office, teams.members[number % 6], (pack.perfect, pack.invalid)[number % 2])
    began = time.monotonic()
    machines.start("starved", work_on_full_disk, office.settings, 1.0, FULL)
    assert wait_until(lambda: all_ended(office), 150), machines.logs()
    seconds = time.monotonic() - began - 1.0 - FULL
    assert REFUSED.search((machines.folder / "starved.log").read_text()), "the disk was never full"
    return judge(office), max(seconds, 0.0)


@pytest.mark.slow
@pytest.mark.fault("disk full")
def test_a_disk_that_is_full_for_a_while_loses_nothing(place, pack, fault):
    judgement, seconds = without_room(*place(), pack)
    done = f"nothing could be written for {FULL:.0f} s while a worker had 8 submissions to do"
    fault(done=done, became=judgement.words, seconds=seconds)
    assert judgement.wrong == ()
    assert judgement.states == {"scored": 4, "invalid": 4}


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("disk full on a worker's machine, PostgreSQL elsewhere")
def test_a_full_disk_costs_no_try_where_the_database_could_count_one(place, pack, fault, server, template):
    judgement, seconds = without_room(*place(url=server.fresh(template), tries=3), pack)
    done = f"nothing could be written on the worker's own disk for {FULL:.0f} s; 3 tries were allowed"
    fault(done=done, became=judgement.words, seconds=seconds)
    assert judgement.wrong == ()
    assert judgement.states == {"scored": 4, "invalid": 4}
