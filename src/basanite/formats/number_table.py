"""Tables of numbers: an id and one column a class or rating, with every cell that is no such number named.

A column in which no cell is a number is text (a film, a genre) and describes the items; all others hold numbers, so a
slip of the pen in one cell is a problem of that cell and never turns its column into something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.formats.items import Items, lacks_columns, take_items
from basanite.formats.records import ABSENT, Place, Records, read_records
from basanite.problems import Findings, Problem

Reals = NDArray[np.float64]
ID = "id"
FEW = 10
"""Up to this number of wrong cells of a column are named one by one, even if they are most of it."""
OTHER_TASK = "a table with one class for each item is for the task `classification`"
NO_FINITE = re.compile(r"[+-]?(nan|inf|infinity|[0-9]{309,}|[0-9.]+e[+]?[0-9]{3,})")


@dataclass(frozen=True)
class Wanted:
    """What a cell must hold: the test sees nan for an empty cell and infinity for one that is no number."""

    test: Callable[[Reals], NDArray[np.bool_]]
    message: str
    fix: str


FINITE = Wanted(np.isfinite, "no finite number", "write a number like 0.25")


@dataclass(frozen=True, slots=True)
class Cells:
    """The numbers of one item under the names of their columns, and where they stand."""

    names: tuple[str, ...]
    values: Reals
    file: str
    line: int


def read_numbers(
    path: Path,
    place: Place,
    findings: Findings,
    wanted: Wanted,
    *,
    chosen: Sequence[str] | None = None,
    text: Sequence[str] = (),
) -> Items | None:
    """The items of a table whose content is a `Cells` each; `chosen` columns, or all that hold numbers.

    Columns called as in `text` never hold numbers of interest, whatever is in them.
    """
    records = read_records(path, place, findings)
    if records is None:
        return None
    names = tuple(chosen) if chosen else tuple(_number_columns(records, (ID, *text)))
    if len(records) and lacks_columns(records, (ID, *names), place, findings):
        return None
    if not names:
        findings.add(
            place.problem(records.file, 1, "no column holds numbers", f"add one column a class or rating; {OTHER_TASK}")
        )
        return None
    table = np.column_stack([numbers(records.columns[name]) for name in names])
    _add_faults(findings, records, names, ~wanted.test(table), wanted, place)
    items = take_items(records, lambda fields: None, place, findings, used=names)
    return _with_cells(items, records, names, table)


def numbers(column: Sequence[Any]) -> Reals:
    """The cells of a column as numbers: an empty one is nan, one that is no finite number infinity.

    >>> numbers(["1", None, "x", "nan"]).tolist()
    [1.0, nan, inf, inf]
    """
    return np.array([math.nan if cell is None else _number(cell) for cell in column], dtype=np.float64)


def _number(cell: Any) -> float:
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return number if math.isfinite(number) else math.inf


def _number_columns(records: Records, left: Sequence[str]) -> Iterator[str]:
    for name, column in records.columns.items():
        cells = [cell for cell in column if cell is not None and cell is not ABSENT]
        if name not in left and (any(math.isfinite(_number(cell)) for cell in cells) or _only_words(cells)):
            yield name


def _only_words(cells: Sequence[Any]) -> bool:
    """Whether all cells are nan, infinite or too large: numbers that went wrong, and no text (D-12)."""
    return bool(cells) and all(NO_FINITE.fullmatch(str(cell).strip().lower()) for cell in cells)


def _add_faults(
    findings: Findings, records: Records, names: Sequence[str], wrong: NDArray[np.bool_], wanted: Wanted, place: Place
) -> None:
    """A problem for every wrong cell; a column in which most are wrong is told once, and counted (D-7)."""
    sizes = wrong.sum(axis=0)
    whole = sizes > max(len(wrong) / 2, FEW)
    for at in np.flatnonzero(whole).tolist():
        message = f"{names[at]}: {sizes[at]} of {len(wrong)} cells are {wanted.message}"
        findings.add(
            _fault(records, names[at], int(np.argmax(wrong[:, at])), message, f"{wanted.fix}; {OTHER_TASK}", place)
        )
        findings.count(place.rule, int(sizes[at]) - 1)
    for row, at in np.argwhere(wrong & ~whole):
        findings.add(_fault(records, names[at], row, f"{names[at]}: {wanted.message}", wanted.fix, place))


def _fault(records: Records, name: str, row: int, message: str, fix: str, place: Place) -> Problem:
    found = records.columns[name][row]
    return place.problem(records.file, records.lines[row], message, fix, "" if found is None else found)


def _with_cells(items: Items, records: Records, names: tuple[str, ...], table: Reals) -> Items:
    row_of = {line: row for row, line in enumerate(records.lines)}
    content = tuple(Cells(names, table[row_of[line]], items.file, line) for line in items.lines)
    return replace(items, content=content)


def arranged(cells: Sequence[Cells], names: Sequence[str]) -> Reals:
    """The numbers of all items, items x names, whatever the order of columns in their file."""
    if not cells:
        return np.empty((0, len(names)))
    order = [cells[0].names.index(name) for name in names]
    return np.stack([cell.values for cell in cells])[:, order]


def unlike(truth: Cells, answer: Cells, place: Place, what: str) -> Iterator[Any]:
    """A problem for each column that the answers lack, and a warning for each that nobody asked for."""
    for name in truth.names:
        if name not in answer.names:
            message, fix = f"there is no column for the {what} {name!r}", f"add a column {name!r}"
            yield place.problem(answer.file, 1, message, fix, name)
    for name in answer.names:
        if name not in truth.names:
            message, fix = f"column {name!r} is no {what} of the reference", "leave it out"
            yield place.problem(answer.file, 1, message, fix, name, severity="warn")
