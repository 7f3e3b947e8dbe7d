"""The threat model in the docs lists every threat, and each test that it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.threats.taking_out import ROOT, THREATS, defences

PAGE = ROOT / "docs" / "explanation" / "threats.md"
ROW = re.compile(r"^\| (X-\d+) \|([^|]+)\|([^|]+)\|([^|]+)\|([^|]+)\|$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")


def rows():
    return {found[1]: [part.strip() for part in found.groups()[1:]] for found in ROW.finditer(PAGE.read_text("utf-8"))}


def named_tests():
    return [(threat, test) for threat, parts in rows().items() for test in CODE.findall(parts[3])]


def is_there(test: str) -> bool:
    """Whether a file has a test of this name; marks count for requirements that are proven by a door (D-1)."""
    path, _, name = test.partition("::")
    tree = ast.parse(Path(ROOT / path).read_text("utf-8"))
    return any(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == name for part in tree.body)


def test_every_threat_has_a_row_with_attack_defence_place_and_test():
    assert list(rows()) == THREATS
    assert all(all(parts) for parts in rows().values())


def test_the_modules_that_it_names_are_there():
    named = [name for parts in rows().values() for name in CODE.findall(parts[2])]
    assert named
    assert [name for name in named if not (ROOT / "src" / "basanite" / name).exists()] == []


@pytest.mark.parametrize(("threat", "test"), named_tests())
def test_a_test_that_it_names_is_there(threat, test):
    assert is_there(test)


@pytest.mark.parametrize("defence", defences(), ids=lambda one: f"{one.threat}-{one.what.replace(' ', '-')}")
def test_the_test_that_notices_a_missing_defence_is_there_and_named(defence):
    test = defence.test.partition("[")[0]
    assert is_there(test)
    assert (defence.threat, test) in named_tests()
