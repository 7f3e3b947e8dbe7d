"""The lines of a query pack's files, and problems that point at a column in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.queries.query_faults import QueryFault, caret
from basanite.problems import Findings, Problem, Severity, shortened

IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
"""What can name a file on every system (M25)."""
LARGEST: Final = 64 * 2**20
_SAVE: Final = "save the file as UTF-8, with line feeds only and without a byte order mark"


@dataclass(frozen=True, slots=True)
class QueryProblem(Problem):
    """A problem of a query string, with a picture: the string, and a caret below the place where it goes wrong."""

    picture: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` lists; the picture is two lines."""
        return {**Problem.as_dict(self), "picture": self.picture}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number and its fields."""

    number: int
    text: str

    @property
    def fields(self) -> list[str]:
        """What stands between tabs; at least one."""
        return self.text.split("\t")

    def column(self, field: int) -> int:
        """The column at which a field begins, both from 1."""
        return sum(len(text) + 1 for text in self.fields[: field - 1]) + 1


@dataclass(frozen=True)
class PackFile:
    """A file of a pack while it is read, and where its problems go."""

    name: str
    findings: Findings

    def report(
        self,
        line: Line,
        field: int | None,
        message: str,
        fix: str,
        *,
        at: int = 0,
        rule: str = "M37",
        severity: Severity = "reject",
    ) -> None:
        """Add a problem of a line, or of a field from its character `at` (from 0) on."""
        column = None if field is None else line.column(field) + at
        found = shortened(line.text if field is None else line.fields[field - 1])
        problem = Problem(rule, self.name, line.number, field, message, fix, found, column, severity, "metadata")
        self.findings.add(problem)

    def report_query(self, line: Line, field: int, string: str, fault: QueryFault) -> None:
        """Add a problem of a query string, with its picture (M37)."""
        column = line.column(field) + fault.column - 1
        picture = caret(string, fault.column)
        self.findings.add(
            QueryProblem(
                rule="M37",
                file=self.name,
                line=line.number,
                field=field,
                message=fault.message,
                fix=fault.fix,
                found=shortened(string),
                column=column,
                where="metadata",
                picture=picture,
            )
        )


def read_lines(path: Path, findings: Findings) -> list[Line] | None:
    """The lines of a file that is not empty; what concerns all of them is reported (M21, M22, M23)."""
    file = PackFile(path.name, findings)
    text = _decoded(_content(path), file)
    if text is None:
        return None
    lines = [Line(number, part) for number, part in enumerate(_without_marks(text, file).split("\n"), start=1)]
    if lines[-1].text:
        fix = "end the last line with a line feed"
        file.report(lines[-1], None, "the last line has no line feed", fix, rule="M23", severity="warn")
    else:
        lines.pop()
    for blank in [line for line in lines if not line.text]:
        file.report(blank, None, "blank line", "delete the line", rule="M23")
    written = [line for line in lines if line.text]
    if not written:
        file.report(Line(1, ""), None, "the file is empty", "write one line for each entry")
    return written or None


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise UnreadableError(f"{path} is larger than {LARGEST >> 20} MiB; is it part of a query pack?")
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}. Check the path and your rights.") from error


def _decoded(content: bytes, file: PackFile) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        line = Line(number, content.split(b"\n")[number - 1].decode("utf-8", "backslashreplace"))
        file.report(line, None, "not UTF-8", _SAVE, rule="M21")
        return None


def _without_marks(text: str, file: PackFile) -> str:
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        file.report(Line(1, "byte order mark"), None, "the file has a byte order mark", _SAVE, rule="M22")
        text = text[1:]
    if "\r" in text:
        number = text.count("\n", 0, text.index("\r")) + 1
        file.report(Line(number, "carriage return"), None, "lines end with a carriage return", _SAVE, rule="M22")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text
