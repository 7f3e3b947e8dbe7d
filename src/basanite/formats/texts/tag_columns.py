"""Tags of words in columns, as CoNLL's shared tasks and their scripts write them, and keys of word senses.

One word a line with its tag in one of the columns, which blanks or tabs separate; an empty line after each sentence.
A line `-DOCSTART-` begins a document. A line with `#` before a
sentence is a comment if it has fewer or more columns than words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.formats.file_kinds import text_kind
from basanite.formats.kinds.structure import SENSES, TAGS
from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.single_file import SingleFile
from basanite.problems import Findings, Problem

START: Final = "-DOCSTART-"
LAYOUT: Final = "give one word per line with its tag in the last column, and an empty line after each sentence"


@dataclass(frozen=True)
class TaggedWords:
    """The sentences of a file."""

    file: str
    digest: str
    words: list[tuple[str, ...]]
    """The first column of each sentence; nothing if there is only the tag."""
    tags: list[tuple[str, ...]]
    lines: list[int]
    """The first line of each sentence."""
    documents: list[str]


def read_tag_columns(path: Path, column: int, place: Place, findings: Findings) -> TaggedWords | None:
    """The words and tags of a file; the column counts from 1, or from the end as -1."""
    file = open_single(path, place, findings)
    if file is None:
        return None
    refusal = _foreign(file, place)
    if refusal is not None:
        findings.add(refusal)
        return None
    text = _file_text(file, place, findings)
    return None if text is None else _Reader(file, column, place, findings).read(text.split("\n"))


def _foreign(file: SingleFile, place: Place) -> Problem | None:
    if not file.data.strip():
        return place.problem(file.name, None, "the file is empty", LAYOUT)
    kind = text_kind(file.beginning)
    if kind is None and _is_comma_table(file.beginning.lines):
        return place.problem(file.name, None, "this looks like a table with commas", LAYOUT, file.beginning.lines[0])
    if kind in (None, TAGS):
        return None
    return place.problem(file.name, None, f"this looks like {kind.name}", kind.fix or LAYOUT, file.beginning.lines[0])


def _is_comma_table(lines: Sequence[str]) -> bool:
    """Whether commas, and no blanks, separate the same number of cells on each line."""
    commas = {line.count(",") for line in lines}
    return len(commas) == 1 and commas != {0} and max(len(line.split()) for line in lines) == 1 and len(lines) > 1


def _file_text(file: SingleFile, place: Place, findings: Findings) -> str | None:
    try:
        return file.data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        found = file.data[error.start : error.start + 20]
        findings.add(place.problem(file.name, line, "this is not UTF-8", "save the file as UTF-8", found))
        return None


class _Reader:
    """The lines of a file on their way to sentences."""

    def __init__(self, file: SingleFile, column: int, place: Place, findings: Findings) -> None:
        self.file, self.column, self.place, self.findings = file, column, place, findings
        self.made = TaggedWords(file.name, digest_of([(file.name, file.raw)]), [], [], [], [])
        self.document, self.documents = "", 0

    def read(self, lines: Sequence[str]) -> TaggedWords | None:
        """All sentences; what is wrong with a line is told."""
        rows = [line.split() for line in lines]
        widths = Counter(map(len, filter(None, rows)))
        width = max(widths, key=lambda one: (widths[one], -one))
        if abs(self.column) > width:
            message = f"there is no column {self.column}: most lines have {width}"
            self._fault(None, message, "name another column, from 1, or from the end as -1", "")
            return None
        begin = 0
        for number in range(len(rows) + 1):
            if number == len(rows) or not rows[number]:
                self._sentence(rows[begin:number], begin + 1, width)
                begin = number + 1
        if not self.made.tags and self.findings.valid:
            self._fault(None, "there is no word in it", LAYOUT, "")
        return self.made if self.findings.valid else None

    def _sentence(self, rows: Sequence[list[str]], line: int, width: int) -> None:
        while rows and (rows[0][0] == START or (rows[0][0].startswith("#") and len(rows[0]) != width)):
            if rows[0][0] == START:
                self.documents += 1
                named = [cell for cell in rows[0][1:] if cell not in ("-X-", "-Y-", "O", "_")]
                self.document = named[0] if named else f"document {self.documents}"
            rows, line = rows[1:], line + 1
        if not rows:
            return
        for at, row in enumerate(rows):
            if len(row) != width:
                message = f"{len(row)} columns, where most lines have {width}"
                self._fault(line + at, message, LAYOUT, " ".join(row))
                return
        place = self.column - 1 if self.column > 0 else self.column
        self.made.words.append(tuple(row[0] for row in rows) if width > 1 else ())
        self.made.tags.append(tuple(row[place] for row in rows))
        self.made.lines.append(line)
        self.made.documents.append(self.document)

    def _fault(self, line: int | None, message: str, fix: str, found: str) -> None:
        self.findings.add(self.place.problem(self.file.name, line, message, fix, found))


@dataclass(frozen=True)
class SenseKey:
    """Words by their ids, each with one or more senses."""

    file: str
    digest: str
    senses: dict[str, frozenset[str]]
    lines: dict[str, int]


def is_sense_key(path: Path, place: Place) -> bool:
    """Whether a file is a key of word senses."""
    file = open_single(path, place, Findings())
    return file is not None and text_kind(file.beginning) is SENSES


def read_sense_key(path: Path, place: Place, findings: Findings) -> SenseKey | None:
    """The senses of each word; an id that appears twice is told."""
    file = open_single(path, place, findings)
    text = None if file is None else _file_text(file, place, findings)
    if file is None or text is None:
        return None
    key = SenseKey(file.name, digest_of([(file.name, file.raw)]), {}, {})
    for number, line in enumerate(text.split("\n"), start=1):
        name, *senses = line.split() or [""]
        if not name:
            continue
        if not senses or name in key.senses:
            message = f"word {name!r} appears twice" if senses else f"word {name!r} has no sense"
            fix = "keep one line for each word" if senses else "write a sense behind the id, or leave the line out"
            findings.add(place.problem(file.name, number, message, fix, line))
        key.senses[name], key.lines[name] = frozenset(senses), number
    return key
