"""Which threshold would have been best, judged on queries that had no part in choosing it (S-14, S-15).

Three policies: keep the submitted decisions; one threshold for all queries; confidences made probabilities, and for
each query the rule that pays in the primary form. Threshold and calibration are fitted inside folds, folds by query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.advice import Advice, Policy, gains
from basanite.analysis.results import Design
from basanite.errors import SettingError
from basanite.formats.retrieval.detection_files import SCALE
from basanite.metrics.retrieval.calibration import CALIBRATIONS, Calibration, query_threshold
from basanite.metrics.retrieval.query_value import AQWV, COLUMNS
from basanite.metrics.retrieval.thresholds import (
    Histogram,
    Pool,
    Ranked,
    as_confidence,
    best_threshold,
    oracle_row,
    row_at,
    total,
)
from basanite.tasks import Opened
from basanite.tasks.clir import ClirRun
from basanite.tasks.retrieval.queries import QueryRun

GLOBAL, CALIBRATED = "global", "calibrated"
CURVE_POINTS = 200
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Method:
    """How the calibrated policy works, fixed before looking."""

    calibration: str = "isotonic"
    count: Literal["probabilities", "queries"] = "probabilities"
    """Where N_rel comes from: the sum of a query's own probabilities, or the mean of the other queries."""


@dataclass
class Part:
    """Some queries, counted: all that fitting a threshold or a calibration needs to know of them."""

    histogram: Histogram = field(default_factory=Histogram)
    counts: Pool = field(default_factory=Pool)

    def add(self, ranked: Ranked) -> None:
        """Count one query in."""
        self.histogram.add(ranked)
        self.counts.add(ranked)

    @property
    def share(self) -> float:
        """n_rel/n: the share of queries with relevant documents."""
        return self.histogram.with_relevant / max(self.histogram.queries, 1)

    @property
    def relevant(self) -> float:
        """The mean number of relevant documents of the queries that have any."""
        return float(self.counts.relevant.sum()) / max(self.histogram.with_relevant, 1)


def join_parts(parts: Iterable[Part]) -> Part:
    """Several parts in one."""
    listed = list(parts)
    counts = Pool()
    for part in listed:
        counts.relevant += part.counts.relevant
        counts.other += part.counts.other
    return Part(total(part.histogram for part in listed), counts)


@dataclass(frozen=True)
class Fitted:
    """What some queries teach: the best threshold for all, and how to decide for each."""

    threshold: int
    calibration: Calibration = field(repr=False)
    share: float
    relevant: float | None

    @classmethod
    def on(cls, part: Part, *, beta: float, method: Method) -> Fitted:
        """Fit on these queries alone."""
        mean = part.relevant if method.count == "queries" else None
        calibration = CALIBRATIONS[method.calibration](part.counts)
        return cls(best_threshold(part.histogram, beta=beta), calibration, part.share, mean)

    def query_threshold(self, ranked: Ranked, *, beta: float) -> int:
        """Where one query's documents are returned, by calibrated probabilities."""
        return query_threshold(ranked, self.calibration, beta=beta, share=self.share, relevant=self.relevant)


