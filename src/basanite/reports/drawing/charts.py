"""Charts as Vega-Lite: plain dictionaries, drawn as still SVG or, by the script in a report, to be explored.

Strangers' strings appear as data and titles only; fields have names of our own, so no expression ever holds one (X-14).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import vl_convert

from basanite.figures import Axis, Chart
from basanite.reports import theme
from basanite.reports.drawing import heat, scales
from basanite.reports.drawing.points import Spec, is_category, points_of
from basanite.reports.wording import shown

Look = TypeVar("Look")

Shape = Literal["wide", "square", "facets", "bars", "heat"]

STEP = 15
"""The height of one of several bars in a level."""
STILL_WIDTH = {"wide": 660, "square": 480, "facets": 190, "bars": 520, "heat": 520}
ZOOM = {
    "name": "zoom",
    "bind": "scales",
    "select": {
        "type": "interval",
        # A page must still scroll under the pointer, and under a finger: zoom needs a key, moving needs a mouse.
        "zoom": "wheel![event.ctrlKey || event.shiftKey || event.metaKey]",
        "translate": "[pointerdown[event.pointerType === 'mouse'], window:pointerup] > window:pointermove!",
    },
}
_IDS = re.compile(r'(<clipPath id="|url\(#)clip(\d+)(?=["\)])')
SAYS = {"field": "says", "type": "nominal"}
BAND: dict[str, object] = {"type": "band", "paddingInner": 0.2, "paddingOuter": 0.1}
CENTRE: dict[str, object] = {"type": "point", "padding": 0.5}
PICK = {"name": "pick", "bind": "legend", "select": {"type": "point", "fields": ["series"]}}
HOVER = {"name": "hover", "select": {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}}


@dataclass(frozen=True)
class Frame:
    """What all layers of one chart share: its points, its axes and its colours."""

    chart: Chart
    points: Sequence[Spec]
    x: Spec
    y: Spec
    ink: theme.Ink

    @property
    def names(self) -> list[str]:
        """The series in the order they come."""
        return list(dict.fromkeys(point["series"] for point in self.points))

    def colour(self) -> Spec:
        """The colour channel: one colour for each series, in order."""
        inks = [self.ink(theme.SERIES[index % len(theme.SERIES)]) for index, _ in enumerate(self.names)]
        return self.by_series(inks)

    def dash(self) -> Spec:
        """The dash channel, so that lines differ without colour too."""
        return self.by_series([list(look) for look in self._looks(theme.DASHES)])

    def shape(self) -> Spec:
        """The shape channel, so that points differ without colour too."""
        return self.by_series(self._looks(theme.SHAPES))

    def _looks(self, looks: Sequence[Look]) -> list[Look]:
        """One look for each series, shifted by one each time the colours begin again: no two series are drawn alike."""
        turns = ((index, index // len(theme.SERIES)) for index, _ in enumerate(self.names))
        return [looks[(index + turn) % len(looks)] for index, turn in turns]

    def by_series(self, looks: Sequence[object]) -> Spec:
        """A channel that gives each series its own look; a chart without series has no legend."""
        scale = {"domain": self.names, "range": looks}
        return {"field": "series", "type": "nominal", "scale": scale, "legend": _legend(self.chart)}


def vega_lite(chart: Chart, *, ink: theme.Ink = theme.variable, still: bool = False) -> Spec:
    """The chart as a Vega-Lite specification; `ink` decides whether colours are CSS variables or written out."""
    frame = _frame(chart, ink)
    layers = _layers(frame, still)
    view = {"layer": layers, **_size(chart, STILL_WIDTH[shape(chart)] if still or chart.facet else "container")}
    spec = _faceted(frame, view) if chart.facet else {**view, "autosize": {"type": "fit-x", "contains": "padding"}}
    apart = {"resolve": {"scale": {"xOffset": "independent", "yOffset": "independent"}}} if is_category(chart) else {}
    return {"data": {"values": list(frame.points)}, **apart, "config": theme.chart_config(ink), **spec}


def _layers(frame: Frame, still: bool) -> list[Spec]:
    if frame.chart.kind == "heat":
        return heat.layers(frame.chart, frame.x, frame.y, frame.ink)
    bars = is_category(frame.chart) and frame.chart.kind != "points"
    return _bar_layers(frame) if bars else _plane_layers(frame, still)


def svg(chart: Chart, *, ink: theme.Ink = theme.variable, prefix: str = "still") -> str:
    """The chart as a still picture that needs no script; `prefix` keeps its ids apart from others in a page."""
    drawn = str(vl_convert.vegalite_to_svg(json.dumps(vega_lite(chart, ink=ink, still=True))))
    counts: dict[str, int] = {}
    # The renderer counts its ids through the life of the process; the same chart must give the same bytes (S-6).
    return _IDS.sub(lambda found: f"{found[1]}{prefix}-clip{counts.setdefault(found[2], len(counts))}", drawn)


@functools.cache
def script() -> str:
    """Vega and Vega-Lite from vl-convert's bundle, fit to stand inside a page."""
    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def shape(chart: Chart) -> Shape:
    """How a chart fills its place: DET plots are square, small multiples share the width, others take it all."""
    if chart.facet:
        return "facets"
    if is_category(chart):
        return "heat" if chart.kind == "heat" else "bars"
    return "square" if chart.x.scale == chart.y.scale == "deviate" else "wide"


