"""What every report is made of, whatever it is shown on: headlines, sections of figures, facts, and the data behind.

An output's name is the suffix of the files it writes, so `--report FILE.html` finds it. Outputs are plug-ins of the
entry-point group `basanite.outputs`; the built-in ones are registered the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from basanite import __version__, registry
from basanite.errors import UnknownNameError, UnreadableError
from basanite.extras import named_extras
from basanite.figures import Cell, Figure, Table
from basanite.kernel import Direction
from basanite.problems import Findings, Problem, visible
from basanite.reports.wording import plural

LONG_COLUMNS = ("system", "metric", "factor", "level", "value", "low", "high", "units", "undefined", "flags", "method")
Facts = tuple[tuple[str, str], ...]
GROUP = "outputs"
PROBLEM_COLUMNS = ("Rule", "Severity", "Where", "Place", "Found", "Problem", "What to do")
RECORD_COLUMNS = ("rule", "severity", "where", "file", "line", "field", "column", "found", "message", "fix")


@dataclass(frozen=True)
class Headline:
    """The primary value of one system, the first thing a reader sees: the number, its range, what it is based on."""

    label: str
    metric: str
    value: float
    low: float | None
    high: float | None
    units: int
    unit: str
    level: float
    best: Direction = "high"
    remarks: tuple[str, ...] = ()
    group: int | None = None
    """Which group of a comparison the system is in, counted from 1 for the best."""


@dataclass(frozen=True)
class Section:
    """A titled part of a report: a leading sentence, then figures."""

    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()
    detail: bool = False
    """Whether it may be left out where there is little room (a terminal)."""


@dataclass(frozen=True)
class Report:
    """One report for all outputs: `data` is the JSON object, `records` the long table of CSV and Parquet."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    facts: Facts
    data: Mapping[str, Any]
    records: Table = field(default=Table("Records", (), ()))
    headlines: tuple[Headline, ...] = ()
    sentences: tuple[str, ...] = ()
    """What the report says in words, the most important first."""
    flags: tuple[str, ...] = ()
    """What puts values in doubt: it stands before everything else, also on the first slide."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What names of metrics mean, in a line, for anyone who points at one."""


def facts_table(facts: Facts, title: str = "Settings, versions and digests") -> Table:
    """Facts as a table for the end of a report."""
    return Table(title, ("Setting", "Value"), facts)


def sections_with_content(*sections: Section) -> tuple[Section, ...]:
    """The sections that have something to show."""
    return tuple(section for section in sections if section.figures)


def tidy(table: Table) -> Table:
    """The table without columns that say nothing: no remarks, no method, nothing undefined or relevant."""
    silent = {"Remarks": "", "Undefined": 0, "Relevant": None, "Method": ""}
    kept = [
        at
        for at, column in enumerate(table.columns)
        if column not in silent or any(row[at] != silent[column] for row in table.rows)
    ]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[at] for at in kept), rows=rows)


@dataclass(frozen=True)
class Output:
    """One way to show a report, as the bytes of a file."""

    name: str
    summary: str
    media_type: str
    render: Callable[[Report], bytes]


def output_for(path: Path) -> Output:
    """The output whose name is the path's suffix."""
    name, known = path.suffix.lower().removeprefix("."), sorted(registry.names(GROUP))
    if name not in known:
        wrong, suffixes = path.suffix or "a file without a suffix", ", ".join(f".{suffix}" for suffix in known)
        raise UnknownNameError(f"No output writes {wrong}. Choose one of {suffixes} for {path.name!r}.")
    output: Output = registry.load(GROUP, name)
    return output


def write(report: Report, path: Path) -> None:
    """Write the report in the way the path's suffix asks for."""
    with named_extras():
        content = output_for(path).render(report)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error


def validation_report(findings: Findings, task: str) -> Report:
    """The report on a validation: whether the files count, what was found, and the cure for each problem."""
    facts: Facts = (("Task", task), ("Software", f"Basanite {__version__}"))
    sentence = _sentence(findings)
    return Report(
        title="Valid" if findings.valid else "Not valid",
        subtitle=f"Files checked for {task}",
        sections=sections_with_content(
            Section("Problems", "", _tables(findings)),
            Section("How this was checked", "", (facts_table(facts),)),
        ),
        facts=facts,
        data=findings.as_dict(task),
        records=Table("Problems", RECORD_COLUMNS, tuple(map(_record, findings))),
        sentences=(sentence,),
    )


def _sentence(findings: Findings) -> str:
    total = sum(findings.counts.values())
    if not total:
        return "No problem was found."
    counts = f"{plural('problem', total)} under {plural('rule', len(findings.counts))}"
    left = ", ".join(f"{times:,} of {rule}" for rule, times in findings.unlisted_counts.items())
    listed = f"{len(findings.problems):,} listed (not listed: {left})" if left else "all listed"
    verdict = "none stops the submission" if findings.valid else "the input is not accepted until they are fixed"
    return f"{counts} found, {listed}; {verdict}."


def _tables(findings: Findings) -> tuple[Table, ...]:
    if not findings.counts:
        return ()
    rows = tuple(map(_row, findings))
    counts = tuple(sorted(findings.counts.items()))
    problems = Table(
        "Problems found", PROBLEM_COLUMNS, rows, "The first problems of each rule are listed; counts are exact."
    )
    return (Table("Problems by rule", ("Rule", "Count"), counts), problems)


def _row(problem: Problem) -> tuple[Cell, ...]:
    place = problem.place()
    return (problem.rule, problem.severity, problem.where, place, visible(problem.found), problem.message, problem.fix)


def _record(problem: Problem) -> tuple[Cell, ...]:
    cells = problem.as_dict()
    return tuple(cells[name] for name in RECORD_COLUMNS)
