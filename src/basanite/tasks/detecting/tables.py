"""Everything that depends on thresholds, made when all queries of a submission have been seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from basanite.kernel import Sweep, UnitRows
from basanite.metrics.retrieval.detection import AQWV, COLUMNS
from basanite.metrics.retrieval.thresholds import (
    AUC,
    AUC_POOLED,
    GRID,
    ORACLE,
    POOLED_GRID,
    Histogram,
    Pool,
    best_threshold,
    grid_columns,
    grid_row,
    oracle_row,
    pooled_columns,
    pooled_row,
    row_at,
    score_grid,
    sweep_of,
    total,
)
from basanite.tasks.detecting.queries import QueryRun


class Thresholds:
    """Curves, maxima, oracle and areas of one submission."""

    def __init__(self, run: QueryRun, *, beta: float, folds: int) -> None:
        self.run = run
        self.beta = beta
        self.store = run.store
        self.order = np.argsort(np.array(self.store.units, dtype=np.str_), kind="stable")
        """Queries by name: files may come in any order."""
        self.fold_of = np.arange(len(self.order)) % folds
        self._pool = Pool()
        self._choose_thresholds(self._counted(folds))
        scores = self.store.relevant_scores()
        self.grid = score_grid(scores, GRID, self.best)
        self.pooled_grid = score_grid(scores, POOLED_GRID)
        self._tables = self._made()
        self.shift = self._pool.area() - self._area_on_grid()
        self.store.clear()  # the largest thing in memory, and no longer needed

    def _counted(self, folds: int) -> list[Histogram]:
        parts = [Histogram() for _ in range(folds)]
        for fold, at in zip(self.fold_of, self.order, strict=True):
            ranked = self.store[int(at)]
            parts[fold].add(ranked)
            self._pool.add(ranked)
        return parts

    def _choose_thresholds(self, parts: list[Histogram]) -> None:
        whole = total(parts)
        self.sweep: Sweep = sweep_of(whole)
        self.best = best_threshold(whole, beta=self.beta)
        self.balance = whole.queries / max(whole.with_relevant, 1)
        others = (total(parts[:at] + parts[at + 1 :]) for at in range(len(parts)))
        self.fold_best = [best_threshold(part, beta=self.beta) for part in others]

    def _made(self) -> dict[str, UnitRows]:
        """One look at each query for all tables."""
        count, grid, pooled = len(self.order), len(self.grid), len(self.pooled_grid)
        oracle, crossfit = np.empty((count, len(COLUMNS))), np.empty((count, len(COLUMNS)))
        areas, curves = np.empty((count, 2)), np.empty((count, 2 * grid + 2))
        counts = np.empty((count, 2 * (pooled + 1) + 1))
        for place, (fold, at) in enumerate(zip(self.fold_of, self.order, strict=True)):
            ranked = self.store[int(at)]
            oracle[place] = oracle_row(ranked, beta=self.beta, balance=self.balance)
            crossfit[place] = row_at(ranked, self.fold_best[fold]) if count > 1 else 0.0  # no other query to choose
            areas[place] = ranked.area()
            curves[place] = grid_row(ranked, self.grid)
            counts[place] = pooled_row(ranked, self.pooled_grid)
        at_grid = self.run.table(curves, grid_columns(self.grid))
        return {
            "mqwv": at_grid,
            "theta_best": at_grid,
            "mqwv_crossfit": self.run.table(crossfit, COLUMNS),
            "oracle": self.run.table(oracle, COLUMNS),
            "auc": self.run.table(areas, AUC.columns),
            "auc_pooled": self.run.table(counts, pooled_columns(self.pooled_grid)),
        }

    def tables(self) -> dict[str, UnitRows]:
        """The table of each metric that looks at scores."""
        return self._tables

    def parameters(self, metric: str) -> dict[str, Any]:
        """What a metric needs to know besides beta."""
        if metric == "auc_pooled":
            return {"grid": self.pooled_grid, "shift": self.shift}
        return {"grid": self.grid}

    def _area_on_grid(self) -> float:
        return AUC_POOLED.bind(grid=self.pooled_grid, shift=0.0).of(self._tables["auc_pooled"].rows)

    def parts(self, by_query: UnitRows, threshold: float | None) -> Mapping[str, Mapping[str, float]]:
        """Where the primary value was decided, and what it loses to the threshold and to the ranking (S-14)."""
        actual = AQWV.bind(beta=self.beta).of(by_query.rows)
        crossfit = AQWV.bind(beta=self.beta).of(self._tables["mqwv_crossfit"].rows)
        oracle = ORACLE.bind(beta=self.beta).of(self._tables["oracle"].rows)
        losses = {"calibration_loss": crossfit - actual, "ranking_loss": oracle - crossfit}
        return {"aqwv": losses if threshold is None else {**losses, "threshold": threshold}}
