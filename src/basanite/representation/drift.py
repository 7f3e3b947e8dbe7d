"""The band in which a batch's measures lie while nothing has changed, made at the batch's own size and mix (S-22).

Batches of the same size and class mix are drawn from the reference without replacement (copies would look like similar
rows). Such draws scatter less than a new batch would, because they share the reference's rows; the band is widened for
that. One factor serves all measures, so that the stated false-alarm rate is that of a whole batch, not of one measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from basanite.analysis.interval_methods import tails_of
from basanite.errors import FeaturesError
from basanite.kernel import source_of, within
from basanite.representation.catalogue import measure_metric
from basanite.representation.data import Data, in_batches
from basanite.representation.measures.all_measures import Options, measure
from basanite.representation.measures.resamples import drawn_rows
from basanite.representation.measures.results import Classes, Floats, Numbers

LARGEST_SHARE: Final = 0.5
"""At most this share of a class's rows is in one draw."""


@dataclass(frozen=True)
class Sampling:
    """Which measures are taken of how many drawn batches, and who works on them."""

    names: Sequence[str]
    options: Options
    draws: int
    seed: int
    executor: Executor | None = None


@dataclass(frozen=True)
class Drawing:
    """How batches are drawn from a set: how many rows of which class, and by how much draws scatter too little."""

    places: Numbers
    counts: Numbers
    widened: float
    """What deviations are multiplied by, because draws share the rows of one reference."""
    short: bool
    """Whether the reference has too few rows to draw batches of the full size."""

    @property
    def size(self) -> int:
        """How many rows a draw has."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Band:
    """Where a measure lies while nothing has changed."""

    low: float
    high: float
    centre: float
    outside: float
    """The share of drawn batches that leave this measure's band: its own false-alarm rate."""


@dataclass(frozen=True)
class Bands:
    """The bands of all measures for one size and mix."""

    bands: Mapping[str, Band]
    drawing: Drawing
    false_alarms: float
    """The share of unchanged batches for which some measure leaves its band: fixed beforehand."""
    draws: int


def drawing_of(reference: Data, batch: Classes) -> Drawing:
    """Batches like this one: its size, and its mix of the classes that the reference knows."""
    known = {name: place for place, name in enumerate(reference.classes.names)}
    counts = {known[name]: int(count) for name, count in zip(batch.names, batch.counts, strict=True) if name in known}
    if len(counts) < 2:  # one class alone cannot be measured: take the reference's own mix
        counts = {}
    places = np.array(sorted(counts) or range(len(known)), dtype=np.int64)
    mix = np.array([counts[int(place)] for place in places]) if counts else reference.classes.counts[places]
    size = int(batch.counts.sum())
    wanted = _apportion(mix / mix.sum(), size)
    have = reference.classes.counts[places]
    taken = np.minimum(wanted, np.maximum(np.floor(have * LARGEST_SHARE), 1)).astype(np.int64)
    kept, drawn = taken > 0, int(taken.sum())
    # A new batch differs from the reference by 1/n + 1/N of a row's variance; a draw of m rows shows 1/m - 1/N.
    widened = np.sqrt((1 / size + 1 / int(have.sum())) / max(1 / drawn - 1 / int(have.sum()), 1e-12))
    return Drawing(places[kept], taken[kept], float(widened), bool((taken < wanted).any()))


def _apportion(shares: Floats, size: int) -> Numbers:
    """Whole numbers in these shares that sum to the size (largest remainders).

    >>> _apportion(np.array([0.5, 0.3, 0.2]), 9).tolist()
    [4, 3, 2]
    """
    exact = shares * size
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: size - int(whole.sum())]] += 1
    return whole


def drawn_batch(reference: Data, drawing: Drawing, source: np.random.PCG64) -> Numbers:
    """The rows of one drawn batch."""
    parts = [
        reference.classes.members(int(place))[drawn_rows(int(reference.classes.counts[place]), int(count), source)]
        for place, count in zip(drawing.places, drawing.counts, strict=True)
    ]
    return np.concatenate(parts)


