"""Parquet: the same long table as CSV, with types, for programs; strings are kept, save what is no Unicode."""

from __future__ import annotations

import io

import polars as pl

from basanite.figures import Cell
from basanite.reports.model import Report
from basanite.reports.outputs import Output

NUMBERS = frozenset({"value", "low", "high", "p", "p_adjusted"})
COUNTS = frozenset({"units", "undefined", "line", "field", "column"})


def frame(report: Report) -> pl.DataFrame:
    """The report's long table as a data frame."""
    schema = {name: _type(name) for name in report.records.columns}
    rows = [tuple(map(_encodable, row)) for row in report.records.rows]
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def render(report: Report) -> bytes:
    """The report's long table as a Parquet file."""
    buffer = io.BytesIO()
    frame(report).write_parquet(buffer, compression="zstd", statistics=True)
    return buffer.getvalue()


def _encodable(cell: Cell) -> Cell:
    """The cell; bytes of a file name that were no UTF-8 (lone surrogates) are escaped, for no file can hold them."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def _type(name: str) -> type[pl.DataType]:
    return pl.Float64 if name in NUMBERS else pl.Int64 if name in COUNTS else pl.String


OUTPUT = Output("parquet", "the values as one long table for programs", "application/vnd.apache.parquet", render)
