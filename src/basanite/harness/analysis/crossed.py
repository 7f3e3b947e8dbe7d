"""The crossed bootstrap: folds and test rows are drawn together, the same draws for all systems (S-7).

The mean over K drawn folds varies too little by the factor (K-1)/K, so deviations of folds are scaled by
sqrt(K/(K-1)). Rows are drawn by their number in the data set: the same row has the same weight in the test set of
every target. A class without positives in a draw leaves that draw's mean, and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.resampling import weight_blocks

Reals = NDArray[np.float64]
Values = Callable[[Reals], Reals]
"""The value of one fold and target for every draw of row weights, `weights[draws, test rows] -> [draws]`."""


@dataclass(frozen=True)
class Sample:
    """One system: for each target the rows of its test set and, for each fold, its value under any weights."""

    targets: Mapping[str, tuple[NDArray[np.int64], tuple[Values, ...]]]


@dataclass(frozen=True)
class Drawn:
    """The value of a system in every draw, and how often a target was undefined in a draw."""

    values: Reals
    undefined: int


def crossed(
    samples: Mapping[str, Sample], *, rows: int, draws: int, seed: int, clusters: NDArray[np.int64] | None = None
) -> dict[str, Drawn]:
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
    return {name: Drawn(values, undefined[name]) for name, values in found.items()}


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
