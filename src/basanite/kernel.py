"""The kernel: a metric is what each unit contributes, and the value of any sum of such contributions.

Everything the analysis does follows from these two functions: an overall value is `reduce` of the sum of all rows,
a breakdown is `reduce` of the sum by group, a bootstrap is `reduce(weights @ rows)` with all draws at once, a paired
test swaps rows between two systems, a threshold curve is `reduce` over cumulative sums.

A metric that is no function of sums (average precision over items) says so by `compute`, and every draw is computed
from the rows and their weights.

No row ever holds nan (0 x nan would spoil every draw): an undefined unit is 0 with 0 in its count column, and nan is
born in `reduce` only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from basanite.problems import Problem

Rows: TypeAlias = NDArray[np.float64]
Direction = Literal["high", "low", "none"]
Number = TypeVar("Number", float, float | None)


class Block(Protocol):
    """Some units of a submission joined with the reference: what flows from `read` through `validate` to `score`."""

    @property
    def units(self) -> Sequence[str]:
        """The names of the units; statistics give one row for each."""


Statistics: TypeAlias = Callable[..., Rows]
Reduce: TypeAlias = Callable[..., NDArray[np.float64]]
Compute: TypeAlias = Callable[..., NDArray[np.float64]]
Ends: TypeAlias = tuple[float, float]
"""The least and the largest value there can be; one or both may be infinite."""

SHARE: Ends = (0.0, 1.0)
SIGNED_SHARE: Ends = (-1.0, 1.0)
NOT_NEGATIVE: Ends = (0.0, math.inf)
ANY: Ends = (-math.inf, math.inf)
PRECISION = 1e-10
"""Published values have 10 significant digits; what differs by less is published as the same."""
AVERAGES = ("macro", "micro", "weighted")
"""How values of classes are averaged: an ending of keys."""
ACRONYMS = {
    **{word: word.upper() for word in ("aqwv", "auc", "bleu", "cer", "f1", "map", "mqwv", "rmse", "ter", "wer")},
    **{"chrf": "chrF", "ndcg": "nDCG", "mrmse": "mRMSE"},
}
"""Words of keys that are written in another way."""
OF_SHARES = ("wilson", "exact")
"""Methods of intervals for a value between the two ends of its range."""
NOISE = 1e-12
"""What is smaller than this share of its scale is rounding noise, which differs between processors (S-26)."""


@dataclass(frozen=True)
class Metric:
    """A measure of quality: `statistics(block) -> rows[units, s]` and `reduce(rows[..., s]) -> value[...]`.

    Several metrics may name the same `statistics`; it is called once and its rows are handed to every `reduce`.
    """

    name: str
    summary: str
    citation: str
    family: str
    statistics: Statistics
    reduce: Reduce
    range: Ends | Callable[..., Ends] = field(kw_only=True)
    """The values there can be (S-26); where they depend on settings, a function of those that says so in one line."""
    best: Direction = "high"
    columns: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    unit: str = "unit"
    linear: bool = False
    """With equal count columns the value is a sum over units, so differences may be sign-flipped (S-12)."""
    proportion: bool = False
    """A share in 0..1 of a number of trials: a zero-width interval becomes the exact binomial bound (S-13)."""
    carrier: str | None = None
    """The column that counts the units which carry the value; under five of them there is no interval (S-13)."""
    optimistic: bool = False
    """A maximum that uses the reference (an oracle): labeled so wherever it is shown (S-14)."""
    overall: bool = True
    """Whether there is one value for a whole submission; some only exist for each level of a factor."""
    by_factor: bool = True
    """Whether the value is broken down by factors at all; not where its rows are too wide for that to be worth it."""
    by_item: bool = True
    """Whether the value is also broken down by factors of items inside a unit (S-9)."""
    interval: str = "studentized"
    """How its intervals are made: the name of a method in `basanite.analysis.interval_methods`, fixed before any data
    and checked by simulation (S-25)."""
    fewest: int = 0
    """The units, or clusters of them, from which simulated intervals contain the true value as often as they say, where
    that is more than the fifteen of every metric; below there is none (S-25)."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    compute: Compute | None = None
    """For a metric that is no function of sums: `compute(rows[units, s], weights[draws, units]) -> value[draws]`, the
    value of every draw of whole units. Its rows hold what each unit contributes as it is, and `reduce` is not used."""
    by_rows: bool = True
    """Whether it is a function of rows of units at all. A measure that is none is computed and drawn by its task
    (`UnitRows.own`), and is no entry of the registry, which holds functions of rows (ADR 28)."""
    own_settings: tuple[Any, ...] = ()
    """For a metric that joins a task of others: the `Setting`s that it brings to the task."""
    signature: Callable[..., str] | None = None
    """For a metric that joins a task of others: what else its value depends on, such as the digest of a model, from the
    settings of the run."""
    explain: Callable[..., Any] | None = None
    """For a metric that joins a task of others: its value worked out on one unit, from a `tasks.worked.Case` (T-27)."""
    shared_name: bool = False
    """Whether another family has a metric of this name, so that lists put the family before it: `labels.map`."""
    title: str = field(default="", kw_only=True)
    """The name as people write it in tables and charts: nDCG@10. One that is empty is made from `name`."""

    def __post_init__(self) -> None:
        """Refuse a range without any value, and a method for shares where the range has no two ends."""
        if callable(self.range):
            return
        if not self.range[0] < self.range[1]:
            raise ValueError(f"the range of {self.name} has to be (least value, largest value), not {self.range}")
        if self.interval in OF_SHARES and not all(map(math.isfinite, self.range)):
            raise ValueError(
                f"{self.name} asks for {self.interval} intervals, which need a range with two finite ends, "
                f"not {self.range}: use another interval, such as studentized"
            )

    @property
    def display_name(self) -> str:
        """The name that people read: its title, or what its key says."""
        return self.title or title_of_key(self.name)

    @property
    def listed_name(self) -> str:
        """The name among all metrics of all tasks."""
        return f"{self.family}.{self.name}" if self.shared_name else self.name

    def bind(self, **settings: Any) -> Metric:
        """The same metric with its parameters fixed; settings it does not know are left out."""
        known = {key: value for key, value in settings.items() if key in self.parameters}
        return replace(self, settings={**self.settings, **known})

    @property
    def ends(self) -> Ends:
        """The least and the largest value there can be under this metric's settings."""
        return self.range(**self.settings) if callable(self.range) else self.range

    @property
    def difference_ends(self) -> Ends:
        """The least and the largest difference of two values."""
        low, high = self.ends
        return low - high, high - low

    @property
    def possible(self) -> str:
        """The range in words, as lists and pages show it."""
        return (self.range.__doc__ or "").rstrip(".") if callable(self.range) else range_words(self.range)

    def value(self, rows: Rows) -> NDArray[np.float64]:
        """`reduce` with this metric's own settings: the value of each sum of rows."""
        return self.reduce(rows, **self.settings)

    def of(self, rows: Rows) -> float:
        """The value of a whole table of rows."""
        if self.compute is not None:
            return float(self.drawn(rows, np.ones((1, len(rows))))[0])
        return float(self.value(rows.sum(axis=0)))

    def drawn(self, rows: Rows, weights: Rows) -> NDArray[np.float64]:
        """The value in every draw, where each unit counts as often as its weight says."""
        if self.compute is not None:
            return self.compute(rows, weights, **self.settings)
        return self.value(weights @ rows)


