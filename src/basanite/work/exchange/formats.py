"""All formats that annotations are written in and read from, by name, and RDF with provenance (P-32, R-8, R-26).

Files are of bounded number and size (X-8).
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from basanite.errors import SettingError, UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.formats.single_file import read_unpacked
from basanite.problems import Findings
from basanite.reading.export import pair_of
from basanite.reading.package.documents import Document
from basanite.reading.package.manifest import NAME
from basanite.reading.patterns import Prefixes
from basanite.reading.prov_rdf import assertion_rows, assertions_of, document_rows
from basanite.reading.provenance import Assertion, plain_label, sentences
from basanite.reading.rdf import Graphed, format_of, read_rdf, write_rdf
from basanite.registry import suggestion
from basanite.work.exchange.brat import read_brat, write_brat
from basanite.work.exchange.conll import read_conll, write_conll
from basanite.work.exchange.label_studio import read_label_studio, write_label_studio
from basanite.work.exchange.model import LARGEST, MOST_FILES, Annotated, Losses, Place
from basanite.work.exchange.web_annotation import read_web_annotation, write_web_annotation

Files = Iterable[tuple[str, bytes]]
Writer = Callable[[Sequence[Annotated], Losses], Files]
Reader = Callable[[Path, Mapping[str, str], Findings], list[Annotated]]
FORMAL: Final = ("annotations", "pairs", "turtle", "rdfxml", "jsonld", "nquads")
RDF_ENDINGS: Final = {"turtle": ".ttl", "rdfxml": ".rdf", "jsonld": ".jsonld", "nquads": ".nq"}


@dataclass(frozen=True)
class Format:
    """One format: what it is called, and the ways out and in."""

    name: str
    title: str
    write: Writer
    read: Reader
    needs_texts: bool = False
    """Whether its files come without the texts."""


def format_named(name: str) -> Format:
    """The format of a name; an unknown one is answered with the nearest.

    >>> format_named("brat").title
    'brat standoff'
    """
    if name not in FORMATS:
        raise SettingError(f"No format of annotations is called {name!r}. {suggestion(name, tuple(FORMATS))}")
    return FORMATS[name]


def write_to(format_: Format, annotated: Sequence[Annotated], findings: Findings) -> dict[str, bytes]:
    """The files of some annotations; several annotators of one text have folders of their own where files are texts."""
    losses = Losses(format_.name)
    if format_.name not in ("brat", "conll"):
        files = dict(format_.write(annotated, losses))
    else:
        files = {}
        for who, mine in _by_annotator(annotated):
            files |= {f"{who}{name}": data for name, data in format_.write(mine, losses)}
    findings.extend(losses.problems())
    return files


def _by_annotator(annotated: Sequence[Annotated]) -> Iterator[tuple[str, list[Annotated]]]:
    makers = dict.fromkeys(one.annotator for one in annotated)
    for number, who in enumerate(makers, start=1):
        name = who if NAME.fullmatch(who) else f"annotator-{number}"  # strangers' names are no paths (X-8)
        yield (f"{name}/" if len(makers) > 1 else ""), [one for one in annotated if one.annotator == who]


def _read_brat(path: Path, texts: Mapping[str, str], findings: Findings) -> list[Annotated]:
    """A folder of texts and lines, or one of the two files; folders inside are annotators."""
    root = path if path.is_dir() else path.parent
    found = sorted(root.rglob("*.ann")) if path.is_dir() else [path.with_suffix(".ann")]
    if len(found) > MOST_FILES:
        raise UnreadableError(f"{path} has more than {MOST_FILES} files. Give fewer at a time.")
    made: list[Annotated] = []
    for ann in found:
        if ann.is_symlink() or ann.with_suffix(".txt").is_symlink():
            Place(ann.name, findings).fault(None, "it is a link", "put the file itself there")
            continue
        who = ann.parent.name if path.is_dir() and ann.parent != root else ""
        text = _text_beside(ann, texts)
        one = read_brat(ann.stem, text, read_bounded(ann, LARGEST), Place(ann.name, findings))
        made += [] if one is None else [_made_by(one, who)]
    if not found:
        Place(path.name, findings).fault(None, "there is no .ann file", "give the folder with .txt and .ann files")
    return made


def _text_beside(ann: Path, texts: Mapping[str, str]) -> bytes:
    path = ann.with_suffix(".txt")
    if not path.is_file() and ann.stem in texts:
        return texts[ann.stem].encode()
    return read_bounded(path, LARGEST)


def _made_by(one: Annotated, who: str) -> Annotated:
    return Annotated(one.document, one.text, one.objects, one.links, who, one.note)


def _whole(read: Callable[[bytes, Place, Mapping[str, str]], list[Annotated]]) -> Reader:
    """The reader of a format that is one file."""
    return lambda path, texts, findings: read(read_unpacked(path, LARGEST), Place(path.name, findings), texts)


def _one(name: str, write: Callable[[Iterable[Annotated], Losses], bytes]) -> Writer:
    return lambda annotated, losses: [(name, write(annotated, losses))]


FORMATS: Final[Mapping[str, Format]] = {
    one.name: one
    for one in (
        Format("brat", "brat standoff", write_brat, _read_brat),
        Format(
            "label-studio",
            "Label Studio JSON",
            _one("label-studio.json", write_label_studio),
            _whole(lambda data, place, texts: read_label_studio(data, place)),
        ),
        Format(
            "conll",
            "CoNLL with BIO tags",
            _one("annotations.conll", write_conll),
            _whole(lambda data, place, texts: read_conll(data, place, texts=dict(texts))),
        ),
        Format(
            "web-annotation",
            "W3C Web Annotation (JSON-LD)",
            _one("annotations.jsonld", write_web_annotation),
            _whole(lambda data, place, texts: read_web_annotation(data, place, texts=texts)),
            needs_texts=True,
        ),
    )
}


def write_statements(
    assertions: Iterable[Assertion], documents: Iterable[Document], out: IO[bytes], format_: str, prefixes: Prefixes
) -> None:
    """Assertions as RDF: statement nodes, PROV-O, Web Annotation selectors; written as they come."""
    write_rdf(_rows(assertions, documents), out, format_, prefixes=prefixes.all)


def read_statements(path: Path, findings: Findings, *, format_: str | None = None) -> list[Assertion]:
    """The assertions that a graph of ours holds."""
    return assertions_of(read_rdf(path, findings, format_=format_of(path, format_)))


def pairs(assertions: Iterable[Assertion], document: Document, prefixes: Prefixes) -> Iterator[dict[str, object]]:
    """Each assertion with the sentences it rests on: what learns to map text to statements is trained on (R-26)."""
    ends = list(sentences(document.text))
    return (pair_of(prefixes, one, document, ends) for one in assertions if one.spans)


def annotation_lines(assertions: Iterable[Assertion], prefixes: Prefixes) -> Iterator[bytes]:
    """Assertions as lines of a package's `annotations/PART.ndjson`."""
    for one in assertions:
        yield json.dumps(record_of(one, prefixes), ensure_ascii=False, sort_keys=True).encode() + b"\n"


