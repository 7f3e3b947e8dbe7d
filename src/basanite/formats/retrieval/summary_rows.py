"""The fourth field of end-to-end rows: which summary a returned document has (M40, M41).

A file is split into the three fields that every detection file has, read fast by `detection_files`, and the few names
that belong to returned documents. Line numbers and line ends stay as they are, so problems found later still point
to the right place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from basanite.formats.retrieval.detection_lines import BYTE_ORDER_MARK
from basanite.formats.retrieval.summary_metadata import SummaryName, SummaryRules, team_hint
from basanite.problems import Findings, Problem, shortened

RETURNED = b"\tY\t"
SKETCH = "DocID TAB Y|N TAB confidence TAB metadata file"


@dataclass(frozen=True)
class SummaryRows:
    """A detection file without its fourth fields, and those fields: for each returned document, line and name."""

    data: bytes
    summaries: Mapping[str, tuple[int, str]]
    unnamed: frozenset[str] = frozenset()
    """Returned documents whose fourth field is wrong: nobody can tell which files are theirs."""


def split_rows(data: bytes, name: str, query: str, rules: SummaryRules, findings: Findings) -> SummaryRows:
    """Take the fourth fields out of a file and check each of them; three fields are left to the usual readers."""
    sheet = _Sheet(name, query, rules, findings)
    lines = data.split(b"\n")
    for at, line in enumerate(lines):
        if line.count(b"\t") > 2 or RETURNED in line:
            lines[at] = sheet.cut_summary(line, at + 1)
    return SummaryRows(b"\n".join(lines), sheet.summaries, frozenset(sheet.unnamed))


@dataclass
class _Sheet:
    """One file on its way through the splitter, and what was found in it."""

    name: str
    query: str
    rules: SummaryRules
    findings: Findings
    summaries: dict[str, tuple[int, str]] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)

    def cut_summary(self, line: bytes, number: int) -> bytes:
        """The line without its fourth field, which is kept if there ought to be one."""
        end = b"\r" if line.endswith(b"\r") else b""  # left for the reader of the other fields to tell (M22)
        cells = line.removesuffix(end).split(b"\t")
        if len(cells) > 4:
            message = f"{len(cells)} fields, but three or four are required: {SKETCH}"
            self._report("M27", number, None, line, message, "separate them by one tab fields and none in them")
        elif cells[1] == b"Y":
            self._take_returned(cells, number)
        elif cells[1] == b"N" and any(cells[3:]):
            message, fix = "a rejected document has no summary", "leave the fourth field empty"
            self._report("M41", number, 4, cells[3], message, fix)
        return b"\t".join(cells[:3]) + end

    def _take_returned(self, cells: list[bytes], number: int) -> None:
        document = cells[0].removeprefix(BYTE_ORDER_MARK).decode("utf-8", "backslashreplace")
        summary = cells[3].decode("utf-8", "backslashreplace") if len(cells) == 4 else ""
        problem = _field_problem(summary, self.query, document, self.rules)
        if problem is None:
            self.summaries[document] = (number, summary)
        else:
            self.unnamed.add(document)
            self._report("M40", number, 4, summary.encode(), *problem)

    def _report(self, rule: str, line: int, place: int | None, found: bytes, message: str, fix: str) -> None:
        self.findings.add(Problem(rule, self.name, line, place, message, fix, found=shortened(found)))


def _field_problem(summary: str, query: str, document: str, rules: SummaryRules) -> tuple[str, str] | None:
    """What is wrong with the name of a summary, and what to do about it."""
    wanted = f"write <Team>.<Label>.{query}.{document}.json"
    if not summary:
        return "a returned document needs the name of its summary in the fourth field", wanted
    parts = SummaryName.parse(summary)
    if parts is None or "/" in summary:
        return "this is not the name of a summary", wanted
    if parts.team not in rules.teams:
        return f"no team is called {parts.team!r}", team_hint(parts.team, rules.teams)
    if not (parts.label.isascii() and parts.label.isalnum()):
        return f"label {parts.label!r} has more than letters and digits", wanted
    if (parts.query, parts.document) != (query, document):
        return "the summary is of another query or document", wanted
    return None