def bands_of(reference: Data, drawing: Drawing, sampling: Sampling, *, false_alarms: float) -> Bands:
    """The bands of all measures: the middle of drawn batches, and as many deviations as the false-alarm rate asks."""
    names, options = sampling.names, sampling.options
    source = source_of(sampling.seed, "monitor", str(drawing.size))
    batches = (drawn_batch(reference, drawing, source) for _ in range(sampling.draws))
    work = partial(_batch_values, reference, names, options)
    found = np.array(in_batches(work, batches, sampling.executor)).reshape(sampling.draws, len(names))
    centre, spread = _of_finite(np.median, found), _of_finite(np.std, found)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.abs((found - centre) / spread)
    away = np.where(np.isfinite(away), away, 0.0)
    reach = float(np.quantile(away.max(axis=1), 1 - false_alarms))
    half = reach * spread * drawing.widened
    ends = {
        name: measure_metric(name, classes=len(reference.classes), definition=options.point_biserial).ends
        for name in names
    }
    made = {
        name: Band(
            within(float(centre[at] - half[at]), ends[name]),
            within(float(centre[at] + half[at]), ends[name]),
            float(centre[at]),
            float((away[:, at] > reach).mean()),
        )
        for at, name in enumerate(names)
    }
    return Bands(made, drawing, false_alarms, sampling.draws)


def _batch_values(reference: Data, names: Sequence[str], options: Options, rows: Numbers) -> list[float]:
    part = reference.subset(rows)
    found = measure(part.features, part.classes, names=names, source=part.source, options=options).values
    return [found[name].value for name in names]


def _of_finite(figure: Callable[[Floats], Any], found: Floats) -> Floats:
    """The figure of each column over what is finite; nan where nothing is."""
    columns = (column[np.isfinite(column)] for column in found.T)
    return np.array([figure(column) if column.size else np.nan for column in columns])


SHARES: Final = tuple(round(0.1 * step, 1) for step in range(11))
FINE: Final = 401
"""Shares that are tried when a curve is turned around."""
BEYOND: Final = "beyond the curve: no share of new rows explains such a value"
UNKNOWN: Final = "the curve hardly moves, so it gives no estimate of the share"
BENT: Final = "the curve is not monotone, so several shares may give one value"
"""Said where a curve lies a tenth of its range or more away from the nearest monotone one."""


@dataclass(frozen=True)
class MixCurve:
    """A measure against the share of new rows: mean and central range of drawn batches at every share."""

    shares: Floats
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Share:
    """The estimated share of new rows, with its interval."""

    value: float
    low: float
    high: float
    flags: tuple[str, ...] = ()


def mix_curves(
    reference: Data, target: Data, drawing: Drawing, sampling: Sampling, *, level: float
) -> dict[str, MixCurve]:
    """The curve of every measure for batches of this size and mix."""
    if target.dimensions != reference.dimensions:
        raise FeaturesError(
            f"{target.name} has {target.dimensions} features a row, the reference {reference.dimensions}."
        )
    here = Sampling(sampling.names, sampling.options, sampling.draws, sampling.seed)  # workers take no executor along
    work = partial(_level, reference, target, drawing, here)
    found = np.array(list(map(work, SHARES) if sampling.executor is None else sampling.executor.map(work, SHARES)))
    shares = np.array(SHARES)
    return {name: _curve(shares, found[:, :, at], drawing, level) for at, name in enumerate(sampling.names)}


def _level(reference: Data, target: Data, drawing: Drawing, sampling: Sampling, share: float) -> list[list[float]]:
    """The measures of all drawn batches of which this share is new."""
    dice = source_of(sampling.seed, "monitor mix", str(drawing.size), str(share))
    return [_mixture_values(reference, target, drawing, sampling, share, dice) for _ in range(sampling.draws)]


