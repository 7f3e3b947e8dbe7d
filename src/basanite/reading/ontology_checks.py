"""Statements checked against the ontology, as in a closed world: what contradicts it, and what is not complete.

Faults are values; the reasoner turns violations into contradictions and incomplete things into warnings. One pass
builds an index by subject, so that the work grows with the statements and not with the ontology.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, Literal, TypeAlias

from basanite.reading.ontology import KNOWN_TYPES, Cardinality, Ontology, Property
from basanite.reading.terms import OWL, RDFS, SAME_AS, TYPE, Iri, Node, Statement, Term
from basanite.reading.terms import Literal as Value
from basanite.reading.values import same_value

FaultKind = Literal["unknown", "query-only", "domain", "range", "too-many", "disjoint", "missing"]
Subject: TypeAlias = Iri | Node
NO_CLASSES: Final[frozenset[Iri]] = frozenset()
ALWAYS_KNOWN: Final = frozenset({TYPE, SAME_AS, Iri(RDFS + "label"), Iri(RDFS + "comment"), Iri(OWL + "differentFrom")})


@dataclass(frozen=True)
class Fault:
    """A constraint that statements break or do not meet: which, on what thing, and the statements behind it."""

    kind: FaultKind
    element: Iri
    """The property or class whose constraint it is."""
    subject: Subject
    statements: tuple[Statement, ...]
    message: str

    @property
    def severity(self) -> Literal["violation", "incomplete"]:
        """Whether statements contradict the ontology, or something is only missing."""
        return "incomplete" if self.kind == "missing" else "violation"


def check_statements(ontology: Ontology, statements: Iterable[Statement]) -> list[Fault]:
    """Everything in which some statements break the ontology or fall short of it, in a stable order.

    In an open world only what cannot be true is a fault: values of the wrong type, and what excludes each other.
    """
    graph = _Graph(ontology, tuple(statements))
    if not ontology.closed:
        return [*_wrong_values(graph), *_disjoint_classes(graph), *_disjoint_properties(graph)]
    return [*_each(graph), *_disjoint_classes(graph), *_disjoint_properties(graph), *_counts(graph)]


@dataclass(frozen=True)
class _Graph:
    """Statements by subject and property, with the classes of each subject."""

    ontology: Ontology
    statements: tuple[Statement, ...]

    @cached_property
    def by_subject(self) -> dict[Subject, dict[Iri, list[Statement]]]:
        found: dict[Subject, dict[Iri, list[Statement]]] = {}
        for statement in self.statements:
            about = found.get(statement.subject)
            if about is None:
                about = found[statement.subject] = {}
            about.setdefault(statement.predicate, []).append(statement)
        return found

    @cached_property
    def stated_classes(self) -> dict[Term, frozenset[Iri]]:
        """The classes that each thing is said to be of."""
        sets: dict[frozenset[Iri], frozenset[Iri]] = {}
        found: dict[Term, frozenset[Iri]] = {}
        for subject, about in self.by_subject.items():
            if TYPE in about:
                classes = frozenset(s.object for s in about[TYPE] if isinstance(s.object, Iri))
                found[subject] = sets.setdefault(classes, classes)
        return found

    @cached_property
    def names(self) -> dict[Term, Term]:
        """The one name of each thing that `owl:sameAs` gives several."""
        found: dict[Term, Term] = {}

        def head(term: Term) -> Term:
            while term in found:
                term = found[term]
            return term

        for statement in self.statements:
            if statement.predicate == SAME_AS:
                first, second = sorted((head(statement.subject), head(statement.object)), key=str)
                if first != second:
                    found[second] = first
        return {term: head(term) for term in found}

    def distinct(self, statements: Sequence[Statement]) -> int:
        """How many different values statements give: names differ unless they are said to be the same."""
        terms = list(dict.fromkeys(self.names.get(s.object, s.object) for s in statements))
        literals = [term for term in terms if isinstance(term, Value)]
        repeated = sum(any(same_value(b, a) for a in literals[:place]) for place, b in enumerate(literals[:1000]))
        return len(terms) - repeated

    def short(self, term: Term) -> str:
        """A term as people write it."""
        return self.ontology.prefixes.short(term)


def _each(graph: _Graph) -> Iterator[Fault]:
    """Faults of single statements: unknown names, and wrong kinds of subject and value."""
    asserted = {iri: p for iri, p in graph.ontology.properties.items() if p.mark != "query-only"}
    ranges = {iri: _Range(graph, property_) for iri, property_ in asserted.items()}
    for subject, about in graph.by_subject.items():
        classes = graph.stated_classes.get(subject, NO_CLASSES)
        for predicate, statements in about.items():
            range_ = ranges.get(predicate)
            if range_ is None:
                for statement in statements:
                    yield from _unknown(graph, statement)
                continue
            if not range_.owns(classes):
                yield _kind_fault("domain", graph, statements[0], range_.property)
            for statement in statements:
                if not range_.admits(statement.object):
                    yield _kind_fault("range", graph, statement, range_.property)


def _wrong_values(graph: _Graph) -> Iterator[Fault]:
    """Literals outside the type that their property's values have."""
    types = {**dict.fromkeys(map(Iri, KNOWN_TYPES)), **graph.ontology.datatypes}
    typed = {iri: _Range(graph, p) for iri, p in graph.ontology.properties.items() if p.range in types}
    for about in graph.by_subject.values():
        for predicate in about.keys() & typed.keys():
            for statement in about[predicate]:
                if not typed[predicate].admits(statement.object):
                    yield _kind_fault("range", graph, statement, typed[predicate].property)


