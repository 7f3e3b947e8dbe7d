"""Charts as Vega-Lite: plain dictionaries, drawn as still SVG or, by the script in a report, to be explored.

Strangers' strings appear as data and titles only; fields have names of our own, so no expression ever holds one (X-14).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from basanite.figures import Axis, Chart, Mark
from basanite.reports import chart_parts, theme
from basanite.reports.chart_labels import Fraction, Label, Spot, placed_labels
from basanite.reports.chart_parts import Spec, is_category, points_of
from basanite.reports.drawing import picture
from basanite.reports.wording import printable

Look = TypeVar("Look")

Shape = Literal["wide", "square", "facets", "bars", "heat"]

BAR_STRENGTH = 0.66
"""How full a bar is: the line of its interval shows on it, in light and in dark."""
FEW = "few units, or no interval"
STEP = 15
"""The height of one of several bars in a level."""
STILL_WIDTH = {"wide": 660, "square": 480, "facets": 190, "bars": 600, "heat": 520}
NARROW_WIDTH = {"wide": 326, "square": 326, "facets": 250, "bars": 326, "heat": 326}
"""What a card on a phone has room for."""
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
POINTED = {
    ("x", True): "triangle-right",
    ("x", False): "triangle-left",
    ("y", True): "triangle-up",
    ("y", False): "triangle-down",
}
"""Where a point lies that is off an axis: the axis, and whether it is above its end."""
OBSTACLES = 160
"""Of so many points of curves labels keep away."""
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


def vega_lite(chart: Chart, *, ink: theme.Ink = theme.variable, still: bool = False, narrow: bool = False) -> Spec:
    """The chart as a Vega-Lite specification; `ink` decides whether colours are CSS variables or written out.

    A still chart has a fixed width, for a desk or, if `narrow`, for a phone; any other fills its place.
    """
    width = (NARROW_WIDTH if narrow else STILL_WIDTH)[shape(chart)]
    frame = _frame(chart, ink, width if still else None)
    layers = _layers(frame, still)
    view = {"layer": layers, **_size(chart, width if still or chart.facet else "container")}
    spec = (
        _facet_view(frame, view, 1 if narrow else 3)
        if chart.facet
        else {**view, "autosize": {"type": "fit-x", "contains": "padding"}}
    )
    apart = {"resolve": {"scale": {"xOffset": "independent", "yOffset": "independent"}}} if is_category(chart) else {}
    config = theme.chart_config(ink)
    if narrow:
        config["legend"] |= {"columns": 1}
    return {"data": {"values": list(frame.points)}, **apart, "config": config, **spec}


def _layers(frame: Frame, still: bool) -> list[Spec]:
    if frame.chart.kind == "heat":
        return chart_parts.layers(frame.chart, frame.x, frame.y, frame.ink)
    bars = is_category(frame.chart) and frame.chart.kind != "points"
    return _bar_layers(frame) if bars else _plane_layers(frame, still)


def svg(chart: Chart, *, ink: theme.Ink = theme.variable, prefix: str = "still", narrow: bool = False) -> str:
    """The chart as a still picture that needs no script; `prefix` keeps its ids apart from others in a page."""
    return picture(vega_lite(chart, ink=ink, still=True, narrow=narrow), prefix)


@functools.cache
def script() -> str:
    """Vega and Vega-Lite from vl-convert's bundle, fit to stand inside a page; "" without the extra `charts`."""
    try:
        import vl_convert  # here, because it is slow to load and the base has none
    except ModuleNotFoundError:
        return ""
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
    return {"width": width, "height": _height(chart)}


def _height(chart: Chart) -> int:
    if chart.kind == "heat":
        return chart_parts.height(chart)
    if chart.y.scale == "category":
        return _bars_height(chart)
    return {"facets": 170, "square": 460}.get(shape(chart), 320)


def _bars_height(chart: Chart) -> int:
    at, names = chart.data.columns.index(chart.y.column), chart.data.columns
    levels = len({row[at] for row in chart.data.rows})
    series = len({row[names.index(chart.series)] for row in chart.data.rows}) if chart.series else 1
    return max(1, levels) * (series * STEP + 12 if chart.series else 2 * STEP)


