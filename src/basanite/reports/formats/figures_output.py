"""Charts and tables as plain JSON data, and back: made where the rows of single units are, drawn where they are not.

Only charts and tables travel. Excerpts and pictures quote single units, and texts are for reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from basanite.figures import Axis, Chart, Figure, Mark, Table
from basanite.reports.formats.json_output import plain

FORMAT = "basanite-figures/1"
Drawable: TypeAlias = Chart | Table


def figures_object(figures: Iterable[Figure]) -> dict[str, Any]:
    """Charts and tables as the data of one JSON object.

    >>> figures_object([Table("Losses", ("step", "loss"), [("ranking", 0.25)])])["figures"][0]["rows"]
    [['ranking', 0.25]]
    """
    return {"format": FORMAT, "figures": [_one(figure) for figure in figures if isinstance(figure, Chart | Table)]}


def read_figures(data: Mapping[str, Any]) -> tuple[Drawable, ...]:
    """What was written by `figures_object`; of another format, nothing.

    >>> read_figures(figures_object([Table("Losses", ("step", "loss"), [("ranking", 0.25)])]))[0].rows
    [('ranking', 0.25)]
    """
    return tuple(map(_read, data["figures"])) if data.get("format") == FORMAT else ()


def _one(figure: Drawable) -> dict[str, Any]:
    kind = "chart" if isinstance(figure, Chart) else "table"
    return {"figure": kind, **plain(asdict(figure))}


def _read(data: Mapping[str, Any]) -> Drawable:
    return _chart(data) if data["figure"] == "chart" else _table(data)


def _table(data: Mapping[str, Any]) -> Table:
    return Table(
        data["title"],
        tuple(data["columns"]),
        [tuple(row) for row in data["rows"]],
        data["note"],
        frozenset(data["emphasis"]),
        frozenset(data["muted"]),
        data["detail"],
    )


def _chart(data: Mapping[str, Any]) -> Chart:
    columns = {name: data[name] for name in ("series", "low", "high", "facet", "step", "shade")}
    return Chart(
        data["title"],
        data["summary"],
        data["kind"],
        _table(data["data"]),
        Axis(**data["x"]),
        Axis(**data["y"]),
        marks=tuple(Mark(**mark) for mark in data["marks"]),
        guides=tuple((label, _points(points)) for label, points in data["guides"]),
        **columns,
    )


def _points(points: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in points)
