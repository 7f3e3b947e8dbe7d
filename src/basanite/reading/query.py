"""A query: a graph pattern with variables, what is asked for, and what it takes to answer it.

Below it is written as a question for human readers, from the templates of the ontology (R-12), and in SPARQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from basanite.reading.ontology import THING, Element, Ontology, OntologyClass, Property
from basanite.reading.patterns import SIGN_OF, Builtin, Goal, Pattern, Prefixes, Variable
from basanite.reading.terms import MRQ, TYPE, Iri

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
        """Its goals as people write them, one per line."""
        return [goal_text(goal, prefixes) for goal in self.goals]

    def in_scope(self, capabilities: frozenset[str]) -> bool:
        """Whether a phase with these capabilities asks it (R-24).

        >>> Query("q", (), capabilities=frozenset({"temporal"})).in_scope(frozenset({"anaphora"}))
        False
        """
        return self.capabilities <= capabilities


def goal_text(goal: Goal, prefixes: Prefixes) -> str:
    """A triple or comparison as people write it.

    >>> from basanite.reading.patterns import parse_pattern
    >>> nfl = Prefixes("urn:nfl:", {"nfl": "urn:nfl:"})
    >>> goal_text(parse_pattern("?g numberOfPeriods 5", nfl), nfl), goal_text(parse_pattern("?n < 5", nfl), nfl)
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


def question(query: Query, ontology: Ontology) -> str:
    """The question that a person is asked: the query's own, or one from templates; "" if neither can be had."""
    return query.question or _template_question(query, ontology)


def _template_question(query: Query, ontology: Ontology) -> str:
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
        of_each = f"{noun(found[0])} of each {_owner(found[0], ontology)}"
        return found[0].question or f"What is the {of_each} mentioned?"
    return _chain_question(links, found, ontology) if len(found) == 2 else ""


def class_question(found: OntologyClass) -> str:
    """What is asked about a class.

    >>> class_question(OntologyClass(Iri("urn:NFLTeam"), label="team", plural="teams"))
    'Which teams are mentioned?'
    """
    return found.question or f"Which {found.plural or noun(found) + 's'} are mentioned?"


def noun(element: Property | OntologyClass) -> str:
    """What people call a class or property."""
    return element.label or element.name


def _chain_question(links: list[tuple[str, Iri, str]], found: list[Property], ontology: Ontology) -> str:
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


FILTERS: Final = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in SIGN_OF.items()},
    "notEqualTo": "isLiteral({0}) = isLiteral({1}) && {0} != {1}",
    "identicalTo": "sameTerm({0}, {1})",
    "differentFrom": "!sameTerm({0}, {1})",
    "contains": "CONTAINS(STR({0}), STR({1}))",
    "startsWith": "STRSTARTS(STR({0}), STR({1}))",
    "endsWith": "STRENDS(STR({0}), STR({1}))",
    "isLiteral": "isLiteral({0})",
    "isName": "!isLiteral({0})",
}


def sparql(query: Query, prefixes: Prefixes) -> str:
    """The SELECT that finds the same answers.

    >>> from basanite.reading.patterns import parse_pattern
    >>> nfl = Prefixes("urn:nfl:")
    >>> goals = tuple(parse_pattern(text, nfl) for text in ("?G numberOfPeriods ?N", "?N <= 4"))
    >>> print(sparql(Query("short", goals), nfl))
    SELECT DISTINCT ?G ?N WHERE {
      ?G <urn:nfl:numberOfPeriods> ?N .
      FILTER (?N <= "4"^^<http://www.w3.org/2001/XMLSchema#integer>)
    }
    """
    told = " ".join(f"?{name}" for name in query.select or query.variables)
    lines = "\n".join(f"  {_line(goal)}" for goal in query.goals)
    return f"SELECT DISTINCT {told} WHERE {{\n{lines}\n}}"


def _line(goal: Goal) -> str:
    if isinstance(goal, Builtin):
        return f"FILTER ({FILTERS[goal.name].format(*goal.arguments)})"
    return f"{goal} ."