def _facet_view(frame: Frame, view: Spec, columns: int) -> Spec:
    order = list(dict.fromkeys(point["facet"] for point in frame.points))
    facet = {"field": "facet", "type": "nominal", "sort": order, "title": None, "header": {"labelPadding": 18}}
    # One title for all of them: one over each would collide with the name of its part.
    title = {"text": printable(frame.chart.y.label), "anchor": "start", "fontSize": 12, "fontWeight": 500, "offset": 8}
    named = {} if frame.chart.y.scale == "category" else {"title": {**title, "color": frame.ink("ink")}}
    return {**named, "facet": facet, "columns": columns, "spec": view}


# --- axes and layers ---


def _frame(chart: Chart, ink: theme.Ink, width: float | None) -> Frame:
    points = points_of(chart)
    x, y = (_channel(axis, name, (chart, points, ink, width)) for axis, name in ((chart.x, "x"), (chart.y, "y")))
    return Frame(chart, points, x, y, ink)


def _channel(axis: Axis, name: str, drawn: tuple[Chart, Sequence[Spec], theme.Ink, float | None]) -> Spec:
    chart, points, ink, width = drawn
    if chart.facet and name == "y":
        axis = replace(axis, label="")
    if axis.scale == "category":
        order = list(dict.fromkeys(point[name] for point in points))
        title = None if name == "y" else printable(axis.label)
        shown_axis = {"title": title, "grid": False, "domain": False, "labelAngle": 0}
        return {"field": name, "type": "nominal", "scale": {"domain": order}, "axis": shown_axis}
    if is_category(chart) and chart.kind != "points" and axis.low is None and axis.high is None:
        labelled = None if name == "y" or chart.facet else points
        return {"field": name, **chart_parts.from_zero(axis, ink, labelled, width)}
    ends = chart_parts.domain(axis, [point[key] for point in points for key in _keys(name, point)])
    ticks = chart_parts.FEW_TICKS if chart.facet else chart_parts.TICKS
    return {"field": name, **chart_parts.quantitative(axis, ends, ticks)}


def _keys(name: str, point: Spec) -> tuple[str, ...]:
    return (name, "low", "high") if name == "y" and "low" in point else (name,)


def _plane_layers(frame: Frame, still: bool) -> list[Spec]:
    """Guides below, then intervals, lines or points, what the pointer touches, and labelled marks on top."""
    touch = [] if still else [_touch(frame)]
    return [*_guides(frame), *_bands(frame), _main(frame), *_outside(frame), *touch, *_marks(frame), *_labels(frame)]


def _main(frame: Frame) -> Spec:
    chart = frame.chart
    fade = {"condition": {"param": "pick", "value": 1.0}, "value": 0.12}
    base: Spec = {"x": frame.x, "y": frame.y, "color": frame.colour(), "opacity": fade}
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
    """Thin grey lines; what they are called stands in `_labels`."""
    rows = [row for line in _guide_lines(frame) for row in line]
    if not rows:
        return []
    mark = {"type": "line", "strokeWidth": 1, "stroke": frame.ink("faint"), "opacity": 0.6, "clip": True}
    encoding = {"x": frame.x, "y": frame.y, "detail": {"field": "part", "type": "nominal"}}
    return [{"data": {"values": rows}, "mark": mark, "encoding": encoding}]


def _guide_lines(frame: Frame) -> list[list[Spec]]:
    """The points of each guide that lie inside the axes."""
    chart = frame.chart
    lines = [
        [
            {
                "x": chart_parts.place_on_axis(x, chart.x),
                "y": chart_parts.place_on_axis(y, chart.y),
                "guide": printable(label),
                "part": index,
            }
            for x, y in line
        ]
        for index, (label, line) in enumerate(chart.guides)
    ]
    return [inside for line in lines if (inside := [row for row in line if _inside(row, frame)])]


def _inside(row: Spec, frame: Frame) -> bool:
    sides = ((row["x"], frame.x), (row["y"], frame.y))
    return all(isinstance(at, float) and _ends(side)[0] <= at <= _ends(side)[1] for at, side in sides)


def _ends(channel: Spec) -> tuple[float, float]:
    low, high = channel.get("scale", {}).get("domain", (0.0, 1.0))
    return float(low), float(high)


