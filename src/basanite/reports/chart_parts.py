"""Parts of charts: axes with their ticks, points placed on them, and the cells of heat maps.

An axis knows where it begins and ends and what its ticks say, also on the normal-deviate scale of DET plots. Points are
rows of the chart's table under names of our own, few enough for a screen. A heat map has a cell for each pair of names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Any, Final, TypeAlias

from basanite.figures import Axis, Cell, Chart
from basanite.reports.theme import Ink
from basanite.reports.wording import number, percent, printable

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


def place_on_axis(value: Cell, axis: Axis) -> float | str | None:
    """Where a value stands on an axis; None where it has no place (undefined, infinite, not above 0 on a log scale)."""
    if axis.scale == "category":
        return number(value)
    if not isinstance(value, int | float) or not math.isfinite(value) or (axis.scale == "log" and value <= 0):
        return None
    return deviate(value) if axis.scale == "deviate" else float(value)


def value_in_words(value: Cell, axis: Axis) -> str:
    """A value as a tooltip says it."""
    if (axis.percent or axis.scale == "deviate") and isinstance(value, int | float) and math.isfinite(value):
        return f"{100 * value:.4g}%"
    return number(value)


def domain(axis: Axis, values: Iterable[float | str | None]) -> Domain:
    """Where an axis begins and ends: what it was given, else what the data need with a little room."""
    found = [value for value in values if isinstance(value, float)] or [0.0, 1.0]
    low, high = _room(min(found), max(found), axis)
    return (
        low if axis.low is None else float(place_on_axis(axis.low, axis) or 0.0),
        high if axis.high is None else float(place_on_axis(axis.high, axis) or 0.0),
    )


def quantitative(axis: Axis, ends: Domain, ticks: int = TICKS) -> dict[str, Any]:
    """The channel of a numeric axis in Vega-Lite's words."""
    scale: dict[str, Any] = {"domain": list(ends), "nice": False}
    ruler: dict[str, Any] = {"title": printable(axis.label)}
    scale |= {"type": "log"} if axis.scale == "log" else {"zero": False}
    if axis.scale == "deviate":
        ruler |= _deviate_ticks(ends)
    elif axis.scale == "log":
        powers = [10.0**power for power in range(math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1])) + 1)]
        inside = [power for power in powers if ends[0] <= power <= ends[1]]
        ruler |= {"values": inside} if len(inside) > 1 else {}
    else:
        ruler |= {"tickCount": ticks, **({"format": "~%"} if axis.percent else {})}
    return {"type": "quantitative", "scale": scale, "axis": ruler}


def from_zero(
    axis: Axis, ink: Ink, labelled: Sequence[Spec] | None = None, width: float | None = None
) -> dict[str, Any]:
    """The channel of an axis that bars stand on: it holds zero and marks it; labelled bars have room behind them.

    How much of the axis that is depends on its width, which only a still chart knows before it is drawn.
    """
    zero = {"test": "datum.value === 0", "value": ink("faint")}
    ruler = {"title": printable(axis.label), "tickCount": TICKS, "gridColor": {"condition": zero, "value": ink("grid")}}
    percents = {"format": "~%" if axis.percent else ","}  # as many digits as a tick needs: 0.25 is not 0.3
    if not labelled:
        return {"type": "quantitative", "scale": {"zero": True}, "axis": {**ruler, **percents}}
    ends = _bar_ends(labelled)
    ruler |= {"values": round_ticks(*ends), "labelOverlap": "greedy", "labelSeparation": 4}
    scale = {"zero": True, "nice": False, **_label_room(labelled, ends, width)}
    return {"type": "quantitative", "scale": scale, "axis": {**ruler, **percents}}


def _bar_ends(points: Sequence[Spec]) -> Domain:
    """The least and the largest place that a bar or its interval reaches, with a little room before a negative one."""
    lows = [value for point in points for value in (point["x"], point.get("low")) if isinstance(value, float)]
    low, high = min([0.0, *lows]), max([0.0, *(point["end"] for point in points)])
    return low + min(0.0, 0.03 * math.copysign(high - low, low)), high


