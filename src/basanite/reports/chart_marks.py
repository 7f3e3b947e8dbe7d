"""Marks of still charts: lines, bands, bars, intervals, points, labels and cells as elements of SVG.

A mark reads the encoding that `charts` writes: which field stands where, and which look a row has. What a point says
is its title, which browsers show when it is touched. Lines with many points say nothing, or a page would be all titles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final, TypeAlias

from basanite.reports.chart_scales import Scale

Spec: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[float, float]
"""A point in pixels, from the left and from the top."""

LETTER: Final = 0.6
"""The mean width of a letter, in parts of the size of its type."""
TARGETS: Final = 60
"""A line with no more points than this says each of them when it is touched."""
ENDS: Final = ("low", "high")
TESTS: Final[Mapping[str, Callable[[Spec], bool]]] = {
    "datum.few": lambda row: bool(row.get("few")),
    "!datum.few": lambda row: not row.get("few"),
    "datum.strong": lambda row: bool(row.get("strong")),
    "datum.value === 0": lambda row: row.get("value") == 0,
}
"""The conditions that our charts ask for."""
TURNS: Final = {"triangle-up": 0, "triangle-right": 90, "triangle-down": 180, "triangle-left": 270}
ANCHORS: Final = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}
ARM: Final = 0.45
"""Half the thickness of a cross, in parts of half its size."""


@dataclass(frozen=True)
class Layer:
    """Marks of one kind, with the rows that they draw."""

    mark: Spec
    encoding: Spec
    rows: Sequence[Spec]

    def ink(self, row: Spec, channel: str = "color") -> str:
        """The colour of a row."""
        return str(value_of(self.encoding[channel], row))

    def shape(self, row: Spec) -> str:
        """The symbol of a row."""
        return str(value_of(self.encoding.get("shape", {"value": "circle"}), row))

    def opacity(self, row: Spec) -> str:
        """How strong a row is, as an attribute."""
        value = value_of(self.encoding.get("opacity", {"value": self.mark.get("opacity", 1)}), row)
        return "" if value == 1 else f' opacity="{value}"'

    def dash(self, row: Spec) -> str:
        """How a line is broken, as an attribute."""
        dash = value_of(self.encoding.get("strokeDash", {"value": ()}), row)
        return f' stroke-dasharray="{",".join(map(str, dash))}"' if any(dash) else ""

    def edge(self) -> str:
        """The edge of a symbol, or what keeps a text apart from the lines behind it."""
        if "stroke" not in self.mark:
            return ""
        return f' stroke="{self.mark["stroke"]}" stroke-width="{self.mark["strokeWidth"]}" stroke-linejoin="round"'

    def series(self, key: str, row: Spec) -> str | None:
        """The series that has a place of its own beside others of its name, along one axis."""
        return row.get("series") if f"{key}Offset" in self.encoding else None


@dataclass(frozen=True)
class Plot:
    """One plane with its layers and scales, in pixels from its top left corner."""

    layers: Sequence[Layer]
    x: Scale
    y: Scale
    clip: str

    def place(self, row: Spec, layer: Layer) -> Place | None:
        """Where a row stands; None where it has no place."""
        places = []
        for scale, key in ((self.x, "x"), (self.y, "y")):
            named = layer.encoding.get(key, {}).get("field", key)
            value = row.get(key if named in ENDS else named)
            if value is None or (isinstance(value, float) and not math.isfinite(value)):
                return None
            places.append(scale.centre(value, layer.series(key, row)) if scale.is_category else scale.at(value))
        return places[0], places[1]


def value_of(channel: Spec, row: Spec) -> Any:
    """What a channel says for a row: by its conditions, by a field and its scale, or one value for all."""
    conditions = channel.get("condition", [])
    for condition in [conditions] if isinstance(conditions, dict) else conditions:
        # What a reader picks is nothing yet, and then all are picked.
        if "param" in condition or TESTS[condition["test"]](row):
            return condition["value"]
    if "value" in channel:
        return channel["value"]
    found, scale = row.get(channel["field"]), channel.get("scale")
    if scale is None:
        return found
    domain, looks = scale["domain"], scale["range"]
    return looks[domain.index(found)] if found in domain else looks[0]


# --- kinds of marks ---


def _lines(layer: Layer, plot: Plot) -> Iterator[str]:
    by = layer.encoding["detail" if "detail" in layer.encoding else "color"]["field"]
    for rows in _groups(layer.rows, by):
        ordered = sorted(rows, key=lambda row: row["at"]) if "order" in layer.encoding else rows
        ink = layer.mark.get("stroke") or layer.ink(rows[0])
        look = f'stroke-width="{layer.mark.get("strokeWidth", 2)}"{layer.dash(rows[0])}{layer.opacity(rows[0])}'
        for piece in _pieces([plot.place(row, layer) for row in ordered]):
            path = _path(piece, step=layer.mark.get("interpolate") == "step-after")
            yield f'<path d="{path}" fill="none" stroke="{ink}" stroke-linejoin="round" {look}/>'
        if len(rows) <= TARGETS and "strokeDash" in layer.encoding:
            yield from (_target(place, row) for row in rows if (place := plot.place(row, layer)))


def _areas(layer: Layer, plot: Plot) -> Iterator[str]:
    for rows in _groups(layer.rows, layer.encoding["color"]["field"]):
        known = [row for row in rows if all(isinstance(row.get(name), float) for name in ("x", *ENDS))]
        known.sort(key=lambda row: row["x"])
        upper, lower = ([(plot.x.at(row["x"]), plot.y.at(row[end])) for row in known] for end in ENDS[::-1])
        look = f'fill="{layer.ink(rows[0])}" fill-opacity="{layer.mark["fillOpacity"]}"'
        if len(known) > 1:
            yield f'<path d="{_path([*upper, *lower[::-1]], step=False)}Z" {look}/>'


def _bars(layer: Layer, plot: Plot) -> Iterator[str]:
    """Bars from zero, each as thick as its band."""
    key, measured = ("y", "x") if plot.y.is_category else ("x", "y")
    names, measure = (plot.y, plot.x) if plot.y.is_category else (plot.x, plot.y)
    for row in layer.rows:
        if not isinstance(row[measured], float):
            continue
        start, thick = names.band(row[key], layer.series(key, row))
        low, high = sorted((measure.at(0.0), measure.at(row[measured])))
        box = _box(low, start, high - low, thick) if key == "y" else _box(start, low, thick, high - low)
        look = f'fill="{layer.ink(row)}" fill-opacity="{layer.mark["fillOpacity"]}"{layer.opacity(row)}'
        yield f'<rect {box} rx="2" {look}>{_tip(row)}</rect>'


def _rules(layer: Layer, plot: Plot) -> Iterator[str]:
    """Intervals: lines from their lower to their upper end."""
    along = "y" if "y2" in layer.encoding else "x"
    for row in layer.rows:
        ends = [_end_place(row, end, along, (layer, plot)) for end in ENDS]
        if ends[0] and ends[1]:
            ink = layer.mark.get("stroke") or layer.ink(row)
            yield line(ends[0], ends[1], ink, layer.mark["strokeWidth"], layer.opacity(row))


def _ticks(layer: Layer, plot: Plot) -> Iterator[str]:
    """The ends of intervals, across them."""
    along = "x" if layer.mark["orient"] == "vertical" else "y"
    half, thick, ink = layer.mark["size"] / 2, layer.mark["thickness"], layer.mark["color"]
    for row in layer.rows:
        place = _end_place(row, layer.encoding[along]["field"], along, (layer, plot))
        if place is not None:
            (x, y), (dx, dy) = place, (0.0, half) if along == "x" else (half, 0.0)
            yield line((x - dx, y - dy), (x + dx, y + dy), ink, thick, layer.opacity(row))


def _end_place(row: Spec, end: str, along: str, drawn: tuple[Layer, Plot]) -> Place | None:
    layer, plot = drawn
    value = row.get(end)
    return plot.place({**row, along: value}, layer) if isinstance(value, float) else None


def _points(layer: Layer, plot: Plot) -> Iterator[str]:
    for row in layer.rows:
        place = plot.place(row, layer)
        if place is not None:
            look = f'fill="{layer.mark.get("fill") or layer.ink(row)}"{layer.edge()}{layer.opacity(row)}'
            yield symbol(layer.shape(row), place, layer.mark["size"], look, _tip(row))


def _texts(layer: Layer, plot: Plot) -> Iterator[str]:
    mark, size = layer.mark, layer.mark.get("fontSize", 11)
    for row in layer.rows:
        place = plot.place({**row, "x": row["end"]} if "end" in row and plot.y.is_category else row, layer)
        if place is not None:
            shifted = place[0] + mark.get("dx", 0), place[1] + mark.get("dy", 0) + 0.35 * size
            ink, align = mark.get("fill") or layer.ink(row, "fill"), mark.get("align", "center")
            weight = mark.get("fontWeight", 400)
            yield text(str(row["label"]), shifted, ink, size, weight=weight, align=align, more=layer.edge())


def _cells(layer: Layer, plot: Plot) -> Iterator[str]:
    for row in layer.rows:
        (x, width), (y, height) = plot.x.band(row["x"], None), plot.y.band(row["y"], None)
        look = f'fill="{layer.mark["fill"]}" fill-opacity="{row["strength"]}"{layer.edge()}'
        yield f"<rect {_box(x, y, width, height)} {look}>{_tip(row)}</rect>"


MARKS: Final[Mapping[str, Callable[[Layer, Plot], Iterator[str]]]] = {
    "line": _lines,
    "area": _areas,
    "bar": _bars,
    "rule": _rules,
    "tick": _ticks,
    "point": _points,
    "text": _texts,
    "rect": _cells,
}


# --- elements ---


def text(
    words: str, place: Place, ink: str, size: float, *, weight: int = 400, align: str = "left", more: str = ""
) -> str:
    """Words at a place; all of them are escaped here and nowhere else."""
    # Seven arguments: each is an attribute of the element, and charts name those that differ from the usual.
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    at = f'x="{pixels(place[0])}" y="{pixels(place[1])}"'
    return f'<text {at} fill="{ink}" font-size="{size}"{bold}{ANCHORS[align]}{more}>{escape(words)}</text>'


def line(start: Place, end: Place, ink: str, width: float = 1, more: str = "") -> str:
    """A straight line."""
    return f'<path d="{_path([start, end], step=False)}" stroke="{ink}" stroke-width="{width}" fill="none"{more}/>'


def symbol(name: str, place: Place, size: float, look: str, tip: str = "") -> str:
    """A symbol with about so many square pixels."""
    x, y = place
    if name == "circle":
        radius = pixels(math.sqrt(size / math.pi))
        return f'<circle cx="{pixels(x)}" cy="{pixels(y)}" r="{radius}" {look}>{tip}</circle>'
    turn = f' transform="rotate({TURNS[name]} {pixels(x)} {pixels(y)})"' if TURNS.get(name) else ""
    path = _path([(x + dx, y + dy) for dx, dy in _corners(name, math.sqrt(size) / 2)], step=False)
    return f'<path d="{path}Z" {look}{turn}>{tip}</path>'


def _corners(name: str, half: float) -> list[Place]:
    if name == "square":
        return [(-half, -half), (half, -half), (half, half), (-half, half)]
    if name == "diamond":
        return [(0, -1.1 * half), (1.1 * half, 0), (0, 1.1 * half), (-1.1 * half, 0)]
    if name == "cross":
        arm = ARM * half
        quarter = [(arm, -half), (arm, -arm), (half, -arm)]
        turned = [[(x, y), (-y, x), (-x, -y), (y, -x)] for x, y in quarter]
        return [turned[corner][turn] for turn in range(4) for corner in range(3)]
    return [(0, -half), (half, 0.85 * half), (-half, 0.85 * half)]


def width_of(words: str, size: float) -> float:
    """About how wide a text is, in pixels."""
    return LETTER * size * len(words)


def shortened(words: str, room: float, size: float) -> str:
    """A text that fits into so many pixels, cut where it is too long.

    >>> shortened("conversational speech", 80, 12)
    'conversati…'
    """
    most = max(2, int(room / (LETTER * size)))
    return words if len(words) <= most else words[: most - 1] + "…"


def pixels(value: float) -> str:
    """A number of pixels, as short as it can be seen.

    >>> pixels(12.0), pixels(0.333333), pixels(-0.001)
    ('12', '0.33', '0')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.005 else "0"


