"""The work behind curves and layers, as pure functions that the engine keeps: rows in another order, layers side by
side, how much a code holds, and the measures of representations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from basanite.harness.engine.sequences import Sequences, whole
from basanite.harness.steps.health import STILL, Reals, dense, effective_rank
from basanite.harness.steps.layout import blocks, gathered

MOST_MEASURED: Final = 4000
"""Test rows that are measured: distances of all pairs are among the measures."""
MEASURES: Final = (
    "ferm1",
    "ferm2",
    "ferm3",
    "ferm4",
    "gap",
    "collapse",
    "silhouette",
    "davies_bouldin",
    "calinski_harabasz",
    "dunn",
    "rs",
    "point_biserial",
    "c_root_k",
)


def joined(codes: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """The codes of the first layers side by side (A39)."""
    given = [codes[f"codes_{layer}"] for layer in range(1, layers + 1)]
    parts = [windows(part) for part in given]
    total = parts[0].shape[0]

    def together() -> Iterator[Any]:
        for block in blocks(0, total):
            yield np.hstack([dense(part[block]) for part in parts])

    matrix = gathered(together(), total, "joined layers")
    return {"features": Sequences(matrix, given[0].offsets) if isinstance(given[0], Sequences) else matrix}


def reordered(source: Mapping[str, Any], order: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The rows of a matrix in another order."""
    matrix, rows = source[part], order["rows"]

    def turned() -> Iterator[Any]:
        for block in blocks(0, len(rows)):
            yield matrix[rows[block]]

    return {"features": gathered(turned(), len(rows), "rows in another order")}


def picked(labels: Mapping[str, Any], order: Mapping[str, Any]) -> dict[str, Any]:
    """Values in another order; the test rows at its end have none here."""
    return {"values": labels["values"][order["rows"][: len(labels["values"])]]}


def quantity(codes: Mapping[str, Any], part: str) -> dict[str, Any]:
    """How much a code holds: dimensions, active and dead units, sparsity, effective rank (H-36)."""
    matrix = windows(codes[part])
    held = _Sums(matrix.shape[1])
    for block in blocks(0, matrix.shape[0]):
        held.add(dense(matrix[block]))
    return held.figures()


class _Sums:
    """What is summed over the rows of a code."""

    def __init__(self, units: int) -> None:
        self.rows, self.sparse, self.zeros = 0, 0.0, 0
        self.lowest, self.highest = np.full(units, np.inf), np.full(units, -np.inf)
        self.sums, self.products = np.zeros(units), np.zeros((units, units))

    def add(self, block: Reals) -> None:
        """Take some rows in."""
        self.rows += len(block)
        self.lowest, self.highest = (
            np.minimum(self.lowest, block.min(axis=0)),
            np.maximum(self.highest, block.max(axis=0)),
        )
        self.sums += block.sum(axis=0)
        self.products += block.T @ block
        self.zeros += int((block == 0).sum())
        self.sparse += float(sparseness(block).sum())

    def figures(self) -> dict[str, Any]:
        """The figures of all rows."""
        units = len(self.sums)
        largest = max(float(np.abs(self.highest).max()), float(np.abs(self.lowest).max()))
        active = int((self.highest - self.lowest > STILL * largest).sum())
        means = self.sums / self.rows
        spread = self.products / self.rows - np.outer(means, means)
        return {
            "dimensions": units,
            "active": active,
            "dead": units - active,
            "zeros": self.zeros / (self.rows * units),
            "sparsity": self.sparse / self.rows,
            "effective_rank": effective_rank(spread),
        }


def sparseness(rows: Reals) -> Reals:
    """How few units carry each row: 0 where all are equally large, 1 where one carries all (Vinje and Gallant, 2000).

    >>> sparseness(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 2.0]])).tolist()
    [0.0, 1.0]
    """
    units = rows.shape[1]
    if units < 2:
        return np.zeros(len(rows))
    squares = (rows**2).mean(axis=1)
    evenness = np.divide(np.abs(rows).mean(axis=1) ** 2, squares, out=np.ones(len(rows)), where=squares > 0)
    return np.asarray((1 - evenness) / (1 - 1 / units))


def measured(codes: Mapping[str, Any], classes: Mapping[str, Any], part: str, seen: int) -> dict[str, Any]:
    """The measures of representations on the test rows, whose classes are known to the evaluation team alone."""
    from basanite.metrics.representation.everything import measure

    kept = np.flatnonzero(classes["values"] >= 0)[:MOST_MEASURED]
    rows = dense(whole(codes[part][np.sort(seen + kept)]))
    labels = classes["values"][np.sort(kept)]
    found = measure(np.ascontiguousarray(rows, np.float64), labels, names=MEASURES)
    values = {name: one.value if np.isfinite(one.value) else None for name, one in found.values.items()}
    return {"values": values, "flags": {name: list(one.flags) for name, one in found.values.items() if one.flags}}


def windows(matrix: Any) -> Any:
    """The rows of a matrix; of items with several windows, all windows."""
    return matrix.rows if isinstance(matrix, Sequences) else matrix
