"""The reference of a detection task: which documents are relevant to which queries, kept as one bit each.

A key may be absent: then the pack's own lists of documents and queries say what a submission must look like (M94).
Without these, `check_alone` finds what is wrong with a folder of answers in itself: the documents of its first file
stand for the set, and nobody can say whether a query or a document is missing from all files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from basanite.formats.archives.archive import Source
from basanite.formats.archives.members import Member, member_digest
from basanite.formats.archives.parallel import side_by_side
from basanite.formats.bounded import read_bounded
from basanite.formats.retrieval.detection_files import Documents, read_answers, read_key
from basanite.formats.retrieval.detection_lines import BYTE_ORDER_MARK, Layout, LineReader
from basanite.problems import Findings, Problem, shortened

SUFFIX = ".tsv"
LIST_BYTES = 256 * 2**20
HEADERS = frozenset({"document", "documents", "docid", "doc_id", "query", "queries", "query_id", "queryid", "id"})


@dataclass
class Key:
    """Documents, queries and, where the truth is known, the relevant documents of each query."""

    documents: Documents
    queries: list[str] = field(default_factory=list)
    _bits: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    digest: str = ""

    @property
    def has_reference(self) -> bool:
        """Whether the truth is here, or only what a submission must look like."""
        return bool(self._bits)

    def add(self, query: str, relevant: NDArray[np.bool_]) -> None:
        """Take in the truth of one query."""
        self.queries.append(query)
        self._bits[query] = np.packbits(relevant)

    def relevant(self, query: str) -> NDArray[np.bool_]:
        """Which documents are relevant to this query."""
        return np.unpackbits(self._bits[query], count=len(self.documents)).view(np.bool_)


def read_key_set(
    source: Source,
    pattern: re.Pattern[str],
    findings: Findings,
    executor: Executor | None = None,
    layout: Layout | None = None,
) -> Key | None:
    """Read a whole key with the checks that submissions get; None if it cannot be trusted (M36)."""
    layout = replace(layout or Layout(2, pattern), fields=2, where="reference")
    files = source.members(findings, hashed=False)
    members = (member for member in files if query_of(member, findings, layout) is not None)
    first = next(members, None)
    if first is None:
        _refuse(source, "there is no query file in the key", findings)
        return None
    reader = _KeyReader(first, layout, findings.limit)
    key = Key(reader.documents)
    for file in side_by_side(reader.read, chain([first], members), executor):
        source.digest.add(file.name, file.size, file.sha256)
        findings.merge(file.findings)
        if file.relevant is not None:
            key.add(file.query, file.relevant)
    if not len(key.documents):
        _refuse(source, "the key names no document", findings)
    key.queries.sort()
    key.digest = source.digest.value()
    return key if findings.valid else None


def _refuse(source: Source, message: str, findings: Findings) -> None:
    """Say what is wrong with the whole key, unless something more precise has been said."""
    if findings.valid:
        findings.add(_reference_problem(source.name, message, "give a folder or .tgz of .tsv files"))


@dataclass(frozen=True)
class _KeyFile:
    """One file of a key, read and checked."""

    name: str
    size: int
    sha256: str
    query: str
    relevant: NDArray[np.bool_] | None
    findings: Findings


class _KeyReader:
    """Reads the files of a key; the first one says which documents there are, the others must have the same (M01)."""

    def __init__(self, first: Member, layout: Layout, limit: int | None) -> None:
        self.layout = layout
        self.limit = limit
        self.documents = _documents(first, layout)
        self.lines = LineReader(self.documents, layout)

    def read(self, member: Member) -> _KeyFile:
        """Read one file; side by side with others, so nothing is changed here."""
        findings = Findings(self.limit)
        answers = read_key(member.data, self.documents) or self.lines.read(member.data, member.name, findings)
        relevant = None if answers is None else answers.returned
        query = member.name.removesuffix(SUFFIX)
        return _KeyFile(member.name, len(member.data), member_digest(member.data), query, relevant, findings)


def _documents(member: Member, layout: Layout) -> Documents:
    """The documents that one file of a key names."""
    text = member.data.removeprefix(BYTE_ORDER_MARK).replace(b"\r", b"")
    names = dict.fromkeys(line.partition(b"\t")[0] for line in text.split(b"\n") if line)
    return Documents(
        sorted(name for name in names if _is_identifier(name, layout.pattern) and name not in layout.barred)
    )


def _is_identifier(name: bytes, pattern: re.Pattern[str]) -> bool:
    """Whether bytes are text of the shape that identifiers have; a wide pattern lets in no others (M21, M22)."""
    try:
        return pattern.fullmatch(name.decode()) is not None and not name.startswith(BYTE_ORDER_MARK)
    except UnicodeDecodeError:
        return False


def query_of(member: Member, findings: Findings, layout: Layout) -> str | None:
    """The query (domain, language) that a file is named after; a file that is no `.tsv` is a problem (M25)."""
    if member.name.endswith(SUFFIX) and len(member.name) > len(SUFFIX):
        return member.name.removesuffix(SUFFIX)
    message = f"this is not a file <{layout.target.capitalize()}ID>.tsv"
    fix = f"name each file after its {layout.target}, like {layout.example}.tsv, and leave out all others"
    findings.add(Problem(layout.naming, member.name, None, None, message, fix, found=member.name, where=layout.where))
    return None


def key_from_lists(documents: Path, queries: Path, pattern: re.Pattern[str], findings: Findings) -> Key | None:
    """What a submission must look like, from the pack's lists alone (M94)."""
    names = [name for _, name in _read_list(documents, findings, pattern=pattern)]
    wanted = [name.decode("utf-8", "backslashreplace") for _, name in _read_list(queries, findings)]
    return Key(Documents(sorted(names)), sorted(wanted)) if findings.valid else None


