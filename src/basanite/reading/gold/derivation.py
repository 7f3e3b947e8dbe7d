"""Gold that annotated statements and the rules lead to: the answers of a document with the words behind them (R-17).

A thing is told by the words that annotators marked as it and by texts that statements say of it. One without any, or
of a class that texts do not name, has an id like `_:game-1` as well, and is matched by its structure (R-31).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from basanite.errors import InvalidInputError
from basanite.problems import Findings
from basanite.reading.gold.answers import AnswerError, Known, gold_answer
from basanite.reading.gold.scope import versions
from basanite.reading.ontology import Ontology
from basanite.reading.package.checks import package_rules
from basanite.reading.package.model import Package
from basanite.reading.package.ndjson import LineFaults, records
from basanite.reading.provenance import Assertion
from basanite.reading.query import Query
from basanite.reading.reasoner.answers import Answered, answer
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.inference import Inference, Reasoner
from basanite.reading.terms import TYPE, XSD, Iri, Literal, Node, Statement, Term

TEXTS: Final = XSD + "string"


class Book:
    """What annotators marked in one document, and what follows from it."""

    def __init__(self, reasoner: Reasoner, said: Sequence[Assertion]) -> None:
        self.said = said
        self.inference: Inference = reasoner.infer(dict.fromkeys(one.statement for one in said))
        self.explainer = Explainer(self.inference)
        self.inferred = {one.statement for one in said if one.kind == "inferred"}
        self.mentions, self.texts = _mentions_of(said), _texts_of(said, reasoner.ontology)
        self.words = vocabulary(reasoner)
        self.nameless = frozenset(self._nameless(reasoner.ontology))

    def answers(self, query: Query) -> tuple[Answered, ...]:
        """The answers of a query; none where a limit was reached."""
        return answer(self.inference, query.goals, select=query.select, explainer=self.explainer).answers

    def answer_value(self, term: Term) -> list[str] | str:
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
                "answer": {f"?{name}": self.answer_value(term) for name, term in one.bindings},
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


def _texts_of(said: Iterable[Assertion], ontology: Ontology | None) -> Mapping[Term, list[str]]:
    """The texts that statements say of each thing and that may be its name."""
    found: dict[Term, list[str]] = {}
    others = {iri for iri, one in ontology.properties.items() if not one.names} if ontology else set()
    for one in said:
        value = one.statement.object
        if isinstance(value, Literal) and value.datatype == TEXTS and one.statement.predicate not in others:
            found.setdefault(one.statement.subject, []).append(value.lexical)
    return found


REASONER: Final = "reasoner"
"""The author of a line that annotations and rules alone lead to."""
DERIVED: Final = "derived from annotated statements"


def derived_gold(
    package: Package, part: str, why: Mapping[str, str], queries: Sequence[Query] = ()
) -> Iterator[dict[str, Any]]:
    """The answers that the annotations of a part lead to, document by document, as lines of gold."""
    reasoner = Reasoner(package_rules(package), package.ontology)
    by_document: dict[str, list[Assertion]] = {}
    for assertion in package.assertions(part, package.documents(part)):
        by_document.setdefault(assertion.document, []).append(assertion)
    for name, said in sorted(by_document.items()):
        book = Book(reasoner, said)
        for query in queries or package.queries_for(part):
            yield from book.lines(query, name, why)


@dataclass(frozen=True)
class NextGold:
    """The next version of a package's gold: derived lines, and lines of the version before that stay."""

    version: str
    before: str
    """The version before; "" if there is none."""
    lines: tuple[Mapping[str, Any], ...]
    derived: int
    taken_over: int
    """Lines that people decided, and lines of other parts."""
    changed: bool
    """Whether it says anything that the version before does not say, or leaves something out."""


def next_gold(package: Package, parts: Sequence[str], day: str) -> NextGold:
    """Derive the gold of some parts again; what people decided in the version before stays and wins (R-17, R-37)."""
    known = versions(package.root)
    before = next(reversed(known), "")
    documents = {part.name: package.documents(part.name) for part in package.manifest.parts if package.has(part)}
    key = _answer_key(Known.of(package, frozenset().union(*documents.values())))
    old = _gold_records(known[before]) if before else []
    again = frozenset().union(*(documents[part] for part in parts))
    kept = [one for one in old if one.get("by") != REASONER or one["document"] not in again]
    decided = {key(one) for one in kept}
    why = {"by": REASONER, "when": day, "why": DERIVED}
    made = [one for part in parts for one in derived_gold(package, part, why) if key(one) not in decided]
    lines = (*kept, *made)
    changed = {_settled_key(one, key) for one in lines} != {_settled_key(one, key) for one in old}
    name = f"v{int(before[1:]) + 1}" if before else "v1"
    return NextGold(name, before, lines, len(made), len(kept), changed)


def _gold_records(path: Path) -> list[dict[str, Any]]:
    findings = Findings()
    found = [record for _, record in records(path, LineFaults(f"gold/{path.name}", "R-17", findings))]
    if not findings.valid:
        raise InvalidInputError("reading", findings)
    return found


def _answer_key(known: Known) -> Callable[[Mapping[str, Any]], object]:
    """What a line is about, however its names and values are written."""

    def key(line: Mapping[str, Any]) -> object:
        try:
            answer = gold_answer(line, 0, known).answer
        except AnswerError:
            return json.dumps(line, sort_keys=True)
        return answer.query, answer.document, answer.bindings

    return key


def _settled_key(line: Mapping[str, Any], key: Callable[[Mapping[str, Any]], object]) -> object:
    return key(line), line.get("kind"), line.get("verdict", "correct")
