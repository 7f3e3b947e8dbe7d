"""Machines whose wall clock jumps by a day: nobody is taken for dead, and nothing is held by the dead."""

import re
import time
from datetime import timedelta

import httpx2
import pytest
from sqlalchemy import select
from tests.faults.clocks import DAY, serve_by, work_by
from tests.offices.machines import all_ended, descendants, free_port, judge, states, wait_until, work
from tests.offices.submitting import plan_load, send, submit

from basanite.campaign.jobs import worker
from basanite.campaign.office import utc_now
from basanite.campaign.store.tables import Message, Submission, Worker
from basanite.server import checkup

TAKEN_OVER = re.compile("was taken over")
SAID = {"campaign": "small", "task": "CLIR", "label": "run", "language": "1A", "queryset": "QUERY1", "dataset": "DEV"}


@pytest.fixture
def hands(tmp_path):
    """How wrong a clock is, in seconds; right at first."""
    path = tmp_path / "hands"
    path.write_text("0")
    return path


def under_way(office):
    return bool({"validating", "scoring"} & set(states(office)))


def living(office):
    with office.reading() as session:
        return len(worker.alive(session, worker.database_time(session), office.settings.limits.silent_seconds))


JUMPS = [
    pytest.param(DAY, id="forwards", marks=pytest.mark.fault("clock of a worker jumps a day forwards")),
    pytest.param(-DAY, id="backwards", marks=pytest.mark.fault("clock of a worker jumps a day backwards")),
]


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.parametrize("jump", JUMPS)
def test_a_worker_whose_clock_jumps_loses_nothing_and_takes_nothing_from_others(
    jump, place, pack, hands, fault, server, template
):
    office, teams, machines = place(url=server.fresh(template), teams=4)
    for member in teams.members:
        submit(office, member, pack.perfect)
    machines.start("right", work, office.settings)
    machines.start("wrong", work_by, office.settings, str(hands))
    assert wait_until(lambda: under_way(office) and living(office) == 2, 90, 0.02), machines.logs()
    hands.write_text(str(jump))
    time.sleep(2 * office.settings.limits.silent_seconds / worker.BEATS)
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    assert living(office) == 2
    assert not TAKEN_OVER.search(machines.logs())
    assert judge(office).tries == 1
    seconds = killed_at_work(office, teams, machines, pack)
    judgement = judge(office)
    way = "ahead" if jump > 0 else "behind"
    fault(
        done=f"of 2 workers on PostgreSQL one was set a day {way} at work; later it was killed at work",
        became=f"nothing was taken over before the kill, all of it after; {judgement.words}",
        seconds=seconds,
    )
    assert judgement.wrong == ()
    assert judgement.states["scored"] == judgement.states.total()


def killed_at_work(office, teams, machines, pack):
    """Kill the worker whose clock is wrong while it works; gives the seconds until the other one has done all."""
    wrong = machines.processes["wrong"].pid
    for member in teams.members:
        submit(office, member, pack.perfect)
    assert wait_until(lambda: descendants(wrong), 60, 0.005), machines.logs()
    machines.kill("wrong")
    began = time.monotonic()
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.fault("clock of the machine jumps a day backwards")
def test_what_a_dead_worker_held_is_taken_over_although_its_last_sign_is_from_tomorrow(place, pack, hands, fault):
    office, teams, machines = place(teams=2)
    submit(office, teams.members[0], pack.perfect)
    hands.write_text(str(DAY))
    machines.start("killed", work_by, office.settings, str(hands))
    killed = machines.processes["killed"].pid
    assert wait_until(lambda: descendants(killed), 60, 0.005), machines.logs()
    machines.kill("killed")
    machines.worker("next")
    assert wait_until(lambda: machines.at_work("next"), 60), machines.logs()
    began = time.monotonic()
    with office.reading() as session:
        assert session.scalars(select(Worker.seen).where(Worker.process == killed)).one() > utc_now() + timedelta(
            hours=23
        )
    assert wait_until(lambda: all_ended(office), 60), machines.logs()
    judgement = judge(office)
    fault(
        done="a worker was killed at work, then the clock of the machine was set back by a day, and a worker started",
        became=f"taken over as ever; {judgement.words}",
        seconds=time.monotonic() - began,
    )
    assert judgement.wrong == ()


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("clock of the web machine is a day ahead")
@pytest.mark.req("P-8")
def test_what_is_taken_in_by_a_wrong_clock_bears_its_time_and_ends_all_the_same(
    place, pack, hands, fault, server, template, monkeypatch
):
    office, teams, machines = place(url=server.fresh(template), teams=1)
    port = free_port()
    plan = plan_load(office, f"http://127.0.0.1:{port}", teams, [], count=0, pause=0)
    machines.start("server", serve_by, office.settings, port, str(hands))
    machines.worker("worker")
    headers = {"Authorization": f"Bearer {plan.tokens[0]}"}
    with httpx2.Client(base_url=plan.address, headers=headers, timeout=30) as client:
        assert wait_until(lambda: answers(client), 60), machines.logs()
        for wrong in (DAY, 0.0):
            hands.write_text(str(wrong))
            send(client, SAID, pack.perfect.read_bytes())
    began = time.monotonic()
    assert wait_until(lambda: all_ended(office), 90), machines.logs()
    judgement = judge(office)
    fault(
        done="a submission was sent while the clock of the web machine was a day ahead, one after it was put right",
        became=f"the first bears tomorrow's time; {judgement.words}; `basanite doctor` says that the clock is wrong",
        seconds=time.monotonic() - began,
    )
    assert judgement.wrong == ()
    first, second = rows(office)
    assert (first.number, second.number) == (1, 2)
    assert abs((first.received - second.received).total_seconds() - DAY) < 60
    assert checkup.clock(office).state == "good"
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + DAY)
    assert checkup.clock(office).state == "bad"


def answers(client):
    try:
        return client.get("/api/v1/uploads", params={"campaign": "small"}).is_success
    except httpx2.HTTPError:
        return False


def rows(office):
    with office.reading() as session:
        assert session.scalars(select(Message)).all()
        return session.scalars(select(Submission).order_by(Submission.number)).all()
