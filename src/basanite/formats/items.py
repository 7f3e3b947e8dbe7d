"""Items: what a reference or a submission says of each thing by its id, taken from records with every fault named.

An id is a text (a whole number is taken as its digits) and stands once. What a task wants to know of an item is its
`content`; other short columns of a reference become factors or clusters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.formats.records import ABSENT, Place, Records, joined_digest, read_records
from basanite.problems import Findings, Problem

SEPARATORS = (";", "|", " ")
"""What people put between cells besides commas and tabs."""
DIGIT = re.compile(r"[0-9]")
ID_LENGTH = 1_000
MOST_LEVELS = 50
"""A column with more different values than this is no factor: nobody reads a table of so many levels."""


@dataclass(frozen=True)
class Items:
    """The items of one input, in its order."""

    file: str
    ids: tuple[str, ...]
    content: tuple[Any, ...]
    lines: Sequence[int]
    digest: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further columns of text, "" where they say nothing."""
    refused: frozenset[str] = frozenset()
    """Ids of records that are there and were not taken: what is wrong with them has been told."""
    numbered: bool = False
    """Whether these are the lines of a text, which have no name but their number."""
    lost: int = 0
    """How many records were there that cannot be told by an id."""


Take = Callable[[Mapping[str, Any]], Any]
"""What a task takes from the fields of a record; it raises `ContentError` with what is wrong and what to write."""


class ContentError(ValueError):
    """A record does not hold what the task needs; the message says what, and `fix` what to write instead."""

    def __init__(self, message: str, fix: str, found: Any = "") -> None:
        super().__init__(message)
        self.fix, self.found = fix, found


def take_items(
    records: Records, take: Take, place: Place, findings: Findings, *, id_name: str = "id", used: Sequence[str] = ()
) -> Items:
    """The items of some records: `take` gives the content of each; `used` names the columns it reads."""
    kept: list[tuple[int, str, Any]] = []
    seen = set[str]()
    lost = records.lost
    for row, line in enumerate(records.lines):
        fields, name = records.fields(row), ""
        try:
            name = _id(fields, id_name)
            if name in seen:
                raise ContentError(f"{id_name} {name!r} appears twice", "keep one record for each", name)
            seen.add(name)
            kept.append((row, name, take(fields)))
        except ContentError as error:
            lost += not name
            findings.add(place.problem(records.file, line, str(error), error.fix, error.found))
    rows = [row for row, *_ in kept]
    return Items(
        records.file,
        tuple(name for _, name, _ in kept),
        tuple(content for *_, content in kept),
        [records.lines[row] for row in rows],
        records.digest,
        dict(_text_columns(records, rows, {id_name, *used})),
        frozenset(seen.difference(name for _, name, _ in kept)),
        records.numbered,
        lost,
    )


def read_items(
    path: Path, take: Take, place: Place, findings: Findings, *, id_name: str = "id", used: Sequence[str] = ()
) -> Items | None:
    """The items of a structured file, or of a plain text whose lines are numbered from 1 and hold a `text` each."""
    records = read_records(path, place, findings, id_name=id_name, plain=True)
    return None if records is None else _take_known(records, take, place, findings, id_name=id_name, used=used)


def read_structured_items(
    path: Path, take: Take, place: Place, findings: Findings, *, id_name: str = "id", used: Sequence[str] = ()
) -> Items | None:
    """The items of a structured file; a plain text, in which there is no sense here, is refused."""
    records = read_records(path, place, findings, id_name=id_name)
    return None if records is None else _take_known(records, take, place, findings, id_name=id_name, used=used)


def _take_known(
    records: Records, take: Take, place: Place, findings: Findings, *, id_name: str, used: Sequence[str]
) -> Items | None:
    name = "id" if records.numbered else id_name
    wanted = (name, *used[:1]) if used and not any(column in records.columns for column in used) else (name,)
    if len(records) and lacks_columns(records, wanted, place, findings):
        return None
    return take_items(records, take, place, findings, id_name=name, used=used)


def lacks_columns(records: Records, wanted: Sequence[str], place: Place, findings: Findings) -> bool:
    """Whether columns are missing; one problem says which, or why all of them are: separators, or no header (D-7)."""
    missing = [name for name in wanted if name not in records.columns]
    if not missing:
        return False
    header, names = list(records.columns), " or ".join(repr(name) for name in missing)
    message = f"there is no column {names}"
    fix = f"name columns {', '.join(wanted)}; there are: {', '.join(header)}"
    separator = next((mark for mark in SEPARATORS if len(header) == 1 and mark in header[0]), None)
    if separator is not None:
        message, fix = f"{message}: cells are separated by {separator!r}", "separate them by commas or tabs"
    elif (
        len(missing) == len(wanted) and min(records.lines, default=1) > 1 and any(DIGIT.search(name) for name in header)
    ):
        message = f"{message}: the first line is not a header"
        fix = f"begin with a line of column names: {','.join(wanted)}"
    findings.add(place.problem(records.file, 1, message, fix, ", ".join(header)))
    return True