def _label_room(points: Sequence[Spec], ends: Domain, width: float | None) -> dict[str, Any]:
    """An axis that ends where the longest label behind a bar does, at any width of the chart."""
    low, high = ends
    letters = max((len(point["label"]) for point in points), default=0)
    room, span = LABEL_LETTER * letters + 10, high - low or 1.0
    if width is not None:
        return {"domainMin": low, "domainMax": high + span * round(room) / max(width - round(room), 60)}
    return {"domainMin": low, "domainMax": {"expr": f"{high!r} + {span!r} * {room:.0f} / max(width - {room:.0f}, 60)"}}


def round_ticks(low: float, high: float) -> list[float]:
    """Some five round numbers between two ends.

    >>> round_ticks(0.0, 0.87), round_ticks(-0.11, 0.06)
    ([0.0, 0.2, 0.4, 0.6, 0.8], [-0.1, -0.05, 0.0, 0.05])
    """
    rough = (high - low or 1.0) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{at * step:.9g}") for at in range(first, last + 1)]


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


Spec: TypeAlias = dict[str, Any]

POINTS_PER_LINE = 400
LABEL_LETTER: Final = 6.5
"""The width of a figure in a label behind a bar."""


def is_category(chart: Chart) -> bool:
    """Whether one of the axes has names instead of numbers."""
    return "category" in (chart.x.scale, chart.y.scale)


def points_of(chart: Chart) -> list[Spec]:
    """What the chart draws, with the words each point says when it is touched."""
    return _thin_points([_point(chart, index) for index in range(len(chart.data.rows))])


def _point(chart: Chart, index: int) -> Spec:
    value = dict(zip(chart.data.columns, chart.data.rows[index], strict=False))
    measure = chart.x if chart.y.scale == "category" else chart.y
    point: Spec = {
        "at": index,
        "x": place_on_axis(value.get(chart.x.column), chart.x),
        "y": place_on_axis(value.get(chart.y.column), chart.y),
        "series": printable(str(value.get(chart.series or "", ""))),
        "says": _says(chart, value),
    }
    if chart.facet:
        point["facet"] = printable(str(value.get(chart.facet, "")))
    if chart.low and chart.high:
        point["low"], point["high"] = (place_on_axis(value.get(name), measure) for name in (chart.low, chart.high))
    if is_category(chart):
        point |= _bar_extras(chart, value, measure, index in chart.data.muted)
    return {key: printable(entry) if isinstance(entry, str) and key in "xy" else entry for key, entry in point.items()}


def _bar_extras(chart: Chart, value: dict[str, Cell], measure: Axis, few: bool) -> Spec:
    ends = (value.get(name) for name in (measure.column, chart.high or ""))
    numbers = [end for end in (place_on_axis(end, measure) for end in ends) if isinstance(end, float)]
    return {
        "few": few,
        "key": "few units, or no interval" if few else "",
        "end": max([0.0, *numbers]),
        "label": value_in_words(value.get(measure.column), measure).replace("-", "−"),
    }


def _says(chart: Chart, value: dict[str, Cell]) -> str:
    """The tooltip: one line for each thing worth knowing, as text and never as an expression."""
    lines = [str(value.get(name, "")) for name in (chart.facet, chart.series) if name]
    lines += [f"{axis.label}: {value_in_words(value.get(axis.column), axis)}" for axis in (chart.x, chart.y)]
    if chart.low and chart.high and isinstance(value.get(chart.low), float):
        measure = chart.x if chart.y.scale == "category" else chart.y
        low, high = (value_in_words(value.get(name), measure) for name in (chart.low, chart.high))
        lines.append(f"interval: {low} to {high}")
    if isinstance(value.get("Units"), int):
        lines.append(f"units: {value['Units']:,}")
    return "\n".join(map(printable, lines))


def _thin_points(points: Sequence[Spec]) -> list[Spec]:
    """Few enough points for a screen: of each stretch of a line its first, lowest and highest stay."""
    lines: dict[tuple[str, str], list[Spec]] = {}
    for point in points:
        lines.setdefault((point["series"], point.get("facet", "")), []).append(point)
    return [point for line in lines.values() for point in _thin_line(line)]


