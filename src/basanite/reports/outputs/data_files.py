"""Values for spreadsheets and programs: the long table as CSV or Parquet, all data as JSON.

In CSV no cell of a stranger can act as a formula (X-14). Parquet has types and keeps strings, save what is no Unicode.
"""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING

from basanite.canonical import dumps
from basanite.figures import Cell
from basanite.reports.report import Output, Report
from basanite.reports.wording import printable

if TYPE_CHECKING:
    import polars as pl

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_cell(value: Cell) -> str:
    """A cell as text: numbers stay numbers, a string that a spreadsheet would run gets a quote before it.

    >>> csv_cell("=1+1"), csv_cell(-0.5), csv_cell("-0.5"), csv_cell(float("nan"))
    ("'=1+1", '-0.5', "'-0.5", '')
    """
    if isinstance(value, str):
        return ("'" if value.lstrip(" ").startswith(ACTIVE) else "") + printable(value)
    if value is None or math.isnan(value):
        return ""
    return str(value) if isinstance(value, int) else f"{value + 0.0:.10g}"


def render_csv(report: Report) -> bytes:
    """The report's long table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(csv_cell, report.records.columns))
    writer.writerows(map(csv_cell, row) for row in report.records.rows)
    return text.getvalue().encode()


CSV = Output("csv", "the values as one long table for spreadsheets", "text/csv", render_csv)


def render_json(report: Report) -> bytes:
    """The report's data as one JSON object."""
    return dumps(report.data).encode()


JSON = Output("json", "one JSON object, the same as --json prints", "application/json", render_json)


NUMBERS = frozenset({"value", "low", "high", "p", "p_adjusted"})
COUNTS = frozenset({"units", "undefined", "line", "field", "column"})


def frame(report: Report) -> pl.DataFrame:
    """The report's long table as a data frame."""
    import polars as pl  # only here: commands start without its threads, which no fork survives

    types = {**dict.fromkeys(NUMBERS, pl.Float64), **dict.fromkeys(COUNTS, pl.Int64)}
    schema = {name: types.get(name, pl.String) for name in report.records.columns}
    rows = [tuple(map(_encodable_cell, row)) for row in report.records.rows]
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def render_parquet(report: Report) -> bytes:
    """The report's long table as a Parquet file."""
    buffer = io.BytesIO()
    frame(report).write_parquet(buffer, compression="zstd", statistics=True)
    return buffer.getvalue()


def _encodable_cell(cell: Cell) -> Cell:
    """The cell; bytes of a file name that were no UTF-8 (lone surrogates) are escaped, for no file can hold them."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


PARQUET = Output(
    "parquet", "the values as one long table for programs", "application/vnd.apache.parquet", render_parquet
)
