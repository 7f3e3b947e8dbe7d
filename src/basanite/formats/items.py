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

from basanite.formats.records import ABSENT, Place, Records, joined_digest, read_records
from basanite.problems import Findings

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
                raise ContentError(f"{id_name} {name!r} stands twice", "keep one record for each", name)
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
    path: Path,
    take: Take,
    place: Place,
    findings: Findings,
    *,
    id_name: str = "id",
    used: Sequence[str] = (),
    plain: bool = True,
) -> Items | None:
    """The items of a structured file, or of a plain text whose lines are numbered from 1 and hold a `text` each.

    Without `plain` there is no sense in a text, and it is refused.
    """
    records = read_records(path, place, findings, id_name=id_name, plain=plain)
    if records is None:
        return None
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
        message = f"{message}: the first line is no header"
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
        raise ContentError(f"{name} is no list of texts", f'write "{name}": ["…", "…"]', found if found else "")
    return tuple(found)


def number_of(fields: Mapping[str, Any], name: str) -> float:
    """A finite number, written as one."""
    found = fields.get(name)
    try:
        number = math.nan if found is None or isinstance(found, bool) else float(found)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ContentError(f"{name} is no finite number", "write a number like 0.25", "" if found is None else found)
    return number


def _id(fields: Mapping[str, Any], id_name: str) -> str:
    found = fields.get(id_name)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not found or len(found) > ID_LENGTH:
        fix = f"give every record an {id_name!r} of 1 to {ID_LENGTH} characters"
        raise ContentError(f"{id_name} is missing, empty, too long or no text", fix, "" if found is None else found)
    return found


def _text_columns(records: Records, rows: Sequence[int], used: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns that hold short texts, whole numbers or truth values."""
    for name, column in records.columns.items():
        if name not in used:
            cells = [_whole(None if column[row] is ABSENT else column[row]) for row in rows]
            if all(cell is None or isinstance(cell, str | int) for cell in cells):
                yield name, tuple("" if cell is None else str(cell) for cell in cells)


def _whole(cell: Any) -> Any:
    """A whole number as one: programs write 12.0, and nan for nothing, where some cells of a column are empty."""
    if not isinstance(cell, float):
        return cell
    return None if math.isnan(cell) else int(cell) if cell.is_integer() else cell
