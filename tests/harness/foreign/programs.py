"""Small systems in shell and awk for tests: the one of the examples, and some that break the rules."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from basanite.harness.foreign.modules import foreign_module
from basanite.harness.foreign.programs import Surroundings, enter, surroundings
from basanite.sandbox.box import MIB, Limits
from basanite.sandbox.runner import capability

EXAMPLE = Path(__file__).parents[3] / "examples" / "harness" / "foreign"
LIMITS = Limits(seconds=20, memory=400 * MIB, output=16 * MIB, log=65536, processes=32)
LEARNER = '{"format": "basanite-foreign/1", "name": "small", "role": "learner", "random": false}'


@pytest.fixture
def around(tmp_path):
    """A folder for programs; tests of what programs do need a box, and elsewhere test_sandbox proves the refusal."""
    if not capability().possible:
        pytest.skip(f"no box can be made here: {capability().reason}")
    before = surroundings()
    (tmp_path / "plan").mkdir()
    enter(Surroundings(tmp_path / "plan", limits=LIMITS, logs=tmp_path / "logs"))
    yield surroundings()
    enter(before)


def example_module(around: Surroundings, role: str):
    """A part of the system of the examples."""
    shutil.copytree(EXAMPLE / "alpha", around.folder / "alpha", dirs_exist_ok=True)
    return foreign_module(f"program:alpha:./system.sh {role}", around)


def script(around: Surroundings, *, describe: str = LEARNER, name: str = "small", **commands: str):
    """A module whose commands are lines of shell."""
    folder = around.folder / name
    folder.mkdir(exist_ok=True)
    cases = "".join(f"  {command}) {line} ;;\n" for command, line in commands.items())
    text = f"#!/bin/sh\nset -eu\ncase $1 in\n  describe) echo '{describe}' ;;\n{cases}  *) exit 9 ;;\nesac\n"
    (folder / "system.sh").write_text(text)
    (folder / "system.sh").chmod(0o755)
    return foreign_module(f"program:{name}:./system.sh", around)