def _thin_line(line: list[Spec]) -> Iterable[Spec]:
    if len(line) <= POINTS_PER_LINE or isinstance(line[0]["y"], str):
        return line
    stretch = -(-3 * len(line) // POINTS_PER_LINE)
    return [line[index] for start in range(0, len(line), stretch) for index in _extremes(line, start, stretch)]


def _extremes(line: list[Spec], start: int, stretch: int) -> list[int]:
    places = range(start, min(start + stretch, len(line)))
    solid = [index for index in places if line[index]["y"] is not None] or [start]
    low, high = min(solid, key=lambda i: line[i]["y"] or 0.0), max(solid, key=lambda i: line[i]["y"] or 0.0)
    return sorted({places[0], low, high, places[-1]})


ROOM: Final = 12
"""Up to so many names a side the numbers are written out."""
CELL: Final = 30
SMALL_CELL: Final = 15
FAINTEST, STRONG = 0.06, 0.55
LABEL_TURNED: Final = -40
LONG_NAME: Final = 4


def layers(chart: Chart, x: Spec, y: Spec, ink: Ink) -> list[Spec]:
    """Shaded cells, and their numbers where there are few."""
    cells = cells_of(chart)
    place = {"x": {**x, "axis": _axis(chart, x)}, "y": y}
    strength = {"field": "strength", "type": "quantitative", "scale": None, "legend": None}
    tip = {"field": "says", "type": "nominal"}
    shaded = {
        "data": {"values": cells},
        "mark": {"type": "rect", "fill": ink("gold"), "stroke": ink("card"), "strokeWidth": 1},
        "encoding": {**place, "opacity": strength, "tooltip": tip},
    }
    if len(names(chart, chart.x.column)) > ROOM:
        return [shaded]
    colour = {"condition": {"test": "datum.strong", "value": ink("stone")}, "value": ink("ink")}
    written = {
        "data": {"values": cells},
        "mark": {"type": "text", "fontSize": 10.5},
        "encoding": {**place, "text": {"field": "label"}, "fill": colour, "tooltip": tip},
    }
    return [shaded, written]


def height(chart: Chart) -> int:
    """As many rows as there are names, each tall enough for what is in it."""
    count = len(names(chart, chart.y.column))
    return max(1, count) * (CELL if count <= ROOM else SMALL_CELL)


def names(chart: Chart, column: str) -> list[Cell]:
    """The names of one side, in the order they come."""
    at = chart.data.columns.index(column)
    return list(dict.fromkeys(row[at] for row in chart.data.rows))


def cells_of(chart: Chart) -> list[Spec]:
    """Each cell with its strength between the least and the largest number, and what it says when touched."""
    columns = chart.data.columns
    at = [columns.index(name) for name in (chart.x.column, chart.y.column, chart.shade or chart.x.column)]
    rows = [tuple(row[place] for place in at) for row in chart.data.rows]
    numbers = [cell for *_, cell in rows if isinstance(cell, float) and math.isfinite(cell)] or [0.0]
    low, wide = min(numbers), max(numbers) - min(numbers)
    return [_cell(chart, row, low, wide) for row in rows]


def _cell(chart: Chart, row: tuple[Cell, ...], low: float, wide: float) -> Spec:
    x, y, value = row
    shade = float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    share = (shade - low) / wide if shade is not None and wide > 0 else 0.5
    strength = 0.0 if shade is None else FAINTEST + (1 - FAINTEST) * share
    lines = (
        f"{chart.y.label}: {number(y)}",
        f"{chart.x.label}: {number(x)}",
        f"{chart.shade}: {number(value)}",
    )
    return {
        "x": printable(number(x)),
        "y": printable(number(y)),
        "strength": round(strength, 4),
        "strong": strength > STRONG,
        "label": "–" if shade is None else f"{shade:.2f}".replace("-", "−"),
        "says": "\n".join(map(printable, lines)),
    }


def _axis(chart: Chart, x: Spec) -> Spec:
    """Names below the cells; turned where they are long or many."""
    longest = max((len(number(name)) for name in names(chart, chart.x.column)), default=0)
    many = len(names(chart, chart.x.column)) > ROOM or longest > LONG_NAME
    return {**x["axis"], "labelAngle": LABEL_TURNED if many else 0, "labelLimit": 90}
