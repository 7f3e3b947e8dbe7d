"""Lines of TREC files as programs really write them: comments, fields behind the tag, MS MARCO and BEIR columns (T-13).

Whatever the layout, a reader gets the fields of trec_eval's own: six of a run, four of qrels. A file that is neither,
or whose third column could be ranks as well as scores, is refused once with its name (D-4, D-7).
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from basanite.errors import UnreadableError
from basanite.formats.archives.archive import GZIP
from basanite.formats.bounded import check_regular
from basanite.formats.file_kinds import magic_name
from basanite.formats.kinds.general import JSON, JSON_LINES, UTF_16
from basanite.formats.kinds.kind import BEGINNING, Beginning, Kind
from basanite.formats.kinds.ranking import PREFS, PRELS, QRELS, RUN, TREC_EVAL
from basanite.formats.kinds.structure import LABEL_STUDIO
from basanite.formats.kinds.texts import COCO, WMT
from basanite.problems import Findings, Problem, Where, shortened

RULE = "M84"
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
GRADE = re.compile(r"[+-]?[0-9]{1,9}")
RUN_SHAPE = "query Q0 document rank score tag"
QRELS_SHAPE = "query 0 document relevance"
COMMENT: Final = "#"
"""What a comment begins with, in runs and qrels of trec_eval 10."""
LONGEST = 2**16
MOST_UNPACKED, FREE_UNPACKED, MOST_RATIO = 2**32, 2**26, 200
"""How much a compressed file may unpack to: in all, and beyond so many bytes in proportion to its size."""
UNMISTAKABLE = (LABEL_STUDIO, COCO, JSON_LINES, JSON, WMT, RUN, QRELS, PRELS, PREFS, TREC_EVAL)
"""Kinds of text that are told by more than their number of fields."""
FEW = 10
"""Where fewer than one line in so many has the right number of fields, the file is of another kind."""
UNSAFE = re.compile(r"[/\\:\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^\.")
"""What must not stand in a query's name, for it becomes the name of a file."""


@dataclass(frozen=True)
class Layout:
    """How the lines of one file become trec_eval's fields."""

    width: int
    more: bool = False
    """Whether fields may follow, as trec_eval allows behind the tag of a run."""
    header: bool = False
    third: str = ""
    """For three columns, what the last one holds: `rank`, `score` or `grade`."""

    def fits(self, width: int) -> bool:
        """Whether a line of so many fields is one of this layout."""
        return width >= self.width if self.more else width == self.width

    def standard(self, cells: Sequence[str]) -> list[str]:
        """The fields as trec_eval has them; a better rank is a higher score."""
        if not self.third:
            return list(cells[: self.width])
        query, document, last = cells
        if self.third == "grade":
            return [query, "0", document, last]
        return [query, "Q0", document, *((last, f"-{last}") if self.third == "rank" else ("-", last)), "run"]


TREC_RUN, TREC_QRELS = Layout(6, more=True), Layout(4)
LAST_COLUMNS: Final = {
    RUN_SHAPE: {"rank": "rank", "score": "score", "sim": "score", "similarity": "score"},
    QRELS_SHAPE: {"score": "grade", "relevance": "grade", "rel": "grade", "label": "grade", "grade": "grade"},
}
"""By shape, what the last of three columns is called in a header, and what it holds."""


class AmbiguousError(ValueError):
    """The last of three columns could be several things, and no header says which."""


def three_columns(rows: Sequence[Sequence[str]], shape: str) -> Layout | None:
    """The layout of three columns, of MS MARCO or BEIR; None for lines that are nothing of the sort.

    >>> three_columns([["q1", "d7", "1"], ["q1", "d3", "2"]], RUN_SHAPE).third
    'rank'
    """
    if not rows or any(len(row) != 3 for row in rows):
        return None
    last = LAST_COLUMNS[shape].get(rows[0][2].lower())
    body = rows[1:] if last else rows
    if any(NUMBER.fullmatch(row[2]) is None for row in body):
        return None
    if last:
        return Layout(3, header=True, third=last)
    if shape == QRELS_SHAPE:
        raise AmbiguousError("three columns without a header could be grades, ranks or scores")
    if all(GRADE.fullmatch(row[2]) for row in body):
        if not _count_up(body):
            raise AmbiguousError("the third column could be ranks or scores: whole numbers that do not count up from 1")
        return Layout(3, third="rank")
    return Layout(3, third="score")


