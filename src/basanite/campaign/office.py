"""Where the work of a season is done: database, files, secrets, clock and settings in one value that is handed on."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from sqlalchemy.orm import Session

from basanite.campaign.sealing import Lock
from basanite.campaign.settings import Settings, Storage
from basanite.campaign.store.database import Database
from basanite.campaign.store.files import Files, Remote
from basanite.campaign.store.objects import Bucket
from basanite.campaign.store.vault import Vault

if TYPE_CHECKING:
    from basanite.sandbox.box import Ended

Clock = Callable[[], datetime]
DEFAULT_ADDRESS = "http://127.0.0.1:8000"
SERVED = "address.txt"
"""In the data folder: where the server was last started, so that workers and commands write links that work."""


def utc_now() -> datetime:
    """The time on this machine, in UTC."""
    return datetime.fromtimestamp(time.time(), UTC)


@dataclass(frozen=True)
class Actor:
    """Who does something: a person, the system, or somebody at the machine's own command line."""

    id: str
    """A person id, `system`, or `command`."""
    door: str = "web"
    """`web`, `api`, `command`, `drop`."""


SYSTEM = Actor("system", "system")
COMMAND = Actor("command", "command")


@dataclass(frozen=True)
class Office:
    """Everything that an act needs besides its own arguments."""

    settings: Settings
    database: Database
    files: Files
    """Submissions, problems, results, pack files: by content."""
    sealed: Files
    """References and what belongs to them; read by scoring alone."""
    vault: Vault
    clock: Clock = utc_now
    run: Callable[..., Ended] | None = None
    """Runs children in place of a box; the demo alone has one, while it makes its own season out of its own files."""

    @classmethod
    def open(cls, settings: Settings, clock: Clock = utc_now) -> Self:
        """The office that the settings describe; nothing is made on disk but data folder and vault."""
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        vault = Vault(settings.vault_folder)
        return cls(
            settings,
            Database(settings.database_url),
            Files(
                settings.data / "files",
                remote=bucket(settings.storage, settings.storage.files),
                copies=settings.storage.copies,
            ),
            Files(
                settings.data / "sealed",
                lock_of_references(settings, vault),
                bucket(settings.storage, settings.storage.sealed),
                copies=settings.storage.copies,
            ),
            vault,
            clock,
        )

    @property
    def address(self) -> str:
        """How people reach the server: as the settings say, else where it was last started; without a last slash."""
        if self.settings.address:
            return self.settings.address.rstrip("/")
        try:
            return (self.settings.data / SERVED).read_text(encoding="utf-8").strip() or DEFAULT_ADDRESS
        except FileNotFoundError:
            return DEFAULT_ADDRESS

    def remember_address(self, address: str) -> None:
        """Note where the server was started."""
        fresh = self.settings.data / f".{SERVED}.part"
        fresh.write_text(f"{address}\n", encoding="utf-8")
        fresh.replace(self.settings.data / SERVED)

    def reading(self) -> AbstractContextManager[Session]:
        """A session that changes nothing."""
        return self.database.reading()

    def writing(self) -> AbstractContextManager[Session]:
        """A session whose changes are all kept or none."""
        return self.database.writing()

    def close(self) -> None:
        """Give all connections back."""
        self.database.close()


def bucket(storage: Storage, address: str) -> Remote | None:
    """The bucket at an address; without one, files lie on this machine alone."""
    return Bucket(address, storage) if address else None


def lock_of_references(settings: Settings, vault: Vault) -> Lock | None:
    """What references are encrypted with on disk; without the setting, what was encrypted before stays readable.

    Of a new server this is the first secret: who finds others without it knows that references were not encrypted.
    """
    new = settings.encrypt_references is None and vault.is_empty()
    if settings.encrypt_references or new or "files" in vault.names("references"):
        return Lock(vault.secret("references", "files"))
    return None
