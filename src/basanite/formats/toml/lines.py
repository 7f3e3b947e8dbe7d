"""Where the entries of a TOML file stand: the reader of TOML tells values but no lines, so they are looked up here.

A look at headers and keys is enough for the files people write; what stands inside a table in braces is found at the
line where that table begins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
_KEY: Final = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_HEADER: Final = re.compile(rf"\s*(\[\[?)\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_ENTRY: Final = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=(.*)")
_PART: Final = re.compile(_KEY)
_LONG_TEXT: Final = re.compile(r'"""|\'\'\'')


def entry_lines(text: str) -> dict[Path, int]:
    """The line of every table and key by its path; tables of an array are numbered from 0.

    >>> entry_lines('a = 1\\n[[teams]]\\nletter = "x"\\n')
    {('a',): 1, ('teams', 0): 2, ('teams', 0, 'letter'): 3}
    """
    found: dict[Path, int] = {}
    arrays = Counter[Path]()
    table: Path = ()
    for number, line in _outside_texts(text):
        header, entry = _HEADER.match(line), _ENTRY.match(line)
        if header:
            table = _opened(_parts(header[2]), header[1] == "[[", arrays)
            found.setdefault(table, number)
        elif entry:
            found.setdefault((*table, *_parts(entry[1])), number)
    return found


def line_of(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of an entry, or else of the nearest table around it."""
    return next((lines[path[:size]] for size in range(len(path), 0, -1) if path[:size] in lines), None)


def _opened(parts: Path, is_array: bool, arrays: Counter[Path]) -> Path:
    """The path that a header opens, with the number of each array's table on the way."""
    path: Path = ()
    for at, part in enumerate(parts):
        path = (*path, part)
        if is_array and at == len(parts) - 1:
            arrays[path] += 1
        if arrays[path]:
            path = (*path, arrays[path] - 1)
    return path


def _parts(dotted: str) -> Path:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _outside_texts(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not inside a text of several lines."""
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            yield number, line
        inside ^= len(_LONG_TEXT.findall(line)) % 2 == 1
