"""A backup put back, on an empty place: everything is checked before anything has its name.

Rows go in under one transaction, files into a fresh folder. Digests of files, the chain of the event log and its head,
and the number of rows must be those of the backup; else nothing is left behind.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic.util import CommandError
from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.orm import Session

from basanite.campaign import receipts
from basanite.campaign.archive.backup import FORMAT, BackupError, Reader, Saved, reference_lock
from basanite.campaign.archive.rows import TABLES, insert, is_digest, row_from_line, spoken_of
from basanite.campaign.office import bucket, lock_of_references
from basanite.campaign.sealing import Lock, SealedError, unseal
from basanite.campaign.settings import Settings, Storage
from basanite.campaign.store import events
from basanite.campaign.store.database import make_engine, take_time
from basanite.campaign.store.files import Files
from basanite.campaign.store.personal import LOSS, keys_are_missing
from basanite.campaign.store.schema import upgrade_within
from basanite.campaign.store.vault import Vault
from basanite.errors import UnreadableError


@dataclass(frozen=True)
class Restored:
    """What came back, and what did not."""

    saved: Saved
    without_vault: bool
    """Without the vault's copy: references, personal data and signing keys stay closed."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return self.saved.as_dict() | {"without_vault": self.without_vault}


def restore(
    backup: Path,
    lock: Lock,
    settings: Settings,
    vault: tuple[Path, Lock] | None = None,
    *,
    without_vault: bool = False,
) -> Restored:
    """Put a backup back to where the settings say, which must be empty; with the vault's copy, or the vault in place.

    Without either, people and references stay closed: anyone who wants that has to say so (X-36).
    """
    _expect_empty(settings, with_vault=vault is not None)
    in_place = Vault(settings.vault_folder)
    with _open_file(backup) as file, _fresh(settings) as fresh:
        known = _restored_vault(fresh / "vault", *vault) if vault else None if in_place.is_empty() else in_place
        reader = Reader(unseal(file, lock))
        with _database(settings, fresh) as connection:
            # References that were encrypted on disk, or are to be here, are so again (P-12).
            sealing = lock_of_references(settings, known) if known else None
            stores = {"files": Files(fresh / "files"), "sealed": Files(fresh / "sealed", sealing)}
            saved = _Incoming(reader, connection, stores, known).all()
            if known is None:
                _accept_loss(connection, settings, Vault(fresh / "vault"), accepted=without_vault)
            else:
                _refuse_foreign(connection, known)
            _send(fresh, settings.storage)
            if settings.database:  # rows are kept only if the files have their place
                _move(fresh, settings)
        if not settings.database:
            _move(fresh, settings)
    return Restored(saved, known is None)


def _refuse_foreign(connection: Connection, vault: Vault) -> None:
    with Session(connection) as session:
        foreign = keys_are_missing(session, vault)
    if foreign:
        raise BackupError(
            "The vault that was given or is in its place holds no key of the people in this backup: it belongs to "
            "another server. Give the copy that was made with this backup (--vault-from FILE)."
        )


def _accept_loss(connection: Connection, settings: Settings, vault: Vault, *, accepted: bool) -> None:
    """Begin a new vault where the old one is lost; refuse that if something is closed by it and nobody said so."""
    closed = any(store == "sealed" for store, _ in spoken_of(connection))
    with Session(connection) as session:
        closed = closed or keys_are_missing(session, vault)
    if closed and not accepted:
        raise BackupError(
            f"The keys are neither given nor in {settings.vault_folder}: without them names and references of this "
            "backup cannot be decrypted. Give the vault's copy (--vault-from FILE), put the vault in its place, or use "
            "--without-vault."
        )
    if closed:
        lock_of_references(settings, vault)
        vault.keep(LOSS, "accepted", b"restored without the vault")


def _expect_empty(settings: Settings, *, with_vault: bool) -> None:
    for folder in (settings.data, settings.vault_folder) if with_vault else (settings.data,):
        if folder.exists() and any(folder.iterdir()):
            raise BackupError(f"{folder} is not empty. Restore to a new folder: files are never overwritten.")
    if settings.database:
        engine = make_engine(settings.database)
        with engine.connect() as connection:
            there = set(inspect(connection).get_table_names()) & set(TABLES)
        engine.dispose()
        if there:
            raise BackupError("The database already holds tables of Basanite. Restore into an empty database.")


@contextmanager
def _open_file(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as file:
            yield file
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror}. Check the path and your permissions."
        ) from error


@contextmanager
def _fresh(settings: Settings) -> Iterator[Path]:
    """A folder beside the one to come; whatever is left in it in the end goes."""
    fresh = settings.data.absolute().with_name(f".{settings.data.name}.{secrets.token_hex(6)}.part")
    fresh.mkdir(parents=True, mode=0o700)
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def _database(settings: Settings, fresh: Path) -> Iterator[Connection]:
    """The new database, in one transaction that is kept only if all goes well."""
    own = settings.database or f"sqlite:///{fresh / 'basanite.sqlite'}"
    engine = make_engine(own)
    try:
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            take_time(connection)
            yield connection
    finally:
        engine.dispose()


