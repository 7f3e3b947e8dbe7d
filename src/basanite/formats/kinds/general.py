"""Kinds that many fields share: results of Basanite, JSON, tables, plain text, and binary files of other programs."""

from __future__ import annotations

import json
import re
from typing import Final

from basanite.formats.kinds.kind import Beginning, Count, Kind, begins_with, matches, never

JSON_LIST: Final = re.compile(r"\[\s*[\[{\"]")


def begins_with_json(start: Beginning, signs: str, *names: str) -> bool:
    """Whether a text begins with one of these signs and has all of these names of properties in its beginning."""
    return start.text.lstrip()[:1] in tuple(signs) and all(f'"{name}"' in start.text for name in names)


def _is_json_lines(start: Beginning) -> bool:
    """One object per line: the first can be read, or is cut off here, or is broken and another one follows it."""
    first, _, rest = start.text.lstrip().partition("\n")
    if not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        cut_off = not rest and not start.whole
        return cut_off or rest.lstrip().startswith("{") or start.ending in (".jsonl", ".ndjson")


def _is_json(start: Beginning) -> bool:
    text = start.text.lstrip()
    return bool(JSON_LIST.match(text)) or (text.startswith("{") and text[1:].lstrip()[:1] in ('"', "}"))


def json_length(*names: str) -> Count:
    """A count of what a JSON list holds, or the list or object of the first of these names that an object has."""

    def count(text: str) -> int | None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        parts = [value[name] for name in names if name in value] if isinstance(value, dict) else [value]
        part = parts[0] if parts else value
        return len(part) if isinstance(part, list | dict) else None

    return count


RESULT: Final = Kind(
    "a result of Basanite",
    lambda start: start.text.startswith("{") and ('"basanite-result/' in start.text or '"breakdowns"' in start.text),
    (".json",),
    "give the submission itself",
    commands=("compare --result {path} --result OTHER",),
    sign="a JSON object with `breakdowns`, or the format `basanite-result/1`",
    record="value",
    count=json_length("values"),
)
JSON_LINES: Final = Kind(
    "JSON lines",
    _is_json_lines,
    (".jsonl", ".ndjson"),
    sign="the first line is a JSON object",
    record="record",
)
JSON: Final = Kind(
    "one JSON value",
    _is_json,
    (".json",),
    'write one object per line, like {"id": "1", …}',
    "`jq -c .[]` makes lines of a list",
    sign="the text begins as a JSON list or object does",
    record="value",
    count=json_length(),
)
XML: Final = Kind(
    "XML",
    lambda start: bool(re.match(r"<(?:\?xml|!doctype|html|[a-z]+>)", start.text.lstrip(), re.IGNORECASE)),
    (".xml",),
    "write the texts as JSON lines, or one per line",
    sign="the text begins with `<?xml`, `<!DOCTYPE` or a tag",
    record="element",
    count=matches(r"<[A-Za-z]"),
)
PARQUET: Final = Kind(
    "Parquet", begins_with(b"PAR1"), (".parquet", ".pq"), sign="the first bytes are `PAR1`", record="row"
)
TABLE: Final = Kind(
    "a table",
    never,
    (".csv", ".tsv", ".tab"),
    sign="a header line names the columns that the task wants; commas or tabs separate them",
    record="row",
)
PLAIN: Final = Kind("plain text", never, (".txt",), sign="text that is none of the other kinds")

UTF_16: Final = "text in UTF-16"
BINARY: Final = tuple(
    Kind(name, begins_with(*magic), endings, sign=f"the first bytes are {' or '.join(map(repr, magic))}")
    for name, magic, endings in (
        ("a zip archive", (b"PK\x03\x04",), (".zip",)),
        ("gzip", (b"\x1f\x8b",), (".gz", ".tgz")),
        ("bzip2", (b"BZh",), (".bz2",)),
        ("xz", (b"\xfd7zXZ",), (".xz",)),
        ("Zstandard", (b"(\xb5/\xfd",), (".zst",)),
        ("a 7z archive", (b"7z\xbc\xaf",), (".7z",)),
        ("a NumPy array", (b"\x93NUMPY",), (".npy",)),
        ("HDF5", (b"\x89HDF",), (".h5", ".hdf5")),
        ("PDF", (b"%PDF",), (".pdf",)),
        ("an old Office document", (b"\xd0\xcf\x11\xe0",), (".doc", ".xls", ".ppt")),
        (UTF_16, (b"\xff\xfe", b"\xfe\xff"), ()),
    )
)
