"""TREC runs and qrels, to and from detection keys and submissions (M84).

A run ranks some documents and decides nothing; a submission decides and scores every document. So an import needs the
list of documents and a rule that decides, and an export leaves the decisions behind. Columns are separated by any
blanks, ranks are ignored in favour of scores, and ties are ordered as trec_eval orders them (by name, descending).
"""

from __future__ import annotations

import gzip
import math
import re
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Literal, NamedTuple, TypeAlias, cast

from basanite.errors import SettingError, UnreadableError
from basanite.formats.archives.archive import GZIP
from basanite.formats.bounded import check_regular
from basanite.formats.file_kinds import (
    BEGINNING,
    COCO,
    JSON,
    JSON_LINES,
    QRELS,
    RUN,
    TREC_EVAL,
    UTF_16,
    WMT,
    Beginning,
    Kind,
    magic_name,
)
from basanite.problems import Findings, Problem, Where, shortened

Scale = Literal["none", "minmax"]
Scored: TypeAlias = dict[str, dict[str, float]]
Graded: TypeAlias = dict[str, dict[str, int]]

RULE = "M84"
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
GRADE = re.compile(r"[+-]?[0-9]{1,9}")
RUN_SHAPE = "query Q0 document rank score tag"
QRELS_SHAPE = "query 0 document relevance"
DECIMALS = 5
LONGEST = 2**16
MOST_UNPACKED, FREE_UNPACKED, MOST_RATIO = 2**32, 2**26, 200
"""How much a compressed file may unpack to: in all, and beyond so many bytes in proportion to its size."""
UNMISTAKABLE = (COCO, JSON_LINES, JSON, WMT, RUN, QRELS, TREC_EVAL)
"""Kinds of text that are told by more than their number of fields."""
NAMED = 5
"""How many tags a message names."""
FEW = 10
"""Where fewer than one line in so many has the right number of fields, the file is of another kind."""
UNSAFE = re.compile(r"[/\\:\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^\.")
"""What must not stand in a query's name, for it becomes the name of a file."""


class KeyFile(NamedTuple):
    """What a key says of one query: whether each document is relevant."""

    query: str
    documents: Sequence[str]
    relevant: Sequence[bool]


class AnswerFile(NamedTuple):
    """What a submission says of one query: the decision on each document, and how sure the system is."""

    query: str
    documents: Sequence[str]
    decisions: Sequence[bool]
    confidence: Sequence[float]


@dataclass(frozen=True)
class Decision:
    """How a ranking becomes decisions: everything at or above a threshold, or the first k of every query."""

    threshold: float | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        if (self.threshold is None) == (self.top is None):
            raise SettingError("Give either a threshold or a number of documents to return for each query.")

    def of(self, scores: Mapping[str, float]) -> set[str]:
        """The documents returned for one query."""
        if self.threshold is not None:
            return {document for document, score in scores.items() if score >= self.threshold}
        return set(ranked(scores)[: self.top])


