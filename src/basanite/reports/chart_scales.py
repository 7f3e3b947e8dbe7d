"""Scales of still charts: where a value stands along an axis, and which ticks the axis has.

They read the channels that `charts` writes: numbers on a straight or logarithmic axis, or names with bands of their
own, in which several series may stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, TypeAlias

from basanite.reports.chart_parts import DEVIATE_TICKS, deviate
from basanite.reports.wording import percent

Spec: TypeAlias = dict[str, Any]
Encoded: TypeAlias = Sequence[tuple[str, Spec, Sequence[Spec]]]
"""The mark, the encoding and the rows of each layer."""

DEVIATES: Final = {deviate(share): percent(share) for share in DEVIATE_TICKS}
LABEL_GAP: Final = 6
LETTER: Final = 6.4
"""The width of a letter of a tick's label."""
FILLED: Final = 0.72
"""The part of a band that a bar alone fills; several share a little more."""
SHARED: Final = 0.8


@dataclass(frozen=True)
class Scale:
    """One axis: its channel, its length in pixels, and its two ends or its names."""

    channel: Spec
    length: float
    upward: bool
    ends: tuple[float, float] = (0.0, 1.0)
    names: Sequence[str] = ()
    series: Sequence[str] = ()
    is_full: bool = False
    """Whether cells fill their bands."""
    places: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_category(self) -> bool:
        """Whether names stand on it."""
        return bool(self.channel["type"] == "nominal")

    @property
    def title(self) -> str:
        """What is written beside it."""
        return str(self._axis.get("title") or "")

    @property
    def angle(self) -> float:
        """By how many degrees its labels are turned."""
        return float(self._axis.get("labelAngle", 0))

    @property
    def label_limit(self) -> float:
        """How long a label may be."""
        return float(self._axis.get("labelLimit", 200))

    @property
    def has_grid(self) -> bool:
        """Whether its ticks have lines across the plane."""
        return bool(self._axis.get("grid", True))

    @property
    def has_line(self) -> bool:
        """Whether it has a line of its own."""
        return bool(self._axis.get("domain", True))

    @property
    def grid_ink(self) -> Spec | None:
        """The colour of its lines, where that depends on the tick."""
        found: Spec | None = self._axis.get("gridColor")
        return found

    @property
    def _axis(self) -> Spec:
        return self.channel.get("axis") or {}

    def at(self, value: Any) -> float:
        """Where a value stands, in pixels from the left or from the top."""
        if self.is_category:
            return self.centre(value, None)
        low, high = self.ends
        given = float(value)
        if self._is_log:
            low, high, given = math.log(low), math.log(high), math.log(given)
        share = (given - low) / (high - low or 1.0)
        return self.length * (1 - share if self.upward else share)

    @property
    def _is_log(self) -> bool:
        return bool(self.channel.get("scale", {}).get("type") == "log")

    def band(self, name: Any, series: str | None) -> tuple[float, float]:
        """Where the band of a name begins, or that of a series within it, and how thick it is."""
        step = self.length / max(1, len(self.names))
        start = step * self.places.get(str(name), 0)
        if self.is_full:
            return start, step
        if series is None or not self.series:
            return start + (1 - FILLED) / 2 * step, FILLED * step
        each = SHARED * step / len(self.series)
        return start + (1 - SHARED) / 2 * step + each * (self.series.index(series) + 0.1), 0.8 * each

    def centre(self, name: Any, series: str | None) -> float:
        """The middle of a band."""
        start, thick = self.band(name, series)
        return start + thick / 2

    def ticks(self) -> list[tuple[Any, str]]:
        """The values at which the axis has labels, with their words."""
        if self.is_category:
            return [(name, name) for name in self.names]
        if "labelExpr" in self._axis:
            return [(value, DEVIATES[value]) for value in self._axis["values"]]
        found: list[float] = self._axis["values"] if "values" in self._axis else self._round_values()
        return [(value, self._words(value, found)) for value in found]

    def labels(self, size: float) -> list[tuple[Any, str]]:
        """The ticks whose labels fit beside each other, from the first on."""
        kept: list[tuple[Any, str]] = []
        if self.is_category or not self.ticks():
            return self.ticks()
        last = -math.inf
        for value, words in sorted(self.ticks(), key=lambda tick: self.at(tick[0])):
            half = LETTER * len(words) * size / 23
            if self.at(value) - half >= last + LABEL_GAP:
                kept.append((value, words))
                last = self.at(value) + half
        return kept

    def _round_values(self) -> list[float]:
        low, high = self.ends
        if self._is_log:
            powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
            return [10.0**power for power in powers] if len(powers) > 1 else [low, high]
        return round_values(low, high, self._axis.get("tickCount", 6))

    def _words(self, value: float, beside: Sequence[float]) -> str:
        """The label of a tick, with as many decimals as its neighbours need."""
        if self._axis.get("format") == "~%":
            return f"{100 * value:.6g}%".replace("-", "−")
        if self._is_log:
            return f"{value:,.6g}"
        step = min((abs(b - a) for a, b in pairwise(beside)), default=abs(value) or 1.0)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step else 0
        shown = f"{value:,.{decimals + (round(step * 10**decimals, 6) % 1 > 0)}f}"
        return shown.replace("-", "−")


def round_values(low: float, high: float, count: int) -> list[float]:
    """About so many round numbers between two ends.

    >>> round_values(0.0, 1.0, 6)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low or 1.0) / max(1, count)
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next((size for size, most in ((1, 1.42), (2, 3.17), (5, 7.08)) if rough / power < most), 10)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{at * step:.9g}") for at in range(first, last + 1)]


def horizontal_scale(encoded: Encoded, length: float) -> Scale:
    """The x axis of a plane."""
    return _scale(encoded, "x", length)


def vertical_scale(encoded: Encoded, length: float) -> Scale:
    """The y axis of a plane; numbers grow upwards."""
    return _scale(encoded, "y", length)


def _scale(encoded: Encoded, key: str, length: float) -> Scale:
    channel = next(encoding[key] for _, encoding, _ in encoded if key in encoding)
    if channel["type"] == "nominal":
        names = [str(name) for name in channel["scale"]["domain"]]
        offset = next((encoding[f"{key}Offset"] for _, encoding, _ in encoded if f"{key}Offset" in encoding), None)
        series = tuple(offset["scale"]["domain"]) if offset else ()
        full = any(mark == "rect" for mark, _, _ in encoded)
        places = {name: at for at, name in enumerate(names)}
        return Scale(channel, length, False, names=names, series=series, is_full=full, places=places)
    return Scale(channel, length, key == "y", ends=_ends(channel, encoded, key))


def _ends(channel: Spec, encoded: Encoded, key: str) -> tuple[float, float]:
    scale = channel.get("scale", {})
    if "domain" in scale:
        low, high = scale["domain"]
        return float(low), float(high)
    if "domainMin" in scale:
        return float(scale["domainMin"]), float(scale["domainMax"])
    channels = [encoding[name] for _, encoding, _ in encoded for name in (key, f"{key}2") if name in encoding]
    fields = {one.get("field", key) for one in channels}
    found = [row.get(name) for _, _, rows in encoded for row in rows for name in fields]
    values = [value for value in found if isinstance(value, float)]
    low, high = min([0.0, *values]), max([0.0, *values])
    step = round_values(low, high if high > low else low + 1, 10)
    width = step[1] - step[0] if len(step) > 1 else 1.0
    return math.floor(low / width + 1e-9) * width, math.ceil((high if high > low else low + 1) / width - 1e-9) * width
