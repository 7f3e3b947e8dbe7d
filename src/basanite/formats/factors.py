"""Tables of factors: a TSV or CSV file whose first column names documents or queries and whose others describe them.

JSON lines do as well; there the property that names them stands anywhere in the object.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.formats.bounded import read_bounded
from basanite.formats.file_kinds import text_kind
from basanite.formats.kinds.general import JSON_LINES
from basanite.formats.kinds.kind import BEGINNING, Beginning
from basanite.formats.records import table_fault
from basanite.formats.strict_json import parse
from basanite.problems import Findings, Problem, shortened

SUBJECTS = ("document", "query")
TABLE_BYTES = 256 * 2**20


@dataclass(frozen=True)
class FactorTable:
    """What is known about documents or queries: for each factor, the level of each of them."""

    subject: str
    file: str
    levels: Mapping[str, Mapping[str, str]]
    """By factor, then by the name of the document or query."""

    def column(self, factor: str, names: Sequence[str]) -> NDArray[np.str_]:
        """The levels of one factor for these documents or queries; "" where the table does not tell."""
        known = self.levels[factor]
        return np.array([known.get(name, "") for name in names], dtype=np.str_)


def read_factor_tables(
    paths: Sequence[Path], findings: Findings, subjects: Sequence[str] = SUBJECTS
) -> list[FactorTable]:
    """Read several metadata tables; two that tell the same factor of the same things are a problem."""
    tables = [table for path in paths if (table := read_factors(path, findings, subjects)) is not None]
    told: dict[tuple[str, str], str] = {}
    for table in tables:
        for factor in table.levels:
            if (table.subject, factor) in told:
                message = f"{told[table.subject, factor]} has a column of that name too"
                _Report(table.file, findings).add(1, None, factor, message, "rename it in one of the tables")
            told[table.subject, factor] = table.file
    return tables


def read_factors(path: Path, findings: Findings, subjects: Sequence[str] = SUBJECTS) -> FactorTable | None:
    """Read one metadata table; what is wrong with it becomes problems of the metadata (M73)."""
    report = _Report(path.name, findings)
    text = _text(path)
    listed = text_kind(Beginning(text[:BEGINNING], whole=len(text) <= BEGINNING)) is JSON_LINES
    rows = _records(text, subjects, report) if listed else _rows(text, report)
    if rows is None:
        return None
    if not rows:
        report.add(1, None, "", "the table is empty", "write a header line and one line for each thing described")
        return None
    header = [cell.strip() for cell in rows[0].cells]
    subject = next((name for name in subjects if header and header[0].lower() == name), None)
    if subject is None:
        fix = f"call the first column {' or '.join(f'`{name}`' for name in subjects)}"
        report.add(1, 1, header[0] if header else "", "the first column does not say what the table is about", fix)
        return None
    if len(set(header)) < len(header) or "" in header:
        report.add(1, None, ", ".join(header), "column names are empty or repeated", "give each column its own name")
        return None
    return FactorTable(subject, path.name, _levels(header, rows, report))


@dataclass
class _Report:
    file: str
    findings: Findings

    def add(self, line: int, field: int | None, found: str, message: str, fix: str) -> None:
        self.findings.add(
            Problem("M73", self.file, line, field, message, fix, found=shortened(found), where="metadata")
        )


def _text(path: Path) -> str:
    return read_bounded(path, TABLE_BYTES).decode("utf-8-sig", "backslashreplace").replace("\0", "\ufffd")


class _Row(NamedTuple):
    line: int
    cells: list[str]


def _rows(text: str, report: _Report) -> list[_Row] | None:
    """The rows with the lines they begin on; None if it is no table. Tabs need no quotes, and queries have some."""
    lines = io.StringIO(text, newline="")
    tabs = "\t" in text.partition("\n")[0]
    reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(lines)
    rows: list[_Row] = []
    line = 1
    try:
        for cells in reader:
            rows.append(_Row(line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        report.add(line, None, "", *table_fault(error))
        return None
    return rows


def _records(text: str, subjects: Sequence[str], report: _Report) -> list[_Row] | None:
    """The rows of JSON lines under a header of their names, the first of which says what they are about."""
    found: list[tuple[int, dict[str, Any]]] = []
    for line, record in enumerate(text.split("\n"), start=1):
        parsed = parse(record.encode(), limit=TABLE_BYTES, rule="M73") if record.strip() else None
        if parsed is not None and (parsed.fault or not isinstance(parsed.value, dict)):
            report.add(line, None, record, parsed.fault or "no object", "write one JSON object per line")
        elif parsed is not None:
            found.append((line, parsed.value))
    names = dict.fromkeys(name for _, record in found for name in record)
    about = next((name for subject in subjects for name in names if name.lower() == subject), None)
    header = [*([about] if about else []), *(name for name in names if name != about)]
    return [_Row(1, header), *(_Row(line, [_cell_text(record.get(name)) for name in header]) for line, record in found)]


def _cell_text(cell: Any) -> str:
    """A cell as a table of text would have it; a whole number as its digits."""
    if cell is None:
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _levels(header: Sequence[str], rows: Sequence[_Row], report: _Report) -> dict[str, dict[str, str]]:
    levels: dict[str, dict[str, str]] = {factor: {} for factor in header[1:]}
    seen: dict[str, int] = {}
    for line, row in rows[1:]:
        if not row:
            continue
        if len(row) != len(header):
            fix = f"write {len(header)} cells"
            report.add(line, None, "\t".join(row), f"{len(row)} cells under {len(header)} column names", fix)
        elif seen.setdefault(row[0], line) != line:
            report.add(line, 1, row[0], f"already described on line {seen[row[0]]}", "keep one line for each")
        else:
            for factor, cell in zip(header[1:], row[1:], strict=True):
                levels[factor][row[0]] = cell.strip()
    return levels
