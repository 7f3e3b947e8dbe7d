"""A query: a graph pattern with variables, what is asked for, and what it takes to answer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from basanite.reading.ontology.model import THING, Element, Ontology
from basanite.reading.patterns import Builtin, Goal, Pattern, Prefixes, Variable
from basanite.reading.terms import Iri
from basanite.reading.vocabulary import MRQ, TYPE

GENERATED_TYPES: Final = ("class", "property", "chain", "fork")


@dataclass(frozen=True)
class Query:
    """Goals that an answer must meet, and the variables that it tells."""

    id: str
    goals: tuple[Goal, ...]
    type: str = "property"
    select: tuple[str, ...] = ()
    """The variables of an answer, without question marks, in their order."""
    capabilities: frozenset[str] = frozenset()
    question: str = ""
    file: str = ""
    line: int | None = None

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The triples among its goals."""
        return tuple(goal for goal in self.goals if isinstance(goal, Pattern))

    @property
    def builtins(self) -> tuple[Builtin, ...]:
        """The comparisons among its goals."""
        return tuple(goal for goal in self.goals if isinstance(goal, Builtin))

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables of its triples, in the order in which they first stand."""
        return tuple(dict.fromkeys(name for pattern in self.patterns for name in pattern.variables))

    def names(self) -> Iterator[Iri]:
        """The classes and properties that it speaks of."""
        for pattern in self.patterns:
            if isinstance(pattern.predicate, Iri):
                yield pattern.predicate if pattern.predicate != TYPE else _class_of(pattern)

    def elements(self, ontology: Ontology) -> list[Element]:
        """The classes and properties that it speaks of, as far as the ontology has them."""
        found = (ontology.element(iri) for iri in self.names())
        return [element for element in found if element is not None]

    def classes(self, ontology: Ontology) -> frozenset[Iri]:
        """The classes whose things it asks about: those it names, and those its properties belong to."""
        domains = {ontology.properties[iri].domain for iri in self.names() if iri in ontology.properties}
        return frozenset(domain for domain in domains if domain) | {
            iri for iri in self.names() if iri in ontology.classes
        }

    def ranges(self, ontology: Ontology) -> dict[str, str]:
        """What its variables stand for, as far as the ontology knows: `thing`, or the name of a type of values."""
        found: dict[str, str] = {}
        for pattern in self.patterns:
            property_ = ontology.properties.get(pattern.predicate) if isinstance(pattern.predicate, Iri) else None
            if isinstance(pattern.object, Variable) and property_ is not None and property_.range is not None:
                found.setdefault(pattern.object.name, ontology.range_name(property_.range))
            if isinstance(pattern.object, Variable) and pattern.predicate == TYPE:
                found[pattern.object.name] = THING
            if isinstance(pattern.subject, Variable):
                found[pattern.subject.name] = THING
        return {name: range_ for name, range_ in found.items() if range_}

    def lines(self, prefixes: Prefixes) -> list[str]:
        """Its goals as people write them, one a line."""
        return [written(goal, prefixes) for goal in self.goals]

    def in_scope(self, capabilities: frozenset[str]) -> bool:
        """Whether a phase with these capabilities asks it (R-24).

        >>> Query("q", (), capabilities=frozenset({"temporal"})).in_scope(frozenset({"anaphora"}))
        False
        """
        return self.capabilities <= capabilities


def written(goal: Goal, prefixes: Prefixes) -> str:
    """A triple or comparison as people write it.

    >>> from basanite.reading.patterns import parse_pattern
    >>> nfl = Prefixes("urn:nfl:", {"nfl": "urn:nfl:"})
    >>> written(parse_pattern("?g numberOfPeriods 5", nfl), nfl), written(parse_pattern("?n < 5", nfl), nfl)
    ('?g nfl:numberOfPeriods 5', '?n mrq:lessThan 5')
    """
    if isinstance(goal, Pattern):
        return " ".join("type" if term == TYPE else prefixes.short(term) for term in goal.terms)
    first, *others = goal.arguments
    return " ".join((prefixes.short(first), prefixes.short(Iri(MRQ + goal.name)), *map(prefixes.short, others)))


def by_id(queries: tuple[Query, ...]) -> Mapping[str, Query]:
    """Queries by their name."""
    return {query.id: query for query in queries}


def _class_of(pattern: Pattern) -> Iri:
    return pattern.object if isinstance(pattern.object, Iri) else TYPE
