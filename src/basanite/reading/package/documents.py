"""Documents of a package: plain text that never changes, each known by its name and its hash."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.package.manifest import NAME
from basanite.reading.package.ndjson import LineFaults

LARGEST: Final = 16 * 2**20
LARGEST_LIST: Final = 64 * 2**20
RULE: Final = "R-7"
_SUM: Final = re.compile(r"([0-9a-f]{64})  (\S.*)")
_ODD: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Document:
    """A text, its name without the ending, and the hash of its bytes."""

    name: str
    part: str
    text: str
    sha256: str


def document_paths(root: Path, part: str) -> list[Path]:
    """The files of a part's texts, by name."""
    return sorted((root / "corpus" / part).glob("*.txt"))


def read_documents(root: Path, part: str, findings: Findings) -> dict[str, Document]:
    """The documents of a part by name, each checked against its hash and against what a document may contain."""
    listed, has_list = read_sums(root, part, findings), sums_path(root, part).is_file()
    found: dict[str, Document] = {}
    for path in document_paths(root, part):
        document = _document(path, part, findings)
        if document is not None:
            found[document.name] = document
            if has_list:
                _check_sum(path, document, listed, findings)
    for name in sorted(listed.keys() - found.keys()):
        line = list(listed).index(name) + 1
        fix = "put it back; documents are never taken away"
        _sums(part, findings).add(line, f"the document {part}/{name}.txt is not there", fix)
    return found


def sums_path(root: Path, part: str) -> Path:
    """Where the hashes of a part are."""
    return root / "corpus" / f"{part}.sha256"


def read_sums(root: Path, part: str, findings: Findings) -> dict[str, str]:
    """The hashes that a part's list holds, by name of document."""
    path, faults = sums_path(root, part), _sums(part, findings)
    if not path.is_file():
        faults.add(None, f"the documents of part {part} have no hashes", "run: basanite reading register PACKAGE")
        return {}
    found: dict[str, str] = {}
    text = read_bounded(path, LARGEST_LIST).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = _SUM.fullmatch(line)
        name = match[2].removeprefix(f"{part}/").removesuffix(".txt") if match else ""
        if match is None or match[2] != f"{part}/{name}.txt" or name in found:
            fix = f"write the hash, two blanks and {part}/NAME.txt, each document once"
            faults.add(number, "the line is not a hash of a document", fix, found=line)
        else:
            found[name] = match[1]
    return found


def new_sums(root: Path, part: str) -> list[str]:
    """The lines that a part's list lacks: documents that are new. Those listed keep their line whatever they say."""
    listed = read_sums(root, part, Findings())
    return [
        f"{hashlib.sha256(read_bounded(path, LARGEST)).hexdigest()}  {part}/{path.name}"
        for path in document_paths(root, part)
        if path.stem not in listed
    ]


def text_faults(data: bytes) -> Iterator[tuple[str, str]]:
    """What a document must not contain, each with its cure."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"byte {error.start + 1} is not UTF-8", "save it as UTF-8"
        return
    if text.startswith("\ufeff"):
        yield "it begins with a byte-order mark", "save it without one; positions would be off by one"
    if "\r" in text:
        yield "it has carriage returns", "save it with line feeds only; positions would differ"
    elif odd := _ODD.search(text):
        yield f"it has the control character {ord(odd[0]):#04x}", "remove it"
    if not unicodedata.is_normalized("NFC", text):
        yield "it is not in Unicode form NFC", "normalise it before it is annotated; positions would differ"
    if not text.strip():
        yield "it is empty", "remove it"


def _document(path: Path, part: str, findings: Findings) -> Document | None:
    faults = LineFaults(f"corpus/{part}/{path.name}", RULE, findings)
    if not NAME.fullmatch(path.stem):
        faults.add(None, "the name has characters that are not allowed", "use letters, digits, '.', '_' and '-'")
        return None
    if path.is_symlink():
        faults.add(None, "it is a link", "put the file itself there", rule="X-8")
        return None
    try:
        data = read_bounded(path, LARGEST)
    except UnreadableError as error:
        faults.add(None, str(error), "give a smaller text, in a plain file", rule="X-8")
        return None
    found = list(text_faults(data))
    for message, fix in found:
        faults.add(None, message, fix)
    digest = hashlib.sha256(data).hexdigest()
    return Document(path.stem, part, data.decode("utf-8", "replace"), digest)


def _check_sum(path: Path, document: Document, listed: dict[str, str], findings: Findings) -> None:
    faults = LineFaults(f"corpus/{document.part}/{path.name}", RULE, findings)
    if document.name not in listed:
        faults.add(None, "the document is not listed with its hash", "run: basanite reading register PACKAGE")
    elif listed[document.name] != document.sha256:
        fix = "put the old text back, or give the new one a name of its own"
        faults.add(None, "the document was changed after it was listed", fix, found=document.sha256)


def _sums(part: str, findings: Findings) -> LineFaults:
    return LineFaults(f"corpus/{part}.sha256", RULE, findings)
