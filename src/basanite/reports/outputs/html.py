"""HTML: one file that needs no network, with charts to explore, tables to sort, dark mode and a print layout.

The page's own scripts are named by their hashes in its content policy, so nothing a stranger wrote can run, and the
policy forbids every request. Charts stand in the page as still pictures first; the script replaces them.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Cell, Chart, Excerpts, Figure, Image, Table
from basanite.reports import charts, theme
from basanite.reports.report import Headline, Output, Report, Section
from basanite.reports.wording import number, percent, plural, printable, true_minus

TICKS = 5


@dataclass(frozen=True)
class Place:
    """One headline on the axis, in percent of its length; None where there is nothing to draw."""

    headline: Headline
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Strip:
    """An axis with ticks (place in percent, label) and the headlines on it."""

    ticks: tuple[tuple[float, str], ...]
    places: tuple[Place, ...]


def strip(headlines: Sequence[Headline]) -> Strip:
    """The headlines on one axis: 0 to 1 where that holds them all, else round numbers around them."""
    low, step, count = _axis(headlines)
    places = tuple(_place(line, low, step * count) for line in headlines)
    ticks = tuple((round(100 * index / count, 3), f"{low + index * step:.6g}") for index in range(count + 1))
    return Strip(ticks, places)


def _place(line: Headline, start: float, width: float) -> Place:
    at, low, high = (
        None if value is None or not math.isfinite(value) else round(100 * (value - start) / width, 3)
        for value in (line.value, line.low, line.high)
    )
    return Place(line, at, low, high)


def _axis(headlines: Sequence[Headline]) -> tuple[float, float, int]:
    """Start, step and number of steps of the axis."""
    values = list(_finite(headlines)) or [0.0, 1.0]
    low, high = min(values), max(values)
    if low >= 0 and high <= 1:
        return 0.0, 0.2, 5
    step = _round_step((high - low) * 1.3 or abs(high) or 1.0)
    start = math.floor(low / step) * step
    return start, step, max(1, math.ceil((high - start) / step))


def _finite(headlines: Sequence[Headline]) -> Iterator[float]:
    for line in headlines:
        yield from (v for v in (line.value, line.low, line.high) if v is not None and math.isfinite(v))


def _round_step(span: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that cuts the span into about five.

    >>> _round_step(1.3), _round_step(40)
    (0.5, 10.0)
    """
    rough = span / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(float(f"{size * power:.6g}") for size in (1, 2, 5, 10) if size * power >= rough)


TABLE_LONG = 40
TABLE_ROWS = 250
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"})


@dataclass(frozen=True)
class Shown:
    """A figure with its place in the page: an anchor, and what the template needs to draw it."""

    figure: Figure
    anchor: str
    kind: str
    table: Table | None = None
    still: Markup | None = None
    shape: str = ""
    source: str = ""


@dataclass(frozen=True)
class Part:
    """A section with its anchor and its figures as shown."""

    section: Section
    anchor: str
    figures: tuple[Shown, ...]


def render(report: Report) -> bytes:
    """The report as one self-contained HTML file."""
    parts = tuple(_parts(report))
    script = charts.script() if any(item.kind == "chart" for part in parts for item in part.figures) else ""
    specs = {
        item.anchor: charts.vega_lite(item.figure)
        for part in parts
        for item in part.figures
        if script and isinstance(item.figure, Chart)
    }
    scripts = (*((script,) if script else ()), asset("report.js"))
    page = (
        environment()
        .get_template("report.html")
        .render(
            report=report,
            parts=parts,
            strip=_strip(report),
            version=__version__,
            style=Markup("\n".join((theme.embedded_typeface(), theme.css(), asset("report.css")))),
            scripts=tuple(map(Markup, scripts)),
            policy=_policy(scripts),
            favicon=favicon(),
            charts=embed_json(specs),
            data=embed_json(report.data),
        )
    )
    return (page.rstrip() + "\n").encode()


def embed_json(data: Any) -> Markup:
    """JSON that may stand inside a page: no character in it can end its element or start another (X-14).

    >>> embed_json({"name": "</script><!--"})
    Markup('{"name":"\\\\u003c/script\\\\u003e\\\\u003c!--"}')
    """
    text = json.dumps(plain_values(data), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def sort_key(cell: Cell) -> str:
    """What a table sorts a cell by: the full number, or the text."""
    return "" if cell is None else printable(cell) if isinstance(cell, str) else repr(float(cell))


def numeric(table: Table, at: int) -> bool:
    """Whether a column holds numbers only."""
    return not any(isinstance(row[at], str) for row in table.rows)


def _parts(report: Report) -> Iterator[Part]:
    for index, section in enumerate(report.sections, 1):
        figures = (_show_figure(figure, f"f{index}-{at}") for at, figure in enumerate(section.figures, 1))
        yield Part(section, f"s{index}", tuple(figures))


def _show_figure(figure: Figure, anchor: str) -> Shown:
    if isinstance(figure, Chart):
        # A still picture from our own renderer; its texts are escaped by it, which a test with a hostile name checks.
        return Shown(
            figure, anchor, "chart", figure.data, Markup(charts.svg(figure, prefix=anchor)), charts.shape(figure)
        )
    if isinstance(figure, Table):
        return Shown(figure, anchor, "facts" if figure.columns == ("Setting", "Value") else "table", figure)
    if isinstance(figure, Image):
        # Drawings are made by this package and hold no text of anybody else.
        return Shown(figure, anchor, "image", still=Markup(figure.drawing), source=_source(figure))
    if isinstance(figure, Excerpts):
        return Shown(figure, anchor, "excerpts")
    return Shown(figure, anchor, "text")


def _source(image: Image) -> str:
    if image.media_type not in IMAGES:
        return ""
    return f"data:{image.media_type};base64,{base64.b64encode(image.content).decode()}"


def listed_rows(table: Table) -> list[tuple[int, tuple[Cell, ...]]]:
    """The rows a page lists: all, or evenly chosen ones where a curve has thousands."""
    step = -(-len(table.rows) // TABLE_ROWS) or 1
    return [(index, table.rows[index]) for index in range(0, len(table.rows), step)]


def _strip(report: Report) -> Strip | None:
    return strip(report.headlines) if report.headlines else None


@functools.cache
def environment() -> Environment:
    """The templates, with everything escaped that is not marked as safe."""
    made = Environment(
        loader=PackageLoader("basanite.reports"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions: Mapping[str, Any] = {
        "numeric": numeric,
        "listed_rows": listed_rows,
        "plural": plural,
        "percent": percent,
    }
    made.globals |= {**functions, "table_long": TABLE_LONG}
    made.filters |= {"number": _number, "sort_key": sort_key, "prose": true_minus}
    return made


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _number(cell: Cell) -> str:
    """A number with a true minus sign; words stay as they are."""
    return number(cell) if isinstance(cell, str) else re.sub(r"^-", "−", number(cell))


def asset(name: str) -> str:
    """The text of a file that comes with the templates."""
    return resources.files("basanite.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(scripts: tuple[str, ...]) -> str:
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def favicon() -> str:
    """Our mark, as an address that needs no network."""
    return "data:image/svg+xml;base64," + base64.b64encode(asset("mark.svg").encode()).decode()


OUTPUT = Output("html", "one self-contained page with interactive charts", "text/html; charset=utf-8", render)
