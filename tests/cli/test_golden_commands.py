"""Every folder `tests/cli/golden/<case>/` is a test of the contract of commands and JSON; a new case needs no Python.

`command` holds what is typed in a copy of `examples/clir` (with the case's own `files/`, if any, and for `reading`,
`annotation`, `judge`, `harness` and `convert` with examples of these), one line after the other; the last is compared:
with `exit` (its code) and one of `stdout.json` (all of it), `stdout.subset.json` (what must be in it), `stdout.txt` and
`stderr.txt` (to the letter). `@VERSION@` stands for our version. Numbers may differ by one in the tenth digit.

One case of every sixteenth command starts new interpreters, which show an import that is missing; the others are
forked, and start new interpreters in `make test-all`.

Outputs were taken from a run and then read against the contract; `test_contract.py` checks the numbers by other means.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import (
    ANNOTATION,
    EXAMPLE,
    FEATURES,
    HARNESS,
    IMPORT,
    JUDGING,
    PLAIN_CORE,
    READING,
    Ended,
    forked,
    process,
    typed,
)

from basanite import __version__
from basanite.cli.groups import COMMANDS

GOLDEN = Path(__file__).parent / "golden"
FRACTION = re.compile(r"-?[0-9]+(\.[0-9]+(e[+-]?[0-9]+)?|e[+-]?[0-9]+)")
CASES = sorted(path.parent for path in GOLDEN.glob("*/command"))
ONE_BY_ONE = [
    # The demo is made of commands that have their cases, and test_demo.py looks at what it says.
    pytest.param(case, marks=pytest.mark.slow if case.name == "demo" else ())
    for case in CASES
]
NUMBERS = [one for one in ONE_BY_ONE if any(one.values[0].glob("stdout*.json"))]
WORD = {case: (case / "command").read_text(encoding="utf-8").splitlines()[-1].split()[1] for case in CASES}
"""The command whose output a case compares."""
DONE = [case for case in CASES if (case / "exit").read_text().strip() == "0"]
STARTED = [
    path.parent for path in CASES[0].parent.glob("*/stderr.txt") if "python -m basanite" in path.read_text("utf-8")
]
FIRST = sorted({*sorted({WORD[case]: case for case in [*reversed(CASES), *reversed(DONE)]}.values())[::16], *STARTED})
"""One case of every sixteenth command, which succeeds where there is such a one, and what tells how it was started."""
OTHERS = [case for case in CASES if case not in FIRST]


def close(found: float, wanted: float) -> bool:
    """Whether two numbers of ten significant digits differ by one in the last at most."""
    size = max(abs(found), abs(wanted))
    return found == wanted or abs(found - wanted) <= 1.01 * 10 ** (math.floor(math.log10(size)) - 9)


def is_number(item: Any) -> bool:
    return isinstance(item, float) or (isinstance(item, int) and not isinstance(item, bool))


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if is_number(found) and is_number(wanted):
        return type(found) is type(wanted) and close(found, wanted)
    return type(found) is type(wanted) and found == wanted


def holds(found: Any, wanted: Any) -> bool:
    """Whether what is wanted is part of what was found, at every depth."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and holds(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and all(any(holds(item, part) for item in found) for part in wanted)
    return same(found, wanted)


def expected(path: Path) -> str | None:
    return path.read_text(encoding="utf-8").replace("@VERSION@", __version__) if path.exists() else None


def faults(case: Path, ended: Ended) -> list[str]:
    """What of a case was not as it should be."""
    wrong = [] if ended.code == int((case / "exit").read_text()) else [f"exit code {ended.code}: {ended.stderr}"]
    for name, found in (("stdout.txt", ended.stdout), ("stderr.txt", ended.stderr)):
        wanted = expected(case / name)
        wrong += [] if wanted is None or found == wanted else [f"{name} differs:\n{found}"]
    whole, part = expected(case / "stdout.json"), expected(case / "stdout.subset.json")
    if whole is not None:
        wrong += json_faults(ended.stdout, whole)
    if part is not None and not holds(ended.data, json.loads(part)):
        wrong.append(f"stdout.subset.json is not in:\n{ended.stdout}")
    return wrong


def json_faults(found: str, wanted: str) -> list[str]:
    """Fractions may differ a little, everything else is compared as bytes: keys, their order, blanks, line ends."""
    if not same(json.loads(found), json.loads(wanted)):
        return [f"stdout.json differs:\n{found}"]
    return [] if FRACTION.sub("#", found) == FRACTION.sub("#", wanted) else ["the bytes of stdout.json differ"]


@pytest.fixture
def folder(tmp_path):
    """A copy of the example to work in."""
    shutil.copytree(EXAMPLE, tmp_path / "clir")
    shutil.copytree(FEATURES, tmp_path / "clir", dirs_exist_ok=True)
    return tmp_path / "clir"


@pytest.mark.req("P-20")
@pytest.mark.parametrize("case", ONE_BY_ONE, ids=lambda case: case.name)
def test_a_command_prints_what_its_golden_files_say(case, folder):
    assert outcome(case, folder, process if case in FIRST else forked) == []


@pytest.mark.slow
@pytest.mark.req("P-20")
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_a_command_prints_the_same_in_a_new_interpreter(case, folder):
    assert outcome(case, folder, process) == []


@pytest.mark.few(3)
@pytest.mark.req("P-20")
@pytest.mark.req("S-6")
@pytest.mark.parametrize("case", NUMBERS, ids=lambda case: case.name)
def test_a_command_prints_the_same_on_another_kind_of_processor(case, folder):
    assert outcome(case, folder, partial(forked, core=PLAIN_CORE)) == []


def outcome(case, folder, run):
    """What was not as the golden files say, when the commands of a case were run in the folder."""
    if (case / "files").is_dir():
        shutil.copytree(case / "files", folder, dirs_exist_ok=True)
    if " reading " in (case / "command").read_text(encoding="utf-8"):
        shutil.copytree(READING, folder, dirs_exist_ok=True)
    if " annotation " in (case / "command").read_text(encoding="utf-8"):
        shutil.copytree(READING, folder, dirs_exist_ok=True)
        shutil.copytree(ANNOTATION, folder, dirs_exist_ok=True)
    if " judge " in (case / "command").read_text(encoding="utf-8"):
        shutil.copytree(JUDGING, folder, dirs_exist_ok=True)
    if " harness " in (case / "command").read_text(encoding="utf-8"):
        shutil.copytree(HARNESS, folder, dirs_exist_ok=True)
    if " convert " in (case / "command").read_text(encoding="utf-8") or case.name == "import-other-program":
        shutil.copytree(IMPORT, folder, dirs_exist_ok=True)
    for line in (case / "command").read_text(encoding="utf-8").splitlines():
        ended = typed(line, folder, run)
    return faults(case, ended)


def test_every_command_has_a_golden_case_that_succeeds():
    assert set(COMMANDS) - {WORD[case] for case in DONE} == set()


def test_a_difference_in_the_tenth_digit_passes_and_any_other_does_not():
    assert same({"a": 0.1234567891}, {"a": 0.1234567892})
    assert not same({"a": 0.1234567891}, {"a": 0.1234567893})
    assert not same({"a": 1}, {"a": 1.0})
    assert not same({"a": True}, {"a": 1})
    assert not same({"a": None}, {"a": 0.0})
    assert not same({"a": 1, "b": 2}, {"a": 1})
    assert holds({"a": [1, {"b": 2, "c": 3}]}, {"a": [{"b": 2}]})
    assert not holds({"a": []}, {"a": [1]})
