"""What a file or folder is, how many items it holds, and what reads it, by its content alone (T-12).

Everything comes from the one list of kinds (`file_kinds`) and of layouts of tables; a kind that is added there is known
here. Nothing in a file stops an inspection: what cannot be read or counted is a note.
"""

from __future__ import annotations

import csv
import io
import os
import shlex
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import open_source
from basanite.formats.archives.members import Limits, Member
from basanite.formats.bounded import OPENING, check_regular
from basanite.formats.file_kinds import (
    ending_kind,
    folder_kind,
    is_binary,
    magic_name,
    other_ending,
    own_kind,
    text_kind,
)
from basanite.formats.kinds.general import JSON_LINES, PARQUET, PLAIN, TABLE, UTF_16
from basanite.formats.kinds.kind import BEGINNING, Beginning, Kind
from basanite.formats.kinds.speech import KALDI
from basanite.formats.kinds.tables import Layout, layout_of
from basanite.formats.parquet import parquet_faults, read_parquet
from basanite.formats.single_file import OFFICE, ZIP, PackedError, SingleFile, beginning_of, is_tar, read_single
from basanite.formats.strict_json import parse
from basanite.problems import Findings, shortened

LARGEST: Final = 1 << 28
"""Bytes of a file that are read to count its items."""
MEMBERS: Final = 20_000
LOOKED_AT: Final = 100
"""Members of a folder or archive whose content is looked at."""
SHOWN: Final = 12
"""Columns, or kinds of members, that are named."""
FIRST: Final = "_journal/start.json"
"""The first member of every archive of inspect_ai."""
DEPTH: Final = 8
PLAIN_TASKS: Final = ("translation", "speech", "summaries", "classification")
"""Tasks that read lines of plain text."""


@dataclass(frozen=True)
class Inspection:
    """What is known of one file or folder."""

    path: str
    name: str
    """What it is, in a few words: "a TREC run", "a table (labels of items)", "binary data"."""
    size: int | None = None
    packed: str = ""
    """How it is packed: "gzip"."""
    sign: str = ""
    """How its kind is recognized."""
    record: str = ""
    count: int | None = None
    columns: tuple[str, ...] = ()
    members: tuple[tuple[str, int], ...] = ()
    """Kinds of the files in a folder or archive, with how many there are of each."""
    commands: tuple[str, ...] = ()
    fix: str = ""
    """What to do with it, where no command reads it."""
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The same as an object of JSON."""
        return {
            "file": self.path,
            "kind": self.name,
            "bytes": self.size,
            "packed": self.packed,
            "sign": self.sign,
            "items": {"record": self.record, "count": self.count},
            "columns": list(self.columns),
            "members": dict(self.members),
            "commands": list(self.commands),
            "fix": self.fix,
            "notes": list(self.notes),
        }


def inspect_path(path: Path) -> Inspection:
    """What a file or folder is; refused only where there is none, or where it is a pipe or a device."""
    if path.is_dir():
        return _inspect_members(path, _folder_members(path), "a folder")
    check_regular(path)
    size = path.stat().st_size
    if not size:
        return Inspection(str(path), "an empty file", 0, notes=("it holds nothing",))
    if names := _zip_names(path):
        return replace(_inspect_zip(path, names), size=size)
    if is_tar(path):
        members = _archive_members(path)
        if len(members.files) != 1 or members.notes:
            return replace(_inspect_members(path, members, "a tar archive", "gzip"), size=size)
    try:
        return _inspect_single(path, read_single(path, LARGEST))
    except UnreadableError:
        start = beginning_of(path)
        found = _inspect_data(str(path), start.text.encode("utf-8", "replace"), start)
        note = f"not counted: it is larger than {LARGEST >> 20} MiB"
        return replace(found, size=size, count=None, notes=(*found.notes, note))
    except PackedError as error:
        kind = magic_name(_first_bytes(path)) or "packed data"
        return Inspection(str(path), kind, size, fix=error.fix, notes=(str(error),))


def _inspect_single(path: Path, file: SingleFile) -> Inspection:
    found = _inspect_data(str(path), file.data, file.beginning)
    packed = ""
    if file.raw is not file.data and file.raw != file.data:
        packed = "zip" if file.raw.startswith(ZIP) else "gzip"
    return replace(found, size=len(file.raw), packed=packed)


def _inspect_data(path: str, data: bytes, start: Beginning) -> Inspection:
    """What the unpacked content of a file is."""
    if PARQUET.test(Beginning("", data=data[:8])):
        return _inspect_parquet(path, data)
    magic = magic_name(data)
    if magic or ("\0" in start.text and is_binary(start)):
        fix = "save it as UTF-8" if magic == UTF_16 else ""
        return _with_commands(
            Inspection(path, magic or "binary data that nothing here reads", len(data), fix=fix), None
        )
    text, notes = _text(data)
    kind = own_kind(start) or text_kind(start)
    if kind is None or (kind is KALDI and not _has_words(start)):
        return _inspect_table(path, text, start, notes)
    if kind is JSON_LINES:
        return _inspect_json_lines(path, data, notes)
    return _of_kind(path, kind, _count(kind, text), [*_named_otherwise(kind, start), *notes])


def _has_words(start: Beginning) -> bool:
    """Whether words follow the ids: they do not in a list of names, and a table has a header."""
    return any(len(row) > 1 for row in start.rows) and not ("\t" in start.text and _header(start))


def _of_kind(path: str, kind: Kind, count: int | None, notes: Sequence[str] = ()) -> Inspection:
    found = Inspection(
        path, kind.name, sign=kind.sign, record=kind.record, count=count, columns=kind.fields, notes=tuple(notes)
    )
    return _with_commands(replace(found, fix="" if kind.commands else kind.fix), kind)


def _with_commands(found: Inspection, kind: Kind | Layout | None) -> Inspection:
    commands = kind.commands if kind is not None else ()
    return replace(
        found, commands=tuple(f"basanite {one.replace('{path}', shlex.quote(found.path))}" for one in commands)
    )


def _count(kind: Kind, text: str) -> int | None:
    """How many records a text has: by the kind's own count, or its lines without comments."""
    if kind.count is not None:
        return kind.count(text)
    comments = (";;", kind.comment) if kind.comment else (";;",)
    return sum(1 for line in text.split("\n") if line.strip() and not line.lstrip().startswith(comments))