def _move(fresh: Path, settings: Settings) -> None:
    """Give the folders their names, the vault's first: what needs it must not be there without it."""
    if settings.data.exists():
        settings.data.rmdir()
    if (fresh / "vault").exists() and settings.vault_folder.absolute() != (settings.data / "vault").absolute():
        settings.vault_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for kind in list((fresh / "vault").iterdir()):
            shutil.move(kind, settings.vault_folder / kind.name)
        (fresh / "vault").rmdir()
    fresh.rename(settings.data.absolute())


def _restored_vault(folder: Path, copy: Path, lock: Lock) -> Vault:
    vault = Vault(folder)
    with _open_file(copy) as file:
        reader = Reader(unseal(file, lock))
        head = _check_format(reader.note(), "basanite-vault/1")
        for _ in range(int(head["secrets"])):
            secret = reader.note()
            vault.keep(secret["kind"], secret["name"], bytes.fromhex(secret["secret"]))
        reader.finish()
    return vault


def _send(fresh: Path, storage: Storage) -> None:
    """Put the files into their buckets, where there are buckets: once all of them are known to be right (P-15)."""
    for name in ("files", "sealed"):
        if (remote := bucket(storage, getattr(storage, name))) is not None:
            for path in sorted((fresh / name).glob("??/*")):
                remote.put(f"{path.parent.name}/{path.name}", path)


def _check_format(head: dict[str, Any], wanted: str) -> dict[str, Any]:
    if head.get("format") != wanted:
        raise BackupError(f"This file has the format {head.get('format')}, not {wanted}. Give the other file.")
    return head


class _Incoming:
    """A backup on its way in."""

    def __init__(
        self, reader: Reader, connection: Connection, stores: Mapping[str, Files], vault: Vault | None
    ) -> None:
        self.reader, self.connection, self.stores, self.vault = reader, connection, stores, vault
        self.rows: dict[str, int] = {}
        self.kept: dict[str, set[str]] = {"files": set(), "sealed": set()}

    def all(self) -> Saved:
        """Take everything in and check it against the account at the end of the backup."""
        try:
            schema = _check_format(self.reader.note(), FORMAT).get("schema") or "head"
            upgrade_within(self.connection, schema)
            while "total" not in (head := self.reader.note()):
                self._table(head["table"]) if "table" in head else self._file(head)
            self.reader.finish()
            upgrade_within(self.connection)
        except CommandError as error:
            raise BackupError("The backup is from a newer version of Basanite. Update this one first.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise SealedError("The backup holds an unexpected entry. Use another copy.") from error
        if self.connection.dialect.name == "postgresql":  # which counts on from where the rows end
            counter = "pg_get_serial_sequence('adoptions', 'sequence')"
            self.connection.execute(text(f"SELECT setval({counter}, GREATEST(MAX(sequence), 1)) FROM adoptions"))
        return self._compare_totals(head["total"])

    def _table(self, name: str) -> None:
        table = TABLES[name]
        rows = (row_from_line(table, line) for line in iter(self.reader.line, b""))
        self.rows[name] = insert(self.connection, table, rows)

    def _file(self, head: dict[str, Any]) -> None:
        store, digest, content = head["store"], head["digest"], self.reader.content(head["size"])
        if store == "sealed":
            if self.vault is None:
                for _ in content:
                    pass
                return
            content = unseal(_AsFile(content), reference_lock(self.vault))
        if not is_digest(digest) or self.stores[store].put(content).digest != digest:
            raise SealedError(f"The file {digest} in the backup has different content. Use another copy.")
        self.kept[store].add(digest)

    def _compare_totals(self, total: dict[str, Any]) -> Saved:
        with Session(self.connection) as session:
            verdict, (sequence, head) = receipts.verify(session, self.vault), events.head(session)
        saved = Saved(self.rows, len(self.kept["files"]), len(self.kept["sealed"]), sequence, head, self._missing())
        found = saved.as_dict()
        names = ["rows", "files", "log"] + (["references", "missing"] if self.vault else [])
        differing = [name for name in names if found[name] != total[name]]
        if not verdict.holds or differing or self._row_counts() != self.rows:
            broken = f"the event log at {verdict.broken[:1]}" if verdict.broken else "receipts that were changed"
            wrong = ", ".join(differing) or broken
            raise SealedError(f"The restored data differ from what was saved: {wrong}. Use another copy.")
        return saved

    def _missing(self) -> tuple[str, ...]:
        return tuple(
            sorted(digest for store, digest in set(spoken_of(self.connection)) if digest not in self.kept[store])
        )

    def _row_counts(self) -> dict[str, int]:
        counts = {name: select(func.count()).select_from(TABLES[name]) for name in self.rows}
        return {name: self.connection.scalar(question) or 0 for name, question in counts.items()}


class _AsFile:
    """Pieces of bytes, read as a file is."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._reader = Reader(pieces)

    def readline(self, limit: int) -> bytes:
        """The next line with its end."""
        return self._reader.line() + b"\n"

    def read(self, size: int) -> bytes:
        """Up to so many bytes; fewer only at the end."""
        return self._reader.up_to(size)
