"""What takes long to make and is only looked at is made once for all test processes of a run.

Where offices lie on a database server, each process has one of its own, and makes its own.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """The folder that the first process to ask for it fills; those beside it wait for that and take the same."""
    mine = factory.getbasetemp()
    shared = mine.parent if "PYTEST_XDIST_WORKER" in os.environ and "BASANITE_TESTS_ON" not in os.environ else mine
    folder, ready = shared / f"once-{name}", shared / f"once-{name}-ready"
    with (shared / f"once-{name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)  # where a process before this one failed
            folder.mkdir()
            build(folder)
            ready.touch()
    return folder
