"""Tables in the formats people already have (JSON lines, CSV, TSV, Parquet, plain text), as columns with line numbers.

The content decides which of them a file is; its ending only where the content says nothing. Nothing else is judged
here: a record that cannot be read is a problem with its place, and the others are kept. What columns must hold is for
`items` and the tasks to say.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from basanite.formats.archives.members import Digest, member_digest
from basanite.formats.file_kinds import ending_kind, has_header, is_binary, magic_name, other_ending, text_kind
from basanite.formats.kinds.general import JSON, JSON_LINES, PARQUET, PLAIN, TABLE, UTF_16
from basanite.formats.kinds.kind import Kind
from basanite.formats.kinds.scores import TRANSCRIPTS
from basanite.formats.kinds.texts import COCO
from basanite.formats.model_answers import (
    EDITED,
    EDITED_FIX,
    Calls,
    answer_columns,
    answer_faults,
    is_edited,
    read_calls,
    score_columns,
)
from basanite.formats.parquet import PYTHON_CELL, ExpansionError, parquet_faults, read_parquet
from basanite.formats.single_file import PackedError, SingleFile, read_single
from basanite.formats.strict_json import parse
from basanite.problems import Findings, Problem, Where, shortened

LARGEST = 2 << 30
LINE_BYTES = 16 << 20
COLUMNS = 5_000
INDEX = "index"
"""What a first column without a name is called."""
ROWS = 10_000_000
READ_AS_RULE = "D-4"
TABLES_READ = "give JSON lines, CSV, TSV or Parquet"


class _Absent:
    """Stands in a column for what an object does not say."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@dataclass(frozen=True)
class Records:
    """The rows of one file by column, and the line that each row began on (for Parquet: its number)."""

    file: str
    lines: Sequence[int]
    columns: Mapping[str, Sequence[Any]]
    digest: str
    lost: int = 0
    """How many rows could not be read; each has been told."""
    numbered: bool = False
    """Whether these are lines of plain text, whose ids are their numbers."""

    def __len__(self) -> int:
        return len(self.lines)

    def fields(self, row: int) -> dict[str, Any]:
        """What one record says; an empty cell of a table is None, what an object does not say is not there."""
        cells = ((name, column[row]) for name, column in self.columns.items())
        return {name: cell for name, cell in cells if cell is not ABSENT}


@dataclass(frozen=True)
class Place:
    """Where a file stands in a run: which input it is, and by which rule its faults go."""

    where: Where
    rule: str

    def problem(self, file: str, line: int | None, message: str, fix: str, found: Any = "", **more: Any) -> Problem:
        """A problem of this file."""
        text = found if isinstance(found, bytes | str) else repr(found)
        return Problem(self.rule, file, line, None, message, fix, shortened(text), where=self.where, **more)


def read_records(
    path: Path,
    place: Place,
    findings: Findings,
    *,
    id_name: str = "id",
    headers: Collection[str] = (),
    plain: bool = False,
) -> Records | None:
    """The records of a file: JSON lines, a table or Parquet, told by the content; None if it is something else.

    `headers` are further names of columns that a header is told by. With `plain`, a text that is neither gives its
    lines: a column `text`, and `id` with the number of the line.
    """
    file = open_single(path, place, findings)
    if file is None:
        return None
    kind = _kind(file, (id_name, *headers), plain=plain)
    empty = (kind is TABLE or (kind is PLAIN and headers)) and not file.data.strip()
    if kind is None or kind not in READERS or empty or (kind is PLAIN and not plain):
        findings.add(_refusal(file, kind, place, plain=plain and not headers))
        return None
    if other_ending(kind, file.ending):
        message = f"read as {kind.name} although named {file.ending}"  # (D-4)
        fix = f"nothing if that is right; else name it {' or '.join(kind.endings)}"
        findings.add(replace(place, rule=READ_AS_RULE).problem(file.name, None, message, fix, severity="warn"))
    before = findings.total
    found = READERS[kind](file.name, file.data, place, findings)
    if found is None:
        return None
    digest = digest_of([(file.name, file.raw)])
    return Records(file.name, *found, digest, findings.total - before, numbered=kind is PLAIN)


def open_single(path: Path, place: Place, findings: Findings) -> SingleFile | None:
    """A file with its content, unpacked; None with a problem for an archive of something else."""
    try:
        return read_single(path, LARGEST)
    except PackedError as error:
        findings.add(place.problem(path.name, None, str(error), error.fix))
        return None


def read_lines(path: Path, place: Place, findings: Findings) -> Records:
    """The lines of a text, whatever they look like: a column `text`, and `id` with the number of the line."""
    file = open_single(path, place, findings)
    if file is None:
        return Records(path.name, (), {"id": (), "text": ()}, "")
    before = findings.total
    found = _read_plain_text(file.name, file.data, place, findings)
    return Records(file.name, *found, digest_of([(file.name, file.raw)]), findings.total - before, numbered=True)


