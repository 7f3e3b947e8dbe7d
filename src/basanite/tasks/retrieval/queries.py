"""Tasks with one file per query: what each query contributes, kept until all of them have been seen.

Everything that depends on thresholds, made when all queries of a submission have been seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.formats.archives.archive import Source
from basanite.formats.factors import FactorTable
from basanite.formats.retrieval.detection_files import Answers
from basanite.formats.retrieval.detection_key import Key
from basanite.formats.retrieval.detection_lines import Layout
from basanite.kernel import LevelRows, Rows, Sweep, UnitRows
from basanite.metrics.retrieval.query_value import AQWV, COLUMNS, Detections, rates, rates_of_counts
from basanite.metrics.retrieval.thresholds import (
    AUC,
    AUC_POOLED,
    GRID,
    ORACLE,
    POOLED_GRID,
    Histogram,
    PackedScores,
    Pool,
    Ranked,
    RankedStore,
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
from basanite.tasks.retrieval.decisions import DetectionRun


@dataclass(frozen=True)
class ItemFactor:
    """A property of documents: the group of each, and what the groups are called."""

    name: str
    levels: tuple[str, ...]
    cell: NDArray[np.int64]
    """The level of each document; documents without one form a group of their own after the last level."""


@dataclass(frozen=True)
class Counted:
    """One query: its row, its rows by level of each item factor, its scores, its truth and the decisions on it."""

    rows: Rows
    levels: Mapping[str, Rows]
    ranked: PackedScores
    relevant: NDArray[np.bool_]
    returned: NDArray[np.bool_]


@dataclass(frozen=True)
class DocumentTally:
    """How often each document was relevant, returned, and both."""

    relevant: NDArray[np.int32]
    returned: NDArray[np.int32]
    both: NDArray[np.int32]

    @classmethod
    def of(cls, documents: int) -> DocumentTally:
        """An empty tally."""
        return cls(*(np.zeros(documents, np.int32) for _ in range(3)))

    def add(self, relevant: NDArray[np.bool_], returned: NDArray[np.bool_]) -> None:
        """Count one query in."""
        for tally, true in ((self.relevant, relevant), (self.returned, returned), (self.both, relevant & returned)):
            tally += true.astype(np.int32)

    def counts(self, queries: int) -> NDArray[np.int64]:
        """Rejected, false alarms, misses and hits of each document over so many queries."""
        alarms, missed = self.returned - self.both, self.relevant - self.both
        return np.stack([queries - alarms - self.relevant, alarms, missed, self.both], axis=-1).astype(np.int64)


class QueryRun(DetectionRun):
    """A submission of one file per query."""

    def __init__(
        self, key: Key, source: Source, layout: Layout, tables: Sequence[FactorTable], limit: int | None = None
    ) -> None:
        super().__init__(key, source, layout, tables, limit)
        self.items = _item_factors(tables, key)
        self.unit_tables = [table for table in tables if table.subject == "query"]
        self.item_tables = [table for table in tables if table.subject == "document"]
        self.rows: dict[str, Rows] = {}
        self.levels: dict[str, dict[str, Rows]] = {factor.name: {} for factor in self.items}
        self.store = RankedStore()
        self.document_tally = DocumentTally.of(len(key.documents))
        self.saturated: list[str] = []

    def count(self, target: str, truth: NDArray[np.bool_], answers: Answers) -> Counted:
        """One query's contribution, overall and by level of each factor of documents."""
        block = Detections((target,), truth[None], answers.returned[None], answers.score[None])
        levels = {factor.name: rates(block.split(factor.cell, len(factor.levels) + 1)) for factor in self.items}
        ranked = PackedScores.of(Ranked.of(truth, answers.score))
        return Counted(rates(block), levels, ranked, truth, answers.returned)

    def keep(self, target: str, counted: Counted) -> None:
        """Keep one query."""
        self.rows[target] = counted.rows
        if not len(counted.ranked.halves):
            self.saturated.append(target)
        for factor, rows in counted.levels.items():
            self.levels[factor][target] = rows
        self.store.add(target, counted.ranked)
        self.document_tally.add(counted.relevant, counted.returned)

    def query_rows(self) -> UnitRows:
        """The table that the three forms, Pmiss and PFA are made of."""
        return self.table(np.concatenate([self.rows[query] for query in self.units()]), COLUMNS, levels=True)

    def units(self) -> tuple[str, ...]:
        """The queries, by name, so that the order of files in an archive changes nothing."""
        return tuple(sorted(self.rows))

    def table(self, rows: Rows, columns: tuple[str, ...], *, levels: bool = False) -> UnitRows:
        """Rows of all queries with what is known about the queries."""
        units = self.units()
        factors = {name: table.column(name, units) for table in self.unit_tables for name in table.levels}
        return UnitRows("query", units, columns, rows, factors, self._level_rows() if levels else {})

    def _level_rows(self) -> dict[str, dict[str, LevelRows]]:
        everything = np.arange(len(self.rows))
        made: dict[str, dict[str, LevelRows]] = {}
        for factor in self.items:
            stacked = np.stack([self.levels[factor.name][query] for query in self.units()], axis=1)
            made[factor.name] = {level: LevelRows(everything, stacked[at]) for at, level in enumerate(factor.levels)}
        return made

    def notes(self) -> tuple[str, ...]:
        """What must be said of the whole result."""
        notes = [
            "Intervals resample queries, with documents fixed; those of ADWV resample documents, with queries fixed."
        ]
        if self.constant:
            notes.append(
                "Every confidence is 0.5: the system gives no scores, so thresholds and areas are meaningless (M30)."
            )
        return tuple(notes)

    def flags(self, table: UnitRows) -> dict[str, tuple[str, ...]]:
        """What must stand beside single values."""
        flags: dict[str, tuple[str, ...]] = dict.fromkeys(
            ("auc", "auc_pooled"), ("development only, never an evaluation result",)
        )
        queries, relevant = len(table.units), int(table.column("has_relevant").sum())
        if relevant < queries:
            share = (queries - relevant) / queries
            flags["aqwv_all"] = (
                f"{queries - relevant} of {queries} queries have no relevant document: a system that returns "
                f"nothing gets {share:.4g} here, not 0, and the lowest possible value is {share:.4g} - beta (C05)",
            )
        if self.saturated:
            flags["aqwv"] = flags["pfa"] = (
                f"PFA counted 0 where every document is relevant: {', '.join(sorted(self.saturated)[:5])} (C44)",
            )
        return flags

    def document_rows(self) -> UnitRows:
        """The table with documents in the place of queries (M10)."""
        counts = self.document_tally.counts(len(self.rows))
        names = self.key.documents.texts()
        factors = {name: table.column(name, names) for table in self.item_tables for name in table.levels}
        return UnitRows("document", names, COLUMNS, rates_of_counts(counts), factors)