def parallel(items: Sequence[Items], place: Place, findings: Findings) -> Items | None:
    """Several references of the same items as one: each item's content is the contents of all, in their order."""
    first = items[0]
    for other in items[1:]:
        if other.ids != first.ids:
            message = f"{len(other.ids)} items, not the {len(first.ids)} of {first.file} in their order"
            findings.add(place.problem(other.file, None, message, "give files with the same items in the same order"))
    if any(other.ids != first.ids for other in items):
        return None
    groups = zip(*(one.content for one in items), strict=True)
    content = tuple(tuple(text for texts in group for text in texts) for group in groups)
    return replace(first, content=content, digest=joined_digest([one.digest for one in items]))


def text_of(fields: Mapping[str, Any], name: str = "text") -> str:
    """A text, which may be empty."""
    if isinstance(fields.get(name), str):
        return str(fields[name])
    if fields.get(name) is None and name in fields:
        return ""  # an empty cell of a table
    raise ContentError(f"there is no text {name!r}", f'write "{name}": "…"', fields.get(name, ""))


def texts_of(fields: Mapping[str, Any], name: str = "references") -> tuple[str, ...]:
    """One or more texts: a list, or the single `text` of a plain file or table."""
    found = fields.get(name)
    if found is None and "text" in fields:
        return (text_of(fields),)
    if isinstance(found, str):
        return (found,)
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise ContentError(f"{name} is not a list of texts", f'write "{name}": ["…", "…"]', found if found else "")
    return tuple(found)


def number_of(fields: Mapping[str, Any], name: str) -> float:
    """A finite number, written as one."""
    found = fields.get(name)
    try:
        number = math.nan if found is None or isinstance(found, bool) else float(found)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ContentError(f"{name} is not a finite number", "write a number like 0.25", "" if found is None else found)
    return number


def _id(fields: Mapping[str, Any], id_name: str) -> str:
    found = fields.get(id_name)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not found or len(found) > ID_LENGTH:
        fix = f"give every record an {id_name!r} of 1 to {ID_LENGTH} characters"
        raise ContentError(f"{id_name} is missing, empty, too long or not text", fix, "" if found is None else found)
    return found


def _text_columns(records: Records, rows: Sequence[int], used: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns that hold short texts, whole numbers or truth values; a long text describes one item alone."""
    for name, column in records.columns.items():
        if name not in used:
            cells = [_whole(None if column[row] is ABSENT else column[row]) for row in rows]
            if all(
                cell is None or isinstance(cell, int) or (isinstance(cell, str) and len(cell) <= ID_LENGTH)
                for cell in cells
            ):
                yield name, tuple("" if cell is None else str(cell) for cell in cells)


def _whole(cell: Any) -> Any:
    """A whole number as one: programs write 12.0, and nan for nothing, where some cells of a column are empty."""
    if not isinstance(cell, float):
        return cell
    return None if math.isnan(cell) else int(cell) if cell.is_integer() else cell


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
            place.problem(
                records.file, 1, "no column holds numbers", f"add one column per class or rating; {OTHER_TASK}"
            )
        )
        return None
    table = np.column_stack([numbers(records.columns[name]) for name in names])
    _add_faults(findings, records, names, ~wanted.test(table), wanted, place)
    items = take_items(records, lambda fields: None, place, findings, used=names)
    row_of = {line: row for row, line in enumerate(records.lines)}
    content = tuple(Cells(names, table[row_of[line]], items.file, line) for line in items.lines)
    return replace(items, content=content)


def numbers(column: Sequence[Any]) -> Reals:
    """The cells of a column as numbers: an empty or absent one is nan, one that is no finite number infinity.

    >>> numbers(["1", None, ABSENT, "x", "nan"]).tolist()
    [1.0, nan, nan, inf, inf]
    """
    empty = (None, ABSENT)
    return np.array([math.nan if cell in empty else _number(cell) for cell in column], dtype=np.float64)


def _number(cell: Any) -> float:
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return number if math.isfinite(number) else math.inf


def _number_columns(records: Records, left: Sequence[str]) -> Iterator[str]:
    for name, column in records.columns.items():
        cells = [cell for cell in column if cell is not None and cell is not ABSENT]
        if name in left or not cells:
            continue
        # nan, infinite and too large alone are numbers that went wrong, and no text (D-12)
        strange = (NO_FINITE.fullmatch(str(cell).strip().lower()) for cell in cells)
        if any(math.isfinite(_number(cell)) for cell in cells) or all(strange):
            yield name


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
    return place.problem(records.file, records.lines[row], message, fix, "" if found in (None, ABSENT) else found)


def align_columns(cells: Sequence[Cells], names: Sequence[str]) -> Reals:
    """The numbers of all items, items x names, whatever the order of columns in their file."""
    if not cells:
        return np.empty((0, len(names)))
    order = [cells[0].names.index(name) for name in names]
    return np.stack([cell.values for cell in cells])[:, order]


def column_problems(truth: Cells, answer: Cells, place: Place, what: str) -> Iterator[Any]:
    """A problem for each column that the answers lack, and a warning for each that nobody asked for."""
    for name in truth.names:
        if name not in answer.names:
            message, fix = f"there is no column for the {what} {name!r}", f"add a column {name!r}"
            yield place.problem(answer.file, 1, message, fix, name)
    for name in answer.names:
        if name not in truth.names:
            message, fix = f"column {name!r} is not a {what} of the reference", "leave it out"
            yield place.problem(answer.file, 1, message, fix, name, severity="warn")
