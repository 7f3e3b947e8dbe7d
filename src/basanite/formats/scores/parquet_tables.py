"""Large tables of scores in Parquet, column by column: millions of trials never become objects of Python.

What is out of the ordinary (an empty cell, a number among texts) is left to the reader of all tables, which names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from basanite.formats.parquet import ExpansionError, parquet_faults, read_parquet
from basanite.formats.records import ROWS, digest_of
from basanite.formats.scores.plain_tables import LONGEST_CELL, NAMES
from basanite.formats.scores.trials import FLAGS, MEASURES, Floats, Numbers, Trials
from basanite.formats.single_file import SingleFile

if TYPE_CHECKING:
    import polars as pl

MAGIC: Final = b"PAR1"


def read_parquet_trials(file: SingleFile, *, score: str = "") -> Trials | None:
    """The trials of a table in which nothing is out of the ordinary; None for any other."""
    try:
        frame = read_parquet(file.data, n_rows=ROWS + 1)
    except ExpansionError:
        return None
    except parquet_faults():
        return None
    if not 0 < len(frame) <= ROWS:
        return None
    named = {role: _column(frame, role) for role in NAMES}
    named["score"] = score if score in frame.columns else named["score"] if not score else ""
    if not (named["item"] and named["score"]):
        return None
    items, systems, repeat = (_codes(frame, named[role]) for role in ("item", "system", "repeat"))
    numbers = {role: _numbers(frame, named[role]) for role in ("score", *MEASURES, *FLAGS) if named[role]}
    lost = any(named[role] and found is None for role, found in (("system", systems), ("repeat", repeat)))
    if items is None or lost or any(found is None for found in numbers.values()):
        return None
    used = {name for name in named.values() if name}
    columns = {name: _item_cells(frame[name], items) for name in frame.columns if name not in used}
    if any(cells is None for cells in columns.values()):
        return None
    known = {name: found for name, found in numbers.items() if found is not None}
    if any(not np.isin(known[name], (0, 1)).all() for name in FLAGS if name in known):
        return None
    names, system = systems if systems is not None else (("",), np.zeros(len(frame), np.int64))
    return Trials(
        file.name,
        digest_of([(file.name, file.raw)]),
        names,
        items[0],
        system,
        items[1],
        known.pop("score"),
        range(1, len(frame) + 1),
        None if repeat is None else repeat[1],
        known,
        {name: cells for name, cells in columns.items() if cells is not None},
    )


def _column(frame: pl.DataFrame, role: str) -> str:
    known = {name.strip().lower(): name for name in frame.columns}
    return next((known[name] for name in NAMES[role] if name in known), "")


def _codes(frame: pl.DataFrame, name: str) -> tuple[tuple[str, ...], Numbers] | None:
    """The different names in a column, in their order, and which of them each row has; None for an odd column."""
    import polars as pl

    if not name or frame[name].null_count() or not (frame[name].dtype == pl.String or frame[name].dtype.is_integer()):
        return None
    runs = frame[name].rle()
    cells = runs.struct.field("value").cast(pl.String)
    known = cells.unique(maintain_order=True)
    if "" in known:
        return None
    codes = cells.cast(pl.Enum(known)).to_physical().to_numpy()
    return tuple(known.to_list()), np.repeat(codes, runs.struct.field("len").to_numpy()).astype(np.int64)


def _numbers(frame: pl.DataFrame, name: str) -> Floats | None:
    """The numbers of a column, nan for an empty cell; None for an odd column."""
    import polars as pl

    column = frame[name]
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        return None
    return np.asarray(column.cast(pl.Float64).fill_null(float("nan")).to_numpy(), np.float64)


def _item_cells(column: pl.Series, items: tuple[tuple[str, ...], Numbers]) -> tuple[str, ...] | None:
    """The cell of each item; None where rows of one item differ, or hold anything but short texts."""
    import polars as pl

    names, item = items
    if column.null_count() or column.dtype != pl.String:
        return None
    first = np.full(len(names), len(item), np.int64)
    np.minimum.at(first, item, np.arange(len(item)))
    cells = column.gather(first)
    longest = cells.str.len_chars().max()
    if isinstance(longest, int) and longest > LONGEST_CELL:
        return None
    return tuple(cells.to_list()) if bool((cells.gather(item) == column).all()) else None