def title_of_key(key: str) -> str:
    """A key as people would write it: for metrics that have no title, such as those of other programs.

    >>> [title_of_key(key) for key in ("length_ratio", "f2_macro", "hits_5", "mAP", "wer", "")]
    ['Length ratio', 'F2 (macro)', 'Hits@5', 'mAP', 'WER', '']
    """
    *words, last = key.split("_")
    ending = ""
    if words and last.isdigit():
        ending, last = f"@{last}", words.pop()
    elif words and last in AVERAGES:
        ending, last = f" ({last})", words.pop()
    if key != key.lower():
        return key.replace("_", " ")
    written = [ACRONYMS.get(word, word) for word in (*words, last)]
    return " ".join([written[0][:1].upper() + written[0][1:], *written[1:]]) + ending


def range_words(ends: Ends) -> str:
    """A range as people write it.

    >>> range_words((0.0, 1.0)), range_words((1.0, math.inf)), range_words((-math.inf, 0.0)), range_words(ANY)
    ('0 to 1', '1 or more', '0 or less', 'any number')
    """
    low, high = ends
    if math.isinf(low):
        return "any number" if math.isinf(high) else f"{high:g} or less"
    return f"{low:g} or more" if math.isinf(high) else f"{low:g} to {high:g}"


def within(number: Number, ends: Ends) -> Number:
    """The number, or the end of the range that it lies beyond: an interval cut there holds the same possible values.

    >>> within(-0.039, SHARE), within(0.15, SHARE), within(None, SHARE)
    (0.0, 0.15, None)
    """
    return number if number is None else float(min(max(number, ends[0]), ends[1]))


