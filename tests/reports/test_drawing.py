"""Pictures of our own: every kind of chart is well-formed, says what it shows, and lies where Vega draws it."""

import json
import re
from ast import literal_eval
from xml.etree import ElementTree

import examples
import numpy as np
import pytest
import vl_convert

from basanite.figures import Axis, Chart, Table
from basanite.reports import charts, theme

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script>\"' & <img src=x>"


def bars(series=None, **more):
    rows = [
        (name, team, value, value - 0.1, value + 0.2) for name in "abc" for team, value in (("A", 0.4), ("B", -0.3))
    ]
    rows = rows if series else rows[::2]
    data = Table("d", ("class", "team", "value", "low", "high"), rows)
    return Chart(
        "t", "s", "bars", data, Axis("value", "value"), Axis("class", "class", "category"),
        series=series, low="low", high="high", **more,
    )  # fmt: skip


def heat():
    rows = [(a, b, ord(a) / 10 - ord(b) / 7) for a in "abc" for b in "xyz"]
    data = Table("d", ("row", "column", "n"), rows)
    return Chart(
        "t", "s", "heat", data, Axis("column", "column", "category"), Axis("row", "row", "category"), shade="n"
    )


KINDS = {
    "lines": examples.threshold_curves,
    "det": examples.det_curve,
    "facets": examples.small_multiples,
    "points": examples.points_chart,
    "bars": bars,
    "bars of teams": lambda: bars("team"),
    "heat": heat,
}


def parsed(chart, **how):
    return ElementTree.fromstring(charts.svg(chart, **how))


def words(root):
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("narrow", [False, True])
def test_every_kind_of_chart_is_a_picture_that_fits_its_frame(kind, narrow):
    root = parsed(KINDS[kind](), narrow=narrow)
    width = float(root.get("width"))
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert len([one for one in root.iter() if one.tag in (f"{SVG}path", f"{SVG}rect")]) > 5
    assert width < (420 if narrow and kind != "facets" else 820)
    assert len(words(root)) > 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_series_is_named_above_and_each_mark_says_its_numbers(kind):
    chart = KINDS[kind]()
    root = parsed(chart)
    names = {str(row[chart.data.columns.index(chart.series)]) for row in chart.data.rows} if chart.series else set()
    assert names <= set(words(root))
    if kind not in ("lines", "det"):  # a line of hundreds of points says none of them
        assert len([one for one in root.iter(f"{SVG}title") if one.text]) >= len(chart.data.rows)


def test_no_text_of_a_stranger_becomes_markup():
    data = Table("d", ("x", "y", HOSTILE), [(0.1, 0.2, HOSTILE), (0.3, 0.4, HOSTILE)])
    chart = Chart("t", "s", "points", data, Axis("x", HOSTILE), Axis("y", HOSTILE), series=HOSTILE)
    root = parsed(chart)
    assert not [one.tag for one in root.iter() if one.tag.removeprefix(SVG) in ("script", "img")]
    assert {name for one in root.iter() for name in one.attrib if name.startswith("on")} == set()
    assert any(text.startswith("</title><script>") for text in words(root))


def vega(chart):
    """The same specification as the renderer of Vega draws it."""
    spec = charts.vega_lite(chart, ink=theme.literal(theme.LIGHT), still=True)
    return ElementTree.fromstring(vl_convert.vegalite_to_svg(json.dumps(spec)))


def test_points_lie_where_vega_draws_them():
    """Of the first series, in parts of the first point's place: the planes differ in width alone."""
    chart = examples.points_chart()
    (ours,) = [one for one in parsed(chart).iter(f"{SVG}g") if one.get("class") == "mark-point"]
    circles = [(float(one.get("cx")), float(one.get("cy"))) for one in ours.iter(f"{SVG}circle")]
    (marks,) = [one for one in vega(chart).iter(f"{SVG}g") if one.get("class", "").startswith("mark-symbol role-mark")]
    places = [literal_eval(one.get("transform").removeprefix("translate")) for one in marks.iter(f"{SVG}path")][
        : len(circles)
    ]
    assert len(circles) == 2
    assert np.divide(circles, circles[0]) == pytest.approx(np.divide(places, places[0]), abs=1e-3)


def test_bars_are_as_long_to_each_other_as_vega_draws_them():
    chart = bars()
    ours = [float(one.get("width")) for one in parsed(chart).iter(f"{SVG}rect") if one.get("rx")]
    marks = [one for one in vega(chart).iter(f"{SVG}g") if one.get("class", "").startswith("mark-rect role-mark")]
    paths = [path.get("d") for one in marks for path in one.iter(f"{SVG}path")]
    lengths = [float(re.search(r"h([\d.]+)v", path)[1]) for path in paths if "M0,0" in path]
    assert len(ours) == len(lengths) == 3
    assert np.divide(ours, ours[0]) == pytest.approx(np.divide(lengths, lengths[0]), abs=1e-3)
