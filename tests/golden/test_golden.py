"""Every folder `tests/golden/<task>/<case>/` is a test; a new case needs no Python.

`expected.json` says `values` and `breakdowns` (null = undefined) for what is scored, `valid` and `problems` for what is
validated; a problem lists only the properties that matter, and `"exact": true` allows no other problem. Settings
are in `settings.json`, factors in `metadata*.tsv`, what judges said in `judgements*`, a query pack in `queries*`;
`requirements` names what the case proves, `why.md` why it is so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import basanite

HERE = Path(__file__).parent


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def cases(part: str) -> list[Any]:
    return list(found_cases(part))


def found_cases(part: str) -> Iterator[Any]:
    for path in sorted(HERE.glob("*/*/expected.json")):
        expected = read(path)
        if part in expected:
            marks = pytest.mark.req(*expected.get("requirements", ()))
            yield pytest.param(path.parent, expected, marks=marks, id=f"{path.parent.parent.name}/{path.parent.name}")


def files(case: Path) -> dict[str, Path]:
    """The reference and the submission of a case: a folder, or a file with any ending."""
    return {role: next(iter(sorted(case.glob(f"{role}*")))) for role in ("reference", "submission")}


def settings(case: Path) -> dict[str, Any]:
    found = {role: sorted(case.glob(f"{role}*")) for role in ("metadata", "judgements", "queries")}
    given = {role: paths if role == "metadata" else paths[0] for role, paths in found.items() if paths}
    return {**given, **read(case / "settings.json")}


def same(found: float, wanted: float | None) -> bool:
    return math.isnan(found) if wanted is None else found == pytest.approx(wanted, rel=1e-10, abs=1e-10)


def differing(found: Mapping[str, Any], wanted: Mapping[str, float | None]) -> dict[str, tuple[float, float | None]]:
    return {name: (found[name].value, value) for name, value in wanted.items() if not same(found[name].value, value)}


@pytest.mark.parametrize(("case", "expected"), list(cases("values")))
def test_a_case_has_the_values_worked_out_for_it(case, expected):
    result = basanite.score(case.parent.name, **files(case), **settings(case))
    assert differing(result.values, expected["values"]) == {}


@pytest.mark.parametrize(("case", "expected"), list(cases("breakdowns")))
def test_a_case_has_the_breakdowns_worked_out_for_it(case, expected):
    result = basanite.score(case.parent.name, **files(case), **settings(case))
    for factor, levels in expected["breakdowns"].items():
        for level, wanted in levels.items():
            assert differing(result.breakdowns[factor][level], wanted) == {}, (factor, level)


@pytest.mark.parametrize(("case", "expected"), list(cases("problems")))
def test_a_case_has_the_problems_put_into_it(case, expected):
    findings = basanite.validate(case.parent.name, **files(case), **settings(case))
    found = [problem.as_dict() for problem in findings.problems]
    assert findings.valid == expected["valid"], found
    for wanted in expected["problems"]:
        match = next((problem for problem in found if wanted.items() <= problem.items()), None)
        assert match is not None, (wanted, found)
        found.remove(match)
    assert not (expected.get("exact") and found), found


def test_every_case_says_why():
    folders = {path.parent for path in HERE.glob("*/*/expected.json")}
    assert folders
    assert [folder for folder in folders if not (folder / "why.md").read_text(encoding="utf-8").strip()] == []
