"""Test sets of translation as items: WMT's XML, NIST's SGM (mteval), and folders as mt-metrics-eval has them.

Segments are called `document:segment`, and what a file knows of documents (domain, collection, original language)
becomes columns. A file of lines beside such a reference is paired by position with all segments of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.formats.items import Items
from basanite.formats.records import Place, digest_of, joined_digest, read_lines
from basanite.formats.single_file import read_unpacked
from basanite.formats.texts.wmt import LARGEST, DataSet, Document, Element, Version, data_set_of, parse_xml
from basanite.problems import Findings

SGM_SETS: Final = ("srcset", "refset", "tstset")
SGM_ROOTS: Final = (*SGM_SETS, "mteval")
REFERENCES, OUTPUTS, DOCUMENTS, SOURCES = "references", "system-outputs", "documents", "sources"
DOCUMENT, DOMAIN = "document", "domain"


@dataclass(frozen=True)
class TestSet:
    """The references of a test set, and the names of all its segments, of which some may have no reference."""

    items: Items
    segments: tuple[str, ...]


def read_data_set(path: Path, place: Place, findings: Findings) -> DataSet | None:
    """The test set in an XML or SGM file."""
    root = parse_xml(read_unpacked(path, LARGEST), path.name, findings, rule=place.rule, where=place.where)
    if root is None:
        return None
    if root.tag.lower() in SGM_ROOTS:
        _check_sgm(root, path.name, place, findings)
        return DataSet(_attribute(root, "setid"), tuple(_sgm_documents(root)))
    return data_set_of(root, path.name, findings)


def read_references(path: Path, place: Place, findings: Findings) -> TestSet | None:
    """The references in an XML or SGM file, all of each segment."""
    found = read_data_set(path, place, findings)
    if found is None or not findings.valid:
        return None
    rows = [(document, segment) for document in found.documents for segment in document.source]
    texts = [
        tuple(one.texts[segment] for one in document.references if segment in one.texts) for document, segment in rows
    ]
    known = [at for at, several in enumerate(texts) if several]
    if not known:
        fix = "give the file with the references: <ref> in XML, <refset> in SGM"
        findings.add(place.problem(path.name, None, "there is no reference in it", fix))
        return None
    names = tuple(f"{document.id}:{segment}" for document, segment in rows)
    items = Items(
        path.name,
        tuple(names[at] for at in known),
        tuple(texts[at] for at in known),
        [1] * len(known),
        digest_of([(path.name, read_bounded(path, LARGEST))]),
        dict(_columns([rows[at][0] for at in known])),
    )
    return TestSet(items, names)


def systems_in(path: Path) -> tuple[str, ...]:
    """The systems in an XML or SGM file; none in one that cannot be read."""
    found = read_data_set(path, Place("submission", ""), Findings())
    return () if found is None else _system_names(found)


def _system_names(found: DataSet) -> tuple[str, ...]:
    return tuple(sorted({version.name for document in found.documents for version in document.systems}))


def read_system(path: Path, name: str | None, place: Place, findings: Findings) -> Items | None:
    """What a system wrote, from an XML or SGM file; its name is needed where there are several."""
    found = read_data_set(path, place, findings)
    if found is None or not findings.valid:
        return None
    names = _system_names(found)
    if not names:
        fix = "give the file with the system's translations: <hyp> in XML, <tstset> in SGM, or one segment per line"
        findings.add(place.problem(path.name, None, "there is no translation of a system in it", fix))
        return None
    if name is None and len(names) > 1:
        raise SettingError(f"{path.name} holds {len(names)} systems: set system=NAME. There are: {', '.join(names)}.")
    chosen = names[0] if name is None else name
    if chosen not in names:
        raise SettingError(f"{path.name} has no system {chosen!r}. There are: {', '.join(names)}.")
    texts = {
        f"{document.id}:{segment}": text
        for document in found.documents
        for version in document.systems
        if version.name == chosen
        for segment, text in version.texts.items()
    }
    digest = digest_of([(path.name, read_bounded(path, LARGEST))])
    return Items(path.name, tuple(texts), tuple(texts.values()), [1] * len(texts), digest)


def _columns(documents: Sequence[Document]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield DOCUMENT, tuple(document.id for document in documents)
    for fact in dict.fromkeys(name for document in documents for name in document.facts):
        yield fact, tuple(document.facts.get(fact, "") for document in documents)


def _sgm_documents(root: Element) -> Iterator[Document]:
    """The documents of SGM sets: each set has all documents of one or more translators or systems."""
    found: dict[str, dict[str, dict[str, dict[str, str]]]] = {}
    facts: dict[str, Mapping[str, str]] = {}
    for part in (one for one in root.walk() if one.tag.lower() in SGM_SETS):
        kind = part.tag.lower()
        for doc in (one for one in part.walk() if one.tag.lower() == "doc"):
            name = _attribute(doc, "docid")
            system = _attribute(doc, "sysid") or _attribute(part, "sysid")
            texts = {_attribute(seg, "id"): seg.text.strip() for seg in doc.walk() if seg.tag.lower() == "seg"}
            found.setdefault(name, {}).setdefault(kind, {})[system] = texts
            genre = {key: _attribute(doc, key) for key in ("genre", "origlang", DOMAIN) if _attribute(doc, key)}
            facts.setdefault(name, genre)
    for name, kinds in found.items():
        source = dict.fromkeys(segment for sides in kinds.values() for texts in sides.values() for segment in texts)
        references, systems = (_versions(kinds.get(kind, {})) for kind in SGM_SETS[1:])
        texts = dict.fromkeys(source, "")
        yield Document(name, (tuple(source),), texts, references, systems, facts[name])


def _check_sgm(root: Element, file: str, place: Place, findings: Findings) -> None:
    """Every document has a name, and every segment of it one of its own."""
    for doc in (one for one in root.walk() if one.tag.lower() == "doc"):
        ids = [_attribute(seg, "id") for seg in doc.walk() if seg.tag.lower() == "seg"]
        if not _attribute(doc, "docid"):
            findings.add(place.problem(file, doc.line, "a document has no docid", 'write <doc docid="…">'))
        if "" in ids or len(set(ids)) < len(ids):
            message = "a segment has no id, or one that appears twice in its document"
            findings.add(place.problem(file, doc.line, message, 'write <seg id="1">, each number once'))


def _versions(texts: Mapping[str, Mapping[str, str]]) -> tuple[Version, ...]:
    return tuple(Version(name, texts[name]) for name in sorted(texts))


def _attribute(at: Element, name: str) -> str:
    return next((value for key, value in at.attributes.items() if key.lower() == name), "")


def is_metrics_folder(path: Path) -> bool:
    """Whether a folder is a test set of mt-metrics-eval."""
    return path.is_dir() and (path / REFERENCES).is_dir() and any((path / one).is_dir() for one in (SOURCES, OUTPUTS))


def read_metrics_folder(
    path: Path, pair: str | None, chosen: Sequence[str], place: Place, findings: Findings
) -> TestSet | None:
    """The references of a language pair in a folder of mt-metrics-eval, with documents and domains of its segments."""
    files = sorted((path / REFERENCES).glob("*.txt"))
    pairs = sorted({file.name.partition(".")[0] for file in files})
    if pair is None and len(pairs) != 1:
        raise SettingError(
            f"{path.name} holds {len(pairs)} language pairs: set pair=NAME. There are: {', '.join(pairs)}."
        )
    pair = pairs[0] if pair is None else pair
    named = {file.name.split(".")[1]: file for file in files if file.name.partition(".")[0] == pair}
    if not named or not set(chosen) <= set(named):
        raise SettingError(
            f"{path.name} has no such references of {pair!r}. There are: {', '.join(file.name for file in files)}."
        )
    read = [read_lines(named[name], place, findings) for name in (chosen or sorted(named))]
    names = tuple(read[0].columns["id"])
    for other in read[1:]:
        if len(other) != len(names):
            message = f"{len(other)} lines where {read[0].file} has {len(names)}"
            findings.add(place.problem(other.file, None, message, "give references of the same segments"))
    columns = _docs(path / DOCUMENTS / f"{pair}.docs", len(names), place, findings)
    if not findings.valid:
        return None
    texts = tuple(zip(*(one.columns["text"] for one in read), strict=True))
    digest = joined_digest([one.digest for one in read])
    items = Items(f"{path.name} {pair}", names, texts, [1] * len(names), digest, columns, numbered=True)
    return TestSet(items, names)


def _docs(path: Path, size: int, place: Place, findings: Findings) -> dict[str, tuple[str, ...]]:
    """The domain and document of each segment, as `.docs` files name them."""
    if not path.is_file():
        return {}
    rows = [text.split() for text in read_lines(path, place, findings).columns["text"]]
    if len(rows) != size or any(len(row) != 2 for row in rows):
        message, fix = f"{len(rows)} lines for {size} segments, or not two fields", "write `domain document` per line"
        findings.add(place.problem(path.name, None, message, fix))
        return {}
    return {DOMAIN: tuple(row[0] for row in rows), DOCUMENT: tuple(row[1] for row in rows)}
