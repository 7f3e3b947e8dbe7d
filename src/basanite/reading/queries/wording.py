"""Queries as questions for human readers, from the templates of the ontology (R-12)."""

from __future__ import annotations

from basanite.reading.ontology.model import Ontology, OntologyClass, Property
from basanite.reading.patterns import Pattern, Variable
from basanite.reading.queries.model import Query
from basanite.reading.terms import Iri
from basanite.reading.vocabulary import TYPE


def question(query: Query, ontology: Ontology) -> str:
    """The question that a person is asked: the query's own, or one from templates; "" if neither can be had."""
    return query.question or _worded(query, ontology)


def _worded(query: Query, ontology: Ontology) -> str:
    if query.builtins:
        return ""
    kinds, links = _parts(query)
    properties = [ontology.properties.get(iri) for _, iri, _ in links]
    found = [property_ for property_ in properties if property_ is not None]
    if len(found) < len(links) or any(kind not in ontology.classes for _, kind in kinds):
        return ""
    if not found:
        return class_question(ontology.classes[kinds[0][1]]) if len(kinds) == 1 else ""
    if len(found) == 1:
        return property_question(found[0], ontology)
    return _joined(links, found, ontology) if len(found) == 2 else ""


def class_question(found: OntologyClass) -> str:
    """What is asked about a class.

    >>> class_question(OntologyClass(Iri("urn:NFLTeam"), label="team", plural="teams"))
    'Which teams are mentioned?'
    """
    return found.question or f"Which {found.plural or noun(found) + 's'} are mentioned?"


def property_question(found: Property, ontology: Ontology) -> str:
    """What is asked about a property."""
    return found.question or f"What is the {noun(found)} of each {_owner(found, ontology)} mentioned?"


def noun(element: Property | OntologyClass) -> str:
    """What people call a class or property."""
    return element.label or element.name


def _joined(links: list[tuple[str, Iri, str]], found: list[Property], ontology: Ontology) -> str:
    (start, _, end), (other, _, _) = links
    owner, first, second = _owner(found[0], ontology), noun(found[0]), noun(found[1])
    if other == end:
        return f"For each {owner} mentioned, what is the {second} of each {first}?"
    if other == start:
        return f"For each {owner} mentioned, what are its {first} and its {second}?"
    return ""


def _owner(property_: Property, ontology: Ontology) -> str:
    owner = ontology.classes.get(property_.domain) if property_.domain else None
    return noun(owner) if owner else "thing"


def _parts(query: Query) -> tuple[list[tuple[str, Iri]], list[tuple[str, Iri, str]]]:
    """The memberships and the links of a query, by the names of its variables."""
    kinds, links = [], []
    for pattern in query.patterns:
        subject, name = _variable(pattern, 0), pattern.predicate
        if name == TYPE and isinstance(pattern.object, Iri):
            kinds.append((subject, pattern.object))
        else:
            links.append((subject, name if isinstance(name, Iri) else TYPE, _variable(pattern, 2)))
    return kinds, links


def _variable(pattern: Pattern, place: int) -> str:
    term = pattern.terms[place]
    return term.name if isinstance(term, Variable) else ""
