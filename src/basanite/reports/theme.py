"""The one home of colours, type, spacing and the look of charts; reports, pages and slides share it.

Basanite is the black stone on which gold is tested: near-black, paper, and one restrained streak of gold. Charts name
their colours as CSS variables with a literal to fall back on, so one drawing serves light, dark and print. The series
colours differ for colour-blind readers too and stand out by at least 3:1; lines also differ by dash, points by shape.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, TypeAlias

Ink: TypeAlias = Callable[[str], str]
"""Turns the name of a colour into what a chart writes for it."""


@dataclass(frozen=True)
class Palette:
    """One set of colours; every text colour reaches 4.5:1 on `page` and `card`."""

    page: str
    card: str
    sunken: str
    ink: str
    muted: str
    rule: str
    grid: str
    gold: str
    accent: str
    good: str
    bad: str
    stone: str
    stone_ink: str
    stone_muted: str
    stone_gold: str
    faint: str
    series_1: str
    series_2: str
    series_3: str
    series_4: str
    series_5: str
    series_6: str
    series_7: str
    series_8: str


LIGHT = Palette(
    page="#f8f7f3",
    card="#ffffff",
    sunken="#f1efe8",
    ink="#1b1b1e",
    muted="#5d5b63",
    rule="#dedbd1",
    grid="#eceae3",
    gold="#c49a1f",
    accent="#765600",
    good="#1c6b4a",
    bad="#a3271f",
    stone="#18181b",
    stone_ink="#f5f3ec",
    stone_muted="#b9b6ad",
    stone_gold="#dcb64b",
    faint="#8b8984",
    series_1="#b47b00",
    series_2="#1f45b0",
    series_3="#b03a20",
    series_4="#0f967a",
    series_5="#743a88",
    series_6="#6a86dc",
    series_7="#8b333f",
    series_8="#646a7f",
)

DARK = Palette(
    page="#121214",
    card="#1a1a1d",
    sunken="#232327",
    ink="#edebe5",
    muted="#a9a6ad",
    rule="#38373d",
    grid="#2a2a2f",
    gold="#d9b140",
    accent="#e2bf5c",
    good="#6fcf9f",
    bad="#ff9a8f",
    stone="#0b0b0d",
    stone_ink="#f5f3ec",
    stone_muted="#b9b6ad",
    stone_gold="#dcb64b",
    faint="#85838a",
    series_1="#f2c240",
    series_2="#8796f8",
    series_3="#dc6a3c",
    series_4="#3cc98a",
    series_5="#c0a8de",
    series_6="#5672bd",
    series_7="#d68b95",
    series_8="#afc3ca",
)

SERIES = tuple(f"series_{number}" for number in range(1, 9))
DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (7, 3),
    (2, 2),
    (9, 3, 2, 3),
    (4, 2),
    (12, 4),
    (1, 3),
    (6, 2, 2, 2, 2, 2),
)
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")

SANS = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
FACES = {
    "inter.woff2": (
        "U+0020-007E, U+00A0-00FF, U+0131, U+0152-0153, U+02C6, U+02DA, U+02DC, U+0300-0304, U+0308, U+0327, "
        "U+0391-03A9, U+03B1-03C9, U+2010-2015, U+2018-201E, U+2020-2022, U+2026, U+202F, U+2030, U+2032-2033, "
        "U+2039-203A, U+20AC, U+2122, U+2190-2193, U+2197, U+2212, U+2215, U+221A, U+221E, U+2248, U+2260, "
        "U+2264-2265, U+25B2, U+25B6, U+25BC, U+25CB, U+25CF, U+2713, U+2715"
    ),
    "inter-more.woff2": (
        "U+0100-0130, U+0132-0151, U+0154-024F, U+0370-0390, U+03CA-052F, U+1E00-1EFF, U+2070-209F, U+20A0-20AB, "
        "U+20AD-20C0"
    ),
}
"""The files of our typeface, Inter, with the characters that each holds: browsers load only what a page shows."""
EMBEDDED = "inter.woff2"
SERIF = "Charter, 'Bitstream Charter', 'Iowan Old Style', 'Sitka Text', Cambria, Georgia, 'Liberation Serif', serif"
SLIDE_SANS = "Calibri"
"""Slides name one font, which is there wherever slides are shown; headings are bold, as on pages."""
MONO = "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'Liberation Mono', monospace"

SPACES = {"space_1": "0.25rem", "space_2": "0.5rem", "space_3": "0.75rem", "space_4": "1rem", "space_5": "1.5rem"}
SPACES |= {"space_6": "2.25rem", "space_7": "3.5rem"}


def variable(name: str) -> str:
    """A colour as a CSS variable with the light colour to fall back on.

    >>> variable("gold")
    'var(--gold, #c49a1f)'
    """
    return f"var(--{name.replace('_', '-')}, {getattr(LIGHT, name)})"


def literal(palette: Palette) -> Ink:
    """Colours written out, for slides and pictures that know no CSS."""
    return lambda name: str(getattr(palette, name))


def declarations(palette: Palette) -> str:
    """The palette as CSS declarations."""
    return " ".join(f"--{name.replace('_', '-')}: {value};" for name, value in asdict(palette).items())


def typeface(name: str) -> bytes:
    """A file of our typeface."""
    return resources.files("basanite.reports").joinpath("typeface", name).read_bytes()


def font_faces(addresses: Mapping[str, str]) -> str:
    """The rules that load our typeface, from the address of each of its files."""
    return "\n".join(
        f"@font-face {{ font-family: Inter; font-weight: 400 700; font-display: swap; src: url({address}) "
        f"format('woff2'); unicode-range: {FACES[name]}; }}"
        for name, address in addresses.items()
    )


def embedded_typeface() -> str:
    """The typeface inside a page that comes as one file: what Western languages and numbers need."""
    return font_faces({EMBEDDED: "data:font/woff2;base64," + base64.b64encode(typeface(EMBEDDED)).decode()})


def css() -> str:
    """Every variable of the theme; dark follows the reader's system unless the page says otherwise, print is light."""
    fixed = {"sans": SANS, "serif": SERIF, "mono": MONO, **SPACES}
    shared = " ".join(f"--{name.replace('_', '-')}: {value};" for name, value in fixed.items())
    light, dark = declarations(LIGHT), declarations(DARK)
    return "\n".join(
        (
            f":root {{ color-scheme: light; {shared} {light} }}",
            "@media screen and (prefers-color-scheme: dark) {",
            f":root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}",
            f"@media screen {{ :root[data-theme=dark] {{ color-scheme: dark; {dark} }} }}",
        )
    )


