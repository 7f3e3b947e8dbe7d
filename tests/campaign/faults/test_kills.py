"""Workers and the server are killed at random moments under submissions; the database shows what became of all."""

import os
import random
import socket
import time
from collections import Counter

import pytest

from basanite.testing.crowd import submit
from basanite.testing.faults import all_ended, descendants, free_port, judge, serve, states, wait_until
from basanite.testing.submitting import planned, submit_all

SEED = int(os.environ.get("BASANITE_FAULT_SEED", "20181"))
WORKERS = ("worker 1", "worker 2")
SOON = 0.4
"""Within this time a child that has just begun is still at work."""


def kill_at_random(machines, plan, port, dice, kills, gap):
    """Start two workers, a server and who submits; kill a worker or the server and begin it again, so many times.

    Each is killed once it is there: the moments are drawn from then on, those of workers half of the time from when a
    child is at work. Half of the submissions wait from the beginning, so that there is work to be interrupted.
    """
    starts = {name: lambda name=name: machines.worker(name) for name in WORKERS}
    starts["server"] = lambda: machines.start("server", serve, plan.settings, port)
    for start in starts.values():
        start()
    machines.start("submitter", submit_all, plan, dice.randrange(10**6))
    killed = Counter()
    for _ in range(kills):
        name = dice.choice(list(starts))
        at_work, moment = dice.random() < 0.5, dice.uniform(*gap)
        there = (lambda name=name: machines.at_work(name)) if name in WORKERS else (lambda: answers(port))
        assert wait_until(there, 60, 0.02), machines.logs()
        if name in WORKERS and at_work and wait_until(lambda name=name: busy(machines, name), 3, 0.02):
            moment = min(moment, SOON)
        time.sleep(moment)
        killed["worker_with_a_child"] += name in WORKERS and busy(machines, name)
        machines.kill(name)
        killed[name.split()[0]] += 1
        starts[name]()
    return killed


def answers(port):
    """Whether the server takes calls."""
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def busy(machines, name):
    """Whether a child of a worker is at work."""
    return bool(descendants(machines.processes[name].pid))


def play(place, pack, *, kills, count, gap=(0.05, 1.2), url=None):
    office, teams, machines = place(url=url)
    port, files = free_port(), (pack.perfect, pack.silent, pack.invalid)
    pause = kills * sum(gap) / count
    plan = planned(office, f"http://127.0.0.1:{port}", teams, files, count=count, pause=pause)
    for number in range(count // 2):
        submit(office, teams.members[number % len(teams.members)], files[number % len(files)])
    began = time.monotonic()
    killed = kill_at_random(machines, plan, port, random.Random(SEED), kills, gap)
    there = wait_until(lambda: states(office).total() >= count, 60 + 10 * count)
    ended = there and wait_until(lambda: all_ended(office), 60 + 3 * count)
    facts = {f"{name}_killed": times for name, times in sorted(killed.items())}
    facts = {"seed": SEED, **facts, "submissions": states(office).total()}
    return judge(office), facts | {"seconds": round(time.monotonic() - began)}, ended, machines


def report(capsys, judgement, facts):
    with capsys.disabled():
        print(f"\nSIGKILL at random moments:\n{judgement.table(**facts)}")


@pytest.mark.req("P-8")
@pytest.mark.timeout(500)
def test_twenty_kills_lose_nothing_and_score_nothing_twice(place, pack, capsys):
    judgement, facts, ended, machines = play(place, pack, kills=20, count=24)
    report(capsys, judgement, facts)
    assert ended, machines.logs()
    assert judgement.wrong == ()
    assert judgement.states["scored"]
    assert judgement.states["invalid"]
    assert not judgement.states["failed"]
    assert facts["worker_with_a_child_killed"], "no kill hit anybody at work"


@pytest.mark.slow
@pytest.mark.req("P-8")
@pytest.mark.timeout(3600)
def test_two_hundred_kills_lose_nothing_and_score_nothing_twice(place, pack, capsys):
    judgement, facts, ended, machines = play(place, pack, kills=200, count=200)
    report(capsys, judgement, facts)
    assert ended, machines.logs()
    assert judgement.wrong == ()


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.req("P-8")
@pytest.mark.timeout(1200)
def test_fifty_kills_on_postgresql_lose_nothing_and_score_nothing_twice(place, pack, capsys, server, template):
    judgement, facts, ended, machines = play(place, pack, kills=50, count=40, url=server.fresh(template))
    report(capsys, judgement, facts)
    assert ended, machines.logs()
    assert judgement.wrong == ()
