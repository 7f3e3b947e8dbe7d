"""One system analysed: values with intervals, breakdowns, notes, and the signature of how they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

import numpy as np

from basanite.analysis.clusters import cluster_notes, with_clusters
from basanite.analysis.intervals import assess, carriers, check_design, tables_of, values
from basanite.analysis.resampling import BLOCK, Frame, Job, Numbers, frame_of, is_additive, portion_of
from basanite.analysis.results import Analysis, Breakdowns, Design, Value
from basanite.kernel import Metric, Rows, Scores, UnitRows


@dataclass(frozen=True)
class Cell:
    """One level of one factor: the rows of the units that belong there, and the metrics asked for."""

    factor: str
    level: str
    rows: Rows
    index: Numbers
    metrics: tuple[Metric, ...]

    def job(self, frame: Frame, columns: tuple[str, ...]) -> Job:
        """What is to be drawn for this level."""
        portion = portion_of(frame, self.rows, self.index, additive=is_additive(self.metrics))
        return Job(portion, self.metrics, columns)


def breakdowns(scores: Scores, design: Design) -> Breakdowns:
    """The values of every metric by each level of each factor its table has, levels in order."""
    found: dict[str, dict[str, dict[str, Value]]] = {}
    for table, metrics in tables_of(scores):
        if table.own is not None:
            found |= table.own.breakdowns(table, metrics, design)
            continue
        for cell, assessed in _assess_cells(table, metrics, design):
            found.setdefault(cell.factor, {}).setdefault(cell.level, {}).update(assessed)
    return {factor: dict(sorted(levels.items())) for factor, levels in sorted(found.items())}


def left_out(scores: Scores) -> tuple[str, ...]:
    """A note for every unit factor that is not known for some units: they are in no level."""
    notes: dict[str, None] = {}
    for table, _ in tables_of(scores):
        for factor, levels in sorted(table.factors.items()):
            unknown = int(np.count_nonzero(np.asarray(levels) == ""))
            if unknown:
                notes[f"{factor}: not known for {unknown} of {len(levels)} units ({table.unit}), left out there"] = None
    return tuple(notes)


def _unit_cells(table: UnitRows, metrics: tuple[Metric, ...]) -> Iterator[Cell]:
    metrics = tuple(metric for metric in metrics if metric.by_factor)
    for factor, levels in table.factors.items() if metrics else ():
        for level in np.unique(levels):
            if level != "":
                index = np.flatnonzero(levels == level)
                yield Cell(factor, str(level), table.rows[index], index, metrics)


def _item_cells(table: UnitRows, metrics: tuple[Metric, ...]) -> Iterator[Cell]:
    metrics = tuple(metric for metric in metrics if metric.by_factor and metric.by_item)
    for factor, levels in table.levels.items() if metrics else ():
        for level, part in levels.items():
            yield Cell(factor, level, part.rows, part.index, metrics)


def _assess_cells(
    table: UnitRows, metrics: tuple[Metric, ...], design: Design
) -> Iterator[tuple[Cell, dict[str, Value]]]:
    """Each cell with its values, each of which says how many units carry it."""
    frame = frame_of(table)
    for cells in _batches(table, metrics):
        found = assess(frame, [cell.job(frame, table.columns) for cell in cells], design)
        for cell, assessed in zip(cells, found, strict=True):
            units = {metric.name: float(carriers(metric, cell.rows, table.columns)) for metric in cell.metrics}
            yield cell, {name: replace(assessed[name], parts={"relevant_units": units[name]}) for name in units}


def _batches(table: UnitRows, metrics: tuple[Metric, ...]) -> Iterator[list[Cell]]:
    """Cells to be drawn together: all, or of a wide table those of one factor, for each factor copies its rows."""
    wide = table.rows.size > BLOCK
    cells = chain(_unit_cells(table, metrics), _item_cells(table, metrics))
    for _, batch in groupby(cells, key=lambda cell: cell.factor if wide else ""):
        yield list(batch)


INDEPENDENT = "units treated as independent"


def analyse(scores: Scores, design: Design, *, version: str) -> Analysis:
    """Analyse one system by a design fixed beforehand."""
    check_design(design)
    scores = with_clusters(scores, design.cluster)
    found = values(scores, design)
    own = (note for table, _ in tables_of(scores) if table.own is not None for note in table.own.notes(table, found))
    return Analysis(
        scores,
        found,
        breakdowns(scores, design),
        design,
        signature(scores, design, version=version),
        tuple(dict.fromkeys((*own, *notes(scores, design)))),
    )


def signature(scores: Scores, design: Design, *, version: str) -> str:
    """How the numbers were made, in one line: two results may be compared if theirs are equal."""
    method = {"interval": design.interval, "draws": design.draws, "seed": design.seed, "level": design.level}
    settings = {**scores.settings, **method, **({"cluster": design.cluster} if design.cluster else {})}
    parts = [f"{key}:{_plain(settings[key])}" for key in sorted(settings)]
    return "|".join([f"basanite:{version}", f"task:{scores.task}", *parts])


def notes(scores: Scores, design: Design) -> tuple[str, ...]:
    """What must be said of the whole result: the task's notes, units left out of levels, clusters or none (S-10)."""
    clusters = cluster_notes(scores, design.cluster)
    return tuple(dict.fromkeys([*scores.notes, *left_out(scores), *clusters, *_independent(scores)]))


def _independent(scores: Scores) -> Iterator[str]:
    """That units are taken as independent, and which, where others are in clusters."""
    tables = [table for table, _ in tables_of(scores)]
    alone = dict.fromkeys(table.unit for table in tables if table.clusters is None)
    if alone:
        mixed = any(table.clusters is not None for table in tables)
        yield f"{INDEPENDENT}: each {' and '.join(alone)}" if mixed else INDEPENDENT


def _plain(value: Any) -> str:
    """A setting as short text that is the same everywhere and cannot be taken for two settings."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_plain(value[key])}" for key in sorted(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(sorted(map(_plain, value)) if isinstance(value, set | frozenset) else map(_plain, value))
    return str(value).replace("|", "/")
