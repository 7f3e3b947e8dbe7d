"""What a kind of file is: its name, how it is recognized, what one record of it is, and which commands read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

BEGINNING: Final = 1 << 16
"""Bytes of a file that are looked at."""
RECORDS: Final = 50
"""Lines that are looked at; all of them must agree."""
NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
INTEGER: Final = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Beginning:
    """The start of a file as text; of a folder or archive, the names in it."""

    text: str
    ending: str = ""
    """In lower case with its dot; "" where the name has none."""
    whole: bool = True
    """Whether the file has no more than this."""
    data: bytes = b""
    """The first bytes, where the file is no text."""
    members: tuple[str, ...] = ()
    """The first names in a folder or archive, with `/` between folders."""

    @property
    def lines(self) -> list[str]:
        """The first lines that hold something, without comments of NIST's tools; a line that is cut off is no line."""
        found = self.text.splitlines()
        if not self.whole and len(found) > 1:
            found.pop()
        return [line for line in found if line.strip() and not line.lstrip().startswith(";;")][:RECORDS]

    @property
    def rows(self) -> list[list[str]]:
        """The fields of these lines, as white space separates them."""
        return [line.split() for line in self.lines]

    def cells(self, sign: str) -> list[list[str]]:
        """The fields of these lines, as a tab or a comma separates them."""
        return [line.split(sign) for line in self.lines]


Test = Callable[[Beginning], bool]
Count = Callable[[str], int | None]
"""How many records a text has; None where that cannot be told."""


@dataclass(frozen=True)
class Kind:
    """One kind of file: its name in a sentence, how it is recognized, and what reads it."""

    name: str
    test: Test
    """Whether a beginning is of this kind; it must leave no doubt, for a file that is misread scores wrongly."""
    endings: tuple[str, ...] = ()
    """How such files are usually named; only a hint."""
    fix: str = ""
    """What to do with it where something else is wanted; pages show it, so it names no command."""
    hint: str = ""
    """What to type where something else is wanted; only commands show it (D-8)."""
    commands: tuple[str, ...] = ()
    """The commands that read it, the likeliest first, without `basanite`: `{path}` is the file; words in capitals are
    other files. None for a kind that is refused everywhere."""
    sign: str = ""
    """How it is recognized, in words, for the reference table."""
    record: str = "line"
    """What is counted as one item: "segment", "word", "judged document"."""
    fields: tuple[str, ...] = ()
    """What the columns are called, where each line has the same ones and no header names them."""
    comment: str = ""
    """What lines that are no items begin with, beside ";;"."""
    count: Count | None = None
    """How many records a text has, where they are not its lines."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that score such files."""
        words = [command.split() for command in self.commands]
        return tuple(dict.fromkeys(word[1] for word in words if word[0] in ("score", "compare") and len(word) > 2))


def every_row(test: Callable[[Sequence[str]], object]) -> Test:
    """A test of a beginning that has lines, the fields of each of which pass a test."""
    return lambda start: bool(start.rows) and all(map(test, start.rows))


def every_row_but(comment: str, test: Callable[[Sequence[str]], object]) -> Test:
    """The same, where lines that begin with this sign are comments."""

    def found(start: Beginning) -> bool:
        rows = [row for row in start.rows if not row[0].startswith(comment)]
        return bool(rows) and all(map(test, rows))

    return found


def matches(pattern: str) -> Count:
    """A count of records by how often a pattern is found."""
    found = re.compile(pattern, re.MULTILINE)
    return lambda text: sum(1 for _ in found.finditer(text))


def begins_with(*magic: bytes) -> Test:
    """A test of a binary file by its first bytes."""
    return lambda start: start.data.startswith(magic)


def never(start: Beginning) -> bool:
    """The test of a kind that only its ending or the reader tells: nothing in the content leaves no doubt."""
    return False
