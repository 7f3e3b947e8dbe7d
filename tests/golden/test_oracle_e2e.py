"""The end-to-end figures worked by hand agree with the independent program, so that neither is trusted alone."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("oracle_e2e", HERE / "oracle_e2e.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ORACLE = load()
CASES = [path.parent for path in sorted(HERE.glob("e2e/*/expected.json")) if "values" in json.loads(path.read_text())]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_expected_values_are_the_oracles(case):
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    found = ORACLE.plain(ORACLE.score(case))
    for name, value in expected["values"].items():
        assert found["values"][name] == pytest.approx(value, abs=1e-12), name
    for factor, levels in expected.get("breakdowns", {}).items():
        for level, values in levels.items():
            for name, value in values.items():
                assert found["breakdowns"][factor][level][name] == pytest.approx(value, abs=1e-12), (level, name)
