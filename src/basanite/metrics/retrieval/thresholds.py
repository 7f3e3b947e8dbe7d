"""What a detection system would have scored at other thresholds: curves, the best threshold, oracle, ROC area.

Everything starts from `Ranked`: one query's scores, sorted, relevant documents apart from the others. Scores are whole
numbers (hundred-thousandths), so counting at a threshold is bisection and nothing is ever rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import NOT_NEGATIVE, SHARE, Metric, Rows, Sweep, ratio
from basanite.metrics.retrieval.query_value import (
    ALARM,
    ALARM_IF_RELEVANT,
    AQWV,
    COLUMNS,
    MATERIAL,
    MISS,
    QUERY,
    RELEVANT,
    Detections,
)

ROC = "Hanley and McNeil, The meaning and use of the area under a ROC curve, Radiology 143 (1982)"
GRID = 1000
POOLED_GRID = 250
SCALE = 100_000
TIE = 1e-12
"""Values closer than this are equal: sums in another order differ in their last digits."""

Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Ranked:
    """The scores of one query, each list in rising order."""

    relevant: Integers
    other: Integers

    @classmethod
    def of(cls, relevant: NDArray[np.bool_], score: Integers) -> Ranked:
        """Sort a query's scores, relevant documents apart."""
        return cls(np.sort(score[relevant]), np.sort(score[~relevant]))

    def rates(self, thresholds: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Pmiss and PFA if everything at or above a threshold were returned."""
        missed = np.searchsorted(self.relevant, thresholds) / max(len(self.relevant), 1)
        alarms = (len(self.other) - np.searchsorted(self.other, thresholds)) / max(len(self.other), 1)
        return missed, alarms

    def area(self) -> tuple[float, float]:
        """Area under the ROC curve with ties counted half, and 1; or 0 and 0 where it is undefined (M11)."""
        pairs = len(self.relevant) * len(self.other)
        if not pairs:
            return 0.0, 0.0
        below = np.searchsorted(self.other, self.relevant).sum()
        up_to = np.searchsorted(self.other, self.relevant, side="right").sum()
        return float(below + up_to) / (2 * pairs), 1.0


def row_at(ranked: Ranked, threshold: float) -> NDArray[np.float64]:
    """One query's contribution (a row of `COLUMNS`) if one threshold had decided."""
    miss, alarm = ranked.rates(threshold)
    has = float(len(ranked.relevant) > 0)
    return np.array([miss, has, alarm, 1.0, alarm * has])


def oracle_row(ranked: Ranked, *, beta: float, balance: float) -> NDArray[np.float64]:
    """One query's contribution at the threshold that is best for it.

    `balance` is queries over queries with relevant documents: the primary form weighs a miss that much more.
    The best threshold is a relevant document's score, or one that returns nothing.
    """
    candidates = np.append(ranked.relevant, SCALE + 1)
    miss, alarm = ranked.rates(candidates)
    loss = balance * miss * (len(ranked.relevant) > 0) + beta * alarm
    return row_at(ranked, candidates[len(loss) - 1 - int(np.argmin(loss[::-1]))])


def grid_columns(grid: Integers) -> tuple[str, ...]:
    """The names of what `grid_row` gives."""
    return (*(f"pmiss@{at}" for at in grid), *(f"pfa@{at}" for at in grid), "has_relevant", "queries")


def pooled_columns(grid: Integers) -> tuple[str, ...]:
    """The names of what `pooled_row` gives."""
    steps = range(len(grid) + 1)
    return (*(f"relevant@{at}" for at in steps), *(f"other@{at}" for at in steps), "has_both")


def grid_row(ranked: Ranked, grid: Integers) -> NDArray[np.float64]:
    """One query's misses and false alarms at every threshold of a grid, then whether it counts for each."""
    miss, alarm = ranked.rates(grid)
    return np.concatenate([miss, alarm, [float(len(ranked.relevant) > 0), 1.0]])


def pooled_row(ranked: Ranked, grid: Integers) -> NDArray[np.float64]:
    """How many relevant and other documents of one query lie in each step of a grid, and whether it has both."""
    both = float(len(ranked.relevant) > 0 and len(ranked.other) > 0)
    return np.concatenate([_steps(ranked.relevant, grid), _steps(ranked.other, grid), [both]])


def _steps(scores: Integers, grid: Integers) -> NDArray[np.int64]:
    return np.diff(np.searchsorted(scores, grid), prepend=0, append=len(scores))


def areas(block: Detections) -> Rows:
    """Each query's area under the ROC curve, and whether it is defined."""
    return np.array([ranked.area() for ranked in _each(block)])


def oracle_rates(block: Detections, *, beta: float, balance: float) -> Rows:
    """Each query's contribution at its own best threshold."""
    return np.array([oracle_row(ranked, beta=beta, balance=balance) for ranked in _each(block)])


def grid_rates(block: Detections, *, grid: Integers) -> Rows:
    """Each query's contribution at every threshold of a grid."""
    return np.array([grid_row(ranked, grid) for ranked in _each(block)])


def pooled_counts(block: Detections, *, grid: Integers) -> Rows:
    """Each query's documents counted into the steps of a grid."""
    return np.array([pooled_row(ranked, grid) for ranked in _each(block)])


def crossfit_rates(block: Detections, *, thresholds: Sequence[float]) -> Rows:
    """Each query's contribution at the threshold that other queries chose for it."""
    return np.array([row_at(ranked, at) for ranked, at in zip(_each(block), thresholds, strict=True)])


def _each(block: Detections) -> list[Ranked]:
    if block.score is None:
        raise ValueError("these detections have no scores")
    return [Ranked.of(truth, score) for truth, score in zip(block.relevant, block.score, strict=True)]


def _mean(sums: Rows) -> NDArray[np.float64]:
    return ratio(sums[..., 0], sums[..., 1])


def _grid_values(sums: Rows, beta: float) -> NDArray[np.float64]:
    """The primary form at every threshold of the grid."""
    steps = (sums.shape[-1] - 2) // 2
    relevant, queries = sums[..., -2:-1], sums[..., -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        values: NDArray[np.float64] = 1 - (sums[..., :steps] / relevant + beta * sums[..., steps:-2] / queries)
    return np.where(relevant > 0, values, np.nan)


def _grid_best(sums: Rows, beta: float, grid: Integers) -> NDArray[np.float64]:
    return np.asarray(_grid_values(sums, beta).max(axis=-1))


def _grid_theta(sums: Rows, beta: float, grid: Integers) -> NDArray[np.float64]:
    values = _grid_values(sums, beta)
    highest = values >= values.max(axis=-1, keepdims=True) - TIE
    place = len(grid) - 1 - np.argmax(highest[..., ::-1], axis=-1)  # of equal ones the largest threshold
    return np.where(np.isnan(values[..., 0]), np.nan, as_confidence(grid)[place])


def as_confidence(scores: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Thresholds as users write them; the one above all scores is infinite: nothing is returned."""
    return np.where(scores > SCALE, np.inf, scores / SCALE)


def _pooled_area(sums: Rows, grid: Integers, shift: float) -> NDArray[np.float64]:
    """Pairs inside one step of the grid count half; `shift` is what that costs on the whole submission."""
    steps = len(grid) + 1
    relevant, other = sums[..., :steps], sums[..., steps:-1]
    below = np.cumsum(other, axis=-1) - other / 2
    coarse = ratio((relevant * below).sum(axis=-1), relevant.sum(axis=-1) * other.sum(axis=-1))
    return np.clip(coarse + shift, 0.0, 1.0)  # a draw that needs less of the shift would leave the range


MQWV = Metric(
    name="mqwv",
    title="MQWV",
    summary="Maximum query weighted value: the primary form at the single threshold that is best in hindsight",
    citation=MATERIAL,
    family="detection",
    statistics=grid_rates,
    reduce=_grid_best,
    range=SHARE,
    parameters=("beta", "grid"),
    unit="query",
    carrier="has_relevant",
    optimistic=True,
    by_factor=False,
)
THETA_BEST = replace(
    MQWV,
    name="theta_best",
    title="Best threshold",
    summary="The threshold at which the primary form is highest in hindsight",
    reduce=_grid_theta,
    range=NOT_NEGATIVE,
    interval="percentile",
    best="none",
    optimistic=False,
)
MQWV_CROSSFIT = replace(
    AQWV,
    name="mqwv_crossfit",
    title="MQWV (cross-fitted)",
    summary="Query weighted value at thresholds chosen on other queries: a realistic estimate of tuning",
    statistics=crossfit_rates,
    by_factor=False,
)
ORACLE = replace(
    AQWV,
    name="oracle",
    title="Oracle QWV",
    summary="Query weighted value if every query had its own best threshold",
    statistics=oracle_rates,
    optimistic=True,
    by_factor=False,
)
AUC = Metric(
    name="auc",
    title="AUC",
    summary="Area under the ROC curve, mean over queries; for early development only",
    citation=ROC,
    family="detection",
    statistics=areas,
    reduce=_mean,
    range=SHARE,
    columns=("area", "defined"),
    unit="query",
    linear=True,
    carrier="defined",
    fewest=50,
    by_item=False,
)
AUC_POOLED = Metric(
    name="auc_pooled",
    title="AUC (pooled)",
    summary="Area under the ROC curve over the documents of all queries together; for early development only",
    citation=ROC,
    family="detection",
    statistics=pooled_counts,
    reduce=_pooled_area,
    range=SHARE,
    parameters=("grid", "shift"),
    unit="query",
    carrier="has_both",
    fewest=50,
    by_factor=False,
)


@dataclass(frozen=True)
class PackedScores:
    """One query's ranked scores in half the room: up to 100,000 is 17 bits, two bytes and one."""

    relevant: Integers
    halves: NDArray[np.uint16]
    bits: NDArray[np.uint8]

    @classmethod
    def of(cls, ranked: Ranked) -> PackedScores:
        """Pack without losing anything."""
        return cls(ranked.relevant, (ranked.other >> 1).astype(np.uint16), np.packbits(ranked.other & 1))

    def unpack(self) -> Ranked:
        """The scores as they were."""
        odd = np.unpackbits(self.bits, count=len(self.halves))
        return Ranked(self.relevant, (self.halves.astype(np.int32) << 1) | odd)


@dataclass
class RankedStore:
    """All queries' ranked scores, packed until every query has been seen."""

    units: list[str] = field(default_factory=list)
    _packed: list[PackedScores] = field(default_factory=list)

    def add(self, unit: str, scores: PackedScores) -> None:
        """Keep one query."""
        self.units.append(unit)
        self._packed.append(scores)

    def clear(self) -> None:
        """Forget all queries."""
        self.units.clear()
        self._packed.clear()

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, at: int) -> Ranked:
        return self._packed[at].unpack()

    def relevant_scores(self) -> Integers:
        """The scores of all relevant documents, sorted."""
        return np.sort(np.concatenate([*(scores.relevant for scores in self._packed), np.zeros(0, np.int32)]))


@dataclass
class Histogram:
    """Weighted counts of scores, from which the sums of rows at every threshold follow exactly."""

    queries: int = 0
    with_relevant: int = 0
    missed: NDArray[np.float64] = field(default_factory=lambda: np.zeros(SCALE + 1))
    alarm: NDArray[np.float64] = field(default_factory=lambda: np.zeros(SCALE + 1))
    alarm_if_relevant: NDArray[np.float64] = field(default_factory=lambda: np.zeros(SCALE + 1))

    def add(self, ranked: Ranked) -> None:
        """Count one query in; each of its documents weighs one over their number."""
        self.queries += 1
        self.with_relevant += len(ranked.relevant) > 0
        np.add.at(self.missed, ranked.relevant, 1 / max(len(ranked.relevant), 1))
        alarm = self.alarm_if_relevant if len(ranked.relevant) else self.alarm
        np.add.at(alarm, ranked.other, 1 / max(len(ranked.other), 1))

    def sums(self, thresholds: NDArray[np.int64]) -> Rows:
        """The sum over queries of their rows at each of these thresholds."""
        missed = np.concatenate(([0.0], np.cumsum(self.missed)))[thresholds]
        with_relevant = _at_or_above(self.alarm_if_relevant)[thresholds]
        rows = np.empty((len(thresholds), len(COLUMNS)))
        rows[:, MISS], rows[:, RELEVANT], rows[:, QUERY] = missed, self.with_relevant, self.queries
        rows[:, ALARM] = _at_or_above(self.alarm)[thresholds] + with_relevant
        rows[:, ALARM_IF_RELEVANT] = with_relevant
        return rows

    def thresholds(self) -> NDArray[np.int64]:
        """Every score that occurs, and one more step at which nothing is returned."""
        occurs = (self.missed > 0) | (self.alarm > 0) | (self.alarm_if_relevant > 0)
        return np.append(np.flatnonzero(occurs), SCALE + 1)


def _at_or_above(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(np.cumsum(weights[::-1])[::-1], 0.0)


def total(parts: Iterable[Histogram]) -> Histogram:
    """Several histograms in one."""
    whole = Histogram()
    for part in parts:
        whole.queries += part.queries
        whole.with_relevant += part.with_relevant
        whole.missed += part.missed
        whole.alarm += part.alarm
        whole.alarm_if_relevant += part.alarm_if_relevant
    return whole


def sweep_of(histogram: Histogram) -> Sweep:
    """The sums of rows at every threshold that makes a difference."""
    places = histogram.thresholds()
    return Sweep(as_confidence(places), histogram.sums(places), COLUMNS)


def best_threshold(histogram: Histogram, *, beta: float) -> int:
    """The threshold at which the primary form is highest; of equal ones the largest."""
    places = histogram.thresholds()
    values = AQWV.bind(beta=beta).value(histogram.sums(places))
    return int(places[np.flatnonzero(values >= values.max() - TIE)[-1]]) if histogram.with_relevant else SCALE + 1


def score_grid(scores: Integers, most: int, *also: int) -> Integers:
    """At most `most` thresholds: quantiles of these scores, the thresholds named, and one that returns nothing."""
    distinct = np.unique(scores)
    room = most - len(also) - 1
    if len(distinct) > room:
        distinct = np.unique(scores[np.linspace(0, len(scores) - 1, room).round().astype(np.int64)])
    return np.unique(np.concatenate([distinct, also, [SCALE + 1]])).astype(np.int32)


@dataclass
class Pool:
    """Documents of all queries counted by score."""

    relevant: NDArray[np.int64] = field(default_factory=lambda: np.zeros(SCALE + 1, np.int64))
    other: NDArray[np.int64] = field(default_factory=lambda: np.zeros(SCALE + 1, np.int64))

    def add(self, ranked: Ranked) -> None:
        """Count one query in."""
        np.add.at(self.relevant, ranked.relevant, 1)
        np.add.at(self.other, ranked.other, 1)

    def area(self) -> float:
        """The area under the ROC curve over the documents of all queries together, exactly."""
        if not self.relevant.any() or not self.other.any():
            return float("nan")
        doubled = int(self.relevant @ (2 * np.cumsum(self.other) - self.other))
        return doubled / (2 * int(self.relevant.sum()) * int(self.other.sum()))