def _path(places: Sequence[Place], *, step: bool) -> str:
    (x, y), *rest = places
    parts = [f"M{pixels(x)},{pixels(y)}"]
    parts += [f"H{pixels(x)}V{pixels(y)}" if step else f"L{pixels(x)},{pixels(y)}" for x, y in rest]
    return "".join(parts)


def _pieces(places: Sequence[Place | None]) -> Iterator[list[Place]]:
    """The places of a line, broken where it has none."""
    piece: list[Place] = []
    for place in [*places, None]:
        if place is not None:
            piece.append(place)
        elif piece:
            yield piece
            piece = []


def _groups(rows: Sequence[Spec], field: str) -> list[list[Spec]]:
    groups: dict[Any, list[Spec]] = {}
    for row in rows:
        groups.setdefault(row.get(field), []).append(row)
    return list(groups.values())


def _target(place: Place, row: Spec) -> str:
    return f'<circle cx="{pixels(place[0])}" cy="{pixels(place[1])}" r="6" fill="transparent">{_tip(row)}</circle>'


def _tip(row: Spec) -> str:
    says = row.get("says")
    return f"<title>{escape(says)}</title>" if says else ""


def _box(x: float, y: float, width: float, height: float) -> str:
    return f'x="{pixels(x)}" y="{pixels(y)}" width="{pixels(width)}" height="{pixels(height)}"'
