"""The report in a terminal: sentences, then tables; plain text where no terminal listens."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text as Words

from basanite.figures import Cell, Chart, Excerpt, Excerpts, Figure, Image, Table, Text
from basanite.problems import visible
from basanite.reports.report import Output, Report
from basanite.reports.wording import number

ROWS_SHOWN = 40
PLAIN_WIDTH = 120
EXCERPTS_SHOWN = 5
COLUMN_LABEL = 5
MARKS = {"": ("", "", ""), "added": ("[+", "+]", "green"), "missing": ("[-", "-]", "red")}
MARKS["changed"] = ("[~", "~]", "yellow")


def show(report: Report, console: Console, *, brief: bool = False) -> None:
    """Print the report; the console decides about colours and width. A brief one leaves the details to the files."""
    console.print(_words(report.title, "bold"))
    console.print(_words(report.subtitle, "dim"))
    for flag in report.flags:
        console.print(_words(f"! {flag}", "bold red"))
    for sentence in report.sentences:
        console.print(_words(f"• {sentence}"))
    for section in report.sections:
        figures = [
            figure for figure in section.figures if not (brief and (isinstance(figure, Table) and figure.detail))
        ]
        if figures and not (brief and section.detail):
            console.print()
            console.print(_words(section.title.upper(), "bold yellow"))
            for figure in figures:
                _show_figure(figure, console)


def render(report: Report) -> bytes:
    """The report as plain text, as a terminal without colours would show it."""
    text = io.StringIO()
    show(report, Console(file=text, width=PLAIN_WIDTH, color_system=None, force_terminal=False, legacy_windows=False))
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines()).encode()


def _words(text: str, style: str = "") -> Words:
    """A stranger's string as words: never markup, nothing hidden in it (X-14)."""
    return Words(visible(text), style=style)


def _show_figure(figure: Figure, console: Console) -> None:
    if isinstance(figure, Table):
        _show_table(figure, console)
    elif isinstance(figure, Chart):
        console.print(_words(f"{figure.title}. {figure.summary}"))
        if figure.kind == "bars":
            _show_table(figure.data, console)
    elif isinstance(figure, Excerpts):
        console.print(_words(f"{figure.title}. {figure.summary}"))
        for at, entry in enumerate(figure.entries):
            if at < EXCERPTS_SHOWN or entry.columns:
                _show_excerpt(entry, console)
    else:
        for line in _lines(figure):
            console.print(_words(line))


def _show_excerpt(entry: Excerpt, console: Console) -> None:
    """A unit with its texts; the marks are written, so that they are there without colours too."""
    console.print(_words(f"{entry.name}  {entry.note}", "bold"))
    for extract in entry.extracts:
        line = _words(f"  {extract.label + ':':{COLUMN_LABEL if entry.columns else 0}} ", "dim")
        for text, mark in extract.pieces:
            before, after, style = MARKS[mark]
            line.append_text(_words(f"{before}{text}{after}", style))
        console.print(line)


def _lines(figure: Text | Image) -> Iterator[str]:
    if isinstance(figure, Image):
        yield f"{figure.title}: {figure.alternative}"
    else:
        yield from (f"• {paragraph}" for paragraph in figure.paragraphs)


def _show_table(table: Table, console: Console) -> None:
    console.print(_grid(table))
    if len(table.rows) > ROWS_SHOWN:
        console.print(_words(f"… {len(table.rows) - ROWS_SHOWN:,} more rows; write a report to see them all.", "dim"))
    if table.note:
        console.print(_words(table.note, "dim"))


def _grid(table: Table) -> Grid:
    grid = Grid(
        title=_words(table.title), title_justify="left", box=box.SIMPLE_HEAD, title_style="bold", pad_edge=False
    )
    for at, column in enumerate(table.columns):
        words = any(isinstance(row[at], str) for row in table.rows)
        grid.add_column(_words(column), justify="left" if words else "right", overflow="fold", no_wrap=not words)
    for index, row in enumerate(table.rows[:ROWS_SHOWN]):
        style = "bold" if index in table.emphasis else "dim" if index in table.muted else ""
        grid.add_row(*(_cell(cell) for cell in row), style=style)
    return grid


def _cell(cell: Cell) -> Words:
    return _words(number(cell))


OUTPUT = Output("txt", "plain text, as the terminal shows it", "text/plain; charset=utf-8", render)
