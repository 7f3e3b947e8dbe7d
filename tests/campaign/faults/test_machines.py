"""Workers that stop without dying, die with their children at work, or find no room on the disk."""

import os
import re
import signal
import sqlite3
import time
from contextlib import closing

import pytest
from sqlalchemy import make_url, select

from basanite.campaign.store.tables import Submission
from basanite.testing.crowd import submit
from basanite.testing.faults import all_ended, descendants, judge, starved, states, wait_until

REFUSED = re.compile("disk I/O error|disk is full|File too large")


def at_work_on(office):
    """Whether a submission is being worked on."""
    return bool({"validating", "scoring"} & set(states(office)))


def frozen_at_work(office, process):
    """Whether a worker stands still with a submission in hand; one that holds the file's lock is let go again.

    SQLite lets nobody write while a process stands still in the middle of a transaction, whoever it is.
    """
    os.kill(process, signal.SIGSTOP)
    if at_work_on(office) and others_can_write(office):
        return True
    os.kill(process, signal.SIGCONT)
    return False


def others_can_write(office):
    """Whether a transaction that writes can begin."""
    with closing(sqlite3.connect(make_url(office.settings.database_url).database, timeout=0.5)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True


@pytest.mark.req("P-8")
@pytest.mark.timeout(180)
def test_what_a_frozen_worker_held_is_done_by_another_and_counts_once_when_it_wakes(place, pack):
    office, teams, machines = place()
    for member in teams.members[:3]:
        submit(office, member, pack.perfect)
    machines.worker("frozen")
    worker = machines.processes["frozen"].pid
    assert wait_until(lambda: frozen_at_work(office, worker), 60, 0.02), machines.logs()
    machines.worker("other")
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    os.kill(worker, signal.SIGCONT)
    time.sleep(3)  # what it still had in hand is finished now
    assert judge(office).wrong == ()
    assert states(office) == {"scored": 3}


@pytest.mark.req("P-8", "X-8")
@pytest.mark.timeout(120)
def test_children_die_with_their_worker(place, pack):
    office, teams, machines = place()
    for member in teams.members:
        submit(office, member, pack.perfect)
    machines.worker("killed")
    worker = machines.processes["killed"].pid
    assert wait_until(lambda: descendants(worker), 60, 0.005), machines.logs()
    children = descendants(worker)
    machines.kill("killed")
    assert wait_until(lambda: not any(map(alive, children)), 10), children
    machines.worker("next")
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    assert judge(office).wrong == ()


def alive(process):
    """Whether a process runs; one that ended and waits to be fetched does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.req("P-8")
@pytest.mark.timeout(240)
def test_a_disk_that_is_full_for_a_while_loses_nothing(place, pack, capsys):
    office, teams, machines = place()
    for number in range(8):
        submit(office, teams.members[number % 6], (pack.perfect, pack.invalid)[number % 2])
    began = time.monotonic()
    machines.start("starved", starved, office.settings, 1.0, 6.0)
    assert wait_until(lambda: all_ended(office), 150), machines.logs()
    judgement = judge(office)
    assert REFUSED.search((machines.folder / "starved.log").read_text()), "the disk was never full"
    with capsys.disabled():
        table = judgement.table(submissions=8, full_seconds=6, seconds=round(time.monotonic() - began))
        print(f"\nA full disk:\n{table}")
    assert judgement.wrong == ()
    with office.reading() as session:
        assert set(session.scalars(select(Submission.state))) == {"scored", "invalid"}
