"""Charts on slides: native bars with intervals and lines, which a reader can edit; what PowerPoint cannot draw (a
normal-deviate scale, small multiples) stands as a crisp picture."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import vl_convert
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION, XL_TICK_LABEL_POSITION
from pptx.oxml.ns import qn
from pptx.util import Inches, Pt

from basanite.figures import Axis, Chart
from basanite.reports import theme
from basanite.reports.chart_parts import is_category, round_ticks
from basanite.reports.charts import FEW, shape, vega_lite
from basanite.reports.outputs.data_files import csv_cell
from basanite.reports.outputs.slides import (
    HEIGHT,
    INK,
    MARGIN,
    TOP,
    WIDTH,
    Deck,
    colour,
    cut,
    describe,
    whole_sentences,
    write,
)
from basanite.reports.wording import printable

MOST_POINTS = 400
SUMMARY = 190
"""Letters of a chart's sentence that stand on two lines; the notes of the slide hold all of it."""
MOST_BARS = 40
MOST_LEVELS = 14
"""Levels whose names can be read beside their bars."""
PALER = 0.65
"""How much lighter bars of few units are than their series."""
THICKEST = Inches(0.5)
"""How thick a bar becomes where there are few."""
PICTURE_SCALE = 2.5
PICTURE_SIZES = {"wide": (680, 290), "square": (360, 330)}
"""The size of a plot whose letters are as large as those of the slide."""
FEW_FACETS, MANY_FACETS = 3, 14
"""Small multiples that stand in one row, and in two."""
FACET_HEIGHT, WIDE = 230, 2.3
"""The height of a small multiple with its title, and how much wider than high all of them are."""
FOLLOWED = ("{", "internal:", "external:")
"""How array formulas begin, and links that a workbook's writer makes of texts."""
FRAME = (MARGIN, TOP + Inches(0.55), WIDTH - 2 * MARGIN, HEIGHT - TOP - Inches(1.15))

Series = Mapping[str, list[tuple[Any, ...]]]


def add_chart(deck: Deck, chart: Chart) -> None:
    """One chart with its sentence under the title."""
    slide = deck.slide(chart.title, notes=chart.summary)
    chart, left_out = _fewer_levels(chart)
    write(
        slide,
        (MARGIN, TOP - Inches(0.1), WIDTH - 2 * MARGIN, Inches(0.6)),
        [whole_sentences(chart.summary, SUMMARY) + left_out + _key(chart)],
        size=14,
        ink="muted",
    )
    if _native_bars(chart):
        _bars(slide, chart)
    elif chart.kind in ("line", "points") and _plain(chart):
        _plane(slide, chart)
    else:
        _picture(slide, chart)