def _legend(chart: Chart) -> Spec | None:
    """Lines are known by their dashes, and a legend stays clear of the title of the y axis."""
    if chart.series is None:
        return None
    stroke: Spec = {"symbolType": "stroke", "symbolSize": 500} if chart.kind == "line" else {}
    return {**stroke, "offset": 12 if is_category(chart) or chart.facet else 34}


def _size(chart: Chart, width: int | str) -> Spec:
    if chart.kind == "heat":
        return {"width": width, "height": heat.height(chart)}
    if chart.y.scale == "category":
        return {"width": width, "height": _bars_height(chart)}
    return {"width": width, "height": {"facets": 170, "square": 460}.get(shape(chart), 320)}


def _bars_height(chart: Chart) -> int:
    at, names = chart.data.columns.index(chart.y.column), chart.data.columns
    levels = len({row[at] for row in chart.data.rows})
    series = len({row[names.index(chart.series)] for row in chart.data.rows}) if chart.series else 1
    return max(1, levels) * (series * STEP + 12 if chart.series else 2 * STEP)


def _faceted(frame: Frame, view: Spec) -> Spec:
    order = list(dict.fromkeys(point["facet"] for point in frame.points))
    facet = {"field": "facet", "type": "nominal", "sort": order, "title": None, "header": {"labelPadding": 18}}
    return {"facet": facet, "columns": 3, "spec": view}


# --- axes and layers ---


def _frame(chart: Chart, ink: theme.Ink) -> Frame:
    points = points_of(chart)
    x, y = (_channel(axis, name, (chart, points, ink)) for axis, name in ((chart.x, "x"), (chart.y, "y")))
    return Frame(chart, points, x, y, ink)


def _channel(axis: Axis, name: str, drawn: tuple[Chart, Sequence[Spec], theme.Ink]) -> Spec:
    chart, points, ink = drawn
    if axis.scale == "category":
        order = list(dict.fromkeys(point[name] for point in points))
        title = None if name == "y" else shown(axis.label)
        shown_axis = {"title": title, "grid": False, "domain": False, "labelAngle": 0}
        return {"field": name, "type": "nominal", "scale": {"domain": order}, "axis": shown_axis}
    if is_category(chart) and chart.kind != "points" and axis.low is None and axis.high is None:
        return {"field": name, **scales.from_zero(axis, ink)}
    ends = scales.domain(axis, [point[key] for point in points for key in _keys(name, point)])
    ticks = scales.FEW_TICKS if chart.facet else scales.TICKS
    return {"field": name, **scales.quantitative(axis, ends, ticks)}


def _keys(name: str, point: Spec) -> tuple[str, ...]:
    return (name, "low", "high") if name == "y" and "low" in point else (name,)


def _fade(strong: float = 1.0, weak: float = 0.12) -> Spec:
    return {"condition": {"param": "pick", "value": strong}, "value": weak}


def _plane_layers(frame: Frame, still: bool) -> list[Spec]:
    """Guides below, then intervals, lines or points, what the pointer touches, and labelled marks on top."""
    touch = [] if still else [_touch(frame)]
    return [*_guides(frame), *_bands(frame), _main(frame), *touch, *_marks(frame)]


