"""What we find in users' files: a problem is a value with its place and its cure, never an exception."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Severity = Literal["reject", "warn"]
Where = Literal["submission", "reference", "judgements", "metadata"]

LISTED_PER_RULE = 20
FOUND_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a user's file: which rule, where, what was found and what to write instead.

    `field` is the number of a field in its line, `column` that of a character; both count from 1.
    `fix` is true wherever it is read; `hint` is what to type, and only commands print it (D-8).
    """

    rule: str
    file: str
    line: int | None
    field: int | None
    message: str
    fix: str
    found: str = ""
    column: int | None = None
    severity: Severity = "reject"
    where: Where = "submission"
    hint: str = ""
    kind: str = ""
    """What sort of fault it is under its rule: each sort has its own list, so that no other crowds it out (D-7)."""

    def as_dict(self) -> dict[str, Any]:
        """The object that `validate --json` lists."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "where": self.where,
            "file": visible(self.file),
            "line": self.line,
            "field": self.field,
            "column": self.column,
            "found": visible(self.found),
            "message": visible(self.message),
            "fix": visible(self.fix),
        }

    def place(self) -> str:
        """`file:line:column`, as editors and compilers write it."""
        parts = [visible(self.file), self.line, self.column or self.field if self.line else None]
        return ":".join(str(part) for part in parts if part not in (None, ""))


@dataclass
class Findings:
    """All problems of one run: every one is counted, the first few of each rule and sort are kept to be shown."""

    limit: int | None = LISTED_PER_RULE
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    rejected: bool = False
    _listed: Counter[tuple[str, Severity, str]] = field(default_factory=Counter, repr=False)
    """Warnings have a list of their own in each rule, so that they never crowd out what stops the submission."""

    def add(self, problem: Problem) -> None:
        """Count a problem and keep it if its rule is not full yet."""
        self.count(problem.rule, 1, severity=problem.severity)
        if self.room(problem.rule, problem.severity, problem.kind):
            self._listed[problem.rule, problem.severity, problem.kind] += 1
            self.problems.append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add several problems in their order."""
        for problem in problems:
            self.add(problem)

    def lead(self, problem: Problem) -> None:
        """Put before all others the problem that explains most of them (D-7)."""
        self.count(problem.rule, 1, severity=problem.severity)
        self.problems.insert(0, problem)

    def count(self, rule: str, times: int, *, severity: Severity = "reject") -> None:
        """Count occurrences that need no text of their own because their rule's list is full."""
        self.counts[rule] += times
        self.rejected = self.rejected or (severity == "reject" and times > 0)

    def merge(self, other: Findings) -> None:
        """Take over what was found elsewhere (in one file of many), in its order."""
        shown = Counter(problem.rule for problem in other.problems)
        for problem in other.problems:
            self.add(problem)
        for rule, times in other.counts.items():
            self.counts[rule] += times - shown[rule]
        self.rejected = self.rejected or other.rejected

    def cut(self, limit: int) -> Findings:
        """The same findings with fewer listed, as if they had been kept with this limit."""
        short = Findings(limit)
        short.merge(self)
        return short

    def room(self, rule: str, severity: Severity = "reject", kind: str = "") -> int:
        """How many further problems of this rule would be listed and not only counted."""
        return sys.maxsize if self.limit is None else max(self.limit - self._listed[rule, severity, kind], 0)

    @property
    def valid(self) -> bool:
        """Whether nothing found so far stops the submission."""
        return not self.rejected

    @property
    def total(self) -> int:
        """How many problems there are, listed or not."""
        return sum(self.counts.values())

    @property
    def unlisted_counts(self) -> dict[str, int]:
        """By rule, how many problems were counted and are not listed."""
        left = self.counts - Counter(problem.rule for problem in self.problems)
        return dict(sorted(left.items()))

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def as_dict(self, task: str) -> dict[str, Any]:
        """The object that `validate --json` prints."""
        return {
            "task": task,
            "valid": self.valid,
            "problems": [problem.as_dict() for problem in self.problems],
            "counts": dict(sorted(self.counts.items())),
            "listed": len(self.problems),
            "total": self.total,
        }


def visible(text: str) -> str:
    """The same text with control and bidirectional characters escaped, so that nothing can hide in it (X-14).

    >>> visible("a" + chr(7) + "b" + chr(0x202E))
    'a\\\\x07b\\\\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def shortened(raw: bytes | str, length: int = FOUND_LENGTH) -> str:
    """What was found, as text of bounded length: undecodable bytes are shown, not lost.

    >>> shortened(b"caf\\xe9")
    'caf\\\\xe9'
    """
    text = raw[: 4 * length].decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
    return text if len(text) <= length else text[: length - 1] + "…"


def place_problem(problem: Problem, where: Where) -> Problem:
    """The same problem, found in another of the user's files."""
    return replace(problem, where=where)
