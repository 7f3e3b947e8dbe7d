"""Axes of charts: where they begin and end, what their ticks say, and the normal-deviate scale of DET plots."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Any

from basanite.figures import Axis, Cell
from basanite.reports.theme import Ink
from basanite.reports.wording import number, percent, shown

NEVER = 1e-5  # an error rate of 0 has no place on a normal-deviate axis; it is drawn at its edge
DEVIATE_TICKS = (0.0001, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995, 0.999, 0.9999)
TICKS = 6
FEW_TICKS = 3
Domain = tuple[float, float]


def deviate(probability: float) -> float:
    """The normal deviate of a probability, which makes a DET curve of normal scores a straight line.

    >>> deviate(0.5), round(deviate(0.975), 2)
    (0.0, 1.96)
    """
    return round(NormalDist().inv_cdf(min(max(probability, NEVER), 1 - NEVER)), 6)


def placed(value: Cell, axis: Axis) -> float | str | None:
    """Where a value stands on an axis; None where it has no place (undefined, infinite, not above 0 on a log scale)."""
    if axis.scale == "category":
        return number(value)
    if not isinstance(value, int | float) or not math.isfinite(value) or (axis.scale == "log" and value <= 0):
        return None
    return deviate(value) if axis.scale == "deviate" else float(value)


def worded(value: Cell, axis: Axis) -> str:
    """A value as a tooltip says it."""
    if (axis.percent or axis.scale == "deviate") and isinstance(value, int | float) and math.isfinite(value):
        return f"{100 * value:.4g} %"
    return number(value)


def domain(axis: Axis, values: Iterable[float | str | None]) -> Domain:
    """Where an axis begins and ends: what it was given, else what the data need with a little room."""
    found = [value for value in values if isinstance(value, float)] or [0.0, 1.0]
    low, high = _room(min(found), max(found), axis)
    return (
        low if axis.low is None else float(placed(axis.low, axis) or 0.0),
        high if axis.high is None else float(placed(axis.high, axis) or 0.0),
    )


def quantitative(axis: Axis, ends: Domain, ticks: int = TICKS) -> dict[str, Any]:
    """The channel of a numeric axis in Vega-Lite's words."""
    scale: dict[str, Any] = {"domain": list(ends), "nice": False}
    ruler: dict[str, Any] = {"title": shown(axis.label)}
    scale |= {"type": "log"} if axis.scale == "log" else {"zero": False}
    if axis.scale == "deviate":
        ruler |= _deviate_ticks(ends)
    elif axis.scale == "log":
        ruler |= _log_ticks(ends)
    else:
        ruler |= {"tickCount": ticks, **({"format": "~%"} if axis.percent else {})}
    return {"type": "quantitative", "scale": scale, "axis": ruler}


def from_zero(axis: Axis, ink: Ink) -> dict[str, Any]:
    """The channel of an axis that bars stand on: it holds zero and marks it."""
    zero = {"test": "datum.value === 0", "value": ink("faint")}
    ruler = {"title": shown(axis.label), "tickCount": TICKS, "gridColor": {"condition": zero, "value": ink("grid")}}
    percents = {"format": "~%"} if axis.percent else {}
    return {"type": "quantitative", "scale": {"zero": True}, "axis": {**ruler, **percents}}


def _log_ticks(ends: Domain) -> dict[str, Any]:
    """Powers of ten, where there are enough of them."""
    powers = [10.0**power for power in range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)]
    inside = [power for power in powers if ends[0] <= power <= ends[1]]
    return {"values": inside} if len(inside) > 1 else {}


def _room(low: float, high: float, axis: Axis) -> Domain:
    if axis.scale == "log":
        return low, high
    if axis.scale == "linear" and low >= 0 and 0.5 < high <= 1:
        return 0.0, 1.0
    pad = 0.04 * (high - low) or 0.5
    return low - pad, high + pad


def _deviate_ticks(ends: Domain) -> dict[str, Any]:
    """Explicit ticks with labels in percent: the scale is linear in deviates, its words are probabilities."""
    ticks = {deviate(share): percent(share) for share in DEVIATE_TICKS if ends[0] <= deviate(share) <= ends[1]}
    labels = "[" + ", ".join(f"'{label}'" for label in ticks.values()) + "]"
    places = "[" + ", ".join(map(repr, ticks)) + "]"
    return {"values": list(ticks), "labelExpr": f"{labels}[indexof({places}, datum.value)]", "labelOverlap": "greedy"}
