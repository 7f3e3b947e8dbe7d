"""The templates: everything is escaped, a missing value is a fault, and hidden characters are shown (X-14)."""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from basanite import registry
from basanite.errors import BasaniteError
from basanite.reports import theme
from basanite.reports.formats.html import listed_rows, numeric
from basanite.reports.wording import number, percent, shown, true_minus
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
    made.globals |= {"listed_rows": listed_rows, "numeric": numeric}
    made.filters |= {"figure": figure, "percent": percent, "size": size, "meaning": meaning, "prose": true_minus}
    return made


def figure(value: Any) -> str:
    """A number as pages show it, with a true minus sign; a dash where there is none."""
    return number(value).replace("-", "−") if not isinstance(value, str) else value


@functools.cache
def meaning(metric: str) -> str:
    """What a metric measures, in one line: its short name says nothing to a newcomer.

    >>> meaning("pfa")
    'Mean share of non-relevant documents that were returned, over all queries'
    >>> meaning("no such metric")
    ''
    """
    try:
        return str(registry.load("metrics", metric).summary)
    except BasaniteError:
        return ""


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
    """What lies under /static/: our own files, and the style with the theme's colours in front."""
    folder = resources.files("basanite.server").joinpath("static")
    found = _files(folder)
    for part in folder.iterdir():
        if part.is_dir():
            found |= {f"{part.name}/{name}": held for name, held in _modules(_files(part)).items()}
    found["site.css"] = theme.css().encode() + b"\n" + found["site.css"]
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
}


@functools.cache
def static_address(name: str) -> str:
    """The address of an asset; it changes with its content, so that browsers may keep it for ever."""
    return f"/static/{name}?v={hashlib.sha256(assets()[name]).hexdigest()[:12]}"


def _finalize(value: Any) -> Any:
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\n".join(map(shown, value.replace("\r\n", "\n").split("\n")))  # lines stay lines


def _mark() -> Markup:
    return Markup(resources.files("basanite.reports").joinpath("templates", "mark.svg").read_text(encoding="utf-8"))
