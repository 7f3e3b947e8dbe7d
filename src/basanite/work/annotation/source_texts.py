"""Texts to annotate from what people have: a folder of text files, one text a line, or a column of a table (R-40).

Texts are brought into the one form that positions are counted in (Unicode NFC, line feeds), before anybody marks
anything; what had to be changed is counted and said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.records import ABSENT, Records, read_records
from basanite.formats.records import Place as RecordPlace
from basanite.problems import Findings, Problem, Severity, shortened
from basanite.reading.package.documents import LARGEST
from basanite.registry import suggestion

RULE: Final = "R-40"
MOST_TEXTS: Final = 20_000
COLUMN: Final = "text"
IDS: Final = ("id", "name", "doc_id", "document", "docno")
"""Columns that name a text, if there is one of them."""
_ODD: Final = re.compile(r"[^A-Za-z0-9._\-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class SourceText:
    """A text and the name that it has in the project."""

    name: str
    text: str


@dataclass
class Names:
    """Names fit for files, no two the same, upper and lower case being one."""

    taken: set[str] = field(default_factory=set)

    def take(self, wanted: str) -> str:
        """The name of a text: what it was called, as far as a file can be called so.

        >>> names = Names()
        >>> names.take("My Report"), names.take("my report"), names.take("")
        ('My-Report', 'my-report-2', 'text')
        """
        base = _ODD.sub("-", wanted).strip("-._")[:80] or "text"
        name, number = base, 2
        while name.lower() in self.taken:
            name, number = f"{base}-{number}", number + 1
        self.taken.add(name.lower())
        return name


def read_texts(path: Path, findings: Findings, *, column: str = "") -> list[SourceText]:
    """All texts of a folder or a file; what cannot be used is a problem with its place."""
    if not path.exists():
        _add(findings, path.name, None, "there is no such file or folder", "give a folder of .txt files, or a table")
        return []
    found = list(_of_folder(path, findings) if path.is_dir() else _of_file(path, column, findings))
    texts = list(_sound(found, findings))
    if len(texts) > MOST_TEXTS:
        _add(findings, path.name, None, f"{len(texts)} texts", f"give at most {MOST_TEXTS} at a time")
    elif not texts and findings.valid:
        _add(findings, path.name, None, "there is no text in it", "give a folder of .txt files, or a table")
    return texts


def plain_text(text: str) -> str:
    """A text in the form that positions are counted in.

    >>> plain_text("\\ufeffone\\r\\ntwo\\r")
    'one\\ntwo\\n'
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", _CONTROL.sub(" ", text))


Found = tuple[str, str, int | None, str]
"""File, name, line, text."""


def _of_folder(folder: Path, findings: Findings) -> Iterator[Found]:
    paths = [path for path in sorted(folder.rglob("*.txt")) if path.is_file()]
    if len(paths) > MOST_TEXTS:
        _add(findings, folder.name, None, f"{len(paths)} files", f"give at most {MOST_TEXTS} at a time")
        return
    if not paths:
        others = sorted({path.suffix for path in folder.rglob("*") if path.is_file() and path.suffix})[:5]
        holds = f"; it holds {', '.join(others)}" if others else ""
        _add(findings, folder.name, None, f"the folder has no .txt file{holds}", "save the texts as .txt in UTF-8")
    for path in paths:
        name = path.relative_to(folder).with_suffix("").as_posix()
        if path.is_symlink():
            _add(findings, path.name, None, "it is a link", "put the file itself there")
            continue
        try:
            yield path.name, name, None, read_bounded(path, LARGEST).decode("utf-8")
        except UnicodeDecodeError as error:
            _add(findings, path.name, None, f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8")
        except UnreadableError as error:
            _add(findings, path.name, None, str(error), "give a smaller text")


def _of_file(path: Path, column: str, findings: Findings) -> Iterator[Found]:
    """Lines of a text, or the cells of a column."""
    headers = [column] if column else [COLUMN]
    plain = not column and path.suffix.lower() == ".txt"
    records = read_records(path, RecordPlace("reference", RULE), findings, headers=headers, plain=plain)
    chosen = _column(records, column, findings) if records is not None else ""
    if records is None or not chosen:
        return
    named = next((name for name in IDS if name in records.columns and name != chosen), "")
    for row, (line, cell) in enumerate(zip(records.lines, records.columns[chosen], strict=True)):
        id_ = records.columns[named][row] if named and not records.numbered else None
        name = f"text-{row + 1:04d}" if id_ in (None, ABSENT) else str(id_)
        if cell is not None and cell is not ABSENT and not isinstance(cell, str):
            _add(findings, records.file, line, f"{chosen!r} is no text", "give a column of texts", repr(cell))
        else:
            yield records.file, name, line, cell if isinstance(cell, str) else ""


def _column(records: Records, column: str, findings: Findings) -> str:
    names = tuple(records.columns)
    if (column or COLUMN) in names:
        return column or COLUMN
    if not column and len(names) == 1:
        return names[0]
    fix = suggestion(column, names) if column else f"name the column of the texts: {', '.join(names)[:200]}"
    _add(findings, records.file, None, f"there is no column {column or COLUMN!r:.60}", fix)
    return ""


def _sound(found: Iterable[Found], findings: Findings) -> Iterator[SourceText]:
    names, changed, empty = Names(), 0, 0
    first = ""
    for file, name, _, text in found:
        plain = plain_text(text)
        if not plain.strip():
            empty, first = empty + 1, first or file
            continue
        changed += plain != text
        yield SourceText(names.take(name), plain)
    if empty:
        _add(findings, first, None, f"{empty} texts are empty and left out", "nothing, if that is right", warn=True)
    if changed:
        words = f"{changed} texts were brought to Unicode NFC and line feeds"
        _add(findings, "texts", None, words, "nothing: positions count in this form", warn=True)


def _add(
    findings: Findings, file: str, line: int | None, message: str, fix: str, found: str = "", *, warn: bool = False
) -> None:
    # Seven arguments: each is a part of a problem.
    severity: Severity = "warn" if warn else "reject"
    findings.add(
        Problem(RULE, file[:100], line, None, message, fix, shortened(found), severity=severity, where="reference")
    )