def _fewer_levels(chart: Chart) -> tuple[Chart, str]:
    """Bars that can be read on a slide: of many levels, those with the highest and the lowest values."""
    if not is_category(chart) or chart.kind != "bars" or chart.facet:
        return chart, ""
    level, value = (chart.data.columns.index(axis.column) for axis in (chart.y, chart.x))
    found: dict[Any, list[float]] = {}
    for row in chart.data.rows:
        found.setdefault(row[level], []).extend([number] if (number := _number(row[value])) is not None else [])
    if len(found) <= MOST_LEVELS:
        return chart, ""
    ordered = sorted((one for one in found if found[one]), key=lambda one: sum(found[one]) / len(found[one]))
    ends = {*ordered[: MOST_LEVELS // 2], *ordered[-(MOST_LEVELS // 2) :]}
    kept = [at for at, row in enumerate(chart.data.rows) if row[level] in ends]
    data = replace(
        chart.data,
        rows=tuple(chart.data.rows[at] for at in kept),
        muted=frozenset(place for place, at in enumerate(kept) if at in chart.data.muted),
        emphasis=frozenset(),
    )
    return replace(chart, data=data), f" The {len(ends)} highest and lowest of {len(found)} levels."


def _key(chart: Chart) -> str:
    """What gray or paler bars mean, where native bars have no legend for it."""
    return f" {'Paler' if chart.series else 'Gray'}: {FEW}." if _native_bars(chart) and chart.data.muted else ""


def _native_bars(chart: Chart) -> bool:
    bars = is_category(chart) and chart.kind == "bars"
    return bars and not chart.facet and len(chart.data.rows) <= MOST_BARS


def _plain(chart: Chart) -> bool:
    """Whether PowerPoint has the axes for it."""
    numbers = all(axis.scale in ("linear", "log") for axis in (chart.x, chart.y))
    return numbers and not chart.facet and not chart.guides and not chart.low  # it has no bands either


def _bars(slide: Any, chart: Chart) -> None:
    value, level = chart.x.column, chart.y.column
    found = _by_series(chart, (level, value, chart.low, chart.high))
    levels = list(dict.fromkeys(row[0] for rows in found.values() for row in rows))
    data = CategoryChartData()
    data.categories = [_label(name) for name in levels]
    for name, rows in found.items():
        known = {row[0]: row[1] for row in rows}
        data.add_series(_label(name), [_number(known.get(one)) for one in levels])
    drawn = _place(slide, chart, XL_CHART_TYPE.BAR_CLUSTERED, data)
    drawn.category_axis.reverse_order = True  # the first level on top, as in the table
    drawn.category_axis.has_title = False  # the levels say what they are, and the title of the slide does
    drawn.category_axis.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    drawn.value_axis.has_major_gridlines = True
    drawn.value_axis.tick_label_position = XL_TICK_LABEL_POSITION.HIGH  # below the last level, where its title stands
    drawn.value_axis.format.line.fill.background()
    drawn.plots[0].gap_width = _gap(len(levels), len(found))
    _scale_for_bars(drawn.value_axis, chart.x, [cell for rows in found.values() for row in rows for cell in row[1:]])
    for plot, (name, rows) in zip(drawn.plots[0].series, found.items(), strict=True):
        if chart.low and chart.high:
            _whiskers(plot, levels, rows)
        _pale(plot, [levels.index(level) for level in _few_units(chart, name)], chart)


def _gap(levels: int, series: int) -> int:
    """The room between levels, in percent of a bar: few levels do not make giants of their bars."""
    return int(min(500, max(60, 100 * (FRAME[3] / max(1, levels) / THICKEST - series))))


def _scale_for_bars(axis: Any, shown_axis: Axis, cells: Sequence[Any]) -> None:
    """The axis begins at zero, since bars are lengths, and holds every interval."""
    _scale_by_ticks(axis, shown_axis, [0.0, *(value for cell in cells if (value := _number(cell)) is not None)])


def _scale_by_ticks(axis: Any, shown_axis: Axis, ends: Sequence[float]) -> None:
    """The axis begins and ends at a tick, whatever it holds: PowerPoint counts its ticks from where it begins."""
    ticks = round_ticks(min(ends), max(ends))
    step = ticks[1] - ticks[0] if len(ticks) > 1 else max(ends) - min(ends) or 1.0
    axis.minimum_scale = math.floor(min(ends) / step + 1e-9) * step
    axis.maximum_scale = math.ceil(max(ends) / step - 1e-9) * step or step
    axis.major_unit = step
    decimals = len(f"{step:.6f}".rstrip("0").partition(".")[2])
    axis.tick_labels.number_format = "0%" if shown_axis.percent else f"0.{'0' * decimals}".rstrip(".")
    axis.tick_labels.number_format_is_linked = False


def _few_units(chart: Chart, series: str) -> Iterator[Any]:
    """The levels whose bars rest on few units, as the table greys them out."""
    level = chart.data.columns.index(chart.y.column)
    which = chart.data.columns.index(chart.series) if chart.series else None
    for place, row in enumerate(chart.data.rows):
        if place in chart.data.muted and (which is None or str(row[which]) == series):
            yield row[level]


def _pale(series: Any, places: Sequence[int], chart: Chart) -> None:
    """Bars of few units: gray, or beside those of other systems a paler tone of their own."""
    for place in places:
        fill = series.points[place].format.fill
        fill.solid()
        if chart.series:
            fill.fore_color.rgb = series.format.fill.fore_color.rgb
            fill.fore_color.brightness = PALER
        else:
            fill.fore_color.rgb = colour("faint")


def _plane(slide: Any, chart: Chart) -> None:
    data = XyChartData()
    for name, rows in _by_series(chart, (chart.x.column, chart.y.column)).items():
        series = data.add_series(_label(name))
        for x, y in _thin_line([row for row in rows if _number(row[0]) is not None and _number(row[1]) is not None]):
            series.add_data_point(float(x), float(y))
    kind = XL_CHART_TYPE.XY_SCATTER_LINES_NO_MARKERS if chart.kind == "line" else XL_CHART_TYPE.XY_SCATTER
    drawn = _place(slide, chart, kind, data)
    for axis, told in ((drawn.category_axis, chart.x), (drawn.value_axis, chart.y)):
        if told.scale == "log":
            axis.minimum_scale, axis.maximum_scale = told.low, told.high
            _logarithmic(axis)
        else:
            at = chart.data.columns.index(told.column)
            shown = [value for row in chart.data.rows if (value := _number(row[at])) is not None]
            ends = [end for end in (told.low, told.high) if end is not None and end == round(end)]  # a bound, no room
            _scale_by_ticks(axis, told, [*shown, *ends] or [0.0, 1.0])


def _label(name: Any) -> str:
    """A name in the workbook behind a chart; one that a spreadsheet would run or follow gets a quote (X-33).

    >>> _label("=cmd|calc!A0"), _label("{=1+1}"), _label("alpha")
    ("'=cmd|calc!A0", "'{=1+1}", 'alpha')
    """
    text = csv_cell(cut(str(name), 60))
    return f"'{text}" if text.startswith(FOLLOWED) else text


def _place(slide: Any, chart: Chart, kind: Any, data: Any) -> Any:
    frame = slide.shapes.add_chart(kind, *FRAME, data)
    describe(frame, f"{chart.title}. {chart.summary}")
    drawn = frame.chart
    drawn.font.size = Pt(12)
    drawn.font.color.rgb = colour("muted")
    drawn.has_legend = chart.series is not None
    drawn.has_title = False
    if drawn.has_legend:
        drawn.legend.position, drawn.legend.include_in_layout = XL_LEGEND_POSITION.TOP, False
    axes = (chart.y, chart.x) if is_category(chart) else (chart.x, chart.y)  # PowerPoint's bar charts lie on their side
    for axis, told in zip((drawn.category_axis, drawn.value_axis), axes, strict=True):
        axis.has_title = True
        axis.axis_title.text_frame.text = printable(told.label)
        axis.axis_title.text_frame.paragraphs[0].font.size = Pt(12)
        axis.format.line.color.rgb = colour("faint")
        if axis.has_major_gridlines:
            axis.major_gridlines.format.line.color.rgb = colour("grid")
    for place, series in enumerate(drawn.plots[0].series):
        _paint(series, chart, theme.SERIES[place % len(theme.SERIES)])
    return drawn


def _paint(series: Any, chart: Chart, ink: str) -> None:
    if chart.kind == "line":
        series.format.line.color.rgb = colour(ink)
        series.format.line.width = Pt(2)
        series.smooth = False
    elif chart.kind == "points":
        series.format.line.fill.background()
        series.marker.format.fill.solid()
        series.marker.format.fill.fore_color.rgb = colour(ink)
    else:
        series.format.fill.solid()
        series.format.fill.fore_color.rgb = colour(ink)


def _by_series(chart: Chart, columns: Sequence[str | None]) -> Series:
    """The rows of each series, with the cells of these columns (None where there is no such column)."""
    at = [None if name is None else chart.data.columns.index(name) for name in columns]
    which = chart.data.columns.index(chart.series) if chart.series else None
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in chart.data.rows:
        name = chart.y.label if which is None else str(row[which])
        found.setdefault(name, []).append(tuple(None if place is None else row[place] for place in at))
    return found or {chart.y.label: []}


def _number(cell: Any) -> float | None:
    usable = isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell)
    return float(cell) if usable else None


def _thin_line(points: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    step = -(-len(points) // MOST_POINTS) or 1
    return points[::step]


def _whiskers(series: Any, levels: Sequence[Any], rows: Sequence[tuple[Any, ...]]) -> None:
    """Intervals as error bars, which python-pptx does not know: their XML is written here."""
    known = {row[0]: row[1:] for row in rows}
    up: list[float | None] = []
    down: list[float | None] = []
    for level in levels:
        value, low, high = (_number(cell) for cell in known.get(level, (None, None, None)))
        up.append(high - value if value is not None and high is not None else None)
        down.append(value - low if value is not None and low is not None else None)
    made = etree.SubElement(series._element, qn("c:errBars"))
    for tag, word in (("errBarType", "both"), ("errValType", "cust"), ("noEndCap", "0")):
        etree.SubElement(made, qn(f"c:{tag}")).set("val", word)
    for tag, sizes in (("plus", up), ("minus", down)):
        _literal(etree.SubElement(made, qn(f"c:{tag}")), sizes)
    line = etree.SubElement(etree.SubElement(made, qn("c:spPr")), qn("a:ln"), w="15875")
    fill = etree.SubElement(line, qn("a:solidFill"))
    etree.SubElement(fill, qn("a:srgbClr")).set("val", INK("ink").lstrip("#").upper())
    before = next((child for child in series._element if child.tag in (qn("c:cat"), qn("c:val"))), None)
    if before is not None:
        before.addprevious(made)  # the schema wants them before the data


def _literal(parent: Any, sizes: Sequence[float | None]) -> None:
    """The sizes that there are: a bar without an interval has no error bar, not one of no length."""
    literal = etree.SubElement(parent, qn("c:numLit"))
    etree.SubElement(literal, qn("c:ptCount")).set("val", str(len(sizes)))
    for place, size in enumerate(sizes):
        if size is None:
            continue
        point = etree.SubElement(literal, qn("c:pt"), idx=str(place))
        etree.SubElement(point, qn("c:v")).text = repr(size)


def _logarithmic(axis: Any) -> None:
    scaling = axis._element.find(qn("c:scaling"))
    base = etree.Element(qn("c:logBase"))
    base.set("val", "10")
    scaling.insert(0, base)


def _picture(slide: Any, chart: Chart) -> None:
    spec = {**vega_lite(chart, ink=theme.literal(theme.LIGHT), still=True), "background": INK("card")}
    if chart.facet:
        spec["columns"], spec["spec"]["width"] = _facets(chart)
    elif not is_category(chart):
        spec["width"], spec["height"] = PICTURE_SIZES[shape(chart)]
    data = vl_convert.vegalite_to_png(json.dumps(spec), scale=PICTURE_SCALE)
    picture = slide.shapes.add_picture(io.BytesIO(data), FRAME[0], FRAME[1])
    place_picture(picture, FRAME)
    describe(picture, f"{chart.title}. {chart.summary}")


def _facets(chart: Chart) -> tuple[int, int]:
    """How many small multiples stand beside each other, and how wide each is, so that they fill a wide slide."""
    at = chart.data.columns.index(str(chart.facet))
    count = max(1, len({row[at] for row in chart.data.rows}))
    rows = 1 if count <= FEW_FACETS else 2 if count <= MANY_FACETS else 3
    columns = -(-count // rows)
    return columns, max(190, int(rows * FACET_HEIGHT * WIDE / columns) - 40)


def place_picture(picture: Any, frame: tuple[int, int, int, int]) -> None:
    """As large as the frame allows, in its middle."""
    left, top, width, height = frame
    scale = min(width / picture.width, height / picture.height)
    picture.width, picture.height = int(picture.width * scale), int(picture.height * scale)
    picture.left, picture.top = left + (width - picture.width) // 2, top
