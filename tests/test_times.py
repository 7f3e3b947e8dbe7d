"""Where the time of a run went: measured in every process, children counted in, added up in one."""

import os
import subprocess
import sys

TESTS = """
import subprocess, sys, time

import pytest

def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_that_waits():
    time.sleep(0.4)

def test_that_works():
    spin(0.4)

def test_whose_child_works():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.6: pass"], check=True)

@pytest.mark.slow
def test_that_may_take_long():
    spin(0.5)
"""


def test_the_slowest_tests_and_those_without_the_mark_are_printed_from_all_processes(tmp_path, repository):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_work.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    short = "from tools import test_times as times\ntimes.LEAST, times.BOUND = 0.0, 0.3\n"
    (tmp_path / "conftest.py").write_text(short + "pytest_plugins = ['tools.test_times']\n")
    command = [sys.executable, "-m", "pytest", "-p", "xdist.plugin", "-p", "no:cacheprovider", "-n", "2", "tests"]
    environment = {**os.environ, "PYTHONPATH": str(repository), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    printed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100).stdout
    slowest, over = printed.partition("the slowest:")[2].split("over 0.3 s and not marked slow:")
    names = [line.rpartition("::")[2] for line in slowest.split("\n") if "::" in line]
    assert names[:2] == ["test_whose_child_works", "test_that_may_take_long"]
    assert names[2] == "test_that_works"
    assert [line.rpartition("::")[2] for line in over.split("\n") if "::" in line] == [names[0], names[2]]
    assert " 4 tests  tests\n" in printed