def _kind(file: SingleFile, headers: Sequence[str], *, plain: bool) -> Kind | None:
    """What a file is; None for bytes that are no text."""
    if file.data.startswith(b"PAR1"):
        return PARQUET
    start = file.beginning
    if "\0" in start.text and (magic_name(file.data) or is_binary(start)):
        return None
    promised = ending_kind(file.ending)
    if has_header(start, *headers) and promised is TABLE:
        return TABLE
    found = text_kind(start) or (TABLE if has_header(start, *headers) else promised)
    if found in (JSON, COCO) and promised is JSON_LINES:
        return JSON_LINES
    if found in (None, PLAIN) and not plain:
        return TABLE if any(sign in (*start.lines, "")[0] for sign in ",\t") else PLAIN
    return found or PLAIN


def _refusal(file: SingleFile, kind: Kind | None, place: Place, *, plain: bool) -> Problem:
    """What a file looks like, and what reads it."""
    hint = "" if kind is None else kind.hint
    if kind is None:
        found = magic_name(file.data)
        reads = "give a text in UTF-8" if plain else TABLES_READ
        message, fix = f"this is {found or 'binary data, no text'}", "save it as UTF-8" if found == UTF_16 else reads
    elif not file.data.strip():
        message, fix = "the file is empty", "write a header line, and one line for each item"
    elif kind is PLAIN:
        message, fix = "this looks like plain text, not like a table with a header line", TABLES_READ
    else:
        message, fix = f"this looks like {kind.name}", kind.fix
    return place.problem(file.name, None, message, fix, file.data[:80].partition(b"\n")[0], hint=hint)


def digest_of(files: Sequence[tuple[str, bytes]]) -> str:
    """The digest of one or more files, as of an archive that holds them."""
    digest = Digest()
    for name, data in files:
        digest.add(name, len(data), member_digest(data))
    return digest.value()


def joined_digest(digests: Sequence[str]) -> str:
    """One digest for several inputs; that of a single one is itself."""
    if len(digests) == 1:
        return digests[0]
    return digest_of([(str(number), digest.encode()) for number, digest in enumerate(digests)])


