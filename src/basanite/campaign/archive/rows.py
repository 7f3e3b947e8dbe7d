"""Rows of tables as lines of JSON and back: by the types of the columns, so that both databases give the same text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, Select, String, Table, select

from basanite.campaign.store.tables import Base, Moment
from basanite.canonical import canonical_line
from basanite.errors import BasaniteError

TABLES: Mapping[str, Table] = {table.name: table for table in Base.metadata.sorted_tables}
"""All tables, those that others refer to first."""
PLAIN: tuple[tuple[type, type | tuple[type, ...]], ...] = (
    (String, str),
    (Boolean, bool),
    (Integer, int),
    (Float, (float, int)),
)
AT_ONCE = 500


class RowsError(BasaniteError):
    """A line is no row of its table."""


def lines(connection: Connection, table: Table, question: Select[Any] | None = None) -> Iterator[bytes]:
    """The rows of a table, or those that a question finds, in the order of their primary key."""
    asked = (select(table) if question is None else question).order_by(*table.primary_key.columns)
    with connection.execution_options(yield_per=AT_ONCE).execute(asked) as found:
        for row in found:
            yield line(table, row._mapping)


def line(table: Table, row: Mapping[Any, Any]) -> bytes:
    """One row as a line of JSON: an object of its columns."""
    values = {column.name: _json_value(row[column]) for column in table.columns}
    return canonical_line(values)


def row_from_line(table: Table, text: bytes) -> dict[str, Any]:
    """The row that a line holds; each value is checked against the type of its column."""
    try:
        values = json.loads(text)
        if not isinstance(values, dict) or set(values) - set(table.columns.keys()):
            raise ValueError("it is not an object of the table's columns")
        return {name: _read(table.columns[name], value) for name, value in values.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise RowsError(f"A line is not a row of {table.name}: {str(error)[:100]}.") from error


def insert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> int:
    """Insert rows, some hundred at a time; gives how many."""
    waiting: list[Mapping[str, Any]] = []
    count = 0
    for row in rows:
        waiting.append(row)
        if len(waiting) == AT_ONCE:
            count += _flush(connection, table, waiting)
    return count + _flush(connection, table, waiting)


def _flush(connection: Connection, table: Table, waiting: list[Mapping[str, Any]]) -> int:
    count = len(waiting)
    if waiting:
        connection.execute(table.insert(), waiting)
        waiting.clear()
    return count


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return value.hex() if isinstance(value, bytes) else value


def _read(column: Column[Any], value: Any) -> Any:
    if value is None:
        if not column.nullable:
            raise ValueError(f"{column.name} is empty")
        return None
    if isinstance(column.type, Moment):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError(f"{column.name} has no time zone")
        return moment
    if isinstance(column.type, LargeBinary):
        return bytes.fromhex(value)
    for kind, wanted in PLAIN:
        if isinstance(column.type, kind) and (not isinstance(value, wanted) or _odd(wanted, value)):
            raise ValueError(f"{column.name} has a value of another kind")
    return value


def _odd(wanted: type | tuple[type, ...], value: Any) -> bool:
    """True is an int to Python, not to us; a NUL is text to SQLite and refused by PostgreSQL."""
    return (wanted is not bool and isinstance(value, bool)) or (isinstance(value, str) and "\0" in value)


DIGESTS: Mapping[str, tuple[str, ...]] = {
    "campaigns": ("logo",),
    "submissions": ("sha256", "problems_digest"),
    "results": ("digest", "figures"),
    "boards": ("digest",),
    "pack_files": ("digest",),
    "panel_images": ("digest",),
    "reading_scores": ("digest",),
    "reading_uploads": ("digest",),
    "signatures": ("copy_digest", "deletion_digest"),
    "program_runs": ("smoke_log",),
}
"""Columns that name a file by its content."""
HEX = re.compile(r"[0-9a-f]{64}")


def is_digest(text: Any) -> bool:
    """Whether this is the name of a stored file and no path in disguise.

    >>> is_digest("ab" * 32), is_digest("../../etc/passwd"), is_digest(None)
    (True, False, False)
    """
    return isinstance(text, str) and HEX.fullmatch(text) is not None


def row_digests(table: str, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Store and digest of every file that one row speaks of."""
    if table == "references":
        for role, value in sorted(row["files"].items()):
            if role != "names":
                yield from (("sealed", str(one)) for one in (value if isinstance(value, list) else [value]) if one)
    if table == "program_runs":
        yield from (("sealed", str(digest)) for digest in row["transcripts"])
    if table == "crowd_batches":
        yield from (("sealed", str(digest)) for digest in row["raws"])
    if table == "annotation_projects":
        yield from ((str(store), str(digest)) for _, (store, digest) in sorted(row["files"].items()))
    if table == "annotation_documents":
        yield str(row["store"]), str(row["digest"])
    yield from reading_digests(table, row)
    for column in DIGESTS.get(table, ()):
        if row.get(column):
            yield "files", str(row[column])


SEALED: Mapping[str, tuple[str, ...]] = {
    "reading_packages": ("digest", "open_digest", "index_digest"),
    "reading_golds": ("digest", "human"),
    "submissions": ("answers",),
    "program_runs": ("log",),
}
"""Columns that name a file among the sealed ones."""


def reading_digests(table: str, row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Store and digest of what packages, gold and reading tasks speak of."""
    yield from (("sealed", str(row[column])) for column in SEALED.get(table, ()) if row.get(column))
    if table == "reading_tasks":
        store = "sealed" if row["sealed"] else "files"
        yield from ((store, str(digest)) for _, digest in sorted(row["files"].items()))


def spoken_of(connection: Connection) -> Iterator[tuple[str, str]]:
    """Store and digest of every file that any row speaks of."""
    for name in (
        *DIGESTS,
        *SEALED,
        "reading_tasks",
        "references",
        "crowd_batches",
        "annotation_projects",
        "annotation_documents",
    ):
        for row in connection.execute(select(_table(name))).mappings():
            yield from row_digests(name, dict(row))


def _table(name: str) -> Table:
    return TABLES[name]
