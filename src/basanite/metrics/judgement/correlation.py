"""How well a metric agrees with people: correlations and pairwise accuracy, of segments and of whole systems.

Intervals draw whole units, with the outputs of all systems: each draw is a row of weights. Kendall's tau of all draws
comes from sums over pairs of units, made once, so that no pair is compared twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import ratio, source_of
from basanite.metrics.judgement.estimate import (
    FEWEST_ITEMS,
    Estimate,
    Reals,
    estimate_with_interval,
    undefined_estimate,
)

MEASURES: Final = ("pearson", "spearman", "kendall", "accuracy")
TITLES: Final[Mapping[str, str]] = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "accuracy": "Pairwise accuracy",
}
BLOCK: Final = 1 << 22
"""Numbers that are worked on at a time."""
MOST_PAIRED_UNITS: Final = 4000
"""More units than this have no Kendall's tau of segments: its sums over pairs of units would not fit into memory."""
CONSTANT: Final = "one side has the same value everywhere"
MANY: Final = f"more than {MOST_PAIRED_UNITS:,} units"
FEW: Final = f"no interval: fewer than {FEWEST_ITEMS} units"


@dataclass(frozen=True)
class Scored:
    """What a metric and people gave each system on each unit, units x systems; nan where either gave nothing."""

    metric: Reals
    human: Reals

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Where both gave something."""
        return ~(np.isnan(self.metric) | np.isnan(self.human))

    @cached_property
    def sides(self) -> tuple[Reals, Reals]:
        """The values of metric and people where both are known, in one order."""
        return self.metric[self.known], self.human[self.known]

    @cached_property
    def unit(self) -> NDArray[np.int64]:
        """The unit of each of these."""
        return np.nonzero(self.known)[0].astype(np.int64)


def correlations(scored: Scored, *, draws: int = 1000, seed: int = 0) -> dict[str, dict[str, Estimate]]:
    """Each measure at the level of segments and of systems, with intervals over units.

    >>> metric, human = np.array([[1.0, 2.0], [2.0, 3.0]]), np.array([[10.0, 20.0], [20.0, 30.0]])
    >>> round(correlations(Scored(metric, human))["segment"]["pearson"].value, 6)
    1.0
    """
    units = len(scored.metric)
    weights = drawn_weights(units, draws, seed) if units >= FEWEST_ITEMS else np.zeros((0, units))
    every = np.ones((1, units))
    levels = {"segment": _segment_measures(scored), "system": _system_measures(scored)}
    return {
        level: {
            name: _estimate(measure(every)[0], measure(weights), MANY if _is_too_many(level, name, units) else CONSTANT)
            for name, measure in measures
        }
        for level, measures in levels.items()
    }


def _is_too_many(level: str, name: str, units: int) -> bool:
    return (level, name) == ("segment", "kendall") and units > MOST_PAIRED_UNITS


def _estimate(value: float, draws: Reals, reason: str) -> Estimate:
    if np.isnan(value):
        return undefined_estimate(reason)
    if not len(draws):
        return Estimate(float(value), FEW)
    return estimate_with_interval(Estimate(float(value)), draws)


def drawn_weights(units: int, draws: int, seed: int) -> Reals:
    """How often each unit comes in each draw with replacement; the same for every measure."""
    source, found = source_of(seed, "units"), np.zeros((draws, units))
    for row in found:
        words = source.random_raw(units) >> np.uint64(32)  # by our own map (S-6)
        row += np.bincount(((words * np.uint64(units)) >> np.uint64(32)).astype(np.int64), minlength=units)
    return found


Measure = Callable[[Reals], Reals]


def _segment_measures(scored: Scored) -> Iterator[tuple[str, Measure]]:
    first, second = scored.sides
    yield "pearson", partial(_in_blocks, lambda weights: _pearson(first, second, weights), scored.unit)
    yield "spearman", partial(_in_blocks, lambda weights: _spearman(first, second, weights), scored.unit)
    yield "kendall", _kendall_of(scored)
    right, pairs = _accuracy_counts(scored.metric, scored.human)
    yield "accuracy", lambda weights: ratio(weights @ right, weights @ pairs)


def _in_blocks(measure: Measure, unit: NDArray[np.int64], weights: Reals) -> Reals:
    """The measure for every draw, a few at a time: each has a weight for every output of a system."""
    step = max(1, BLOCK // max(1, len(unit)))
    found = [measure(weights[at : at + step][:, unit]) for at in range(0, len(weights), step)]
    return np.concatenate(found) if found else np.zeros(0)


def _pearson(first: Reals, second: Reals, weights: Reals) -> Reals:
    """The weighted correlation, from values around their mean; nan where one side does not vary."""
    return _correlation(np.broadcast_to(first, weights.shape), np.broadcast_to(second, weights.shape), weights)


def _correlation(first: Reals, second: Reals, weights: Reals) -> Reals:
    total = weights.sum(axis=-1, keepdims=True)
    apart = [side - ratio((weights * side).sum(axis=-1, keepdims=True), total) for side in (first, second)]
    both = (weights * apart[0] * apart[1]).sum(axis=-1)
    squares = [(weights * one**2).sum(axis=-1) for one in apart]
    scale = [np.abs(weights * side**2).sum(axis=-1) for side in (first, second)]
    flat = (squares[0] <= 1e-24 * scale[0]) | (squares[1] <= 1e-24 * scale[1])
    return np.where(flat, np.nan, np.clip(ratio(both, np.sqrt(squares[0] * squares[1])), -1, 1))


def _spearman(first: Reals, second: Reals, weights: Reals) -> Reals:
    """The correlation of ranks; equal values share the middle of theirs."""
    return _correlation(_ranks(first, weights), _ranks(second, weights), weights)


def _ranks(values: Reals, weights: Reals) -> Reals:
    """The rank of each value among those that come in a draw, each as often as it weighs."""
    distinct, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    size = np.add.reduceat(weights[:, order], starts, axis=1) if len(distinct) else weights[:, :0]
    return (np.cumsum(size, axis=1) - size / 2)[:, place]


def _kendall_of(scored: Scored) -> Measure:
    """Kendall's tau-b of any draw: sums over pairs of outputs, gathered by the units that these belong to."""
    units = len(scored.metric)
    if units > MOST_PAIRED_UNITS:
        return lambda weights: np.full(len(weights), np.nan)
    alike, one, other = (np.zeros((units, units)) for _ in range(3))
    first, second = scored.sides
    bounds = np.searchsorted(scored.unit, np.arange(units + 1))
    full = np.flatnonzero(np.diff(bounds))
    for unit in full:
        inside = slice(bounds[unit], bounds[unit + 1])
        signs = [np.sign(side[inside, None] - side[None, :]) for side in (first, second)]
        for table, found in ((alike, signs[0] * signs[1]), (one, np.abs(signs[0])), (other, np.abs(signs[1]))):
            table[unit, full] = np.add.reduceat(found.sum(axis=0), bounds[full])
    return partial(_tau, (alike, one, other))


