"""A database server that stops and starts again while submissions are worked on."""

import time
from contextlib import suppress

import pytest
from sqlalchemy.exc import SQLAlchemyError

from basanite.testing.crowd import submit
from basanite.testing.faults import all_ended, judge, states, wait_until
from basanite.testing.postgres import postgres


def ended(office):
    """Whether all have ended; while the database is away, nobody knows."""
    with suppress(SQLAlchemyError):
        return all_ended(office)
    return False


@pytest.mark.store
@pytest.mark.req("P-8")
@pytest.mark.timeout(240)
def test_a_database_that_is_away_for_a_while_loses_nothing(place, pack, capsys):
    with postgres() as server:
        office, teams, machines = place(url=server.fresh(), teams=3)
        for number in range(6):
            submit(office, teams.members[number % 3], (pack.perfect, pack.invalid)[number % 2])
        began = time.monotonic()
        machines.worker("worker")
        assert wait_until(lambda: {"validating", "scoring"} & set(states(office)), 60, 0.02), machines.logs()
        server.stop()
        time.sleep(4)
        server.start()
        assert wait_until(lambda: ended(office), 150), machines.logs()
        judgement = judge(office)
        machines.stop_all()
        with capsys.disabled():
            table = judgement.table(submissions=6, away_seconds=4, seconds=round(time.monotonic() - began))
            print(f"\nA database that was away:\n{table}")
    assert judgement.wrong == ()
    assert judgement.states == {"scored": 3, "invalid": 3}
