"""Who is at an upload just now: a process that dies lets go of what it held, whatever it was doing (X-21).

A call that writes to an upload locks its file, and the kernel frees the lock when the process dies: on one machine that
is the whole truth, at once. Other machines at the same database go by the row: it names who holds it, with a sign of
life that a living process renews, in the database's time, so that no machine's own clock matters.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import update
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.database import database_time
from basanite.campaign.store.tables import Upload

BEATS: Final = 6
"""Signs of life in the time after which silence means death."""
WAIT_SECONDS: Final = 0.5
"""How long a lock is asked for again: somebody may only be looking whether it is free."""
BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_HELD: set[str] = set()
"""The names of all holds of this process."""


@dataclass(frozen=True)
class Hold:
    """An upload that one call has to itself, until it lets go or its process dies."""

    upload_id: str
    path: Path
    file: int
    name: str
    """Who holds it, as the row says it."""

    def close(self) -> None:
        """Let go; twice does no harm."""
        if self.name in _HELD:
            _HELD.remove(self.name)
            os.close(self.file)


def part(office: Office, upload_id: str) -> Path:
    """Where the bytes lie that have arrived."""
    return office.settings.data / "uploads" / upload_id


def hold(office: Office, upload_id: str, *, fresh: bool = False) -> Hold:
    """Hold an upload; BlockingIOError if another call does.

    `fresh` begins with an empty file of its own: whoever was thought dead and wakes up writes to the old one.
    """
    path = part(office, upload_id)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = lock(path)
    if fresh:
        try:
            path.unlink()
            new = lock(path)
        finally:
            os.close(file)
        file = new
    name = f"{_kernel()}/{secrets.token_hex(8)}"
    _HELD.add(name)
    return Hold(upload_id, path, file, name)


def lock(path: Path, *, create: bool = True) -> int:
    """The file of an upload, open and locked; never through a link. BlockingIOError if somebody else has it."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        file = _opened(path, create)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):
                return file
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(file)
                raise
            time.sleep(WAIT_SECONDS / 10)
        os.close(file)


def _opened(path: Path, create: bool) -> int:
    """A file that has become part of the store is read-only: it can be locked, and nobody writes to it any more."""
    how = os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, how | os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    except PermissionError:
        return os.open(path, how | os.O_RDONLY)


def _is_at(file: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), path.lstat())
    return False


def is_locked(path: Path) -> bool | None:
    """Whether a living process of this machine has an upload's file; None if the file is not on this machine."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def is_held(session: Session, office: Office, row: Upload) -> bool:
    """Whether a living process is at an open upload, here or on another machine."""
    locked = is_locked(part(office, row.id))
    return locked or (not (locked is False and is_from_here(row)) and is_heard_of(session, office, row))


def is_from_here(row: Upload) -> bool:
    """Whether who holds an upload runs on this machine, since it was started last."""
    return (row.holder or "").partition("/")[0] == _kernel()


def is_heard_of(session: Session, office: Office, row: Upload, times: float = 1.0) -> bool:
    """Whether who holds an upload has given a sign of life within so many times `silent_seconds`."""
    if row.holder is None or row.seen is None:
        return False
    silence = abs((database_time(session) - row.seen).total_seconds())  # from tomorrow: the clock was set meanwhile
    return silence < times * office.settings.limits.silent_seconds


def beat(office: Office) -> None:
    """Say that this process is still at what it holds."""
    if names := sorted(_HELD):
        with office.writing() as session:
            mine = update(Upload).where(Upload.state == "open", Upload.holder.in_(names))
            session.execute(mine.values(seen=database_time(session)))


@cache
def _kernel() -> str:
    """Which run of which machine this is: locks are shared by what runs on one kernel."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return os.uname().nodename
