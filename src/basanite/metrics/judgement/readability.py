"""Readability: a machine's ratings of passages beside those of an expert panel and of novices (R-3).

The reference is the mean of the experts. The score difference says how much nearer to it the machine lies than the
novices do; the proportional target whether it lies within the experts' range, worth the less the wider that is; the
correlation whether it orders passages as the experts do.

The plan's null for readability: a random novice's rating of each passage in the place of the machine's (R-4).

Texts and novices are held fixed. A draw is a row of a sparse matrix with one entry a passage, so all sums that the
three metrics need are one product of it with a table of what each rating contributes; blocks of draws keep memory
flat. Dice are raw generator words by our own map (S-6).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import ANY, SHARE, SIGNED_SHARE, Metric, Rows, column_ratio, ratio, source_of
from basanite.metrics.relevance import pearson

Reals: TypeAlias = NDArray[np.float64]

PLAN = "Strassel and others, The DARPA Machine Reading Program, LREC (2010), evaluation of readability"
COLUMNS = ("gain", "has_novice", "worth", "has_expert", "both", "x", "y", "xx", "yy", "xy")
MARGIN = 1e-8
"""Numbers nearer than this are equal: a rating on the edge of the range is inside, equal values tie."""


@dataclass(frozen=True)
class Readings:
    """Passages with everybody's ratings, passages x judges; nan where a judge gave none."""

    units: Sequence[str]
    experts: Reals
    novices: Reals
    machine: Reals


@dataclass(frozen=True)
class Gold:
    """What the experts say of each passage: the mean of their ratings and their range; nan without experts."""

    mean: Reals
    low: Reals
    high: Reals


