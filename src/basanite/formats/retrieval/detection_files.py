"""Detection files, read fast: one line per document with a decision and, in a submission, a confidence.

This reader works on whole files as arrays and knows only one answer to anything odd: doubt (None). The exact reader in
`detection_lines` then goes through the doubtful file line by line and names every problem with its place and fix.
What this reader accepts has no problem at all; a test holds the two against each other.

`Documents` is the document set as an index from raw bytes to positions, made for millions of look-ups. An identifier is
compared eight bytes at a time: one word that differs between all documents finds the candidate through a small hash
table, the other words confirm it. Nothing is decoded and no Python object is made per line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
Words = NDArray[np.uint64]

WORD = 8
UNKNOWN = -1
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SCALE = 100_000
"""Confidences have at most five decimals, so they are kept as whole hundred-thousandths: exact, and countable."""
TAB, LINE_FEED = 9, 10
DECISION_WIDTH = len("\tY\t")
REST_WIDTH = 16  # decision, longest confidence and line feed, rounded up to whole words
SHORTEST, LONGEST = len("0.5"), len("0.54321")
_SEVEN_ZEROS = np.uint64(0x0030303030303030)
_HIGH_NIBBLES = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES = np.uint64(0x0606060606060606)
_POINT_TO_ZERO = np.uint64((ord(".") ^ ord("0")) << 8)
_AROUND_DECISION = np.uint64(0xFF00FF)  # the bytes before and after the decision
_TAB_AND_TAB = np.uint64(0x090009)
_KEPT = np.array([(1 << (8 * n)) - 1 for n in range(LONGEST + 1)], dtype=np.uint64)
_PADDING = np.array([0x30303030303030 >> (8 * n) << (8 * n) for n in range(LONGEST + 1)], dtype=np.uint64)


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
        place, good = _place(index, _mix_words(rows) if index.mixed else rows[0])
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


def _mix_words(rows: Sequence[Words]) -> Words:
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
    keys = _mix_words(list(words)) if mixed else words[0]
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


@dataclass(frozen=True)
class Answers:
    """What a system said about every document, in the order of the document set."""

    returned: NDArray[np.bool_]
    score: NDArray[np.int32]
    """Confidences in hundred-thousandths; all zero in a key, which has none."""


def confidence_text(score: int) -> str:
    """A score as the shortest text that may stand in a file (M29).

    >>> confidence_text(50_000), confidence_text(1), confidence_text(100_000)
    ('0.5', '0.00001', '1.0')
    """
    text = f"{score / SCALE:.5f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


class _Lines(NamedTuple):
    """Where each line starts, where its identifier must end (with a tab, yet to be seen), and where it ends itself."""

    starts: Positions
    tabs: Positions
    ends: Positions


def read_key(data: bytes, documents: Documents) -> Answers | None:
    """Which documents are relevant, or None if anything about the bytes is in doubt (M36)."""
    lines = _lines(data, documents, fields=2)
    raw = np.frombuffer(data, np.uint8)
    if lines is None or (lines.ends - lines.tabs != 2).any() or (raw[lines.tabs] != TAB).any():
        return None
    decisions = _decisions(raw[lines.tabs + 1])
    return _ordered_answers(data + bytes(WORD), documents, lines, decisions, np.zeros(len(lines.tabs), dtype=np.int32))


def read_answers(data: bytes, documents: Documents) -> Answers | None:
    """Decision and confidence for every document, or None if anything about the bytes is in doubt (M26-M29)."""
    lines = _lines(data, documents, fields=3)
    if lines is None:
        return None
    length = lines.ends - lines.tabs - DECISION_WIDTH
    if length.min() < SHORTEST or length.max() > LONGEST:
        return None
    data += bytes(REST_WIDTH)  # room to read whole words beyond the last line
    rest = Records.cut(data, lines.tabs, REST_WIDTH)
    around = rest.words(0)
    if ((around & _AROUND_DECISION) != _TAB_AND_TAB).any():
        return None
    decisions = _decisions((around >> np.uint64(8)).astype(np.uint8))
    return _ordered_answers(data, documents, lines, decisions, _confidences(rest.words(DECISION_WIDTH), length))


def _lines(data: bytes, documents: Documents, fields: int) -> _Lines | None:
    """The lines of a file that has just one for each document and `fields` fields in each, as far as can be seen."""
    if len(data) < 8 or data[-1] != LINE_FEED or not len(documents):
        return None
    raw = np.frombuffer(data, np.uint8)
    if documents.length is None:
        return _lines_by_tabs(raw, len(documents), fields)
    ends = np.flatnonzero(raw == LINE_FEED)
    if len(ends) != len(documents):
        return None
    starts = np.empty_like(ends)
    starts[0], starts[1:] = 0, ends[:-1] + 1
    tabs = starts + documents.length
    return None if (tabs >= ends).any() else _Lines(starts, tabs, ends)


def _lines_by_tabs(raw: NDArray[np.uint8], documents: int, fields: int) -> _Lines | None:
    """The same where identifiers differ in length, so that the first tab has to be looked for."""
    marks = np.flatnonzero(raw <= LINE_FEED)
    if len(marks) != documents * fields:
        return None
    kinds = raw[marks].reshape(documents, fields)
    if (kinds[:, :-1] != TAB).any() or (kinds[:, -1] != LINE_FEED).any():
        return None
    tabs, ends = marks[::fields], marks[fields - 1 :: fields]
    starts = np.concatenate(([0], ends[:-1] + 1))
    return None if (tabs == starts).any() else _Lines(starts, tabs, ends)


def _decisions(letters: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
    """Y as true, N as false; None if there is any other letter (M28)."""
    returned = letters == ord("Y")
    return returned if (returned | (letters == ord("N"))).all() else None


def _confidences(text: Words, length: Positions) -> NDArray[np.int32] | None:
    """Confidences in hundred-thousandths, all characters at once; None if any is not as M29 wants it."""
    text = (text & _KEPT[length]) | _PADDING[length]  # "0.5" becomes "0.50000"
    digits = text ^ _SEVEN_ZEROS ^ _POINT_TO_ZERO
    if (((digits + _SIXES) | digits) & _HIGH_NIBBLES).any():
        return None
    number = _seven_digits(digits)
    ones = number == 10 * SCALE  # "1.00000" without its point
    if (ones | (number < SCALE)).all():
        return np.minimum(number, SCALE).astype(np.int32)
    return None


def _seven_digits(digits: Words) -> Words:
    """The number that seven decimal digits in the low bytes stand for, the first in the lowest byte."""
    pairs = digits << np.uint64(8)
    pairs = (pairs * np.uint64(10) + (pairs >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return (fours * np.uint64(10_000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF)


def _ordered_answers(
    data: bytes,
    documents: Documents,
    lines: _Lines,
    decisions: NDArray[np.bool_] | None,
    score: NDArray[np.int32] | None,
) -> Answers | None:
    """Answers in the order of the document set; None unless every document has exactly one line (M26)."""
    if decisions is None or score is None:
        return None
    found = documents.find(data, lines.starts, lines.tabs)
    seen = np.zeros(len(documents), dtype=bool)
    seen[found] = True
    if not seen.all() or (found == UNKNOWN).any():
        return None
    returned, ordered = np.empty(len(documents), dtype=bool), np.empty(len(documents), dtype=np.int32)
    returned[found], ordered[found] = decisions, score
    return Answers(returned, ordered)
