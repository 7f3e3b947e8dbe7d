"""Scores over some of the units only: those of one level of a factor, say the closed queries (M20).

What is left is what the breakdown by that factor shows for the level, row by row, so that a comparison of it agrees
with the values there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.errors import BasaniteError
from basanite.kernel import Rows, Scores, UnitRows


class NothingLeftError(BasaniteError):
    """No unit of the primary metric is of that level, so nothing can be said about it."""


def restrict_scores(scores: Scores, factor: str, level: str) -> Scores:
    """The scores over the units of one level; metrics whose units do not have the factor are left out."""
    made = {id(table): _part(table, factor, level) for table in scores.tables.values()}
    tables = {name: part for name, table in scores.tables.items() if (part := made[id(table)]) is not None}
    if scores.primary not in tables:
        raise NothingLeftError(f"No unit of {scores.primary} has {factor} = {level}. Give a list that says which do.")
    metrics = tuple(metric for metric in scores.metrics if metric.name in tables)
    return replace(scores, metrics=metrics, tables=tables, sweep=None, parts={}, kept=None)


def some_units(table: UnitRows, index: NDArray[np.int64], rows: Rows) -> UnitRows:
    """A table of some units of another, with rows of its own."""
    clusters = None if table.clusters is None else table.clusters[index]
    units = tuple(table.units[place] for place in index)
    return UnitRows(table.unit, units, table.columns, rows, clusters=clusters, cluster=table.cluster)


def _part(table: UnitRows, factor: str, level: str) -> UnitRows | None:
    """Rows of the units of a level, or of what is left of units whose items are of it; None if there is nothing."""
    redrawn = None
    if factor in table.factors:
        index = np.flatnonzero(np.asarray(table.factors[factor]) == level)
        rows = table.rows[index]
        redrawn = None if table.redrawn is None else partial(_redrawn, table.redrawn, index)
    elif level in table.levels.get(factor, {}):
        index, rows = table.levels[factor][level].index, table.levels[factor][level].rows
    else:
        return None
    units = tuple(table.units[place] for place in index)
    clusters = None if table.clusters is None else table.clusters[index]
    bare: dict[str, Any] = {"factors": {}, "levels": {}, "attributes": {}, "judged": None}
    own = None if table.own is None else table.own.subset(index)
    kept = replace(table, units=units, rows=rows, clusters=clusters, redrawn=redrawn, own=own, **bare)
    return kept if len(index) else None


def _redrawn(
    source: Callable[[int], Callable[[int], Rows]], index: NDArray[np.int64], seed: int
) -> Callable[[int], Rows]:
    give = source(seed)
    return lambda draws: give(draws)[:, index]
