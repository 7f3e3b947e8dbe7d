"""Every example in a docstring gives what it shows.

A module is imported by the process that runs its examples, and by no other: pytest's own collection of doctests would
import all of them in each process of a run.
"""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OPTIONAL = ("torch",)
"""Packages that `make test` may leave out, with the examples of the modules that need them."""


def modules_with_examples():
    paths = [path for root in ("src/basanite", "tools") for path in sorted((ROOT / root).rglob("*.py"))]
    for path in paths:
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(part for part in parts if part not in ("src", "__init__"))


MODULES = list(modules_with_examples())


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_give_what_they_show(module):
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name not in OPTIONAL:
            raise
        pytest.skip(f"needs {missing.name}")
    outcome = doctest.testmod(imported, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0, f"{module} shows examples that doctest does not find"
    assert outcome.failed == 0, f"{outcome.failed} of {outcome.attempted} examples fail: see the output"


def test_an_example_that_is_wrong_is_found(tmp_path, monkeypatch):
    (tmp_path / "wrong_example.py").write_text('"""Adds.\n\n>>> 1 + 1\n3\n"""\n', encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert doctest.testmod(importlib.import_module("wrong_example"), report=False).failed == 1
