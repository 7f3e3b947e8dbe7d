"""The report on problems found in users' files."""

from __future__ import annotations

from basanite import __version__
from basanite.figures import Cell, Table
from basanite.problems import Findings, Problem, visible
from basanite.reports.model import Facts, Report, Section, facts_table, filled
from basanite.reports.wording import plural

PROBLEM_COLUMNS = ("Rule", "Severity", "Where", "Place", "Found", "Problem", "What to do")
RECORD_COLUMNS = ("rule", "severity", "where", "file", "line", "field", "column", "found", "message", "fix")


def validation_report(findings: Findings, task: str) -> Report:
    """The report on a validation: whether the files count, what was found, and the cure for each problem."""
    facts: Facts = (("Task", task), ("Software", f"Basanite {__version__}"))
    sentence = _sentence(findings)
    return Report(
        title="Valid" if findings.valid else "Not valid",
        subtitle=f"Files checked for {task}",
        sections=filled(
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
    left = ", ".join(f"{times:,} of {rule}" for rule, times in findings.unlisted.items())
    listed = f"{len(findings.problems):,} listed (not listed: {left})" if left else "all listed"
    verdict = "none stops the submission" if findings.valid else "the input does not count until they are mended"
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