def ends_around(value: float, ends: Ends, scale: float = 0.0) -> Ends | None:
    """The ends of an interval, which never exclude its value by rounding; None where they exclude it (S-24).

    >>> ends_around(0.5, (0.4, 0.6)), ends_around(0.5, (0.5 + 1e-16, 0.6)), ends_around(0.5, (0.51, 0.6))
    ((0.4, 0.6), (0.5, 0.6), None)
    """
    low, high = ends
    slack = PRECISION * max(abs(low), abs(high), abs(value), scale)
    return None if max(low - value, value - high) > slack else (min(low, value), max(high, value))


def has_width(ends: Ends, scale: float = 0.0) -> bool:
    """Whether the two ends of an interval differ once they are published.

    >>> has_width((0.4, 0.6)), has_width((0.4, 0.4 + 1e-15)), has_width((0.0, 1e-15)), has_width((0.0, 1e-15), 1.0)
    (True, False, True, False)
    """
    return ends[1] - ends[0] > PRECISION * max(abs(ends[0]), abs(ends[1]), scale)


def settled(number: Number, ends: Ends) -> Number:
    """The number, or the end of its range or the 0 that only rounding noise keeps it from (S-26).

    >>> settled(1 + 2e-16, SHARE), settled(3e-14, SHARE), settled(0.5, SHARE), settled(3e-14, NOT_NEGATIVE)
    (1.0, 0.0, 0.5, 3e-14)
    """
    if number is None:
        return number
    scale = ends[1] - ends[0]
    if math.isinf(scale):  # an end other than 0 is all there is to compare with
        scale = max(abs(end) for end in (*ends, 0.0) if math.isfinite(end))
    return next((float(mark) for mark in (0.0, *ends) if abs(number - mark) <= NOISE * scale), number)


