"""What Python and notebooks show of a result: tables of rows, a few lines of text, and HTML with interval bars.

A table is a list of mappings, so `pandas.DataFrame(table)` and `polars.DataFrame(table)` take it as it is (Y-2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final, SupportsIndex, overload

from basanite.errors import UnknownNameError
from basanite.kernel import Ends, Metric
from basanite.registry import suggestion
from basanite.reports.wording import number, plural, printable, true_minus

LINES: Final = 10
"""The lines that the text of a result has at most."""
ROWS: Final = 20
"""The rows of a table that its text and its HTML show."""
BAR: Final = 160
"""The width of an interval bar in pixels."""
Row = Mapping[str, Any]


class ResultTable(list[dict[str, Any]]):
    """Rows by name of column; undefined numbers are None."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self[0]) if self else ()

    def column(self, name: str) -> list[Any]:
        """The cells of one column."""
        if name not in self.columns:
            raise UnknownNameError(f"There is no column {name!r}. {suggestion(name, self.columns)}")
        return [row[name] for row in self]

    @overload
    def __getitem__(self, at: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> ResultTable: ...
    def __getitem__(self, at: SupportsIndex | slice) -> dict[str, Any] | ResultTable:
        """A row, or some of them as a table."""
        return ResultTable(super().__getitem__(at)) if isinstance(at, slice) else super().__getitem__(at)

    def __repr__(self) -> str:
        rows = [self.columns, *([cell_text(cell) for cell in row.values()] for row in self[:ROWS])]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *self._more()]) if self else "no rows"

    def _repr_html_(self) -> str:
        return html_table(self.columns, ([html_text(cell) for cell in row.values()] for row in self[:ROWS])) + "".join(
            f"<p>{line}</p>" for line in self._more()
        )

    def _more(self) -> list[str]:
        return [f"and {plural('row', len(self) - ROWS)} more"] if len(self) > ROWS else []


def interval_text(row: Row) -> str:
    """A value with its interval, or why it has none."""
    if row["low"] is None or row["high"] is None:
        return f"{number(row['value'])}  {printable(row['flags'])}".rstrip()
    return true_minus(f"{number(row['value'])}  ({number(row['low'])} to {number(row['high'])})")


def summary_text(title: str, rows: Sequence[tuple[str, str]], more: str, facts: Sequence[str]) -> str:
    """A title, as many rows as fit, and facts, in `LINES` lines."""
    room = LINES - 1 - len(facts)
    kept = rows if len(rows) <= room else rows[: room - 1]
    width = max((len(name) for name, _ in kept), default=0)
    lines = [f"  {name.ljust(width)}  {value}"[:120] for name, value in kept]
    left = [f"  and {len(rows) - len(kept)} more: {more}"] if len(rows) > len(kept) else []
    return "\n".join([title, *lines, *left, *facts])


def cell_text(cell: Any) -> str:
    """A cell as people read it: numbers short, nothing as “–”, strangers' text without what could hide in it (X-14)."""
    return true_minus(number(cell)) if isinstance(cell, int | float | None) else printable(str(cell))


def html_text(cell: Any) -> str:
    """The same, fit to stand in HTML."""
    return escape(cell_text(cell))


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already."""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in row) + "</tr>" for row in rows
    )
    style = "border-spacing:.7em .1em;white-space:nowrap"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def html_summary(title: str, rows: Sequence[tuple[str, Metric | None, Row]], facts: Sequence[str]) -> str:
    """A heading, a row with an interval bar for each value, and facts."""
    cells = []
    for name, metric, row in rows:
        # The axis is the range of the metric, or, where that has no end, one that holds its rows.
        bar = _bar(row, _axis(metric, [one for _, other, one in rows if other is metric]))
        cells.append([escape(name), html_text(row["value"]), bar, html_text(_span(row)), html_text(row["flags"])])
    table = html_table(("", "Value", "", "Interval", "Remarks"), cells) if rows else ""
    return f"<div><p><b>{escape(title)}</b></p>{table}<p>{'<br>'.join(map(escape, facts))}</p></div>"


def _span(row: Row) -> str:
    return "" if row["low"] is None or row["high"] is None else f"{cell_text(row['low'])} to {cell_text(row['high'])}"


def _axis(metric: Metric | None, rows: Sequence[Row]) -> Ends:
    low, high = metric.ends if metric is not None else (-math.inf, math.inf)
    numbers = [row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None]
    there = [one for one in numbers if math.isfinite(one)] or [0.0]
    return (
        low if math.isfinite(low) else min(0.0, *there, 0.0),
        high if math.isfinite(high) else max(0.0, *there, 0.0),
    )


def _bar(row: Row, axis: Ends) -> str:
    """An axis with the interval as a bar and the value as a point; nothing where there is no number."""
    start, width = axis[0], axis[1] - axis[0]
    if row["value"] is None or not math.isfinite(row["value"]) or width <= 0:
        return ""

    def at(value: float) -> float:
        return round(4 + (BAR - 8) * min(max((value - start) / width, 0.0), 1.0), 1)

    interval = ""
    if row["low"] is not None and row["high"] is not None:
        ends = at(row["low"]), at(row["high"])
        interval = f'<rect x="{ends[0]}" y="4" width="{max(ends[1] - ends[0], 1):.1f}" height="6" opacity="0.35"/>'
    words = escape(f"{interval_text(row)} on an axis from {cell_text(axis[0])} to {cell_text(axis[1])}")
    return (
        f'<svg width="{BAR}" height="14" role="img" aria-label="{words}" fill="currentColor" stroke="none">'
        f'<title>{words}</title><rect x="4" y="7" width="{BAR - 8}" height="0.6" opacity="0.5"/>{interval}'
        f'<circle cx="{at(row["value"])}" cy="7" r="3"/></svg>'
    )
