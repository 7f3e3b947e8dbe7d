"""Processes that share work end with anyone who started them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from basanite.harness.steps.graph import pool

PROGRAM = """
import os, time
from basanite.harness.steps.graph import pool
if __name__ == "__main__":
    with pool(2) as processes:
        print(processes.submit(os.getpid).result(), flush=True)
        time.sleep(60)
"""


def test_work_is_shared_and_each_process_is_begun_before_its_first_piece():
    with pool(2, os.umask, 0o123) as processes:
        assert processes.submit(os.umask, 0).result() == 0o123


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent is gone")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_processes_do_not_outlive_a_parent_that_is_ended_or_killed(how, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(parent.pid, how)
    assert gone_in_time(child)


def gone_in_time(process, seconds=120):
    """Whether a process is gone soon; one that ended and is fetched by nobody counts as gone."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False
