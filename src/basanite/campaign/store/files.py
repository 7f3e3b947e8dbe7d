"""Files under the digest of their content: written once, never changed, and whole or not there at all.

The digest is always that of the plain content, also where files are encrypted on disk (references, on request: P-12).
Whoever needs a file for another program asks to have it lent: a link where that is possible, a copy elsewhere. Where
files lie in an object store, the folder holds copies of those that were used on this machine.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.sealing import LONGEST_HEAD, TAG, Lock, seal, unseal
from basanite.campaign.sealing import PIECE as SEALED_PIECE
from basanite.campaign.store.copies import Copies

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

    def path(self, digest: str) -> Path:
        """Where the plain content of this digest lies, whether it is there or not."""
        if not DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no digest")
        return self.folder / digest[:2] / digest[2:]

    def has(self, digest: str) -> bool:
        """Whether the content is there."""
        if self.remote is not None:
            return any(self.remote.has(name) for name in self._names(digest))
        return self._is_here(digest)

    def digests(self) -> Iterator[str]:
        """The digests of all content, in rising order."""
        kept = self.remote.names() if self.remote is not None else map(_short, self.folder.glob("??/*"))
        names = {name.replace("/", "").removesuffix(SEALED) for name in kept}
        yield from sorted(name for name in names if DIGEST.fullmatch(name))

    def size(self, digest: str) -> int:
        """How long the content is; FileNotFoundError if it is not there."""
        self._fetch(digest)
        if self.path(digest).is_file() or not self._sealed(digest).is_file():
            return self.path(digest).stat().st_size
        with self._sealed(digest).open("rb") as file:
            return plain_size(file)

    def read(self, digest: str) -> bytes:
        """The whole content; for what is known to be small."""
        return b"".join(self.pieces(digest))

    def pieces(self, digest: str) -> Iterator[bytes]:
        """The content in pieces; FileNotFoundError if it is not there."""
        self._fetch(digest)
        path = self._sealed(digest)
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
            self._name(fresh, counted.stored)
        return counted.stored

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
        if expected not in (None, counted.stored.digest):
            return counted.stored
        return self.keep(path, counted.stored)

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
        """Keep a file in the object store, if there is one, ahead of the transaction that needs it: sending takes long.

        Meanwhile nobody waits for locks. The caller has seen that the transaction will not be refused.
        """
        if self.remote is not None:
            self.keep(path, stored)

    def _fetch(self, digest: str) -> None:
        """Bring the content to this machine, as it lies in the object store."""
        if self.remote is None or self.copies.use(*(places := (self.path(digest), self._sealed(digest)))):
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

    def _is_here(self, digest: str) -> bool:
        return self.path(digest).is_file() or self._sealed(digest).is_file()

    def _names(self, digest: str) -> tuple[str, str]:
        return _short(self.path(digest)), _short(self._sealed(digest))

    def _sealed(self, digest: str) -> Path:
        return self.path(digest).with_name(digest[2:] + SEALED)

    @contextmanager
    def _fresh(self) -> Iterator[tuple[BinaryIO, Path]]:
        place = self.folder / "fresh"
        fresh = place / secrets.token_hex(16)
        try:
            with room_needed():
                place.mkdir(parents=True, exist_ok=True)
                with fresh.open("xb") as file:
                    yield file, fresh
        finally:
            fresh.unlink(missing_ok=True)

    def _name(self, fresh: Path, stored: Stored) -> None:
        """Give a finished file its name, in the object store first; whoever holds it here only holds a copy."""
        if self.has(stored.digest):
            return
        target = self.path(stored.digest) if self.lock is None else self._sealed(stored.digest)
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
    def stored(self) -> Stored:
        """What has passed so far."""
        return Stored(self._digest.hexdigest(), self._size)


def plain_size(file: BinaryIO) -> int:
    """How long the content of a sealed file is: each of its pieces is longer by a tag."""
    head = len(file.readline(LONGEST_HEAD))
    rest = file.seek(0, os.SEEK_END) - head
    return rest - TAG * -(-rest // (SEALED_PIECE + TAG))


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
    """The disk is full: ours to mend, and nothing is lost by waiting."""
    fix = "try again later: what has arrived is kept; tell the operators"
    return refused("P-11", "there is no room left on the server", fix, status=507)
