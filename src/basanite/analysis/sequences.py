"""Confidence sequences: intervals of a mean that stay valid however often they are looked at while data arrive (S-33).

An interval for a fixed number of units, looked at after every unit, misses the mean sooner or later. A confidence
sequence covers it at all times at once with the level that it states. This is the hedged capital process of
Waudby-Smith and Ramdas (Journal of the Royal Statistical Society B 86, 2024): bets against a wrong mean, fair ones on
both sides, win without limit; means against which the bets have won 1/alpha are excluded for good. It asks nothing
of the units but that they lie in a known range and come in an order that does not depend on their values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError

GRID = 1000
"""The number of steps of the range in which means are tried; an end is rounded outwards to the next one."""
LARGEST_BET = 0.5
"""No bet risks more than this share of what is there, so that one unit ruins nobody."""
BLOCK = 256
DRIFT = "early and late units differ more than chance allows, so they have no common mean to bound"

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class MeanSequence:
    """The mean of the units that have arrived, and the ends of its confidence sequence now; nan where none holds."""

    mean: float
    low: float
    high: float
    units: int
    reason: str = ""
    """Why there are no ends, though there are units."""

    @property
    def half_width(self) -> float:
        """Half of the distance between the ends."""
        return (self.high - self.low) / 2


def confidence_sequence(
    values: ArrayLike, bounds: tuple[float, float] = (0.0, 1.0), *, level: float = 0.95
) -> MeanSequence:
    """The confidence sequence of the mean of units in the order in which they arrived, as it stands after the last.

    >>> now = confidence_sequence([0.4, 0.6, 0.5, 0.4, 0.6] * 20)
    >>> now.low < 0.5 < now.high, now.half_width < 0.15
    (True, True)

    Units that come in an order that depends on their values have no such sequence:

    >>> confidence_sequence([0] * 30 + [1] * 60).reason
    'early and late units differ more than chance allows, so they have no common mean to bound'
    """
    low, high = bounds
    given = np.asarray(values, np.float64)
    if not 0 < level < 1:
        raise SettingError(f"level={level} cannot be used: it must lie between 0 and 1.")
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingError(f"A confidence sequence needs a range with two ends, not {low} to {high}.")
    if not bool(np.all((given >= low) & (given <= high))):
        raise SettingError(f"A confidence sequence needs values from {low:g} to {high:g}: one lies outside.")
    if not given.size:
        return MeanSequence(math.nan, low, high, 0)
    mean = float(given.mean())
    inside = _means_left((given - low) / (high - low), 1 - level) / GRID
    if len(inside):
        ends = low + (high - low) * np.array([max(inside[0] - 1 / GRID, 0.0), min(inside[-1] + 1 / GRID, 1.0)])
        if ends[0] <= mean <= ends[1]:
            return MeanSequence(mean, float(ends[0]), float(ends[1]), given.size)
    return MeanSequence(mean, math.nan, math.nan, given.size, DRIFT)


def _means_left(units: Reals, alpha: float) -> NDArray[np.int64]:
    """The steps of the grid that no bet has ever won 1/alpha against; none where units drift."""
    means = np.arange(GRID + 1) / GRID
    bets = _bets(units, alpha)
    up, down, most = np.zeros(GRID + 1), np.zeros(GRID + 1), np.full(GRID + 1, -np.inf)
    with np.errstate(divide="ignore"):
        caps = LARGEST_BET / means, LARGEST_BET / (1 - means)
    for start in range(0, len(units), BLOCK):
        gaps = units[start : start + BLOCK, None] - means
        sizes = bets[start : start + BLOCK, None]
        rise = up + np.cumsum(np.log1p(np.minimum(sizes, caps[0]) * gaps), axis=0)
        fall = down + np.cumsum(np.log1p(-np.minimum(sizes, caps[1]) * gaps), axis=0)
        most = np.maximum(most, np.maximum(rise, fall).max(axis=0) - math.log(2))  # half of the money on each side
        up, down = rise[-1], fall[-1]
    return np.flatnonzero(most < -math.log(alpha))


def _bets(units: Reals, alpha: float) -> Reals:
    """How much is bet on each unit, decided before it is seen: more where units varied less so far."""
    count = np.arange(1, len(units) + 1)
    means = (0.5 + np.cumsum(units)) / (count + 1)
    spread = (0.25 + np.cumsum((units - means) ** 2)) / (count + 1)
    before = np.concatenate([[0.25], spread[:-1]])
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (before * count * np.log1p(count))))
