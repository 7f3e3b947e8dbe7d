"""Rows of tables as lines of JSON and back: by the types of the columns, so that both databases give the same text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, Column, Connection, Float, Integer, LargeBinary, Select, String, Table, select

from basanite.campaign.store.tables import Base, Moment
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
    values = {column.name: _written(row[column]) for column in table.columns}
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def parsed(table: Table, text: bytes) -> dict[str, Any]:
    """The row that a line holds; each value is checked against the type of its column."""
    try:
        values = json.loads(text)
        if not isinstance(values, dict) or set(values) - set(table.columns.keys()):
            raise ValueError("it is no object of the table's columns")
        return {name: _read(table.columns[name], value) for name, value in values.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise RowsError(f"A line is no row of {table.name}: {str(error)[:100]}.") from error


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


def _written(value: Any) -> Any:
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