class CrossFit:
    """A submission's queries in folds, each decided by what the other folds teach."""

    def __init__(self, run: QueryRun, *, beta: float, folds: int, method: Method) -> None:
        self.run, self.beta, self.method = run, beta, method
        self.order = np.argsort(np.array(run.store.units, dtype=np.str_), kind="stable")
        self.fold_of = np.arange(len(self.order)) % folds
        parts = [Part() for _ in range(folds)]
        for fold, at in zip(self.fold_of, self.order, strict=True):
            parts[fold].add(run.store[int(at)])
        self.whole = join_parts(parts)
        self.now = Fitted.on(self.whole, beta=beta, method=method)
        self._decide(parts)

    def _decide(self, parts: Sequence[Part]) -> None:
        """Each query's thresholds, fold by fold, so that only one calibration is in memory at a time."""
        self.one, self.each = np.empty(len(self.order), np.int64), np.empty(len(self.order), np.int64)
        for fold in np.unique(self.fold_of):
            others = join_parts(part for at, part in enumerate(parts) if at != fold)
            fitted = Fitted.on(others, beta=self.beta, method=self.method)
            for place in np.flatnonzero(self.fold_of == fold):
                self.one[place] = fitted.threshold
                self.each[place] = fitted.query_threshold(self._query_at(int(place)), beta=self.beta)

    def _query_at(self, place: int) -> Ranked:
        return self.run.store[int(self.order[place])]

    def policies(self) -> tuple[Policy, ...]:
        """Both policies, with rows of queries that had no part in them."""
        return (
            self._policy(
                GLOBAL,
                "one threshold for all queries, chosen on other queries",
                self.one,
                {"threshold": float(as_confidence(np.array(self.now.threshold)))},
            ),
            self._policy(
                CALIBRATED,
                f"{self.method.calibration} probabilities, and the best threshold for each query",
                self.each,
                {"share_with_relevant": self.now.share, "mean_relevant": self.whole.relevant},
                _points(self.now.calibration),
            ),
        )

    def _policy(
        self,
        name: str,
        summary: str,
        thresholds: Places,
        from_now_on: dict[str, float],
        curve: Sequence[tuple[float, float]] = (),
    ) -> Policy:
        rows = np.stack([row_at(self._query_at(place), float(at)) for place, at in enumerate(thresholds)])
        return Policy(name, summary, self.run.table(rows, COLUMNS), as_confidence(thresholds), from_now_on, curve)

    def optimistic(self) -> dict[str, float]:
        """The best one threshold and the best for each query, both chosen by the reference (S-14)."""
        metric = AQWV.bind(beta=self.beta)
        balance = 1 / self.whole.share if self.whole.share else 1.0
        ranked = [self._query_at(place) for place in range(len(self.order))]
        oracle = np.stack([oracle_row(one, beta=self.beta, balance=balance) for one in ranked])
        best = self.whole.histogram.sums(np.array([self.now.threshold]))
        return {"mqwv": float(metric.value(best)[0]), "oracle": metric.of(oracle)}


def advise(run: Opened, system: str, design: Design, method: Method | None = None) -> Advice:
    """Advice for a submission that was read and found valid, before its scores are asked for."""
    if not isinstance(run, ClirRun):
        raise SettingError("Advice on thresholds needs decisions for each query: use the task clir or e2e.")
    method = method or Method()
    beta, folds = run.beta, int(run.settings["folds"])
    fit = CrossFit(run, beta=beta, folds=folds, method=method)
    metric, submitted = AQWV.bind(beta=beta), run.query_rows()
    return Advice(
        task="clir",
        system=system,
        metric=metric,
        submitted=metric.of(submitted.rows),
        threshold=run.decision_threshold(),
        gains=gains(metric, submitted, fit.policies(), design),
        optimistic=fit.optimistic(),
        design=design,
        settings={**run.settings, "calibration": method.calibration, "count": method.count},
        digests={"submission": run.source.digest.value(), "reference": run.key.digest},
        notes=tuple(_notes(run, folds)),
    )


def _notes(run: ClirRun, folds: int) -> Iterable[str]:
    yield (
        f"Thresholds and calibrations are cross-fitted in {folds} folds: each query is decided by a fit on the other "
        "queries. The recommended values are fitted on all queries."
    )
    yield "MQWV and oracle use the reference, so they are optimistic: no policy can promise them (S-14)."
    yield "How many documents are relevant is unknown when decisions are made, so the rule uses an estimate (S-15)."
    if run.constant:
        yield "Every confidence is 0.5: the system gives no scores, so there is no threshold to choose (M30)."


def _points(calibration: Calibration) -> list[tuple[float, float]]:
    """The corners of a calibration, thinned evenly where there are many: straight lines join them."""
    bends = np.flatnonzero(np.abs(np.diff(calibration, 2)) > 1e-12) + 1
    places = np.unique(np.concatenate([[0], bends, [SCALE]]))
    if len(places) > CURVE_POINTS:
        places = places[np.unique(np.linspace(0, len(places) - 1, CURVE_POINTS).round().astype(np.int64))]
    return [(float(at) / SCALE, float(calibration[at])) for at in places]