def _text(data: bytes) -> tuple[str, list[str]]:
    """The text of some bytes, and what is to be known of its encoding."""
    notes = []
    if data.startswith(b"\xef\xbb\xbf"):
        notes.append("it begins with a byte order mark")
    if b"\r\n" in data[:BEGINNING]:
        notes.append("its lines end with CR LF")
    try:
        return data.decode("utf-8-sig"), notes
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8-sig", "replace"), [
            *notes,
            f"it is not UTF-8: byte 0x{data[error.start]:02x} in line {line}",
        ]


def _named_otherwise(kind: Kind, start: Beginning) -> Iterator[str]:
    promised = ending_kind(start.ending)
    if promised is not None and promised is not PLAIN and other_ending(kind, start.ending):
        yield f"its name ends in {start.ending}, as that of {promised.name} does; the content decides"


def _inspect_table(path: str, text: str, start: Beginning, notes: list[str]) -> Inspection:
    """A table by its header, or plain text."""
    header = _header(start)
    if not header:
        lines = sum(1 for line in text.split("\n") if line.strip())
        commands = tuple(f"score {task} REFERENCE {{path}}" for task in PLAIN_TASKS)
        found = Inspection(path, PLAIN.name, sign=PLAIN.sign, record="line", count=lines, notes=tuple(notes))
        return _with_commands(found, Layout("", (), commands))
    rows = _rows(text, "\t" if "\t" in start.text.partition("\n")[0] else ",")
    return _of_columns(path, TABLE, header, None if rows is None else max(rows - 1, 0), notes)


def _header(start: Beginning) -> list[str]:
    """The names in the first line of a table; none where the text is no table with a header."""
    first, _, rest = start.text.partition("\n")
    sign = "\t" if "\t" in first else ","
    names = [cell.strip().strip('"') for cell in first.rstrip("\r").split(sign)]
    alike = all(line.count(sign) >= len(names) - 1 for line in start.lines[1:2])
    words = all(names) and len(set(names)) == len(names) and not any(_is_number(name) for name in names)
    short = all(len(name) <= 60 and len(name.split()) <= 4 and "  " not in name for name in names)
    return names if len(names) > 1 and words and alike and short and rest.strip() else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rows(text: str, sign: str) -> int | None:
    if sign == "\t":
        return sum(1 for line in text.split("\n") if line.strip())
    try:
        return sum(1 for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row)
    except csv.Error:
        return None


def _of_columns(path: str, kind: Kind, columns: Sequence[str], count: int | None, notes: Sequence[str]) -> Inspection:
    layout = layout_of(columns)
    what = f"{kind.name} ({layout.name})" if layout else kind.name
    sign = f"columns {', '.join(layout.columns)}" if layout else kind.sign
    record = layout.record if layout else kind.record
    found = Inspection(
        path, what, sign=sign, record=record, count=count, columns=tuple(map(shortened, columns)), notes=tuple(notes)
    )
    fix = layout.fix if layout else "name its columns as a task has them (`basanite tasks`)"
    return _with_commands(replace(found, fix=fix), layout)


