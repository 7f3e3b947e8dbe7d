"""What a user may not do now, and why: raised by acts, printed by commands, sent as problems by the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from basanite.errors import BasaniteError
from basanite.problems import Problem, shortened


class RefusedError(BasaniteError):
    """Something is not allowed to this person, or not now; `problems` say which rule and what to do instead."""

    def __init__(
        self, problems: Problem | Iterable[Problem] = (), *, status: int = 409, retry_at: datetime | None = None
    ) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        self.status, self.retry_at = status, retry_at
        self.uploads: Sequence[Mapping[str, Any]] = ()  # those of the team that hold what there is too little of
        sentences = [f"{problem.message}: {problem.fix}" for problem in self.problems]
        super().__init__("; ".join(sentences) or "There is nothing here for you.")

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
    'say why'
    """
    return refused(rule, message, "say why", status=422).with_hint("--reason")


def missing(what: str) -> RefusedError:
    """The same answer for what does not exist and for what belongs to somebody else (404, never 403)."""
    return refused("P-5", f"there is no such {what}", "check the address, or ask your PI", status=404)