def _fraction(row: Spec, frame: Frame) -> Fraction:
    """Where a point stands in the plot, as shares of its width and height."""
    shares = []
    for key, channel in (("x", frame.x), ("y", frame.y)):
        (low, high), at = _ends(channel), float(row[key])
        if channel.get("scale", {}).get("type") == "log":
            low, high, at = math.log(low), math.log(high), math.log(at)
        shares.append((at - low) / (high - low or 1.0))
    return Fraction(shares[0], 1.0 - shares[1])


def _marks(frame: Frame) -> list[Spec]:
    """Labelled points; one that lies off the axes stands at the edge and points to where it would be."""
    rows = _mark_rows(frame)
    if not rows:
        return []
    dot = {"type": "point", "filled": True, "size": 110, "fill": frame.ink("ink"), "opacity": 1}
    halo = {"stroke": frame.ink("card"), "strokeWidth": 1.5}
    shape = {"field": "shape", "type": "nominal", "scale": None}
    encoding = {"x": frame.x, "y": frame.y, "shape": shape, "tooltip": SAYS}
    return [{"data": {"values": rows}, "mark": {**dot, **halo}, "encoding": encoding}]


def _mark_rows(frame: Frame) -> list[Spec]:
    return [row for mark in frame.chart.marks if (row := _mark_row(frame, mark))]


def _mark_row(frame: Frame, mark: Mark) -> Spec | None:
    chart = frame.chart
    places = (chart_parts.place_on_axis(mark.x, chart.x), chart_parts.place_on_axis(mark.y, chart.y))
    if not all(isinstance(place, float) for place in places):
        return None
    at = dict(zip("xy", map(float, places), strict=True))  # type: ignore[arg-type]
    edge = {key: min(max(at[key], low), high) for key in "xy" for low, high in (_ends(getattr(frame, key)),)}
    pointed = next(
        (POINTED[key, at[key] > edge[key]] for key in "xy" if at[key] != edge[key]),
        "diamond",
    )
    lines = (
        mark.label,
        f"{chart.x.label}: {chart_parts.value_in_words(mark.x, chart.x)}",
        f"{chart.y.label}: {chart_parts.value_in_words(mark.y, chart.y)}",
    )
    label = mark.label if pointed == "diamond" else f"{mark.label} (off scale)"
    return {**edge, "label": printable(label), "says": "\n".join(map(printable, lines)), "shape": pointed}


def _outside(frame: Frame) -> list[Spec]:
    """Small triangles at the edge where a line leaves the plot: it does not end there."""
    if frame.chart.kind != "line" or frame.chart.facet:
        return []
    low, high = _ends(frame.y)
    rows = [
        {**point, "y": high if point["y"] > high else low, "shape": POINTED["y", point["y"] > high]}
        for name in frame.names
        for point in _where_it_leaves([one for one in frame.points if one["series"] == name], low, high)
    ]
    if not rows:
        return []
    mark = {"type": "point", "filled": True, "size": 60, "opacity": 1}
    shape = {"field": "shape", "type": "nominal", "scale": None}
    encoding = {"x": frame.x, "y": frame.y, "shape": shape, "color": frame.colour(), "tooltip": SAYS}
    return [{"data": {"values": rows}, "mark": mark, "encoding": encoding}]


def _where_it_leaves(line: Sequence[Spec], low: float, high: float) -> Iterator[Spec]:
    """The points outside that are next to one inside: the last before a line comes in, the first after it goes out."""
    sides = [0 if point["y"] is None or low <= point["y"] <= high else 1 if point["y"] > high else -1 for point in line]
    for at, point in enumerate(line):
        beside = sides[max(0, at - 1)], sides[min(at + 1, len(line) - 1)]
        if sides[at] and 0 in beside and isinstance(point["x"], float):
            yield point


