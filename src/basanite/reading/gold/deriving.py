"""Gold that annotated statements and the rules lead to: the answers of a document with the words behind them (R-17).

A thing is told by the words that annotators marked as it, by texts that the ontology says of it, and by its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from basanite.reading.provenance import Assertion
from basanite.reading.queries.model import Query
from basanite.reading.reasoner.answers import Answered, answer
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.inference import Inference, Reasoner
from basanite.reading.terms import XSD, Iri, Literal, Node, Statement, Term

TEXTS: Final = XSD + "string"


class Book:
    """What annotators marked in one document, and what follows from it."""

    def __init__(self, reasoner: Reasoner, said: Sequence[Assertion]) -> None:
        self.said = said
        self.inference: Inference = reasoner.infer(dict.fromkeys(one.statement for one in said))
        self.explainer = Explainer(self.inference)
        self.inferred = {one.statement for one in said if one.kind == "inferred"}
        self.names = _names_of(said)

    def answers(self, query: Query) -> tuple[Answered, ...]:
        """The answers of a query; none where a limit was reached."""
        return answer(self.inference, query.goals, select=query.select, explainer=self.explainer).answers

    def told(self, term: Term) -> list[str] | str:
        """What a term is called in an answer."""
        if isinstance(term, Literal):
            return term.lexical
        return list(dict.fromkeys((*self.names.get(term, ()), own_name(term))))

    def lines(self, query: Query, document: str, why: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The answers of a query as lines of gold, with the words that they rest on, and who, when and why."""
        for one in self.answers(query):
            inferred = one.kind == "inferred" or any(said in self.inferred for said in one.statements)
            yield {
                "query": query.id,
                "document": document,
                "answer": {f"?{name}": self.told(term) for name, term in one.bindings},
                "kind": "inferred" if inferred else "explicit",
                "provenance": list(self._pieces(one.statements)),
                "capabilities": sorted(query.capabilities),
                **why,
            }

    def _pieces(self, statements: Iterable[Statement]) -> Iterator[dict[str, Any]]:
        facts = (self.inference.fact(statement) for statement in statements)
        behind = set(self.explainer.inputs(fact for fact in facts if fact is not None))
        spans = dict.fromkeys(span for one in self.said if one.statement in behind for span in one.spans)
        for span in spans:
            yield {"start": span.start, "end": span.end, "exact": span.exact}


def own_name(term: Iri | Node) -> str:
    """The name of a thing by itself.

    >>> own_name(Iri("https://nfl.example/scoring#ChicagoBears"))
    'ChicagoBears'
    """
    return term.label if isinstance(term, Node) else term.value.rpartition("#")[2].rpartition("/")[2]


def _names_of(said: Iterable[Assertion]) -> Mapping[Term, list[str]]:
    found: dict[Term, list[str]] = {}
    for one in said:
        statement = one.statement
        if isinstance(statement.object, Literal) and statement.object.datatype == TEXTS:
            found.setdefault(statement.subject, []).append(statement.object.lexical)
        for span in one.spans:
            whose = {"subject": statement.subject, "object": statement.object}.get(span.role)
            if whose is not None and not isinstance(whose, Literal):
                found.setdefault(whose, []).append(" ".join(span.exact.split()))
    return found