def gold_of(experts: ArrayLike) -> Gold:
    """The reference rating and the range of each passage.

    >>> gold_of([[2, 4], [3, np.nan]]).mean.tolist()
    [3.0, 3.0]
    """
    given = np.asarray(experts, np.float64)
    known = ~np.isnan(given)
    rated = known.any(axis=1)
    low = np.where(known, given, np.inf).min(axis=1, initial=np.inf)
    high = np.where(known, given, -np.inf).max(axis=1, initial=-np.inf)
    mean = ratio(np.where(known, given, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    return Gold(mean, np.where(rated, low, np.nan), np.where(rated, high, np.nan))


def worth(ratings: ArrayLike, gold: Gold) -> Reals:
    """1 / (1 + width) where a rating lies in the experts' range, else 0; for one rating a passage or a column each.

    >>> worth([3.0, 5.0], gold_of([[2, 4], [3, 4]])).round(4).tolist()
    [0.3333, 0.0]
    """
    given = np.asarray(ratings, np.float64)
    low, high = (side if given.ndim == 1 else side[:, None] for side in (gold.low, gold.high))
    hit = (given >= low - MARGIN) & (given <= high + MARGIN)
    return np.where(hit, 1 / (1 + high - low), 0.0)


def novice_errors(novices: Reals, gold: Gold) -> Reals:
    """How far each novice lies from the reference, passages x novices; nan where one is not known."""
    return np.abs(novices - gold.mean[:, None])


def rows(block: Readings) -> Rows:
    """What each passage contributes to all three values."""
    gold, machine = gold_of(block.experts), np.asarray(block.machine, np.float64)
    error = novice_errors(np.asarray(block.novices, np.float64), gold)
    known = ~np.isnan(error)
    expected = ratio(np.where(known, error, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))
    return rows_of(gold, machine, expected)


def rows_of(gold: Gold, machine: Reals, expected: Reals) -> Rows:
    """The same from the mean error of novices on each passage, which is nan where none is known."""
    rated = ~np.isnan(gold.mean) & ~np.isnan(machine)
    compared = rated & ~np.isnan(expected)
    x, y = np.where(rated, machine, 0), np.where(rated, gold.mean, 0)
    gain = np.where(compared, np.where(compared, expected, 0) - np.abs(y - x), 0)
    hits = np.where(rated, worth(machine, gold), 0)
    table = [gain, compared, hits, rated, rated, x, y, x * x, y * y, x * y]
    return np.column_stack(table).astype(np.float64)


def _gain(sums: Rows) -> Reals:
    return ratio(sums[..., 0], sums[..., 1])


SCORE_DIFFERENCE = Metric(
    name="score_difference",
    title="Score difference",
    summary="How much closer the machine is to the experts' mean than novices are, mean over passages",
    citation=PLAN,
    family="readability",
    statistics=rows,
    reduce=_gain,
    range=ANY,
    columns=COLUMNS,
    unit="passage",
    linear=True,
    carrier="has_novice",
    interval="expanded",
)
PROPORTIONAL_TARGET = replace(
    SCORE_DIFFERENCE,
    name="proportional_target",
    title="Proportional target",
    summary="Mean over passages of 1 / (1 + width of the experts' range) where the machine lies in it, else 0",
    reduce=partial(column_ratio, top=2, bottom=3),
    range=SHARE,
    carrier="has_expert",
)
CORRELATION = replace(
    SCORE_DIFFERENCE,
    name="correlation",
    title="Pearson correlation",
    summary="Pearson correlation of the machine's ratings and the means of the experts",
    reduce=pearson,
    range=SIGNED_SHARE,
    linear=False,
    carrier="both",
    shared_name=True,
)
METRICS = (SCORE_DIFFERENCE, PROPORTIONAL_TARGET, CORRELATION)


def values(experts: ArrayLike, novices: ArrayLike, machine: ArrayLike) -> dict[str, float]:
    """All three values from ratings, passages x judges; nan where a judge gave none.

    >>> values([[2, 4], [4, 4]], [[1, 3], [5, 2]], [3, 4])["score_difference"]
    1.25
    """
    given = (np.asarray(array, np.float64) for array in (experts, novices, machine))
    return _all_of(rows(Readings((), *given)))


def best_constant(experts: ArrayLike) -> float:
    """The one rating that, given to every passage, has the largest score difference: the median of the means (S-3).

    >>> best_constant([[1, 3], [4, 4], [5, 5]])
    4.0
    """
    means = gold_of(experts).mean
    known = means[~np.isnan(means)]
    return float(np.median(known)) if len(known) else float("nan")


def to_scale(ratings: ArrayLike, low: float, high: float, step: float = 1.0) -> Reals:
    """Ratings brought to the nearest step of the scale; a half goes up, as people write it.

    >>> to_scale([1.2, 2.5, 4.9], 1, 5).tolist()
    [1.0, 3.0, 5.0]
    """
    steps = np.floor((np.asarray(ratings, np.float64) - low) / step + 0.5 + MARGIN)
    return np.asarray(np.clip(low + steps * step, low, high))


def novices_as_machines(experts: ArrayLike, novices: ArrayLike) -> list[dict[str, float]]:
    """Each novice scored as if the machine, against the others, on the passages that novice rated (S-3)."""
    panel, gold = np.asarray(novices, np.float64), gold_of(experts)
    errors = novice_errors(panel, gold)
    known = ~np.isnan(errors)
    sums, sizes = np.where(known, errors, 0).sum(axis=1), known.sum(axis=1)
    found = []
    for own, error, rated in zip(panel.T, errors.T, known.T, strict=True):
        others = ratio(sums - np.where(rated, error, 0), (sizes - rated).astype(np.float64))
        found.append(_all_of(rows_of(gold, own, others)))
    return found


def _all_of(table: Rows) -> dict[str, float]:
    with np.errstate(all="ignore"):
        return {metric.name: metric.of(table) for metric in METRICS}


BLOCK = 1 << 18
"""Entries of one block of draws: a few megabytes."""
VARYING = [COLUMNS.index(name) for name in ("gain", "worth", "x", "xx", "xy")]
"""The columns that depend on which novice is drawn."""
TAIL = 0.025
"""The upper tail beyond the critical value (R-4)."""
STRAYS = 5.0
"""So many standard errors may the mean of the draws lie from the exact one before we say so."""


@dataclass(frozen=True)
class Choices:
    """Every rating of a novice, passage by passage, with what it would contribute as the machine's."""

    rows: Reals
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Verdict:
    """One metric against its null: the observed value, p, the critical value, and what the draws were like."""

    value: float
    p: float
    critical: float
    draws: int
    undefined: int

    @property
    def above(self) -> bool:
        """Whether the value is defined and lies above the critical one."""
        return bool(self.value > self.critical + MARGIN)


def choices_of(experts: Reals, novices: Reals) -> Choices:
    """What can be drawn; passages without a novice or an expert cannot and are left out."""
    gold = gold_of(experts)
    errors = novice_errors(novices, gold)
    known = ~np.isnan(errors)
    sizes = known.sum(axis=1)
    passage, novice = np.nonzero(known)
    expected = np.where(known, errors, 0).sum(axis=1) / np.maximum(sizes, 1)
    each = type(gold)(gold.mean[passage], gold.low[passage], gold.high[passage])
    table = rows_of(each, novices[passage, novice], expected[passage])
    sizes = sizes[sizes > 0]
    return Choices(table, np.cumsum(sizes) - sizes, sizes)


def null_values(experts: Reals, novices: Reals, *, draws: int, seed: int) -> Reals:
    """The values of all three metrics in every draw, `float64[3, draws]`, in the order of `METRICS`."""
    choices = choices_of(np.asarray(experts, np.float64), np.asarray(novices, np.float64))
    if not len(choices):
        return np.full((len(METRICS), draws), np.nan)
    blocks = [_values(choices, picked) for picked in _pick_blocks(choices, draws=draws, seed=seed)]
    return np.concatenate(blocks, axis=1)


def _values(choices: Choices, picked: NDArray[np.int32]) -> Reals:
    """The metrics of a block of draws; what no choice changes (counts, sums over the reference) is summed once."""
    sums = np.tile(choices.rows[choices.starts].sum(axis=0), (picked.shape[0], 1))
    varying = np.zeros((len(picked), len(VARYING)))
    table = np.ascontiguousarray(choices.rows[:, VARYING])
    for drawn in np.ascontiguousarray(picked.T):  # a passage at a time needs little memory, and adds in one order
        varying += table.take(drawn, axis=0)
    sums[:, VARYING] = varying
    with np.errstate(all="ignore"):
        return np.stack([metric.value(sums) for metric in METRICS])


def _pick_blocks(choices: Choices, *, draws: int, seed: int) -> Iterator[NDArray[np.int32]]:
    """Blocks of draws, draws x passages: the row of the rating that is drawn for each passage."""
    source, passages = source_of(seed, "null"), len(choices)
    starts, sizes = choices.starts.astype(np.int32), choices.sizes.astype(np.uint64)
    most = max(1, BLOCK // passages)
    for first in range(0, draws, most):
        count = min(most, draws - first)
        words = _halves(source, count, passages)
        yield ((words * sizes) >> np.uint64(32)).astype(np.int32) + starts


def _halves(source: np.random.PCG64, count: int, width: int) -> NDArray[np.uint32]:
    """Halves of raw words, low ones first on every machine, `count` rows of `width`."""
    words = source.random_raw(count * ((width + 1) // 2)).astype("<u8", copy=False)
    return words.view("<u4").reshape(count, -1)[:, :width]


def judge_against_null(value: float, null: Reals, *, tail: float = TAIL) -> Verdict:
    """A value against the draws of its null: p is never 0, for the observed one is itself a possible draw (R-4).

    >>> judge_against_null(3.0, np.arange(4.0)).p
    0.4
    """
    defined = np.sort(null[~np.isnan(null)])
    undefined = len(null) - len(defined)
    if not len(defined):
        return Verdict(value, math.nan, math.nan, len(null), undefined)
    exceed = int(np.count_nonzero(defined >= value - MARGIN))
    p = math.nan if math.isnan(value) else (exceed + 1) / (len(defined) + 1)
    return Verdict(value, p, critical(defined, tail=tail), len(null), undefined)


def critical(ordered: Reals, *, tail: float = TAIL) -> float:
    """The smallest draw such that a value above it has p of at most `tail`; infinite where draws are too few for any.

    >>> critical(np.arange(39.0)), critical(np.arange(38.0))
    (38.0, inf)
    """
    allowed = math.floor(tail * (len(ordered) + 1) + 1e-9) - 1
    return math.inf if allowed < 0 else float(ordered[len(ordered) - 1 - allowed])


def exact_spread(experts: Reals, novices: Reals) -> float:
    """The standard deviation of the score difference under the null, whose mean is exactly 0."""
    choices = choices_of(np.asarray(experts, np.float64), np.asarray(novices, np.float64))
    if not len(choices):
        return math.nan
    squares = np.add.reduceat(choices.rows[:, 0] ** 2, choices.starts) / choices.sizes
    return float(np.sqrt(squares.sum()) / len(choices))


def strays(null: Reals, spread: float) -> bool:
    """Whether draws of the score difference lie further from their known mean and spread than chance explains."""
    error = spread / math.sqrt(max(len(null), 1))
    far = abs(float(null.mean())) > STRAYS * error + MARGIN
    return bool(far or abs(float(null.std()) - spread) > STRAYS * error + MARGIN)
