"""Workers are killed at random moments while programs run; the database shows what became of each (G-4)."""

import os
import random
import time

import pytest
from sqlalchemy import select
from tests.campaign.programs.conftest import SHELL_RUN, Stage, archive, open_programs, window
from tests.offices.machines import QUICK, Machines, all_ended, descendants, judge, wait_until

from basanite.campaign.store.tables import ProgramAnswer, ProgramRun
from basanite.testing import season, small_campaign_text, small_office

SEED = int(os.environ.get("BASANITE_FAULT_SEED", "20181"))
KILLS, COUNT = 12, 8


def opened(folder):
    """A season that is open now, with a window for programs, and machines to work on it."""
    text = small_campaign_text(more=window(reruns="1"), invalid_per_day=1000)
    text = text.replace("2018-03-31 24:00", "2099-12-31 24:00")
    office = small_office(folder, limits={**QUICK, "minute": 0, "slice_seconds": 2})
    stage = Stage(office, season(office, text))
    open_programs(office, stage.season, folder)
    return stage, Machines(office, folder)


@pytest.mark.slow
@pytest.mark.fault("kill -9 of workers that run programs of teams")
@pytest.mark.timeout(900)
def test_programs_whose_workers_are_killed_end_once_and_are_paid_for_once(tmp_path, fault):
    stage, machines = opened(tmp_path)
    dice = random.Random(SEED)
    try:
        for number in range(COUNT):
            run = SHELL_RUN if number % 4 else "#!/bin/sh\nexit 3\n"
            stage.submit(archive(run=run), team=("alpha", "beta")[number % 2])
        for name in ("one", "two"):
            machines.worker(name)
        for _ in range(KILLS):
            name = dice.choice(("one", "two"))
            assert wait_until(lambda name=name: machines.at_work(name), 60, 0.02), machines.logs()
            wait_until(lambda name=name: bool(descendants(machines.processes[name].pid)), 3, 0.02)
            time.sleep(dice.uniform(0.02, 1.0))
            machines.kill(name)
            machines.worker(name)
        last = time.monotonic()
        assert wait_until(lambda: all_ended(stage.office), 600), machines.logs()
        seconds = round(time.monotonic() - last, 1)
    finally:
        machines.stop_all()
    found = judge(stage.office)
    with stage.office.reading() as session:
        runs = session.scalars(select(ProgramRun)).all()
        assert session.scalars(select(ProgramAnswer)).all() == []
    assert found.wrong == ()
    assert len(runs) == COUNT
    assert {(run.stage, run.done) for run in runs} == {("answered", 6), ("smoke", 0)}
    assert [
        run for run in runs if run.stage == "answered" and run.compute > 1.2 * (run.seconds + run.smoke_seconds)
    ] == []
    done = f"{KILLS} kills of the two workers at random moments, each started again at once"
    fault(done=done, became=found.words, seconds=seconds)
