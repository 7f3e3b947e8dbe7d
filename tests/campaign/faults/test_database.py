"""A database server that stops or is killed while submissions are worked on, and starts again."""

import time
from contextlib import suppress

import pytest
from sqlalchemy.exc import SQLAlchemyError
from tests.faults.databases import kill_server
from tests.offices.machines import all_ended, free_port, judge, serve, states, wait_until
from tests.offices.postgres import QUICK, postgres
from tests.offices.submitting import plan_load, submit, submit_all

AWAY = 4
COUNT = 8


def ended(office):
    """Whether all have ended; while the database is away, nobody knows."""
    with suppress(SQLAlchemyError):
        return states(office).total() >= COUNT and all_ended(office)
    return False


def lose_the_database(place, pack, server, lose):
    """Web, a worker and who submits; the database is lost in the middle and back after a while."""
    office, teams, machines = place(url=server.fresh(), teams=4)
    port, files = free_port(), (pack.perfect, pack.invalid)
    for number in range(COUNT // 2):
        submit(office, teams.members[number % 4], files[number % 2])
    plan = plan_load(office, f"http://127.0.0.1:{port}", teams, files, count=COUNT, pause=0.2)
    machines.start("server", serve, office.settings, port)
    machines.worker("worker")
    assert wait_until(lambda: {"validating", "scoring"} & set(states(office)), 60, 0.02), machines.logs()
    lose()
    machines.start("submitter", submit_patiently, plan, 7)
    time.sleep(AWAY)
    server.start()
    back = time.monotonic()
    assert wait_until(lambda: ended(office), 240), machines.logs()
    seconds = time.monotonic() - back
    judgement = judge(office)
    machines.stop_all()
    return judgement, seconds


def submit_patiently(plan, seed):
    """Submit until all are there; who asks how many there are waits for the database, too."""
    while True:
        with suppress(SQLAlchemyError):
            return submit_all(plan, seed)
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("database stopped for a while")
@pytest.mark.timeout(400)
def test_a_database_that_is_away_for_a_while_loses_nothing(place, pack, fault):
    with postgres() as server:
        judgement, seconds = lose_the_database(place, pack, server, server.stop)
    fault(done=f"PostgreSQL stopped at work, started {AWAY} s later", became=judgement.words, seconds=seconds)
    assert judgement.wrong == ()
    assert set(judgement.states) == {"scored", "invalid"}


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("kill -9 of the database")
@pytest.mark.timeout(400)
def test_a_database_that_is_killed_loses_nothing_that_it_had_confirmed(place, pack, fault):
    with postgres((*QUICK, "synchronous_commit=on")) as server:  # what is confirmed has left the process that is killed
        judgement, seconds = lose_the_database(place, pack, server, lambda: kill_server(server))
    done = f"PostgreSQL and all its processes killed at work, started {AWAY} s later"
    fault(done=done, became=judgement.words, seconds=seconds)
    assert judgement.wrong == ()
    assert set(judgement.states) == {"scored", "invalid"}
