"""One team cannot hold the slots of the reading services against another (X-22)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import pytest
from tests.campaign.work.reading.season import reading_season
from tests.offices.machines import wait_until
from tests.server.conftest import with_token
from tests.server.live import live
from tests.server.reading.conftest import Served

from basanite.campaign import turns
from basanite.testing import SetClock

SLOT = 8.0
"""Seconds after which a call that does not end is stopped."""
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?c != ?f && ?i != ?l) }"
QUICK = "ASK { ?a ?b ?c }"


@contextmanager
def served_with(folder, **reading):
    made = reading_season(folder, SetClock(), reading={"calls": "10000/minute", "seconds": SLOT, **reading})
    tokens = {name: with_token(made.office, made.person(name)) for name in ("ada", "alan", "bea")}
    with live(made.office) as address:
        yield Served(address, made, tokens)
    made.office.close()


def at_it(served):
    """How many calls wait for a turn or have one."""
    found = turns._turns.get(served.reading.office.database, {}).get("call")
    return found._busy.total() + sum(map(len, found._waiting.values())) if found else 0


def ask(served, who, query):
    """The answer to a query, and when it came."""
    answer = served.call(who, "GET", "/sparql", params={"query": query, "package": "nfl-scoring"})
    return answer, time.monotonic()


def post(served, who, query):
    sent = {"Content-Type": "application/sparql-query"}
    answer = served.call(who, "POST", "/sparql?package=nfl-scoring", content=query.encode(), headers=sent)
    return answer, time.monotonic()


@pytest.mark.slow
@pytest.mark.req("X-22", case="bad")
def test_one_team_floods_the_reading_services_and_another_is_answered_at_once(tmp_path):
    with served_with(tmp_path, waiting=2) as served, ThreadPoolExecutor(20) as pool:
        flood = [pool.submit((ask, post)[n % 2], served, ("ada", "alan")[n // 2 % 2], SLOW) for n in range(20)]
        assert wait_until(lambda: sum(one.done() for one in flood) >= 17, 60, 0.05), "who floods is told at once"
        begun = time.monotonic()
        answer, done = ask(served, "bea", QUICK)
        assert (answer.status_code, answer.json()["boolean"]) == (200, True), answer.text
        assert done - begun < SLOT, "she waited for no more than one slot"
        told = [one.result()[0] for one in flood]
    refused = [one for one in told if one.status_code == 429]
    assert len(refused) == 17, [one.status_code for one in told]
    for one in refused:
        assert int(one.headers["Retry-After"]) >= SLOT
    words = [one.json()["problems"][0] for one in refused]
    assert {one["rule"] for one in words} <= {"X-22", "P-11"}
    clear = next(one for one in words if one["rule"] == "X-22")
    assert clear["message"] == "too many calls of your team are waiting (at most 2)"
    assert clear["fix"].startswith("wait for their responses")


@pytest.mark.req("X-22", case="good")
def test_a_slot_that_becomes_free_goes_to_the_team_that_waited_longest_for_a_turn(tmp_path):
    with served_with(tmp_path, together=1) as served, ThreadPoolExecutor(4) as pool:
        assert ask(served, "ada", QUICK)[0].status_code == 200, "the first call takes a turn more, to load the package"
        flood = [pool.submit(ask, served, "ada", SLOW) for _ in range(2)]
        assert wait_until(lambda: at_it(served) == 2, 60, 0.01)
        answer, done = ask(served, "bea", QUICK)
        assert answer.status_code == 200, answer.text
        wait(flood)
    ends = sorted(end for one in flood for found, end in [one.result()] if found.status_code == 422)
    assert ends[0] < done < ends[1], "after the call that held the only slot, before the others of that team"
