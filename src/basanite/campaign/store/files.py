"""Files under the digest of their content: written once, never changed, and whole or not there at all.

The digest is always that of the plain content, also where files are encrypted on disk (references, on request: P-12).
Anyone who needs a file for another program asks to have it lent: a link where that is possible, a copy elsewhere. Where
files lie in an object store, the folder holds copies of those that were used on this machine.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.sealing import LONGEST_HEAD, TAG, Lock, seal, unseal
from basanite.campaign.sealing import PIECE as SEALED_PIECE

LOCK: Final = ".copies"
SPARED: Final = 3600.0
"""Seconds after its last use in which a copy is kept in any case: anyone who was given its path may open it later."""
EVERY: Final = 600.0
"""Seconds between two looks at how large all copies together are."""


@dataclass(frozen=True)
class Copies:
    """A folder of copies that together are not much longer than so many bytes; 0: as long as the disk."""

    folder: Path
    most: int
    is_kept: Callable[[Path], bool]
    """Whether the store has what a file is a copy of; what it does not have is no copy, and stays."""

    def use(self, *places: Path) -> bool:
        """Whether a copy lies at one of the places; if so, it counts as used now."""
        with self._lock(fcntl.LOCK_SH):
            for place in places:
                with suppress(FileNotFoundError):
                    os.utime(place)
                    return True
        return False

    def look_after(self, *, now: float | None = None) -> int:
        """Trim, unless somebody has looked not long ago; gives how many bytes are free for it."""
        now = time.time() if now is None else now
        if not self.most or now - (self.folder / LOCK).stat().st_mtime < EVERY:
            return 0
        os.utime(self.folder / LOCK, (now, now))
        return self.trim(now=now)

    def trim(self, *, now: float) -> int:
        """Throw away the copies that were used longest ago until the others fit; gives how many bytes they had."""
        held = sorted(self._copies_in_use())
        over, freed = sum(size for _, size, _ in held) - self.most, 0
        for used, size, path in held:
            if freed >= over or used > now - SPARED:
                break
            if self.is_kept(path) and self._drop(path, used):
                freed += size
        return freed

    def _copies_in_use(self) -> Iterator[tuple[float, int, Path]]:
        """Each copy with its last use and its length."""
        for path in self.folder.glob("??/*"):
            with suppress(FileNotFoundError):
                seen = path.stat()
                yield seen.st_mtime, seen.st_size, path

    def _drop(self, path: Path, used: float) -> bool:
        """Throw a copy away, unless it was used meanwhile or is lent: then its bytes would stay anyway."""
        with self._lock(fcntl.LOCK_EX), suppress(FileNotFoundError):
            seen = path.stat()
            if seen.st_mtime > used or seen.st_nlink > 1:
                return False
            path.unlink()
        return True

    @contextmanager
    def _lock(self, how: int) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)) as lock:
            fcntl.flock(lock, how)
            yield


PIECE = 2**20
SEALED = ".sealed"
"""The ending of files that are encrypted on disk."""
SPARE = 64 * 2**20
"""Bytes of disk that no upload may take."""
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Stored:
    """Where content lies and how long it is."""

    digest: str
    """sha256 as hex."""
    size: int


class Remote(Protocol):
    """Where files lie that several machines share; names are those of the folder, with `/` in them."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def names(self) -> Iterator[str]:
        """The names of all files."""

    def put(self, name: str, path: Path) -> None:
        """Keep a file; nothing happens if there is one of that name."""

    def get(self, name: str) -> Iterator[bytes]:
        """The content in pieces; FileNotFoundError if there is none."""