class _Range:
    """What a property admits as subject and value, remembered by class and by value."""

    def __init__(self, graph: _Graph, property_: Property) -> None:
        self.graph, self.property = graph, property_
        self.owners: dict[frozenset[Iri], bool] = {}
        self.values: dict[Value | frozenset[Iri], bool] = {}

    def owns(self, classes: frozenset[Iri]) -> bool:
        """Whether something of these classes may have the property."""
        found = self.owners.get(classes)
        if found is None:
            found = self.owners[classes] = _compatible(self.graph.ontology, classes, self.property.domain)
        return found

    def admits(self, term: Term) -> bool:
        """Whether a term may be its value."""
        key = term if isinstance(term, Value) else self.graph.stated_classes.get(term, NO_CLASSES)
        found = self.values.get(key)
        if found is None:
            found = self.values[key] = _value_fits(self.graph.ontology, key, self.property.range)
        return found


def _unknown(graph: _Graph, statement: Statement) -> Iterator[Fault]:
    if statement.predicate in graph.ontology.properties:
        words = f"{graph.short(statement.predicate)} is allowed only in queries and rules"
        yield Fault("query-only", statement.predicate, statement.subject, (statement,), words)
    elif statement.predicate == TYPE:
        yield from _class_fault(graph, statement)
    elif statement.predicate not in ALWAYS_KNOWN:
        words = f"{graph.short(statement.predicate)} is not a property of the ontology"
        yield Fault("unknown", statement.predicate, statement.subject, (statement,), words)


def _class_fault(graph: _Graph, statement: Statement) -> Iterator[Fault]:
    found = graph.ontology.classes.get(statement.object) if isinstance(statement.object, Iri) else None
    if found is None:
        words = f"{graph.short(statement.object)} is not a class of the ontology"
        yield Fault("unknown", TYPE, statement.subject, (statement,), words)
    elif found.mark == "query-only":
        words = f"{graph.short(found.iri)} is allowed only in queries and rules"
        yield Fault("query-only", found.iri, statement.subject, (statement,), words)


def _compatible(ontology: Ontology, classes: frozenset[Iri], wanted: Iri | None) -> bool:
    """Whether something of these classes may be of another: nothing stated, or something wider, does not exclude it."""
    known = [iri for iri in classes if iri in ontology.classes]
    return wanted is None or not known or any(ontology.is_a(c, wanted) or ontology.is_a(wanted, c) for c in known)


def _value_fits(ontology: Ontology, value: Value | frozenset[Iri], range_: Iri | None) -> bool:
    """Whether a literal, or a thing of some classes, lies in a range."""
    if range_ is None:
        return True
    if range_ in ontology.classes:
        return not isinstance(value, Value) and _compatible(ontology, value, range_)
    return isinstance(value, Value) and ontology.in_range(value, range_)


def _kind_fault(kind: FaultKind, graph: _Graph, statement: Statement, property_: Property) -> Fault:
    """A subject or value of another kind than its property has, with the statements that say what it is."""
    thing: Term = statement.subject if kind == "domain" else statement.object
    wanted = property_.domain if kind == "domain" else property_.range
    name, class_, owner = graph.short(thing), graph.short(wanted) if wanted else "", graph.short(property_.iri)
    words = f"{name} has {owner} but is no {class_}" if kind == "domain" else f"{name} is no {class_}, as {owner} wants"
    about: Mapping[Iri, list[Statement]] = graph.by_subject.get(thing, {}) if not isinstance(thing, Value) else {}
    return Fault(kind, property_.iri, statement.subject, (statement, *about.get(TYPE, ())), words)


