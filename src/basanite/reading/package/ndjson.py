"""Lines of JSON, one object each, read as they come: a long file takes no more memory than its longest line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import check_regular
from basanite.formats.strict_json import parse
from basanite.problems import Findings, Problem, Severity, shortened
from basanite.registry import suggestion

LONGEST_LINE: Final = 4 * 2**20


@dataclass(frozen=True)
class LineFaults:
    """Where the problems of one file of lines go."""

    file: str
    rule: str
    findings: Findings

    def add(
        self,
        line: int | None,
        message: str,
        fix: str,
        *,
        found: str = "",
        rule: str = "",
        severity: Severity = "reject",
    ) -> None:
        """Report one problem."""
        self.findings.add(
            Problem(
                rule or self.rule,
                self.file,
                line,
                None,
                message,
                fix,
                shortened(found),
                severity=severity,
                where="reference",
            )
        )

    @contextmanager
    def unreadable(self) -> Iterator[None]:
        """A block in which a file that cannot be read, or is too large, is one problem more and stops nothing else."""
        try:
            yield
        except UnreadableError as error:
            self.add(None, str(error), "give a plain file of the usual size", rule="X-8")

    def unknown_keys(self, line: int, record: Mapping[str, Any], known: frozenset[str]) -> None:
        """Report keys that nobody reads, since they are mostly misspelt ones."""
        for key in sorted(record.keys() - known):
            self.add(line, f"the key {key!r} is not known", suggestion(key, sorted(known)), found=key)

    def text(self, line: int, record: Mapping[str, Any], key: str, *, needed: bool = True) -> str:
        """A text of a record; "" with a problem if it is something else."""
        value = record.get(key, "" if not needed else None)
        if isinstance(value, str) and (value.strip() or not needed):
            return value
        self.add(line, f"there is no text under {key!r}", f'write "{key}": "…"', found=repr(value))
        return ""


def records(path: Path, faults: LineFaults) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their lines; what is no object is reported and left out, empty lines are passed."""
    check_regular(path)
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                faults.add(number, "the line is too long", f"write at most {LONGEST_LINE} bytes a line", rule="X-8")
                return
            if line.strip():
                yield from _record(number, line, faults)


def _record(number: int, line: bytes, faults: LineFaults) -> Iterator[tuple[int, dict[str, Any]]]:
    parsed = parse(line, limit=LONGEST_LINE, rule=faults.rule)
    if parsed.fault:
        faults.add(number, parsed.fault, "write one JSON object on this line", rule=parsed.rule)
    elif not isinstance(parsed.value, dict):
        faults.add(number, "the line holds no object", 'write {"…": …}', found=line.decode("utf-8", "replace"))
    else:
        yield number, parsed.value


def near(name: object, known: Sequence[str]) -> str:
    """What helps with a name that is not known; strangers' names are cut short before they are compared.

    >>> near("perods", ["periods"]), near("x", [])
    ("Did you mean 'periods'?", 'there are none yet')
    """
    return suggestion(str(name)[:100], known[:1000]) if known else "there are none yet"