def _tau(tables: tuple[Reals, Reals, Reals], weights: Reals) -> Reals:
    both, one, other = (((weights @ table) * weights).sum(axis=1) for table in tables)
    return ratio(both, np.sqrt(one * other))


def _accuracy_counts(metric: Reals, human: Reals) -> tuple[Reals, Reals]:
    """For each row: in how many pairs of its columns the two order alike, of those that the second tells apart."""
    right, pairs = np.zeros(len(metric)), np.zeros(len(metric))
    for at in range(metric.shape[1] - 1):
        signs = [np.sign(side[:, at, None] - side[:, at + 1 :]) for side in (metric, human)]
        told = np.isfinite(signs[0]) & np.isfinite(signs[1]) & (signs[1] != 0)
        pairs += told.sum(axis=1)
        right += (told & (signs[0] == signs[1])).sum(axis=1)
    return right, pairs


def _system_measures(scored: Scored) -> Iterator[tuple[str, Measure]]:
    means = partial(_system_means, scored)
    yield "pearson", lambda weights: _correlation(*means(weights), np.ones((len(weights), scored.metric.shape[1])))
    yield "spearman", lambda weights: _system_spearman(*means(weights))
    yield "kendall", lambda weights: _system_kendall(*means(weights))
    yield "accuracy", lambda weights: ratio(*_accuracy_counts(*means(weights)))


def _system_means(scored: Scored, weights: Reals) -> tuple[Reals, Reals]:
    """The mean of each system in each draw, over the units where both sides are known."""
    known = scored.known.astype(np.float64)
    total = weights @ known
    sums = [weights @ np.where(scored.known, side, 0.0) for side in (scored.metric, scored.human)]
    return ratio(sums[0], total), ratio(sums[1], total)


def _system_spearman(first: Reals, second: Reals) -> Reals:
    ones = np.ones_like(first)
    return _correlation(_row_ranks(first), _row_ranks(second), ones)


def _row_ranks(values: Reals) -> Reals:
    below = (values[:, :, None] > values[:, None, :]).sum(axis=2)
    same = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    return np.where(np.isnan(values), np.nan, below + same / 2)


def _system_kendall(first: Reals, second: Reals) -> Reals:
    signs = [np.sign(side[:, :, None] - side[:, None, :]) for side in (first, second)]
    both = (signs[0] * signs[1]).sum(axis=(1, 2))
    return ratio(both, np.sqrt(np.abs(signs[0]).sum(axis=(1, 2)) * np.abs(signs[1]).sum(axis=(1, 2))))
