"""Classes, properties and constraints as plain values, with the few questions that everybody asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, get_args

from basanite.reading.patterns import Prefixes
from basanite.reading.terms import RDF, RDFS, TYPE, XSD, Iri, Statement
from basanite.reading.terms import Literal as Value
from basanite.reading.values import INTEGER_BOUNDS, TEXTS, compare, value_of

if TYPE_CHECKING:
    from basanite.reading.rules.tree import Rule

Mark = Literal["target", "inferred", "query-only"]
MARKS: Final = get_args(Mark)
MOST_SEEN: Final = 300
"""Superclasses that are followed from one class; an ontology with more is refused where it is read."""
THING: Final = "thing"
"""What a variable or range stands for that is no value."""
ANY_LITERAL: Final = Iri(RDFS + "Literal")
KNOWN_TYPES: Final = frozenset(
    {XSD + name for name in (*INTEGER_BOUNDS, "boolean", "decimal", "double", "float", "date", "dateTime")}
    | TEXTS
    | {ANY_LITERAL.value}
)


@dataclass(frozen=True)
class Element:
    """What classes and properties have in common: a name, what it is for, and how people speak of it."""

    iri: Iri
    mark: Mark = "target"
    label: str = ""
    question: str = ""
    capabilities: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The part of the name that people read.

        >>> Element(Iri("https://nfl.example/scoring#NFLGame")).name
        'NFLGame'
        """
        return self.iri.value.rstrip("#/").replace("#", "/").replace(":", "/").rpartition("/")[2]


@dataclass(frozen=True)
class OntologyClass(Element):
    """A kind of thing, and the kinds it belongs to."""

    parents: tuple[Iri, ...] = ()
    plural: str = ""
    named: bool = True
    """Whether texts name its members: those of other classes are matched by what is said of them (R-31)."""


@dataclass(frozen=True)
class Property(Element):
    """A relation or an attribute: whose it is, and what its values are."""

    domain: Iri | None = None
    range: Iri | None = None
    functional: bool = False
    disjoint: tuple[Iri, ...] = ()
    names: bool = True
    """Whether its texts are names of what they are said of, as a team's are; an occupation is none."""


@dataclass(frozen=True)
class Datatype:
    """A type of values that narrows another one by bounds."""

    iri: Iri
    base: Iri
    label: str = ""
    bounds: tuple[tuple[str, Value], ...] = ()
    """Each a facet (minInclusive, maxInclusive, minExclusive, maxExclusive) and its value."""

    def holds(self, literal: Value) -> bool:
        """Whether a literal of the base type lies within the bounds."""
        return all(_within(facet, compare(literal, bound)) for facet, bound in self.bounds)


@dataclass(frozen=True)
class Cardinality:
    """How many values of a property a thing of a class has."""

    owner: Iri
    property: Iri
    least: int = 0
    most: int | None = None

    def __str__(self) -> str:
        if self.least == self.most:
            return f"= {self.most}"
        parts = ([f">= {self.least}"] if self.least else []) + ([] if self.most is None else [f"<= {self.most}"])
        return " and ".join(parts) or "any number"


@dataclass(frozen=True)
class Ontology:
    """All classes, properties, types and constraints of one reading task."""

    prefixes: Prefixes
    classes: Mapping[Iri, OntologyClass] = field(default_factory=dict)
    properties: Mapping[Iri, Property] = field(default_factory=dict)
    datatypes: Mapping[Iri, Datatype] = field(default_factory=dict)
    cardinalities: tuple[Cardinality, ...] = ()
    disjoint: frozenset[tuple[Iri, Iri]] = frozenset()
    """Pairs of classes that share no member, each in both orders."""
    label: str = ""
    version: str = ""
    axioms: tuple[Rule, ...] = ()
    """What the axioms say beyond superclasses and constraints, as rules (R-33)."""
    facts: tuple[Statement, ...] = ()
    """What an open ontology states about individuals."""
    closed: bool = True
    """Whether statements outside the ontology are mistakes; an ontology without our marks is open (R-34)."""

    @cached_property
    def ancestors(self) -> dict[Iri, frozenset[Iri]]:
        """Each class with all its superclasses, itself among them."""
        return {iri: frozenset(self._upwards(iri)) for iri in self.classes}

    @cached_property
    def limits(self) -> dict[Iri, tuple[Cardinality, ...]]:
        """The cardinalities of each property."""
        found: dict[Iri, list[Cardinality]] = {}
        for limit in self.cardinalities:
            found.setdefault(limit.property, []).append(limit)
        return {iri: tuple(limits) for iri, limits in found.items()}

    def element(self, iri: Iri) -> OntologyClass | Property | None:
        """The class or property of this name, if there is one."""
        return self.classes.get(iri) or self.properties.get(iri)

    def is_a(self, iri: Iri, other: Iri) -> bool:
        """Whether one class is another or below it."""
        return other in self.ancestors.get(iri, (iri,))

    def in_range(self, literal: Value, range_: Iri) -> bool:
        """Whether a literal is a value of a type."""
        datatype = self.datatypes.get(range_)
        if datatype is not None:
            return self.in_range(literal, datatype.base) and datatype.holds(literal)
        return range_ == ANY_LITERAL or _of_type(literal, range_.value)

    def range_name(self, range_: Iri) -> str:
        """A range as answers are read by it: `thing` for a class, the name of a known type of values, else nothing."""
        if range_ in self.classes:
            return THING
        datatype = self.datatypes.get(range_)
        base = (datatype.base if datatype else range_).value
        return base.removeprefix(XSD).removeprefix(RDF) if base in KNOWN_TYPES and base != ANY_LITERAL.value else ""

    def supertypes(self, statements: Iterable[Statement]) -> Iterator[Statement]:
        """The memberships that follow from stated ones, because a class lies below others."""
        for statement in statements:
            if statement.predicate == TYPE and isinstance(statement.object, Iri):
                for iri in sorted(self.ancestors.get(statement.object, frozenset()) - {statement.object}):
                    yield Statement(statement.subject, TYPE, iri)

    def _upwards(self, iri: Iri) -> Iterator[Iri]:
        seen, waiting = {iri}, [iri]
        while waiting and len(seen) <= MOST_SEEN:
            current = waiting.pop()
            yield current
            parents = self.classes[current].parents if current in self.classes else ()
            waiting += [parent for parent in parents if parent not in seen]
            seen.update(parents)


def _of_type(literal: Value, wanted: str) -> bool:
    if literal.datatype == wanted or (wanted == XSD + "string" and literal.datatype == RDF + "langString"):
        return value_of(literal) is not None or wanted not in KNOWN_TYPES
    value = value_of(literal)
    if isinstance(value, int) and not isinstance(value, bool):  # whole numbers are decimals, and counts whole numbers
        whole = wanted.removeprefix(XSD) in INTEGER_BOUNDS
        return wanted == XSD + "decimal" or (whole and value_of(Value(literal.lexical, wanted)) == value)
    return False


def _within(facet: str, order: int | None) -> bool:
    allowed = {"minInclusive": (0, 1), "maxInclusive": (-1, 0), "minExclusive": (1,), "maxExclusive": (-1,)}
    return order in allowed[facet]
