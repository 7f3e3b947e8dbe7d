"""Two members submit at the same instant with one attempt left: exactly one is charged, each time (M64, M79).

The count is taken from the database, never from what the two were told.
"""

import multiprocessing
import threading
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import select

from basanite.campaign.intake.acceptance import Arrival, accept
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.files import Stored
from basanite.campaign.store.tables import Charge, Submission
from basanite.testing import SetClock, season, small_campaign_text
from basanite.testing.season import BEGINNING

ROUNDS = {"sqlite": 200, "postgresql": 50}
LONG = small_campaign_text(quota=1, invalid_per_day=1000).replace("2018-03-31", "2018-12-31")
DAILY = LONG.replace('period = "week"', 'period = "day"')
"""One attempt a day; nothing is checked here, so the cap on what waits for its check must not come first."""
FILE = Stored("0" * 64, 1)


def submit(office, person, team):
    try:
        with office.writing() as session:
            accept(session, office, Actor(person), Arrival(team, Declared("CLIR", "a", dataset=("DEV",)), FILE))
    except RefusedError as error:
        return error.status
    return 0


def race(office, clock, person, team, barrier, rounds, told):
    """One member: a new day and a new attempt each round, and both begin it together."""
    for number in range(rounds):
        barrier.wait(120)
        clock.set(BEGINNING + timedelta(days=number))
        barrier.wait(120)
        told.append(submit(office, person, team))


def race_in_process(settings, person, team, barrier, rounds):
    """The same, in a process with an office of its own."""
    clock = SetClock()
    office = Office.open(settings, clock)
    told = []
    race(office, clock, person, team, barrier, rounds, told)
    office.close()
    assert set(told) <= {0, 429}


def charged(office, team):
    """Attempts and submissions of a team by day, as the database has them."""
    with office.reading() as session:
        charges = session.execute(select(Charge.period, Charge.state).where(Charge.team_id == team)).all()
        rows = session.scalars(select(Submission.number).where(Submission.team_id == team)).all()
    assert {state for _, state in charges} == {"reserved"}
    assert sorted(rows) == list(range(1, len(rows) + 1))
    assert len(rows) == len(charges)
    return Counter(period for period, _ in charges)


def check(office, team, rounds):
    counts = charged(office, team)
    assert len(counts) == rounds
    assert set(counts.values()) == {1}


def test_of_two_threads_exactly_one_is_charged_each_time(office, clock):
    small = season(office, DAILY)
    rounds = ROUNDS[office.database.engine.dialect.name]
    barrier, told = threading.Barrier(2), []
    members = [
        threading.Thread(target=race, args=(office, clock, person, small.alpha, barrier, rounds, told))
        for person in (small.ada, small.alan)
    ]
    for member in members:
        member.start()
    for member in members:
        member.join()
    check(office, small.alpha, rounds)
    assert Counter(told) == {0: rounds, 429: rounds}


@pytest.mark.slow
def test_of_two_processes_exactly_one_is_charged_each_time(office, clock):
    small = season(office, DAILY)
    rounds = ROUNDS[office.database.engine.dialect.name]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    members = [
        context.Process(target=race_in_process, args=(office.settings, person, small.alpha, barrier, rounds))
        for person in (small.ada, small.alan)
    ]
    for member in members:
        member.start()
    for member in members:
        member.join()
    assert [member.exitcode for member in members] == [0, 0]
    check(office, small.alpha, rounds)
