"""Features in a table of text or in JSON lines: one row a line, an id and a label if there are any, numbers otherwise.

A label that was taken for a feature would make any representation look good, so every column that is called like one
is a label, and a column of words that is called like nothing is a problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.formats.items import numbers
from basanite.formats.records import ABSENT, Place, Records, read_records
from basanite.problems import Findings, Problem

ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "labels": ("labels", "label", "target", "class"),
    "ids": ("ids", "id", "row"),
    "predictions": ("predictions", "prediction"),
    "groups": ("groups", "group"),
}
"""What columns beside the features are called."""
LISTS: Final = ("features", "X", "x", "embeddings", "embedding")
"""What a column of lists of numbers is called."""
FEW: Final = 10
"""Up to this number of wrong cells of a column are named one by one."""


def read_table(path: Path, place: Place, findings: Findings) -> dict[str, Any] | None:
    """The arrays of a table by the names of the contract; None if it is no table at all."""
    records = read_records(path, place, findings)
    if records is None:
        return None
    header = list(records.columns)
    roles, doubts = column_roles(header)
    findings.extend(place.problem(records.file, 1, *doubt) for doubt in doubts)
    lists = next(
        (name for name in LISTS if name in header and any(isinstance(cell, list) for cell in records.columns[name])),
        None,
    )
    names = [name for name in header if name not in roles.values()]
    faults = [] if lists is not None else list(_header_faults(records, names, place))
    findings.extend(faults)
    features = None
    if lists is not None:
        features = _list_table(records, lists, place, findings)
    elif not faults:
        features = _number_table(records, names, place, findings)
    made = {role: whole_numbers(records.columns[name]) for role, name in roles.items()}
    return {**made, "features": features} if features is not None and findings.valid else None


def column_roles(header: Sequence[str]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The column of each role, and what is in doubt: message, cure and what was found.

    >>> column_roles(["id", "y", "f1", "f2"])[0]
    {'labels': 'y', 'ids': 'id'}
    >>> column_roles(["x", "y"])[0]
    {}
    """
    roles: dict[str, str] = {}
    doubts = []
    for role, names in ROLES.items():
        known = (*names, *(("y",) if role == "labels" and "x" not in header else ()))
        present = [name for name in known if name in header]
        if present:
            roles[role] = present[0]
        if len(present) > 1:
            several = " and ".join(map(repr, present))
            doubts.append((f"{several} could each be the {role}", "keep one of them", ", ".join(present)))
    return roles, doubts


def _header_faults(records: Records, names: Sequence[str], place: Place) -> Iterator[Problem]:
    """Why the first line cannot be the names of columns: there are none, or it is a row of numbers."""
    if not names:
        yield place.problem(records.file, 1, "no column holds features", "add one column of numbers for each dimension")
        return
    given = [_number(name) for name in names]
    counted = given in ([float(at) for at in range(len(names))], [float(at + 1) for at in range(len(names))])
    if len(names) > 1 and all(map(math.isfinite, given)) and not counted:
        message = "the first line is not a header: all of its cells are numbers"
        yield place.problem(records.file, 1, message, "begin with a line of column names", ",".join(names))


def _number_table(records: Records, names: Sequence[str], place: Place, findings: Findings) -> NDArray[np.float64]:
    table = np.column_stack([numbers(records.columns[name]) for name in names])
    wrong = ~np.isfinite(table)
    for at in np.flatnonzero(wrong.any(axis=0)).tolist():
        findings.extend(_column_faults(records, names[at], wrong[:, at], place))
    return table


def _column_faults(records: Records, name: str, wrong: NDArray[np.bool_], place: Place) -> Iterator[Problem]:
    """A problem for each cell that is no finite number; one for the column where most of them are (D-7)."""
    rows = np.flatnonzero(wrong).tolist()
    cells = [records.columns[name][row] for row in rows]
    if len(rows) > max(len(wrong) / 2, FEW) or len(rows) == len(wrong):
        message = f"{name!r}: {len(rows)} of {len(wrong)} cells are not a finite number"
        fix = "features are numbers: call the column label, id or group if it is one of these, or leave it out"
        yield place.problem(records.file, records.lines[rows[0]], message, fix, _visible_cell(cells[0]))
        return
    for row, cell in zip(rows, cells, strict=True):
        message = f"{name!r} is not a finite number"
        yield place.problem(records.file, records.lines[row], message, "write a number like 0.25", _visible_cell(cell))


def _list_table(records: Records, name: str, place: Place, findings: Findings) -> NDArray[np.float64] | None:
    """A column of lists as a table; each list that is not as long as the first, or no list of numbers, is a problem."""
    cells = records.columns[name]
    width = next((len(cell) for cell in cells if isinstance(cell, list)), 0)
    rows = []
    for line, cell in zip(records.lines, cells, strict=True):
        row = numbers(cell) if isinstance(cell, list) and len(cell) == width else np.zeros(0)
        if len(row) != width or not np.isfinite(row).all() or not width:
            message = f"{name} is not a list of {width} finite numbers"
            findings.add(
                place.problem(records.file, line, message, "write as many numbers for each row", _visible_cell(cell))
            )
        else:
            rows.append(row)
    return np.array(rows) if len(rows) == len(cells) else None


def whole_numbers(column: Sequence[Any]) -> NDArray[Any]:
    """Whole numbers where every cell is one, so that they sort as such, and words otherwise; an empty cell is None.

    >>> whole_numbers(["10", "9"]).tolist(), whole_numbers(["10", "a"]).tolist()
    ([10, 9], ['10', 'a'])
    """
    cells = [None if cell is ABSENT else cell for cell in column]
    whole = [_whole(cell) for cell in cells]
    if all(number is not None for number in whole):
        return np.array(whole, dtype=np.int64)
    if any(cell is None or (isinstance(cell, str) and not cell.strip()) for cell in cells):
        return np.array([None if cell is None or not str(cell).strip() else str(cell) for cell in cells], dtype=object)
    return np.array([str(cell) for cell in cells], dtype=np.str_)


def _whole(cell: Any) -> int | None:
    """The whole number that a cell is, written as programs write it.

    >>> _whole("7"), _whole("007"), _whole(" 7"), _whole(7), _whole(True), _whole("7.0")
    (7, None, None, 7, None, None)
    """
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell if -(2**63) <= cell < 2**63 else None
    if not isinstance(cell, str) or len(cell) > 19 or not cell.isascii() or not cell.lstrip("-").isdigit():
        return None
    number = int(cell) if cell.count("-") < 2 else None
    return number if number is not None and str(number) == cell and -(2**63) <= number < 2**63 else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _visible_cell(cell: Any) -> Any:
    return "" if cell is None or cell is ABSENT else cell