def chart_config(ink: Ink = variable) -> dict[str, Any]:
    """The look of every chart, as a Vega-Lite configuration."""
    return {
        "aria": False,
        "background": None,
        "font": SANS,
        "padding": 4,
        "view": {"stroke": None},
        "axis": _axis(ink),
        "axisY": {"titleAlign": "left", "titleAngle": 0, "titleAnchor": "end", "titleX": 0, "titleY": -12},
        "legend": _legend(ink),
        "header": {"labelColor": ink("ink"), "labelFontSize": 12, "labelFontWeight": 600, "title": None},
        "range": {"category": [ink(name) for name in SERIES]},
        "text": {"fontSize": 11, "fill": ink("ink")},
        "line": {"strokeWidth": 2, "strokeJoin": "round"},
    }


def _axis(ink: Ink) -> dict[str, Any]:
    return {
        "domainColor": ink("faint"),
        "gridColor": ink("grid"),
        "labelColor": ink("muted"),
        "labelFontSize": 11.5,
        "labelLimit": 200,
        "labelPadding": 5,
        "ticks": False,
        "titleColor": ink("ink"),
        "titleFontSize": 12,
        "titleFontWeight": 500,
        "titlePadding": 9,
    }


def _legend(ink: Ink) -> dict[str, Any]:
    return {
        "labelColor": ink("ink"),
        "labelFontSize": 12,
        "labelLimit": 260,
        "columnPadding": 18,
        "columns": 3,
        "orient": "top",
        "symbolSize": 120,
        "symbolStrokeWidth": 2,
        "title": None,
    }
