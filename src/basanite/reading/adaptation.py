"""What a system's adaptation to a use case cost, against what it scored: the curve of its effort (R-45).

The log is the one of use cases (`effort.ndjson`), with the system and the run that the work led to. What a run cost is
all work on its system up to the last line that names it: the log tells the order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Table
from basanite.reading.effort import Effort
from basanite.reports.report import Report, Section, sections_with_content

FORMAT: Final = "basanite-adaptation/1"
COLUMNS: Final = ("System", "Run", "Hours", "Rules", "Examples", "Value", "Low", "High")


@dataclass(frozen=True)
class Spent:
    """What had gone into a system when it made a run."""

    system: str
    hours: float
    rules: int
    examples: int


@dataclass(frozen=True)
class AdaptedRun:
    """A run with what it cost, and what it scored."""

    run: str
    spent: Spent | None
    """None where the log does not name the run."""
    value: float
    low: float | None
    high: float | None


def spent_by_run(log: Sequence[Effort]) -> dict[str, Spent]:
    """For each run that a log names all work on its system up to the last line about it, that line included."""
    found: dict[str, Spent] = {}
    for at, line in enumerate(log):
        if line.run:
            before = [one for one in log[: at + 1] if one.system == line.system]
            minutes = math.fsum(one.minutes for one in before)
            rules, examples = sum(one.rules for one in before), sum(one.examples for one in before)
            found[line.run] = Spent(line.system, minutes / 60, rules, examples)
    return found


def adaptation_report(title: str, metric: str, runs: Sequence[AdaptedRun]) -> Report:
    """The report of a curve: hours of work against the values of runs."""
    logged = sorted(
        (one for one in runs if one.spent is not None),
        key=lambda one: (one.spent.system, one.spent.hours, one.run) if one.spent else ("", 0.0, one.run),
    )
    rows = tuple(map(_row, logged))
    table = Table(f"{metric} and effort", COLUMNS, rows, "Hours, rules and examples are all that had gone in by then.")
    chart = Chart(
        f"{metric} by hours of work",
        _summary(metric, logged),
        "line",
        Table("", COLUMNS, rows),
        Axis("Hours", "hours of work on the system", low=0.0),
        Axis("Value", metric),
        series="System" if len({one.spent.system for one in logged if one.spent}) > 1 else None,
        low="Low",
        high="High",
    )
    silent = tuple(one.run for one in runs if one.spent is None)
    left_out = f"No line of the log names these runs, so they are not drawn: {', '.join(silent)}." if silent else ""
    return Report(
        title=title,
        subtitle=f"{metric} against the effort of adaptation",
        sections=sections_with_content(Section("Result", left_out, (chart, table) if rows else ())),
        facts=(("Metric", metric), ("Software", f"Basanite {__version__}")),
        data=adaptation_object(metric, runs),
        records=Table("Runs", COLUMNS, tuple(map(_row, runs))),
        sentences=tuple(one for one in (_summary(metric, logged), left_out) if one),
    )


def adaptation_object(metric: str, runs: Sequence[AdaptedRun]) -> dict[str, object]:
    """The object that `reading adaptation --json` prints."""
    rows = [dict(zip((name.lower() for name in COLUMNS), _row(one), strict=True)) for one in runs]
    data: dict[str, object] = plain_values({"format": FORMAT, "metric": metric, "runs": rows})
    return data


def _row(one: AdaptedRun) -> tuple[Cell, ...]:
    spent = one.spent
    cost = (spent.hours, spent.rules, spent.examples) if spent else (None, None, None)
    return (spent.system if spent else None, one.run, *cost, _cell(one.value), one.low, one.high)


def _cell(value: float) -> float | None:
    return None if math.isnan(value) else value


def _summary(metric: str, logged: Sequence[AdaptedRun]) -> str:
    found = [one for one in logged if one.spent and not math.isnan(one.value)]
    if not found:
        return ""
    first, last = found[0], max(found, key=lambda one: one.value)
    assert first.spent is not None
    assert last.spent is not None
    if first is last:
        return f"{metric} is {first.value:.3f} after {first.spent.hours:.1f} hours ({first.run})."
    return (
        f"{metric} is {first.value:.3f} after {first.spent.hours:.1f} hours ({first.run}) and at best "
        f"{last.value:.3f} after {last.spent.hours:.1f} hours ({last.run})."
    )
