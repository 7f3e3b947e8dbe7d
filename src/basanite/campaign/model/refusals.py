"""What a user may not do now, and why; and how the problems of a submission are kept: those listed, then the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from basanite import canonical
from basanite.errors import BasaniteError
from basanite.problems import LISTED_PER_RULE, Findings, Problem, shortened


class RefusedError(BasaniteError):
    """Something is not allowed to this person, or not now; `problems` say which rule and what to do instead."""

    def __init__(
        self, problems: Problem | Iterable[Problem] = (), *, status: int = 409, retry_at: datetime | None = None
    ) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.status, self.retry_at = status, retry_at
        self.uploads: Sequence[Mapping[str, Any]] = ()  # those of the team that hold what there is too little of
        sentences = [f"{problem.message}: {problem.fix}" for problem in self.problems]
        super().__init__("; ".join(sentences) or "You do not have access to this.")

    def with_hint(self, hint: str) -> RefusedError:
        """The same refusal with what to type, which commands print beside the cure and pages do not (D-8)."""
        self.problems = tuple(replace(problem, hint=hint) for problem in self.problems)
        return self


def problem(rule: str, message: str, fix: str, *, found: str = "", file: str = "") -> Problem:
    """One reason for a refusal; it belongs to what was declared, not to a line of a file."""
    return Problem(rule, file, None, None, message, fix, shortened(found))


def refused(
    rule: str, message: str, fix: str, *, status: int = 409, found: str = "", retry_at: datetime | None = None
) -> RefusedError:
    """A refusal for one reason.

    >>> refused("M64", "the week's 200 are used up", "try again on Monday", status=429).status
    429
    """
    return RefusedError(problem(rule, message, fix, found=found), status=status, retry_at=retry_at)


def no_reason(rule: str, message: str) -> RefusedError:
    """A refusal of what needs a reason and has none.

    >>> no_reason("P-7", "a re-scoring without a reason").problems[0].fix
    'give a reason'
    """
    return refused(rule, message, "give a reason", status=422).with_hint("--reason")


def missing(what: str) -> RefusedError:
    """The same answer for what does not exist and for what belongs to somebody else (404, never 403)."""
    return refused("P-5", f"there is no such {what}", "check the address, or ask your PI", status=404)


KEPT_PER_RULE: Final = 2_000
"""So many problems of each rule and sort are kept: a file with a mistake on each of its million lines needs no more."""


def problem_text(findings: Findings, task: str) -> str:
    """The text that is kept: what is listed, and the rest."""
    listed = findings.cut(LISTED_PER_RULE)
    first = {id(problem) for problem in listed}
    rest = (problem.as_dict() for problem in findings if id(problem) not in first)
    return canonical.dumps(listed.as_dict(task)) + "".join(json.dumps(one) + "\n" for one in rest)


def listed_problems(data: bytes) -> dict[str, Any]:
    """What is listed, as `validate --json` prints it."""
    found: dict[str, Any] = json.JSONDecoder().raw_decode(data.decode())[0]
    return found


def all_problems(data: bytes) -> dict[str, Any]:
    """The same with all problems that are kept: those that explain the others first, then as they were found."""
    text = data.decode()
    found, end = json.JSONDecoder().raw_decode(text)
    problems = [*found["problems"], *map(json.loads, text[end:].split("\n")[1:-1])]
    return {**found, "problems": problems, "listed": len(problems)}
