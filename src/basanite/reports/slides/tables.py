"""Tables on slides: native, so that a reader can copy them; long ones go on over several slides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pptx.util import Inches, Pt

from basanite.figures import Cell, Table
from basanite.reports.slides.deck import MARGIN, TOP, WIDTH, Deck, colour, cut, describe, write
from basanite.reports.wording import number

ROWS = 12
MOST_ROWS = 60
"""A table of more rows is cut, and the slide says where the rest is."""
COLUMNS = 9
LONGEST = 90
NARROW, WIDE = 0.95, 3.2
"""The least and the most weight of a column."""


def add_table(deck: Deck, table: Table) -> None:
    """One table, on as many slides as it needs."""
    rows = table.rows[:MOST_ROWS]
    for first, columns in _halves(table):
        for start in range(0, max(len(rows), 1), ROWS):
            part = rows[start : start + ROWS]
            title = table.title if first and not start else f"{table.title} (continued)"
            slide = deck.slide(title, notes=table.note)
            if part:
                _grid(slide, table, part, columns, start)
                _below(slide, table, len(part))
            else:
                write(slide, (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(1)), ["Nothing to list."], size=18, ink="muted")


def _halves(table: Table) -> Iterator[tuple[bool, list[int]]]:
    """The columns in groups that fit a slide; the first column names the rows of every group."""
    if len(table.columns) <= COLUMNS:
        yield True, list(range(len(table.columns)))
        return
    for start in range(1, len(table.columns), COLUMNS - 1):
        yield start == 1, [0, *range(start, min(start + COLUMNS - 1, len(table.columns)))]


def _grid(slide: Any, table: Table, rows: Any, columns: list[int], start: int) -> None:
    width = WIDTH - 2 * MARGIN
    frame = slide.shapes.add_table(len(rows) + 1, len(columns), MARGIN, TOP, width, Inches(0.4) * (len(rows) + 1))
    describe(frame, f"Table: {table.title}. {table.note}")
    grid = frame.table
    grid.horz_banding = False
    weights = [_weight(table, at) for at in columns]
    for place, at in enumerate(columns):
        grid.columns[place].width = int(width * weights[place] / sum(weights))
        _fill(grid.cell(0, place), table.columns[at], bold=True, head=True)
        for line, row in enumerate(rows, start=1):
            strong, faint = start + line - 1 in table.emphasis, start + line - 1 in table.muted
            _fill(grid.cell(line, place), row[at], bold=strong, muted=faint)


def _weight(table: Table, at: int) -> float:
    """How much room a column gets, by the length of what stands in it."""
    cells = [table.columns[at], *(number(row[at]) for row in table.rows[:MOST_ROWS])]
    return min(max(NARROW, max(min(len(cell), LONGEST) for cell in cells) / 14), WIDE)


def _fill(cell: Any, content: Cell, *, bold: bool = False, head: bool = False, muted: bool = False) -> None:
    cell.text = cut(number(content), LONGEST)
    cell.fill.solid()
    cell.fill.fore_color.rgb = colour("sunken" if head else "card")
    cell.margin_top = cell.margin_bottom = Inches(0.04)
    paragraph = cell.text_frame.paragraphs[0]
    paragraph.font.size, paragraph.font.bold = Pt(12), bold
    paragraph.font.color.rgb = colour("muted" if muted else "ink")
    paragraph.alignment = 1 if isinstance(content, str) or content is None else 3


def _below(slide: Any, table: Table, rows: int) -> None:
    left = len(table.rows) - MOST_ROWS
    words = [cut(table.note, 300)] if table.note else []
    words += [f"{left} more rows are in the other outputs of this report."] if left > 0 else []
    if words:
        place = (MARGIN, TOP + Inches(0.4) * (rows + 1) + Inches(0.1), WIDTH - 2 * MARGIN, Inches(0.5))
        write(slide, place, words, size=11, ink="muted")