class Files:
    """A folder of files by content. References lie in one of their own (`sealed/`), read by workers only (P-12)."""

    def __init__(
        self, folder: Path, lock: Lock | None = None, remote: Remote | None = None, *, copies: int = 0
    ) -> None:
        self.folder, self.lock, self.remote = folder, lock, remote
        self.copies = Copies(folder, copies, lambda path: remote is not None and remote.has(_short(path)))

    def local(self, digest: str) -> Path:
        """Where the plain content lies on this machine, fetched if need be; not for files that may be encrypted."""
        self._fetch(digest)
        return self.path(digest)

    @property
    def scratch(self) -> Path:
        """The folder for what is still being made, beside the files: what is sealed never lies in a shared place."""
        folder = self.folder / "fresh"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def path(self, digest: str) -> Path:
        """Where the plain content of this digest lies, whether it is there or not."""
        if not DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is not a digest")
        return self.folder / digest[:2] / digest[2:]

    def has(self, digest: str) -> bool:
        """Whether the content is there."""
        if self.remote is not None:
            return any(self.remote.has(name) for name in self._names(digest))
        return self.path(digest).is_file() or self._sealed_path(digest).is_file()

    def digests(self) -> Iterator[str]:
        """The digests of all content, in rising order."""
        kept = self.remote.names() if self.remote is not None else map(_short, self.folder.glob("??/*"))
        names = {name.replace("/", "").removesuffix(SEALED) for name in kept}
        yield from sorted(name for name in names if DIGEST.fullmatch(name))

    def size(self, digest: str) -> int:
        """How long the content is; FileNotFoundError if it is not there."""
        self._fetch(digest)
        if self.path(digest).is_file() or not self._sealed_path(digest).is_file():
            return self.path(digest).stat().st_size
        with self._sealed_path(digest).open("rb") as file:
            head = len(file.readline(LONGEST_HEAD))
            rest = file.seek(0, os.SEEK_END) - head
            return rest - TAG * -(-rest // (SEALED_PIECE + TAG))  # each sealed piece is longer by a tag

    def read(self, digest: str) -> bytes:
        """The whole content; for what is known to be small."""
        return b"".join(self.pieces(digest))

    def pieces(self, digest: str) -> Iterator[bytes]:
        """The content in pieces; FileNotFoundError if it is not there."""
        self._fetch(digest)
        path = self._sealed_path(digest)
        if self.lock is not None and path.is_file():
            with path.open("rb") as file:
                yield from unseal(file, self.lock)
            return
        with self.path(digest).open("rb") as file:
            yield from _pieces(file)

    @staticmethod
    def digest_at(path: Path) -> str:
        """The digest of the content that `path` speaks of."""
        return path.parent.name + path.name

    def lend(self, digest: str, target: Path) -> None:
        """Put the plain content at a place where another program will read it: by link if the disk is the same."""
        self._fetch(digest)
        if self.path(digest).is_file():
            try:
                os.link(self.path(digest), target)
            except OSError:
                self.copy(digest, target)
            return
        self.copy(digest, target)

    def copy(self, digest: str, target: Path) -> None:
        """Write the plain content to a new file that may be changed without harm."""
        with target.open("xb") as file:
            for piece in self.pieces(digest):
                file.write(piece)

    def put(self, content: bytes | Iterable[bytes]) -> Stored:
        """Keep content: synced to disk before it has its name, so that no crash leaves half a file."""
        counted = _Counted((content,) if isinstance(content, bytes) else content)
        with self._fresh() as (file, fresh):
            for piece in counted if self.lock is None else seal(counted, self.lock):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            self._name(fresh, counted.summary)
        return counted.summary

    def take(self, path: Path) -> Stored:
        """Keep a copy of a file."""
        with path.open("rb") as file:
            return self.put(_pieces(file))

    def adopt(self, path: Path, *, expected: str | None = None) -> Stored:
        """Keep a file of our own that nobody writes to any more: by a second name where the disk is the same.

        Of content that is not the one expected nothing is kept; the caller compares the digest.
        """
        with path.open("rb") as file:
            counted = _Counted(_pieces(file))
            for _ in counted:
                pass
        if expected not in (None, counted.summary.digest):
            return counted.summary
        return self.keep(path, counted.summary)

    def keep(self, path: Path, stored: Stored) -> Stored:
        """Keep a file of our own, whose digest is known already: quick enough to be part of a transaction."""
        if self.lock is not None:
            return self.take(path)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        try:
            self._name(path, stored)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return self.take(path)
        return stored

    def send(self, path: Path, stored: Stored) -> None:
        """Upload a file to the object store, if there is one, before the transaction that needs it: uploads are slow.

        Meanwhile nobody waits for locks. The caller has seen that the transaction will not be refused.
        """
        if self.remote is not None:
            self.keep(path, stored)

    def _fetch(self, digest: str) -> None:
        """Bring the content to this machine, as it lies in the object store."""
        if self.remote is None or self.copies.use(*(places := (self.path(digest), self._sealed_path(digest)))):
            return
        for target in places:
            with suppress(FileNotFoundError), self._fresh() as (file, fresh):
                for piece in self.remote.get(_short(target)):
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
                self._link(fresh, target)
                self.copies.look_after()
                return

    def _names(self, digest: str) -> tuple[str, str]:
        return _short(self.path(digest)), _short(self._sealed_path(digest))

    def _sealed_path(self, digest: str) -> Path:
        return self.path(digest).with_name(digest[2:] + SEALED)

    @contextmanager
    def _fresh(self) -> Iterator[tuple[BinaryIO, Path]]:
        fresh = self.folder / "fresh" / secrets.token_hex(16)
        try:
            with room_needed(), (self.scratch / fresh.name).open("xb") as file:
                yield file, fresh
        finally:
            fresh.unlink(missing_ok=True)

    def _name(self, fresh: Path, stored: Stored) -> None:
        """Give a finished file its name, in the object store first; no matter who holds it here only holds a copy."""
        if self.has(stored.digest):
            return
        target = self.path(stored.digest) if self.lock is None else self._sealed_path(stored.digest)
        if self.remote is None:
            self._link(fresh, target)
            return
        self.remote.put(_short(target), fresh)
        self._link(fresh, target)
        if self.copies.use(target):
            self.copies.look_after()

    def _link(self, fresh: Path, target: Path) -> None:
        """Put a finished file at its place; the folder is synced too, so that the name outlives a power cut."""
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.chmod(0o440)
        with suppress(FileExistsError):  # somebody else kept the same content meanwhile
            os.link(fresh, target)
        sync_folder(target.parent)
        sync_folder(self.folder)


def _short(path: Path) -> str:
    """A file's name below its store's folder."""
    return f"{path.parent.name}/{path.name}"


class _Counted:
    """Content on its way, counted and digested as it passes."""

    def __init__(self, content: Iterable[bytes]) -> None:
        self._content, self._digest, self._size = content, hashlib.sha256(), 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._content:
            self._digest.update(piece)
            self._size += len(piece)
            yield piece

    @property
    def summary(self) -> Stored:
        """What has passed so far."""
        return Stored(self._digest.hexdigest(), self._size)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(PIECE), b"")


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def room_needed() -> Iterator[None]:
    """Say that the disk is full in words that a user can do something with; nothing that was kept is lost."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise no_room() from error
        raise


def check_room(folder: Path, size: int) -> None:
    """Refuse content for which there would be no room before its first byte is taken."""
    if shutil.disk_usage(folder).free < size + SPARE:
        raise no_room()


def no_room() -> RefusedError:
    """The disk is full: ours to fix, and nothing is lost by waiting."""
    fix = "try again later: received data are kept; notify the operators"
    return refused("P-11", "the server's disk is full", fix, status=507)
