"""The one file that somebody gives: its bytes, unpacked where it is a gzip, tar or zip of that file alone (D-3)."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import GZIP, open_source
from basanite.formats.archives.members import Limits, RefusedError
from basanite.formats.archives.tar import Gunzip
from basanite.formats.bounded import OPENING, read_bounded
from basanite.formats.file_kinds import ending_kind, folder_kind, text_kind
from basanite.formats.kinds.kind import BEGINNING, Beginning, Kind
from basanite.problems import Findings

ZIP: Final = b"PK\x03\x04"
TAR_MAGIC: Final = slice(257, 262)
TAR_BLOCK: Final = 512
NAMES: Final = 10_000
"""So many names in an archive are looked at."""
OFFICE: Final = "[Content_Types].xml"
RATIO: Final = Limits()
"""How much a file inside may be larger than what it is packed in."""
ALONE: Final = "pack the one file alone, or give it as it is"


@dataclass(frozen=True)
class SingleFile:
    """A file as it was given, and what is in it."""

    name: str
    raw: bytes
    """As it lies on disk: what digests are of."""
    data: bytes
    """Unpacked."""
    ending: str
    """Of the name inside an archive; in lower case with its dot."""

    @property
    def beginning(self) -> Beginning:
        """The first text, with undecodable bytes replaced."""
        text = self.data[:BEGINNING].decode("utf-8-sig", "replace")
        return Beginning(text, self.ending, len(self.data) <= BEGINNING)


class PackedError(ValueError):
    """An archive that does not hold one readable file; `fix` says what to do."""

    def __init__(self, message: str, fix: str = ALONE) -> None:
        super().__init__(message)
        self.fix = fix


def read_single(path: Path, limit: int) -> SingleFile:
    """Read a file of at most so many bytes, packed or not; a `PackedError` says why an archive cannot be read."""
    raw = read_bounded(path, limit)
    if raw.startswith(ZIP):
        name, data = _unzip(raw, limit)
    elif raw.startswith(GZIP):
        name, data = _gunzip(path, limit)
    else:
        name, data = path.name, raw
    return SingleFile(path.name, raw, data, _ending(name))


def read_unpacked(path: Path, limit: int) -> bytes:
    """The content of a file, unpacked; refused where an archive cannot be read as one file."""
    try:
        return read_single(path, limit).data
    except PackedError as error:
        raise UnreadableError(f"{path} cannot be read: {error}. Fix: {error.fix}.") from None


def beginning_of(path: Path) -> Beginning:
    """The first text of a file, of the first file inside if it is packed; nothing of what cannot be read."""
    try:
        if not path.is_file():
            return Beginning("")
        with open(os.open(path, OPENING), "rb") as file:
            name, data = _first_bytes(path.name, file)
    except (OSError, zlib.error, zipfile.BadZipFile, RuntimeError, EOFError, PackedError):
        return Beginning("")
    return Beginning(data[:BEGINNING].decode("utf-8-sig", "replace"), _ending(name), len(data) <= BEGINNING)


def kind_of(path: Path) -> Kind | None:
    """The kind of a file's text by its content; by its ending where the content leaves a doubt."""
    start = beginning_of(path)
    return None if "\0" in start.text else text_kind(start) or ending_kind(start.ending)


def archive_kind(path: Path) -> Kind | None:
    """The kind of a zip archive of many files by the names in it; that of its text where it holds one."""
    try:
        with open(os.open(path, OPENING), "rb") as file, zipfile.ZipFile(file) as archive:
            names = tuple(archive.namelist()[:NAMES])
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return None
    return folder_kind(Beginning("", members=names)) or kind_of(path)


def is_tar(path: Path) -> bool:
    """Whether a file is a gzip-compressed tar, whatever it is called."""
    try:
        with open(os.open(path, OPENING), "rb") as file:
            raw = file.read(BEGINNING)
    except OSError:
        return False
    return raw.startswith(GZIP) and _inflate_start(raw, TAR_BLOCK)[TAR_MAGIC] == b"ustar"


def _first_bytes(name: str, file: IO[bytes]) -> tuple[str, bytes]:
    raw = file.read(BEGINNING + 1)
    if raw.startswith(ZIP):
        with zipfile.ZipFile(file) as archive, archive.open(_only_member(archive)) as inner:
            return inner.name, inner.read(BEGINNING + 1)
    if not raw.startswith(GZIP):
        return name, raw
    plain = _inflate_start(raw, BEGINNING + TAR_BLOCK)
    if plain[TAR_MAGIC] != b"ustar":
        return name.removesuffix(".gz"), plain[: BEGINNING + 1]
    return plain[:100].rstrip(b"\0").decode("utf-8", "replace"), plain[TAR_BLOCK : TAR_BLOCK + BEGINNING + 1]


def _inflate_start(raw: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(raw, most)
    except zlib.error:
        return b""


def _unzip(raw: bytes, limit: int) -> tuple[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            member = _only_member(archive)
            if member.file_size > max(RATIO.ratio_from, RATIO.ratio * len(raw)):
                raise PackedError(f"the zip archive expands to more than {RATIO.ratio} times its size")
            with archive.open(member) as file:
                data = file.read(limit + 1)
    except (zipfile.BadZipFile, RuntimeError, EOFError, zlib.error, OSError) as error:
        raise PackedError(f"the zip archive cannot be read: {error}") from None
    if len(data) > limit:
        raise PackedError(f"the file inside has more than {limit} bytes")
    return member.filename, data


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
    if any(one.filename == OFFICE for one in members):
        raise PackedError("this is an Office document", "save the table as CSV")
    if len(members) != 1:
        raise PackedError(f"the zip archive holds {len(members)} files")
    return members[0]


def _gunzip(path: Path, limit: int) -> tuple[str, bytes]:
    if is_tar(path):
        return _only_file(path, limit)
    try:
        with open(os.open(path, OPENING), "rb") as file:
            stream = Gunzip(file, Limits())
            data = stream.read(limit + 1)
            if len(data) > limit:
                raise PackedError(f"the file inside has more than {limit} bytes")
            stream.finish()
    except RefusedError as refusal:
        raise PackedError(str(refusal), refusal.fix) from None
    return path.name.removesuffix(".gz"), data


def _only_file(path: Path, limit: int) -> tuple[str, bytes]:
    findings = Findings()
    members = list(open_source(path, limits=Limits(members=2, member_bytes=limit, total_bytes=limit)).members(findings))
    if not findings.valid:
        first = next(iter(findings))
        raise PackedError(f"the archive cannot be read as one file: {first.message}")
    if len(members) != 1:
        raise PackedError(f"the archive holds {len(members)} files")
    return members[0].name, members[0].data


def _ending(name: str) -> str:
    return PurePosixPath(name.removesuffix(".gz")).suffix.lower()
