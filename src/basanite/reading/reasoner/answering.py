"""Answers of queries in the form of a submission: one object for each answer, document by document (R-12, R-17)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from basanite.reading.patterns import Prefixes
from basanite.reading.queries.model import Query
from basanite.reading.reasoner.answers import Answered, answer
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.given import Given
from basanite.reading.reasoner.session import Session
from basanite.reading.rules.names import short
from basanite.reading.terms import Literal, Statement, Term


def answered_rows(session: Session, queries: Sequence[Query]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The answers of all queries in every document, and what stayed undecided."""
    rows: list[dict[str, Any]] = []
    undecided: list[dict[str, Any]] = []
    for document, statements in by_document(session.given):
        inference = session.reasoner.infer(statements)
        explainer = Explainer(inference)
        for query in queries:
            found = answer(inference, query.goals, select=query.select, explainer=explainer)
            undecided += [{**one.as_dict(), "query": query.id, "document": document} for one in found.undecided]
            rows += [_row(query.id, document, one, explainer, session) for one in found.answers]
    return rows, undecided


def by_document(given: Given) -> Iterator[tuple[str, list[Statement]]]:
    """The statements of each document; those of none go together."""
    groups: dict[str, list[Statement]] = {}
    for statement in given.statements:
        groups.setdefault(given.documents.get(statement, ""), []).append(statement)
    yield from sorted(groups.items())


def _row(query: str, document: str, one: Answered, explainer: Explainer, session: Session) -> dict[str, Any]:
    row: dict[str, Any] = {
        "query": query,
        "document": document,
        "answer": {f"?{name}": value_of_answer(term, session.prefixes) for name, term in one.bindings},
        "kind": one.kind,
        "provenance": list(_provenance(one, explainer, session.given)),
    }
    return row if one.probability is None else {**row, "probability": one.probability}


def value_of_answer(term: Term, prefixes: Prefixes) -> str | list[str]:
    """A value as it is written, an entity as a list with its name."""
    return term.lexical if isinstance(term, Literal) else [short(term, prefixes)]


def _provenance(one: Answered, explainer: Explainer, given: Given) -> Iterator[dict[str, Any]]:
    """The words that the given statements behind an answer rest on."""
    facts = (explainer.inference.fact(statement) for statement in one.statements)
    for statement in explainer.inputs(fact for fact in facts if fact is not None):
        for mention in given.mentions.get(statement, ()):
            for span in mention.spans:
                yield {"document": mention.document, "start": span.start, "end": span.end, "exact": span.exact}


def ndjson(rows: Iterable[dict[str, Any]]) -> bytes:
    """Rows as one JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows).encode()
