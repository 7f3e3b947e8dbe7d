"""The problems of a submission as they are kept: those that are listed, and behind them the rest (D-7).

The first document is what `validate --json` prints, so that whoever shows a submission reads only that. What is not
listed follows, one problem a line, so that a team can have its whole list.
"""

from __future__ import annotations

import json
from typing import Any, Final

from basanite.problems import LISTED_PER_RULE, Findings
from basanite.reports.formats import json_output

KEPT_PER_RULE: Final = 2_000
"""So many problems of each rule and sort are kept: a file with a mistake on each of its million lines needs no more."""


def written(findings: Findings, task: str) -> str:
    """The text that is kept: what is listed, and the rest."""
    listed = findings.cut(LISTED_PER_RULE)
    first = {id(problem) for problem in listed}
    rest = (problem.as_dict() for problem in findings if id(problem) not in first)
    return json_output.dumps(listed.as_dict(task)) + "".join(json.dumps(one) + "\n" for one in rest)


def listed(data: bytes) -> dict[str, Any]:
    """What is listed, as `validate --json` prints it."""
    found: dict[str, Any] = json.JSONDecoder().raw_decode(data.decode())[0]
    return found


def every(data: bytes) -> dict[str, Any]:
    """The same with all problems that are kept: those that explain the others first, then as they were found."""
    text = data.decode()
    found, end = json.JSONDecoder().raw_decode(text)
    problems = [*found["problems"], *map(json.loads, text[end:].split("\n")[1:-1])]
    return {**found, "problems": problems, "listed": len(problems)}
