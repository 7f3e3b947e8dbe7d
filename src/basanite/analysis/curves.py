"""Curves over thresholds: the same `reduce` that gives a value gives its curve, from a sweep's cumulative sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.resampling import values_of
from basanite.kernel import Metric, Sweep

Floats = NDArray[np.float64]


def curve(metric: Metric, sweep: Sweep) -> Floats:
    """The metric's value at every threshold of the sweep."""
    return values_of(metric, sweep.sums)


def best(metric: Metric, sweep: Sweep) -> tuple[float, float]:
    """The best threshold and the value there; of equal ones the largest threshold, which returns least.

    Undefined points are passed over; where all are, both numbers are nan.
    """
    heights = -curve(metric, sweep) if metric.best == "low" else curve(metric, sweep)
    if np.isnan(heights).all():
        return float("nan"), float("nan")
    place = len(heights) - 1 - int(np.nanargmax(heights[::-1]))
    return float(sweep.thresholds[place]), float(curve(metric, sweep)[place])


def thinned(values: Floats, most: int) -> NDArray[np.int64]:
    """The places of at most `most` points (at least 4) that keep both ends and the extremes of each stretch.

    >>> thinned(np.array([0.0, 1, 9, 2, 3, 2, 1, 0]), 4).tolist()
    [0, 1, 2, 7]
    """
    if len(values) <= most:
        return np.arange(len(values))
    stretches = np.array_split(np.arange(1, len(values) - 1), max(1, (most - 2) // 2))
    extremes = [place for stretch in stretches for place in _extremes(values, stretch)]
    return np.unique([0, *extremes, len(values) - 1]).astype(np.int64)


def error_rates(sweep: Sweep, *, misses: tuple[str, str], false_alarms: tuple[str, str]) -> tuple[Floats, Floats]:
    """Miss and false-alarm rate at every threshold, each a pair of columns: numerator and denominator."""
    return _ratio(sweep, *misses), _ratio(sweep, *false_alarms)


def _ratio(sweep: Sweep, numerator: str, denominator: str) -> Floats:
    over, under = (sweep.sums[:, sweep.columns.index(name)] for name in (numerator, denominator))
    with np.errstate(all="ignore"):
        return np.asarray(over / np.where(under == 0, np.nan, under), dtype=np.float64)


def _extremes(values: Floats, stretch: NDArray[np.int64]) -> list[int]:
    """The places of the highest and the lowest defined value of one stretch."""
    part = values[stretch]
    if not len(part) or np.isnan(part).all():
        return []
    return [int(stretch[np.nanargmax(part)]), int(stretch[np.nanargmin(part)])]
