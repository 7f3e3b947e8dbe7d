"""Files in the making: a name, bytes, a sentence on how they came about, and the items that are not in them."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from basanite.reports.outputs.data_files import csv_cell

_ODD = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 60


@dataclass(frozen=True)
class Made:
    """A file that judgements became."""

    name: str
    content: bytes
    note: str = ""
    """How it was made: the rule and what it is for."""
    undecided: tuple[str, ...] = ()
    """Items that are left out, or open: a key with such items is not finished."""


def spreadsheet(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file for people, in which no cell acts as a formula (X-14)."""
    return table(header, [[csv_cell(str(value)) for value in row] for row in rows])


def table(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> bytes:
    """A CSV or TSV file for programs, cells quoted where they must be."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def lines(rows: Iterable[Sequence[str]]) -> bytes:
    """Fields between tabs, a line for each row, nothing quoted: no field may hold a tab or a line's end."""
    return "".join("\t".join(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def plain(value: str) -> str:
    """A value for a file whose lines and fields nothing may break.

    >>> plain("a\\tb\\nc")
    'a b c'
    """
    return " ".join(value.split()) if any(char in value for char in "\t\r\n\v\f") else value


def file_name(value: str) -> str:
    """A name that is safe in a folder and differs where values differ.

    >>> file_name("Alpha"), file_name("../x")
    ('Alpha', 'x-d6b96a97')
    """
    safe = _ODD.sub("-", value).strip(".-")[:LONGEST_NAME]
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return safe if safe == value else f"{safe}-{digest}".strip("-")
