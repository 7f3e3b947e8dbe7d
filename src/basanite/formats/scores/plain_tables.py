"""Plain tables of scores: one row for each trial, as CSV, TSV, JSON lines or Parquet.

A row has an item, a score, and if there are any a system, a repeat, a cost, a latency and a number of tokens; columns
are found by the names that people give them. What else a table says of an item (its topic, its source) becomes a factor
or a cluster, if it is the same in all rows of the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.formats.items import lacks_columns
from basanite.formats.records import ABSENT, Place, Records, read_records
from basanite.formats.scores.trials import FLAGS, MEASURES, Floats, Numbers, Trials
from basanite.problems import Findings

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "item": ("item", "id", "item_id", "sample_id", "question_id", "doc_id", "task_id"),
    "system": ("system", "model", "model_id", "model_name"),
    "repeat": ("repeat", "epoch", "trial", "attempt", "run"),
    "score": ("score", "value"),
    "cost": ("cost", "cost_usd"),
    "latency": ("latency", "latency_s", "seconds", "duration"),
    "tokens": ("tokens", "total_tokens"),
    "refusal": ("refusal", "refused"),
    "error": ("error", "failed"),
}
"""What the columns of a table are called, the usual name first."""
LETTERS: Final = {"true": 1.0, "false": 0.0}
LONGEST_CELL: Final = 200
"""A longer text is an answer or a prompt, and no property of an item."""


def item_name(records: Records) -> str:
    """What the column of items is called in this table."""
    return _column(records, "item") or "item"


def read_plain_table(path: Path, place: Place, findings: Findings, *, score: str = "") -> Trials | None:
    """The trials of a table; `score` names the column of scores where it has another name."""
    records = read_records(path, place, findings, id_name="item")
    return None if records is None else trials_of_records(records, place, findings, score=score)


def trials_of_records(records: Records, place: Place, findings: Findings, *, score: str = "") -> Trials | None:
    """The trials of records that have been read; None with a problem where columns are missing."""
    wanted = score or _column(records, "score") or "score"
    if len(records) and lacks_columns(records, (item_name(records), wanted), place, findings):
        return None
    if not len(records):
        if not records.lost:
            findings.add(place.problem(records.file, None, "there is no trial in it", "write one row for each trial"))
        return None
    named = {role: _column(records, role) for role in NAMES if role not in ("score", "item")}
    items, item = _codes(records, item_name(records))
    systems, system = _codes(records, named["system"]) if named["system"] else (("",), np.zeros(len(item), np.int64))
    for name, codes, role in ((item_name(records), item, "item"), (named["system"] or "", system, "system")):
        for at in np.flatnonzero(codes < 0).tolist():
            findings.add(
                place.problem(records.file, records.lines[at], f"{name} is empty", f"name the {role} of the row")
            )
    if (item < 0).any() or (system < 0).any():
        return None
    numbers, faults = _numbers(records, wanted)
    measures = {role: _numbers(records, name) for role in MEASURES if (name := named[role])}
    for column, (_, found) in {wanted: (numbers, faults), **measures}.items():
        for at in found:
            cell = records.columns[named.get(column) or column][at]
            fix = "write a number like 0.25, true or false, or leave the cell empty"
            findings.add(place.problem(records.file, records.lines[at], f"{column} is not a number", fix, cell))
    flags = {role: flag for role in FLAGS if (flag := _flags(records, named[role])) is not None}
    named |= {role: "" for role in FLAGS if role not in flags}
    repeat = records.columns[named["repeat"]] if named["repeat"] else None
    used = {item_name(records), wanted, *(name for name in named.values() if name)}
    columns = dict(_item_columns(records, item, len(items), used))
    return Trials(
        records.file,
        records.digest,
        systems,
        items,
        system,
        item,
        numbers,
        list(records.lines),
        repeat,
        {**{role: column for role, (column, _) in measures.items()}, **flags},
        columns,
        notes=tuple(_left_aside(records, {*used, *columns})),
    )


def _column(records: Records, role: str) -> str:
    """The name of the column of a role; "" where there is none."""
    by_name = {name.strip().lower(): name for name in records.columns}
    return next((by_name[name] for name in NAMES[role] if name in by_name), "")


def _codes(records: Records, name: str) -> tuple[tuple[str, ...], Numbers]:
    """The different cells of a column in their order, and which of them each row has; -1 for an empty one."""
    known: dict[str, int] = {}
    codes = [
        -1 if (text := cell_text(cell)) == "" else known.setdefault(text, len(known)) for cell in records.columns[name]
    ]
    return tuple(known), np.array(codes, np.int64)


def cell_text(cell: Any) -> str:
    """A cell as text; a whole number that a program wrote as 12.0 is 12.

    >>> cell_text(12.0), cell_text(None), cell_text(True), cell_text("a")
    ('12', '', 'True', 'a')
    """
    if cell is None or cell is ABSENT or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _numbers(records: Records, name: str) -> tuple[Floats, list[int]]:
    """The numbers of a column, nan for an empty cell, and the places of cells that are no numbers."""
    found, faults = np.full(len(records), np.nan), []
    for at, cell in enumerate(records.columns[name]):
        number = number_of_cell(cell)
        if number is None:
            faults.append(at)
        else:
            found[at] = number
    return found, faults


def number_of_cell(cell: Any) -> float | None:
    """The number of a cell: nan where it is empty, 1 or 0 for true or false, None where it is no number.

    >>> number_of_cell("0.5"), number_of_cell("true"), number_of_cell("high"), number_of_cell(ABSENT)
    (0.5, 1.0, None, nan)
    """
    if cell is None or cell is ABSENT:
        return float("nan")
    text = cell.strip().lower() if isinstance(cell, str) else cell
    if isinstance(text, str) and text in LETTERS:
        return LETTERS[text]
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return None


def _flags(records: Records, name: str) -> Floats | None:
    """A column of yes and no as 1 and 0; None where it says something else, such as the text of an error."""
    numbers, faults = _numbers(records, name) if name else (np.full(len(records), np.nan), [])
    return None if faults or not np.isin(numbers, (0, 1)).any() or (numbers[~np.isnan(numbers)] % 1).any() else numbers


def _item_columns(records: Records, item: Numbers, size: int, used: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns of short texts that say the same in all rows of an item."""
    for name, column in records.columns.items():
        if name not in used:
            cells = _constant(column, item, size)
            if cells is not None:
                yield name, cells


def _constant(column: Sequence[Any], item: Numbers, size: int) -> tuple[str, ...] | None:
    """The cell of each item; None where rows of one item differ, or hold what is no short text."""
    cells: list[str | None] = [None] * size
    for at, cell in zip(item.tolist(), column, strict=True):
        if isinstance(cell, list | dict) or len(text := cell_text(cell)) > LONGEST_CELL:
            return None
        if cells[at] is None:
            cells[at] = text
        elif cells[at] != text:
            return None
    return tuple(cell or "" for cell in cells)


def _left_aside(records: Records, used: set[str]) -> Iterator[str]:
    aside = [name for name in records.columns if name not in used]
    if aside:
        yield f"columns that differ between rows of one item, or hold long texts, are not used: {', '.join(aside[:5])}"
