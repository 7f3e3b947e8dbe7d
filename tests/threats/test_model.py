"""The threat model in the docs lists every threat, and each test that it names is there and marked for it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.threats.taking_out import ROOT, defences

PAGE = ROOT / "docs" / "explanation" / "threats.md"
ROW = re.compile(r"^\| (X-\d+) \|([^|]+)\|([^|]+)\|([^|]+)\|([^|]+)\|$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
THREATS = [f"X-{number}" for number in range(1, 19)]


def rows():
    return {found[1]: [part.strip() for part in found.groups()[1:]] for found in ROW.finditer(PAGE.read_text("utf-8"))}


def named_tests():
    return [(threat, test) for threat, parts in rows().items() for test in CODE.findall(parts[3])]


def marked(test: str) -> set[str]:
    """The requirements that a test is marked for: by its own marks, and by those of its file."""
    path, _, name = test.partition("::")
    tree = ast.parse(Path(ROOT / path).read_text("utf-8"))
    parts = [
        part for part in tree.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == name
    ]
    assert parts, f"{test} is not there"
    whole = [
        part.value
        for part in tree.body
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "pytestmark"
    ]
    calls = [
        call for each in (*parts[0].decorator_list, *whole) for call in ast.walk(each) if isinstance(call, ast.Call)
    ]
    marks = [call for call in calls if ast.unparse(call.func) == "pytest.mark.req"]
    fixed = {argument.value for call in marks for argument in call.args if isinstance(argument, ast.Constant)}
    return fixed | (_listed(tree) if any(isinstance(one, ast.Name) for call in marks for one in call.args) else set())


def _listed(tree: ast.Module) -> set[str]:
    """Where cases bring their requirements along: all that the file speaks of."""
    texts = (part.value for part in ast.walk(tree) if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return {text for text in texts if re.fullmatch(r"X-\d+", text)}


def test_every_threat_has_a_row_with_attack_defence_place_and_test():
    assert list(rows()) == THREATS
    assert all(all(parts) for parts in rows().values())


def test_the_modules_that_it_names_are_there():
    named = [name for parts in rows().values() for name in CODE.findall(parts[2])]
    assert named
    assert [name for name in named if not (ROOT / "src" / "basanite" / name).exists()] == []


@pytest.mark.parametrize(("threat", "test"), named_tests())
def test_a_test_that_it_names_is_there_and_marked_for_the_threat(threat, test):
    assert threat in marked(test)


@pytest.mark.parametrize("defence", defences(), ids=lambda one: f"{one.threat}-{one.what.replace(' ', '-')}")
def test_the_test_that_notices_a_missing_defence_is_marked_and_named(defence):
    assert defence.threat in marked(defence.test)
    assert (defence.threat, defence.test) in named_tests()
