"""Where the variance of scores lies: crossed designs, their components, and the precision that more runs would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.analysis.resampling import weight_blocks
from basanite.metrics.retrieval.average_precision import Curve, eleven_points

Reals = NDArray[np.float64]
Values = Callable[[Reals], Reals]
"""The value of one fold and target for every draw of row weights, `weights[draws, test rows] -> [draws]`."""


@dataclass(frozen=True)
class Sample:
    """One system: for each target the rows of its test set and, for each fold, its value under any weights."""

    targets: Mapping[str, tuple[NDArray[np.int64], tuple[Values, ...]]]


@dataclass(frozen=True)
class Resamples:
    """The value of a system in every draw, and how often a target was undefined in a draw."""

    values: Reals
    undefined: int


def crossed_bootstrap(
    samples: Mapping[str, Sample], *, rows: int, draws: int, seed: int, clusters: NDArray[np.int64] | None = None
) -> dict[str, Resamples]:
    """The draws of every system: whole clusters of rows (a film, a restaurant) where there are any."""
    folds = len(next(iter(next(iter(samples.values())).targets.values()))[1])
    things = rows if clusters is None else int(clusters.max()) + 1
    fold_weights = np.concatenate(list(weight_blocks(folds, draws=draws, seed=seed, kind="fold")))
    found = {name: np.empty(draws) for name in samples}
    undefined = dict.fromkeys(samples, 0)
    start = 0
    for block in weight_blocks(things, draws=draws, seed=seed, kind="row"):
        weights = block if clusters is None else block[:, clusters]
        drawn = fold_weights[start : start + len(block)]
        for name, sample in samples.items():
            values, missing = _values(sample, weights, drawn)
            found[name][start : start + len(block)] = values
            undefined[name] += missing
        start += len(block)
    return {name: Resamples(values, undefined[name]) for name, values in found.items()}


def _values(sample: Sample, weights: Reals, fold_weights: Reals) -> tuple[Reals, int]:
    """The mean over folds (drawn, deviations scaled) of the mean over targets, in every draw of a block."""
    by_target = np.stack(
        [np.stack([value(weights[:, rows]) for value in values], axis=1) for rows, values in sample.targets.values()],
        axis=2,
    )  # draws x folds x targets
    known = ~np.isnan(by_target)
    missing = int((~known).any(axis=1).sum())
    with np.errstate(invalid="ignore"):  # a draw in which no target is defined has no value
        by_fold = np.where(known, by_target, 0).sum(axis=2) / known.sum(axis=2) if missing else by_target.mean(axis=2)
    middle = by_fold.mean(axis=1)
    folds = by_fold.shape[1]
    drawn = (fold_weights * by_fold).sum(axis=1) / folds
    return middle + np.sqrt(folds / (folds - 1)) * (drawn - middle), missing


def mean_square_root(squared_errors: Reals) -> Values:
    """The RMSE of one fold under row weights."""

    def value(weights: Reals) -> Reals:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.sqrt(weights @ squared_errors / weights.sum(axis=1)))

    return value


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
    if shared_folds:  # then what varies is the mean over targets of each fold
        means = np.mean([block.cells.mean(axis=1) for block in blocks], axis=0)
        fold = float(means.var(ddof=1)) / len(means)
    else:
        fold = share**2 * sum(one.fold for one in squares)
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


Rows = NDArray[np.int64]


def precision_of(scores: Reals, truth: NDArray[np.bool_], *, plain: bool = False) -> Values:
    """The 11-point (or the plain) average precision as a function of row weights; nan without positives.

    >>> value = precision_of(np.array([0.9, 0.8, 0.6, 0.2, 0.2]), np.array([True, False, True, True, True]))
    >>> value(np.ones((1, 5))).round(4).tolist()
    [0.8545]
    """
    above, hits = _steps(scores, truth)

    def value(weights: Reals) -> Reals:
        turned = np.ascontiguousarray(weights.T)
        found = np.cumsum((hits @ turned).T, axis=1)
        positives = found[:, -1] if found.shape[1] else np.zeros(len(weights))
        curve = Curve(found, np.cumsum((above @ turned).T, axis=1), positives)
        if plain:
            return _plain(curve)
        return np.where(curve.positives > 0, eleven_points(curve.hits, curve.precision, curve.positives), np.nan)

    return value


def _steps(scores: Reals, truth: NDArray[np.bool_]) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Which rows each threshold adds: all of them, and the positives; equal scores pass together (A19)."""
    order = np.argsort(-scores, kind="stable")
    falling, labels = scores[order], np.flatnonzero(truth[order])
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(falling) - 1)
    ends = ends[np.unique(np.searchsorted(ends, labels))]
    past = np.concatenate([[0], ends + 1])
    return _matrix(order, past), _matrix(order[labels], np.searchsorted(labels, past), width=len(order))


def _matrix(rows: Rows, starts: Rows, width: int | None = None) -> scipy.sparse.csr_array:
    """One line for each threshold, with a one at every row that it adds."""
    used = rows[: starts[-1]]
    return scipy.sparse.csr_array(
        (np.ones(len(used)), used, starts), shape=(len(starts) - 1, len(rows) if width is None else width)
    )


def _plain(curve: Curve) -> Reals:
    gained = (np.diff(curve.hits, axis=1, prepend=0) * curve.precision).sum(axis=1)
    nothing = np.full(len(gained), np.nan)
    return np.asarray(np.divide(gained, curve.positives, out=nothing, where=curve.positives > 0))
