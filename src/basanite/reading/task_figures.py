"""Figures of reading scores: the gold's versions, the phase's verdict, claimed kinds, and every document."""

from __future__ import annotations

import math
from collections.abc import Iterator

from basanite.analysis.results import Analysis, Comparison
from basanite.figures import Cell, Figure, Table
from basanite.metrics.answers import PR, PRECISION, RECALL, F
from basanite.reading.task_report import Kept, VersionScore, verdict

SHOWN = ("pr", "pr_f", "pr_i", "f", "recall", "human_recall")


def reading_figures(analysis: Analysis) -> tuple[Figure, ...]:
    """What a reader wants to know beside the values."""
    kept: Kept = analysis.scores.kept
    return (*_phase(analysis, kept), _versions(kept), _unseen(kept), _claims(kept), _documents(kept))


def compared_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """How far each run was adjudicated, and its values on every version of the gold."""
    every = [analysis.scores.kept for analysis in comparison.analyses.values()]
    return tuple(figure for kept in every for figure in (_versions(kept), _unseen(kept)))


def _phase(analysis: Analysis, kept: Kept) -> Iterator[Table]:
    if kept.phase is None:
        return
    value = analysis.values["pr"]
    row = (kept.phase.name, kept.phase.target_ratio, _cell(value.value), value.low, value.high)
    said = verdict(value.low, value.high, kept.phase.target_ratio)
    note = "Reached: the whole interval lies at or above the target. Not reached: all of it lies below."
    yield Table("Verdict of the phase", ("Phase", "Target", "pr", "Low", "High", "Verdict"), ((*row, said),), note)


def _versions(kept: Kept) -> Table:
    rows = tuple(_version(one) for one in kept.versions)
    columns = ("Gold", "Size", *SHOWN, "Own out")
    note = (
        "The same answers against every version of the gold. As it grows, human recall falls. Own out: f without "
        "the gold that only this system brought in."
    )
    return Table(f"{kept.system} on every version of the gold", columns, rows, note)


def _version(one: VersionScore) -> tuple[Cell, ...]:
    values = tuple(_cell(one.values[name]) for name in SHOWN)
    return (one.version, one.gold, *values, _cell(one.without_own))


def _unseen(kept: Kept) -> Table:
    """How much of what did not match nobody has looked at (S-21)."""
    rows = tuple((one.version, one.unmatched, one.open, _share(one.open, one.unmatched)) for one in kept.versions)
    note = "Answers that match no gold count as wrong, also those that nobody has adjudicated yet."
    return Table(f"Unmatched answers of {kept.system}", ("Gold", "Unmatched", "Not adjudicated", "Share"), rows, note)


def _claims(kept: Kept) -> Table:
    rows = tuple((kind, _cell(claimed), _cell(golden)) for kind, claimed, golden in kept.claims)
    note = (
        "Shares of the system's answers and of the gold. Answers are scored by the kind of the gold they match, "
        "whatever the system calls them."
    )
    return Table("Kinds claimed", ("Kind", "Claimed", "In the gold"), rows, note)


def _documents(kept: Kept) -> Table:
    measures = (PR, F, PRECISION, RECALL)
    rows = tuple(
        (name, *(_cell(metric.of(kept.table.rows[at : at + 1])) for metric in measures))
        for at, name in enumerate(kept.table.units)
    )
    return Table("Every document", ("Document", *(metric.name for metric in measures)), rows, detail=True)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _cell(number: float) -> float | None:
    return None if math.isnan(number) else number
