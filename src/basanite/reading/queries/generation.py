"""All queries that an ontology makes possible, a choice among them, and those with answers in annotated text (R-12).

Each class, each property, and two steps: along a relation to a further property (`chain`), or two properties of one
thing (`fork`). What may stand in queries only has no statements, so nothing is asked about it alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from basanite.errors import SettingError
from basanite.reading.ontology.model import Ontology, OntologyClass, Property
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.queries.evaluation import StatementIndex, has_answer
from basanite.reading.queries.model import Query
from basanite.reading.queries.wording import question
from basanite.reading.terms import Iri, Statement
from basanite.reading.vocabulary import TYPE
from basanite.registry import suggestion

X, Y, Z = Variable("x"), Variable("y"), Variable("z")


@dataclass(frozen=True)
class Choice:
    """Which queries are wanted; what is left empty does not restrict."""

    types: frozenset[str] = frozenset()
    classes: frozenset[Iri] = frozenset()
    capabilities: frozenset[str] | None = None
    sample: int | None = None
    seed: int = 0


def all_queries(ontology: Ontology) -> list[Query]:
    """Every query of one or two steps, in a stable order: classes, properties, chains, forks."""
    asked = sorted((c for c in ontology.classes.values() if c.mark != "query-only"), key=lambda c: c.iri)
    owned = [p for p in ontology.properties.values() if p.mark != "query-only" and p.domain in ontology.classes]
    properties = sorted(owned, key=lambda p: p.iri)
    made = (*_classes(asked), *_singles(properties), *_chains(ontology, properties), *_forks(properties))
    return [_completed(query, ontology) for query in made]


def choose(queries: Iterable[Query], choice: Choice, ontology: Ontology) -> list[Query]:
    """The queries that are wanted, in their order; a sample depends on the seed and nothing else."""
    kept = [query for query in queries if _wanted(query, choice, ontology)]
    if choice.sample is None or choice.sample >= len(kept):
        return kept
    drawn = sorted(random.Random(choice.seed).sample(range(len(kept)), choice.sample))
    return [kept[place] for place in drawn]


def answerable(queries: Sequence[Query], documents: Iterable[Sequence[Statement]], ontology: Ontology) -> list[Query]:
    """The queries that have an answer in at least one document; a thing is also what its class lies below."""
    open_ = {query.id: query for query in queries}
    for statements in documents:
        index = StatementIndex((*statements, *ontology.supertypes(statements)))
        for query in [query for query in open_.values() if has_answer(query, index)]:
            del open_[query.id]
        if not open_:
            break
    return [query for query in queries if query.id not in open_]


def class_named(name: str, ontology: Ontology) -> Iri:
    """The class of a short or full name; an unknown one is answered with the nearest."""
    known: Mapping[str, Iri] = {
        written: iri
        for iri, found in ontology.classes.items()
        for written in (found.name, ontology.prefixes.short(iri), iri.value)
    }
    if name not in known:
        plain = [found.name for found in ontology.classes.values()]
        raise SettingError(f"The ontology has no class {name!r}. {suggestion(name, plain)}")
    return known[name]


def _wanted(query: Query, choice: Choice, ontology: Ontology) -> bool:
    of_type = not choice.types or query.type in choice.types
    in_scope = choice.capabilities is None or query.in_scope(choice.capabilities)
    about = not choice.classes or any(
        ontology.is_a(mine, wanted) for mine in query.classes(ontology) for wanted in choice.classes
    )
    return of_type and in_scope and about


def _completed(query: Query, ontology: Ontology) -> Query:
    tags = frozenset(tag for element in query.elements(ontology) for tag in element.capabilities)
    tagged = replace(query, capabilities=tags, select=query.variables)
    return replace(tagged, question=question(tagged, ontology))


def _classes(found: Iterable[OntologyClass]) -> Iterator[Query]:
    for one in found:
        yield Query(f"class/{one.name}", (Pattern(X, TYPE, one.iri),), "class")


def _singles(properties: Iterable[Property]) -> Iterator[Query]:
    for one in properties:
        yield Query(f"property/{one.name}", (*_kind(one), Pattern(X, one.iri, Y)), "property")


def _chains(ontology: Ontology, properties: Sequence[Property]) -> Iterator[Query]:
    """Along a relation to a property of what it leads to."""
    for first in properties:
        for second in properties if first.range in ontology.classes else ():
            if _meets(ontology, first.range, second.domain):
                goals = (*_kind(first), Pattern(X, first.iri, Y), Pattern(Y, second.iri, Z))
                yield Query(f"chain/{first.name}/{second.name}", goals, "chain")


def _forks(properties: Sequence[Property]) -> Iterator[Query]:
    """Two properties of one thing."""
    for first, second in combinations(properties, 2):
        if first.domain == second.domain:
            goals = (*_kind(first), Pattern(X, first.iri, Y), Pattern(X, second.iri, Z))
            yield Query(f"fork/{first.name}/{second.name}", goals, "fork")


def _kind(property_: Property) -> Iterator[Pattern]:
    if property_.domain is not None:
        yield Pattern(X, TYPE, property_.domain)


def _meets(ontology: Ontology, range_: Iri | None, domain: Iri | None) -> bool:
    return (
        range_ is not None and domain is not None and (ontology.is_a(range_, domain) or ontology.is_a(domain, range_))
    )
