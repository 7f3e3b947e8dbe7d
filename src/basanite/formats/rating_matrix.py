"""A matrix of ratings without words of what it is: judges in its columns or in its rows, as anyone who gives it says.

Cells are separated by tabs, commas, semicolons or white space. A first line of words above numbers is a header, and a
first column of words beside numbers names the rows; where all cells are words, somebody must say whether there is a
header (D-4).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from basanite.formats.records import Place, read_lines, table_fault
from basanite.problems import Findings

Judges = Literal["columns", "rows"]
MISSING: Final = frozenset(("", "na", "n/a", "nan", "null", "none", "*", ".", "-", "?"))
NAMES_ROWS: Final = frozenset(("", "item", "id", "unit", "subject", "judge", "rater", "annotator", "coder", "passage"))
"""What the first cell of a header says if the first column names the rows."""
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Rating:
    """One cell that holds something: whose it is, of what, and where it stands."""

    judge: str
    item: str
    value: str


def read_matrix(
    path: Path, judges: Judges, place: Place, findings: Findings, *, header: bool | None = None
) -> list[Rating]:
    """The ratings in a matrix; judges and items without names are numbered from 1."""
    rows = _rows(path, place, findings)
    if not findings.valid or not rows:
        return []
    above = _has_header(rows, path, place, findings) if header is None else header
    body = [cells for _, cells in rows[above:]]
    names = rows[0][1] if above else []
    beside = bool(body) and _names_beside(names, body)
    columns = names[beside:] or [str(at) for at in range(1, len(rows[0][1]) - beside + 1)]
    lines = [cells[0] if beside else str(number) for number, cells in enumerate(body, start=1)]
    people = columns if judges == "columns" else lines
    for given in (columns, lines):
        _add_repeated(path, given, place, findings)
    if findings.valid and len(people) < 2:
        message = f"judges are {judges}, and there is one: agreement needs two"
        findings.add(place.problem(path.name, None, message, "say the other way round, or give more judges"))
    return [
        Rating(*((column, line) if judges == "columns" else (line, column)), cell)
        for line, cells in zip(lines, body, strict=True)
        for column, cell in zip(columns, cells[beside:], strict=True)
        if cell.casefold() not in MISSING
    ]


def looks_like_matrix(path: Path, place: Place) -> bool:
    """Whether a file has lines of as many numbers each, and no header."""
    findings = Findings()
    rows = _rows(path, place, findings)
    cells = [cell for _, row in rows for cell in row]
    return findings.valid and bool(cells) and len(rows[0][1]) > 1 and all(map(_is_plain, cells))


def _rows(path: Path, place: Place, findings: Findings) -> list[tuple[int, list[str]]]:
    """The cells of each line with its number; lines of another length than the first are problems."""
    records = read_lines(path, place, findings)
    lines = [
        (number, text)
        for number, text in zip(records.lines, records.columns["text"], strict=True)
        if text.strip() and not text.startswith("#")
    ]
    if not lines and findings.valid:
        findings.add(place.problem(path.name, None, "the file is empty", "write one line for each item or judge"))
    sign = next((sign for sign in "\t,;" if lines and sign in lines[0][1]), "")
    rows = [(number, _split(text, sign, (path.name, number), place, findings)) for number, text in lines]
    width = len(rows[0][1]) if rows else 0
    for number, cells in rows:
        if len(cells) != width:
            message = f"{len(cells)} cells, and {width} in the first line"
            findings.add(place.problem(path.name, number, message, "write as many in each line, NA for none"))
    return rows


def _split(text: str, sign: str, where: tuple[str, int], place: Place, findings: Findings) -> list[str]:
    if not sign:
        return text.split()
    try:
        return [cell.strip() for cell in next(csv.reader([text], delimiter=sign, strict=True))]
    except csv.Error as error:
        findings.add(place.problem(*where, *table_fault(error)))
        return []


def _is_plain(cell: str) -> bool:
    """Whether a cell is a number, or says that there is none."""
    return cell.casefold() in MISSING or bool(_NUMBER.fullmatch(cell))


def _has_header(rows: Sequence[tuple[int, list[str]]], path: Path, place: Place, findings: Findings) -> bool:
    """Whether the first line names the columns; refused where nothing tells it from the others."""
    (line, first), others = rows[0], [cells for _, cells in rows[1:]]
    inside = [cell for cells in others for cell in cells[1:]]
    if all(map(_is_plain, inside)):
        return bool(inside) and not all(map(_is_plain, first[1:]))
    alone = len(set(first)) == len(first) and not set(first) & {cell for cells in others for cell in cells}
    if alone:
        message = "the first line may be a header, because none of its words appears below"
        fix = "say whether it is one"
        hint = "--header or --no-header"
        findings.add(place.problem(path.name, line, message, fix, " ".join(first), hint=hint))
    return False


def _names_beside(names: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first column names the rows: its header says so, or it has words and the others numbers."""
    if names and names[0].casefold() in NAMES_ROWS:
        return True
    words = all(not _is_plain(cells[0]) for cells in body)
    return words and all(_is_plain(cell) for cells in body for cell in cells[1:]) and len(body[0]) > 2


def _add_repeated(path: Path, names: Sequence[str], place: Place, findings: Findings) -> None:
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        findings.add(place.problem(path.name, None, f"the name {twice!r} appears twice", "give each its own", twice))
