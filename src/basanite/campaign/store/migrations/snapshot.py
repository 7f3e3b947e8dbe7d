"""Writes the first version of the schema as plain SQL, one file for each database, from the tables of the program.

`python -m basanite.campaign.store.migrations.snapshot` is run as long as no server exists that has the first version;
every later change is a version of its own (`store.migrating`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Dialect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from basanite.campaign.store.tables import Base
from basanite.campaign.store.tables.guards import statements

FOLDER = Path(__file__).parent / "versions"
DIALECTS: tuple[type[Dialect], ...] = (sqlite.dialect, postgresql.dialect)
BETWEEN = "\n\n"


def snapshot(dialect: Dialect) -> Iterator[str]:
    """All statements that make the schema on an empty database."""
    for table in Base.metadata.sorted_tables:
        yield _one_block(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield _one_block(str(CreateIndex(index).compile(dialect=dialect)))
    yield from (statement.replace("%%", "%") for statement in statements(dialect.name))


def _one_block(sql: str) -> str:
    return "\n".join(line.rstrip().replace("\t", "  ") for line in sql.splitlines() if line.strip())


def write() -> None:
    """Write the files again."""
    for kind in DIALECTS:
        dialect = kind()
        text = BETWEEN.join(snapshot(dialect)) + "\n"
        (FOLDER / f"v0001.{dialect.name}.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
