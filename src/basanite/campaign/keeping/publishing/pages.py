"""The pages of the site: the look of reports, no script, nothing from elsewhere; they open from a disk as well."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from basanite import __version__
from basanite.campaign.keeping.publishing.gathering import BoardPage, Gathered, System
from basanite.campaign.keeping.publishing.records import Work
from basanite.campaign.keeping.publishing.tables import board_table
from basanite.figures import Table
from basanite.reports import theme
from basanite.reports.drawing.strip import Strip, strip
from basanite.reports.formats.html import asset, environment, favicon
from basanite.reports.model import Headline
from basanite.reports.wording import shown

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'"


def index_page(gathered: Gathered, work: Work, runs: Mapping[str, str]) -> str:
    """The first page: what was evaluated, the boards, and everything to download."""
    return _page("index.html", gathered, work, up="", runs=runs)


def plan_page(gathered: Gathered, work: Work) -> str:
    """The plan as it stands, its calendar, and every deviation from what was frozen (P-28)."""
    return _page("plan.html", gathered, work, up="")


def board_page(gathered: Gathered, work: Work, page: BoardPage) -> str:
    """One board: values with intervals, groups and ranks, and who is left out."""
    table = board_table(page.board, page.title)
    links = {system.name: f"../systems/{system.slug}.html" for system in page.systems}
    return _page("board.html", gathered, work, up="../", page=page, table=table, strip=_strip(page), links=links)


def system_page(gathered: Gathered, work: Work, system: System, run: str | None) -> str:
    """One system: its description form, its values and breakdowns, its receipts."""
    values = system.result.data.get("values", {})
    return _page(
        "system.html",
        gathered,
        work,
        up="../",
        system=system,
        run=run,
        values=_values(values),
        breakdowns=[_breakdown(name, levels) for name, levels in _levels(system)],
        window=gathered.campaign.window(system.window),
    )


def _page(name: str, gathered: Gathered, work: Work, *, up: str, **more: Any) -> str:
    page = _environment().get_template(f"site/{name}")
    text = page.render(gathered=gathered, work=work, campaign=gathered.campaign, up=up, **_shared(), **more)
    return text.rstrip() + "\n"


@functools.cache
def _environment() -> Environment:
    own = PackageLoader("basanite.campaign.keeping.publishing")
    made = environment().overlay(loader=ChoiceLoader([own, PackageLoader("basanite.reports")]))
    made.filters |= {"lines": _lines, "words": _words, "moment": lambda at: f"{at:%Y-%m-%d %H:%M} UTC"}
    return made


@functools.cache
def _shared() -> dict[str, Any]:
    own = resources.files("basanite.campaign.keeping.publishing").joinpath("templates", "site", "site.css")
    style = Markup("\n".join((theme.css(), asset("report.css"), own.read_text(encoding="utf-8"))))
    return {"favicon": favicon(), "policy": POLICY, "style": style, "version": __version__}


def _strip(page: BoardPage) -> Strip | None:
    rows = [row for row in page.board.rows if row.value is not None]
    lines = [
        Headline(row.name, page.board.metric, float(row.value or 0.0), row.low, row.high, 0, "", 0.95, group=row.group)
        for row in rows
    ]
    return strip(lines) if lines else None


def _values(values: Mapping[str, Any]) -> Table:
    rows = [
        (name, entry.get("value"), entry.get("low"), entry.get("high"), entry.get("units"))
        for name, entry in values.items()
    ]
    return Table("Values", ("Measure", "Value", "Low", "High", "Units"), rows)


def _levels(system: System) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(system.result.data.get("breakdowns", {}).items())


def _breakdown(name: str, levels: Mapping[str, Any]) -> Table:
    measures = sorted({measure for values in levels.values() for measure in values})
    rows = [
        (level, *(values.get(measure, {}).get("value") for measure in measures))
        for level, values in sorted(levels.items())
    ]
    return Table(f"By {name}", (name, *measures), rows)


def _words(value: Any) -> str:
    """A field of a description as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lines(text: str) -> Markup:
    """Text of several lines, in each of which nothing can hide or act (X-14)."""
    return Markup("\n").join(map(shown, text.splitlines()))
