"""The value of each unit alone: what `Result.units` and tables of units show, and what such a table is read as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from basanite.analysis.intervals import tables_of
from basanite.analysis.results import Analysis
from basanite.kernel import Metric, Rows, UnitRows


class UnitValue(NamedTuple):
    """One cell of a table of units; nan where a metric is undefined on the unit."""

    unit: str
    system: str
    metric: str
    value: float


def values_alone(metric: Metric, rows: Rows) -> list[float]:
    """The value of a metric on each unit alone."""
    if metric.compute is None:
        return [float(value) for value in np.broadcast_to(metric.value(rows), (len(rows),))]
    return [metric.of(rows[at : at + 1]) for at in range(len(rows))]


def unit_values(analyses: Iterable[Analysis]) -> Iterator[UnitValue]:
    """The values of all units, by system, metric and unit.

    Where a metric has a value for each class or target only, its name has that in brackets: `x1[GOV]`. Measures that
    are no functions of units have no values here.
    """
    for analysis in analyses:
        system = analysis.scores.system
        for table, metrics in tables_of(analysis.scores):
            if table.own is None:
                for metric in metrics:
                    yield from _of_metric(system, metric, table)


def _of_metric(system: str, metric: Metric, table: UnitRows) -> Iterator[UnitValue]:
    if metric.overall:
        for unit, value in zip(table.units, values_alone(metric, table.rows), strict=True):
            yield UnitValue(unit, system, metric.name, value)
        return
    for levels in table.levels.values():
        for level, found in levels.items():
            for at, value in zip(found.index, values_alone(metric, found.rows), strict=True):
                yield UnitValue(table.units[at], system, f"{metric.name}[{level}]", value)
