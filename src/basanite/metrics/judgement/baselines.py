"""Baseline ratings of passages: three formulas and a learned regressor, each blind to the passage it rates (R-6).

A passage is rated by what was fitted to the other folds only. Formulas are put on the scale by a straight line; the
regressor is a ridge on all features, whose penalty is chosen inside the training folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.metrics.judgement.formulas import FEATURES, features
from basanite.metrics.representation.dice import source_of

Reals = NDArray[np.float64]
Learn = Callable[[Reals, Reals, Reals], Reals]
"""Features and ratings to learn from, and features to rate: the ratings."""
FORMULAS = ("flesch", "flesch_kincaid", "fog")
LEARNED = "learned"
FOLDS, FEWEST = 5, 10
PENALTIES = np.logspace(-2, 3, 11)


def baseline_ratings(
    texts: Sequence[str], gold: ArrayLike, *, scale: tuple[float, float] = (1.0, 5.0), seed: int = 0
) -> dict[str, Reals]:
    """The ratings of every baseline by name; none with fewer than ten passages, from which nothing is learned."""
    table, truth = features(texts), np.asarray(gold, np.float64)
    if len(texts) < FEWEST:
        return {}
    fold = folds(len(texts), seed=seed)
    columns = {name: table[:, [FEATURES.index(name)]] for name in FORMULAS}
    found = {name: blind(column, truth, fold, straight_line) for name, column in columns.items()}
    found[LEARNED] = blind(table, truth, fold, ridge)
    return {name: np.clip(ratings, *scale) for name, ratings in found.items()}


def folds(size: int, *, seed: int, count: int = FOLDS) -> NDArray[np.int64]:
    """The fold of each passage: equally many in each, by dice."""
    order = np.argsort(source_of(seed, "folds").random_raw(size), kind="stable")
    fold = np.empty(size, np.int64)
    fold[order] = np.arange(size) % count
    return fold


def blind(table: Reals, truth: Reals, fold: NDArray[np.int64], learn: Learn) -> Reals:
    """Ratings of every fold, learned from the others."""
    rated = np.empty(len(truth))
    for held in np.unique(fold):
        known = fold != held
        rated[~known] = learn(table[known], truth[known], table[~known])
    return rated


def straight_line(known: Reals, truth: Reals, asked: Reals) -> Reals:
    """Least squares on one feature; the mean where it does not vary."""
    return _ridge(known, truth, asked, 0.0)


def ridge(known: Reals, truth: Reals, asked: Reals) -> Reals:
    """Ridge regression on standardised features, the penalty chosen by leaving out each known passage in turn."""
    best = min(PENALTIES, key=lambda penalty: _left_out_error(known, truth, float(penalty)))
    return _ridge(known, truth, asked, float(best))


def _standard(known: Reals, asked: Reals) -> tuple[Reals, Reals]:
    mean, spread = known.mean(axis=0), known.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)
    return (known - mean) / spread, (asked - mean) / spread


def _ridge(known: Reals, truth: Reals, asked: Reals, penalty: float) -> Reals:
    x, z = _standard(known, asked)
    weights = np.linalg.lstsq(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (truth - truth.mean()), rcond=None)[0]
    return np.asarray(truth.mean() + z @ weights)


def _left_out_error(known: Reals, truth: Reals, penalty: float) -> float:
    """The mean squared error of each passage by the fit without it, from the hat matrix."""
    x, _ = _standard(known, known)
    hat = x @ np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T) + 1 / len(x)
    apart = truth - truth.mean() - hat @ (truth - truth.mean())
    return float(np.mean((apart / np.maximum(1 - np.diagonal(hat), 1e-9)) ** 2))
