"""Arrays on disk that are never read as a whole: only their header is, and rows when they are asked for.

A stored array can be handed to another process as a path: that process opens it again. Headers come from strangers:
nothing is unpickled, and a header that promises more than the file holds is refused before anything is allocated.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from basanite.errors import UnreadableError
from basanite.formats.bounded import check_regular

MOST_BYTES: Final = 1 << 40
"""The largest array that is taken at all."""
MOST_LOADED: Final = 1 << 33
"""The largest array that is read into memory because it cannot be mapped (8 GiB)."""
LONGEST_HEADER: Final = 10_000
MOST_MEMBERS: Final = 1000
HEADER_FAULTS: Final = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError, TokenError),
    *(OSError, EOFError, MemoryError, OverflowError, RecursionError),
)
"""What NumPy raises over a header that it did not write: it is read like a piece of Python."""
_KINDS: Final = "fiubUS"


@dataclass(frozen=True)
class StoredArray:
    """An array inside a file at an offset, mapped when rows are asked for."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    fortran: bool = False

    @cached_property
    def _rows_on_disk(self) -> NDArray[Any]:
        if self.fortran:
            return np.memmap(self.path, self.dtype, "r", self.offset, self.shape, "F")
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)

    def __getitem__(self, rows: Any, /) -> NDArray[Any]:
        return np.asarray(self._rows_on_disk[rows])

    def __len__(self) -> int:
        return self.shape[0]

    def __getstate__(self) -> dict[str, Any]:
        """Where it lies, not what it holds: other processes may stand in other folders."""
        return {**{name: getattr(self, name) for name in self.__dataclass_fields__}, "path": self.path.resolve()}


@dataclass(frozen=True)
class Header:
    """What the first bytes of an `.npy` file say."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    length: int

    @property
    def size(self) -> int:
        """How many bytes the array takes."""
        size = self.dtype.itemsize
        for side in self.shape:
            size *= side
        return size


def read_header(file: IO[bytes], name: str) -> Header:
    """The header of an `.npy` file; object arrays are refused, for reading them would run code."""
    try:
        version = npy.read_magic(file)
        reader = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = reader(file, max_header_size=LONGEST_HEADER)
    except HEADER_FAULTS as error:
        raise UnreadableError(
            f"{name} is not an array that NumPy wrote: {_short(error)}. Write it with numpy.save."
        ) from error
    return _check_header(Header(dtype, shape, fortran, file.tell()), name)


def _check_header(header: Header, name: str) -> Header:
    if header.dtype.kind not in _KINDS or header.dtype.hasobject:
        raise UnreadableError(
            f"{name} holds values of type {header.dtype}, which are not read. Store numbers or plain strings."
        )
    if min(header.shape, default=0) < 0 or header.size > MOST_BYTES:
        raise UnreadableError(f"{name} says that it has the shape {header.shape}: more than is taken here.")
    return header


def open_npy(path: Path) -> StoredArray | NDArray[Any]:
    """An `.npy` file, mapped."""
    check_regular(path)
    with path.open("rb") as file:
        header = read_header(file, path.name)
    return _map_array(path, header, header.length, path.stat().st_size - header.length, path.name)


def open_npz(path: Path, wanted: Container[str]) -> dict[str, StoredArray | NDArray[Any] | None]:
    """The arrays of an `.npz` file by name: mapped where they are stored plainly, read where they are compressed.

    Of those that nobody wants only the names are given: a stranger's file may hold any number of any size.
    """
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            names = {member.filename.removesuffix(".npy"): member for member in members[:MOST_MEMBERS]}
            return {name: _member(path, archive, member) if name in wanted else None for name, member in names.items()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, *HEADER_FAULTS) as error:
        raise UnreadableError(
            f"{path.name} is not an archive that NumPy wrote: {_short(error)}. Write it with numpy.savez."
        ) from error


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> StoredArray | NDArray[Any]:
    name = f"{path.name}:{member.filename}"
    with archive.open(member) as file:
        header = read_header(file, name)
        if member.compress_type == zipfile.ZIP_STORED:
            start = _data_start(path, member) + header.length
            return _map_array(path, header, start, member.file_size - header.length, name)
        return _load_array(file, header, member.file_size - header.length, name)


def _data_start(path: Path, member: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored member begin: after its own header, whose length is written in it."""
    with path.open("rb") as file:
        file.seek(member.header_offset + 26)
        lengths = file.read(4)
    return member.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def _map_array(path: Path, header: Header, offset: int, size: int, name: str) -> StoredArray | NDArray[Any]:
    if header.size > size:
        raise UnreadableError(f"{name} is truncated: {header.size} bytes were promised and {max(size, 0)} are there.")
    if not header.size:
        return np.empty(header.shape, header.dtype)
    return StoredArray(path.resolve(), header.dtype, header.shape, offset, header.fortran)


def _load_array(file: IO[bytes], header: Header, size: int, name: str) -> NDArray[Any]:
    if header.size > MOST_LOADED:
        raise UnreadableError(
            f"{name} is compressed and larger than {MOST_LOADED >> 30} GiB. Store it with numpy.savez, uncompressed."
        )
    data = file.read(header.size) if header.size <= size else b""
    if len(data) < header.size:
        raise UnreadableError(f"{name} is truncated: {header.size} bytes were promised and {len(data)} are there.")
    flat: NDArray[Any] = np.frombuffer(data, header.dtype)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _short(error: BaseException) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
