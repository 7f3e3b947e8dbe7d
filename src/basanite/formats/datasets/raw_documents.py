"""The table of raw documents that packs are made from: one line for each, before anybody may know which it is.

Columns by name: `source`, `genre`, `date` (of origin, ISO 8601; conversations have none), `language`, `domains`
(codes between blanks) and, if the documents exist, `file`: a path from the folder of the table.
A second table, if there is one, tells which documents are relevant to which queries.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from basanite.formats.datasets.dataset_tree import read_bytes
from basanite.formats.datasets.pack_names import AUDIO_GENRES, DOMAIN, GENRES, LANGUAGE
from basanite.problems import Findings, Problem, shortened

COLUMNS = ("source", "genre", "date", "language", "domains")
UNDATED = "CS"
"""The genre whose documents carry no date of origin."""


@dataclass(frozen=True)
class RawDocument:
    """A document as it was collected."""

    source: str
    genre: str
    date: datetime | None
    language: str
    domains: tuple[str, ...] = ()
    file: Path | None = None

    @property
    def is_audio(self) -> bool:
        """Whether it is sound and not text."""
        return self.genre in AUDIO_GENRES


def read_raw_documents(path: Path, findings: Findings) -> list[RawDocument]:
    """The documents of a table; what is wrong becomes problems with their lines (M91)."""
    text = read_bytes(path).decode("utf-8-sig", "backslashreplace").replace("\0", "\ufffd")
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        found, fix = ", ".join(rows.fieldnames or ()), f"begin with a header of {', '.join(COLUMNS)}"
        findings.add(_problem(path, 1, None, f"there is no column {' and '.join(missing)}", fix, found))
        return []
    documents, seen = [], dict[str, int]()
    for row in rows:
        cells = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
        problems = [_problem(path, rows.line_num, *fault) for fault in _faults(cells, path, seen)]
        findings.extend(problems)
        seen.setdefault(cells["source"], rows.line_num)
        documents += [] if problems else [_document(cells, path)]
    return documents


def read_relevance(path: Path, sources: Collection[str], findings: Findings) -> list[tuple[str, str]]:
    """Pairs of a query and the source of a document that is relevant to it, one per line; a header is passed over."""
    pairs: dict[tuple[str, str], int] = {}
    for line, text in enumerate(read_bytes(path).decode("utf-8-sig", "backslashreplace").splitlines(), start=1):
        query, _, source = (cell.strip() for cell in text.partition("\t"))
        if not text or (line == 1 and source == "source"):
            continue
        if not query or source not in sources:
            fix = "write a query, a tab and a source of the table of documents"
            findings.add(_problem(path, line, 2, "no document of the table", fix, source or text))
        elif pairs.setdefault((query, source), line) != line:
            message = f"this pair already appears on line {pairs[query, source]}"
            findings.add(_problem(path, line, None, message, "keep one of them", text))
    return list(pairs)


def _faults(cells: Mapping[str, str], path: Path, seen: Mapping[str, int]) -> Iterator[tuple[int, str, str, str]]:
    """Field, message, cure and what was found, for everything that is wrong with one line."""
    source, genre, date, language = (cells[name] for name in COLUMNS[:4])
    if not source or source in seen:
        yield (
            1,
            f"this source already appears on line {seen[source]}" if source else "no source",
            "name each once",
            source,
        )
    if genre not in GENRES:
        yield 2, "no such genre", f"write one of {', '.join(GENRES)}", genre
    if _date(date) is None and not (genre == UNDATED and not date):
        yield 3, "no date of origin", "write it like 2017-05-31 or 2017-05-31T12:00:00", date
    if not LANGUAGE.fullmatch(language) and not (language.isalpha() and language.isascii()):
        yield 4, "no language", "write the language's code, like 1A or swa", language
    for code in cells["domains"].split():
        if not DOMAIN.fullmatch(code):
            yield 5, "no domain", "write three-letter codes between blanks, like GOV LIF", code
    if file := cells.get("file"):
        endings = (".wav", ".sph") if genre in AUDIO_GENRES else (".txt",)
        if not (path.parent / file).is_file():
            yield len(COLUMNS) + 1, "there is no such file", "write a path from the folder of this table", file
        elif not file.endswith(endings):
            yield len(COLUMNS) + 1, "no file of this genre's mode", f"give a file {' or '.join(endings)}", file


def _document(cells: Mapping[str, str], path: Path) -> RawDocument:
    file = path.parent / cells["file"] if cells.get("file") else None
    domains = tuple(dict.fromkeys(cells["domains"].split()))
    return RawDocument(cells["source"], cells["genre"], _date(cells["date"]), cells["language"], domains, file)


def _date(text: str) -> datetime | None:
    """The moment a text tells, without its zone: only dates of one genre are ever compared."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None


def _problem(path: Path, line: int, field: int | None, message: str, fix: str, found: str) -> Problem:
    return Problem("M91", path.name, line, field, message, fix, shortened(found), where="reference")
