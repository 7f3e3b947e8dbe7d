"""One command, one file: every row and every stored file of a server as they were at one moment, encrypted.

Rows are copied from a snapshot while others go on writing; files never change, and those that rows speak of are there
before the rows are. The vault is not in it (X-15): neither signing keys nor keys of persons, and the references only
under a key that the vault alone holds. So a stolen backup with its passphrase shows no name and no answer key.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect
from sqlalchemy.orm import Session

from basanite import __version__
from basanite.campaign.archive.rows import TABLES, lines, spoken_of
from basanite.campaign.office import Office
from basanite.campaign.sealing import Lock, SealedError, seal, sealed_size
from basanite.campaign.store import events
from basanite.campaign.store.database import make_engine, take_time
from basanite.campaign.store.files import Files
from basanite.campaign.store.vault import Vault
from basanite.canonical import canonical_line
from basanite.errors import BasaniteError

LONGEST_LINE = 256 * 2**20
PIECE = 2**20


def note(**values: Any) -> bytes:
    """One line that says what follows."""
    return canonical_line(values)


class Reader:
    """Reads lines and exact lengths from pieces of bytes as they come."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._waiting = pieces, bytearray()

    def line(self) -> bytes:
        """The next line, without its end."""
        searched = 0
        while (end := self._waiting.find(b"\n", searched)) < 0:
            searched = len(self._waiting)
            if searched > LONGEST_LINE:
                raise SealedError("The backup file holds an overlong line.")
            self._more()
        return self._take(end + 1)[:-1]

    def note(self) -> dict[str, Any]:
        """The next line, as what `note` wrote."""
        found: dict[str, Any] = json.loads(self.line())
        return found

    def content(self, size: int) -> Iterator[bytes]:
        """The next so many bytes, in pieces."""
        while size:
            if not self._waiting:
                self._more()
            piece = self._take(min(size, len(self._waiting), PIECE))
            size -= len(piece)
            yield piece

    def up_to(self, size: int) -> bytes:
        """The next so many bytes, fewer only at the end."""
        while len(self._waiting) < size and (piece := next(self._pieces, None)) is not None:
            self._waiting += piece
        return self._take(size)

    def finish(self) -> None:
        """Read to the end, so that the last piece's seal is checked too."""
        if self._waiting or any(True for piece in self._pieces if piece):
            raise SealedError("The backup file has data after its end.")

    def _more(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            raise SealedError("The backup file is truncated. Use another copy.")
        self._waiting += piece

    def _take(self, size: int) -> bytes:
        taken = bytes(self._waiting[:size])
        del self._waiting[:size]
        return taken


FORMAT = "basanite-backup/1"
PASSING = frozenset({"sessions", "failed_sign_ins", "links", "workers"})
"""Tables that nobody wants back: signed-in browsers, links that work once, processes that ran."""


class BackupError(BasaniteError):
    """A backup cannot be made or restored here; the message says why."""


@dataclass(frozen=True)
class Saved:
    """What went into a backup, or came out of it."""

    rows: dict[str, int]
    files: int
    sealed: int
    sequence: int
    head: str
    """The head of the event log."""
    missing: tuple[str, ...] = ()
    """Files that rows speak of and that were not there."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "files": self.files,
            "log": {"head": self.head, "sequence": self.sequence},
            "missing": list(self.missing),
            "references": self.sealed,
            "rows": {name: count for name, count in self.rows.items() if count},
        }


def back_up(office: Office, lock: Lock, out: Path) -> Saved:
    """Write a backup; an interrupted one leaves nothing under the name that was asked for."""
    with snapshot(office) as connection:
        content = _Content(office, connection)
        write_whole(out, seal(content, lock))
    return content.totals()


def back_up_vault(vault: Vault, lock: Lock, out: Path) -> int:
    """Write the vault's own copy, apart from the backup; gives how many secrets it holds.

    After erasing a person, older copies must be replaced by a new one: they still hold that person's key (P-21).
    """
    found = [(kind, name) for kind in vault.kinds() for name in vault.names(kind)]
    secrets_ = (note(kind=kind, name=name, secret=vault.read(kind, name).hex()) for kind, name in found)
    write_whole(out, seal((note(format="basanite-vault/1", secrets=len(found)), *secrets_), lock))
    return len(found)


@contextmanager
def snapshot(office: Office) -> Iterator[Connection]:
    """One state of the database, no matter who writes meanwhile."""
    if office.database.is_sqlite:
        with _sqlite_copy(office) as connection:
            yield connection
        return
    engine = office.database.engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        take_time(connection)
        yield connection
        connection.rollback()


def reference_lock(vault: Vault) -> Lock:
    """What references in backups are sealed with: a key of the vault."""
    return Lock(vault.secret("backup", "references"))


def write_whole(out: Path, content: Iterator[bytes]) -> None:
    """Write a file that is there whole or not at all; one that already exists stays."""
    if out.exists():
        raise BackupError(f"{out} already exists. Choose another name: backups are never overwritten.")
    fresh = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for piece in content:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, out)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def _sqlite_copy(office: Office) -> Iterator[Connection]:
    """SQLite's own online backup: a copy of the whole file as of one moment, also while others write."""
    copy = office.settings.data / f".snapshot-{secrets.token_hex(6)}.sqlite"
    try:
        _copy_database(office, copy)
        engine = make_engine(f"sqlite:///{copy}")
        with engine.connect() as connection:
            yield connection
            connection.rollback()
        engine.dispose()
    finally:
        for path in (copy, *(copy.with_name(copy.name + end) for end in ("-wal", "-shm", "-journal"))):
            path.unlink(missing_ok=True)


def _copy_database(office: Office, copy: Path) -> None:
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    source = office.database.engine.raw_connection()
    try:
        target = sqlite3.connect(copy)
        with target:
            source.driver_connection.backup(target)  # type: ignore[union-attr]
        target.close()
    finally:
        source.close()


class _Content:
    """The inside of a backup as it is written, and the account of it."""

    def __init__(self, office: Office, connection: Connection) -> None:
        self.office, self.connection = office, connection
        self.rows: dict[str, int] = {}
        self.kept: dict[str, set[str]] = {"files": set(), "sealed": set()}
        self.sequence, self.head = 0, events.BEGINNING
        self.missing: tuple[str, ...] = ()

    def totals(self) -> Saved:
        """What was written."""
        files, sealed = (len(self.kept[name]) for name in ("files", "sealed"))
        return Saved(self.rows, files, sealed, self.sequence, self.head, self.missing)

    def __iter__(self) -> Iterator[bytes]:
        schema = MigrationContext.configure(self.connection).get_current_revision()
        yield note(format=FORMAT, made=self.office.clock().isoformat(), schema=schema, software=__version__)
        present = set(inspect(self.connection).get_table_names())
        for name in TABLES:
            if name in present and name not in PASSING:
                yield from self._table(name)
        with Session(self.connection) as session:
            self.sequence, self.head = events.head(session)
        yield from self._store("files", self.office.files)
        yield from self._store("sealed", self.office.sealed)
        wanted = set(spoken_of(self.connection))
        self.missing = tuple(sorted(digest for store, digest in wanted if digest not in self.kept[store]))
        yield note(total=self.totals().as_dict())

    def _table(self, name: str) -> Iterator[bytes]:
        yield note(table=name)
        self.rows[name] = 0
        for row in lines(self.connection, TABLES[name]):
            self.rows[name] += 1
            yield row
        yield b"\n"

    def _store(self, name: str, files: Files) -> Iterator[bytes]:
        lock = reference_lock(self.office.vault) if name == "sealed" else None
        for digest in files.digests():
            size = files.size(digest)
            self.kept[name].add(digest)
            yield note(digest=digest, size=sealed_size(size) if lock else size, store=name)
            yield from seal(files.pieces(digest), lock) if lock else files.pieces(digest)
