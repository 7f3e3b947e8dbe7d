"""The fourth field of end-to-end rows: which summary a returned document has (M40, M41).

A file is split into the three fields that every detection file has, read fast by `detection`, and the few names that
stand behind returned documents. Line numbers stay as they are, so problems found later still point to the right place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from basanite.formats.summary_metadata import SummaryName, SummaryRules, team_hint
from basanite.problems import Findings, Problem, shortened

RETURNED, REJECTED = b"\tY\t", b"\tN\t"


@dataclass(frozen=True)
class SummaryRows:
    """A detection file without its fourth fields, and those fields: for each returned document, line and name."""

    data: bytes
    summaries: Mapping[str, tuple[int, str]]


def split_rows(data: bytes, name: str, query: str, rules: SummaryRules, findings: Findings) -> SummaryRows:
    """Take the fourth fields out of a file and check each of them; three fields are left to the usual readers."""
    lines = data.replace(b"\t\n", b"\n").split(b"\n")  # a rejected document may have an empty fourth field (C21)
    summaries: dict[str, tuple[int, str]] = {}
    for at, line in enumerate(lines):
        if line.count(b"\t") > 2 or RETURNED in line:
            lines[at] = _taken(line, at + 1, name, query, rules, findings, summaries)
    return SummaryRows(b"\n".join(lines), summaries)


def _taken(
    line: bytes,
    number: int,
    name: str,
    query: str,
    rules: SummaryRules,
    findings: Findings,
    summaries: dict[str, tuple[int, str]],
) -> bytes:
    """The line without its fourth field, which is kept if there ought to be one."""
    cells = line.split(b"\t")
    document = cells[0].decode("utf-8", "backslashreplace")
    if len(cells) == 4 and cells[1] == b"N":
        message, fix = "a rejected document has no summary", "leave the fourth field empty"
        findings.add(Problem("M41", name, number, 4, message, fix, found=shortened(cells[3])))
    elif cells[1:2] == [b"Y"] and len(cells) in (3, 4):
        field = cells[3].decode("utf-8", "backslashreplace") if len(cells) == 4 else ""
        problem = _field_problem(field, query, document, rules)
        if problem is not None:
            message, fix = problem
            findings.add(Problem("M40", name, number, 4, message, fix, found=shortened(field)))
        else:
            summaries[document] = (number, field)
    else:
        return line
    return b"\t".join(cells[:3])


def _field_problem(field: str, query: str, document: str, rules: SummaryRules) -> tuple[str, str] | None:
    """What is wrong with the name of a summary, and what to do about it."""
    wanted = f"write <Team>.<Label>.{query}.{document}.json"
    if not field:
        return "a returned document needs the name of its summary in the fourth field", wanted
    parts = SummaryName.parse(field)
    if parts is None or "/" in field:
        return "this is not the name of a summary", wanted
    if parts.team not in rules.teams:
        return f"no team is called {parts.team!r}", team_hint(parts.team, rules.teams)
    if not (parts.label.isascii() and parts.label.isalnum()):
        return f"label {parts.label!r} has more than letters and digits", wanted
    if (parts.query, parts.document) != (query, document):
        return "the summary is of another query or document", wanted
    return None