def _disjoint_classes(graph: _Graph) -> Iterator[Fault]:
    clashes: dict[frozenset[Iri], tuple[Iri, Iri] | None] = {}
    excluded: dict[Iri, set[Iri]] = {}
    for first, second in graph.ontology.disjoint:
        excluded.setdefault(first, set()).add(second)
        excluded.setdefault(second, set())
    for subject, classes in graph.stated_classes.items():
        if len(classes) > 1:
            if classes not in clashes:
                clashes[classes] = _clash(graph.ontology, classes, excluded)
            pair = clashes[classes]
            if pair is not None and not isinstance(subject, Value):
                words = f"{graph.short(subject)} cannot be both {graph.short(pair[0])} and {graph.short(pair[1])}"
                behind = tuple(s for s in graph.by_subject[subject][TYPE] if s.object in pair)
                yield Fault("disjoint", pair[0], subject, behind, words)


def _clash(ontology: Ontology, classes: frozenset[Iri], excluded: Mapping[Iri, Set[Iri]]) -> tuple[Iri, Iri] | None:
    """Two of these classes that exclude each other, themselves or by their superclasses."""
    ups = {iri: {up for up in ontology.ancestors.get(iri, (iri,)) if up in excluded} for iri in classes}
    ordered = sorted(iri for iri, found in ups.items() if found)  # most classes exclude nothing at all
    for first, second in combinations(ordered, 2):
        if any(not excluded[up].isdisjoint(ups[second]) for up in ups[first]):
            return first, second
    return None


def _disjoint_properties(graph: _Graph) -> Iterator[Fault]:
    pairs = [(p.iri, other) for p in graph.ontology.properties.values() for other in p.disjoint]
    for subject, about in graph.by_subject.items() if pairs else ():
        for first, second in pairs:
            if first in about and second in about:
                others = {graph.names.get(s.object, s.object): s for s in about[second]}
                for statement in about[first]:
                    other = others.get(graph.names.get(statement.object, statement.object))
                    if other is not None:
                        words = f"{graph.short(statement.object)} cannot be both {graph.short(first)} and "
                        words += f"{graph.short(second)} of {graph.short(subject)}"
                        yield Fault("disjoint", first, subject, (statement, other), words)


def _counts(graph: _Graph) -> Iterator[Fault]:
    limits: dict[frozenset[Iri], _Limits] = {}
    for subject, about in graph.by_subject.items():
        classes = graph.stated_classes.get(subject, NO_CLASSES)
        if not classes:  # then it must be what its properties are said of
            domains = (graph.ontology.properties[name].domain for name in about if name in graph.ontology.properties)
            classes = frozenset(domain for domain in domains if domain is not None)
        if classes not in limits:
            limits[classes] = _Limits.of(graph.ontology, classes)
        mine = limits[classes]
        for name, found in about.items():
            if len(found) > 1 or mine.strict:  # one value is seldom too many or too few
                for limit in mine.by_property.get(name, ()):
                    yield from _count_fault(graph, subject, found, limit)
        for limit in mine.needed:
            if limit.property not in about:
                yield from _count_fault(graph, subject, (), limit)


@dataclass(frozen=True)
class _Limits:
    """The cardinalities that hold for things of some classes, and those among them that want a value."""

    by_property: Mapping[Iri, Sequence[Cardinality]]
    needed: Sequence[Cardinality]
    strict: bool
    """Whether one value can be wrong: none is allowed, or more are wanted."""

    @classmethod
    def of(cls, ontology: Ontology, classes: frozenset[Iri]) -> _Limits:
        """Those of the classes themselves and of what they lie below."""
        owners = {up for iri in classes for up in ontology.ancestors.get(iri, ())}
        mine = [limit for limit in ontology.cardinalities if limit.owner in owners]
        by_property = {limit.property: [other for other in mine if other.property == limit.property] for limit in mine}
        strict = any(limit.least > 1 or limit.most == 0 for limit in mine)
        return cls(by_property, [limit for limit in mine if limit.least], strict)


def _count_fault(graph: _Graph, subject: Subject, found: Sequence[Statement], limit: Cardinality) -> Iterator[Fault]:
    if limit.least <= len(found) and (limit.most is None or len(found) <= limit.most):
        return
    number = graph.distinct(found)
    words = f"{graph.short(subject)} has {number} values of {graph.short(limit.property)}, wanted {limit}"
    if limit.most is not None and number > limit.most:
        yield Fault("too-many", limit.property, subject, tuple(found), words)
    if number < limit.least:
        yield Fault("missing", limit.property, subject, tuple(found), words)
