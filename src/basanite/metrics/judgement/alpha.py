"""Krippendorff's alpha for nominal, ordinal, interval and ratio data with missing values, from counts of values.

Nothing here pairs judges. Each item gives counts of the values it got, and these a small table of coincidences; where
there are many different values, squared differences come from sums, and ordinal data are interval data on mean ranks.

K. Krippendorff, Content Analysis (2004), chapter 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import source_of
from basanite.metrics.judgement.estimate import (
    FEWEST_ITEMS,
    Estimate,
    Reals,
    estimate_with_interval,
    table_of,
    undefined_estimate,
    with_interval,
)

Level = Literal["nominal", "ordinal", "interval", "ratio"]
FEW_VALUES = 32
"""Up to so many different values everything comes from tables of coincidences, all draws of an interval at once."""
SMALL_RANGE = 4096
BLOCK = 1 << 16
NO_PAIRS = "no item has two ratings"
UNANIMOUS = "all ratings are the same, so there is nothing to agree about"
NEGATIVE = "ratio data must not be negative"


@dataclass(frozen=True)
class Counted:
    """Ratings of items that have two or more: the different values, and how often each item got each of them."""

    values: Reals
    counts: Reals

    @property
    def sizes(self) -> Reals:
        """How many ratings each item has."""
        return np.asarray(self.counts.sum(axis=1))


@dataclass(frozen=True)
class Listed:
    """The same as a list: one value and one item number for each rating."""

    values: Reals
    place: NDArray[np.int64]
    item: NDArray[np.int64]
    items: int


def alpha(ratings: ArrayLike, level: Level = "nominal") -> Estimate:
    """Alpha of a table of items x judges, nan where a rating is missing.

    >>> round(alpha([[1, 1], [2, 2], [3, 2], [np.nan, 1]], "interval").value, 4)
    0.7059
    """
    table = table_of(ratings)
    counted = stars_counted(table)
    if counted is None:
        listed = listed_of(table)
        if len(listed.values) > FEW_VALUES:
            return alpha_listed(listed, level)
        counted = counted_of(listed)
    reason = _why_undefined(counted.values, level)
    return (
        undefined_estimate(reason)
        if reason
        else Estimate(float(alpha_of(coincidences(counted), counted.values, level)))
    )


def _why_undefined(values: Reals, level: Level) -> str:
    if len(values) < 2:
        return UNANIMOUS if len(values) else NO_PAIRS
    return NEGATIVE if level == "ratio" and values[0] < 0 else ""


def alpha_listed(listed: Listed, level: Level = "nominal") -> Estimate:
    """Alpha of ratings in a list, from sums: it needs no table, however many values or judges there are.

    >>> round(alpha_listed(listed_ratings([1, 2, 3, 3, 1, 1], [0, 0, 1, 1, 2, 2]), "interval").value, 4)
    0.8276
    """
    reason = _why_undefined(listed.values, level)
    if reason:
        return undefined_estimate(reason)
    apart, expected = _disagreement(listed, level)
    return Estimate(float(1 - apart / expected))


def alpha_with_interval(
    ratings: ArrayLike, level: Level = "nominal", *, draws: int = 1000, seed: int = 0, share: float = 0.95
) -> Estimate:
    """Alpha with an interval by resampling items; with few different values all draws are taken at once."""
    found, table = alpha(ratings, level), table_of(ratings)
    counted = counts_of(table)
    if not found.is_defined or len(counted.values) > FEW_VALUES:
        return with_interval(table, lambda rows: alpha(rows, level), draws=draws, seed=seed, level=share)
    if len(counted.counts) < FEWEST_ITEMS:
        return found
    return estimate_with_interval(found, _drawn_alphas(counted, level, draws=draws, seed=seed), level=share)


def percent_listed(listed: Listed) -> Estimate:
    """The share of equal pairs of ratings of one item, each item weighing by its number of ratings.

    >>> percent_listed(listed_ratings([1, 1, 1, 2], [0, 0, 1, 1])).value
    0.5
    """
    if not len(listed.place):
        return undefined_estimate(NO_PAIRS)
    apart, _ = _nominal(listed, np.bincount(listed.place).astype(np.float64))
    return Estimate(1 - apart / len(listed.place))


def listed_ratings(values: ArrayLike, item: ArrayLike) -> Listed:
    """Ratings given as a list with the item of each, of items that have at least two."""
    given, place = np.asarray(values, np.float64), np.unique(np.asarray(item), return_inverse=True)[1]
    size = np.bincount(place)
    paired = np.flatnonzero(size[place] > 1) if len(place) else place
    order = paired[np.argsort(place[paired], kind="stable")]
    different, where = distinct(given[order])
    return Listed(different, where, place[order].astype(np.int64), len(size))


def listed_of(ratings: ArrayLike) -> Listed:
    """The ratings of all items that have at least two."""
    table = table_of(ratings)
    known = ~np.isnan(table)
    known &= (known.sum(axis=1) > 1)[:, None]
    item = np.repeat(np.arange(len(table)), known.sum(axis=1))
    values, place = distinct(table[known])
    return Listed(values, place, item, len(table))


def distinct(values: Reals) -> tuple[Reals, NDArray[np.int64]]:
    """The different values in rising order and the place of each among them; stars need no sorting.

    >>> distinct(np.array([3.0, 1.0, 3.0]))[1].tolist()
    [1, 0, 1]
    """
    whole = len(values) > 0 and values.max() - values.min() < SMALL_RANGE and bool((values == np.rint(values)).all())
    if not whole:
        found, place = np.unique(values, return_inverse=True)
        return found, place.astype(np.int64)
    shifted = (values - values.min()).astype(np.int64)
    seen = np.flatnonzero(np.bincount(shifted))
    where = np.zeros(int(seen[-1]) + 1, np.int64)
    where[seen] = np.arange(len(seen))
    return seen + values.min(), where[shifted]


def counts_of(ratings: ArrayLike) -> Counted:
    """How often each value was given to each item, of items with two ratings or more."""
    table = table_of(ratings)
    return stars_counted(table) or counted_of(listed_of(table))


def stars_counted(table: Reals) -> Counted | None:
    """The same for tables of a few small whole numbers, without listing them; None for any other table."""
    with np.errstate(invalid="ignore"):
        whole = table.astype(np.int8)
    known = whole == table
    if np.count_nonzero(known) + np.count_nonzero(np.isnan(table)) < table.size:
        return None
    whole *= known  # what is missing is no value now, and 0 counts only where it is known
    values = np.arange(int(whole.min(initial=0)), int(whole.max(initial=0)) + 1)
    if len(values) > FEW_VALUES:
        return None
    by_judge, said = np.ascontiguousarray(whole.T), np.ascontiguousarray(known.T)
    found = [_times(by_judge == value if value else (by_judge == 0) & said) for value in values]
    counts = np.stack(found, axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) > 1]
    given = counts.any(axis=0)
    return Counted(values[given].astype(np.float64), counts[:, given])


def _times(given: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """How many judges, judges x items, said so of each item."""
    return np.asarray(given.sum(axis=0, dtype=np.uint32))


def counted_of(listed: Listed) -> Counted:
    """How often each item of a list got each value."""
    width = len(listed.values)
    flat = np.bincount(listed.item * width + listed.place, minlength=listed.items * width)
    table = flat.reshape(listed.items, width).astype(np.float64)
    return Counted(listed.values, table[table.sum(axis=1) > 0])


def coincidences(counted: Counted) -> Reals:
    """The table of coincidences, values x values: pairs within items, each item weighing by its number of ratings.

    >>> coincidences(counts_of([[0, 0], [0, 1]])).tolist()
    [[2.0, 1.0], [1.0, 0.0]]
    """
    weight = 1 / (counted.sizes - 1)
    return np.asarray((counted.counts.T * weight) @ counted.counts - np.diag(weight @ counted.counts))


def alpha_of(table: Reals, values: Reals, level: Level) -> Reals:
    """Alpha from tables of coincidences `[..., values, values]`; nan where all ratings are the same."""
    marginal = table.sum(axis=-1)
    total = marginal.sum(axis=-1)
    distance = _distances(marginal, values, level)
    apart = (table * distance).sum(axis=(-1, -2))
    expected = np.einsum("...i,...ij,...j->...", marginal, distance, marginal) / (total - 1)
    return np.asarray(1 - np.divide(apart, expected, out=np.full(np.shape(total), np.nan), where=expected > 0))


def _distances(marginal: Reals, values: Reals, level: Level) -> Reals:
    """The squared difference of every two values, which for ordinal data depends on how often each was given."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "ratio":
        return _ratio_distance(values[:, None], values)
    scale = mean_ranks(marginal) if level == "ordinal" else np.broadcast_to(values, marginal.shape)
    return np.asarray((scale[..., :, None] - scale[..., None, :]) ** 2)


