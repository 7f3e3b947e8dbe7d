"""Values by level of a factor: of units (query kind) or of the items inside a unit (genre of a document).

Both draw whole units with the same weights as the overall value; a level of an item factor has its own rows, with its
own denominators, for those units that have something left there (S-9).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, groupby

import numpy as np

from basanite.analysis.intervals import assess, carriers, tables_of
from basanite.analysis.resampling import BLOCK, Frame, Job, Numbers, frame_of, is_additive, portion_of
from basanite.analysis.results import Breakdowns, Design, Value
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
        for cell, values in _assessed(table, metrics, design):
            found.setdefault(cell.factor, {}).setdefault(cell.level, {}).update(values)
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


def _assessed(table: UnitRows, metrics: tuple[Metric, ...], design: Design) -> Iterator[tuple[Cell, dict[str, Value]]]:
    """Each cell with its values, each of which says how many units carry it."""
    frame = frame_of(table)
    for cells in _batches(table, metrics):
        found = assess(frame, [cell.job(frame, table.columns) for cell in cells], design)
        for cell, values in zip(cells, found, strict=True):
            yield cell, {metric.name: _counted(metric, cell, values[metric.name], table) for metric in cell.metrics}


def _batches(table: UnitRows, metrics: tuple[Metric, ...]) -> Iterator[list[Cell]]:
    """Cells to be drawn together: all, or of a wide table those of one factor, for each factor copies its rows."""
    wide = table.rows.size > BLOCK
    cells = chain(_unit_cells(table, metrics), _item_cells(table, metrics))
    for _, batch in groupby(cells, key=lambda cell: cell.factor if wide else ""):
        yield list(batch)


def _counted(metric: Metric, cell: Cell, value: Value, table: UnitRows) -> Value:
    return replace(value, parts={"relevant_units": float(carriers(metric, cell.rows, table.columns))})
