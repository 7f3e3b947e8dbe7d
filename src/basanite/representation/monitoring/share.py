"""How much of a batch is new: the shift curve at the batch's own size, turned around (F-17).

For each share of new rows, batches are mixed from reference and target and measured. The share whose mean is the
batch's value is the estimate; all shares under which that value is not unusual are the interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from basanite.analysis.interval_methods import tails_of
from basanite.errors import FeaturesError
from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.dice import drawn_rows, source_of
from basanite.metrics.representation.everything import Options, measure
from basanite.metrics.representation.results import Floats
from basanite.representation.data import Data
from basanite.representation.monitoring.band import Drawing, drawn_batch

SHARES: Final = tuple(round(0.1 * step, 1) for step in range(11))
FINE: Final = 401
"""Shares that are tried when a curve is turned around."""
BEYOND: Final = "beyond the curve: no share of new rows gives such a value"
UNKNOWN: Final = "the curve hardly moves, so it tells no share"
BENT: Final = "the curve is not monotone, so several shares may give one value"


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
    reference: Data,
    target: Data,
    drawing: Drawing,
    names: Sequence[str],
    options: Options,
    *,
    draws: int,
    seed: int,
    level: float,
    executor: Executor | None = None,
) -> dict[str, MixCurve]:
    """The curve of every measure for batches of this size and mix."""
    if target.dimensions != reference.dimensions:
        raise FeaturesError(
            f"{target.name} has {target.dimensions} features a row, the reference {reference.dimensions}."
        )
    work = partial(_level, reference, target, drawing, names, options, draws, seed)
    found = np.array(list(map(work, SHARES) if executor is None else executor.map(work, SHARES)))
    shares = np.array(SHARES)
    return {name: _curve(shares, found[:, :, at], drawing, level) for at, name in enumerate(names)}


def _level(
    reference: Data,
    target: Data,
    drawing: Drawing,
    names: Sequence[str],
    options: Options,
    draws: int,
    seed: int,
    share: float,
) -> list[list[float]]:
    dice = source_of(seed, "monitor mix", str(drawing.size), str(share))
    return [_mixed(reference, target, drawing, share, names, options, dice) for _ in range(draws)]


def _mixed(
    reference: Data,
    target: Data,
    drawing: Drawing,
    share: float,
    names: Sequence[str],
    options: Options,
    dice: np.random.PCG64,
) -> list[float]:
    """The measures of one batch of which this share is new."""
    new = min(round(share * drawing.size), target.rows)
    old_rows = drawn_batch(reference, drawing, dice)
    old_rows = old_rows[drawn_rows(len(old_rows), drawing.size - new, dice)]
    new_rows = drawn_rows(target.rows, new, dice)
    features = np.concatenate([np.asarray(reference.features[old_rows]), np.asarray(target.features[new_rows])])
    classes = joined_classes((reference, old_rows), (target, new_rows))
    if len(classes) < 2:
        return [float("nan")] * len(names)
    found = measure(features, classes, names=names, options=options).values
    return [found[name].value for name in names]


def joined_classes(*parts: tuple[Data, np.ndarray[tuple[int], np.dtype[np.int64]]]) -> Classes:
    """The classes of rows of several sets; a class of the same name is the same class."""
    labels = [str(data.classes.names[code]) for data, rows in parts for code in data.classes.codes[rows]]
    return Classes.of(labels)


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
    flags = tuple(flag for flag, holds in ((UNKNOWN, np.ptp(possible) > 0.9), (BENT, _bent(curve.mean))) if holds)
    return Share(nearest, min(float(possible.min()), nearest), max(float(possible.max()), nearest), flags)


def _bent(line: Floats) -> bool:
    """Whether a curve is far from the nearest monotone one: a tenth of its range or more."""
    return bool(np.abs(line - monotone(line)).max() >= 0.1 * np.ptp(line))


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
    """The share that each measure tells."""
    return {name: share_of(values[name], curve) for name, curve in curves.items()}