def _mixture_values(
    reference: Data, target: Data, drawing: Drawing, sampling: Sampling, share: float, dice: np.random.PCG64
) -> list[float]:
    """The measures of one batch of which this share is new."""
    new = min(round(share * drawing.size), target.rows)
    old_rows = drawn_batch(reference, drawing, dice)
    old_rows = old_rows[drawn_rows(len(old_rows), drawing.size - new, dice)]
    new_rows = drawn_rows(target.rows, new, dice)
    features = np.concatenate([np.asarray(reference.features[old_rows]), np.asarray(target.features[new_rows])])
    parts = ((reference, old_rows), (target, new_rows))  # a class of the same name is the same class
    classes = Classes.of([str(data.classes.names[code]) for data, rows in parts for code in data.classes.codes[rows]])
    if len(classes) < 2:
        return [float("nan")] * len(sampling.names)
    found = measure(features, classes, names=sampling.names, options=sampling.options).values
    return [found[name].value for name in sampling.names]


def _curve(shares: Floats, found: Floats, drawing: Drawing, level: float) -> MixCurve:
    """Mean and central range at every share; the range is widened as bands are."""
    means, lows, highs = [], [], []
    for values in found:
        defined = values[np.isfinite(values)]
        mean = float(defined.mean()) if defined.size else float("nan")
        low, high = np.quantile(defined, tails_of(level)) if defined.size else (np.nan, np.nan)
        means.append(mean)
        lows.append(mean + (float(low) - mean) * drawing.widened)
        highs.append(mean + (float(high) - mean) * drawing.widened)
    return MixCurve(shares, np.array(means), np.array(lows), np.array(highs))


def share_of(value: float, curve: MixCurve) -> Share:
    """The share of new rows that gives this value, and all shares that might.

    >>> straight = np.array([1.0, 0.5, 0.0])
    >>> share_of(0.75, MixCurve(np.array([0.0, 0.5, 1.0]), straight, straight - 0.1, straight + 0.1)).value
    0.25
    """
    fine = np.linspace(0, 1, FINE)
    mean, low, high = (np.interp(fine, curve.shares, line) for line in (monotone(curve.mean), curve.low, curve.high))
    if not np.isfinite(value) or not np.isfinite(mean).all():
        return Share(float("nan"), float("nan"), float("nan"), ("undefined",))
    nearest = float(np.round(fine[np.abs(mean - value) <= np.abs(mean - value).min() + 1e-12].mean(), 6))
    possible = fine[(low <= value) & (value <= high)]
    if not possible.size:
        return Share(nearest, 0.0 if nearest < 0.5 else nearest, 1.0 if nearest > 0.5 else nearest, (BEYOND,))
    bent = np.abs(curve.mean - monotone(curve.mean)).max() >= 0.1 * np.ptp(curve.mean)
    flags = tuple(flag for flag, holds in ((UNKNOWN, np.ptp(possible) > 0.9), (BENT, bent)) if holds)
    return Share(nearest, min(float(possible.min()), nearest), max(float(possible.max()), nearest), flags)


def monotone(line: Floats) -> Floats:
    """The nearest curve that only falls, or only rises, as its ends say (pool adjacent violators).

    >>> monotone(np.array([3.0, 1.0, 2.0, 0.0])).tolist()
    [3.0, 1.5, 1.5, 0.0]
    """
    sign = 1.0 if line[-1] >= line[0] else -1.0
    blocks: list[list[float]] = []
    for value in sign * line:
        blocks.append([float(value), 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (first, n), (second, m) = blocks[-2], blocks[-1]
            blocks[-2:] = [[(first * n + second * m) / (n + m), n + m]]
    return sign * np.concatenate([np.full(int(count), mean) for mean, count in blocks])


def shares_of(values: Mapping[str, float], curves: Mapping[str, MixCurve]) -> dict[str, Share]:
    """The share of new data that each measure estimates."""
    return {name: share_of(values[name], curve) for name, curve in curves.items()}