def _count_up(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the lines of each query are numbered 1, 2, 3 … in their order."""
    lines: dict[str, int] = {}
    for query, _, rank in rows:
        lines[query] = lines.get(query, 0) + 1
        if int(rank) != lines[query]:
            return False
    return True


@dataclass
class Reader:
    """One TREC file being read: what its names may be, and where its mistakes go."""

    path: Path
    findings: Findings
    where: Where
    documents: Collection[str] | None = None
    queries: Collection[str] | None = None
    seen: dict[tuple[str, ...], int] = field(default_factory=dict)
    names_files: bool = True
    """Whether each query will become the name of a file."""
    layout: Layout = TREC_QRELS
    """How the file that is being read is laid out."""

    def reject(self, line: int | None, place: int | None, message: str, fix: str, found: str = "") -> None:
        """Note a mistake at a line and a field of it; it is only counted when enough are listed."""
        if not self.findings.room(RULE):
            self.findings.count(RULE, 1)
            return
        name = self.path.name
        place = None if self.layout.third else place  # numbers of fields are those of trec_eval's layout
        self.findings.add(Problem(RULE, name, line, place, message, fix, found=shortened(found), where=self.where))

    def lines(self, shape: str) -> Iterator[tuple[int, list[str]]]:
        """The numbered cells of every line of the right width; other lines are noted.

        A file of another kind is noted once, not line by line (D-7).
        """
        wanted, self.layout = (RUN, TREC_RUN) if shape == RUN_SHAPE else (QRELS, TREC_QRELS)
        start = first_bytes(self.path)
        try:
            short = three_columns(beginning_rows(start), shape)
        except AmbiguousError as error:
            names = "query-id corpus-id " + " or ".join(sorted({*LAST_COLUMNS[shape]} & {"rank", "score"}))
            fix = f"write: {shape}, or name the three columns in a first line: {names}"
            self.reject(None, None, str(error), fix, lines_of(start).lines[0])
            return
        if short is None and (found := recognize_other_kind(start, wanted, self.layout)) is not None:
            self.reject(None, None, found.message, found.fix or f"write: {shape}", found.first)
            return
        self.layout = layout = short or self.layout
        header = layout.header
        for number, raw in enumerate(raw_lines(self), start=1):
            cells = self.cells(number, raw)
            if not cells:
                continue
            if not layout.fits(len(cells)):
                message = f"a line of {len(cells)} fields in place of {layout.width}"
                self.reject(number, None, message, f"write: {shape}", " ".join(cells))
            elif not header:
                yield number, layout.standard(cells)
            header = False

    def cells(self, number: int, raw: bytes) -> list[str]:
        """A line as its cells; none for a blank line, a comment or one that cannot be read."""
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.reject(number, None, f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8", shortened(raw))
            return []
        if number == 1 and text.startswith("\ufeff"):
            self.reject(1, 1, "a byte order mark", "save the file as UTF-8 without a byte order mark")
            text = text.removeprefix("\ufeff")
        return [] if text.startswith(COMMENT) else text.split()

    def accepts(self, number: int, query: str, document: str, *part: str) -> bool:
        """Whether both names are expected and the pair (of that part of the query) is new; what is not so is noted."""
        if self.names_files and UNSAFE.search(query):
            self.reject(number, 1, "this query cannot be the name of a file", "use letters, digits and hyphens", query)
        elif self.queries is not None and query not in self.queries:
            self.reject(number, 1, "this query is not in the list", "leave it out or add it to the list", query)
        elif self.documents is not None and document not in self.documents:
            self.reject(number, 3, "this document is not in the list", "leave it out or add it to the list", document)
        elif (first := self.seen.setdefault((query, document, *part), number)) != number:
            self.reject(number, 3, f"the same query and document as on line {first}", "keep one of them", document)
        else:
            return True
        return False


class OtherKind(NamedTuple):
    """A file of another kind: what it looks like, what to do with it if that is known, and its first line."""

    message: str
    fix: str
    first: str


def recognize_other_kind(data: bytes, wanted: Kind, layout: Layout) -> OtherKind | None:
    """What the first bytes of a file look like if that is another kind, or hardly any line has so many fields.

    >>> recognize_other_kind(b"id,label\\n1,a\\n", RUN, TREC_RUN).message
    'this looks like a table with commas between its cells, not like a TREC run'
    >>> recognize_other_kind(b"q1 Q0 d1 1 2.5 tag\\n", RUN, TREC_RUN)
    """
    magic = "a tar archive" if data[257:262] == b"ustar" else magic_name(data) if b"\0" in data else ""
    if magic:
        fix = "save it as UTF-8" if magic == UTF_16 else "give the file itself, as it is or packed with gzip"
        return OtherKind(f"this is {magic}, not {wanted.name}", fix, "")
    start = lines_of(data)
    lines, rows = start.lines, start.rows
    kind = next((one for one in UNMISTAKABLE if one is not wanted and one.test(start)), None)
    if kind is not None:
        return OtherKind(f"this looks like {kind.name}, not like {wanted.name}", kind.fix, lines[0])
    fitting = sum(layout.fits(len(row)) for row in rows)
    if len(lines) < 2 or fitting * FEW >= len(rows):
        return None
    if all("," in line for line in lines):
        message = f"this looks like a table with commas between its cells, not like {wanted.name}"
    else:
        other = next(len(row) for row in rows if not layout.fits(len(row)))
        message = f"this does not look like {wanted.name}: a line has {layout.width} fields there, not {other}"
    return OtherKind(message, "", lines[0])


def lines_of(data: bytes) -> Beginning:
    """The first lines of a file that are no comments."""
    lines = data.decode("utf-8-sig", "replace").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(COMMENT))
    return Beginning(text, whole=len(data) < BEGINNING)


def beginning_rows(data: bytes) -> list[list[str]]:
    """The fields of the first lines; none of what is no text, nor of what trec_eval printed in three columns."""
    start = lines_of(data)
    return [] if b"\0" in data or TREC_EVAL.test(start) else start.rows


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, unpacked; nothing of one that is damaged, of which its lines tell."""
    try:
        with open_unpacked(path) as file:
            return file.read(BEGINNING)
    except (EOFError, zlib.error, OSError):
        return b""


def raw_lines(reader: Reader) -> Iterator[bytes]:
    """The lines of a plain or gzip-compressed file; one that breaks off, or never ends a line, is noted."""
    try:
        with open_unpacked(reader.path) as file:
            most = math.inf
            if _is_gzip(reader.path):
                most = min(MOST_UNPACKED, max(FREE_UNPACKED, MOST_RATIO * reader.path.stat().st_size))
            for number, line in enumerate(iter(partial(file.readline, LONGEST), b""), start=1):
                most -= len(line)
                if most < 0:
                    reader.reject(number, None, "the compressed file unpacks to far too much", "send fewer lines")
                    return
                if len(line) == LONGEST:
                    reader.reject(number, None, f"a line of {LONGEST} bytes or more", "end each line with a line feed")
                    return
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error):
        reader.reject(None, None, "the compressed file is damaged or truncated", "compress it again")
    except OSError as error:
        raise UnreadableError(f"{reader.path} cannot be read: {error.strerror or error}. Check the disk.") from error


def open_unpacked(path: Path) -> IO[bytes]:
    """A file opened for reading, through gzip if its content is; a pipe is refused and never waited for."""
    if path.exists() and not path.is_dir():
        check_regular(path)
    try:
        return cast("IO[bytes]", gzip.open(path)) if _is_gzip(path) else path.open("rb")
    except OSError as error:
        raise UnreadableError(f"{path} cannot be opened: {error.strerror or error}.") from error


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(GZIP)) == GZIP
