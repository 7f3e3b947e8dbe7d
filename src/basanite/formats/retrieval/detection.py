"""Detection files, read fast: one line per document with a decision and, in a submission, a confidence.

This reader works on whole files as arrays and knows only one answer to anything odd: doubt (None). The exact reader in
`detection_lines` then goes through the doubtful file line by line and names every problem with its place and cure.
What this reader accepts has no problem at all; a test holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.formats.retrieval.documents import UNKNOWN, WORD, Documents, Positions, Records, Words

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
    return _in_order(data + bytes(WORD), documents, lines, decisions, np.zeros(len(lines.tabs), dtype=np.int32))


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
    return _in_order(data, documents, lines, decisions, _confidences(rest.words(DECISION_WIDTH), length))


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


def _in_order(
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
