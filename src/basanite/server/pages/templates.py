"""What templates are filled with and how: filters, assets, charts, lists by page.

Everything is escaped, a missing value is a fault, and hidden characters are shown (X-14). Charts are still SVG made on
the server, with a table of what they draw and a sentence that says it (P-33). Long lists are paged by key, not by
number: page 400 costs what page 1 costs, and nothing is shown twice.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from basanite.figures import Chart, Table
from basanite.reports import charts, theme
from basanite.reports.metric_names import display_name, meaning
from basanite.reports.outputs.html import listed_rows, numeric
from basanite.reports.wording import number, percent, printable, true_minus
from basanite.server import languages
from basanite.server.catalogue import plural, say


@functools.cache
def environment() -> Environment:
    """The templates of all pages."""
    made = Environment(
        loader=PackageLoader("basanite.server"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"_": say, "plural": plural, "static": static_address, "mark": _mark()}
    made.globals |= {"language": languages.current, "direction": languages.direction, "languages": languages.LANGUAGES}
    made.globals |= {"listed_rows": listed_rows, "numeric": numeric}
    made.filters |= {"figure": figure, "percent": percent, "size": size, "prose": true_minus}
    made.filters |= {"meaning": meaning, "metric_name": display_name}
    return made


def figure(value: Any) -> str:
    """A number as pages show it, with a true minus sign; a dash where there is none."""
    return number(value).replace("-", "−") if not isinstance(value, str) else value


def size(count: int) -> str:
    """A number of bytes.

    >>> size(999), size(1_500_000)
    ('999 B', '1.4 MiB')
    """
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{int(value)} B" if unit == "B" else f"{value:.1f} {unit}"


@functools.cache
def assets() -> dict[str, bytes]:
    """What lies under /static/: our own files, the typeface, and the style with the theme's colors in front."""
    folder = resources.files("basanite.server").joinpath("static")
    found = _files(folder)
    for part in folder.iterdir():
        if part.is_dir():
            found |= {f"{part.name}/{name}": held for name, held in _modules(_files(part)).items()}
    faces = {name: theme.typeface(name) for name in theme.FACES}
    addresses = {name: f"/static/{name}?v={_digest(held)}" for name, held in faces.items()}
    found |= faces
    found["site.css"] = f"{theme.font_faces(addresses)}\n{theme.css()}\n".encode() + found["site.css"]
    found["mark.svg"] = resources.files("basanite.reports").joinpath("templates", "mark.svg").read_bytes()
    return found


def _files(folder: Traversable) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in folder.iterdir() if item.name.rpartition(".")[2] in MEDIA}


def _modules(files: dict[str, bytes]) -> dict[str, bytes]:
    """Scripts of one folder import each other by addresses that change with the folder's content, as pages do."""
    version = hashlib.sha256(b"\0".join(files[name] for name in sorted(files))).hexdigest()[:12].encode()
    return {name: _IMPORT.sub(rb"\1?v=" + version + rb'"', held) for name, held in files.items()}


_IMPORT = re.compile(rb'(from "\./[\w-]+\.js)"')
MEDIA = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2",
}


@functools.cache
def static_address(name: str) -> str:
    """The address of an asset; it changes with its content, so that browsers may keep it for ever."""
    return f"/static/{name}?v={_digest(assets()[name])}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _finalize(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(printable, value.replace("\r\n", "\n").split("\n")))  # lines stay lines


def _mark() -> Markup:
    return Markup(resources.files("basanite.reports").joinpath("templates", "mark.svg").read_text(encoding="utf-8"))


MOST_CHARTS = 256
WIDTHS = ("wide", "narrow")


@dataclass(frozen=True)
class DrawnChart:
    """A chart as a page needs it."""

    anchor: str
    title: str
    summary: str
    picture: Markup
    shape: str
    table: Table


def draw_chart(chart: Chart) -> DrawnChart:
    """A chart ready to be shown; drawn once for each content."""
    key = hashlib.sha256(repr(chart).encode()).hexdigest()[:12]
    picture = _picture(_ChartKey(key, chart))
    return DrawnChart(f"chart-{key}", chart.title, chart.summary, picture, charts.shape(chart), chart.data)


class _ChartKey:
    """A chart that is known by its content, so that it can be looked up."""

    def __init__(self, key: str, chart: Chart) -> None:
        self.key, self.chart = key, chart

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ChartKey) and other.key == self.key


@functools.lru_cache(maxsize=MOST_CHARTS)
def _picture(keyed: _ChartKey) -> Markup:
    """The chart for a desk and for a phone, of which a page shows one.

    The pictures are silent: their title and their table speak for them (P-33).
    """
    drawings = (charts.svg(keyed.chart, prefix=f"{width}{keyed.key}", narrow=width == "narrow") for width in WIDTHS)
    return Markup("").join(
        Markup(drawing.replace('class="marks"', f'aria-hidden="true" class="{width}-chart"', 1))
        for width, drawing in zip(WIDTHS, drawings, strict=True)
    )


T = TypeVar("T")

ROWS = 50


@dataclass(frozen=True)
class Paged(Generic[T]):
    """One page of a list and the addresses of its neighbours."""

    rows: tuple[T, ...]
    newer: str | None = None
    """Where the list begins again, if this is not its first page."""
    older: str | None = None


def page_of(
    found: Sequence[T], *, key: Callable[[T], str], path: str, after: str | None, rows: int = ROWS, **kept: str
) -> Paged[T]:
    """One page of what was found, where one row more than the page holds was asked for.

    >>> page_of([3, 2, 1], key=str, path="/runs", after=None, rows=2).older
    '/runs?after=2'
    """
    page = tuple(found[:rows])
    chosen = {name: value for name, value in kept.items() if value}
    older = _list_address(path, chosen | {"after": key(page[-1])}) if len(found) > rows else None
    return Paged(page, _list_address(path, chosen) if after else None, older)


def _list_address(path: str, values: dict[str, str]) -> str:
    return f"{path}?{urlencode(values)}" if values else path