def record_of(one: Assertion, prefixes: Prefixes) -> Mapping[str, Any]:
    """One assertion as the object that a package's annotations hold."""
    terms = (one.statement.subject, one.statement.predicate, one.statement.object)
    plain = [plain_label(term, one.document) for term in terms]
    spans = [
        {"role": s.role, "start": s.start, "end": s.end, "exact": s.exact, "prefix": s.prefix, "suffix": s.suffix}
        for s in one.spans
    ]
    record: dict[str, Any] = {
        "document": one.document,
        "statement": [prefixes.short(term) for term in plain],
        "kind": one.kind,
        "provenance": spans,
    }
    if one.annotator:
        record["annotator"] = one.annotator
    return record if one.version == 1 else {**record, "version": one.version}


def write_formal(
    format_: str, found: Sequence[tuple[Document, Sequence[Assertion]]], prefixes: Prefixes
) -> dict[str, bytes]:
    """The files of one of the formal formats: lines of a package, pairs, or RDF."""
    if format_ == "annotations":
        lines = [line for _, said in found for line in annotation_lines(said, prefixes)]
        return {"annotations.ndjson": b"".join(lines)}
    if format_ == "pairs":
        every = [pair for document, said in found for pair in pairs(said, document, prefixes)]
        plain = (json.dumps(pair, ensure_ascii=False, sort_keys=True) for pair in every)
        return {"pairs.ndjson": "".join(f"{line}\n" for line in plain).encode()}
    out = io.BytesIO()
    texts = {document.name: document for document, _ in found}
    write_statements((one for _, said in found for one in said), texts.values(), out, format_, prefixes)
    return {f"annotations{RDF_ENDINGS[format_]}": out.getvalue()}


def _rows(assertions: Iterable[Assertion], documents: Iterable[Document]) -> Iterator[Graphed]:
    for document in documents:
        yield from map(Graphed, document_rows(document, text=False))
    for assertion in assertions:
        yield from assertion_rows(assertion)
