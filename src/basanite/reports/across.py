"""The report on a value over several tasks: the order, what each task adds, and which order hangs on one (S-32)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from basanite import __version__
from basanite.analysis.aggregate import BORDA, MEAN_RANK, NORMALIZED, WORST, Aggregate, Aggregated, WithoutTask
from basanite.analysis.results import Design
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Table
from basanite.reports.metric_names import display_name
from basanite.reports.report import LONG_COLUMNS, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import enumeration, number, percent

FORMAT = "basanite-across/1"
MEANING = {
    NORMALIZED: "mean of values, each normalized by its task's anchors: 0 at the first, 1 at the second",
    MEAN_RANK: "mean rank over tasks; 1 is best",
    BORDA: "Borda points: for each task the systems ranked below, half for each tie",
}
PARTS = {NORMALIZED: "normalized", MEAN_RANK: "rank", BORDA: "points"}
RESAMPLED = "intervals resample units inside each task; which tasks there are is not resampled"
OPEN_RANKS = "low and high: the ranks that simultaneous intervals of all differences leave open, on all tasks at once"
ON_ENTRANTS = "ranks depend on who takes part: a system more or less can change the order of others"
MOST_BARS = 60


@dataclass(frozen=True)
class Declared:
    """What was declared besides the rule, and how intervals are made."""

    title: str
    missing: str
    design: Design


def across_report(found: Aggregate, declared: Declared) -> Report:
    """The report on an aggregate."""
    notes = tuple(_notes(found, declared))
    facts = tuple(_facts(found, declared))
    return Report(
        title=declared.title,
        subtitle=f"{len(found.tasks)} tasks: {MEANING[found.rule]}",
        sections=sections_with_content(
            Section("Systems", "", (_systems_table(found),)),
            Section("Chart", "", _chart(found), detail=True),
            Section("By task", "", (_tasks_table(found), _parts_table(found))),
            Section("Differences", "First minus second, with the same resamples.", (_gaps_table(found),), detail=True),
            Section("Sensitivity", _sensitivity(found), (_sensitivity_table(found),)),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
        ),
        facts=facts,
        data=_data(found, declared, notes),
        records=Table("Values", LONG_COLUMNS, tuple(_records(found))),
        sentences=(*_leads(found), _sensitivity(found), *notes),
    )


def _leads(found: Aggregate) -> Iterator[str]:
    best = found.systems[0]
    first = [one.system for one in found.systems if one.rank == 1]
    if len(first) > 1:
        yield f"{enumeration(tuple(first))} share the first place with {number(best.value)}."
        return
    yield f"{best.system} is first with {_with_bounds(best.value, best.low, best.high)}."
    if found.gaps:
        gap = found.gaps[0]
        yield f"{gap.first} minus {gap.second}: {_with_bounds(gap.difference, gap.low, gap.high)}."


def _with_bounds(value: float, low: float | None, high: float | None) -> str:
    return number(value) if low is None else f"{number(value)} ({number(low)} to {number(high)})"


def _sensitivity(found: Aggregate) -> str:
    """The line that every aggregate has: which order changes when one task is left out."""
    changing = [one for one in found.sensitivity if one.changed]
    if not changing:
        return "No order of two systems changes when any one task is left out."
    return " ".join(f"Without {one.task} the order changes: {_changes(one)}." for one in changing)


def _changes(one: WithoutTask) -> str:
    pairs = [f"{first} and {second}" for first, second in one.changed]
    return "; ".join(pairs[:5]) + (f"; and {len(pairs) - 5} more pairs" if len(pairs) > 5 else "")


def _notes(found: Aggregate, declared: Declared) -> Iterator[str]:
    if all(one.low is None and one.flags for one in found.systems) and any(task.no_interval for task in found.tasks):
        yield found.systems[0].flags[0]
    else:
        yield RESAMPLED
    if found.rule != NORMALIZED:
        if any(one.low is not None for one in found.systems):
            yield OPEN_RANKS
        yield ON_ENTRANTS
    for system, absent in found.unranked.items():
        fate = "counts as the worst there" if declared.missing == WORST else "is not ranked"
        yield f"{system} has no value for {enumeration(absent)} and {fate}"


def _systems_table(found: Aggregate) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.rank, one.system, one.value, one.low, one.high, "; ".join(one.flags)) for one in found.systems
    ]
    flagged = any(row[-1] for row in rows)
    columns = ("Rank", "System", "Value", "Low", "High", *(("Remarks",) if flagged else ()))
    return Table("Systems", columns, [row if flagged else row[:-1] for row in rows])


def _chart(found: Aggregate) -> tuple[Chart, ...]:
    drawn = [one for one in found.systems if one.low is not None][:MOST_BARS]
    if not drawn:
        return ()
    rows = [(one.system, one.value, one.low, one.high) for one in drawn]
    table = Table(found.rule, ("System", "Value", "Low", "High"), rows)
    words = "; ".join(f"{one.system} {_with_bounds(one.value, one.low, one.high)}" for one in drawn)
    axes = Axis("Value", found.rule), Axis("System", "", "category")
    return (Chart(found.rule.capitalize(), words, "bars", table, *axes, low="Low", high="High"),)


def _tasks_table(found: Aggregate) -> Table:
    systems = [*(one.system for one in found.systems), *(name for name in found.unranked if not _has_rank(found, name))]
    rows: list[tuple[Cell, ...]] = [
        (
            task.name,
            display_name(task.metric, task.task),
            "lower" if task.best == "low" else "higher",
            *(task.anchors or (None, None)),
            task.weight,
            *(task.values.get(system) for system in systems),
        )
        for task in found.tasks
    ]
    head = ("Task", "Metric", "Better", "Counts 0", "Counts 1", "Weight", *systems)
    at = [0, 1, 2, *((3, 4) if found.rule == NORMALIZED else ()), *range(5, len(head))]
    return Table("Values", tuple(head[place] for place in at), [tuple(row[place] for place in at) for row in rows])


def _has_rank(found: Aggregate, name: str) -> bool:
    return any(one.system == name for one in found.systems)


def _parts_table(found: Aggregate) -> Table:
    rows: list[tuple[Cell, ...]] = [(one.system, *one.parts.values()) for one in found.systems]
    columns = ("System", *(task.name for task in found.tasks))
    return Table(f"What each task adds ({PARTS[found.rule]})", columns, rows)


def _gaps_table(found: Aggregate) -> Table:
    rows = [(gap.first, gap.second, gap.difference, gap.low, gap.high) for gap in found.gaps]
    return Table("Differences", ("First", "Second", "Difference", "Low", "High"), rows)


def _sensitivity_table(found: Aggregate) -> Table:
    rows = [
        (one.task, ", ".join(one.order), _changes(one) if one.changed else "no change") for one in found.sensitivity
    ]
    return Table("If one task is left out", ("Without", "Order", "Pairs that change"), rows)


def _facts(found: Aggregate, declared: Declared) -> Iterator[tuple[str, str]]:
    design = declared.design
    yield "Rule", found.rule
    yield "A system without a value", declared.missing
    method = "percentile" if found.rule == NORMALIZED else "ranks left open by simultaneous intervals of differences"
    yield (
        "Intervals",
        f"{percent(design.level)}, {method}, {design.draws:,} resamples inside each task, seed {design.seed}",
    )
    yield "Software", f"Basanite {__version__}"


def _data(found: Aggregate, declared: Declared, notes: tuple[str, ...]) -> dict[str, Any]:
    design = declared.design
    data = {
        "format": FORMAT,
        "title": declared.title,
        "rule": found.rule,
        "tasks": [
            {
                "name": task.name,
                "task": task.task,
                "reference": task.reference or None,
                "metric": task.metric,
                "best": task.best,
                "anchors": None if task.anchors is None else {"zero": task.anchors[0], "one": task.anchors[1]},
                "weight": task.weight,
                "values": dict(task.values),
            }
            for task in found.tasks
        ],
        "systems": [_system(one) for one in found.systems],
        "unranked": {name: list(absent) for name, absent in found.unranked.items() if not _has_rank(found, name)},
        "missing": {name: list(absent) for name, absent in found.unranked.items()},
        "differences": [
            {"first": gap.first, "second": gap.second, "difference": gap.difference, "low": gap.low, "high": gap.high}
            for gap in found.gaps
        ],
        "sensitivity": [
            {"without": one.task, "order": list(one.order), "changed": [list(pair) for pair in one.changed]}
            for one in found.sensitivity
        ],
        "settings": {
            "missing": declared.missing,
            "draws": design.draws,
            "seed": design.seed,
            "level": design.level,
        },
        "notes": [*notes, _sensitivity(found)],
    }
    return {key: plain_values(value) for key, value in data.items()}


def _system(one: Aggregated) -> dict[str, Any]:
    return {
        "rank": one.rank,
        "system": one.system,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "flags": list(one.flags),
        "parts": dict(one.parts),
    }


def _records(found: Aggregate) -> Iterator[tuple[Cell, ...]]:
    for one in found.systems:
        method = "" if one.low is None else "percentile" if found.rule == NORMALIZED else "simultaneous"
        value = (one.value, one.low, one.high, len(found.tasks), 0, "; ".join(one.flags), method)
        yield one.system, found.rule, "", "", *value
        for task, part in one.parts.items():
            yield one.system, PARTS[found.rule], "task", task, part, None, None, 1, 0, "", ""
