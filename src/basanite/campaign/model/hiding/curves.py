"""The figures of a result cut down to what somebody may see: only those that are known here get through (M72).

A curve over thresholds is made of steps, one for each document, at that document's score: whoever has the scores reads
from the heights which documents are relevant. So curves of a sealed set are drawn over a coarse grid,
and the thresholds behind a DET curve are left out. Tables with a row for each class hold small cells; they stay with
the breakdowns, where small cells are taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from basanite.formats.packs.pack_names import DOCUMENT

OPEN_COLUMNS: Final = (
    frozenset({"threshold", "value", "form"}),
    frozenset({"false alarms", "misses", "threshold", "system"}),
    frozenset({"step", "value", "loss"}),
)
"""What the columns of a figure may be: a value or errors over thresholds, and where the value is lost."""
CONFUSION: Final = "true class"
"""The first column of a confusion table: whole classes, shown where the truth is nobody's secret."""
DIGITS: Final = 2
"""Decimals of what is drawn of a sealed set; significant digits on normal-deviate axes."""
FEWEST: Final = 10
"""A curve of fewer steps would be one of single documents."""


def curves_shown(figures: Iterable[Mapping[str, Any]], *, sealed: bool) -> tuple[Mapping[str, Any], ...]:
    """The figures that get through; of a sealed set those that tell nothing of single documents."""
    known = (figure for figure in figures if _is_known(figure, sealed=sealed) and not _names_documents(figure))
    return tuple(_coarse_ones(known) if sealed else known)


def _data(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = figure["data"] if figure["figure"] == "chart" else figure
    return data


def _is_known(figure: Mapping[str, Any], *, sealed: bool) -> bool:
    columns = list(_data(figure)["columns"])
    return frozenset(columns) in OPEN_COLUMNS or (not sealed and columns[:1] == [CONFUSION])


def _names_documents(figure: Mapping[str, Any]) -> bool:
    said = [str(cell) for row in _data(figure)["rows"] for cell in row if isinstance(cell, str)]
    return any(DOCUMENT.search(text) for text in (*said, str(figure["title"]), str(figure.get("summary", ""))))


def _coarse_ones(figures: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for figure in figures:
        if figure["figure"] == "table":
            yield figure
        elif len(figure["data"]["rows"]) >= FEWEST:
            scales = {figure[axis]["column"]: figure[axis]["scale"] for axis in ("x", "y")}
            yield {**figure, "data": _coarse(figure["data"], scales, figure["x"]["column"])}


def _coarse(data: Mapping[str, Any], scales: Mapping[str, str], first: str) -> dict[str, Any]:
    """One row for each place of the grid on the first axis; numbers that are on no axis are left out."""
    columns = list(data["columns"])
    at = [index for index, name in enumerate(columns) if name in scales or not _is_number(data, index)]
    names = [columns[index] for index in at]
    places: dict[Any, list[Any]] = {}
    for row in data["rows"]:
        cells = [_on_grid(row[index], scales.get(columns[index], "")) for index in at]
        words = tuple(cell for cell in cells if isinstance(cell, str))
        places[words, cells[names.index(first)]] = cells
    return {**data, "columns": names, "rows": [cells for cells in places.values() if None not in cells]}


def _is_number(data: Mapping[str, Any], index: int) -> bool:
    return any(isinstance(row[index], int | float) for row in data["rows"])


def _on_grid(cell: Any, scale: str) -> Any:
    """A number on the grid of its axis; the ends of a normal-deviate axis lie infinitely far out."""
    if not isinstance(cell, int | float):
        return cell
    if scale != "deviate":
        return round(cell, DIGITS) + 0.0
    near = float(format(cell, f".{DIGITS}g"))
    return near if 0 < near < 1 else None
