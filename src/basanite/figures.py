"""What a report shows, as plain values: a task makes them from an analysis, every output renders them its own way.

Charts and tables can also travel as JSON: made where the rows of single units are, drawn where they are not. Excerpts
and pictures quote single units, and stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from basanite.canonical import plain_values

Cell: TypeAlias = str | int | float | None
Scale = Literal["linear", "log", "deviate", "category"]
Kind = Literal["line", "bars", "points", "heat"]


@dataclass(frozen=True)
class Table:
    """A titled table: the only numbers that a chart may draw, too."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str = ""
    emphasis: frozenset[int] = frozenset()
    """Rows to set in bold (the primary value)."""
    muted: frozenset[int] = frozenset()
    """Rows to grey out (too few units to say much)."""
    detail: bool = False
    """Whether it may be left out where there is little room (a terminal)."""


@dataclass(frozen=True)
class Axis:
    """One axis of a chart: the column it shows, its label and how it is scaled.

    `deviate` is the normal-deviate scale of DET plots: data are probabilities, distances are standard deviations.
    """

    column: str
    label: str
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    percent: bool = False


@dataclass(frozen=True)
class Mark:
    """A labelled point on a chart (the submitted decisions, the best threshold)."""

    label: str
    x: float
    y: float


@dataclass(frozen=True)
class Chart:
    """A chart with the table it draws and a sentence that says what it shows, for those who cannot see it (P-33).

    `series` names the column that tells lines or bars apart; `low` and `high` the columns of an interval;
    `facet` a column that splits the chart into small multiples. `guides` are thin grey lines, as tables of (x, y).
    """

    title: str
    summary: str
    kind: Kind
    data: Table
    x: Axis
    y: Axis
    series: str | None = None
    low: str | None = None
    high: str | None = None
    facet: str | None = None
    marks: tuple[Mark, ...] = ()
    guides: tuple[tuple[str, tuple[tuple[float, float], ...]], ...] = ()
    step: bool = False
    shade: str | None = None
    """For a heat map: the column whose numbers its cells are shaded by."""


@dataclass(frozen=True)
class Text:
    """A paragraph, or a list of them, under a heading."""

    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Image:
    """A picture with the words that stand for it."""

    title: str
    alternative: str
    media_type: str
    content: bytes = field(repr=False, default=b"")
    drawing: str = field(repr=False, default="")
    """The same as SVG in the colors of the theme, for pages, which may be dark."""


Marked = Literal["", "added", "missing", "changed"]
Pieces: TypeAlias = tuple[tuple[str, Marked], ...]


@dataclass(frozen=True)
class Extract:
    """A text in pieces with what is worth seeing marked: added, missing or changed against the truth."""

    label: str
    pieces: Pieces


@dataclass(frozen=True)
class Excerpt:
    """One unit with its texts under each other: the truth first, then what each system made of it."""

    name: str
    note: str
    extracts: tuple[Extract, ...]
    columns: bool = False
    """Whether the texts stand word under word, and so need letters of one width."""


@dataclass(frozen=True)
class Excerpts:
    """Units to be read side by side, such as those on which two systems differ most."""

    title: str
    summary: str
    entries: tuple[Excerpt, ...]


@dataclass(frozen=True)
class Step:
    """One step: what is done, the formula with its numbers filled in, and what it is done on."""

    title: str
    sentences: tuple[str, ...] = ()
    formula: str = ""
    table: Table | None = None


@dataclass(frozen=True)
class Worked:
    """All steps, and the number that they end in."""

    steps: tuple[Step, ...]
    value: float


Figure: TypeAlias = Table | Chart | Text | Image | Excerpts


FIGURES_FORMAT = "basanite-figures/1"
Drawable: TypeAlias = Chart | Table


def figures_object(figures: Iterable[Figure]) -> dict[str, Any]:
    """Charts and tables as the data of one JSON object.

    >>> figures_object([Table("Losses", ("step", "loss"), [("ranking", 0.25)])])["figures"][0]["rows"]
    [['ranking', 0.25]]
    """
    drawable = [figure for figure in figures if isinstance(figure, Chart | Table)]
    kinds = ["chart" if isinstance(figure, Chart) else "table" for figure in drawable]
    rows = [{"figure": kind, **plain_values(asdict(one))} for kind, one in zip(kinds, drawable, strict=True)]
    return {"format": FIGURES_FORMAT, "figures": rows}


def read_figures(data: Mapping[str, Any]) -> tuple[Drawable, ...]:
    """What was written by `figures_object`; of another format, nothing.

    >>> read_figures(figures_object([Table("Losses", ("step", "loss"), [("ranking", 0.25)])]))[0].rows
    [('ranking', 0.25)]
    """
    figures = data["figures"] if data.get("format") == FIGURES_FORMAT else ()
    return tuple(_read_chart(one) if one["figure"] == "chart" else _read_table(one) for one in figures)


def _read_table(data: Mapping[str, Any]) -> Table:
    return Table(
        data["title"],
        tuple(data["columns"]),
        [tuple(row) for row in data["rows"]],
        data["note"],
        frozenset(data["emphasis"]),
        frozenset(data["muted"]),
        data["detail"],
    )


def _read_chart(data: Mapping[str, Any]) -> Chart:
    columns = {name: data[name] for name in ("series", "low", "high", "facet", "step", "shade")}
    return Chart(
        data["title"],
        data["summary"],
        data["kind"],
        _read_table(data["data"]),
        Axis(**data["x"]),
        Axis(**data["y"]),
        marks=tuple(Mark(**mark) for mark in data["marks"]),
        guides=tuple((label, _points(points)) for label, points in data["guides"]),
        **columns,
    )


def _points(points: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in points)
