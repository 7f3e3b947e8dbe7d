"""The points of a chart: rows of its table under names of our own, placed on its axes, few enough for a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from basanite.figures import Axis, Cell, Chart
from basanite.reports.drawing import scales
from basanite.reports.wording import shown

Spec: TypeAlias = dict[str, Any]

POINTS_PER_LINE = 400


def is_category(chart: Chart) -> bool:
    """Whether one of the axes has names instead of numbers."""
    return "category" in (chart.x.scale, chart.y.scale)


def points_of(chart: Chart) -> list[Spec]:
    """What the chart draws, with the words each point says when it is touched."""
    return _thinned([_point(chart, index) for index in range(len(chart.data.rows))])


def _point(chart: Chart, index: int) -> Spec:
    value = dict(zip(chart.data.columns, chart.data.rows[index], strict=False))
    measure = chart.x if chart.y.scale == "category" else chart.y
    point: Spec = {
        "at": index,
        "x": scales.placed(value.get(chart.x.column), chart.x),
        "y": scales.placed(value.get(chart.y.column), chart.y),
        "series": shown(str(value.get(chart.series or "", ""))),
        "says": _says(chart, value),
    }
    if chart.facet:
        point["facet"] = shown(str(value.get(chart.facet, "")))
    if chart.low and chart.high:
        point["low"], point["high"] = (scales.placed(value.get(name), measure) for name in (chart.low, chart.high))
    if is_category(chart):
        point |= _bar_extras(chart, value, measure, index in chart.data.muted)
    return {key: shown(entry) if isinstance(entry, str) and key in "xy" else entry for key, entry in point.items()}


def _bar_extras(chart: Chart, value: dict[str, Cell], measure: Axis, few: bool) -> Spec:
    ends = (value.get(name) for name in (measure.column, chart.high or ""))
    numbers = [end for end in (scales.placed(end, measure) for end in ends) if isinstance(end, float)]
    return {
        "few": few,
        "end": max([0.0, *numbers]),
        "label": scales.worded(value.get(measure.column), measure).replace("-", "−"),
    }


def _says(chart: Chart, value: dict[str, Cell]) -> str:
    """The tooltip: one line for each thing worth knowing, as text and never as an expression."""
    lines = [str(value.get(name, "")) for name in (chart.facet, chart.series) if name]
    lines += [f"{axis.label}: {scales.worded(value.get(axis.column), axis)}" for axis in (chart.x, chart.y)]
    if chart.low and chart.high and isinstance(value.get(chart.low), float):
        measure = chart.x if chart.y.scale == "category" else chart.y
        low, high = (scales.worded(value.get(name), measure) for name in (chart.low, chart.high))
        lines.append(f"interval: {low} to {high}")
    if isinstance(value.get("Units"), int):
        lines.append(f"units: {value['Units']:,}")
    return "\n".join(map(shown, lines))


def _thinned(points: Sequence[Spec]) -> list[Spec]:
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
