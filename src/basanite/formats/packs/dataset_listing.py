"""The small tables of a data set: its list of documents, its list of files, and what is known about the documents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from basanite.errors import UnreadableError
from basanite.formats.packs.pack_names import DOCUMENT, TreeName
from basanite.problems import Findings, Problem, Severity, shortened

INDEX_HEADER = "docid"
DIGESTS = {32: "md5", 64: "sha256"}
HEX = re.compile(r"[0-9a-fA-F]+")


@dataclass(frozen=True)
class Report:
    """Adds problems of one data set; files are named from its top folder."""

    root: Path
    findings: Findings
    rule: str = "M81"

    def add(
        self,
        path: Path,
        message: str,
        fix: str,
        *,
        line: int | None = None,
        found: str = "",
        severity: Severity = "reject",
    ) -> None:
        """Add a problem of a file or folder below the root."""
        name = path.relative_to(self.root).as_posix() if path != self.root else self.root.name
        self.findings.add(
            Problem(self.rule, name, line, None, message, fix, shortened(found), severity=severity, where="reference")
        )

    def lines(self, path: Path) -> Iterator[tuple[int, str]]:
        """The lines of a text that are not empty, numbered; bytes that are not UTF-8 are a problem and passed over."""
        for number, raw in enumerate(read_bytes(path).removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
            try:
                text = raw.rstrip(b"\r").decode()
            except UnicodeDecodeError:
                self.add(path, "this line is not UTF-8", "save it as UTF-8", line=number, found=shortened(raw))
                continue
            if text:
                yield number, text


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One line of file.tbl: a path from the folder of the table and, where it is told, size and digest."""

    line: int
    path: str
    size: int | None = None
    digest: str = ""


def read_bytes(path: Path) -> bytes:
    """The bytes of a file; one that cannot be opened is an error with its cure."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}. Check the path and your rights.") from error


def read_index(path: Path, name: TreeName | None, report: Report) -> dict[str, int]:
    """The documents that index.txt lists, with their lines; a header `docid` is passed over."""
    found: dict[str, int] = {}
    for line, text in report.lines(path):
        document = text.split("\t")[0].strip()
        if line == 1 and document.lower() == INDEX_HEADER:
            continue
        if document in found:
            fix = "list each document once"
            report.add(path, f"listed on line {found[document]} already", fix, line=line, found=document)
        elif wrong := wrong_document(document, name):
            report.add(path, wrong, "write MATERIAL_<period>-<language>_<8 digits>", line=line, found=document)
        else:
            found[document] = line
    return found


def wrong_document(document: str, name: TreeName | None) -> str:
    """What is wrong with an identifier: its form, or that it belongs to another period or language (M33)."""
    match = DOCUMENT.fullmatch(document)
    if match is None:
        return "this is no document identifier"
    if name is not None and not name.owns(match):
        return f"this document is not of {name.period}-{name.language}"
    return ""


def read_file_table(path: Path, report: Report) -> list[FileEntry]:
    """The files that file.tbl lists. Its columns are not laid down, so each cell is known by its form."""
    entries = []
    for line, text in report.lines(path):
        entry = _entry(line, text.split("\t") if "\t" in text else text.split())
        if entry is not None:
            entries.append(entry)
        elif line > 1:  # the first line may be a header
            fix = "write the path of a file, and its size and md5 or sha256 if you like"
            report.add(path, "no path can be seen in this line", fix, line=line, found=text)
    return entries


def _entry(line: int, cells: list[str]) -> FileEntry | None:
    """Path, size and digest, whatever their order: a path has a slash or a dot, a size is digits, a digest is hex."""
    cells = [cell.strip() for cell in cells]
    digest = next((cell.lower() for cell in cells if len(cell) in DIGESTS and HEX.fullmatch(cell)), "")
    size = next((int(cell) for cell in cells if cell.isdecimal() and cell.isascii() and len(cell) < 20), None)
    paths = [cell for cell in cells if ("/" in cell or "." in cell) and cell.lower() != digest]
    return FileEntry(line, paths[-1].removeprefix("./"), size, digest) if paths else None


def wrong_entry(entry: FileEntry, folder: Path) -> str:
    """What is wrong with a line of file.tbl: a path that leads astray, or a file that is missing or another."""
    parts = PurePosixPath(entry.path).parts
    path = folder.joinpath(*parts)
    if ".." in parts or entry.path.startswith("/") or path.is_symlink():
        return "this path leads out of the data set"
    if not path.is_file():
        return "there is no such file"
    if entry.size is not None and path.stat().st_size != entry.size:
        return f"the file has {path.stat().st_size} bytes, not {entry.size}"
    if entry.digest and file_digest(path, DIGESTS[len(entry.digest)]) != entry.digest:
        return "the file has another digest"
    return ""


def file_digest(path: Path, algorithm: str) -> str:
    """The hexadecimal digest of a file, read piece by piece."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


def read_metadata(path: Path, report: Report) -> dict[str, tuple[int, dict[str, str]]]:
    """What metadata.tsv tells about each document, with its line: a column `filename`, then columns by name."""
    lines = report.lines(path)
    header = next(lines, (1, ""))[1].split("\t")
    if header[0].strip().lower() not in ("filename", "docid", "document"):
        report.add(
            path, "the first column is not `filename`", "begin the header with filename", line=1, found=header[0]
        )
        return {}
    known: dict[str, tuple[int, dict[str, str]]] = {}
    for line, text in lines:
        cells = [cell.strip() for cell in text.split("\t")]
        document = cells[0].split(".")[0]
        if len(cells) > len(header) or document in known:
            fix = f"write one line for each file, {len(header)} cells each"
            report.add(path, "too many cells, or a second line for this file", fix, line=line, found=cells[0])
        else:
            known[document] = line, dict(zip(header[1:], cells[1:], strict=False))
    return known