def mean_ranks(marginal: Reals) -> Reals:
    """The mean rank of each value among all ratings: ordinal distance is the difference of these.

    >>> mean_ranks(np.array([2.0, 4.0])).tolist()
    [1.0, 4.0]
    """
    return np.asarray(np.cumsum(marginal, axis=-1) - marginal / 2)


def _ratio_distance(one: Reals, other: Reals) -> Reals:
    total = one + other
    return np.divide(one - other, total, out=np.zeros(np.broadcast(one, other).shape), where=total > 0) ** 2


def _disagreement(listed: Listed, level: Level) -> tuple[float, float]:
    """Observed and expected sums of squared differences, from sums over each item and over all ratings."""
    often = np.bincount(listed.place).astype(np.float64)
    if level == "nominal":
        return _nominal(listed, often)
    if level == "ratio":
        return _ratio(listed, often)
    scale = mean_ranks(often) if level == "ordinal" else listed.values
    centred = scale - (often @ scale) / often.sum()
    size, given = _sizes(listed), centred[listed.place]
    first = np.bincount(listed.item, given, listed.items)
    second = np.bincount(listed.item, given**2, listed.items)
    apart = 2 * np.sum((size * second - first**2) / np.maximum(size - 1, 1))
    total = often.sum()
    return float(apart), float(2 * total * (often @ centred**2) / (total - 1))


