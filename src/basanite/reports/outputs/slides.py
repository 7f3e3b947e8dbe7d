"""A deck of slides in our look: a title, then one thing to see on each slide.

The same report gives the same bytes: python-pptx and the workbooks inside its charts write the time of day, so the
finished archive is packed again with the time taken out (S-6).
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR
from pptx.util import Emu, Inches, Pt

from basanite.figures import Cell, Table
from basanite.reports import theme
from basanite.reports.wording import number, printable, true_minus

WIDTH, HEIGHT = Inches(13.333), Inches(7.5)
MARGIN = Inches(0.6)
TOP = Inches(1.35)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
TITLE_ONLY, BLANK = 5, 6
LONGEST_TITLE = 110
COVER_LINE, TITLE_LINE = 44, 52
"""Letters of a title that stand on two lines of the cover, and on one of any other slide, in the larger size."""
INK = theme.literal(theme.LIGHT)
_SENTENCE = re.compile(r"(?<=[.;]) (?=[A-Z])")
_TIME = re.compile(rb"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")


def colour(name: str) -> RGBColor:
    """A colour of the theme as slides know it."""
    found: RGBColor = RGBColor.from_string(INK(name).lstrip("#").upper())
    return found


def cut(text: str, length: int) -> str:
    """A text that fits: nothing hidden in it, and a mark where it was cut.

    >>> cut("a long sentence", 7)
    'a long…'
    """
    plain = true_minus(printable(text))  # a hyphen would let the line break before the number
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"


def whole_sentences(text: str, length: int) -> str:
    """As many whole sentences as fit; where not even the first does, its beginning.

    >>> whole_sentences("One is short. Two is rather long.", 20)
    'One is short.'
    >>> whole_sentences("Far too long", 8)
    'Far too…'
    """
    kept = ""
    for sentence in _SENTENCE.split(text):
        if kept and len(kept) + len(sentence) + 1 > length:
            break
        kept = f"{kept} {sentence}".strip()
    return cut(kept, length)


class Deck:
    """Slides as they are made, one after the other."""

    def __init__(self, title: str) -> None:
        self.file = Presentation()
        self.file.slide_width, self.file.slide_height = WIDTH, HEIGHT
        properties = self.file.core_properties
        properties.title, properties.author, properties.last_modified_by = cut(title, 200), "Basanite", "Basanite"
        properties.created = properties.modified = EPOCH.replace(tzinfo=None)
        self.count = 0

    def cover(self, title: str, subtitle: str, lines: list[str], doubts: list[str]) -> None:
        """The first slide: dark stone with a line of gold."""
        slide = self._new(BLANK)
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = colour("stone")
        _streak(slide, (MARGIN, Inches(2.25), Inches(1.6), Emu(45_720)), "stone_gold")
        place = (MARGIN, Inches(2.5), WIDTH - 2 * MARGIN)
        size = 44 if len(title) <= COVER_LINE else 30
        write(slide, (*place, Inches(1.5)), [cut(title, LONGEST_TITLE)], size=size, ink="stone_ink", bold=True)
        write(slide, (place[0], Inches(1.6), place[2], Inches(0.5)), [cut(subtitle, 140)], size=18, ink="stone_gold")
        write(slide, (place[0], Inches(4.2), place[2], Inches(2.6)), lines, size=20, ink="stone_muted")
        if doubts:
            write(slide, (place[0], Inches(5.9), place[2], Inches(1.3)), doubts, size=14, ink="stone_gold", bold=True)

    def slide(self, title: str, *, notes: str = "") -> Any:
        """A slide with a title; `notes` are for the speaker."""
        slide = self._new(TITLE_ONLY)
        heading = slide.shapes.title
        heading.left, heading.top, heading.width, heading.height = MARGIN, Inches(0.4), WIDTH - 2 * MARGIN, Inches(0.8)
        frame = heading.text_frame
        frame.word_wrap, frame.vertical_anchor = True, MSO_ANCHOR.MIDDLE
        frame.text = cut(title, LONGEST_TITLE)
        # One line of the larger size, or two of the smaller: both end above what follows.
        _style(frame.paragraphs[0], size=26 if len(title) <= TITLE_LINE else 20, ink="ink", bold=True)
        self._foot(slide)
        _streak(slide, (MARGIN + Inches(0.1), Inches(0.38), Inches(0.9), Emu(34_290)), "gold")
        if notes:
            slide.notes_slide.notes_text_frame.text = printable(notes)
        return slide

    def save(self) -> bytes:
        """The deck as the bytes of a .pptx file."""
        raw = io.BytesIO()
        self.file.save(raw)
        return timeless(raw.getvalue())

    def _new(self, layout: int) -> Any:
        self.count += 1
        return self.file.slides.add_slide(self.file.slide_layouts[layout])

    def _foot(self, slide: Any) -> None:
        place = (MARGIN, HEIGHT - Inches(0.45), WIDTH - 2 * MARGIN, Inches(0.3))
        write(slide, place, [f"Basanite · {self.count}"], size=10, ink="faint")


def write(
    slide: Any,
    place: tuple[int, int, int, int],
    lines: list[str],
    *,
    size: int,
    ink: str,
    bold: bool = False,
) -> Any:
    """Lines of text in a box."""
    box = slide.shapes.add_textbox(*place)
    frame = box.text_frame
    frame.word_wrap = True
    for index, line in enumerate(lines):
        paragraph = frame.paragraphs[0] if index == 0 else frame.add_paragraph()
        paragraph.text = printable(line)
        paragraph.space_after = Pt(size * 0.4)
        _style(paragraph, size=size, ink=ink, bold=bold)
    return box


def _style(paragraph: Any, *, size: int, ink: str, bold: bool) -> None:
    """Set the letters of a paragraph: headings and text share one typeface, as on pages."""
    paragraph.font.size, paragraph.font.bold = Pt(size), bold
    paragraph.font.name = theme.SLIDE_SANS
    paragraph.font.color.rgb = colour(ink)
    paragraph.alignment = 1  # left: the template centres titles


def _streak(slide: Any, place: tuple[int, int, int, int], ink: str) -> None:
    """A streak of gold, as on a touchstone; it says nothing."""
    line = slide.shapes.add_shape(1, *place)
    line.fill.solid()
    line.fill.fore_color.rgb = colour(ink)
    line.line.fill.background()
    line.shadow.inherit = False
    _describe(line, "", decorative=True)


def _describe(shape: Any, words: str, *, decorative: bool = False) -> None:
    shape._element._nvXxPr.cNvPr.set("descr", "" if decorative else printable(words))


def describe(shape: Any, words: str) -> None:
    """Words that stand for a picture, chart or table (P-33)."""
    _describe(shape, words)


def timeless(data: bytes) -> bytes:
    """The same archive, and the workbooks inside it, without the time at which it was made."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith(".xlsx"):
                content = timeless(content)
            elif name == "docProps/core.xml":
                content = _TIME.sub(EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ").encode(), content)
            entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, content)
    return out.getvalue()


