"""The network between web and workers here, database and object store there, is cut in the middle of work."""

import os
import signal
import time
from contextlib import ExitStack

import pytest
from sqlalchemy import select
from tests.faults.holding import hold_a_team
from tests.faults.network import (
    database_at,
    far_host,
    forwarder,
    patient_url,
    to_port,
    to_server,
    why_no_hosts,
)
from tests.offices.engines import object_store
from tests.offices.machines import all_ended, free_port, judge, serve, states, wait_until, work
from tests.offices.postgres import QUICK, postgres
from tests.offices.submitting import plan_load, submit, submit_all

from basanite.campaign.intake import charges
from basanite.campaign.store.tables import Team

CUT = 6.0
"""Longer than a connection may be silent in these tests, so that none outlives it."""
COUNT = 10


def cut_in_the_middle(place, pack, line, *, url, storage, near):
    """Web, two workers and who submits on this side; gives the judgement and the seconds from healing to the end."""
    office, teams, machines = place(url=url, teams=4, storage=storage)
    settings, port, files = office.settings.model_copy(update=near), free_port(), (pack.perfect, pack.invalid)
    for number in range(COUNT // 2):
        submit(office, teams.members[number % 4], files[number % 2])
    plan = plan_load(office, f"http://127.0.0.1:{port}", teams, files, count=COUNT, pause=0.2)
    machines.start("server", serve, settings, port)
    for name in ("worker 1", "worker 2"):
        machines.start(name, work, settings)
    machines.start("submitter", submit_all, plan, 7)
    assert wait_until(lambda: {"validating", "scoring"} & set(states(office)), 60, 0.02), machines.logs()
    line.cut()
    time.sleep(CUT)
    open_still = sum(states(office)[name] for name in ("received", "validating", "scoring"))
    line.heal()
    healed = time.monotonic()
    assert wait_until(lambda: states(office).total() >= COUNT and all_ended(office), 240), machines.logs()
    seconds = time.monotonic() - healed
    machines.stop_all()
    assert open_still, "nothing was under way when the line was cut"
    return judge(office), seconds


def told(fault, judgement, seconds, how):
    done = f"web and 2 workers here, PostgreSQL and S3 there; {how} for {CUT:.0f} s at work, then healed"
    fault(done=done, became=judgement.words, seconds=seconds)
    assert judgement.wrong == ()
    assert not judgement.states["failed"]
    assert judgement.states["scored"]


@pytest.mark.store
@pytest.mark.slow
@pytest.mark.fault("network cut between hosts")
@pytest.mark.timeout(400)
def test_a_switch_that_drops_everything_for_a_while_loses_nothing(place, pack, fault):
    if reason := why_no_hosts():
        pytest.skip(f"{reason}; the same with a forwarder is run instead")
    with ExitStack() as stack:
        host = stack.enter_context(far_host())
        with host.inside():
            server = stack.enter_context(postgres((*QUICK, f"listen_addresses={host.address}")))
            objects = stack.enter_context(object_store(host.address))
        host.let_in(server)
        url = server.fresh()
        near = {"database": database_at(host.address, 5432, url)}
        found = cut_in_the_middle(place, pack, host, url=url, storage=objects.fresh(), near=near)
        told(fault, *found, "all packets dropped by the switch between two network namespaces")


class Both:
    """Two lines that are cut together."""

    def __init__(self, *lines):
        self.lines = lines

    def cut(self):
        for line in self.lines:
            line.cut()

    def heal(self):
        for line in self.lines:
            line.heal()


@pytest.mark.store
@pytest.mark.slow
@pytest.mark.fault("firewall that forgets its connections")
@pytest.mark.timeout(400)
def test_a_line_that_stands_still_and_then_forgets_its_connections_loses_nothing(place, pack, fault, server, objects):
    url, storage = server.fresh(), objects.fresh()
    with forwarder(to_server(server)) as to_data, forwarder(to_port(objects.endpoint)) as to_files:
        near = {
            "database": database_at("127.0.0.1", to_data.port, url),
            "storage": storage.model_copy(update={"endpoint": f"http://127.0.0.1:{to_files.port}"}),
        }
        found = cut_in_the_middle(place, pack, Both(to_data, to_files), url=url, storage=storage, near=near)
        told(fault, *found, "a forwarder between them stood still")


@pytest.mark.slow
@pytest.mark.store
@pytest.mark.fault("process frozen in a transaction, PostgreSQL")
def test_a_process_that_stands_still_in_a_transaction_does_not_keep_its_locks(place, fault, server, template):
    office, teams, machines = place(url=patient_url(server.fresh(template)), teams=2)
    team = teams.members[0].team
    machines.start("frozen", hold_a_team, office.settings, team, str(machines.folder / "held"))
    assert wait_until((machines.folder / "held").exists, 30, 0.02), machines.logs()
    os.kill(machines.processes["frozen"].pid, signal.SIGSTOP)
    began = time.monotonic()
    assert wait_until(lambda: can_lock(office, team), 30, 0.1)
    seconds = time.monotonic() - began
    os.kill(machines.processes["frozen"].pid, signal.SIGCONT)
    machines.processes["frozen"].join(20)
    with office.reading() as session:
        assert session.scalar(select(Team.name).where(Team.id == team)) == "Alpha"
    assert "InternalError" in (log := (machines.folder / "frozen.log").read_text()) or "OperationalError" in log, log
    fault(
        done="a process was stopped while it held the lock of a team; the limit on idle transactions was 3 s",
        became="the server ended its transaction, others had the lock, and what the process wrote was not kept",
        seconds=seconds,
    )


def can_lock(office, team):
    """Whether the lock of a team can be had at once."""
    with office.database.engine.connect() as connection, connection.begin():
        taken = select(Team.id).where(Team.id == team).with_for_update(skip_locked=True)
        return connection.execute(taken).first() is not None


@pytest.mark.slow
def test_the_lock_of_a_team_is_the_row_that_the_test_looks_at(place, server, template):
    office, teams, _ = place(url=server.fresh(template), teams=2)
    with office.writing() as session:
        charges.lock_team(session, teams.members[0].team)
        assert not can_lock(office, teams.members[0].team)
        assert can_lock(office, teams.members[1].team)