def _inspect_json_lines(path: str, data: bytes, notes: list[str]) -> Inspection:
    """JSON lines by the names that the first records have."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    first = [parse(line, limit=BEGINNING * 16, rule="").value for line in lines[:LOOKED_AT]]
    whole = [record for record in first if isinstance(record, dict)]
    if len(whole) < len(first):
        notes = [*notes, f"{len(first) - len(whole)} of its first {len(first)} lines are not JSON objects"]
    names = list(dict.fromkeys(name for record in whole for name in record))
    return _of_columns(path, JSON_LINES, names, len(lines), notes)


def _inspect_parquet(path: str, data: bytes) -> Inspection:
    try:
        frame = read_parquet(data)
    except parquet_faults() as error:
        words = str(error).partition("\n")[0]
        return Inspection(
            path, PARQUET.name, len(data), sign=PARQUET.sign, notes=(f"it cannot be read: {shortened(words)}",)
        )
    return _of_columns(path, PARQUET, frame.columns, len(frame), ())


@dataclass
class _Members:
    """The files of a folder or archive: all names, and the first of them with their content."""

    names: list[str] = field(default_factory=list)
    files: list[Member] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def _folder_members(path: Path) -> _Members:
    """The names below a folder, in order, and the beginnings of the first."""
    found = _Members()
    for folder, folders, files in os.walk(path):
        folders.sort()
        below = Path(folder).relative_to(path)
        if len(below.parts) >= DEPTH:
            folders.clear()
        for name in sorted(files):
            found.names.append((below / name).as_posix())
        if len(found.names) > MEMBERS:
            found.notes.append(f"only its first {MEMBERS} files are counted")
            del found.names[MEMBERS:]
            break
    for name in found.names[:LOOKED_AT]:
        if (path / name).is_file():
            found.files.append(Member(name, _first_bytes(path / name)))
    return found


def _archive_members(path: Path) -> _Members:
    """The names in a tar archive, and the beginnings of the first files."""
    found = _Members()
    findings = Findings(1)
    limits = Limits(members=MEMBERS, member_bytes=LARGEST, total_bytes=4 * LARGEST)
    try:
        for member in islice(open_source(path, limits=limits, depth=DEPTH).members(findings, hashed=False), MEMBERS):
            found.names.append(member.name)
            if len(found.files) < LOOKED_AT:
                found.files.append(Member(member.name, member.data[: BEGINNING + 1]))
    except UnreadableError as error:
        found.notes.append(str(error))
    found.notes += [f"{one.file}: {one.message}" for one in findings]
    return found


def _zip_names(path: Path) -> list[str]:
    """The names in a zip archive of several files or of NumPy's; none where it is something else."""
    if not _first_bytes(path).startswith(ZIP):
        return []
    try:
        with zipfile.ZipFile(path) as archive:
            names = [one.filename for one in archive.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        # The list of names stands at the end: of a log that was cut off the first one still tells what it was.
        return [FIRST] if _first_bytes(path)[30:].startswith(FIRST.encode()) else []
    if OFFICE in names:
        return []  # what reads a single file says so
    return names if len(names) != 1 or names[0].endswith(".npy") else []


def _inspect_zip(path: Path, names: list[str]) -> Inspection:
    kind = folder_kind(Beginning("", members=tuple(names)))
    if kind is not None:
        arrays = (shortened(name.removesuffix(".npy")) for name in names[:SHOWN])
        return replace(_of_kind(str(path), kind, len(names)), columns=tuple(arrays))
    note = "give the one file that is meant, or pack the files as .tgz"
    endings = Counter(Path(name).suffix.lower() or "no ending" for name in names)
    return Inspection(
        str(path), "a zip archive", packed="zip", record="file", count=len(names),
        members=tuple(endings.most_common(SHOWN)), fix=note,
    )  # fmt: skip


def _inspect_members(path: Path, members: _Members, what: str, packed: str = "") -> Inspection:
    first = members.files[0] if members.files else Member("", b"")
    start = replace(_start(first), members=tuple(members.names))
    kind = folder_kind(start) if members.names else None
    counts = Counter(_member_kind(member) for member in members.files)
    notes = [*members.notes]
    if len(members.names) > len(members.files):
        notes.append(f"the kinds are those of its first {len(members.files)} files")
    if not members.names:
        notes.append("it holds no file")
    if kind is not None:
        return replace(_of_kind(str(path), kind, len(members.names), notes), packed=packed)
    fix = "inspect one of its files" if members.names else ""
    return Inspection(
        str(path),
        what,
        packed=packed,
        record="file",
        count=len(members.names),
        members=tuple(counts.most_common(SHOWN)),
        fix=fix,
        notes=tuple(notes),
    )


def _member_kind(member: Member) -> str:
    start = _start(member)
    magic = magic_name(member.data)
    if magic or ("\0" in start.text and is_binary(start)):
        return magic or "binary data"
    kind = own_kind(start) or text_kind(start)
    if kind is None or (kind is KALDI and not _has_words(start)):
        return TABLE.name if _header(start) else PLAIN.name
    return kind.name


def _start(member: Member) -> Beginning:
    text = member.data[:BEGINNING].decode("utf-8-sig", "replace")
    return Beginning(text, Path(member.name).suffix.lower(), len(member.data) <= BEGINNING)


def _first_bytes(path: Path) -> bytes:
    try:
        with open(os.open(path, OPENING), "rb") as file:
            return file.read(BEGINNING + 1)
    except OSError:
        return b""
