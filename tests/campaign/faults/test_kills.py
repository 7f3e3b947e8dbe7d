"""Workers and the server are killed at random moments under submissions; the database shows what became of all."""

import os
import random
import socket
import time
from collections import Counter
from hashlib import sha256

import pytest
from tests.offices.machines import all_ended, descendants, free_port, judge, serve, states, wait_until
from tests.offices.submitting import TUS, begin_upload, client_of, plan_load, send_piece, submit, submit_all

SEED = int(os.environ.get("BASANITE_FAULT_SEED", "20181"))
SAID = {"campaign": "small", "task": "CLIR", "label": "run", "language": "1A", "queryset": "QUERY1", "dataset": "DEV"}
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
    plan = plan_load(office, f"http://127.0.0.1:{port}", teams, files, count=count, pause=pause)
    for number in range(count // 2):
        submit(office, teams.members[number % len(teams.members)], files[number % len(files)])
    began = time.monotonic()
    killed = kill_at_random(machines, plan, port, random.Random(SEED), kills, gap)
    last = time.monotonic()
    there = wait_until(lambda: states(office).total() >= count, 60 + 10 * count)
    ended = there and wait_until(lambda: all_ended(office), 60 + 3 * count)
    facts = {f"{name}_killed": times for name, times in sorted(killed.items())}
    facts = {"seed": SEED, **facts, "submissions": states(office).total()}
    facts |= {"seconds": round(time.monotonic() - began), "seconds_after_the_last": round(time.monotonic() - last, 1)}
    return judge(office), facts, ended, machines


def report(capsys, judgement, facts):
    with capsys.disabled():
        print(f"\nSIGKILL at random moments:\n{judgement.table(**facts)}")


def told(fault, judgement, facts):
    kills = f"{facts['worker_killed']} kills of workers and {facts['server_killed']} of the web server"
    done = f"{kills} at random moments, each started again at once"
    fault(done=done, became=judgement.words, seconds=facts["seconds_after_the_last"])


@pytest.mark.slow
@pytest.mark.fault("kill -9 of web and workers at random")
@pytest.mark.timeout(500)
def test_twenty_kills_lose_nothing_and_score_nothing_twice(place, pack, capsys, fault):
    judgement, facts, ended, machines = play(place, pack, kills=20, count=24)
    report(capsys, judgement, facts)
    told(fault, judgement, facts)
    assert ended, machines.logs()
    assert judgement.wrong == ()
    assert judgement.states["scored"]
    assert judgement.states["invalid"]
    assert not judgement.states["failed"]
    assert facts["worker_with_a_child_killed"], "no kill hit anybody at work"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_kills_lose_nothing_and_score_nothing_twice(place, pack, capsys):
    judgement, facts, ended, machines = play(place, pack, kills=200, count=200)
    report(capsys, judgement, facts)
    assert ended, machines.logs()
    assert judgement.wrong == ()


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.timeout(1200)
def test_fifty_kills_on_postgresql_lose_nothing_and_score_nothing_twice(place, pack, capsys, server, template):
    judgement, facts, ended, machines = play(place, pack, kills=50, count=40, url=server.fresh(template))
    report(capsys, judgement, facts)
    assert ended, machines.logs()
    assert judgement.wrong == ()


@pytest.mark.slow
@pytest.mark.fault("kill -9 of the web server in an upload")
def test_an_upload_goes_on_where_it_was_when_its_server_was_killed(place, pack, fault):
    office, teams, machines = place(teams=1)
    port, content = free_port(), pack.perfect.read_bytes()
    plan = plan_load(office, f"http://127.0.0.1:{port}", teams, [], count=0, pause=0)
    machines.worker("worker")
    machines.start("server", serve, office.settings, port)
    assert wait_until(lambda: answers(port), 60, 0.02), machines.logs()
    with client_of(plan, plan.tokens[0]) as sender:
        upload = begin_upload(sender, {**SAID, "sha256": sha256(content).hexdigest()}, len(content))
        send_piece(sender, upload, 0, content[:100])
    machines.kill("server")
    began = time.monotonic()
    machines.start("server", serve, office.settings, port)
    assert wait_until(lambda: answers(port), 60, 0.02), machines.logs()
    with client_of(plan, plan.tokens[0]) as sender:
        at = int(sender.head(upload, headers=TUS).raise_for_status().headers["upload-offset"])
        send_piece(sender, upload, at, content[at:])
    assert at == 100
    assert wait_until(lambda: states(office).total() and all_ended(office), 60), machines.logs()
    judgement = judge(office)
    fault(
        done="killed when a part of a file had arrived, started again; the sender asked how far it was and went on",
        became=f"no byte sent twice; {judgement.words}",
        seconds=time.monotonic() - began,
    )
    assert judgement.wrong == ()
    assert judgement.states == {"scored": 1}
