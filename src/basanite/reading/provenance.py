"""Where a text says a statement: spans by position and by quotation, each guarding the other (R-8).

Positions count Unicode code points from 0 and exclude the end, as the Web Annotation selectors do. A quotation has
some text before and after it. Anyone who edits a document or counts in other units breaks one of the two, and that is
seen on load.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args

from basanite.reading.terms import Node, Statement, Term

Role = Literal["statement", "subject", "predicate", "object"]
Kind = Literal["explicit", "inferred"]
ROLES: Final = get_args(Role)
KINDS: Final = get_args(Kind)
CONTEXT: Final = 24
"""Characters of text before and after a quotation, where we make one."""

_BOUNDARY: Final = re.compile(r"([.!?][\"'”’)\]]*)\s+(?=[\"'“‘(\[]*[A-Z0-9])|()\n\s*\n")
_ABBREVIATION: Final = re.compile(r"\b(?:[A-Z]|[A-Z][a-z]{1,2}|Sept|No|vs)\.$")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a document that a statement, or one of its parts, rests on."""

    role: Role
    start: int
    end: int
    exact: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True)
class Assertion:
    """Who says that which document says a statement, and with which words."""

    statement: Statement
    document: str
    kind: Kind = "explicit"
    spans: tuple[Span, ...] = ()
    annotator: str = ""
    version: int = 1

    @cached_property
    def id(self) -> str:
        """The hash of everything that is asserted."""
        spans = [[s.role, s.start, s.end, s.exact, s.prefix, s.suffix] for s in self.spans]
        parts = [self.statement.id, self.document, self.kind, self.annotator, self.version, spans]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True)
class SpanFault:
    """What is wrong with a span, and what to write instead."""

    message: str
    fix: str
    found: str = ""


def span_at(text: str, start: int, end: int, role: Role = "statement", *, context: int = CONTEXT) -> Span:
    """The span of a document between two positions, with its quotation.

    >>> span_at("The Jets fell.", 4, 8, "subject", context=4)
    Span(role='subject', start=4, end=8, exact='Jets', prefix='The ', suffix=' fel')
    """
    before, after = text[max(start - context, 0) : start], text[end : end + context]
    return Span(role, start, end, text[start:end], before, after)


def span_fault(span: Span, text: str) -> SpanFault | None:
    """What is wrong with a span in a document, if anything; the fix names the nearest place of its quotation.

    >>> span_fault(Span("object", 0, 3, "fell"), "The Jets fell.").fix
    'write "start": 9, "end": 13'
    """
    if not 0 <= span.start < span.end:
        return SpanFault(f"the span {span.start} to {span.end} is empty or turned round", "let start be less than end")
    if span.end <= len(text) and text[span.start : span.end] == span.exact:
        return _context_fault(span, text)
    place = nearest(span.exact, text, span.start)
    stands = shorten(text[span.start : span.end])
    message = f"between {span.start} and {span.end} stands {stands!r}, not {shorten(span.exact)!r}"
    if place is None:
        return SpanFault(message, "quote what the document says; these words do not occur in it", span.exact)
    return SpanFault(message, f'write "start": {place}, "end": {place + len(span.exact)}', span.exact)


def _context_fault(span: Span, text: str) -> SpanFault | None:
    if not text.endswith(span.prefix, 0, span.start):
        real = text[max(span.start - len(span.prefix), 0) : span.start]
        return SpanFault("the text before the span is another", f'write "prefix": {json.dumps(real)}', span.prefix)
    if not text.startswith(span.suffix, span.end):
        real = text[span.end : span.end + len(span.suffix)]
        return SpanFault("the text after the span is another", f'write "suffix": {json.dumps(real)}', span.suffix)
    return None


def nearest(words: str, text: str, place: int) -> int | None:
    """Where words occur in a text, as near to a place as they do; nothing if they don't.

    >>> nearest("Jets", "Jets and Jets", 8)
    9
    """
    if not words:
        return None
    before, after = text.rfind(words, 0, place + len(words)), text.find(words, max(place, 0))
    found = [at for at in (before, after) if at >= 0]
    return min(found, key=lambda at: (abs(at - place), at), default=None)


def shorten(words: str, length: int = 40) -> str:
    """Words of bounded length, for a message."""
    return words if len(words) <= length else words[: length - 1] + "…"


def document_statement(statement: Statement, document: str) -> Statement:
    """The statement with its nameless things kept apart from those of other documents.

    >>> from basanite.reading.terms import Iri
    >>> str(document_statement(Statement(Node("s1"), Iri("urn:p"), Node("s2")), "d7"))
    '_:d7.s1 <urn:p> _:d7.s2 .'
    """
    subject, object_ = statement.subject, statement.object
    if isinstance(subject, Node):
        subject = Node(f"{document}.{subject.label}")
    if isinstance(object_, Node):
        object_ = Node(f"{document}.{object_.label}")
    return Statement(subject, statement.predicate, object_)


def plain_label(term: Term, document: str) -> Term:
    """A nameless thing by the label that it has inside its document; any other term as it is."""
    return Node(term.label.removeprefix(f"{document}.")) if isinstance(term, Node) else term


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text begin and end, as far as full stops, capitals and empty lines tell.

    >>> list(sentences("On Oct. 8 it was late. The Jets fell."))
    [(0, 22), (23, 37)]
    """
    start = 0
    for match in _BOUNDARY.finditer(text):
        end = match.end(match.lastindex or 0)
        if not _ABBREVIATION.search(text, max(start, end - 6), end):
            yield from _trimmed_span(text, start, end)
            start = match.end()
    yield from _trimmed_span(text, start, len(text))


def _trimmed_span(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
