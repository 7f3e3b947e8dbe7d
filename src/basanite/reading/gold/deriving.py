"""Gold that annotated statements and the rules lead to: the answers of a document with the words behind them (R-17).

A thing is told by the words that annotators marked as it and by texts that statements say of it. One without any, or
of a class that texts do not name, has an id like `_:game-1` as well, and is matched by its structure (R-31).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from basanite.reading.ontology.model import Ontology
from basanite.reading.provenance import Assertion
from basanite.reading.queries.model import Query
from basanite.reading.reasoner.answers import Answered, answer
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.inference import Inference, Reasoner
from basanite.reading.terms import XSD, Iri, Literal, Node, Statement, Term
from basanite.reading.vocabulary import TYPE

TEXTS: Final = XSD + "string"


class Book:
    """What annotators marked in one document, and what follows from it."""

    def __init__(self, reasoner: Reasoner, said: Sequence[Assertion]) -> None:
        self.said = said
        self.inference: Inference = reasoner.infer(dict.fromkeys(one.statement for one in said))
        self.explainer = Explainer(self.inference)
        self.inferred = {one.statement for one in said if one.kind == "inferred"}
        self.mentions, self.texts = _mentions_of(said), _texts_of(said)
        self.words = vocabulary(reasoner)
        self.nameless = frozenset(self._nameless(reasoner.ontology))

    def answers(self, query: Query) -> tuple[Answered, ...]:
        """The answers of a query; none where a limit was reached."""
        return answer(self.inference, query.goals, select=query.select, explainer=self.explainer).answers

    def told(self, term: Term) -> list[str] | str:
        """What a term is called in an answer."""
        if isinstance(term, Literal):
            return term.lexical
        if term in self.words:
            return [own_name(term)]
        mentions = self.mentions.get(term, [])
        words = mentions if term in self.nameless else [*mentions, *self.texts.get(term, ())]
        own = [] if words and term not in self.nameless else [f"_:{own_name(term)}"]
        return list(dict.fromkeys((*own, *words)))

    def _nameless(self, ontology: Ontology | None) -> Iterator[Term]:
        """The things of classes whose members texts do not name."""
        classes = ontology.classes if ontology else {}
        nameless = {iri for iri, found in classes.items() if not found.named}
        below = {iri for iri in classes if ontology and not nameless.isdisjoint(ontology.ancestors[iri])}
        for statement in (*(one.statement for one in self.said), *self.inference.derived):
            if statement.predicate == TYPE and statement.object in below:
                yield statement.subject

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


def vocabulary(reasoner: Reasoner) -> frozenset[Term]:
    """What a theory itself speaks of: its names are known to everybody, and are no ids of an annotator."""
    heads = {
        term for rule in reasoner.rules.rules for head in rule.heads for term in head.terms if isinstance(term, Iri)
    }
    ontology = reasoner.ontology
    return frozenset(heads | (set(ontology.classes) | set(ontology.properties) if ontology else set()))


def own_name(term: Iri | Node) -> str:
    """The name of a thing by itself.

    >>> own_name(Iri("https://nfl.example/scoring#ChicagoBears"))
    'ChicagoBears'
    """
    return term.label if isinstance(term, Node) else term.value.rpartition("#")[2].rpartition("/")[2]


def _mentions_of(said: Iterable[Assertion]) -> Mapping[Term, list[str]]:
    """The words that annotators marked as each thing."""
    found: dict[Term, list[str]] = {}
    for one in said:
        for span in one.spans:
            whose = {"subject": one.statement.subject, "object": one.statement.object}.get(span.role)
            if whose is not None and not isinstance(whose, Literal):
                found.setdefault(whose, []).append(" ".join(span.exact.split()))
    return found


def _texts_of(said: Iterable[Assertion]) -> Mapping[Term, list[str]]:
    """The texts that statements say of each thing, such as its name."""
    found: dict[Term, list[str]] = {}
    for one in said:
        value = one.statement.object
        if isinstance(value, Literal) and value.datatype == TEXTS:
            found.setdefault(one.statement.subject, []).append(value.lexical)
    return found
