"""The formal side on its way: RDF with provenance, (assertion, text) pairs, lines of a package (R-8, R-26)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

from basanite.problems import Findings
from basanite.reading.exporting import pair_of
from basanite.reading.package.documents import Document
from basanite.reading.patterns import Prefixes
from basanite.reading.prov_rdf import assertion_rows, assertions_of, document_rows
from basanite.reading.provenance import Assertion, plain_label, sentences
from basanite.reading.rdf import Graphed, format_of, read_rdf, write_rdf

FORMAL: Final = ("annotations", "pairs", "turtle", "rdfxml", "jsonld", "nquads")
RDF_ENDINGS: Final = {"turtle": ".ttl", "rdfxml": ".rdf", "jsonld": ".jsonld", "nquads": ".nq"}


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
