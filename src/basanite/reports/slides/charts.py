"""Charts on slides: native bars with intervals and lines, which a reader can edit; what PowerPoint cannot draw (a
normal-deviate scale, small multiples) stands as a crisp picture."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import vl_convert
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_AXIS_CROSSES, XL_CHART_TYPE, XL_LEGEND_POSITION, XL_TICK_LABEL_POSITION
from pptx.oxml.ns import qn
from pptx.util import Inches, Pt

from basanite.figures import Chart
from basanite.reports import theme
from basanite.reports.drawing.charts import vega_lite
from basanite.reports.drawing.points import is_category
from basanite.reports.formats.csv_output import cell
from basanite.reports.slides.deck import (
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
from basanite.reports.wording import shown

MOST_POINTS = 400
SUMMARY = 190
"""Letters of a chart's sentence that stand on two lines; the notes of the slide hold all of it."""
MOST_BARS = 40
PICTURE_SCALE = 2.5
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
    write(
        slide,
        (MARGIN, TOP - Inches(0.1), WIDTH - 2 * MARGIN, Inches(0.6)),
        [whole_sentences(chart.summary, SUMMARY)],
        size=14,
        ink="muted",
    )
    if is_category(chart) and chart.kind == "bars" and not chart.facet and len(chart.data.rows) <= MOST_BARS:
        _bars(slide, chart)
    elif chart.kind in ("line", "points") and _plain(chart):
        _plane(slide, chart)
    else:
        _picture(slide, chart)


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
    drawn.category_axis.crosses = XL_AXIS_CROSSES.MAXIMUM
    drawn.category_axis.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    drawn.value_axis.has_major_gridlines = True
    drawn.plots[0].gap_width = 60
    if all((_number(cell) or 0.0) >= 0 for rows in found.values() for row in rows for cell in row[1:]):
        drawn.value_axis.minimum_scale = 0  # bars are lengths
    for plot, rows in zip(drawn.plots[0].series, found.values(), strict=True):
        if chart.low and chart.high:
            _whiskers(plot, levels, rows)


def _plane(slide: Any, chart: Chart) -> None:
    data = XyChartData()
    for name, rows in _by_series(chart, (chart.x.column, chart.y.column)).items():
        series = data.add_series(_label(name))
        for x, y in _thinned([row for row in rows if _number(row[0]) is not None and _number(row[1]) is not None]):
            series.add_data_point(float(x), float(y))
    kind = XL_CHART_TYPE.XY_SCATTER_LINES_NO_MARKERS if chart.kind == "line" else XL_CHART_TYPE.XY_SCATTER
    drawn = _place(slide, chart, kind, data)
    for axis, told in ((drawn.category_axis, chart.x), (drawn.value_axis, chart.y)):
        axis.minimum_scale, axis.maximum_scale = told.low, told.high
        if told.scale == "log":
            _logarithmic(axis)


def _label(name: Any) -> str:
    """A name in the workbook behind a chart; one that a spreadsheet would run or follow gets a quote (X-33).

    >>> _label("=cmd|calc!A0"), _label("{=1+1}"), _label("alpha")
    ("'=cmd|calc!A0", "'{=1+1}", 'alpha')
    """
    text = cell(cut(str(name), 60))
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
    for axis, told in zip((drawn.category_axis, drawn.value_axis), _told(chart), strict=True):
        axis.has_title = True
        axis.axis_title.text_frame.text = shown(told.label)
        axis.axis_title.text_frame.paragraphs[0].font.size = Pt(12)
        axis.format.line.color.rgb = colour("faint")
        if axis.has_major_gridlines:
            axis.major_gridlines.format.line.color.rgb = colour("grid")
    for place, series in enumerate(drawn.plots[0].series):
        _paint(series, chart, theme.SERIES[place % len(theme.SERIES)])
    return drawn


def _told(chart: Chart) -> tuple[Any, Any]:
    """The axes in PowerPoint's order: a bar chart lies on its side."""
    return (chart.y, chart.x) if is_category(chart) else (chart.x, chart.y)


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


def _thinned(points: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    step = -(-len(points) // MOST_POINTS) or 1
    return points[::step]


def _whiskers(series: Any, levels: Sequence[Any], rows: Sequence[tuple[Any, ...]]) -> None:
    """Intervals as error bars, which python-pptx does not know: their XML is written here."""
    known = {row[0]: row[1:] for row in rows}
    up, down = [], []
    for level in levels:
        value, low, high = (_number(cell) for cell in known.get(level, (None, None, None)))
        up.append(high - value if value is not None and high is not None else 0.0)
        down.append(value - low if value is not None and low is not None else 0.0)
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


def _literal(parent: Any, sizes: Sequence[float]) -> None:
    literal = etree.SubElement(parent, qn("c:numLit"))
    etree.SubElement(literal, qn("c:ptCount")).set("val", str(len(sizes)))
    for place, size in enumerate(sizes):
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