def _texts(file: str, data: bytes, place: Place, findings: Findings) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; a byte order mark and carriage returns at the end are no part of them."""
    for number, raw in enumerate(_split(data), start=1):
        if b"\0" in raw or len(raw) > LINE_BYTES:
            fault = "a NUL byte" if b"\0" in raw else f"{len(raw)} bytes in one line"
            findings.add(place.problem(file, number, f"{fault}: this is not a line of text", "give UTF-8 text", raw))
            continue
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"byte {error.start + 1} of the line is not UTF-8"
            findings.add(place.problem(file, number, message, "save the file as UTF-8", raw[error.start :]))


def _split(data: bytes) -> list[bytes]:
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if lines and lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines]


Found = tuple[Sequence[int], Mapping[str, Sequence[Any]]]


def _read_plain_text(file: str, data: bytes, place: Place, findings: Findings) -> Found:
    texts = list(_texts(file, data, place, findings))
    numbers = [number for number, _ in texts]
    return numbers, {"id": [str(number) for number in numbers], "text": [text for _, text in texts]}


def _read_json_lines(file: str, data: bytes, place: Place, findings: Findings) -> Found | None:
    """One object a line; blank lines are passed over."""
    return _columns(file, _objects(file, data, place, findings), place, findings)


def _objects(file: str, data: bytes, place: Place, findings: Findings) -> list[tuple[int, dict[str, Any]]]:
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, raw in enumerate(_split(data), start=1):
        if raw.strip():
            parsed = parse(raw, limit=LINE_BYTES, rule=place.rule)
            if parsed.fault:
                told = replace(place, rule=parsed.rule)
                cure = "write one JSON object per line"
                findings.add(told.problem(file, number, parsed.fault, cure, raw, column=parsed.column))
            elif not isinstance(parsed.value, dict):
                findings.add(
                    place.problem(file, number, "no object", 'write one object per line, like {"id": "1"}', raw)
                )
            else:
                rows.append((number, parsed.value))
    return rows


def _read_answers(file: str, data: bytes, place: Place, findings: Findings) -> Found | None:
    """The answers of transcripts, one for each item."""
    calls = read_transcripts(file, data, place, findings)
    if calls is None:
        return None
    for line, *words in answer_faults(calls):
        findings.add(place.problem(file, line, *words))
    return answer_columns(calls)


def read_transcripts(file: str, data: bytes, place: Place, findings: Findings) -> Calls | None:
    """The calls of transcripts; None with problems where lines were edited, or are none of theirs."""
    edited = [number for number, raw in enumerate(_split(data), start=1) if is_edited(raw)]
    for number in edited:
        findings.add(place.problem(file, number, EDITED, EDITED_FIX))
    before = findings.total
    rows = _objects(file, data, place, findings)
    if edited or findings.total > before:
        return None
    try:
        return read_calls(rows)
    except ValueError as error:
        findings.add(place.problem(file, None, str(error), EDITED_FIX))
        return None


def transcript_records(path: Path, place: Place, findings: Findings) -> Records | None:
    """Every call of transcripts as a row of a table of scores."""
    file = open_single(path, place, findings)
    calls = None if file is None else read_transcripts(file.name, file.data, place, findings)
    if file is None or calls is None:
        return None
    return Records(file.name, *score_columns(calls), digest_of([(file.name, file.raw)]))


def _columns(file: str, rows: Sequence[tuple[int, dict[str, Any]]], place: Place, findings: Findings) -> Found | None:
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    if len(names) > COLUMNS:
        message = f"{len(names)} different names of properties"
        findings.add(place.problem(file, None, message, f"use at most {COLUMNS}, the same in every line"))
        return None
    columns = {name: [ABSENT if row.get(name) is None else row[name] for _, row in rows] for name in names}
    return [number for number, _ in rows], columns


def _read_table(file: str, data: bytes, place: Place, findings: Findings) -> Found | None:
    """A header line and one record a row; an empty cell is None."""
    header, *rows = _cells(file, list(_texts(file, data, place, findings)), place, findings) or [(1, [])]
    names = [name.strip() for name in header[1]]
    if len(names) > 1 and not names[0] and INDEX not in names:
        names[0] = INDEX  # pandas and R write row names under no name
    if not names or "" in names or len(set(names)) < len(names) or len(names) > COLUMNS:
        message = f"column names are missing, empty, repeated, or more than {COLUMNS}"
        findings.add(place.problem(file, 1, message, "write a header line, a name for each column", ", ".join(names)))
        return None
    whole = [row for row in rows if _fits(file, row, len(names), place, findings)]
    columns = {name: [cells[at] or None for _, cells in whole] for at, name in enumerate(names)}
    return [line for line, _ in whole], columns


def _cells(
    file: str, texts: Sequence[tuple[int, str]], place: Place, findings: Findings
) -> list[tuple[int, list[str]]]:
    """Rows with the lines they begin on, as far as they can be read; tabs need no quotes."""
    tabs = "\t" in (texts[0][1] if texts else "")
    numbers = _numbers(texts)
    lines = io.StringIO("\n".join(text for _, text in texts), newline="")
    reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(lines, strict=True)
    rows: list[tuple[int, list[str]]] = []
    read = 0
    try:
        for cells in reader:
            rows.append((numbers[read], cells))
            read = min(reader.line_num, len(numbers) - 1)
    except csv.Error as error:
        findings.add(place.problem(file, numbers[read], *table_fault(error)))
    return rows


def table_fault(error: csv.Error) -> tuple[str, str]:
    """What is wrong with a table that Python's reader gave up, in words of ours, and the cure."""
    if "larger" in str(error):
        return f"a cell has more than {csv.field_size_limit():,} characters", "shorten it, or close the quote before it"
    return "a quote is never closed, or there is text beside one", "quote whole cells, and double a quote inside them"


def _numbers(texts: Sequence[tuple[int, str]]) -> list[int]:
    """The number of every line that the table's reader will see: it ends lines at carriage returns too, and does not
    see those that could not be read."""
    numbers: list[int] = []
    more = 0
    for number, text in texts:
        inside = text.count("\r")
        numbers += range(number + more, number + more + inside + 1)
        more += inside
    return numbers


def _fits(file: str, row: tuple[int, list[str]], width: int, place: Place, findings: Findings) -> bool:
    line, cells = row
    if len(cells) not in (0, width):
        message = f"{len(cells)} cells under {width} column names"
        findings.add(place.problem(file, line, message, f"write {width} cells", ", ".join(cells)))
    return len(cells) == width


def _read_parquet(file: str, data: bytes, place: Place, findings: Findings) -> Found | None:
    try:
        frame = read_parquet(data, cell=PYTHON_CELL, n_rows=ROWS + 1)
    except ExpansionError as error:
        findings.add(place.problem(file, None, str(error), "give the items of this task alone"))
        return None
    except parquet_faults():
        findings.add(place.problem(file, None, "this is not a whole Parquet file", "write it again, or give CSV"))
        return None
    if len(frame) > ROWS or frame.width > COLUMNS:
        message = f"more than {ROWS} rows or {COLUMNS} columns"  # a few kilobytes may unpack to billions of cells
        findings.add(place.problem(file, None, message, "give the items of this task alone"))
        return None
    return range(1, len(frame) + 1), {name: frame[name].to_list() for name in frame.columns}


READERS: Mapping[Kind, Callable[[str, bytes, Place, Findings], Found | None]] = {
    JSON_LINES: _read_json_lines,
    TRANSCRIPTS: _read_answers,
    TABLE: _read_table,
    PARQUET: _read_parquet,
    PLAIN: _read_plain_text,
}