@dataclass
class Reader:
    """One TREC file being read: what its names may be, and where its mistakes go."""

    path: Path
    findings: Findings
    where: Where
    documents: Collection[str] | None = None
    queries: Collection[str] | None = None
    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    names_files: bool = True
    """Whether each query will become the name of a file."""

    def reject(self, line: int | None, place: int | None, message: str, fix: str, found: str = "") -> None:
        """Note a mistake at a line and a field of it; it is only counted when enough are listed."""
        if not self.findings.room(RULE):
            self.findings.count(RULE, 1)
            return
        name = self.path.name
        self.findings.add(Problem(RULE, name, line, place, message, fix, found=shortened(found), where=self.where))

    def lines(self, shape: str) -> Iterator[tuple[int, list[str]]]:
        """The numbered cells of every line of the right width; other lines are noted.

        A file of another kind is noted once, not line by line (D-7).
        """
        width = len(shape.split())
        if (found := foreign(first_bytes(self.path), RUN if shape == RUN_SHAPE else QRELS, width)) is not None:
            self.reject(None, None, found.message, found.fix or f"write: {shape}", found.first)
            return
        for number, raw in enumerate(raw_lines(self), start=1):
            cells = self.cells(number, raw)
            if cells and len(cells) != width:
                message = f"a line of {len(cells)} fields in place of {width}"
                self.reject(number, None, message, f"write: {shape}", " ".join(cells))
            elif cells:
                yield number, cells

    def cells(self, number: int, raw: bytes) -> list[str]:
        """A line as its cells; none for a blank line or one that cannot be read."""
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.reject(number, None, f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8", shortened(raw))
            return []
        if number == 1 and text.startswith("\ufeff"):
            self.reject(1, 1, "a byte order mark", "save the file as UTF-8 without a byte order mark")
            text = text.removeprefix("\ufeff")
        return text.split()

    def known(self, number: int, query: str, document: str) -> bool:
        """Whether both names are expected and the pair is new; what is not so is noted."""
        if self.names_files and UNSAFE.search(query):
            self.reject(number, 1, "this query cannot be the name of a file", "use letters, digits and hyphens", query)
        elif self.queries is not None and query not in self.queries:
            self.reject(number, 1, "this query is not in the list", "leave it out or add it to the list", query)
        elif self.documents is not None and document not in self.documents:
            self.reject(number, 3, "this document is not in the list", "leave it out or add it to the list", document)
        elif (first := self.seen.setdefault((query, document), number)) != number:
            self.reject(number, 3, f"the same query and document as on line {first}", "keep one of them", document)
        else:
            return True
        return False


class Foreign(NamedTuple):
    """A file of another kind: what it looks like, what to do with it if that is known, and its first line."""

    message: str
    fix: str
    first: str


def foreign(data: bytes, wanted: Kind, width: int) -> Foreign | None:
    """What the first bytes of a file look like if that is another kind, or hardly any line has so many fields.

    >>> foreign(b"id,label\\n1,a\\n", RUN, 6).message
    'this looks like a table with commas between its cells, not like a TREC run'
    >>> foreign(b"q1 Q0 d1 1 2.5 tag\\n", RUN, 6)
    """
    magic = "a tar archive" if data[257:262] == b"ustar" else magic_name(data) if b"\0" in data else ""
    if magic:
        fix = "save it as UTF-8" if magic == UTF_16 else "give the file itself, as it is or packed with gzip"
        return Foreign(f"this is {magic}, not {wanted.name}", fix, "")
    start = Beginning(data.decode("utf-8-sig", "replace"), whole=len(data) < BEGINNING)
    lines, widths = start.lines, [len(row) for row in start.rows]
    kind = next((one for one in UNMISTAKABLE if one is not wanted and one.test(start)), None)
    if kind is not None:
        return Foreign(f"this looks like {kind.name}, not like {wanted.name}", kind.fix, lines[0])
    if len(lines) < 2 or widths.count(width) * FEW >= len(widths):
        return None
    if all("," in line for line in lines):
        message = f"this looks like a table with commas between its cells, not like {wanted.name}"
    else:
        other = next(one for one in widths if one != width)
        message = f"this does not look like {wanted.name}: a line has {width} fields there, not {other}"
    return Foreign(message, "", lines[0])


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, unpacked; nothing of one that is damaged, of which its lines tell."""
    try:
        with opened(path) as file:
            return file.read(BEGINNING)
    except (EOFError, zlib.error, OSError):
        return b""


def raw_lines(reader: Reader) -> Iterator[bytes]:
    """The lines of a plain or gzip-compressed file; one that breaks off, or never ends a line, is noted."""
    try:
        with opened(reader.path) as file:
            most = most_unpacked(reader.path)
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
        reader.reject(None, None, "the compressed file is damaged or cut off", "compress it again")
    except OSError as error:
        raise UnreadableError(f"{reader.path} cannot be read: {error.strerror or error}. Check the disk.") from error


def most_unpacked(path: Path) -> float:
    """How many bytes may be read from a file; of one that is not compressed, all it has."""
    if not _is_gzip(path):
        return math.inf
    return min(MOST_UNPACKED, max(FREE_UNPACKED, MOST_RATIO * path.stat().st_size))


def opened(path: Path) -> IO[bytes]:
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


def read_run(reader: Reader) -> Scored:
    """The score of each document of each query of a run; malformed lines are left out and noted."""
    run: Scored = {}
    ranks: dict[str, list[str]] = {}
    tags: dict[str, int] = {}
    for number, (query, _, document, rank, score, tag) in reader.lines(RUN_SHAPE):
        if NUMBER.fullmatch(score) is None or not math.isfinite(float(score)):
            reader.reject(number, 5, "a score that is not a finite number", "write a number such as 12.5", score)
        elif reader.known(number, query, document):
            run.setdefault(query, {})[document] = float(score)
            ranks.setdefault(query, []).append(sys.intern(rank))
            tags.setdefault(tag, number)
    expect_lines(reader, run, RUN_SHAPE)
    reader.findings.extend(_oddities(reader, run, ranks, tags))
    return run


def _oddities(
    reader: Reader, run: Scored, ranks: Mapping[str, Sequence[str]], tags: Mapping[str, int]
) -> Iterator[Problem]:
    """Warnings of two runs in one file, and of scores that are not what the run was ranked by (T-13)."""

    def warning(line: int | None, place: int, message: str, fix: str, found: str) -> Problem:
        name = reader.path.name
        return Problem(
            "T-13", name, line, place, message, fix, shortened(found), severity="warn", where=reader.where, kind=fix
        )

    if len(tags) > 1:
        second = list(tags)[1]
        message = f"{len(tags)} tags in one run: {', '.join(list(tags)[:NAMED])}; all lines are taken as one run"
        yield warning(tags[second], 6, message, "score each run by itself, or write one tag", second)
    against = [query for query in run if contradicts(ranks[query], list(run[query].values()))]
    if against:
        message = f"ranks contradict scores in {len(against)} of {len(run)} queries; scores count, as in trec_eval"
        yield warning(None, 4, message, "write higher scores for better ranks", against[0])


def contradicts(ranks: Sequence[str], scores: Sequence[float]) -> bool:
    """Whether a document has a better rank and a lower score than another; ranks that are no numbers say nothing.

    >>> contradicts(["1", "2", "2"], [0.9, 0.4, 0.5]), contradicts(["1", "2"], [0.1, 0.2])
    (False, True)
    """
    if not all(GRADE.fullmatch(rank) for rank in ranks):
        return False
    least, pending, last = math.inf, math.inf, None
    for rank, score in sorted(zip(map(int, ranks), scores, strict=True)):
        if rank != last:
            least, last = min(least, pending), rank
        if score > least:
            return True
        pending = min(pending, score)
    return False


def read_qrels(reader: Reader) -> Graded:
    """The grade of each judged document of each query; malformed lines are left out and noted."""
    grades: Graded = {}
    for number, (query, _, document, grade) in reader.lines(QRELS_SHAPE):
        if GRADE.fullmatch(grade) is None:
            reader.reject(number, 4, "a relevance that is not a whole number", "write 0, 1 or a higher grade", grade)
        elif reader.known(number, query, document):
            grades.setdefault(query, {})[document] = int(grade)
    expect_lines(reader, grades, QRELS_SHAPE)
    return grades


def expect_lines(reader: Reader, read: Scored | Graded, shape: str) -> None:
    """Note a file in which there is nothing, not even a mistake."""
    if not read and not reader.findings.counts[RULE]:
        reader.reject(None, None, "the file is empty", f"write: {shape}")


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Documents by falling score, ties by falling name as trec_eval has them.

    >>> ranked({"a": 0.5, "b": 0.5, "c": 0.9})
    ['c', 'b', 'a']
    """
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def scaled(run: Scored) -> Scored:
    """All scores of a run mapped to 0..1 by its lowest and highest one, the same for every query (M32).

    >>> scaled({"q": {"a": -2.0, "b": 2.0, "c": 0.0}})
    {'q': {'a': 0.0, 'b': 1.0, 'c': 0.5}}
    """
    every = [score for scores in run.values() for score in scores.values()]
    low, high = min(every, default=0.0), max(every, default=0.0)
    # Halves first: the distance of two numbers near the ends of the range of floats is infinite.
    span = high / 2 - low / 2

    def place(score: float) -> float:
        return (score / 2 - low / 2) / span if span > 0 else 0.5

    return {query: {name: place(score) for name, score in scores.items()} for query, scores in run.items()}


def outside(reader: Reader, run: Scored) -> bool:
    """Whether scores lie outside 0..1, which is noted once with the first of them."""
    pairs = ((name, score) for scores in run.values() for name, score in scores.items() if not 0 <= score <= 1)
    first = next(pairs, None)
    if first is None:
        return False
    others = sum(1 for _ in pairs)
    message = f"a score outside 0..1 for document {first[0]}, and {others} more such scores"
    reader.reject(None, 5, message, "map all scores of the run to 0..1 with --scale minmax", str(first[1]))
    return True


def reader_of(
    path: Path, findings: Findings, where: Where, documents: Sequence[str], queries: Sequence[str] | None
) -> Reader:
    """A reader that knows which names to expect."""
    return Reader(path, findings, where, frozenset(documents), None if queries is None else frozenset(queries))


def qrels_to_key(
    path: Path, documents: Sequence[str], findings: Findings, *, queries: Sequence[str] | None = None, least: int = 1
) -> Iterator[KeyFile]:
    """A key from qrels: grades of at least `least` are relevant, all other and all unjudged documents are not.

    The file is read, and every problem in it found, before this returns; only the rows are made one by one.
    """
    grades = read_qrels(reader_of(path, findings, "reference", documents, queries))

    def key(query: str) -> KeyFile:
        judged = grades.get(query, {})
        return KeyFile(query, documents, [judged.get(document, least - 1) >= least for document in documents])

    return (key(query) for query in (sorted(grades) if queries is None else queries))


def run_to_answers(
    path: Path,
    documents: Sequence[str],
    findings: Findings,
    decision: Decision,
    *,
    queries: Sequence[str] | None = None,
    scale: Scale = "none",
) -> Iterator[AnswerFile]:
    """A submission from a run: every document gets a line; those not ranked get N and 0.0.

    The file is read, and every problem in it found, before this returns. Scores are rounded to the five decimals
    that can be written before they are compared with the threshold, so that the files obey one threshold (M29, M31).
    """
    reader = reader_of(path, findings, "submission", documents, queries)
    run = read_run(reader)
    if scale == "none" and outside(reader, run):
        return iter(())
    run = scaled(run) if scale == "minmax" else run
    names = sorted(run) if queries is None else queries
    return (answers(query, documents, run.get(query, {}), decision) for query in names)


def answers(query: str, documents: Sequence[str], scores: Mapping[str, float], decision: Decision) -> AnswerFile:
    """The decision and confidence for every document of one query."""
    if decision.top is None:
        scores = {document: round(score, DECIMALS) for document, score in scores.items()}
    returned = decision.of(scores)
    confidence = [round(scores.get(document, 0.0), DECIMALS) + 0.0 for document in documents]
    return AnswerFile(query, documents, [document in returned for document in documents], confidence)


def key_to_qrels(key: Iterable[KeyFile]) -> Iterator[str]:
    """Lines of qrels with a grade, 1 or 0, for every document of every query."""
    for query, documents, relevant in key:
        for document, grade in zip(documents, relevant, strict=True):
            yield f"{query} 0 {document} {int(grade)}\n"


def submission_to_run(submission: Iterable[AnswerFile], tag: str, *, returned_only: bool = False) -> Iterator[str]:
    """Lines of a run: all documents of each query by falling confidence, or only those that were returned."""
    for query, documents, decisions, confidence in submission:
        rows = zip(documents, decisions, confidence, strict=True)
        scores = {document: score for document, kept, score in rows if kept or not returned_only}
        for rank, document in enumerate(ranked(scores), start=1):
            yield f"{query} Q0 {document} {rank} {scores[document]:.5f} {tag}\n"


def mark(flag: bool) -> str:
    """A decision as it is written."""
    return "Y" if flag else "N"


def key_text(key: KeyFile) -> bytes:
    """The contents of a key's file: document and Y or N on every line."""
    rows = zip(key.documents, key.relevant, strict=True)
    return "".join(f"{document}\t{mark(flag)}\n" for document, flag in rows).encode()


def answer_text(file: AnswerFile) -> bytes:
    """The contents of a submission's file: document, Y or N, and confidence on every line."""
    rows = zip(file.documents, file.decisions, file.confidence, strict=True)
    return "".join(f"{document}\t{mark(flag)}\t{score:.5f}\n" for document, flag, score in rows).encode()
