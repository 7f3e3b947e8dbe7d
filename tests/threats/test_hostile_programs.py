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
from tests.threats.hostile_submissions import OWN, QUICK
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


@pytest.mark.req("G-2")
@pytest.mark.parametrize("corpus", ["a few", pytest.param("all", marks=pytest.mark.slow)])
def test_hostile_programs_of_teams_tell_nothing_and_are_their_teams_fault(start, corpus, capsys):
    becoming, folder = start
    if corpus == "a few" and not becoming:
        pytest.skip("as root in `make test-all`")
    chosen = list(QUICK) if corpus == "a few" else []
    command = [*becoming, sys.executable, "-m", "tests.threats.hostile_submissions", str(folder / "trials"), *chosen]
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**kept, "HOME": str(folder), "TMPDIR": str(folder)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False)
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    with capsys.disabled():
        print(
            f"\n{'program of a team':42}{'became':10}{'peak MiB':>9}  contained ({lines[0]['mode'] if lines else '-'})"
        )
        for line in lines:
            print(f"{line['program']:42}{line['how']:10}{line['peak']:>9}  {'yes' if line['contained'] else 'NO'}")
    assert len(lines) == (len(QUICK) if chosen else len(OWN) + sum(not one.learns for one in PROGRAMS)), ran.stderr
    assert [line for line in lines if not line["contained"]] == []
