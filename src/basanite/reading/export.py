"""Parts of a package for other programs: RDF with provenance, SHACL, SPARQL, pairs of assertion and text (R-8)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Final, TypeVar

from basanite.problems import Findings
from basanite.reading.ontology import Cardinality, Ontology, OntologyClass, Property
from basanite.reading.package.documents import Document
from basanite.reading.package.model import ONTOLOGY, Package
from basanite.reading.patterns import Prefixes
from basanite.reading.prov_rdf import assertion_rows, document_rows
from basanite.reading.provenance import Assertion, plain_label, sentences
from basanite.reading.query import sparql
from basanite.reading.rdf import Graphed, format_of, read_rdf, write_rdf
from basanite.reading.terms import SH, TS, TYPE, XSD, Iri, Literal, Node, Statement, Term, integer, names

Row = TypeVar("Row")


def export_to(
    package: Package, what: str, out: Path, *, part: str, format_: str | None, opened: Callable[[Path], IO[bytes]]
) -> int:
    """Write one part of a package; how many statements, shapes, queries or pairs it was."""
    lines = {"sparql": _sparql_lines, "pairs": _pair_lines}.get(what)
    counter = _Counter()
    if lines is not None:
        with opened(out) as file:
            file.writelines(f"{line}\n".encode() for line in counter.each(lines(package, part)))
        return counter.count
    name = format_of(out, format_)
    with opened(out) as file:
        write_rdf(_graph(package, what, part, counter), file, name, prefixes=package.manifest.prefixes.all)
    return counter.count


class _Counter:
    """Counts what passes by."""

    def __init__(self) -> None:
        self.count = 0

    def each(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows, counted."""
        for row in rows:
            self.count += 1
            yield row


def _graph(package: Package, what: str, part: str, counter: _Counter) -> Iterator[Graphed]:
    if what == "annotations":
        documents = package.documents(package.manifest.part(part).name)
        for document in documents.values():
            yield from map(Graphed, document_rows(document, text=False))
        for assertion in counter.each(package.assertions(part, documents)):
            yield from assertion_rows(assertion)
    elif what == "shacl":
        yield from map(Graphed, counter.each(shapes(package.ontology)))
    else:
        yield from _with_numbered_nodes(counter.each(read_rdf(package.root / ONTOLOGY, Findings())))


def _with_numbered_nodes(rows: Iterable[Graphed]) -> Iterator[Graphed]:
    """The same graph with its nameless things numbered, since a parser calls them something new each time."""
    numbers: dict[Node, Node] = {}
    for row in rows:
        subject, object_ = row.statement.subject, row.statement.object
        if isinstance(subject, Node):
            subject = numbers.setdefault(subject, Node(f"n{len(numbers) + 1}"))
        if isinstance(object_, Node):
            object_ = numbers.setdefault(object_, Node(f"n{len(numbers) + 1}"))
        yield Graphed(Statement(subject, row.statement.predicate, object_), row.graph)


def _sparql_lines(package: Package, part: str) -> Iterator[str]:
    prefixes = package.manifest.prefixes
    for query in package.queries_for(part) if part else package.queries:
        yield f"# {query.id}: {query.question}\n{sparql(query, prefixes)}\n"


def _pair_lines(package: Package, part: str) -> Iterator[str]:
    documents = package.documents(package.manifest.part(part).name)
    ends = {name: list(sentences(document.text)) for name, document in documents.items()}
    for assertion in package.assertions(part, documents):
        if assertion.spans:
            pair = pair_of(
                package.manifest.prefixes, assertion, documents[assertion.document], ends[assertion.document]
            )
            yield json.dumps(pair, ensure_ascii=False, sort_keys=True)


def pair_of(prefixes: Prefixes, found: Assertion, document: Document, ends: list[tuple[int, int]]) -> dict[str, object]:
    """A statement with the sentences that its pieces of text lie in, and the pieces by role."""
    short, statement = prefixes.short, found.statement
    terms = (statement.subject, statement.predicate, statement.object)
    covered = [(a, b) for a, b in ends if any(span.start < b and a < span.end for span in found.spans)]
    return {
        "document": found.document,
        "statement": [short(plain_label(term, found.document)) for term in terms],
        "text": " ".join(document.text[start:end] for start, end in covered),
        "pieces": {span.role: span.exact for span in reversed(found.spans)},
        "kind": found.kind,
    }


SHAPE: Final = TS + "shape:"
NODE_SHAPE, TARGET_CLASS, PROPERTY, PATH, CLASS, DATATYPE = names(
    SH, "NodeShape", "targetClass", "property", "path", "class", "datatype"
)
MIN_COUNT, MAX_COUNT, NOT, DISJOINT, NAME = names(SH, "minCount", "maxCount", "not", "disjoint", "name")


def shapes(ontology: Ontology) -> Iterator[Statement]:
    """One node shape a class, one property shape for each property of that class itself; the rest is inherited."""
    for found in ontology.classes.values():
        if found.mark != "query-only":
            yield from _class_shape(ontology, found)


def shape_of(*parts: Iri) -> Iri:
    """The name of the shape of a class, or of a property of a class."""
    digest = hashlib.sha256("\n".join(part.value for part in parts).encode()).hexdigest()
    return Iri(SHAPE + digest[:32])


def _class_shape(ontology: Ontology, found: OntologyClass) -> Iterator[Statement]:
    shape = shape_of(found.iri)
    yield Statement(shape, TYPE, NODE_SHAPE)
    yield Statement(shape, TARGET_CLASS, found.iri)
    for other in sorted(b for a, b in ontology.disjoint if a == found.iri):
        excluded = shape_of(found.iri, other)
        yield Statement(shape, NOT, excluded)
        yield Statement(excluded, TYPE, NODE_SHAPE)
        yield Statement(excluded, CLASS, other)
    for property_ in sorted(ontology.properties.values(), key=lambda p: p.iri):
        if property_.domain == found.iri:
            inner = shape_of(found.iri, property_.iri)
            yield Statement(shape, PROPERTY, inner)
            yield from _property_shape(ontology, property_, inner)


def _property_shape(ontology: Ontology, property_: Property, shape: Iri) -> Iterator[Statement]:
    yield Statement(shape, PATH, property_.iri)
    if property_.label:
        yield Statement(shape, NAME, Literal(property_.label))
    yield from (Statement(shape, name, value) for name, value in _range(ontology, property_.range))
    yield from (Statement(shape, DISJOINT, other) for other in property_.disjoint)
    for limit in ontology.limits.get(property_.iri, ()):
        yield from (Statement(shape, name, value) for name, value in _count(limit))


def _range(ontology: Ontology, range_: Iri | None) -> Iterator[tuple[Iri, Term]]:
    if range_ is None:
        return
    if range_ in ontology.classes:
        yield CLASS, range_
    elif range_ in ontology.datatypes:
        yield DATATYPE, ontology.datatypes[range_].base
        yield from ((Iri(SH + facet), bound) for facet, bound in ontology.datatypes[range_].bounds)
    elif range_.value.startswith(XSD):
        yield DATATYPE, range_


def _count(limit: Cardinality) -> Iterator[tuple[Iri, Term]]:
    if limit.least:
        yield MIN_COUNT, integer(limit.least)
    if limit.most is not None:
        yield MAX_COUNT, integer(limit.most)
