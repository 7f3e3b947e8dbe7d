"""Changing entries of a campaign's file without touching the rest of it: comments and order of other lines stay.

Only the lines of the entries that change are rewritten. What comes out is read again and compared with what was
wanted; a file whose layout does not allow that (tables in braces, dotted keys) is written as a whole, without comments.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import date, datetime, time
from typing import Any, Final, TypeAlias

from basanite.formats.toml_file import EntryPath, entry_lines

Document: TypeAlias = dict[str, Any]
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADER: Final = re.compile(r"\s*\[")
_NOTE: Final = re.compile(r"\s*(#.*)?")


def edit_entries(text: str, path: EntryPath, values: Mapping[str, Any]) -> str:
    """The file with other values in one table; None removes an entry. A table that is not there is added.

    >>> edit_entries('title = "A"  # mine\\nzone = "UTC"\\n', (), {"zone": "AoE"})
    'title = "A"  # mine\\nzone = "AoE"\\n'
    """
    wanted = tomllib.loads(text)
    table = _table_at(wanted, path)
    changed = {key: value for key, value in values.items() if table.get(key) != value}
    for key, value in changed.items():
        table.pop(key, None)
        if value is not None:
            table[key] = value
    if not changed:
        return text
    return _if_it_says(wanted, _with_lines(text, path, changed))


def insert_entry(text: str, table: str, values: Mapping[str, Any]) -> str:
    """The file with one more entry at the end of an array of tables.

    >>> insert_entry('title = "A"\\n', "packs", {"id": "DEV"})
    'title = "A"\\n\\n[[packs]]\\nid = "DEV"\\n'
    """
    wanted = tomllib.loads(text)
    wanted.setdefault(table, []).append(dict(values))
    lines = "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in values.items())
    return _if_it_says(wanted, f"{text.rstrip()}\n\n[[{table}]]\n{lines}")


def remove_entry(text: str, table: str, at: int) -> str:
    """The file without one entry of an array of tables, or, below 0, without the whole table.

    >>> remove_entry('[[packs]]\\nid = "A"\\n\\n[[packs]]\\nid = "B"\\n', "packs", 0)
    '[[packs]]\\nid = "B"\\n'
    """
    wanted = tomllib.loads(text)
    if at < 0:
        wanted.pop(table, None)
    else:
        del wanted[table][at]
        if not wanted[table]:
            del wanted[table]
    path: EntryPath = (table,) if at < 0 else (table, at)
    lines, found = text.splitlines(keepends=True), entry_lines(text)
    spans = [_block(lines, found[one]) for one in found if one == path or _is_inside(one, path, found, lines)]
    gone = {number for start, end in spans for number in range(start, end)}
    return _if_it_says(wanted, "".join(line for number, line in enumerate(lines) if number not in gone))


def write_file(document: Mapping[str, Any]) -> str:
    """A whole campaign file: entries first, then tables in the order of the document."""
    plain = {key: value for key, value in document.items() if not _is_table(value) and not _is_tables(value)}
    parts = ["".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in plain.items())]
    for key, value in document.items():
        entries = [value] if _is_table(value) else value if _is_tables(value) else []
        header = f"[{toml_key(key)}]" if _is_table(value) else f"[[{toml_key(key)}]]"
        for entry in entries:
            lines = (f"{toml_key(name)} = {toml_value(inner)}\n" for name, inner in entry.items())
            parts.append(f"{header}\n{''.join(lines)}")
    return "\n".join(part for part in parts if part)


def toml_value(value: Any) -> str:
    """A value as TOML writes it; a text of several lines stays readable.

    >>> toml_value(True), toml_value(["a"]), toml_value({"count": 5, "E2E/primary": 1})
    ('true', '["a"]', '{ count = 5, "E2E/primary" = 1 }')
    """
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        inside = ", ".join(f"{toml_key(key)} = {toml_value(part)}" for key, part in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(value)


def _text(value: str) -> str:
    """Text in quotes; JSON escapes as TOML does, but for the one control character that it leaves alone."""
    if "\n" not in value:
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    inside = json.dumps(value.replace("\r\n", "\n"), ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")
    return '"""\n' + inside.replace("\\n", "\n") + '"""' if "\\\\" not in inside else f'"{inside}"'


def toml_key(name: str) -> str:
    """A key as TOML writes it: in quotes where it has to be."""
    return name if _BARE.fullmatch(name) else _text(name)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _table_at(document: Document, path: EntryPath) -> Document:
    table: Any = document
    for part in path:
        table = table[part] if isinstance(part, int) else table.setdefault(part, {})
    found: Document = table
    return found


def _if_it_says(wanted: Document, text: str) -> str:
    """The edited text, if it reads as what was wanted; else the whole file rewritten."""
    try:
        if tomllib.loads(text) == wanted:
            return text
    except tomllib.TOMLDecodeError:
        pass
    return write_file(deepcopy(wanted))


def _with_lines(text: str, path: EntryPath, changed: Mapping[str, Any]) -> str:
    """The text with the lines of some entries replaced, added below the others of their table, or gone."""
    lines, found = text.splitlines(keepends=True), entry_lines(text)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if path and path not in found:
        body = "".join(
            f"{toml_key(key)} = {toml_value(value)}\n" for key, value in changed.items() if value is not None
        )
        return f"{text.rstrip()}\n\n[{path[0]}]\n{body}"
    after = _end_of_entries(lines, path, found)
    written = {key: f"{toml_key(key)} = {toml_value(value)}" for key, value in changed.items() if value is not None}
    fresh = [f"{line}\n" for key, line in written.items() if (*path, key) not in found]
    for key in sorted((key for key in changed if (*path, key) in found), key=lambda key: -found[*path, key]):
        start = found[*path, key] - 1
        end = _end_of_value(lines, start)
        line = [f"{written[key]}{_note(lines, start, end)}\n"] if key in written else []
        lines[start:end] = line
        after += len(line) - (end - start) if start < after else 0
    lines[after:after] = fresh
    return "".join(lines)


def _end_of_entries(lines: Sequence[str], path: EntryPath, found: Mapping[EntryPath, int]) -> int:
    """The line below the last entry of a table itself, or below its header."""
    own = [number for entry, number in found.items() if entry[:-1] == path and not _HEADER.match(lines[number - 1])]
    if own:
        return _end_of_value(lines, max(own) - 1)
    return found[path] if path else 0


def _end_of_value(lines: Sequence[str], start: int) -> int:
    """The line below an entry: values may go over several lines, and end where TOML can read them."""
    for end in range(start + 1, len(lines) + 1):
        try:
            tomllib.loads("".join(lines[start:end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return start + 1


def _note(lines: Sequence[str], start: int, end: int) -> str:
    """The comment behind a value on one line, if it is not part of the value."""
    line = lines[start].rstrip("\n")
    for found in re.finditer("#", line if end - start == 1 else ""):
        try:
            if tomllib.loads(line[: found.start()]) == tomllib.loads(line):
                return f"  {line[found.start() :]}"
        except tomllib.TOMLDecodeError:
            continue
    return ""


def _block(lines: Sequence[str], number: int) -> tuple[int, int]:
    """The lines of one table from its header to the next, the comments right above that one left to it."""
    start, end = number - 1, number
    while end < len(lines) and not _HEADER.match(lines[end]):
        end = _end_of_value(lines, end) if not _NOTE.fullmatch(lines[end].rstrip("\n")) else end + 1
    while end > number and end < len(lines) and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return start, end


def _is_inside(one: EntryPath, path: EntryPath, found: Mapping[EntryPath, int], lines: Sequence[str]) -> bool:
    return one[: len(path)] == path and bool(_HEADER.match(lines[found[one] - 1]))
