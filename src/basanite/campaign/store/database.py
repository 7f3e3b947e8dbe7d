"""Transactions on SQLite and PostgreSQL: a writer is alone from its first statement on, so that checks hold.

Checking a quota and then writing is only right if nobody writes in between. SQLite therefore begins writing
transactions with BEGIN IMMEDIATE; on PostgreSQL the row that is counted by (a team, the head of the log) is locked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

BUSY_MILLISECONDS = 30_000
PRAGMAS = (
    f"busy_timeout={BUSY_MILLISECONDS}",
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "recursive_triggers=ON",  # so that REPLACE cannot go around the guards on deleting
)


class Database:
    """One database: hands out sessions that read, and sessions that write all or nothing."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = make_engine(url)
        self._queue = Lock()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one state of the database and changes nothing."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session  # closing ends the transaction and leaves what was read readable

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session whose changes are all kept, or none if anything is raised."""
        with (
            self._turn(),
            self.engine.connect().execution_options(writes=True) as connection,
            Session(connection, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let writers of this process come one after the other: SQLite itself lets them poll, and some for long.

        Whoever has waited as long as SQLite would asks it nevertheless, and gets its answer.
        """
        waited = self.is_sqlite and self._queue.acquire(timeout=BUSY_MILLISECONDS / 1000)
        try:
            yield
        finally:
            if waited:
                self._queue.release()

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def make_engine(url: str) -> Engine:
    """An engine with the settings that correctness and speed need."""
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"check_same_thread": False, "isolation_level": None})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, record: Any) -> None:
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """The driver's own BEGIN is switched off (isolation_level None): a writer must be alone from the start."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