def _item_factors(tables: Sequence[FactorTable], key: Key) -> list[ItemFactor]:
    names = key.documents.texts()
    made = []
    for table in (table for table in tables if table.subject == "document"):
        for factor in table.levels:
            values = table.column(factor, names)
            levels = tuple(sorted({str(value) for value in values} - {""}))
            place = {level: at for at, level in enumerate(levels)}
            cell = np.array([place.get(str(value), len(levels)) for value in values], dtype=np.int64)
            made.append(ItemFactor(factor, levels, cell))
    return made


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
        self._choose_thresholds(self._histograms(folds))
        scores = self.store.relevant_scores()
        self.grid = score_grid(scores, GRID, self.best)
        self.pooled_grid = score_grid(scores, POOLED_GRID)
        self._tables = self._make_tables()
        on_grid = AUC_POOLED.bind(grid=self.pooled_grid, shift=0.0)
        self.shift = self._pool.area() - on_grid.of(self._tables["auc_pooled"].rows)
        self.store.clear()  # the largest thing in memory, and no longer needed

    def _histograms(self, folds: int) -> list[Histogram]:
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

    def _make_tables(self) -> dict[str, UnitRows]:
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
        """The table of each metric that uses scores."""
        return self._tables

    def parameters(self, metric: str) -> dict[str, Any]:
        """What a metric needs to know besides beta."""
        if metric == "auc_pooled":
            return {"grid": self.pooled_grid, "shift": self.shift}
        return {"grid": self.grid}

    def parts(self, by_query: UnitRows, threshold: float | None) -> Mapping[str, Mapping[str, float]]:
        """Where the primary value was decided, and what it loses to the threshold and to the ranking (S-14)."""
        actual = AQWV.bind(beta=self.beta).of(by_query.rows)
        crossfit = AQWV.bind(beta=self.beta).of(self._tables["mqwv_crossfit"].rows)
        oracle = ORACLE.bind(beta=self.beta).of(self._tables["oracle"].rows)
        losses = {"calibration_loss": crossfit - actual, "ranking_loss": oracle - crossfit}
        return {"aqwv": losses if threshold is None else {**losses, "threshold": threshold}}
