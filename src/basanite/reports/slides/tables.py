"""Tables on slides: native, so that a reader can copy them; long ones go on over several slides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pptx.util import Inches, Pt

from basanite.figures import Cell, Table
from basanite.reports import theme
from basanite.reports.slides.deck import MARGIN, TOP, WIDTH, Deck, colour, cut, describe, write
from basanite.reports.wording import number

ROWS = 12
"""Rows of one line that fit a slide below the heads."""
MOST_ROWS = 60
"""A table of more rows is cut, and the slide says where the rest is."""
COLUMNS = 9
LONGEST = 110
LETTERS = 142
"""Letters of the smallest size that stand beside each other on a slide."""
SIZES = (18, 15, 12)
"""Sizes of letters: a table is as large as fits one slide, and not smaller than the last."""
SMALLEST = SIZES[-1]
NARROW, WORD, ROOM = 8, 26, 5
"""Letters of the narrowest column, of the longest word that is never broken, and of the margins of a cell."""
LINE, MORE = Inches(0.4), Inches(0.19)
"""The height of a row of one line, and of every further line."""


@dataclass(frozen=True)
class Grid:
    """Some columns of a table with the letters that each has room for."""

    table: Table
    columns: Sequence[int]
    letters: Sequence[int]
    size: int = SMALLEST

    @property
    def room(self) -> float:
        """Letters of this size that stand beside each other on a slide."""
        return LETTERS * SMALLEST / self.size

    @property
    def width(self) -> int:
        """How wide the grid is: no wider than the slide, and a small table stays small."""
        share = max(0.4, min(1.0, 1.15 * sum(self.letters) / self.room))
        return int((WIDTH - 2 * MARGIN) * share)

    def height(self, cells: Sequence[Cell]) -> int:
        """The height that a row needs when its cells are broken into lines."""
        scale = max(1.0, self.room * self.width / (WIDTH - 2 * MARGIN) / sum(self.letters))
        lines = [
            -(-len(cut(number(cells[at]), LONGEST)) // max(1, int(room * scale) - ROOM + 1))
            for at, room in zip(self.columns, self.letters, strict=True)
        ]
        return int((LINE + MORE * (max(lines, default=1) - 1)) * self.size / SMALLEST)

    @property
    def head(self) -> int:
        """The height of the heads."""
        return self.height(self.table.columns)

    def pages(self, rows: Sequence[tuple[Cell, ...]]) -> Iterator[tuple[int, int]]:
        """From which row to which each slide goes: no slide is left with a row or two of a long table."""
        full, heights = int(LINE * (ROWS + 1)), [self.height(row) for row in rows]
        found = list(_filled(heights, self.head, full))
        even = self.head + sum(heights) // len(found) + max(heights, default=0)
        evenly = list(_filled(heights, self.head, min(full, even)))
        yield from evenly if len(evenly) == len(found) else found


def _filled(heights: Sequence[int], head: int, most: int) -> Iterator[tuple[int, int]]:
    """Rows of these heights, slide after slide, none higher than `most`."""
    start, used = 0, head
    for at, tall in enumerate(heights):
        if at > start and used + tall > most:
            yield start, at
            start, used = at, head
        used += tall
    yield start, len(heights)


def add_table(deck: Deck, table: Table) -> None:
    """One table, on as many slides as it needs."""
    rows = table.rows[:MOST_ROWS]
    for first, columns in _halves(table):
        grid = _grid(table, columns, rows)
        for start, end in grid.pages(rows):
            title = table.title if first and not start else f"{table.title} (continued)"
            slide = deck.slide(title, notes=table.note)
            if end > start:
                _below(slide, table, TOP + _draw(slide, grid, rows[start:end], start))
            else:
                write(slide, (MARGIN, TOP, WIDTH - 2 * MARGIN, Inches(1)), ["Nothing to list."], size=18, ink="muted")


def _halves(table: Table) -> Iterator[tuple[bool, list[int]]]:
    """The columns in groups that fit a slide; the first column names the rows of every group."""
    if len(table.columns) <= COLUMNS:
        yield True, list(range(len(table.columns)))
        return
    for start in range(1, len(table.columns), COLUMNS - 1):
        yield start == 1, [0, *range(start, min(start + COLUMNS - 1, len(table.columns)))]


def _grid(table: Table, columns: Sequence[int], rows: Sequence[tuple[Cell, ...]]) -> Grid:
    """The columns in the largest letters with which all rows stand on one slide, else in the smallest."""
    for size in SIZES:
        grid = Grid(table, columns, _letters(table, columns, LETTERS * SMALLEST // size), size)
        fits = sum(grid.letters) <= grid.room and len(list(grid.pages(rows))) == 1
        if fits:
            return grid
    return grid


def _letters(table: Table, columns: Sequence[int], most_letters: int) -> list[int]:
    """Room for each column: what it needs, the widest ones cut down until all fit; no word is broken."""
    cells = [[table.columns[at], *(number(row[at]) for row in table.rows[:MOST_ROWS])] for at in columns]
    needed = [max(NARROW, *(min(len(cell), LONGEST) + ROOM for cell in column)) for column in cells]
    words = [
        max((min(len(word), WORD) + ROOM for cell in column for word in cell.split()), default=0) for column in cells
    ]
    for most in range(LONGEST, NARROW, -2):
        found = [max(min(room, most), word, NARROW) for room, word in zip(needed, words, strict=True)]
        if sum(found) <= most_letters:
            break
    return found


def _draw(slide: Any, grid: Grid, rows: Sequence[tuple[Cell, ...]], start: int) -> int:
    """Draw some rows, and give the height they take."""
    heights = [grid.head, *map(grid.height, rows)]
    frame = slide.shapes.add_table(len(rows) + 1, len(grid.columns), MARGIN, TOP, grid.width, sum(heights))
    describe(frame, f"Table: {grid.table.title}. {grid.table.note}")
    drawn = frame.table
    drawn.horz_banding = False
    for line, height in enumerate(heights):
        drawn.rows[line].height = height
    for place, at in enumerate(grid.columns):
        drawn.columns[place].width = int(grid.width * grid.letters[place] / sum(grid.letters))
        right = not any(isinstance(row[at], str) for row in grid.table.rows)
        _fill(drawn.cell(0, place), grid.table.columns[at], grid.size, bold=True, head=True, right=right)
        for line, row in enumerate(rows, start=1):
            strong, faint = start + line - 1 in grid.table.emphasis, start + line - 1 in grid.table.muted
            _fill(drawn.cell(line, place), row[at], grid.size, bold=strong, muted=faint, right=right)
    return sum(heights)


def _fill(
    cell: Any,
    content: Cell,
    size: int,
    *,
    bold: bool = False,
    head: bool = False,
    muted: bool = False,
    right: bool = False,
) -> None:
    cell.text = cut(number(content), LONGEST)
    cell.fill.solid()
    cell.fill.fore_color.rgb = colour("sunken" if head else "card")
    cell.margin_top = cell.margin_bottom = Inches(0.04)
    paragraph = cell.text_frame.paragraphs[0]
    paragraph.font.size, paragraph.font.bold, paragraph.font.name = Pt(size), bold, theme.SLIDE_SANS
    paragraph.font.color.rgb = colour("muted" if muted else "ink")
    paragraph.alignment = 3 if right else 1


def _below(slide: Any, table: Table, top: int) -> None:
    left = len(table.rows) - MOST_ROWS
    words = [cut(table.note, 400)] if table.note else []
    words += [f"{left} more rows are in the other outputs of this report."] if left > 0 else []
    if words:
        place = (MARGIN, top + Inches(0.08), WIDTH - 2 * MARGIN, Inches(0.5))
        write(slide, place, words, size=11, ink="muted")
