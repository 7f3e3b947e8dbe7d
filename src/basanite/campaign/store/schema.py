"""The versions of the schema: bring a database up to date, compare it with the tables, take a version back.

`python -m basanite.campaign.store.schema "what changes"` writes the next version from what differs; read it before
you keep it. The versions lie inside the package, so that an installed server can bring its own database up to date.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import CreateIndex, CreateTable

from basanite.campaign.store.database import Database, take_time
from basanite.campaign.store.tables import Base
from basanite.campaign.store.tables.base import statements
from basanite.errors import BasaniteError

FOLDER = Path(__file__).parents[1] / "migrations"
LOCK = 0x62617362
"""The advisory lock of anyone who changes the schema on PostgreSQL; on SQLite a writer is alone anyway."""

TABLE_SECONDS: Final = 2
"""How long a change waits for a table at a time: meanwhile everybody else who wants the table waits behind it."""
ATTEMPTS: Final = 60
PAUSE_SECONDS: Final = 1.0
"""Between two attempts the others go on with their work."""
LOCK_NOT_AVAILABLE: Final = "55P03"


class SchemaError(BasaniteError):
    """The database has another version of the schema than this program."""


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring a database up to date, an empty one included; several processes may call it at once, and others work on it.

    One that a newer program has brought further is refused: this program would not know what it must keep.
    """
    refuse_newer(database)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _alone(database) as config:
                command.upgrade(config, revision)
        except OperationalError as error:
            _let_others_on(error, attempt)
        else:
            return


def _let_others_on(error: OperationalError, attempt: int) -> None:
    """Pause, if somebody held a table for long; anything else is raised."""
    if getattr(error.orig, "sqlstate", "") != LOCK_NOT_AVAILABLE:
        raise error
    if attempt == ATTEMPTS:
        raise SchemaError(
            "The schema cannot be changed: another transaction holds a table. Stop the programs that use "
            "the database (a backup?), and start this again."
        ) from error
    time.sleep(PAUSE_SECONDS)


def upgrade_within(connection: Connection, revision: str = "head") -> None:
    """Bring a database up to date inside of a transaction that somebody else keeps or takes back (a restore)."""
    command.upgrade(_config(connection), revision)


def make_tables(database: Database) -> None:
    """Make the tables of the program in an empty database and call it up to date: for tests, all versions at once."""
    if version(database) is not None:
        return
    with _alone(database) as config:
        Base.metadata.create_all(config.attributes["connection"])
        command.stamp(config, "head")


def downgrade(database: Database, revision: str) -> None:
    """Take a database back to an older version, `base` for an empty one; data of newer tables is lost."""
    with _alone(database) as config:
        command.downgrade(config, revision)


def version(database: Database) -> str | None:
    """The version of the schema that a database has; None if it has none."""
    with database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def fingerprint() -> str:
    """What tells the tables of this program from those of others, also while no version is frozen."""
    tables = Base.metadata.sorted_tables
    parts = [str(CreateTable(table)) for table in tables]
    parts += sorted(str(CreateIndex(index)) for table in tables for index in table.indexes)
    return hashlib.sha256("\n".join((newest(), *parts, *statements("sqlite"))).encode()).hexdigest()[:16]


def newest() -> str:
    """The version of the schema that this program needs."""
    return str(ScriptDirectory(str(FOLDER)).get_current_head())


def require(database: Database) -> None:
    """Refuse to work on a database of another version, with the cure."""
    refuse_newer(database)
    found = version(database)
    if found != newest():
        raise SchemaError(
            f"The database has schema version {found or 'none'}, but this program needs {newest()}. Back it up, "
            "then start `basanite serve` of this version once."
        )


def refuse_newer(database: Database) -> None:
    """Refuse a database that a newer program has brought further than this one knows."""
    found = version(database)
    if found is not None and found not in {one.revision for one in ScriptDirectory(str(FOLDER)).walk_revisions()}:
        raise SchemaError(
            f"The database has schema version {found}, but this program knows versions up to {newest()}. Update "
            "Basanite: the database is from a newer version."
        )


def check(database: Database) -> list[Any]:
    """How the tables in a database differ from those in the program; nothing if they agree."""
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options(connection))
        return list(compare_metadata(context, Base.metadata))


def options(connection: Connection) -> dict[str, Any]:
    """How schemas are compared and changed: tables of others (the jobs') are let alone."""
    return {
        "target_metadata": Base.metadata,
        "include_object": is_ours,
        "render_as_batch": connection.dialect.name == "sqlite",
        "compare_type": True,
    }


def is_ours(thing: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    """Whether a table or what belongs to it is one of ours: the tables of the jobs lie in the same database."""
    table = name if kind == "table" else getattr(getattr(thing, "table", None), "name", None)
    return table in Base.metadata.tables


@contextmanager
def _alone(database: Database) -> Iterator[Config]:
    """Be the only one who changes the schema, in one transaction: all of it is kept, or nothing."""
    with database.engine.connect().execution_options(writes=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            take_time(connection)
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
            connection.execute(text(f"SET LOCAL lock_timeout = '{TABLE_SECONDS}s'"))
        yield _config(connection)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def write_version(message: str) -> None:
    """Write the next version from what differs between the newest one and the tables."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/empty.sqlite")
        upgrade(database)
        number = f"{len(list((FOLDER / 'versions').glob('v[0-9]*.py'))) + 1:04d}"
        with _alone(database) as config:
            command.revision(config, message, autogenerate=True, rev_id=number)
        database.close()


if __name__ == "__main__":
    write_version(sys.argv[1])
