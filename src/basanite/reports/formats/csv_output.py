"""CSV: one long table that spreadsheets open, in which no cell of a stranger can act as a formula (X-14)."""

from __future__ import annotations

import csv
import io
import math

from basanite.figures import Cell
from basanite.reports.model import Report
from basanite.reports.outputs import Output
from basanite.reports.wording import shown

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def cell(value: Cell) -> str:
    """A cell as text: numbers stay numbers, a string that a spreadsheet would run gets a quote before it.

    >>> cell("=1+1"), cell(-0.5), cell("-0.5"), cell(float("nan"))
    ("'=1+1", '-0.5', "'-0.5", '')
    """
    if isinstance(value, str):
        return ("'" if value.lstrip(" ").startswith(ACTIVE) else "") + shown(value)
    if value is None or math.isnan(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value + 0.0:.10g}"


def render(report: Report) -> bytes:
    """The report's long table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(cell, report.records.columns))
    writer.writerows(map(cell, row) for row in report.records.rows)
    return text.getvalue().encode()


OUTPUT = Output("csv", "the values as one long table for spreadsheets", "text/csv", render)