def ratio(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Division in which nothing over nothing is undefined (nan), never 0."""
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(bottom), np.nan), where=bottom > 0))


def column_ratio(sums: Rows, top: int, bottom: int) -> NDArray[np.float64]:
    """One column of summed rows over another: what `reduce` of most shares and means is."""
    return ratio(sums[..., top], sums[..., bottom])


def source_of(seed: int, *purpose: str) -> np.random.PCG64:
    """A generator of its own for every seed and purpose: the same words on every machine (S-6)."""
    name = "|".join((str(seed), *purpose)).encode()
    return np.random.PCG64(int.from_bytes(hashlib.sha256(name).digest()[:16], "big"))


@dataclass(frozen=True)
class LevelRows:
    """Rows of one level of an item factor: only the units with something left, by their index in the whole table."""

    index: NDArray[np.int64]
    rows: Rows


@dataclass(frozen=True)
class JudgedRows:
    """What single judges would have given each unit, for telling their variance from that of units (S-30)."""

    judges: float
    """The mean number of judgments of an item now."""
    rows: Callable[[], Rows]
    """The rows as if each item had one judgement only: `[judgements, units, s]`."""


@dataclass(frozen=True)
class UnitRows:
    """What one statistics function gave for one system: the table that every analysis starts from."""

    unit: str
    units: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Rows
    factors: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """Unit factors: the level of every unit ("" = not known)."""
    levels: Mapping[str, Mapping[str, LevelRows]] = field(default_factory=dict)
    """Item factors: rows computed on the items of one level, with that level's own denominators (S-9)."""
    clusters: NDArray[np.int64] | None = None
    """Which cluster each unit belongs to; resampling moves whole clusters (S-10)."""
    cluster: str = ""
    """The column that names the clusters, "" where none does."""
    attributes: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """Columns of the reference or metadata that may name clusters besides the factors (S-28)."""
    declared: frozenset[str] = frozenset()
    """Which attributes a metadata table declares to be factors: none of them is an overlooked cluster (S-28)."""
    redrawn: Callable[[int], Callable[[int], Rows]] | None = None
    """For people who are crossed with units, as novices with passages (S-3): given a seed, a source that gives the rows
    `[draws, units, s]` of the next draws, each with other people. Not for judgements inside a unit (S-24)."""
    judged: JudgedRows | None = None
    """For units that people judge, what each of their judgements alone would give."""
    own: Any = None
    """What computes and draws the metrics of this table where they are no functions of rows: an
    `analysis.own_draws.OwnDraws`. Its rows have no columns then."""

    @property
    def has_clusters(self) -> bool:
        """Whether several units move together in a draw."""
        return self.clusters is not None and len(np.unique(self.clusters)) < len(self.units)

    @property
    def drawn_unit(self) -> str:
        """What is drawn, in a word: the unit, or its cluster by the name of the column where that is a word."""
        if not self.has_clusters:
            return self.unit
        return self.cluster if self.cluster.isalpha() else "cluster"

    def column(self, name: str) -> NDArray[np.float64]:
        """One named column of the rows."""
        return self.rows[:, self.columns.index(name)]


@dataclass(frozen=True)
class Scores:
    """One system's rows for every metric of its task: the end of `score`, the start of `analyse`."""

    task: str
    system: str
    metrics: tuple[Metric, ...]
    tables: Mapping[str, UnitRows]
    """By the name of the metric; metrics with the same statistics share one table."""
    primary: str
    settings: Mapping[str, Any]
    digests: Mapping[str, str]
    notes: tuple[str, ...] = ()
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the name of the metric: remarks that must stand beside its value."""
    sweep: Sweep | None = None
    warnings: tuple[Problem, ...] = ()
    """What was found in the input and does not stop it: it is scored, and the warnings are kept."""
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By the name of the metric: what the value is made of (numerators, thresholds)."""
    signatures: Mapping[str, str] = field(default_factory=dict)
    """By the name of the metric: how exactly it was computed (tokeniser, smoothing, case, references, variant)."""
    kept: Any = None
    """What the task keeps for its own figures: the answers beside the truth."""
    asked: tuple[str, ...] = ()
    """The metrics that were asked for by name: they are printed even where others are left to the files (S-27)."""

    def metric(self, name: str) -> Metric:
        """The metric of that name, with its settings."""
        return next(metric for metric in self.metrics if metric.name == name)


@dataclass(frozen=True)
class Sweep:
    """A system's statistics as if it had decided by one threshold, for every threshold that makes a difference.

    `sums[t]` is the sum over units of the rows that decisions `score >= thresholds[t]` would have given, so the same
    `reduce` that gives a value gives its curve. Thresholds rise; the last one returns nothing.
    """

    thresholds: NDArray[np.float64]
    sums: Rows
    columns: tuple[str, ...]
