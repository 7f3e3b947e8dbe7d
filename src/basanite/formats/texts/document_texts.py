"""Whole documents as texts: a folder, or its archive, with one file for each document.

This is how transcripts and translations stand beside the documents of a data set (`<DocID>.transcription.txt`,
`<DocID>.translation.eng.txt`, M81, M83): the name up to the first dot is the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from basanite.formats.archives.archive import Limits, Member, open_source
from basanite.formats.file_kinds import has_header, text_kind
from basanite.formats.items import ContentError, Items, Take
from basanite.formats.records import Place
from basanite.formats.single_file import beginning_of, is_tar
from basanite.problems import Findings

LIMITS: Final = Limits(total_bytes=2 << 30)
DOCUMENT: Final = "document"


def is_documents(path: Path) -> bool:
    """Whether a path is a folder or an archive of documents, not a single file, packed or not."""
    if path.is_dir() or not is_tar(path):
        return path.is_dir()
    start = beginning_of(path)  # where an archive begins with a file of items, it holds no plain texts
    return text_kind(start) is None and not has_header(start, "id")


def read_documents(path: Path, take: Take, place: Place, findings: Findings, *, lines: bool = False) -> Items:
    """One item for each document, or with `lines` one for each line of it, called `<document>:<number>`."""
    source = open_source(path, limits=LIMITS, where=place.where)
    seen: dict[str, str] = {}
    kept: list[tuple[str, str, int, object]] = []
    for member in source.members(findings):
        document = member.name.partition(".")[0]
        if document in seen:
            message = f"{document} has another file, {seen[document]}"
            findings.add(place.problem(member.name, None, message, "keep one file for each document", document))
            continue
        seen[document] = member.name
        kept += [(document, *item) for item in _items(member, document, take, place, findings, lines=lines)]
    kept.sort(key=lambda item: (item[0], item[2]))
    return Items(
        source.name,
        tuple(name for _, name, *_ in kept),
        tuple(content for *_, content in kept),
        [line for *_, line, _ in kept],
        source.digest.value(),
        {DOCUMENT: tuple(document for document, *_ in kept)},
    )


def _items(
    member: Member, document: str, take: Take, place: Place, findings: Findings, *, lines: bool
) -> Iterator[tuple[str, int, object]]:
    text = _text(member, place, findings)
    if text is None:
        return
    rows = text.split("\n") if lines else [text]
    if lines and rows[-1] == "":
        rows.pop()
    for number, row in enumerate(rows, start=1):
        try:
            yield f"{document}:{number}" if lines else document, number, take({"text": row})
        except ContentError as error:
            findings.add(place.problem(member.name, number, str(error), error.fix, error.found))


def _text(member: Member, place: Place, findings: Findings) -> str | None:
    """The text of a file, with line feeds alone between its lines."""
    try:
        text = member.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = member.data.count(b"\n", 0, error.start) + 1
        found = member.data[error.start : error.start + 20]
        findings.add(place.problem(member.name, line, "not UTF-8", "save the file as UTF-8", found))
        return None
    if "\0" in text:
        findings.add(place.problem(member.name, None, "a NUL character: this is not text", "give UTF-8 text"))
        return None
    return text.replace("\r\n", "\n")