def _read_list(path: Path, findings: Findings, pattern: re.Pattern[str] | None = None) -> list[tuple[int, bytes]]:
    """The first cells of a list, one per line, with their lines; a header is passed over."""
    found: dict[bytes, int] = {}
    for line, name in _first_cells(path):
        problem = _list_problem(path, line, name, found, pattern)
        if problem is not None:
            findings.add(problem)
        else:
            found[name] = line
    if not found:
        findings.add(_reference_problem(path.name, "the list is empty", "write one identifier per line"))
    return [(line, name) for name, line in found.items()]


def _first_cells(path: Path) -> Iterator[tuple[int, bytes]]:
    data = read_bounded(path, LIST_BYTES)
    for line, text in enumerate(data.removeprefix(BYTE_ORDER_MARK).splitlines(), start=1):
        name = re.split(rb"[\t,]", text, maxsplit=1)[0].strip()
        if name and not (line == 1 and name.decode("utf-8", "replace").lower() in HEADERS):
            yield line, name


def _list_problem(
    path: Path, line: int, name: bytes, found: dict[bytes, int], pattern: re.Pattern[str] | None
) -> Problem | None:
    if name in found:
        return _reference_problem(path.name, f"already listed on line {found[name]}", "list each once", line, name)
    if pattern is not None and not _is_identifier(name, pattern):
        message = f"not of the form {pattern.pattern}"
        wrong = _reference_problem(path.name, message, "write names of this form, or set another", line, name)
        return replace(wrong, rule="M33", hint="--set document_pattern=…")
    return None


def _reference_problem(file: str, message: str, fix: str, line: int | None = None, found: bytes = b"") -> Problem:
    return Problem("M36", file, line, None, message, fix, found=shortened(found), where="reference")


def nearest_query(name: str, queries: Sequence[str]) -> str | None:
    """The query that a differently padded or capitalised name probably means.

    >>> nearest_query("Query43", ["query00043", "query00044"])
    'query00043'
    """
    plain = {_without_padding(query): query for query in queries}
    return plain.get(_without_padding(name))


def _without_padding(name: str) -> str:
    return re.sub(r"0+(?=[0-9])", "", name.lower())


def check_alone(source: Source, layout: Layout, findings: Findings) -> int:
    """Find what is wrong in itself; gives the number of files. Files in folders are checked by name only (C24)."""
    reader: LineReader | None = None
    files, folders = 0, dict[str, bool]()
    for member in source.members(findings):
        files += 1
        path = PurePosixPath(member.name)
        if path.suffix == SUFFIX and not member.data.strip():
            findings.add(_file_problem("M26", member.name, "this file is empty", "add a line for every document"))
        if source.depth > 1:
            findings.extend(_placement_problems(path))
            folders[path.parts[0]] = folders.get(path.parts[0], False) or path.name == path.parts[0] + SUFFIX
        elif path.suffix != SUFFIX:
            findings.add(_file_problem("M25", member.name, "this is not a .tsv file", "leave it out, or rename it"))
        elif member.data.strip():
            if reader is None:  # the documents that the file lists, as far as they can be documents at all
                cells = {line.partition(b"\t")[0] for line in member.data.replace(b"\r", b"").split(b"\n")}
                names = sorted(cell for cell in cells if layout.pattern.fullmatch(cell.decode("utf-8", "replace")))
                reader = LineReader(Documents(names), layout)
            if read_answers(member.data, reader.documents) is None:
                reader.read(member.data, member.name, findings)
    for folder in (folder for folder, has_table in folders.items() if not has_table):
        findings.add(_file_problem("M42", f"{folder}/", "the table of this query is missing", f"add {folder}{SUFFIX}"))
    return files


def _placement_problems(path: PurePosixPath) -> list[Problem]:
    """A file beside the folders of queries, or a table of another query in one."""
    if len(path.parts) == 1:
        return [_file_problem("M42", str(path), "this file is in no folder of a query", "put it in <QueryID>/")]
    if path.suffix == SUFFIX and path.stem != path.parts[0]:
        return [
            _file_problem("M42", str(path), "this table is named after another query", f"name it {path.parts[0]}.tsv")
        ]
    return []


def _file_problem(rule: str, file: str, message: str, fix: str) -> Problem:
    return Problem(rule, file, None, None, message, fix, file)
