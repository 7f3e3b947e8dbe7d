"""LaTeX: the report's tables for a paper (needs the booktabs package)."""

from __future__ import annotations

from collections.abc import Iterator

from basanite.figures import Cell, Chart, Figure, Table
from basanite.reports.report import Output, Report
from basanite.reports.wording import UNDEFINED, number, printable

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",
    "[": "{[}",
    "]": "{]}",
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
    "·": r"$\cdot$",
    "−": "$-$",
    "∞": r"$\infty$",
    "–": "--",
    "“": "``",
    "”": "''",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def escape_latex(text: str) -> str:
    """Text that LaTeX sets as it is and never runs.

    >>> escape_latex("50% of a_b")
    '50\\\\% of a\\\\_b'
    """
    return "".join(SPECIAL.get(char, char) for char in printable(text))


def render(report: Report) -> bytes:
    """Every table of the report, and the tables behind its bar charts, for \\input in a paper."""
    lines = ["% Needs \\usepackage{booktabs}.", f"% {_comment(report.title)}: {_comment(report.subtitle)}"]
    lines += [f"% {_comment(name)}: {_comment(value)}" for name, value in report.facts]
    tables = [table for section in report.sections for figure in section.figures for table in _tables(figure)]
    return "\n\n".join(["\n".join(lines), *map(_table, tables)]).encode() + b"\n"


def _comment(text: str) -> str:
    return printable(text).replace("\n", " ")


def _tables(figure: Figure) -> Iterator[Table]:
    if isinstance(figure, Table):
        yield figure
    elif isinstance(figure, Chart) and figure.kind == "bars":
        yield figure.data


def _table(table: Table) -> str:
    head = " & ".join(rf"\textbf{{{escape_latex(column)}}}" for column in table.columns)
    body = [_row(row, bold=index in table.emphasis) for index, row in enumerate(table.rows)]
    columns = ["l" if any(isinstance(row[at], str) for row in table.rows) else "r" for at in range(len(table.columns))]
    note = rf"\\[2pt] \footnotesize {escape_latex(table.note)}" if table.note else ""
    return "\n".join(
        (
            r"\begin{table}[htbp]\centering",
            rf"\caption{{{escape_latex(table.title)}}}",
            rf"\begin{{tabular}}{{{''.join(columns)}}}",
            rf"\toprule {head} \\ \midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}" + note,
            r"\end{table}",
        )
    )


def _row(row: tuple[Cell, ...], *, bold: bool) -> str:
    cells = [_cell(cell) for cell in row]
    return " & ".join(rf"\textbf{{{cell}}}" if bold else cell for cell in cells) + r" \\"


def _cell(cell: Cell) -> str:
    if isinstance(cell, str) or cell is None:
        return escape_latex(cell if cell is not None else UNDEFINED)
    words = number(cell).replace("∞", r"\infty").replace(",", "{,}")
    return "--" if words == UNDEFINED else f"${words}$"


OUTPUT = Output("tex", "the tables for a paper, in LaTeX with booktabs", "application/x-tex", render)
