"""The tables of DomainID and LangID: percent of the truth first, of the own class second, both labelled (C09)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from basanite.analysis.results import Analysis, Comparison, Value
from basanite.figures import Cell, Figure, Table

TARGET = "target"
COUNTS = ("x1", "x2", "x3", "x4")
BLOCKS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "Documents": (COUNTS, "Counts of hits, misses, false alarms and correct rejections."),
    "Percent of the relevant documents": (
        ("x1_of_truth", "x2_of_truth", "x3_of_truth", "x4_of_truth"),
        "Hits, misses, false alarms and correct rejections as percent of what a perfect system finds (section 5 of "
        "the plan); the last two may exceed 100.",
    ),
    "Percent of the own class": (
        ("hit", "miss", "false_alarm", "correct_rejection"),
        "Hits and misses as percent of the relevant documents, false alarms and correct rejections of all others "
        "(section 8.3.2 of the plan).",
    ),
}


def identification_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """One table for each way to count, a row for each target."""
    rows = [((target,), values) for target, values in analysis.breakdowns.get(TARGET, {}).items()]
    return tuple(_tables((TARGET,), rows))


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """The same tables with the systems side by side."""
    found = {system: analysis.breakdowns.get(TARGET, {}) for system, analysis in comparison.analyses.items()}
    targets = sorted({target for levels in found.values() for target in levels})
    rows = [
        ((target, system), found[system][target])
        for target in targets
        for system in comparison.systems
        if target in found[system]
    ]
    return tuple(_tables((TARGET, "System"), rows))


def _tables(first: tuple[str, ...], rows: Sequence[tuple[tuple[str, ...], Mapping[str, Value]]]) -> Iterator[Table]:
    for title, (names, note) in BLOCKS.items():
        shown = [(*place, *_cells(values, names)) for place, values in rows if all(name in values for name in names)]
        if shown:
            yield Table(title, (*first, *names), shown, note)


def _cells(values: Mapping[str, Value], names: tuple[str, ...]) -> Iterator[Cell]:
    """The values of one target; undefined is None, never 0."""
    for name in names:
        value = values[name].value
        yield None if math.isnan(value) else int(value) if name in COUNTS else value
