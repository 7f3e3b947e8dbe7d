"""Still pictures of charts, as SVG: what `charts` writes in Vega-Lite's words is drawn here, without a renderer (Y-4).

Only the words that our charts use are known. Everything in a specification is a plain value, so a picture needs no
script and no library, and the same chart gives the same bytes wherever it is drawn (S-6). Texts are escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final, TypeAlias

from basanite.reports.chart_marks import MARKS, Layer, Plot, line, pixels, shortened, symbol, text, value_of, width_of
from basanite.reports.chart_scales import Scale, horizontal_scale, vertical_scale

Spec: TypeAlias = dict[str, Any]

LINE: Final = 18
"""The height of a row of a legend."""
SYMBOL: Final = 12
FACET_GAP: Final = 24
FACET_NAME: Final = 24
"""The room for the name above one of several small charts."""
LABEL: Final = 11.5


def picture(spec: Spec, prefix: str) -> str:
    """The SVG of a still specification; `prefix` keeps its ids apart from others in a page."""
    body, width, height = _facets(spec, prefix) if "facet" in spec else _single(spec, prefix)
    wide, high, font = pixels(width), pixels(height), escape(spec["config"]["font"])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="marks" width="{wide}" height="{high}"'
    return f'{head} viewBox="0 0 {wide} {high}" font-family="{font}">{"".join(body)}</svg>'


def _single(spec: Spec, prefix: str) -> tuple[list[str], float, float]:
    rows = spec["data"]["values"]
    plot = _plot(spec, rows, rows, f"{prefix}-clip0")
    left, below = _margins(plot)
    legend, high = _legend(plot.layers, spec["config"], left, left + plot.x.length)
    top = high + (28 if plot.y.title else 10)
    parts = [*legend, *_translate(_plot_parts(plot, spec["config"]), left, top)]
    return parts, left + plot.x.length + max(_overhang(plot.x), 14.0), top + plot.y.length + below + 6


def _facets(spec: Spec, prefix: str) -> tuple[list[str], float, float]:
    """Small multiples in rows, each with its name above it and axes of its own."""
    inner, config, rows = spec["spec"], spec["config"], spec["data"]["values"]
    names, columns = list(spec["facet"]["sort"]), min(spec["columns"], max(1, len(spec["facet"]["sort"])))
    field = spec["facet"]["field"]
    plots = [
        _plot(inner, [row for row in rows if row[field] == name], rows, f"{prefix}-clip{at}")
        for at, name in enumerate(names)
    ]
    margins = [_margins(plot) for plot in plots]
    left, below = max((one for one, _ in margins), default=0.0), max((one for _, one in margins), default=0.0)
    wide, high = left + inner["width"] + FACET_GAP, FACET_NAME + inner["height"] + below + 8
    parts, top = _legend(plots[0].layers if plots else (), config, left, columns * wide)
    if "title" in spec:
        look = spec["title"]
        parts.append(text(look["text"], (left, top + 12), look["color"], look["fontSize"], weight=look["fontWeight"]))
        top += 22
    for at, (name, plot) in enumerate(zip(names, plots, strict=True)):
        place = left + (at % columns) * wide, top + (at // columns) * high
        parts += _translate(_facet(str(name), plot, config), *place)
    return parts, columns * wide, top + max(1, -(-len(names) // columns)) * high


def _facet(name: str, plot: Plot, config: Spec) -> Iterator[str]:
    look, size = config["header"], config["header"]["labelFontSize"]
    shown = shortened(name, plot.x.length, size)
    yield text(shown, (plot.x.length / 2, 14), look["labelColor"], size, weight=600, align="center")
    yield from _translate(_plot_parts(plot, config), 0, FACET_NAME)


def _plot(view: Spec, rows: Sequence[Spec], all_rows: Sequence[Spec], clip: str) -> Plot:
    """A plane; the scales of small multiples are those of all their rows."""
    known = [(one.mark["type"], one.encoding, one.rows) for one in _flat(view["layer"], all_rows, {})]
    x, y = horizontal_scale(known, float(view["width"])), vertical_scale(known, float(view["height"]))
    return Plot(list(_flat(view["layer"], rows, {})), x, y, clip)


def _flat(layers: Sequence[Spec], rows: Sequence[Spec], above: Spec) -> Iterator[Layer]:
    """Layers within layers side by side, each with the encoding and the rows of those above it."""
    for layer in layers:
        own = layer.get("data", {}).get("values", rows)
        encoding = {**above, **layer.get("encoding", {})}
        if "layer" in layer:
            yield from _flat(layer["layer"], own, encoding)
        else:
            yield Layer(layer["mark"], encoding, own)


def _plot_parts(plot: Plot, config: Spec) -> Iterator[str]:
    width, height = pixels(plot.x.length), pixels(plot.y.length)
    yield f'<clipPath id="{plot.clip}"><rect width="{width}" height="{height}"/></clipPath>'
    yield from _axes(plot, config["axis"])
    for layer in plot.layers:
        marks = "".join(MARKS[layer.mark["type"]](layer, plot))
        clip = f' clip-path="url(#{plot.clip})"' if layer.mark.get("clip") else ""
        if marks:
            yield f'<g class="mark-{layer.mark["type"]}"{clip}>{marks}</g>'


def _margins(plot: Plot) -> tuple[float, float]:
    """The room on the left, for labels of the y axis, and below, for those of the x axis and its title."""
    labels = [width_of(shortened(words, plot.y.label_limit, LABEL), LABEL) for _, words in plot.y.ticks()]
    below = 20.0
    if plot.x.angle:
        below = 16 + 0.65 * max((min(90.0, width_of(words, LABEL)) for _, words in plot.x.ticks()), default=0.0)
    return max(labels, default=0.0) + 14, below + (20 if plot.x.title else 2)


def _overhang(x: Scale) -> float:
    """How far the last label below the plane reaches over its right edge."""
    ends = [x.at(value) + width_of(words, LABEL) / 2 - x.length for value, words in x.ticks()] if x.angle == 0 else []
    return max([0.0, *ends]) + 4


# --- axes and legends ---


def _axes(plot: Plot, look: Spec) -> Iterator[str]:
    x, y, title = plot.x, plot.y, (look["titleColor"], look["titleFontSize"])
    yield from _grid(plot, look)
    for value, words in x.labels(look["labelFontSize"]):
        yield _label_below(x, words, (x.at(value), y.length), (look["labelColor"], look["labelFontSize"]))
    for value, words in y.ticks():
        size, shown = look["labelFontSize"], shortened(words, look["labelLimit"], look["labelFontSize"])
        yield text(shown, (-6, y.at(value) + 0.35 * size), look["labelColor"], size, align="right")
    weight = look["titleFontWeight"]
    if x.title:
        below = y.length + _margins(plot)[1] - 4
        yield text(x.title, (x.length / 2, below), *title, weight=weight, align="center")
    if y.title:
        yield text(y.title, (0, -9), *title, weight=weight)


def _grid(plot: Plot, look: Spec) -> Iterator[str]:
    """The lines of the ticks, and of the axes."""
    (width, height), plain = (plot.x.length, plot.y.length), {"value": look["gridColor"]}
    for value, _ in plot.x.ticks() if plot.x.has_grid else ():
        at, ink = plot.x.at(value), value_of(plot.x.grid_ink or plain, {"value": value})
        yield line((at, 0), (at, height), ink)
    for value, _ in plot.y.ticks() if plot.y.has_grid else ():
        at, ink = plot.y.at(value), value_of(plot.y.grid_ink or plain, {"value": value})
        yield line((0, at), (width, at), ink)
    if plot.x.has_line:
        yield line((0, height), (width, height), look["domainColor"])
    if plot.y.has_line:
        yield line((0, 0), (0, height), look["domainColor"])


def _label_below(scale: Scale, words: str, place: tuple[float, float], look: tuple[str, float]) -> str:
    x, y = place
    if scale.angle == 0:
        step = scale.length / max(1, len(scale.names)) if scale.is_category else scale.label_limit
        return text(shortened(words, step, look[1]), (x, y + 16), *look, align="center")
    turn = f' transform="rotate({scale.angle:g} {pixels(x)} {pixels(y + 8)})"'
    return text(shortened(words, scale.label_limit, look[1]), (x + 3, y + 12), *look, align="right", more=turn)


def _legend(layers: Sequence[Layer], config: Spec, left: float, right: float) -> tuple[list[str], float]:
    """The names of the series with their looks, in columns above the plane; and how high that is."""
    layer = _named_layer(layers)
    if layer is None:
        return [], 0.0
    look, names = config["legend"], layer.encoding["color"]["scale"]["domain"]
    size = look["labelFontSize"]
    shown = [shortened(str(name), look["labelLimit"], size) for name in names]
    wide = max(width_of(words, size) for words in shown) + 2 * SYMBOL + look["columnPadding"]
    columns = max(1, min(look["columns"], int((right - left) // wide), len(names)))
    parts = []
    for at, (name, words) in enumerate(zip(names, shown, strict=True)):
        x, y = left + (at % columns) * wide, (at // columns) * LINE + 14
        parts.append(f'<g class="role-legend-symbol">{_symbol_of(layer, name, (x + SYMBOL, y - 4))}</g>')
        parts.append(text(words, (x + 2 * SYMBOL + 6, y), look["labelColor"], size))
    return parts, -(-len(names) // columns) * LINE + 4.0


def _named_layer(layers: Sequence[Layer]) -> Layer | None:
    """The layer whose look the legend shows: points and lines before the bands of their intervals."""
    named = [layer for layer in layers if layer.encoding.get("color", {}).get("legend")]
    drawn = [layer for layer in named if {"shape", "strokeDash"} & layer.encoding.keys()] or named
    return drawn[0] if drawn and drawn[0].encoding["color"]["scale"]["domain"] else None


def _symbol_of(layer: Layer, name: str, place: tuple[float, float]) -> str:
    """What stands for a series in the legend: a piece of its line, its point, or a square."""
    row = {layer.encoding["color"]["field"]: name, "series": name, "few": True}
    ink, (x, y) = value_of(layer.encoding["color"], row), place
    if layer.mark["type"] == "line":
        return line((x - 10, y), (x + 10, y), ink, 2, f'{layer.dash(row)} opacity="1"')
    if layer.mark["type"] == "point":
        return symbol(layer.shape(row), place, 80, f'fill="{ink}" opacity="1"')
    return symbol("square", place, 144, f'fill="{ink}" fill-opacity="{layer.mark.get("fillOpacity", 1)}" opacity="1"')


def _translate(parts: Iterable[str], x: float, y: float) -> list[str]:
    return [f'<g transform="translate({pixels(x)},{pixels(y)})">', *parts, "</g>"]
