"""The data-set tree that organizers release: documents by pack, mode and role, checked against the tree's own lists.

The plan puts README.TXT, file.tbl and index.txt at the top; released packs put them inside each pack and add
metadata.tsv, which tells the genres. Both are read, under both spellings of the top folder's name (M81, C43).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from basanite.errors import UnreadableError
from basanite.formats.datasets.audio_headers import audio_header
from basanite.formats.datasets.pack_names import (
    AUDIO_GENRES,
    DATASET,
    DOCUMENT,
    GENRES,
    TreeName,
    family,
    split_datasets,
    tree_name,
)
from basanite.formats.factors import FactorTable
from basanite.problems import Findings, Problem, Severity, shortened

INDEX_HEADER = "docid"
DIGESTS = {32: "md5", 64: "sha256"}
HEX = re.compile(r"[0-9a-fA-F]+")
Mode = Literal["audio", "text"]
MODES: tuple[Mode, ...] = ("audio", "text")
SUFFIXES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("audio", "src"): (".wav", ".sph"),
    ("audio", "transcription"): (".transcription.txt",),
    ("audio", "translation"): (".translation.eng.txt",),
    ("text", "src"): (".txt",),
    ("text", "translation"): (".translation.eng.txt",),
}
"""How the files of each folder end."""
MODE_LEVELS = {"audio": "speech", "text": "text"}
README, FILE_TABLE, INDEX, METADATA = "readme.txt", "file.tbl", "index.txt", "metadata"
BESIDE_PACKS = ("QUERY", "ANALYSIS_ANNOTATION", "DEV_ANNOTATION", "EVAL_ANNOTATION", "BUILD")
"""Folders of a release that hold no documents and are not read here."""


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
        """The lines of a text that are not empty, numbered; invalid UTF-8 are a problem and passed over."""
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
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror}. Check the path and your permissions."
        ) from error


def read_index(path: Path, name: TreeName | None, report: Report) -> dict[str, int]:
    """The documents that index.txt lists, with their lines; a header `docid` is ignored."""
    found: dict[str, int] = {}
    for line, text in report.lines(path):
        document = text.split("\t")[0].strip()
        if line == 1 and document.lower() == INDEX_HEADER:
            continue
        if document in found:
            fix = "list each document once"
            report.add(path, f"already listed on line {found[document]}", fix, line=line, found=document)
        elif wrong := wrong_document(document, name):
            report.add(path, wrong, "write MATERIAL_<period>-<language>_<8 digits>", line=line, found=document)
        else:
            found[document] = line
    return found


def wrong_document(document: str, name: TreeName | None) -> str:
    """What is wrong with an identifier: its form, or that it belongs to another period or language (M33)."""
    match = DOCUMENT.fullmatch(document)
    if match is None:
        return "this is not a document identifier"
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
        return "the file's digest differs"
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


@dataclass(frozen=True)
class Document:
    """One document of a data set: where it belongs, what is known about it, and its files by role."""

    name: str
    pack: str
    mode: Mode
    files: Mapping[str, Path]
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def genre(self) -> str:
        """The genre, or "" if no table tells it."""
        return self.facts.get("genre_id", "") or self.facts.get("genre", "")


@dataclass(frozen=True)
class DataSet:
    """All documents of a tree, by name."""

    root: Path
    period: str
    language: str
    documents: tuple[Document, ...]

    @property
    def packs(self) -> tuple[str, ...]:
        """The packs that are here."""
        return tuple(sorted({document.pack for document in self.documents}))

    def names(self, dataset: str) -> tuple[str, ...]:
        """The documents of a data set, which may be several packs scored together, like EVAL1EVAL2."""
        packs = split_datasets(dataset) or ()
        return tuple(document.name for document in self.documents if document.pack in packs)

    def counts(self) -> Counter[tuple[str, str, str]]:
        """How many documents there are by pack, mode and genre."""
        return Counter((document.pack, document.mode, document.genre) for document in self.documents)

    def factors(self) -> FactorTable:
        """What is known about documents, for breakdowns: pack, mode, genre and, where told, language."""
        levels: dict[str, dict[str, str]] = {
            "pack": {document.name: document.pack for document in self.documents},
            "mode": {document.name: MODE_LEVELS[document.mode] for document in self.documents},
            "genre": {document.name: document.genre for document in self.documents},
            "language": {document.name: document.facts.get("language", "") for document in self.documents},
        }
        told = {factor: known for factor, known in levels.items() if any(known.values())}
        return FactorTable("document", self.root.name, told)


def read_tree(path: Path, findings: Findings) -> DataSet | None:
    """Read a whole data set or one pack of it; None if it has no documents at all (M81)."""
    if not path.is_dir():
        raise UnreadableError(
            f"{path} is not a folder. Give the folder IARPA_MATERIAL-<period>-<language> or a pack in it."
        )
    path = path.resolve()
    alone = bool(DATASET.fullmatch(path.name))
    root = path.parent if alone else path
    tree = _Tree(root, tree_name(root.name), Report(root, findings))
    return tree.read([path] if alone else None)


@dataclass
class _Tree:
    """A tree on its way from folders to documents."""

    root: Path
    name: TreeName | None
    report: Report
    documents: list[Document] = field(default_factory=list)

    def read(self, packs: list[Path] | None) -> DataSet | None:
        """Read these packs, or all."""
        if self.name is None:
            fix = "name it like IARPA_MATERIAL-BASE-1A or IARPA_MATERIAL_BASE-1A"
            self.report.add(
                self.root, "the folder's name does not state period and language", fix, found=self.root.name
            )
        chosen = packs if packs is not None else self._packs()
        if not chosen:
            fix = "put documents below DEV/, ANALYSIS1/, EVAL1/ …"
            self.report.add(self.root, "there is no pack in this folder", fix)
            return None
        for pack in chosen:
            self._read_pack(pack)
        self._check_lists(chosen, whole=packs is None)
        name = self.name or TreeName("", "")
        documents = tuple(sorted(self.documents, key=lambda document: document.name))
        return DataSet(self.root, name.period, name.language, documents)

    def _packs(self) -> list[Path]:
        folders = [path for path in sorted(self.root.iterdir()) if path.is_dir()]
        packs = [path for path in folders if DATASET.fullmatch(path.name)]
        for path in folders:
            if path not in packs and not path.name.startswith(BESIDE_PACKS):
                self.report.add(path, "this folder is not a pack", "see the list of pack names", severity="warn")
        return packs

    def _read_pack(self, pack: Path) -> None:
        sources: dict[str, Document] = {}
        for mode in MODES:
            for document in self._mode_documents(pack, mode):
                other = sources.setdefault(document.name, document)
                if other is not document:
                    fix = "keep it in audio/ or in text/"
                    self.report.add(document.files["src"], "this document is audio and text at once", fix)
        self.documents += sources.values()
        for path in pack.iterdir():
            if path.is_dir() and path.name not in MODES:
                self.report.add(path, "this folder is not part of a pack", "keep audio/ and text/", severity="warn")

    def _mode_documents(self, pack: Path, mode: Mode) -> Iterator[Document]:
        """The documents of one mode: a source each, other files beside it where they belong to it."""
        roles = {role: self._role_files(pack, mode, role) for at, role in SUFFIXES if at == mode}
        facts = self._facts(pack / mode, roles["src"])
        for name, source in roles["src"].items():
            files = {role: found[name] for role, found in roles.items() if name in found}
            document = Document(name, pack.name, mode, files, facts.get(name, {}))
            self._check_content(document, source)
            yield document
        for role in roles:
            self._check_companions(pack / mode / role, roles[role], roles["src"])

    def _role_files(self, pack: Path, mode: str, role: str) -> dict[str, Path]:
        folder, found = pack / mode / role, dict[str, Path]()
        endings = SUFFIXES[mode, role]
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            ending = next((ending for ending in endings if path.name.endswith(ending)), "")
            name = path.name.removesuffix(ending)
            wrong = wrong_document(name, self.name) if ending else f"the name does not end in {' or '.join(endings)}"
            if wrong or path.is_symlink() or not path.is_file():
                self.report.add(path, wrong or "this is not a plain file", f"name it <DocID>{endings[0]}, or remove it")
            elif name in found:
                self.report.add(path, f"the document is here twice: {found[name].name}", "keep one of the two")
            else:
                found[name] = path
        return found

    def _check_companions(self, folder: Path, files: Mapping[str, Path], sources: Mapping[str, Path]) -> None:
        """Transcriptions and translations belong to a source, to all of a pack, and to Analysis packs only."""
        pack = folder.parent.parent.name
        if folder.name == "src" or not files:
            return
        if family(pack) != "ANALYSIS":
            message, fix = f"{len(files)} files in a pack that is tested on", "give these with Analysis packs only"
            self.report.add(folder, message, fix)
        for name in files.keys() - sources.keys():
            self.report.add(files[name], "there is no source for this file", "remove it, or add the source")
        for name in sorted(sources.keys() - files.keys()):
            message, fix = f"this document has no {folder.name}", "add it, or leave out those of the whole pack"
            self.report.add(sources[name], message, fix, severity="warn")

    def _facts(self, folder: Path, sources: Mapping[str, Path]) -> dict[str, dict[str, str]]:
        """What metadata.tsv tells, with the genre judged against the mode."""
        path = folder / METADATA / f"{METADATA}.tsv"
        known = read_metadata(path, self.report) if path.is_file() else {}
        for name, (line, facts) in known.items():
            genre = facts.get("genre_id", facts.get("genre", ""))
            if name not in sources:
                self.report.add(path, "there is no such document", "remove the line", line=line, found=name)
            elif genre and (genre not in GENRES or (genre in AUDIO_GENRES) != (folder.name == "audio")):
                fix = f"write one of {', '.join(GENRES)}, as its mode has it"
                self.report.add(path, "no genre of this mode", fix, line=line, found=genre, severity="warn")
        return {name: facts for name, (_, facts) in known.items()}

    def _check_content(self, document: Document, source: Path) -> None:
        """Text must be UTF-8, sound must have a header that holds; conversations have two channels."""
        for path in document.files.values():
            if path.suffix == ".txt":
                self._check_text(path)
        if document.mode == "text":
            return
        header = audio_header(source)
        if isinstance(header, str):
            self.report.add(source, f"this sound file {header}", "store it as RIFF .wav or NIST SPHERE .sph")
        elif header.container != source.suffix.removeprefix("."):
            self.report.add(source, f"the content is {header.container}", f"name it .{header.container}")
        elif document.genre == "CS" and header.channels != 2:
            fix = "store both speakers, one in each channel"
            self.report.add(source, "a conversation has two channels", fix, found=str(header), severity="warn")

    def _check_text(self, path: Path) -> None:
        data = read_bytes(path)
        if not data.strip():
            self.report.add(path, "the text is empty", "write the text, or leave the document out")
        for _ in self.report.lines(path):
            pass

    def _check_lists(self, packs: list[Path], *, whole: bool) -> None:
        """The lists at the top and those inside packs, each against what lies below it."""
        self._check_listed(self.root, {document.name for document in self.documents}, whole=whole)
        for pack in packs:
            self._check_listed(pack, {document.name for document in self.documents if document.pack == pack.name})
            for wanted, severe in ((INDEX, True), (FILE_TABLE, False), (README, False)):
                if not (_beside(self.root, wanted) or _beside(pack, wanted)):
                    fix = f"put {wanted} at the top, or in each pack"
                    severity: Literal["reject", "warn"] = "reject" if severe else "warn"
                    self.report.add(pack, f"there is no {wanted} for this pack", fix, severity=severity)

    def _check_listed(self, folder: Path, documents: set[str], *, whole: bool = True) -> None:
        index, table = _beside(folder, INDEX), _beside(folder, FILE_TABLE)
        if index is not None:
            listed = read_index(index, self.name, self.report)
            for name in sorted(listed.keys() - documents if whole else ()):
                fix = "add its source, or take it off the list"
                self.report.add(index, "this document has no source file", fix, line=listed[name], found=name)
            for document in (one for one in self.documents if one.name in documents - listed.keys()):
                self.report.add(document.files["src"], f"{index.name} does not list this document", "list it")
        if table is not None and whole:
            self._check_files(table)

    def _check_files(self, table: Path) -> None:
        """file.tbl lists every file below its folder but itself, and tells the truth about it."""
        entries = read_file_table(table, self.report)
        for entry in entries:
            wrong = wrong_entry(entry, table.parent)
            if wrong:
                self.report.add(table, wrong, "write the table again", line=entry.line, found=entry.path)
        listed = {entry.path for entry in entries}
        below = (path.relative_to(table.parent).as_posix() for path in table.parent.rglob("*") if path.is_file())
        for name in sorted(set(below) - listed - {table.name}):
            self.report.add(table, "this file is not listed", "write the table again", found=shortened(name))


def _beside(folder: Path, name: str) -> Path | None:
    """The file of this name in a folder, capitals or not: README.TXT, README.txt."""
    return next((path for path in sorted(folder.iterdir()) if path.name.lower() == name and path.is_file()), None)
