"""A test set of WMT as the files that the task `translation` reads, and back (P-32).

`source.jsonl` has a record for each segment with all that is known of it, `reference.jsonl` the references of each, and
`systems/NAME.jsonl` what a system wrote. Ids are `document:segment`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote

from basanite.formats.foreign_files import RULE, Losses
from basanite.formats.items import ContentError, Items, read_items, text_of, texts_of
from basanite.formats.records import Place
from basanite.formats.texts.wmt import FACTS, DataSet, Document, Version
from basanite.problems import Findings

SOURCE, REFERENCE, SYSTEMS = "source.jsonl", "reference.jsonl", "systems"
PLACE: Final = Place("reference", RULE)
SUBMITTED: Final = Place("submission", RULE)
NAME_LENGTH: Final = 80
OF_SOURCE: Final = ("document", "segment", "paragraph", "source_lang", "target_lang", "dataset", *FACTS)
OF_REFERENCE: Final = ("document", *FACTS)
FIRST_NAME: Final = ord("A")


@dataclass(frozen=True)
class Given:
    """The files that make a test set: the source, and whatever translations there are."""

    source: Path
    reference: Path | None = None
    systems: Mapping[str, Path] = field(default_factory=dict)


def files_of(data_set: DataSet, findings: Findings) -> dict[str, bytes]:
    """The files of a test set by name, unless two segments or systems would have one name."""
    records = [record for document in data_set.documents for record in _sources(data_set, document)]
    _check_names(data_set, [record["id"] for record in records], findings)
    files = {SOURCE: _lines(records)}
    references = [record for document in data_set.documents for record in _references(document)]
    files |= {REFERENCE: _lines(references)} if references else {}
    names = sorted({version.name for document in data_set.documents for version in document.systems})
    return files | {f"{SYSTEMS}/{file_name(name)}.jsonl": _lines(_answers(data_set, name)) for name in names}


def file_name(system: str) -> str:
    """The name of a system as that of a file: what a path cannot hold is escaped as in addresses.

    >>> file_name("Online-A"), file_name("../up")
    ('Online-A', '%2E%2E%2Fup')
    """
    name = quote(system, safe=" +@,()")
    return name.replace(".", "%2E") if name.startswith(".") else name


def system_of(path: Path) -> str:
    """The name of the system whose file this is.

    >>> system_of(Path("systems/%2E%2E%2Fup.jsonl"))
    '../up'
    """
    return unquote(path.name.removesuffix(".jsonl"))


def _check_names(data_set: DataSet, ids: Sequence[str], findings: Findings) -> None:
    if len(set(ids)) < len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        _refuse(findings, f"two segments would both be called {twice!r}", "rename documents: leave out colons", twice)
    names = {version.name for document in data_set.documents for version in document.systems}
    folded: dict[str, str] = {}
    for name in sorted(names):
        if len(file_name(name)) > NAME_LENGTH or "\x00" in name:
            _refuse(findings, "the name of a system is too long for a file", "rename the system", name)
        if folded.setdefault(name.casefold(), name) != name:
            _refuse(findings, "the names of two systems differ in case alone", "rename one of them", name)


def _refuse(findings: Findings, message: str, fix: str, found: str) -> None:
    findings.add(PLACE.problem("", None, message, fix, found))


def _lines(records: Iterator[dict[str, Any]] | Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _name(document: Document, segment: str) -> str:
    return f"{document.id}:{segment}"


def _sources(data_set: DataSet, document: Document) -> Iterator[dict[str, Any]]:
    languages = {"source_lang": document.source_lang, "target_lang": document.target_lang, "dataset": data_set.id}
    more = {name: value for name, value in (languages | dict(document.facts)).items() if value}
    for number, paragraph in enumerate(document.paragraphs, start=1):
        for segment in paragraph:
            place = {"document": document.id, "segment": segment, "paragraph": number}
            names = [version.name for version in document.references if segment in version.texts]
            translators = {"translators": names} if names else {}
            yield {
                "id": _name(document, segment),
                **place,
                **more,
                **translators,
                "text": document.source[segment],
            }


def _references(document: Document) -> Iterator[dict[str, Any]]:
    for segment in document.source:
        texts = [version.texts[segment] for version in document.references if segment in version.texts]
        if texts:
            head = {"id": _name(document, segment), "document": document.id}
            yield {**head, **document.facts, "references": texts}


def _answers(data_set: DataSet, system: str) -> Iterator[dict[str, Any]]:
    for document in data_set.documents:
        for version in document.systems:
            if version.name == system:
                yield from ({"id": _name(document, at), "text": text} for at, text in version.texts.items())


def read_files(given: Given, findings: Findings) -> DataSet | None:
    """The test set that some files make, with all that is wrong or was left behind; None if it cannot be had."""
    source = read_items(given.source, _source_content, PLACE, findings, used=("text", "translators", "paragraph"))
    references = _references_in(given, findings)
    read = {name: read_items(path, text_of, SUBMITTED, findings) for name, path in sorted(given.systems.items())}
    systems = {name: items for name, items in read.items() if items is not None}
    if source is None or not findings.valid:
        return None
    _report_unknown_segments(source, [*references, *systems.values()], findings)
    losses = Losses(given.source.name)
    for items, kept in ((source, OF_SOURCE), *((one, OF_REFERENCE) for one in references)):
        for name in (name for name in items.columns if name not in kept):
            losses.add(f"the column {name[:60]!r} of {items.file}")
    known = _Translations(
        {id_: texts for items in references for id_, texts in _by_id(items).items()},
        {name: _by_id(items) for name, items in systems.items()},
    )
    documents = tuple(_document_with_translations(one, source, known) for one in _documents(source, losses))
    findings.extend(losses.problems())
    dataset = next(iter(source.columns.get("dataset", ())), "") or given.source.stem
    return DataSet(dataset, documents) if findings.valid else None


def _references_in(given: Given, findings: Findings) -> list[Items]:
    if given.reference is None:
        return []
    found = read_items(given.reference, texts_of, PLACE, findings, used=("references", "text"))
    return [] if found is None else [found]


@dataclass(frozen=True)
class _Source:
    """What a record of the source says beside its short columns."""

    text: str
    paragraph: int
    translators: tuple[str, ...]


def _source_content(fields: Mapping[str, Any]) -> _Source:
    names, paragraph = fields.get("translators") or [], fields.get("paragraph")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ContentError("translators is not a list of names", 'write "translators": ["A"]', names)
    if len(set(names)) < len(names):
        raise ContentError("a translator appears twice", "name each of them once", ", ".join(names))
    if isinstance(paragraph, str) and paragraph.isascii() and paragraph.isdecimal():
        paragraph = int(paragraph[:9])
    if paragraph is not None and (isinstance(paragraph, bool) or not isinstance(paragraph, int)):
        raise ContentError("paragraph is not a whole number", 'write "paragraph": 1', paragraph)
    return _Source(text_of(fields), paragraph or 1, tuple(names))


def _report_unknown_segments(source: Items, others: Sequence[Items], findings: Findings) -> None:
    """Translations of what the source does not have: then the files do not belong together."""
    known = set(source.ids)
    for items in others:
        for id_, line in zip(items.ids, items.lines, strict=True):
            if id_ not in known:
                words = f"{source.file} has no segment {id_[:80]!r}"
                findings.add(SUBMITTED.problem(items.file, line, words, "give the source it belongs to", id_))


@dataclass(frozen=True)
class _Rows:
    """A document that is being put together, and which row of the source each segment is."""

    document: Document
    rows: Mapping[str, int]


def _documents(source: Items, losses: Losses) -> Iterator[_Rows]:
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(source.columns.get("document", ("",) * len(source.ids))):
        rows.setdefault(name or "document", []).append(row)
    yield from (_document(name, source, several, losses) for name, several in rows.items())


def _document(name: str, source: Items, rows: Sequence[int], losses: Losses) -> _Rows:
    column = source.columns.get("segment", ())
    segments = {column[row]: row for row in rows if column}
    if len(segments) < len(rows) or "" in segments:  # the column is missing, or names a segment twice
        segments = {source.ids[row]: row for row in rows}
    paragraphs: dict[int, list[str]] = {}
    for segment, row in segments.items():
        paragraphs.setdefault(source.content[row].paragraph, []).append(segment)
    said = {column: _document_fact(source, column, rows, losses) for column in (*FACTS, "source_lang", "target_lang")}
    document = Document(
        name,
        tuple(tuple(paragraph) for paragraph in paragraphs.values()),
        {segment: source.content[segments[segment]].text for several in paragraphs.values() for segment in several},
        facts={fact: said[fact] for fact in FACTS if said[fact]},
        source_lang=said["source_lang"],
        target_lang=said["target_lang"],
    )
    return _Rows(document, segments)


def _document_fact(source: Items, column: str, rows: Sequence[int], losses: Losses) -> str:
    """What the segments of a document say of it, which is what the first says."""
    cells = source.columns.get(column, ("",) * len(source.ids))
    if any(cells[row] != cells[rows[0]] for row in rows):
        losses.add(f"{column} of single segments: it is known of whole documents, the first is taken")
    return cells[rows[0]]


@dataclass(frozen=True)
class _Translations:
    """All translations by the ids of segments: references, and what each system wrote."""

    references: Mapping[str, Sequence[str]]
    systems: Mapping[str, Mapping[str, str]]


def _by_id(items: Items) -> dict[str, Any]:
    return dict(zip(items.ids, items.content, strict=True))


def _document_with_translations(one: _Rows, source: Items, known: _Translations) -> Document:
    ids = {segment: source.ids[row] for segment, row in one.rows.items()}
    versions: dict[str, dict[str, str]] = {}
    for segment, id_ in ids.items():
        texts = known.references.get(id_, ())
        translators = source.content[one.rows[segment]].translators
        if len(translators) != len(texts):  # A, B and so on where nobody says
            translators = [chr(FIRST_NAME + at) if at < 26 else f"R{at + 1}" for at in range(len(texts))]
        for name, text in zip(translators, texts, strict=True):
            versions.setdefault(name, {})[segment] = text
    answers = {name: {at: texts[ids[at]] for at in ids if ids[at] in texts} for name, texts in known.systems.items()}
    return replace(
        one.document,
        references=tuple(Version(name, versions[name]) for name in sorted(versions)),
        systems=tuple(Version(name, texts) for name, texts in answers.items() if texts),
    )