def _sizes(listed: Listed) -> Reals:
    return np.bincount(listed.item, minlength=listed.items).astype(np.float64)


def _nominal(listed: Listed, often: Reals) -> tuple[float, float]:
    size, total = _sizes(listed), often.sum()
    cell, found = np.unique(listed.item * len(often) + listed.place, return_counts=True)
    alike = found * (found - 1.0) / np.maximum(size[cell // len(often)] - 1, 1)
    return float(total - alike.sum()), float((total**2 - (often**2).sum()) / (total - 1))


def _ratio(listed: Listed, often: Reals) -> tuple[float, float]:
    """Ratios do not come from sums: all pairs of values, and of an item's ratings, a block at a time."""
    expected, apart, total = 0.0, 0.0, often.sum()
    step = max(1, BLOCK // len(often))
    for start in range(0, len(often), step):
        part = slice(start, start + step)
        expected += float(often[part] @ _ratio_distance(listed.values[part, None], listed.values) @ often)
    size, ends = _sizes(listed), np.searchsorted(listed.item, np.arange(listed.items + 1))
    for item in np.flatnonzero(size > 1):
        given = listed.values[listed.place[ends[item] : ends[item + 1]]]
        apart += _ratio_distance(given[:, None], given).sum() / (size[item] - 1)
    return float(apart), float(expected / (total - 1))


def _drawn_alphas(counted: Counted, level: Level, *, draws: int, seed: int) -> Reals:
    """Alpha in every draw of items: weighted sums of each item's own table of coincidences."""
    items, width = counted.counts.shape
    weight = 1 / (counted.sizes - 1)
    pairs = counted.counts[:, :, None] * (counted.counts[:, None, :] - np.eye(counted.counts.shape[1]))
    own = pairs * weight[:, None, None]
    flat, source, found = own.reshape(items, -1), source_of(seed, "items"), []
    step = max(1, (1 << 18) // items)
    for start in range(0, draws, step):
        count = min(step, draws - start)
        words = source.random_raw(count * items).reshape(count, items) >> np.uint64(32)
        chosen = ((words * np.uint64(items)) >> np.uint64(32)).astype(np.int64) + np.arange(count)[:, None] * items
        times = np.bincount(chosen.ravel(), minlength=count * items).reshape(count, items)
        found.append(alpha_of((times @ flat).reshape(count, width, width), counted.values, level))
    return np.concatenate(found)
