"""A figure about judges: a number, or the reason why there is none, and an interval by resampling items if asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import ends_around, has_width, source_of

Reals: TypeAlias = NDArray[np.float64]
FEWEST_ITEMS = 15
"""With fewer items no interval is given (S-13)."""
MOST_UNDEFINED = 0.05
SCALE = 1.0
"""Agreement lies between -1 and 1."""


@dataclass(frozen=True)
class Estimate:
    """A number that says why it is undefined where it is nan; `low` and `high` are None where there is no interval."""

    value: float
    reason: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.value)


def undefined_estimate(reason: str) -> Estimate:
    """No number, and why."""
    return Estimate(math.nan, reason)


def table_of(ratings: ArrayLike) -> Reals:
    """Ratings as items x judges, nan where there is none."""
    table = np.asarray(ratings, np.float64)
    return table.reshape(len(table), -1) if table.size else np.empty((0, 0))


def with_interval(
    ratings: ArrayLike, measure: Callable[[Reals], Estimate], *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Estimate:
    """The measure of a table with an interval: whole items (rows) are drawn with replacement."""
    table = table_of(ratings)
    found = measure(table)
    if not found.is_defined or len(table) < FEWEST_ITEMS:
        return found
    source = source_of(seed, "items")
    values, size = [], np.uint64(len(table))
    for _ in range(draws):  # rows with replacement, from raw words by our own map (S-6)
        words = source.random_raw(len(table)) >> np.uint64(32)
        values.append(measure(table[((words * size) >> np.uint64(32)).astype(np.int64)]).value)
    return estimate_with_interval(found, np.array(values), level=level)


def estimate_with_interval(found: Estimate, values: Reals, *, level: float = 0.95) -> Estimate:
    """The estimate with the interval of these draws; none if more than 5% of them are undefined, if all are equal, or
    if it would exclude the estimate (S-24)."""
    defined = values[~np.isnan(values)]
    if len(values) - len(defined) > MOST_UNDEFINED * len(values):
        return replace(found, reason="no interval: more than 5% of the draws are undefined")
    low, high = (float(end) for end in np.quantile(defined, ((1 - level) / 2, (1 + level) / 2)))
    around = ends_around(found.value, (low, high), SCALE)
    if around is None:
        return replace(found, reason="no interval: the estimate lies outside it")
    if not has_width((low, high), SCALE):
        return replace(found, reason="no interval: every draw gives the same value")
    return replace(found, low=around[0], high=around[1])
