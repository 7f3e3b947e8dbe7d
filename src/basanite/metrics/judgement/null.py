"""The plan's null for readability: a random novice's rating of each passage in the place of the machine's (R-4).

Texts and novices are held fixed. A draw is a row of a sparse matrix with one entry a passage, so all sums that the
three metrics need are one product of it with a table of what each rating contributes; blocks of draws keep memory
flat. Dice are raw generator words by our own map (S-6).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.judgement.readability import COLUMNS, MARGIN, METRICS, Reals, gold_of, novice_errors, rows_of
from basanite.metrics.representation.dice import source_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

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
    blocks = [_values(choices, picked) for picked in _picked(choices, draws=draws, seed=seed)]
    return np.concatenate(blocks, axis=1)


def _values(choices: Choices, picked: csr_matrix) -> Reals:
    """The metrics of a block of draws; what no choice changes (counts, sums over the reference) is summed once."""
    sums = np.tile(choices.rows[choices.starts].sum(axis=0), (picked.shape[0], 1))
    sums[:, VARYING] = picked @ choices.rows[:, VARYING]
    with np.errstate(all="ignore"):
        return np.stack([metric.value(sums) for metric in METRICS])


def _picked(choices: Choices, *, draws: int, seed: int) -> Iterator[csr_matrix]:
    """Blocks of draws, draws x ratings, with a 1 at the rating drawn for each passage."""
    from scipy.sparse import csr_matrix  # here, because it is slow to load and only this task needs it

    source, passages = source_of(seed, "null"), len(choices)
    starts, sizes = choices.starts.astype(np.int32), choices.sizes.astype(np.uint64)
    most = max(1, BLOCK // passages)
    for first in range(0, draws, most):
        count = min(most, draws - first)
        words = _halves(source, count, passages)
        chosen = ((words * sizes) >> np.uint64(32)).astype(np.int32) + starts
        ends = np.arange(0, (count + 1) * passages, passages, dtype=np.int32)
        ones = np.ones(count * passages)
        yield csr_matrix((ones, chosen.ravel(), ends), (count, len(choices.rows)))


def _halves(source: np.random.PCG64, count: int, width: int) -> NDArray[np.uint32]:
    """Halves of raw words, low ones first on every machine, `count` rows of `width`."""
    words = source.random_raw(count * ((width + 1) // 2)).astype("<u8", copy=False)
    return words.view("<u4").reshape(count, -1)[:, :width]


def judged(value: float, null: Reals, *, tail: float = TAIL) -> Verdict:
    """A value against the draws of its null: p is never 0, for the observed one is itself a possible draw (R-4).

    >>> judged(3.0, np.arange(4.0)).p
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