def _main(frame: Frame) -> Spec:
    chart = frame.chart
    base: Spec = {"x": frame.x, "y": frame.y, "color": frame.colour(), "opacity": _fade()}
    params: list[Spec] = [PICK] if is_category(chart) else [ZOOM, PICK]  # names cannot be zoomed
    if chart.kind == "points":
        encoding = {**base, **_beside(frame), "shape": frame.shape()}
        return {
            "mark": {"type": "point", "filled": True, "size": 60, "clip": True},
            "params": params,
            "encoding": encoding,
        }
    mark: Spec = {"type": "line", "clip": True, "interpolate": "step-after" if chart.step else "linear"}
    # A curve runs in the order of its table: a DET curve is no function of its x.
    encoding = {**base, "strokeDash": frame.dash(), "order": {"field": "at", "type": "quantitative"}}
    return {"mark": mark, "params": params, "encoding": encoding}


def _touch(frame: Frame) -> Spec:
    size = {"condition": {"param": "hover", "empty": False, "value": 1}, "value": 0}
    place = {"x": frame.x, "y": frame.y, **_beside(frame)}
    encoding = {**place, "color": frame.colour(), "tooltip": SAYS, "opacity": size}
    return {
        "mark": {"type": "point", "filled": True, "size": 90, "clip": True},
        "params": [HOVER],
        "encoding": encoding,
    }


def _bands(frame: Frame) -> list[Spec]:
    if not (frame.chart.low and frame.chart.high):
        return []
    if frame.chart.kind == "points":
        rule = {"type": "rule", "strokeWidth": 1.5, "clip": True}
    else:
        rule = {"type": "area", "fillOpacity": 0.16, "clip": True}  # of the fill alone: the legend shows strokes
    y = {**frame.y, "field": "low"}
    encoding = {"x": frame.x, **_beside(frame), "y": y, "y2": {"field": "high"}, "color": frame.colour()}
    return [{"mark": rule, "encoding": encoding}]


def _beside(frame: Frame) -> Spec:
    """Points of several series above one name stand beside each other."""
    return _offset(frame, "x", CENTRE) if frame.chart.x.scale == "category" else {}


def _guides(frame: Frame) -> list[Spec]:
    chart = frame.chart
    if not chart.guides:
        return []
    rows = [
        {"x": scales.placed(x, chart.x), "y": scales.placed(y, chart.y), "guide": shown(label), "part": index}
        for index, (label, line) in enumerate(chart.guides)
        for x, y in line
    ]
    rows = [row for row in rows if _inside(row, frame)]
    ends = list({row["part"]: row for row in rows}.values())
    position = {"x": frame.x, "y": frame.y}
    line = {"type": "line", "strokeWidth": 1, "stroke": frame.ink("faint"), "opacity": 0.6, "clip": True}
    text = {"type": "text", "fill": frame.ink("muted"), "fontSize": 10.5, "align": "right", "dx": -3, "dy": -6}
    return [
        {
            "data": {"values": rows},
            "mark": line,
            "encoding": {**position, "detail": {"field": "part", "type": "nominal"}},
        },
        {"data": {"values": ends}, "mark": text, "encoding": {**position, "text": {"field": "guide"}}},
    ]


def _inside(row: Spec, frame: Frame) -> bool:
    sides = ((row["x"], frame.x), (row["y"], frame.y))
    return all(isinstance(at, float) and _ends(side)[0] <= at <= _ends(side)[1] for at, side in sides)


def _ends(channel: Spec) -> tuple[float, float]:
    low, high = channel.get("scale", {}).get("domain", (0.0, 1.0))
    return float(low), float(high)


def _marks(frame: Frame) -> list[Spec]:
    if not frame.chart.marks:
        return []
    rows = [_mark(frame, index) for index in range(len(frame.chart.marks))]
    dot = {"type": "point", "filled": True, "shape": "diamond", "size": 110, "fill": frame.ink("ink"), "opacity": 1}
    halo = {"stroke": frame.ink("card"), "strokeWidth": 1.5}
    position = {"x": frame.x, "y": frame.y}
    layers = [{"data": {"values": rows}, "mark": {**dot, **halo}, "encoding": {**position, "tooltip": SAYS}}]
    return [*layers, *(_mark_label(frame, position, row) for row in rows)]


