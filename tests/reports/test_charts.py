"""Charts and theme: normal-deviate axes, thinning, colours that everyone can tell apart."""

import itertools
import json
import math
from dataclasses import asdict

import examples
import numpy as np
import pytest

from basanite.figures import Axis, Chart, Table
from basanite.reports import chart_parts, charts, theme
from basanite.reports.chart_parts import POINTS_PER_LINE

TEXT = ("ink", "muted", "accent", "good", "bad")
VISION = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritan": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def light(colour: str) -> np.ndarray:
    """Linear light of a hex colour."""
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(light(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: str, vision: np.ndarray) -> np.ndarray:
    x, y, z = (XYZ @ np.clip(vision @ light(colour), 0, 1)) / (0.9505, 1.0, 1.089)
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_text_and_series_stand_out_from_the_page(palette):
    for ground in (palette.page, palette.card):
        assert all(contrast(getattr(palette, name), ground) >= 4.5 for name in TEXT)
        assert all(contrast(getattr(palette, name), ground) >= 3 for name in theme.SERIES)
    assert contrast(palette.stone_ink, palette.stone) >= 7
    assert contrast(palette.stone_gold, palette.stone) >= 4.5
    assert contrast(palette.stone_muted, palette.stone) >= 4.5


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_the_first_five_series_differ_for_every_eye(palette, vision):
    colours = [lab(getattr(palette, name), VISION[vision]) for name in theme.SERIES[:5]]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(colours, 2)) > 11


def test_every_colour_is_a_variable_with_a_literal_behind():
    text = json.dumps(charts.vega_lite(examples.det_curve()))
    assert "var(--series-1, #" in text
    plain = json.dumps(charts.vega_lite(examples.det_curve(), ink=theme.literal(theme.DARK)))
    assert "var(" not in plain
    assert theme.DARK.series_1 in plain
    assert all(f"--{name.replace('_', '-')}:" in theme.css() for name in asdict(theme.LIGHT))


def test_normal_deviates_have_ticks_in_percent():
    channel = chart_parts.quantitative(
        Axis("p", "p", "deviate"), (chart_parts.deviate(0.001), chart_parts.deviate(0.5))
    )
    assert channel["axis"]["values"][0] == pytest.approx(-3.090232)
    assert "'0.1%'" in channel["axis"]["labelExpr"]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_impossible_error_rates_stay_on_the_axis(share):
    assert math.isfinite(chart_parts.deviate(share))


@pytest.mark.parametrize(
    ("value", "scale"), [(math.nan, "linear"), (math.inf, "linear"), (0.0, "log"), (None, "linear")]
)
def test_what_has_no_place_on_an_axis_is_not_drawn(value, scale):
    assert chart_parts.place_on_axis(value, Axis("x", "x", scale)) is None


def test_a_long_curve_is_thinned_but_keeps_its_peak():
    rows = [(index / 20000, 1.0 if index == 12345 else 0.1) for index in range(20000)]
    chart = Chart("t", "s", "line", Table("d", ("x", "y"), rows), Axis("x", "x"), Axis("y", "y"))
    points = charts.vega_lite(chart)["data"]["values"]
    assert len(points) < 1.5 * POINTS_PER_LINE
    assert max(point["y"] for point in points) == 1.0
    assert points[-1]["x"] == rows[-1][0]


@pytest.mark.parametrize(
    "make", [examples.threshold_curves, examples.det_curve, examples.small_multiples, examples.points_chart]
)
def test_each_kind_of_chart_is_drawn_the_same_twice(make):
    assert charts.svg(make()) == charts.svg(make())
    assert charts.svg(make()).count("<path") > 5


def test_upright_bars_are_drawn_too():
    data = Table("d", ("class", "value", "low", "high"), [("a", 0.2, 0.1, 0.3), ("b", 0.4, None, None)])
    chart = Chart(
        "t", "s", "bars", data, Axis("class", "class", "category"), Axis("value", "v"), low="low", high="high"
    )
    assert "<svg" in charts.svg(chart)


def test_an_empty_chart_is_an_empty_picture():
    chart = Chart("t", "s", "line", Table("d", ("x", "y"), ()), Axis("x", "x"), Axis("y", "y"))
    assert "<svg" in charts.svg(chart)


def test_points_above_names_stand_beside_each_other_and_need_no_zero():
    rows = tuple((str(fold), team, 0.9 + at / 100, 0.89, 0.95) for fold in (1, 2) for at, team in enumerate("AB"))
    data = Table("folds", ("fold", "team", "value", "low", "high"), rows)
    chart = Chart(
        "t", "s", "points", data, Axis("fold", "fold", "category"), Axis("value", "MAP", low=0.85, high=1.0),
        series="team", low="low", high="high",
    )  # fmt: skip
    spec = charts.vega_lite(chart)
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    assert points["encoding"]["xOffset"]["field"] == "series"
    assert points["encoding"]["y"]["scale"]["domain"] == [0.85, 1.0]
    assert "zoom" not in {param["name"] for param in points["params"]}  # names cannot be zoomed
    assert "<svg" in charts.svg(chart)


def test_the_legend_of_lines_with_bands_is_as_strong_as_the_lines():
    rows = tuple((team, x, 0.5, 0.4, 0.6) for team in "AB" for x in (0.0, 1.0))
    data = Table("curve", ("team", "x", "y", "low", "high"), rows)
    drawn = charts.svg(
        Chart("t", "s", "line", data, Axis("x", "x"), Axis("y", "y"), series="team", low="low", high="high")
    )
    symbol = drawn[drawn.index("role-legend-symbol") :][:600]
    assert 'opacity="1"' in symbol


def test_no_two_of_many_series_are_drawn_alike():
    rows = tuple((f"s{at}", x, 0.5) for at in range(20) for x in (0.0, 1.0))
    chart = Chart("t", "s", "line", Table("c", ("s", "x", "y"), rows), Axis("x", "x"), Axis("y", "y"), series="s")
    lines = next(layer for layer in charts.vega_lite(chart)["layer"] if layer["mark"]["type"] == "line")
    looks = zip(*(lines["encoding"][name]["scale"]["range"] for name in ("color", "strokeDash")), strict=True)
    assert len({str(look) for look in looks}) == 20
