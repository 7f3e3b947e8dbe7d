"""Hostile programs in the sandbox, as root and as an ordinary user: each is contained (X-19, X-20, X-29)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.threats.hostile_programs import PROGRAMS
from tests.threats.ordinary_user import USER

from basanite.sandbox.runner import capability

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["ordinary user", "root"])
def start(request):
    """The beginning of a command as one of the two, and a folder of theirs that is not inside a closed one."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("not started by root")
    if not capability().possible:
        pytest.skip(f"no sandbox can be made here: {capability().reason}")
    folder = Path(tempfile.mkdtemp(prefix="basanite-hostile-"))
    try:
        if request.param == "root":
            yield [], folder
        else:
            if os.geteuid() == 0:
                os.chown(folder, USER, USER)
            yield [sys.executable, "-m", "tests.threats.ordinary_user"], folder
    finally:
        shutil.rmtree(folder)


def test_every_hostile_program_is_contained(start, capsys):
    becoming, folder = start
    command = [*becoming, sys.executable, "-m", "tests.threats.hostile_programs", str(folder / "trials")]
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**kept, "HOME": str(folder), "TMPDIR": str(folder)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    with capsys.disabled():
        print(
            f"\n{'hostile program':42}{'ended by':12}{'peak MiB':>9}  contained ({lines[0]['mode'] if lines else '-'})"
        )
        for line in lines:
            print(f"{line['program']:42}{line['how']:12}{line['peak']:>9}  {'yes' if line['contained'] else 'NO'}")
    assert len(lines) == len(PROGRAMS), ran.stderr[-2000:]
    assert [line for line in lines if not line["contained"]] == []
    assert {line["mode"] for line in lines} == {"user" if becoming else "root"}
