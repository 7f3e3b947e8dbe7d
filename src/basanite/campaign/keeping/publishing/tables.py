"""Boards as tables: for pages, spreadsheets and papers, all from one value."""

from __future__ import annotations

import csv
import io

from basanite.campaign.results.seen import BoardRow, SeenBoard
from basanite.figures import Cell, Table
from basanite.reports.formats import latex
from basanite.reports.formats.csv_output import cell
from basanite.reports.model import Report, Section

COLUMNS = ("System", "Value", "Low", "High", "Ranks", "Group", "Results seen before", "Note")


def board_table(board: SeenBoard, title: str) -> Table:
    """A board as a table."""
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(board.left_out.items()))
    note = f"Not compared: {left_out}." if left_out else "Nobody is left out."
    return Table(title, (COLUMNS[0], board.metric or COLUMNS[1], *COLUMNS[2:]), [_row(row) for row in board.rows], note)


def as_csv(table: Table) -> str:
    """A table for spreadsheets, in which nothing can act as a formula (X-14)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(cell, table.columns))
    writer.writerows(map(cell, row) for row in table.rows)
    return text.getvalue()


def as_latex(table: Table, title: str) -> str:
    """A table for a paper."""
    report = Report(title, "", (Section(title, "", (table,)),), (), {})
    return latex.render(report).decode()


def _row(row: BoardRow) -> tuple[Cell, ...]:
    ranks = (
        "" if row.ranks is None else str(row.ranks[0]) if len(set(row.ranks)) == 1 else "–".join(map(str, row.ranks))
    )
    note = "; ".join(filter(None, ("baseline" if row.baseline else "", row.note)))
    return row.name, row.value, row.low, row.high, ranks, row.group, row.looks, note
