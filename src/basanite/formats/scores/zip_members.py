"""Members of a zip archive whatever they are packed with: Python's own reader knows no Zstandard before version 3.14.

Python reads the directory of the archive; the bytes of a member are unpacked here, with their size and checksum
checked, and never more of them than the directory promises.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from io import BytesIO
from typing import Final

from basanite.errors import MissingExtraError
from basanite.extras import missing_extra

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
LOCAL_HEADER: Final = struct.Struct("<4s5H3L2H")
MOST_MEMBERS: Final = 2_000_000
MOST_BYTES: Final = 4 << 30
RATIO: Final = 200
"""Logs pack well; what packs better than this, in one member or in all of them together, is no log."""
SMALL: Final = 64 << 20


class ZipError(ValueError):
    """An archive that is damaged, cut off, or larger than it may be."""


@dataclass(frozen=True)
class ZipMembers:
    """The members of an archive by name."""

    raw: bytes

    @cached_property
    def directory(self) -> dict[str, zipfile.ZipInfo]:
        """The members; where a name appears twice, the last one, as programs that append write it."""
        try:
            with zipfile.ZipFile(BytesIO(self.raw)) as archive:
                found = archive.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise ZipError("its end, where the directory of the archive is, is missing or damaged") from error
        if len(found) > MOST_MEMBERS:
            raise ZipError(f"it holds more than {MOST_MEMBERS} members")
        if sum(one.file_size for one in found) > max(SMALL, RATIO * len(self.raw)):
            raise ZipError(f"it expands to more than {RATIO} times its size")
        return {one.filename: one for one in found}

    def read(self, name: str) -> bytes:
        """The bytes of a member, checked."""
        member = self.directory[name]
        if member.flag_bits & 1:
            raise ZipError(f"{name} is encrypted")
        packed = self._packed_bytes(member)
        if member.file_size > MOST_BYTES or member.file_size > max(SMALL, RATIO * len(packed)):
            raise ZipError(f"{name} expands to more than {RATIO} times its size")
        data = _unpack(packed, member.compress_type, member.file_size, name)
        if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise ZipError(f"{name} is damaged: its checksum is wrong")
        return data

    def _packed_bytes(self, member: zipfile.ZipInfo) -> bytes:
        start = member.header_offset
        header = self.raw[start : start + LOCAL_HEADER.size]
        if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise ZipError(f"{member.filename} is not where the directory says")
        *_, name_size, extra_size = LOCAL_HEADER.unpack(header)
        begin = start + LOCAL_HEADER.size + name_size + extra_size
        packed = self.raw[begin : begin + member.compress_size]
        if len(packed) < member.compress_size:
            raise ZipError(f"{member.filename} is cut off")
        return packed


def _unpack(packed: bytes, method: int, size: int, name: str) -> bytes:
    if method == STORED:
        return packed
    if method == DEFLATED:
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
        except zlib.error as error:
            raise ZipError(f"{name} is damaged") from error
    if method == ZSTANDARD:
        return _unpack_zstandard(packed, size, name)
    raise ZipError(f"{name} is packed by a method that is not known here ({method})")


def _unpack_zstandard(packed: bytes, size: int, name: str) -> bytes:
    """So many bytes and no more: Python's own module, or the extra `inspect`."""
    try:
        return bytes(_codec()(packed, size))
    except (RuntimeError, ValueError, EOFError) as error:
        raise ZipError(f"{name} is damaged") from error


def _codec() -> Callable[[bytes, int], bytes]:
    try:
        own = import_module("compression.zstd")
    except ModuleNotFoundError:
        return _installed_codec()

    def unpack(packed: bytes, size: int) -> bytes:
        try:
            return bytes(own.ZstdDecompressor().decompress(packed, size + 1))
        except own.ZstdError as error:
            raise ValueError(str(error)) from error

    return unpack


def _installed_codec() -> Callable[[bytes, int], bytes]:
    try:
        zstd = import_module("numcodecs.zstd")
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{missing_extra('numcodecs')}; or write the log as JSON: inspect log convert LOG --to json --output-dir "
            "FOLDER"
        ) from None

    def unpack(packed: bytes, size: int) -> bytes:
        room = bytearray(max(size, 1))  # it never writes more than there is room for
        zstd.decompress(packed, room)
        return bytes(room[:size])

    return unpack
