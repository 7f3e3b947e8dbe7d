"""Each defence of the threat model is one: where it is taken out, a test fails."""

from __future__ import annotations

import compileall

import pytest
from tests.threats.taking_out import THREATS, defences, run, without

DEFENCES = defences()
NAMES = [f"{one.threat}-{one.what.replace(' ', '-')}" for one in DEFENCES]
FAILED = 1
"""What pytest ends with if tests ran and some failed; a copy that cannot be imported ends otherwise."""


def test_there_is_a_defence_to_take_out_for_every_threat():
    assert {one.threat for one in DEFENCES} == set(THREATS)


@pytest.mark.parametrize("defence", DEFENCES, ids=NAMES)
def test_a_defence_stands_where_it_is_said_to_stand(defence):
    assert defence.path.read_text("utf-8").count(defence.stands) == 1


@pytest.mark.slow
@pytest.mark.parametrize("defence", DEFENCES, ids=NAMES)
def test_without_its_defence_the_named_test_fails(defence, tmp_path):
    path = without(defence, tmp_path)
    assert compileall.compile_file(path / "basanite" / defence.file, quiet=2, legacy=True)
    ended = run(defence.test, path)
    assert ended.returncode == FAILED, ended.stdout[-2000:] + ended.stderr[-1000:]
