"""Tables of a Python program as canonical JSON lines, which the readers of files then read like any other file (Y-1).

A table is a list of records, a mapping of columns, a structured NumPy array, or a frame: pandas, polars, Arrow and
whatever else narwhals knows, and data sets of Hugging Face. One row is one line, so row 3 is line 3 of a problem.
"""

from __future__ import annotations

import datetime
import decimal
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from basanite.canonical import canonical_line
from basanite.errors import ArgumentError
from basanite.problems import shortened

TEXT: Final = "text"
"""The column whose empty cells are empty texts, as they are in CSV and Parquet."""
TAKEN: Final = (
    "a path, a list of records, a mapping of columns, or a table of NumPy (with named fields), pandas, polars, Arrow "
    "or Hugging Face"
)
SPLITS: Final = ("DatasetDict", "IterableDatasetDict")
"""What Hugging Face loads where no split is named: a mapping, and not one of columns."""
Columns = Mapping[str, Sequence[Any]]


def is_path(given: object) -> bool:
    """Whether this names a file."""
    return isinstance(given, str | os.PathLike)


def is_table(given: object) -> bool:
    """Whether this is one table, and not a path or several of either.

    >>> is_table([{"id": "1"}]), is_table({"id": ["1"]}), is_table(["a.csv", "b.csv"]), is_table("a.csv")
    (True, True, False, False)
    """
    if isinstance(given, list | tuple):
        return any(isinstance(record, Mapping) and not _is_columns(record) for record in given)
    signs = ("__array__", "__dataframe__", "__arrow_c_stream__", "column_names", "collect")
    return isinstance(given, Mapping) or any(hasattr(given, name) for name in signs)


def table_lines(given: Any, name: str) -> bytes:
    """A table as canonical JSON lines; `name` is that of the argument, for messages.

    >>> table_lines({"id": [1, 2], "label": ["cat", None]}, "reference")
    b'{"id":1,"label":"cat"}\\n{"id":2,"label":null}\\n'
    """
    records = given if isinstance(given, list | tuple) else _rows(_columns(given, name))
    return b"".join(_line(record, row, name) for row, record in enumerate(records, start=1))


def columns_of_systems(given: Any, others: Sequence[str]) -> Columns | None:
    """The columns of a frame of numbers, one for each system; None for records, and a frame that has these `others`.

    Columns of pandas keep their index, which names the units.
    """
    if isinstance(given, list | tuple):
        return None
    columns = _columns(given, "values")
    if any(name in columns for name in others):
        return None
    return {str(name): given[name] for name in given.columns} if hasattr(given, "iloc") else columns


def _line(record: Any, row: int, name: str) -> bytes:
    if not isinstance(record, Mapping):
        raise ArgumentError(f"Record {row} of {name} is {description_of(record)}: give a mapping, like {{'id': '1'}}.")
    return canonical_line({str(key): _cell(cell, f"{name}, row {row}, {key!r}") for key, cell in record.items()})


def _rows(columns: Columns) -> Iterator[dict[str, Any]]:
    filled = dict(columns)
    if TEXT in filled:
        filled[TEXT] = ["" if is_missing(cell) else cell for cell in filled[TEXT]]
    return (dict(zip(filled, cells, strict=True)) for cells in zip(*filled.values(), strict=True))


def _columns(given: Any, name: str) -> Columns:
    """The columns of a table by name, all of one length."""
    if type(given).__name__ in SPLITS:
        first = next(iter(given), "test")
        raise ArgumentError(f"{name} holds the splits {', '.join(map(repr, given))}: give one, like data[{first!r}].")
    if not isinstance(given, Mapping):
        given = _array_columns(given, name) if isinstance(given, np.ndarray) else _frame_columns(given, name)
    columns = {str(key): _column_cells(column, f"column {key!r} of {name}") for key, column in given.items()}
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key!r} has {length}" for key, length in lengths.items())
        raise ArgumentError(f"The columns of {name} differ in length: {told}. Give each the same number of cells.")
    return columns


def _column_cells(column: Any, what: str) -> list[Any]:
    if hasattr(column, "to_list"):
        return list(column.to_list())
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return list(column)
    if isinstance(column, Sequence) and not isinstance(column, str | bytes):
        return list(column)
    raise ArgumentError(f"The {what} is {description_of(column)}: give a list of cells.")


def _array_columns(given: np.ndarray[Any, Any], name: str) -> Columns:
    names = given.dtype.names
    if names is None or given.ndim != 1:
        raise ArgumentError(
            f"{name} is an array without names of columns: pair nothing by position, and give ids, like "
            f"{{'id': range({len(given) if given.ndim else 0}), 'label': labels}}."
        )
    return {column: given[column] for column in names}


def _is_columns(record: Mapping[Any, Any]) -> bool:
    """Whether a mapping holds columns: several cells under every name, where a record may hold lists under some."""
    return bool(record) and all(
        not isinstance(cells, str | bytes | Mapping) and hasattr(cells, "__len__") for cells in record.values()
    )


def _frame_columns(given: Any, name: str) -> Columns:
    """The columns of a frame of any library; a named index of pandas is a column."""
    import narwhals as nw  # here, because only tables need it

    if hasattr(given, "column_names") and hasattr(given, "to_dict"):  # a data set of Hugging Face
        return dict(given.to_dict())
    if hasattr(given, "to_pydict"):  # of Arrow, a table or a batch of one
        return dict(given.to_pydict())
    try:
        if nw.dependencies.is_pandas_like_dataframe(given) and any(part is not None for part in given.index.names):
            given = given.reset_index()
        frame = nw.from_native(given)
        whole = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return {column: whole.get_column(column).to_list() for column in whole.columns}
    except (TypeError, ValueError, AttributeError, nw.exceptions.NarwhalsError) as error:
        alone = "it has no named columns" if hasattr(given, "to_list") else " ".join(str(error).split())
        raise ArgumentError(
            f"{name} is {description_of(given)}, which cannot be read ({alone}). Give {TAKEN}."
        ) from error


def _cell(cell: Any, where: str) -> Any:
    """A cell in JSON's own types: empty ones null, moments as ISO text, infinities as the text that CSV would hold."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if is_missing(cell):
        return None
    if isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else str(cell)
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, decimal.Decimal | os.PathLike):
        return str(cell)
    if isinstance(cell, Mapping):
        return {str(key): _cell(inner, where) for key, inner in cell.items()}
    if isinstance(cell, Sequence | np.ndarray) and not isinstance(cell, bytes | bytearray):
        return [_cell(inner, where) for inner in cell]
    if hasattr(cell, "to_list"):  # a list inside a cell of polars
        return [_cell(inner, where) for inner in cell.to_list()]
    raise ArgumentError(f"{where}: {description_of(cell)} is not a text, number, boolean or list of these.")


def is_missing(cell: Any) -> bool:
    """Whether a cell is empty: None, nan, and what pandas has for a missing moment or text."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return True
    return type(cell).__name__ in ("NaTType", "NAType")


def description_of(given: object) -> str:
    """What was given, for a message: a short value with its type, anything else by its type alone.

    >>> description_of(5), description_of(None), description_of([1])
    ('5 (int)', 'None', 'a list')
    """
    kind = type(given)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if given is None:
        return "None"
    if isinstance(given, str | int | float):
        return f"{shortened(repr(given))} ({name})"
    if isinstance(given, list | tuple | dict | set) and not given:
        return f"an empty {name}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
