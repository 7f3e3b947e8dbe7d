"""Provenance as plain RDF: statement nodes with content-hash names, Web Annotation selectors, PROV-O for sources (R-8).

Statement nodes, and neither named graphs for each statement nor triples inside triples: RDF/XML carries neither, and
stores look nodes up fastest. Nothing here has a blank node, so the same content is the same graph, line for line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast
from urllib.parse import quote, unquote

from basanite.reading.package.documents import Document
from basanite.reading.provenance import Assertion, Kind, Role, Span
from basanite.reading.rdf import Graphed
from basanite.reading.terms import (
    ASSERTION,
    DOCUMENT,
    OA,
    PERSON,
    PIECE,
    PROV,
    RDF,
    STATEMENT,
    TS,
    TYPE,
    Iri,
    Literal,
    Node,
    Statement,
    Term,
    integer,
    names,
)

SUBJECT, PREDICATE, OBJECT, RDF_STATEMENT = names(RDF, "subject", "predicate", "object", "Statement")
ANNOTATION, BODY, TARGET, SPECIFIC, SOURCE, SELECTOR = names(
    OA, "Annotation", "hasBody", "hasTarget", "SpecificResource", "hasSource", "hasSelector"
)
POSITION, QUOTE, START, END, EXACT, PREFIX, SUFFIX = names(
    OA, "TextPositionSelector", "TextQuoteSelector", "start", "end", "exact", "prefix", "suffix"
)
ENTITY, ATTRIBUTED, DERIVED = names(PROV, "Entity", "wasAttributedTo", "wasDerivedFrom")
ASSERTED, SAYS, KIND, ROLE, VERSION = names(TS, "Assertion", "says", "kind", "role", "version")
DOCUMENT_CLASS, NAME, PART, SHA256, TEXT = names(TS, "Document", "name", "part", "sha256", "text")


def statement_node(statement: Statement) -> Iri:
    """The name of a statement, the same wherever it is said."""
    return Iri(STATEMENT + statement.id)


def document_node(name: str) -> Iri:
    """The name of a document."""
    return Iri(DOCUMENT + quote(name, safe=""))


def statement_rows(statement: Statement) -> Iterator[Statement]:
    """A statement as a node that other statements can speak of."""
    node = statement_node(statement)
    yield Statement(node, TYPE, RDF_STATEMENT)
    yield Statement(node, SUBJECT, statement.subject)
    yield Statement(node, PREDICATE, statement.predicate)
    yield Statement(node, OBJECT, statement.object)


def document_rows(document: Document, *, text: bool) -> Iterator[Statement]:
    """A document with its hash and, if wanted, its text."""
    node = document_node(document.name)
    yield Statement(node, TYPE, DOCUMENT_CLASS)
    yield Statement(node, TYPE, ENTITY)
    yield Statement(node, NAME, Literal(document.name))
    yield Statement(node, PART, Literal(document.part))
    yield Statement(node, SHA256, Literal(document.sha256))
    if text:
        yield Statement(node, TEXT, Literal(document.text))


def assertion_rows(assertion: Assertion) -> Iterator[Graphed]:
    """An assertion: the statement in the graph of its document, and in the default graph where the text says it."""
    document, node = document_node(assertion.document), Iri(ASSERTION + assertion.id)
    yield Graphed(assertion.statement, document)
    rows = [
        *statement_rows(assertion.statement),
        Statement(node, TYPE, ASSERTED),
        Statement(node, TYPE, ENTITY),
        Statement(node, SAYS, statement_node(assertion.statement)),
        Statement(node, DERIVED, document),
        Statement(node, KIND, Literal(assertion.kind)),
        Statement(node, VERSION, integer(assertion.version)),
    ]
    if assertion.annotator:
        rows.append(Statement(node, ATTRIBUTED, Iri(PERSON + quote(assertion.annotator, safe=""))))
    yield from map(Graphed, rows)
    for number, span in enumerate(assertion.spans):
        yield from map(Graphed, _span_rows(node, document, f"{assertion.id}.{number}", span))


def assertions_of(rows: Iterable[Graphed | Statement]) -> list[Assertion]:
    """The assertions that a graph of ours holds, in the order of their names; what is incomplete is left out."""
    graph: dict[Iri | Node, dict[Iri, list[Term]]] = {}
    for row in rows:
        statement = row.statement if isinstance(row, Graphed) else row
        graph.setdefault(statement.subject, {}).setdefault(statement.predicate, []).append(statement.object)
    found = _Graph(graph)
    asserted = sorted(
        node for node, about in graph.items() if isinstance(node, Iri) and ASSERTED in about.get(TYPE, ())
    )
    return [assertion for node in asserted for assertion in found.assertion(node)]


def _span_rows(assertion: Iri, document: Iri, name: str, span: Span) -> Iterator[Statement]:
    piece, target = Iri(PIECE + name), Iri(f"{PIECE}{name}:target")
    position, quotation = Iri(f"{PIECE}{name}:position"), Iri(f"{PIECE}{name}:quote")
    yield Statement(piece, TYPE, ANNOTATION)
    yield Statement(piece, BODY, assertion)
    yield Statement(piece, ROLE, Literal(span.role))
    yield Statement(piece, TARGET, target)
    yield Statement(target, TYPE, SPECIFIC)
    yield Statement(target, SOURCE, document)
    yield Statement(target, SELECTOR, position)
    yield Statement(target, SELECTOR, quotation)
    yield Statement(position, TYPE, POSITION)
    yield Statement(position, START, integer(span.start))
    yield Statement(position, END, integer(span.end))
    yield Statement(quotation, TYPE, QUOTE)
    yield Statement(quotation, EXACT, Literal(span.exact))
    yield Statement(quotation, PREFIX, Literal(span.prefix))
    yield Statement(quotation, SUFFIX, Literal(span.suffix))


@dataclass(frozen=True)
class _Graph:
    """A graph by subject and property, to be walked."""

    about: dict[Iri | Node, dict[Iri, list[Term]]]

    def one(self, node: Term | None, name: Iri) -> Term | None:
        """The first value of a property."""
        return next(iter(self.about.get(node, {}).get(name, ())), None) if isinstance(node, Iri) else None

    def text(self, node: Term | None, name: Iri) -> str:
        """The text of a property, "" if it has none."""
        found = self.one(node, name)
        return found.lexical if isinstance(found, Literal) else ""

    def number(self, node: Term | None, name: Iri) -> int:
        """The whole number of a property; -1, which no check lets pass, if it has none."""
        text = self.text(node, name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1

    def assertion(self, node: Iri) -> Iterator[Assertion]:
        """The assertion of a node, if its statement is there."""
        says, document = self.one(node, SAYS), self.one(node, DERIVED)
        subject, predicate, object_ = (self.one(says, name) for name in (SUBJECT, PREDICATE, OBJECT))
        if isinstance(subject, Iri | Node) and isinstance(predicate, Iri) and object_ and isinstance(document, Iri):
            who = self.one(node, ATTRIBUTED)
            yield Assertion(
                Statement(subject, predicate, object_),
                unquote(document.value.removeprefix(DOCUMENT)),
                cast("Kind", self.text(node, KIND)),
                tuple(self._spans(node)),
                unquote(who.value.removeprefix(PERSON)) if isinstance(who, Iri) else "",
                self.number(node, VERSION),
            )

    def _spans(self, node: Iri) -> Iterator[Span]:
        pieces = [piece for piece in self._pieces.get(node, ()) if piece.value.startswith(PIECE)]
        for piece in sorted(pieces, key=_order):
            target = self.one(piece, TARGET)
            selectors = self.about.get(target, {}).get(SELECTOR, []) if isinstance(target, Iri) else []
            place = next((s for s in selectors if self.one(s, TYPE) == POSITION), None)
            words = next((s for s in selectors if self.one(s, TYPE) == QUOTE), None)
            texts = [self.text(words, name) for name in (EXACT, PREFIX, SUFFIX)]
            yield Span(cast("Role", self.text(piece, ROLE)), self.number(place, START), self.number(place, END), *texts)

    @cached_property
    def _pieces(self) -> dict[Term, list[Iri]]:
        found: dict[Term, list[Iri]] = {}
        for node, about in self.about.items():
            for body in about.get(BODY, ()):
                if isinstance(node, Iri):
                    found.setdefault(body, []).append(node)
        return found


def _order(piece: Iri) -> tuple[int, str]:
    """Pieces by their number; names that are none of ours have their length for it."""
    number = piece.value.rpartition(".")[2]
    return len(number), number
