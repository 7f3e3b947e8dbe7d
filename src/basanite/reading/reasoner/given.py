"""Statements as users bring them: any RDF format, NDJSON triples, annotations, or the paper's bracketed lists.

Where annotations say which words of a text a statement rests on, that is kept for explanations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem, shortened
from basanite.reading.patterns import PatternError, Prefixes, parse_statement
from basanite.reading.provenance import ROLES, Span, document_statement
from basanite.reading.rdf import ENDINGS, Names, read_rdf
from basanite.reading.rules.sexpr_rules import graph_statements
from basanite.reading.terms import Statement

LARGEST: Final = 256 * 2**20
LINES: Final = (".ndjson", ".jsonl")
GRAPHS: Final = (".graph", ".lisp", ".sexp")


@dataclass(frozen=True)
class Mention:
    """The words of a document that a statement rests on."""

    document: str
    spans: tuple[Span, ...]


@dataclass
class Given:
    """Statements, and where texts say them."""

    statements: list[Statement] = field(default_factory=list)
    mentions: dict[Statement, list[Mention]] = field(default_factory=dict)
    documents: dict[Statement, str] = field(default_factory=dict)


def read_statements(
    path: Path,
    prefixes: Prefixes,
    findings: Findings,
    *,
    document: str | None = None,
    explicit: bool = False,
    names: Names | None = None,
) -> Given:
    """The statements of a file by its ending; of annotations perhaps one document's, or the explicit ones only."""
    ending = path.suffix.lower()
    if ending in LINES:
        return _lines(path, prefixes, findings, document, explicit)
    if ending in GRAPHS:
        text = read_bounded(path, LARGEST).decode("utf-8", "replace")
        return Given(graph_statements(text, path.name, findings, prefixes))
    if ending in ENDINGS:
        return Given([row.statement for row in read_rdf(path, findings, rule="R-9", names=names)])
    known = ", ".join((*ENDINGS, *LINES, *GRAPHS))
    words = f"the ending {ending!r} is not one of statements"
    findings.add(Problem("R-9", path.name, None, None, words, f"use one of {known}"))
    return Given()


def _lines(path: Path, prefixes: Prefixes, findings: Findings, document: str | None, explicit: bool) -> Given:
    given = Given()
    for number, entry in _objects(path, findings):
        try:
            _take(entry, prefixes, given, document, explicit)
        except (PatternError, ValueError, TypeError, KeyError) as error:
            words = error.message if isinstance(error, PatternError) else "not a statement"
            fix = error.fix if isinstance(error, PatternError) else 'write ["subject", "property", "object"]'
            findings.add(Problem("R-9", path.name, number, None, shortened(words, 200), fix))
    return given


def _objects(path: Path, findings: Findings) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(read_bounded(path, LARGEST).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line.decode())
        except (ValueError, RecursionError):
            findings.add(Problem("R-9", path.name, number, None, "not JSON", "write one object or list a line"))


def _take(entry: Any, prefixes: Prefixes, given: Given, document: str | None, explicit: bool) -> None:
    """Take one line: a list of three terms, or an object with such a list as `statement`."""
    if isinstance(entry, list):
        given.statements.append(parse_statement(_texts(entry), prefixes))
        return
    if not isinstance(entry, dict):
        raise ValueError("a line holds a list or an object")
    name = str(entry.get("document", ""))
    if (document is not None and name != document) or (explicit and entry.get("kind", "explicit") != "explicit"):
        return
    statement = parse_statement(_texts(entry["statement"]), prefixes)
    statement = document_statement(statement, name) if name else statement
    given.statements.append(statement)
    if name:
        given.documents[statement] = name
        spans = tuple(map(_span, entry.get("provenance", ())))
        given.mentions.setdefault(statement, []).append(Mention(name, spans))


def _texts(parts: Any) -> list[str]:
    if isinstance(parts, list) and all(isinstance(part, str) for part in parts):
        return parts
    raise ValueError("a statement is a list of three texts")


def _span(entry: Any) -> Span:
    role, start, end = entry["role"], entry["start"], entry["end"]
    if role not in ROLES or type(start) is not int or type(end) is not int:
        raise ValueError("a span has a role, a start and an end")
    texts = [str(entry.get(key, "")) for key in ("exact", "prefix", "suffix")]
    return Span(role, start, end, *texts)
