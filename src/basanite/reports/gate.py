"""What a gate says: a report, a summary in Markdown, and JUnit for services that run tests."""

from __future__ import annotations

from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from basanite import __version__
from basanite.analysis.gate import Gate, Margin
from basanite.canonical import plain_values
from basanite.figures import Cell, Table, Text
from basanite.problems import visible
from basanite.reports.report import Report, Section, facts_table, sections_with_content
from basanite.reports.wording import number, percent, plural

GATE_FORMAT: Final = "basanite-gate/1"
COLUMNS: Final = ("Metric", "Baseline", "Now", "Loss", "Lower bound", "Upper bound", "Margin", "Verdict")
RULE: Final = (
    "Loss: how much better the baseline is. The gate passes if the upper bound of the loss is below the margin. Each "
    "bound is one-sided at {level}."
)


def gate_report(found: Gate) -> Report:
    """The report of a gate."""
    facts = (
        ("Task", found.task),
        ("Baseline", found.baseline),
        ("Now", found.now),
        ("Level of each bound", percent(found.level)),
        ("Software", f"Basanite {__version__}"),
    )
    rows = tuple(_row(one) for one in found.margins)
    table = Table("Margins", COLUMNS, rows, RULE.format(level=percent(found.level)))
    return Report(
        title=f"{found.now} against {found.baseline}",
        subtitle=f"Gate on {found.task}: {found.verdict}",
        sections=sections_with_content(
            Section("Result", "", (table,)),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
            Section("Notes", "", (Text("Notes", found.notes),) * bool(found.notes)),
        ),
        facts=facts,
        data=gate_object(found),
        records=Table("Margins", COLUMNS, rows),
        sentences=tuple(_sentence(found, one) for one in found.margins),
    )


def gate_object(found: Gate) -> dict[str, Any]:
    """The object that `gate --json` prints."""
    data = {
        "format": GATE_FORMAT,
        "task": found.task,
        "baseline": found.baseline,
        "now": found.now,
        "verdict": found.verdict,
        "passed": found.verdict == "passed",
        "level": found.level,
        "metrics": [
            {
                "metric": one.metric.name,
                "baseline": one.baseline,
                "now": one.now,
                "loss": one.loss,
                "low": one.low,
                "high": one.high,
                "margin": one.margin,
                "verdict": one.verdict,
                "units": one.units,
                "units_needed": one.units_needed,
                "note": one.reason,
            }
            for one in found.margins
        ],
        "notes": list(found.notes),
    }
    return {key: plain_values(value) for key, value in data.items()}


def gate_markdown(found: Gate) -> str:
    """The summary that a service shows on the page of a run."""
    head = f"## {_cell(found.now)} against {_cell(found.baseline)}: {found.verdict}"
    rows = [
        "| " + " | ".join(_cell(cell if isinstance(cell, str) else number(cell)) for cell in _row(one)) + " |"
        for one in found.margins
    ]
    table = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS), *rows]
    sentences = [f"- {_cell(_sentence(found, one))}" for one in found.margins]
    return "\n".join([head, "", *sentences, "", *table, "", RULE.format(level=percent(found.level)), ""])


def gate_junit(found: Gate) -> str:
    """One test case for each metric; one that is worse or undecided has failed."""
    failed = sum(one.verdict != "passed" for one in found.margins)
    name = quoteattr(visible(f"basanite gate: {found.now} against {found.baseline}"))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites tests="{len(found.margins)}" failures="{failed}">',
        f'<testsuite name={name} tests="{len(found.margins)}" failures="{failed}" errors="0" skipped="0">',
    ]
    for one in found.margins:
        case = quoteattr(f"{one.metric.name} is not worse by {number(one.margin)} or more")
        words = visible(_sentence(found, one))
        lines.append(f"<testcase classname={quoteattr(f'basanite.gate.{found.task}')} name={case}>")
        if one.verdict == "passed":
            lines.append(f"<system-out>{escape(words)}</system-out>")
        else:
            lines.append(f'<failure type="{one.verdict}" message={quoteattr(words)}>{escape(words)}</failure>')
        lines.append("</testcase>")
    return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def unfinished_junit(task: str) -> str:
    """What stands in place of a result until there is a verdict: an error, so that no older pass is taken for one."""
    words = quoteattr("There is no verdict: see what the command printed.")
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<testsuites tests="1" failures="0" errors="1">',
            '<testsuite name="basanite gate" tests="1" failures="0" errors="1" skipped="0">',
            f'<testcase classname={quoteattr(f"basanite.gate.{task}")} name="gate"><error message={words}/></testcase>',
            "</testsuite>",
            "</testsuites>",
            "",
        ]
    )


UNFINISHED_MARKDOWN: Final = "## basanite gate: no verdict\n\nSee what the command printed.\n"


def _row(one: Margin) -> tuple[Cell, ...]:
    name = one.metric.display_name
    return (name, one.baseline, one.now, one.loss, one.low, one.high, one.margin, one.verdict)


def _sentence(found: Gate, one: Margin) -> str:
    """The verdict on a metric with the bound that it rests on (S-29)."""
    name, margin, units = one.metric.display_name, number(one.margin), plural(one.unit, one.units)
    values = f"{name} was {number(one.baseline)} and is {number(one.now)} ({units})"
    if one.low is None or one.high is None:
        return f"Undecided: {values}; there is no bound of the loss: {one.reason or 'it is undefined'}."
    bounds = f"the loss is {number(one.loss)}, at most {number(one.high)} and at least {number(one.low)}"
    sure = f"one-sided {percent(found.level)} bounds"
    if one.verdict == "passed":
        small = f" {found.now} is worse, by less than the margin." if one.low > 0 else ""
        return f"Passed: {values}; {bounds} ({sure}), which is less than the margin {margin}.{small}"
    if one.verdict == "worse":
        size = "is" if one.low >= one.margin else "may be"
        return f"Worse: {values}; {bounds} ({sure}). A loss is shown, and it {size} the margin {margin} or more."
    enough = (
        "" if one.units_needed is None else f" About {one.units_needed:,} would decide, if the loss is as observed."
    )
    return (
        f"Undecided: {values}; {bounds} ({sure}). No loss is shown, nor that it is below the margin {margin}.{enough}"
    )


def _cell(text: str) -> str:
    """Text that no Markdown acts on."""
    return "".join(f"\\{sign}" if sign in "\\|`*_<>[]#!" else sign for sign in visible(text))
