"""Which units move together in a resample: those with the same cell in a column of the reference or metadata (S-28).

A task names its usual cluster (S-10). A column called `cluster` comes before it, and a column that the user names
before both. Units of one cluster are alike, so intervals that take them as independent are too narrow; a column that
looks like a cluster and is not used is therefore named in a note, unless a metadata table declares it a factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.intervals import FEWEST_UNITS, tables_of
from basanite.analysis.resampling import cluster_count
from basanite.errors import SettingError
from basanite.kernel import Scores, UnitRows
from basanite.registry import suggestion

COLUMN, NONE = "cluster", "none"
Cells = NDArray[np.str_]


def with_clusters(scores: Scores, column: str) -> Scores:
    """The scores with units in the clusters of this column, or of one called `cluster`; `none` takes clusters away."""
    if column not in ("", NONE):
        _check_column(scores, column)
    made = {id(table): _with_cluster(table, column) for table in scores.tables.values()}
    return replace(scores, tables={name: made[id(table)] for name, table in scores.tables.items()})


def clusters_of(cells: Iterable[str]) -> NDArray[np.int64]:
    """The number of each unit's cluster; a unit whose cell is empty is a cluster of its own.

    >>> clusters_of(["b", "a", "", "b", ""]).tolist()
    [3, 2, 0, 3, 1]
    """
    names = [cell or f"\0{at:012}" for at, cell in enumerate(cells)]
    return np.unique(np.array(names, dtype=np.str_), return_inverse=True)[1].astype(np.int64)


def cluster_notes(scores: Scores, column: str) -> tuple[str, ...]:
    """What must be said of clusters: which there are, units without one, and columns that look like one (S-28)."""
    notes: dict[str, None] = {}
    for table, _ in tables_of(scores):
        notes |= dict.fromkeys(_cluster_note(table))
        if column != NONE:
            notes |= dict.fromkeys(_ignored_columns_note(table))
    return tuple(notes)


def _columns(table: UnitRows) -> Mapping[str, Cells]:
    """Every column that could name clusters: those with something in them."""
    known = {**table.attributes, **table.factors}
    return {name: cells for name, cells in known.items() if np.any(np.asarray(cells) != "")}


def _check_column(scores: Scores, column: str) -> None:
    """Refuse a column that says nothing of the units behind the headline."""
    table = scores.tables[scores.primary]
    known = _columns(table)
    if column in known:
        return
    if not known:
        raise SettingError(
            f"No column can be the cluster {column!r}: no column describes each {table.unit}. Add it to the "
            "reference, or give a table with --metadata."
        )
    words = suggestion(column, tuple(known))
    raise SettingError(f"No column about each {table.unit} is called {column!r}, or it is empty. {words}")


def _with_cluster(table: UnitRows, column: str) -> UnitRows:
    if column == NONE:
        return replace(table, clusters=None, cluster="")
    name = column or COLUMN
    cells = _columns(table).get(name)
    if cells is None:
        return table
    factors = {factor: levels for factor, levels in table.factors.items() if factor != name}  # a level is one cluster
    attributes = {**table.attributes, name: cells}
    return replace(table, clusters=clusters_of(cells), cluster=name, factors=factors, attributes=attributes)


def _cluster_note(table: UnitRows) -> Iterator[str]:
    """That whole clusters are drawn, and how many; and how many units belong to none."""
    if not table.cluster or table.clusters is None:
        return
    sizes = cluster_count(table.cluster, len(np.unique(table.clusters)))
    yield f"draws move whole clusters: items of one {table.cluster} stay together ({sizes})"
    cells = _columns(table).get(table.cluster)
    alone = 0 if cells is None else int(np.count_nonzero(np.asarray(cells) == ""))
    if alone:
        yield f"{table.cluster}: not known for {alone} of {len(table.units)} units; each is a cluster of its own"


def _ignored_columns_note(table: UnitRows) -> Iterator[str]:
    """That intervals ignore columns which look like clusters and are no declared factors."""
    likely = {
        name: number
        for name, cells in table.attributes.items()
        if name not in (table.cluster, *table.declared)
        and (number := _likely_clusters(np.asarray(cells), table.clusters))
    }
    if likely:
        shown = ", ".join(f"{name} ({number} levels)" for name, number in likely.items())
        yield (
            f"intervals ignore what looks like a cluster: {shown}; if units of one level belong together, name "
            f"{next(iter(likely))} as the cluster"
        )


def _likely_clusters(cells: Cells, clusters: NDArray[np.int64] | None) -> int:
    """How many levels a column has that looks like a cluster; 0 where it does not, or stays inside the clusters."""
    known = cells != ""
    levels, place, counts = np.unique(cells[known], return_inverse=True, return_counts=True)
    if len(levels) < FEWEST_UNITS or 2 * np.count_nonzero(counts > 1) <= len(levels):
        return 0
    if clusters is not None and len(np.unique(np.stack([place, clusters[known]]), axis=1).T) == len(levels):
        return 0  # units of one level move together already
    return len(levels)