ROWS = 12
"""Rows of one line that fit a slide below the heads."""
MOST_ROWS = 60
"""A table of more rows is cut, and the slide says where the rest is."""
COLUMNS = 9
LONGEST = 170
LETTERS = 142
"""Letters of the smallest size that stand beside each other on a slide."""
SIZES = (14, 12)
"""Sizes of letters: a table is as large as fits one slide, and not smaller than the last."""
SMALLEST = SIZES[-1]
NARROW, WORD, ROOM = 8, 26, 5
"""Letters of the narrowest column, of the longest word that is never broken, and of the margins of a cell."""
BOLD = 1.15
"""How much wider bold words are."""
LINE, MORE = Inches(0.4), Inches(0.2)
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
            len(textwrap.wrap(cut(number(cells[at]), LONGEST), max(1, int(room * scale) - ROOM + 1)))
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
        found = list(_fill_slides(heights, self.head, full))
        even = self.head + sum(heights) // len(found) + max(heights, default=0)
        evenly = list(_fill_slides(heights, self.head, min(full, even)))
        yield from evenly if len(evenly) == len(found) else found


def _fill_slides(heights: Sequence[int], head: int, most: int) -> Iterator[tuple[int, int]]:
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
    """The columns in groups that fit a slide; the first one or two name the rows of every group."""
    if len(table.columns) <= COLUMNS:
        yield True, list(range(len(table.columns)))
        return
    names = 1 if len({row[0] for row in table.rows}) == len(table.rows) else 2
    for start in range(names, len(table.columns), COLUMNS - names):
        yield start == names, [*range(names), *range(start, min(start + COLUMNS - names, len(table.columns)))]


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
    rows = list(enumerate(table.rows[:MOST_ROWS]))
    cells = [[table.columns[at], *(number(row[at]) for _, row in rows)] for at in columns]
    bold = [[table.columns[at], *(number(row[at]) for line, row in rows if line in table.emphasis)] for at in columns]
    needed = [max(NARROW, *(min(len(cell), LONGEST) + ROOM for cell in column)) for column in cells]
    words = [
        max(_longest_word(column), math.ceil(BOLD * _longest_word(strong)))
        for column, strong in zip(cells, bold, strict=True)
    ]
    for most in range(LONGEST, NARROW, -2):
        found = [max(min(room, most), word, NARROW) for room, word in zip(needed, words, strict=True)]
        if sum(found) <= most_letters:
            break
    return found


def _longest_word(cells: Sequence[str]) -> int:
    """The room that the longest word of some cells needs."""
    return max((min(len(word), WORD) + ROOM for cell in cells for word in cell.split()), default=0)


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
    # Seven arguments: each is one thing that a cell is told, and tables name those that differ from the usual.
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
