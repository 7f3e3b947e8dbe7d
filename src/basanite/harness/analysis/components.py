"""Intervals over folds and test rows: two-way variance components of a difference, as S-7 rules.

Training folds are disjoint and the test set is shared, so a difference of two systems varies with the fold and with
the row, and neither alone tells its error. `cells[k, i]` is what row i of the test set adds to the value of fold k; an
RMSE is written as such cells by its tangent, which leaves the value of every fold as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """The cells of one target: folds x rows, with the row each column stands for."""

    cells: Cells
    rows: NDArray[np.int64]

    @property
    def value(self) -> float:
        """The mean over folds and rows."""
        return float(self.cells.mean())


@dataclass(frozen=True)
class Components:
    """The variance of a mean over folds and rows, by where it comes from, with its degrees of freedom."""

    value: float
    fold: float
    """s_fold^2 / K: what another draw of training folds would change."""
    row: float
    """s_row^2 / n: what another draw of test rows would change."""
    interaction: float
    """s_int^2 / (K n), which is in both and counted once."""
    degrees: float

    @property
    def variance(self) -> float:
        """V, never below either of its parts (S-7)."""
        return max(self.fold + self.row - self.interaction, self.fold, self.row)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt(self.variance))


def rmse_cells(squared_errors: Cells) -> Cells:
    """Squared errors (folds x rows) as cells whose mean over rows is the RMSE of each fold.

    >>> rmse_cells(np.array([[1.0, 9.0, 5.0]])).mean(axis=1) ** 2
    array([5.])
    """
    root = np.sqrt(squared_errors.mean(axis=1, keepdims=True))
    tangent = np.divide(squared_errors, 2 * root, out=np.zeros_like(squared_errors), where=root > 0)
    return np.asarray(root / 2 + tangent)


def components(blocks: Sequence[Block], *, shared_folds: bool) -> Components:
    """The components of the mean over targets; fold i of one target is that of another only if they share a split."""
    share = 1 / len(blocks)
    value = float(np.mean([block.value for block in blocks]))
    squares = [_squares(block.cells) for block in blocks]
    folds, rows = blocks[0].cells.shape[0], max(block.cells.shape[1] for block in blocks)
    fold = _shared_fold(blocks) if shared_folds else share**2 * sum(one.fold for one in squares)
    row = _row(blocks)
    interaction = share**2 * sum(one.interaction for one in squares)
    return Components(value, fold, row, interaction, _degrees(fold, row, interaction, folds, rows))


@dataclass(frozen=True)
class _Squares:
    fold: float
    interaction: float


def _squares(cells: Cells) -> _Squares:
    folds, rows = cells.shape
    by_fold, by_row = cells.mean(axis=1), cells.mean(axis=0)
    rest = cells - by_fold[:, None] - by_row[None] + cells.mean()
    freedom = max((folds - 1) * (rows - 1), 1)
    return _Squares(float(by_fold.var(ddof=1)) / folds, float((rest**2).sum()) / freedom / (folds * rows))


def _shared_fold(blocks: Sequence[Block]) -> float:
    """Where all targets have the same folds, what varies is the mean over targets of each fold."""
    means = np.mean([block.cells.mean(axis=1) for block in blocks], axis=0)
    return float(means.var(ddof=1)) / len(means)


def _row(blocks: Sequence[Block]) -> float:
    """A row that is in several targets' test sets moves all of them: its shares are added before they are squared."""
    rows = np.concatenate([block.rows for block in blocks])
    shares = [(block.cells.mean(axis=0) - block.value) / (len(blocks) * block.cells.shape[1]) for block in blocks]
    _, place = np.unique(rows, return_inverse=True)
    together = np.bincount(place, weights=np.concatenate(shares))
    return float((together**2).sum()) * len(together) / max(len(together) - 1, 1)


def _degrees(fold: float, row: float, interaction: float, folds: int, rows: int) -> float:
    """Satterthwaite's degrees of freedom of fold + row - interaction."""
    total = fold + row - interaction
    spread = fold**2 / (folds - 1) + row**2 / (rows - 1) + interaction**2 / ((folds - 1) * (rows - 1))
    if total <= 0 or spread <= 0:
        return float(folds - 1)
    return min(max(total**2 / spread, 1.0), float((folds - 1) * (rows - 1)))
