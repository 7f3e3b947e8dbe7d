"""Annotated statements of a part: one object per line becomes an assertion, or problems that say why not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final, cast

from basanite.reading.package.documents import Document
from basanite.reading.package.ndjson import LONGEST_LINE, LineFaults, near, records
from basanite.reading.patterns import PatternError, Prefixes, parse_term, statement_of
from basanite.reading.provenance import KINDS, ROLES, Assertion, Kind, Role, Span, document_statement, span_fault
from basanite.reading.terms import Literal, Statement, Term
from basanite.reading.values import is_canonical

RULE: Final = "R-8"
MOST_TERMS: Final = 100_000
KEYS: Final = frozenset({"document", "statement", "kind", "provenance", "annotator", "version"})
_DOCUMENT: Final = re.compile(rb'"document"\s*:\s*"([^"]*)"')
SPAN_KEYS: Final = frozenset({"role", "start", "end", "exact", "prefix", "suffix"})


@dataclass(frozen=True)
class Line:
    """An assertion and the line it stands on."""

    number: int
    assertion: Assertion


def annotation_path(root: Path, part: str) -> Path:
    """Where the annotations of a part are."""
    return root / "annotations" / f"{part}.ndjson"


def read_annotations(
    path: Path, prefixes: Prefixes, documents: Mapping[str, Document], faults: LineFaults
) -> Iterator[Line]:
    """The assertions of a file as they come; a line with problems is left out."""
    reader = AnnotationReader(prefixes, documents, faults)
    for number, record in records(path, faults):
        assertion = reader.assertion(number, record)
        if assertion is not None:
            yield Line(number, assertion)


def by_document(path: Path, lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
    """The assertions of each document together; one document at a time is in memory if the file keeps them together."""
    if stand_together(path):
        for name, group in groupby(lines, key=lambda line: line.assertion.document):
            yield name, list(group)
        return
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.assertion.document, []).append(line)
    yield from found.items()


def stand_together(path: Path) -> bool:
    """Whether all lines of each document follow each other, as far as a look at the bytes tells."""
    seen: set[bytes] = set()
    last = b""
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            match = _DOCUMENT.search(line)
            if match and match[1] != last:
                last = match[1]
                if last in seen:
                    return False
                seen.add(last)
    return True


class AnnotationReader:
    """What lines are read with: names, documents, and where problems go."""

    def __init__(self, prefixes: Prefixes, documents: Mapping[str, Document], faults: LineFaults) -> None:
        self.prefixes, self.documents, self.faults = prefixes, documents, faults
        self.rejected = False
        self.terms: dict[tuple[str, bool], Term] = {}

    def assertion(self, number: int, record: Mapping[str, Any]) -> Assertion | None:
        """The assertion of one object, as far as it can be read."""
        self.rejected = False
        self._unknown(number, record, KEYS)
        name = self._document(number, record)
        statement = self._statement(number, record, name)
        kind = record.get("kind", "explicit")
        if kind not in KINDS:
            self._fault(number, f"the kind {kind!r:.40} is not known", 'write "explicit" or "inferred"')
        spans = tuple(self._spans(number, record, name))
        version = record.get("version", 1)
        if not isinstance(version, int) or isinstance(version, bool):
            self._fault(number, "the version is not a whole number", 'write "version": 1')
            version = 1
        if statement is None or self.rejected:
            return None
        return Assertion(statement, name, cast(Kind, kind), spans, str(record.get("annotator", "")), version)

    def _fault(self, number: int, message: str, fix: str, found: str = "") -> None:
        self.rejected = True
        self.faults.add(number, message, fix, found=found)

    def _unknown(self, number: int, record: Mapping[str, Any], known: frozenset[str]) -> None:
        self.rejected = self.rejected or not record.keys() <= known
        self.faults.unknown_keys(number, record, known)

    def _document(self, number: int, record: Mapping[str, Any]) -> str:
        name = record.get("document")
        if not isinstance(name, str) or name not in self.documents:
            fix = near(name, list(self.documents))
            self._fault(number, f"there is no document {name!r:.60} in this part", fix, str(name))
            return ""
        return name

    def _statement(self, number: int, record: Mapping[str, Any], document: str) -> Statement | None:
        parts = record.get("statement")
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            fix = 'write "statement": ["nfl:g1", "type", "nfl:NFLGame"], each term a text'
            self._fault(number, "the statement is not a list of three texts", fix, repr(parts))
            return None
        try:
            statement = statement_of([self._term(part, place == 1) for place, part in enumerate(parts)])
        except PatternError as error:
            self._fault(number, error.message, error.fix, " ".join(parts))
            return None
        if isinstance(statement.object, Literal) and not is_canonical(statement.object):
            fix = "write it in the shortest way, so that equal values are equal terms"
            found = statement.object.lexical
            self.faults.add(number, f"{found[:40]} is an odd way to write a value", fix, found=found, severity="warn")
        return document_statement(statement, document)

    def _term(self, text: str, property_: bool) -> Term:
        """One term; the same names come on thousands of lines, so they are read once."""
        term = self.terms.get((text, property_))
        if term is None:
            term = parse_term(text, self.prefixes, property_=property_)
            if len(self.terms) < MOST_TERMS:
                self.terms[text, property_] = term
        return term

    def _spans(self, number: int, record: Mapping[str, Any], document: str) -> Iterator[Span]:
        entries = record.get("provenance", [])
        if not isinstance(entries, list):
            self._fault(number, "the provenance is not a list", 'write "provenance": [{"role": "object", …}]')
            return
        for entry in entries:
            span = self._span(number, entry)
            if span is not None and document:
                fault = span_fault(span, self.documents[document].text)
                if fault is not None:
                    self._fault(number, fault.message, fault.fix, fault.found)
                yield span

    def _span(self, number: int, entry: Any) -> Span | None:
        if not isinstance(entry, dict):
            self._fault(number, "a piece of provenance is not an object", 'write {"role": "object", "start": 0, …}')
            return None
        self._unknown(number, entry, SPAN_KEYS)
        role, start, end = entry.get("role"), entry.get("start"), entry.get("end")
        texts = [entry.get(key, "") for key in ("exact", "prefix", "suffix")]
        if role not in ROLES:
            self._fault(number, f"the role {role!r:.40} is not known", f"write one of {', '.join(ROLES)}")
        elif not all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end)):
            self._fault(number, "start or end is not a whole number", "count code points from 0")
        elif not all(isinstance(text, str) for text in texts) or not texts[0]:
            self._fault(number, "the quotation is not text", 'write "exact": "…", and "prefix" and "suffix"')
        else:
            return Span(cast(Role, role), cast(int, start), cast(int, end), *texts)
        return None