def _mark(frame: Frame, index: int) -> Spec:
    mark, chart = frame.chart.marks[index], frame.chart
    lines = (
        mark.label,
        f"{chart.x.label}: {scales.worded(mark.x, chart.x)}",
        f"{chart.y.label}: {scales.worded(mark.y, chart.y)}",
    )
    place = {"x": scales.placed(mark.x, chart.x), "y": scales.placed(mark.y, chart.y)}
    return {**place, "label": shown(mark.label), "says": "\n".join(map(shown, lines)), "above": index % 2 == 0}


def _mark_label(frame: Frame, position: Spec, row: Spec) -> Spec:
    """The label stands on the side with more room, above and below in turn."""
    low, high = _ends(frame.x)
    right = isinstance(row["x"], float) and row["x"] > low + 0.6 * (high - low)
    side: Spec = {"align": "right", "dx": -9} if right else {"align": "left", "dx": 9}
    halo = {"type": "text", "stroke": frame.ink("card"), "strokeWidth": 3, "strokeJoin": "round", "fontWeight": 600}
    text = {"type": "text", "fontWeight": 600, "fill": frame.ink("ink")}
    layers = [{"mark": {**layer, **side, "dy": -9 if row["above"] else 11}} for layer in (halo, text)]
    return {"data": {"values": [row]}, "encoding": {**position, "text": {"field": "label"}}, "layer": layers}


# --- bars ---


def _bar_layers(frame: Frame) -> list[Spec]:
    """Bars with their intervals; values are written out where bars lie, and parts with few units are grey."""
    flat = frame.chart.y.scale == "category"
    measure, category = ("x", "y") if flat else ("y", "x")
    bar: Spec = {"type": "bar", "cornerRadiusEnd": 2}
    if frame.chart.series is None:
        bar["height" if flat else "width"] = {"band": 0.72}
    place = {"x": frame.x, "y": frame.y}
    encoding = {**place, **_offset(frame, category, BAND), **_bar_colour(frame), "tooltip": SAYS}
    layers = [{"mark": bar, "params": [PICK] if frame.chart.series else [], "encoding": encoding}]
    centre = {**place, **_offset(frame, category, CENTRE)}
    if frame.chart.low and frame.chart.high:
        layers.append(_whiskers(frame, centre, measure))
    return [*layers, _bar_label(frame, centre)] if flat else layers


def _offset(frame: Frame, category: str, scale: Spec) -> Spec:
    """Where a system stands inside a level: bars fill a band, whiskers and labels need the middle of it."""
    if frame.chart.series is None:
        return {}
    return {f"{category}Offset": {"field": "series", "type": "nominal", "scale": {**scale, "domain": frame.names}}}


def _bar_colour(frame: Frame) -> Spec:
    if frame.chart.series is None:
        grey = {"test": "datum.few", "value": frame.ink("faint")}
        return {"color": {"condition": grey, "value": frame.ink("gold")}, "opacity": _few(0.45, 0.9)}
    shy = [{"test": "datum.few", "value": 0.3}, {"param": "pick", "value": 0.9}]
    return {"color": frame.colour(), "opacity": {"condition": shy, "value": 0.12}}


def _few(weak: float, strong: float) -> Spec:
    return {"condition": {"test": "datum.few", "value": weak}, "value": strong}


def _whiskers(frame: Frame, place: Spec, measure: str) -> Spec:
    ends = {measure: {**place[measure], "field": "low"}, f"{measure}2": {"field": "high"}}
    strokes = ((4, "card"), (1.5, "ink"))  # a light edge, so that the line shows on dark bars
    rules = [{"mark": {"type": "rule", "strokeWidth": width, "stroke": frame.ink(name)}} for width, name in strokes]
    encoding = {**place, **ends, "opacity": _few(0.4, 0.85), "tooltip": SAYS}
    return {"layer": rules, "encoding": encoding}


def _bar_label(frame: Frame, place: Spec) -> Spec:
    text = {"type": "text", "align": "left", "dx": 7, "fill": frame.ink("muted"), "fontSize": 11}
    encoding = {**place, "x": {**place["x"], "field": "end"}, "text": {"field": "label"}}
    return {"mark": text, "encoding": encoding}