def _labels(frame: Frame) -> list[Spec]:
    """The names of marks and guides, each where it covers least."""
    marks, guides = _mark_rows(frame), _guide_lines(frame)
    if not marks and not guides:
        return []
    # Guides first: a point's name may stand on any side of it, a line's only above or below.
    names = [Label(line[0]["guide"], _anchors(line, frame), shifts=(-7.0, 8.0, -20.0, 21.0)) for line in guides]
    names += [Label(row["label"], [_fraction(row, frame)]) for row in marks]
    drawn = [row for row in frame.points if _inside(row, frame)]
    obstacles = [_fraction(row, frame) for row in (*marks, *drawn[:: max(1, len(drawn) // OBSTACLES)])]
    spots = placed_labels(names, float(_height(frame.chart)), obstacles)
    rows = [*(line[at] for line, at in _chosen(guides, spots[: len(guides)], frame)), *marks]
    return [
        _label(frame, {**row, "label": name.text}, spot, strong=index >= len(guides))
        for index, (row, name, spot) in enumerate(zip(rows, names, spots, strict=True))
    ]


def _anchors(line: Sequence[Spec], frame: Frame) -> list[Fraction]:
    """Where the name of a guide may hang: at its ends, and at some places between."""
    steps = sorted({0, len(line) // 4, len(line) // 2, 3 * len(line) // 4, len(line) - 1}, reverse=True)
    return [_fraction(line[step], frame) for step in steps]


def _chosen(
    guides: Sequence[Sequence[Spec]], spots: Sequence[Spot], frame: Frame
) -> Iterator[tuple[Sequence[Spec], int]]:
    for line, spot in zip(guides, spots, strict=True):
        yield line, next(at for at, row in enumerate(line) if _fraction(row, frame) == spot.anchor)


def _label(frame: Frame, row: Spec, spot: Spot, *, strong: bool) -> Spec:
    """A text with an edge in the colour of the card, so that it reads across lines."""
    look = {"fontWeight": 600, "fontSize": 11} if strong else {"fontSize": 10.5}
    text = {"type": "text", "align": spot.align, "baseline": "middle", "dx": spot.dx, "dy": spot.dy, **look}
    halo = {**text, "stroke": frame.ink("card"), "strokeWidth": 3, "strokeJoin": "round", "fill": frame.ink("card")}
    ink = {**text, "fill": frame.ink("ink" if strong else "muted")}
    encoding = {"x": frame.x, "y": frame.y, "text": {"field": "label"}}
    return {"data": {"values": [row]}, "encoding": encoding, "layer": [{"mark": halo}, {"mark": ink}]}


# --- bars ---


def _bar_layers(frame: Frame) -> list[Spec]:
    """Bars with their intervals; values are written out where bars lie, and parts with few units are grey."""
    flat = frame.chart.y.scale == "category"
    measure, category = ("x", "y") if flat else ("y", "x")
    bar: Spec = {"type": "bar", "cornerRadiusEnd": 2, "fillOpacity": BAR_STRENGTH}
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
        gold = {"test": "!datum.few", "value": frame.ink("gold")}
        key: Spec = {"field": "key", "type": "nominal", "scale": {"domain": [FEW], "range": [frame.ink("faint")]}}
        legend = {"offset": 12} if any(point["few"] for point in frame.points) else None
        return {"color": {"condition": gold, **key, "legend": legend}}
    shy = [{"test": "datum.few", "value": 0.55}, {"param": "pick", "value": 0.9}]
    return {"color": frame.colour(), "opacity": {"condition": shy, "value": 0.12}}


def _few(weak: float, strong: float) -> Spec:
    return {"condition": {"test": "datum.few", "value": weak}, "value": strong}


def _whiskers(frame: Frame, place: Spec, measure: str) -> Spec:
    """Intervals as thin lines with an end on either side; bars are pale enough for them to show."""
    low, high = ({**place[measure], "field": end} for end in ("low", "high"))
    across = "vertical" if measure == "x" else "horizontal"
    cap = {"type": "tick", "orient": across, "thickness": 1.5, "size": 7, "color": frame.ink("ink")}
    rule = {"type": "rule", "strokeWidth": 1.5, "stroke": frame.ink("ink")}
    encoding = {**place, "opacity": _few(0.4, 0.85), "tooltip": SAYS}
    return {
        "layer": [
            {"mark": rule, "encoding": {measure: low, f"{measure}2": {"field": "high"}}},
            {"mark": cap, "encoding": {measure: low}},
            {"mark": cap, "encoding": {measure: high}},
        ],
        "encoding": encoding,
    }


def _bar_label(frame: Frame, place: Spec) -> Spec:
    text = {"type": "text", "align": "left", "dx": 7, "fill": frame.ink("muted"), "fontSize": 11}
    encoding = {**place, "x": {**place["x"], "field": "end"}, "text": {"field": "label"}}
    return {"mark": text, "encoding": encoding}
