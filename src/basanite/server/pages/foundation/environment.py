"""The templates: everything is escaped, a missing value is a fault, and hidden characters are shown (X-14)."""

from __future__ import annotations

import functools
import hashlib
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from basanite.reports import theme
from basanite.reports.html import listed_rows, numeric
from basanite.reports.wording import number, percent, shown
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
    made.filters |= {"figure": figure, "percent": percent, "size": size}
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
    """What lies under /static/: our own files, and the style with the theme's colours in front."""
    folder = resources.files("basanite.server").joinpath("static")
    found = {item.name: item.read_bytes() for item in folder.iterdir() if item.name.rpartition(".")[2] in MEDIA}
    found["site.css"] = theme.css().encode() + b"\n" + found["site.css"]
    found["mark.svg"] = resources.files("basanite.reports").joinpath("templates", "mark.svg").read_bytes()
    return found


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
