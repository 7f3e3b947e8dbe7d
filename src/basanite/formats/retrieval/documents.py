"""The set of documents as an index from raw bytes to positions, made for millions of look-ups.

An identifier is compared eight bytes at a time: one word that differs between all documents finds the candidate
through a small hash table, the other words confirm it. Nothing is decoded and no Python object is made per line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
Words = NDArray[np.uint64]

WORD = 8
UNKNOWN = -1
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Records:
    """Equally long pieces of a file laid side by side: one gather, and then each word of all pieces is a column."""

    pieces: NDArray[np.void]
    width: int

    @classmethod
    def cut(cls, data: bytes, starts: Positions, width: int) -> Records:
        """The pieces of `width` bytes that begin at `starts`; `data` must reach that far beyond the last of them."""
        every = np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))
        return cls(every[starts], width)

    def words(self, offset: int) -> Words:
        """The eight bytes at this offset of every piece, the first in the lowest byte."""
        return np.ndarray((len(self.pieces),), "<u8", self.pieces, offset, (self.width,))


@dataclass(frozen=True)
class _Length:
    """The documents whose identifiers share one length, ready to be looked up."""

    offsets: tuple[int, ...]
    mask: np.uint64
    mixed: bool
    """Whether no single word tells the documents apart, so that a mix of all words has to."""
    keys: Words
    """What tells the documents apart, one for each, in the order of `document`."""
    words: NDArray[np.uint64]
    """The words that confirm a find: one row per offset, one column per document, in the order of `document`."""
    constant: tuple[bool, ...]
    document: NDArray[np.int64]
    order: NDArray[np.int64]
    """The places of the keys from the smallest to the largest."""
    table: NDArray[np.int32]
    shift: np.uint64


class Documents:
    """The documents of a set in a fixed order, found by their raw identifiers."""

    def __init__(self, names: Sequence[bytes]) -> None:
        self.names = tuple(names)
        self._texts = tuple(name.decode("utf-8", "backslashreplace") for name in self.names)
        self.position = {name: place for place, name in enumerate(self.names)}
        lengths = sorted({len(name) for name in self.names})
        self._lengths = {length: _index(length, self.names) for length in lengths}
        self.length = lengths[0] if len(lengths) == 1 else None
        """The length that all identifiers share, or None."""

    def __len__(self) -> int:
        return len(self.names)

    def texts(self) -> tuple[str, ...]:
        """The identifiers as text."""
        return self._texts

    def find(self, data: bytes, starts: Positions, tabs: Positions) -> NDArray[np.int64]:
        """The position of each identifier between `starts` and `tabs`, or -1; `data` has a word to spare at its end."""
        if self.length is not None:
            return self._find(data, starts, self.length)
        found = np.full(len(starts), UNKNOWN, dtype=np.int64)
        for length, index in self._lengths.items():
            rows = np.flatnonzero(tabs - starts == length)
            if len(rows):
                places = self._find(data, starts[rows], length)
                found[rows] = np.where(places == UNKNOWN, UNKNOWN, index.document[places])
        return found

    def _find(self, data: bytes, starts: Positions, length: int) -> NDArray[np.int64]:
        """Where each identifier stands among those of its length, or -1."""
        index = self._lengths[length]
        names = Records.cut(data, starts, max(length, WORD))
        rows = [names.words(offset) & index.mask for offset in index.offsets]
        place, good = _place(index, _mixed(rows) if index.mixed else rows[0])
        first = 0 if index.mixed else 1  # the key is itself the first word, unless it is a mix
        for row, expected, constant in zip(rows[first:], index.words[first:], index.constant[first:], strict=True):
            good &= row == (expected[0] if constant else expected.take(place))
        return place if good.all() else np.where(good, place, UNKNOWN)


def _place(index: _Length, key: Words) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each key stands and whether it is there at all: by hash, and by bisection where hashes clash."""
    place = index.table.take(((key * HASH_MULTIPLIER) >> index.shift).view(np.int64)).astype(np.int64)
    good = index.keys.take(place) == key
    clash = np.flatnonzero(~good)
    if len(clash):
        near = np.searchsorted(index.keys, key[clash], sorter=index.order)
        place[clash] = index.order[np.minimum(near, len(index.keys) - 1)]
        good[clash] = index.keys[place[clash]] == key[clash]
    return place, good


def _mixed(rows: Sequence[Words]) -> Words:
    """One word out of several, so that identifiers which differ in no single word still differ."""
    mixed = rows[0].copy()
    for row in rows[1:]:
        mixed ^= mixed >> np.uint64(29)
        mixed *= HASH_MULTIPLIER
        mixed ^= row
    return mixed


def _index(length: int, names: Sequence[bytes]) -> _Length:
    """Lay out the documents of one length for look-up."""
    chosen = np.array([place for place, name in enumerate(names) if len(name) == length], dtype=np.int64)
    text = b"".join(names[place] for place in chosen) + bytes(WORD)
    pieces = Records.cut(text, np.arange(len(chosen), dtype=np.int64) * length, max(length, WORD))
    mask = np.uint64((1 << (8 * min(length, WORD))) - 1)
    rows = [(offset, pieces.words(offset) & mask) for offset in _cuts(length)]
    rows.sort(key=lambda row: -len(np.unique(row[1])))  # the word that tells most documents apart comes first
    words = np.stack([words for _, words in rows])
    mixed = len(np.unique(words[0])) < len(chosen)
    keys = _mixed(list(words)) if mixed else words[0]
    table, shift = _hash_table(keys)
    return _Length(
        offsets=tuple(offset for offset, _ in rows),
        mask=mask,
        mixed=mixed,
        keys=keys,
        words=words,
        constant=tuple(bool((row == row[0]).all()) for row in words),
        document=chosen,
        order=np.argsort(keys, kind="stable"),
        table=table,
        shift=shift,
    )


def _hash_table(keys: Words) -> tuple[NDArray[np.int32], np.uint64]:
    """A table about twelve times as long as the keys: few clash, and it stays in the processor's cache."""
    bits = max(8, (12 * len(keys)).bit_length())
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, dtype=np.int32)
    table[((keys * HASH_MULTIPLIER) >> shift).view(np.int64)] = np.arange(len(keys), dtype=np.int32)
    return table, shift


def _cuts(length: int) -> list[int]:
    """Where to cut an identifier into words: whole ones, the last overlapping its neighbour."""
    return sorted({*range(0, length - WORD + 1, WORD), max(length - WORD, 0)})
