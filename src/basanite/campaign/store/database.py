"""Transactions on SQLite and PostgreSQL: a writer is alone from its first statement on, so that checks hold.

Checking a quota and then writing is only right if nobody writes in between. SQLite therefore begins writing
transactions with BEGIN IMMEDIATE; on PostgreSQL the row that is counted by (a team, the head of the log) is locked.

On PostgreSQL nobody waits for ever for a machine that is gone: both sides of a connection look after each other, and a
transaction in which nothing happens is ended by the server, so that its locks are free again (P-8).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
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

KEPT: Final[Mapping[str, Any]] = {
    "pool_size": 20,
    "max_overflow": 20,
    "json_serializer": partial(json.dumps, allow_nan=False),
}
"""Connections that stay open, and those beyond them: together as many as calls run at once. By its own measure the
package keeps five and lets no more than fifteen work, so that a crowd opens and closes a connection at every call.
Nan and infinity are no JSON: PostgreSQL refuses them, and so does SQLite here; an undefined value is null."""
GONE_SECONDS: Final = 25
"""After this time without an answer the other side of a connection counts as gone, here and at the server."""
SERVER_LIMITS: Final = {
    "idle_in_transaction_session_timeout": "2min",  # a process that stands still keeps its locks no longer
    "lock_timeout": f"{BUSY_MILLISECONDS}ms",  # as long as on SQLite: then anyone who waits is told so
    "statement_timeout": "10min",
    "client_connection_check_interval": "10s",  # nobody computes for a machine that is gone
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": f"{GONE_SECONDS}s",
}
"""What the server is asked to hold us to. Anyone who writes `options=` into the address of the database says it all."""
CONNECTING: Final[Mapping[str, Any]] = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 1000 * GONE_SECONDS,
    "options": " ".join(f"-c {name}={value}" for name, value in SERVER_LIMITS.items()),
}
"""How this side of a connection notices that nobody is there; what stands in the address wins."""
LOOKING: Final = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
"""Who only reads sees one moment on PostgreSQL too, however many questions it asks; on SQLite that is always so."""
UNHURRIED: Final = ("idle_in_transaction_session_timeout", "statement_timeout")
ASKED_AT_ONCE: Final = 500
"""Values in one question: engines take only so many, and plan badly long before that."""
T = TypeVar("T")


def in_blocks(values: Iterable[T], most: int = ASKED_AT_ONCE) -> Iterator[list[T]]:
    """Values in groups that are small enough to be asked for, or written, at once."""
    left = iter(values)
    while block := list(islice(left, most)):
        yield block


def inserting(session: Session, table: Any) -> postgresql.Insert | sqlite.Insert:
    """An insertion that can say what happens to a row that already exists: each engine has its own."""
    on_postgresql = session.get_bind().dialect.name == "postgresql"
    return postgresql.insert(table) if on_postgresql else sqlite.insert(table)


class Database:
    """One database: hands out sessions that read, and sessions that write all or nothing."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = make_engine(url)
        self._looking = self.engine if self.is_sqlite else self.engine.execution_options(**LOOKING)
        self._queue = Lock()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one state of the database and changes nothing."""
        with Session(self._looking, expire_on_commit=False) as session:
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

        Anyone who has waited as long as SQLite would asks it nevertheless, and gets its answer.
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
    address = make_url(url)
    if address.get_backend_name() != "sqlite":
        said = {name: value for name, value in CONNECTING.items() if name not in address.query}
        return create_engine(url, pool_pre_ping=True, connect_args=said, **KEPT)
    engine = create_engine(url, connect_args={"check_same_thread": False, "isolation_level": None}, **KEPT)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def database_time(session: Session) -> datetime:
    """The time on the machine of the database, which all processes share; for a file, that of this machine."""
    if session.get_bind().dialect.name != "postgresql":
        return datetime.fromtimestamp(time.time(), UTC)
    now: datetime = session.execute(select(func.clock_timestamp())).scalar_one()
    return now


def take_time(connection: Connection) -> None:
    """Let this transaction last: a backup stands still in it while files are copied, and holds nobody's rows."""
    if connection.dialect.name == "postgresql":
        for limit in UNHURRIED:
            connection.exec_driver_sql(f"SET LOCAL {limit} = 0")


def _prepare(connection: Any, record: Any) -> None:
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    """The driver's own BEGIN is switched off (isolation_level None): a writer must be alone from the start."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
