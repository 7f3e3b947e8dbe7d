"""A run that is killed goes on where it stopped and ends in the bytes of one that was left alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.running import here
from tests.harness.plans import ALPHA, DIGITS, HEAD, HERE, written
from tests.harness.test_running import content

from basanite.harness.evaluation import ready
from basanite.harness.running import run_plan

ROOT = Path(__file__).parents[2]


def slow(log):
    parameters = f'{{ module = "{HERE}:COMPONENTS", parameters = {{ log = "{log}", pause = 0.5 }} }}'
    return HEAD + DIGITS + ALPHA.replace(f'"{HERE}:COMPONENTS"', parameters)


@pytest.mark.slow
@pytest.mark.req("H-19")
def test_killed_in_the_middle_and_run_again_it_ends_in_the_same_bytes(tmp_path):
    log = tmp_path / "log"
    plan, alone, killed = written(tmp_path, slow(log)), tmp_path / "alone", tmp_path / "killed"
    run_plan(ready(plan), alone)
    log.unlink()
    command = [sys.executable, "-m", "basanite", "harness", "run", str(plan), "--out", str(killed)]
    program = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(log.exists)
    finally:
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
    assert not (killed / "manifest.json").exists()
    told = here("harness", "status", killed, "--json").data["progress"]
    assert 0 < told["done"] < told["steps"]
    run_plan(ready(plan), killed)
    assert log.read_text() == "learn 1258 in 3\n" * 2
    assert content(killed) == content(alone)


@pytest.mark.slow
def test_two_processes_give_the_bytes_of_one(tmp_path):
    plan = written(tmp_path)
    one = run_plan(ready(plan), tmp_path / "one", only=["1", "6a"])
    two = run_plan(ready(plan), tmp_path / "two", only=["1", "6a"], workers=2)
    assert content(two.path) == content(one.path)


def wait_for(condition, seconds=200):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
