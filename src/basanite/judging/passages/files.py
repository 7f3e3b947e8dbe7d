"""Reading a pool of passages, and writing a prepared set with the log of what was done to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from basanite.formats.records import Place, Records, read_records
from basanite.judging.combining.files import spreadsheet, table
from basanite.judging.passages.model import Passage, Prepared
from basanite.problems import Findings

RULE = "R-1"
POOL = Place("metadata", RULE)
NEEDED = ("passage", "genre", "text")
LONGEST = 20_000
MOST = 200_000
HEADER = ("passage", "genre", "topic", "split", "round", "text")
FIX = "write a table with the columns passage, genre, topic, text (CSV, TSV or JSON lines)"


def read_pool(path: Path) -> tuple[tuple[Passage, ...], Findings]:
    """The passages of a pool and everything that is wrong with it, by line."""
    findings = Findings()
    records = read_records(path, POOL, findings)
    if records is None:
        return (), findings
    for name in NEEDED:
        if name not in records.columns:
            findings.add(POOL.problem(records.file, 1, f"there is no column {name!r}", FIX, name))
    if not findings.valid:
        return (), findings
    passages = tuple(_passages(records, findings))
    return (passages if findings.valid else ()), findings


def _passages(records: Records, findings: Findings) -> Iterator[Passage]:
    seen: dict[str, int] = {}
    for row, line in enumerate(records.lines[:MOST]):
        fields = records.fields(row)
        name, genre, text = (_cell(fields, column) for column in NEEDED)
        for message, fix, found in _faults(name, genre, text, seen):
            findings.add(POOL.problem(records.file, line, message, fix, found))
        seen.setdefault(name, line)
        yield Passage(name, text, genre.lower(), _cell(fields, "topic"), _cell(fields, "source"))
    if len(records) > MOST:
        findings.add(POOL.problem(records.file, None, f"{len(records)} passages", f"give at most {MOST}"))


def _cell(fields: Mapping[str, Any], name: str) -> str:
    return str(fields.get(name) or "").strip()


def _faults(name: str, genre: str, text: str, seen: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    if not name or len(name) > 200:
        yield "the passage has no name, or a very long one", "name every passage", name
    if name in seen:
        yield f"the passage stands on line {seen[name]} already", "give each passage a name of its own", name
    if not genre:
        yield "the passage has no genre", "write its genre", name
    if not text or len(text) > LONGEST:
        yield f"the text has {len(text)} characters", f"give 1 to {LONGEST}", name


def files_of(prepared: Prepared) -> dict[str, bytes]:
    """The prepared set, the log of removed marks and the list of dropped passages, by file name."""
    passages = [(one.name, one.genre, one.topic, one.split, one.round, one.text) for one in prepared.passages]
    removed = [(one.passage, one.rule, one.times, one.first) for one in prepared.removed]
    dropped = [(one.passage, one.genre, one.step, one.reason) for one in prepared.dropped]
    return {
        "passages.csv": table(HEADER, passages),
        "removed.csv": spreadsheet(("passage", "mark", "times", "first"), removed),
        "dropped.csv": spreadsheet(("passage", "genre", "step", "reason"), dropped),
    }
