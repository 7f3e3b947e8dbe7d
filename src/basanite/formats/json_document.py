"""One JSON value as a file: how data sets of pictures and questions are shipped. Its entries keep their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.strict_json import parse
from basanite.problems import Findings, Problem

LARGEST: Final = 1 << 30


@dataclass(frozen=True)
class JsonDocument:
    """A JSON file that could be read: its value, and the lines of its entries where they are known."""

    file: str
    value: Any
    data: bytes
    digest: str
    place: Place

    def lines(self, name: str, entries: int) -> Sequence[int | None]:
        """The line of each entry: that of its property of this name, if each entry has exactly one."""
        pattern = re.compile(rb'(?<!\\)"' + re.escape(name.encode()) + rb'"\s*:')
        found = [match.start() for match in pattern.finditer(self.data)]
        return list(_line_numbers(self.data, found)) if len(found) == entries else [None] * entries

    def problem(self, line: int | None, message: str, fix: str, found: Any = "", **more: Any) -> Problem:
        """A problem of this file."""
        return self.place.problem(self.file, line, message, fix, found, **more)


def read_json(path: Path, place: Place, findings: Findings, *, like: str) -> JsonDocument | None:
    """A file with one JSON value; None with a problem where it is none. `like` says who writes such files."""
    file = open_single(path, place, findings)
    if file is None:
        return None
    parsed = parse(file.data.removeprefix(b"\xef\xbb\xbf"), limit=LARGEST, rule=place.rule)
    if not parsed.fault:
        return JsonDocument(path.name, parsed.value, file.data, digest_of([(path.name, file.raw)]), place)
    fix = f"write one JSON value in UTF-8, as {like} does"
    findings.add(
        Problem(parsed.rule, path.name, parsed.line, None, parsed.fault, fix, column=parsed.column, where=place.where)
    )
    return None


def id_text(found: Any, longest: int) -> str | None:
    """The name of a thing: a text, or the digits of a whole number; None if it is neither.

    >>> id_text(42, 9), id_text("a.jpg", 9), id_text(True, 9), id_text("", 9)
    ('42', 'a.jpg', None, None)
    """
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 10**18:
        return str(found)
    return found if isinstance(found, str) and 0 < len(found) <= longest else None


def _line_numbers(data: bytes, places: Sequence[int]) -> Iterator[int]:
    """The lines of rising places, counted from 1."""
    line, before = 1, 0
    for place in places:
        line += data.count(b"\n", before, place)
        before = place
        yield line
