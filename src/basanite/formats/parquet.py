"""Parquet files of strangers: what they would take in memory is counted from their headers before they are read (X-34).

Runs and dictionaries make billions of cells out of a few kilobytes, and the totals in a file are only claims. What is
decoded follows from the headers of its pages, so these are added up first. Polars then reads the file; it raises errors
of its own over a bad one, and panics, which no `Exception` covers.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any, Final, TypeAlias

Source: TypeAlias = bytes | mmap.mmap
Value: TypeAlias = Any
"""A struct by field numbers, a list, a number or bytes."""

FLOOR: Final = 64 * 2**20
"""Bytes that any file may become."""
RATIO: Final = 100
"""How many times its size a larger file may become."""
CELL: Final = 8
PYTHON_CELL: Final = 64
"""Bytes of a value in an array, and as an object of Python with its place in a list."""
HEADERS: Final = 1_000_000
"""Values in headers that any file may have; a larger one may have one for every eight bytes."""
DEPTH: Final = 32
EDGE: Final = 8
"""Bytes behind the footer: its length and the mark of the format."""
FRONT_CODED: Final = 7
"""The encoding of texts by what they share with the text before: a page of it can grow without bound."""


class ExpansionError(ValueError):
    """A Parquet file would take far more memory than a file of its size may."""


def parquet_faults() -> tuple[type[BaseException], ...]:
    """All of it, to be caught together; a damaged file makes some of its decoders panic (X-8)."""
    from polars import exceptions  # here, because it is slow to load and most files are text

    return exceptions.PolarsError, exceptions.PanicException, OSError, ValueError, OverflowError, MemoryError


def read_parquet(source: Path | bytes, *, cell: int = CELL, most: float = inf, **how: Any) -> Any:
    """The table of a file, if it takes no more than a file of its size may, with `cell` bytes a value, or than `most`.

    `how` is for Polars.
    """
    import polars as pl

    raw: Source = b""
    if isinstance(source, bytes):
        raw = source
    elif source.stat().st_size:  # nothing cannot be mapped
        with source.open("rb") as file:
            raw = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    limit = int(min(most, max(FLOOR, RATIO * len(raw))))
    if expanded_size(raw, cell) > limit:
        raise ExpansionError(f"its {len(raw)} bytes would become more than {limit >> 20} MiB")
    frame = pl.read_parquet(source, **how)
    if sum(map(_text_bytes, frame)) > limit:
        raise ExpansionError(f"the texts in its {len(raw)} bytes would become more than {limit >> 20} MiB")
    return frame


def _text_bytes(series: Any) -> int:
    """Bytes of the texts of a column when each stands for itself: a dictionary holds a text that is repeated once."""
    import polars as pl

    kind = series.dtype
    if isinstance(kind, pl.List | pl.Array):
        return _text_bytes(series.explode())
    if isinstance(kind, pl.Struct):
        return sum(_text_bytes(series.struct.field(each.name)) for each in kind.fields)
    if isinstance(kind, pl.Categorical | pl.Enum):
        series, kind = series.cast(pl.String), pl.String()
    if kind == pl.String:
        return int(series.str.len_bytes().sum())
    return int(series.bin.size().sum()) if kind == pl.Binary else 0


def expanded_size(raw: Source, cell: int = CELL) -> int:
    """Bytes that the values and the pages of a file take when they are decoded."""
    end = len(raw) - EDGE
    footer = end - int.from_bytes(raw[end : end + 4], "little") if end > 0 else -1
    if footer < 0 or raw[end + 4 :] != b"PAR1":
        raise ValueError("its end is not a footer of Parquet")
    thrift = _Thrift(raw, footer)
    try:
        about = thrift.struct()
        _check_depth(about[2])
        return sum(_chunk_size(thrift, chunk[3], group[3], cell) for group in about[4] for chunk in group[1])
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("its headers cannot be read") from error


def _check_depth(schema: Value) -> None:
    """Refuse columns within columns without end; the schema is a list in which each element counts its children."""
    missing: list[int] = []
    for element in schema:
        while missing and missing[-1] == 0:
            missing.pop()
        if missing:
            missing[-1] -= 1
        if element.get(5, 0) > 0:
            missing.append(element[5])
        if len(missing) > DEPTH:
            raise ExpansionError(f"its columns are nested more than {DEPTH} deep")


def _chunk_size(thrift: _Thrift, about: Value, rows: int, cell: int) -> int:
    """Bytes of one column in one group of rows: by its pages, by its own count, or by the group's, what is most."""
    values = expanded = 0
    for header in _pages(thrift, about):
        data = header.get(5) or header.get(8) or header.get(7) or {}
        if FRONT_CODED in (data.get(2) if 5 in header else None, data.get(4) if 8 in header else None):
            raise ExpansionError("its texts are front coded (DELTA_BYTE_ARRAY): write them plain or with a dictionary")
        values += max(data.get(1, 0), 0)
        expanded += max(header[2], 0)
    return int(expanded + cell * max(values, about[5], rows))


def _pages(thrift: _Thrift, about: Value) -> Iterator[Value]:
    """The headers of the pages of a column."""
    thrift.at = min(about[9], about.get(11) or about[9])
    end = thrift.at + about[7]
    while thrift.at < end:
        header = thrift.struct()
        yield header
        thrift.at += max(header[3], 0)


class _Thrift:
    """Structs of the compact protocol of Thrift; of all together no more than so many values are taken."""

    def __init__(self, raw: Source, at: int) -> None:
        self.raw, self.at, self.left = raw, at, max(HEADERS, len(raw) // 8)

    def struct(self, depth: int = 0) -> dict[int, Value]:
        """The fields of a struct by their numbers."""
        found: dict[int, Value] = {}
        number = 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else self._integer()
            found[number] = kind & 15 == 1 if kind & 15 in (1, 2) else self._value(kind & 15, depth + 1)
        return found

    def _value(self, kind: int, depth: int) -> Value:
        self.left -= 1
        if self.left < 0 or depth > DEPTH:
            raise ExpansionError("its headers are too many or too deep")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 8):
            start, self.at = self.at, self.at + 8 if kind == 7 else self._varint() + self.at
            return self.raw[start : min(self.at, start + 64)]
        if kind in (9, 10):
            return list(self._items(depth))
        if kind == 12:
            return self.struct(depth)
        raise ValueError("its headers cannot be read")

    def _items(self, depth: int) -> Iterator[Value]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(count):
            yield self._value(head & 15, depth + 1)

    def _byte(self) -> int:
        self.at += 1
        return self.raw[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while (byte := self._byte()) & 128 and shift < 70:
            found, shift = found | (byte & 127) << shift, shift + 7
        return found | byte << shift

    def _integer(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)
