"""The drawn range of a headline: where value and interval lie on an axis shared by all systems of a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from basanite.reports.model import Headline

TICKS = 5


@dataclass(frozen=True)
class Place:
    """One headline on the axis, in percent of its length; None where there is nothing to draw."""

    headline: Headline
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Strip:
    """An axis with ticks (place in percent, label) and the headlines on it."""

    ticks: tuple[tuple[float, str], ...]
    places: tuple[Place, ...]


def strip(headlines: Sequence[Headline]) -> Strip:
    """The headlines on one axis: 0 to 1 where that holds them all, else round numbers around them."""
    low, step, count = _axis(headlines)
    places = tuple(_place(line, low, step * count) for line in headlines)
    ticks = tuple((round(100 * index / count, 3), f"{low + index * step:.6g}") for index in range(count + 1))
    return Strip(ticks, places)


def _place(line: Headline, start: float, width: float) -> Place:
    at, low, high = (
        None if value is None or not math.isfinite(value) else round(100 * (value - start) / width, 3)
        for value in (line.value, line.low, line.high)
    )
    return Place(line, at, low, high)


def _axis(headlines: Sequence[Headline]) -> tuple[float, float, int]:
    """Start, step and number of steps of the axis."""
    values = list(_finite(headlines)) or [0.0, 1.0]
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return 0.0, 0.2, 5
    step = _round_step((high - low) * 1.3 or abs(high) or 1.0)
    start = math.floor(low / step) * step
    return start, step, max(1, math.ceil((high - start) / step))


def _finite(headlines: Sequence[Headline]) -> Iterator[float]:
    for line in headlines:
        yield from (v for v in (line.value, line.low, line.high) if v is not None and math.isfinite(v))


def _round_step(span: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that cuts the span into about five.

    >>> _round_step(1.3), _round_step(40)
    (0.5, 10.0)
    """
    rough = span / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(float(f"{size * power:.6g}") for size in (1, 2, 5, 10) if size * power >= rough)
