"""An ontology from RDF: what we understand of OWL is taken over, and what is missing or contradicts itself is found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, permutations
from pathlib import Path
from typing import Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.ontology.model import (
    KNOWN_TYPES,
    Cardinality,
    Datatype,
    Element,
    Mark,
    Ontology,
    OntologyClass,
    Property,
)
from basanite.reading.patterns import Prefixes
from basanite.reading.rdf import format_of, parse_rdf
from basanite.reading.terms import RDF, XSD, Iri, Literal, Node, Term
from basanite.reading.values import value_of
from basanite.reading.vocabulary import OWL, RDFS, TS, TYPE, names
from basanite.registry import suggestion

LARGEST: Final = 16 * 2**20
LONGEST_LIST: Final = 10_000
MOST_DISJOINT: Final = 300
MOST_ELEMENTS: Final = 10_000
MOST_ANCESTORS: Final = 200
LOOKED_AT: Final = 1_000
"""Names among which the one that was meant is looked for."""
BEGINNING: Final = re.compile(r"\s*(?:[\w.\-]*:(?P<short>[\w.\-]+)|<(?P<full>[^>\s]+)>)")
RULE: Final = "R-7"

SUBCLASS, DOMAIN, RANGE, LABEL = names(RDFS, "subClassOf", "domain", "range", "label")
MARK, PLURAL, NAMED, QUESTION, CAPABILITY = names(TS, "mark", "plural", "named", "question", "capability")
CLASS, RESTRICTION, ON_PROPERTY, DISJOINT, MEMBERS = names(
    OWL, "Class", "Restriction", "onProperty", "disjointWith", "members"
)
ON_DATATYPE, RESTRICTIONS, PROPERTY_DISJOINT, FUNCTIONAL = names(
    OWL, "onDatatype", "withRestrictions", "propertyDisjointWith", "FunctionalProperty"
)
ALL_DISJOINT, ONTOLOGY, VERSION = names(OWL, "AllDisjointClasses", "Ontology", "versionInfo")
PROPERTY_KINDS: Final = (*names(OWL, "DatatypeProperty", "ObjectProperty"), Iri(RDF + "Property"), FUNCTIONAL)
CLASS_KINDS: Final = (CLASS, Iri(RDFS + "Class"))
FIRST, REST, NIL = names(RDF, "first", "rest", "nil")
COUNTS: Final = {
    Iri(OWL + "cardinality"): (True, True),
    Iri(OWL + "minCardinality"): (True, False),
    Iri(OWL + "maxCardinality"): (False, True),
}
MARK_NAMES: Final[dict[Term, Mark]] = {
    Iri(TS + "target"): "target",
    Iri(TS + "inferred"): "inferred",
    Iri(TS + "queryOnly"): "query-only",
}
FACETS: Final = ("minInclusive", "maxInclusive", "minExclusive", "maxExclusive")


def read_ontology(path: Path, prefixes: Prefixes, findings: Findings) -> Ontology:
    """The ontology of a file in any RDF format; what is wrong with it is found, with the line of the element."""
    data = read_bounded(path, LARGEST)
    reader = _Reader(path.name, data.decode("utf-8", "replace"), prefixes, findings, {})
    for row in parse_rdf(data, format_of(path), path.name, findings, rule=RULE):
        statement = row.statement
        reader.graph.setdefault(statement.subject, {}).setdefault(statement.predicate, []).append(statement.object)
    return reader.ontology()


@dataclass(frozen=True)
class _Reader:
    """The graph of the file by subject and property, and where its problems go."""

    file: str
    text: str
    prefixes: Prefixes
    findings: Findings
    graph: dict[Iri | Node, dict[Iri, list[Term]]]

    def ontology(self) -> Ontology:
        """Everything that the graph declares, checked."""
        classes = {iri: self._class(iri) for iri in self._few(self._of_kind(CLASS_KINDS), "classes")}
        properties = {iri: self._property(iri) for iri in self._few(self._of_kind(PROPERTY_KINDS), "properties")}
        datatypes = dict(self._datatypes())
        head = next(iter(self._of_kind((ONTOLOGY,))), None)
        made = Ontology(
            self.prefixes,
            classes,
            properties,
            datatypes,
            tuple(sorted(self._cardinalities(classes, properties), key=lambda c: (c.owner, c.property))),
            frozenset(self._disjoint(classes)),
            self._one_text(head, LABEL) if head else "",
            self._one_text(head, VERSION) if head else "",
        )
        self._check(made)
        return made

    def problem(self, iri: Iri | None, message: str, fix: str) -> None:
        """Report what is wrong with an element."""
        line = self._line(iri) if iri else None
        self.findings.add(Problem(RULE, self.file, line, None, message, fix, where="reference"))

    def _line(self, iri: Iri) -> int | None:
        """Where an element is declared, as far as text can tell: the first line that begins with its name."""
        return self._lines.get(Element(iri).name)

    @cached_property
    def _lines(self) -> dict[str, int]:
        """The first line that begins with each name."""
        found: dict[str, int] = {}
        for number, line in enumerate(self.text.split("\n"), start=1):
            match = BEGINNING.match(line)
            if match:
                name = match["short"] or Element(Iri(match["full"])).name
                found.setdefault(name.rstrip("."), number)
        return found

    def _of_kind(self, kinds: Iterable[Iri]) -> list[Iri]:
        wanted = set(kinds)
        return sorted(
            subject
            for subject, about in self.graph.items()
            if isinstance(subject, Iri) and not wanted.isdisjoint(about.get(TYPE, ()))
        )

    def _few(self, found: list[Iri], what: str) -> list[Iri]:
        """As many as are read: their superclasses are kept for each, so their number is bounded (X-8)."""
        if len(found) > MOST_ELEMENTS:
            self.problem(None, f"the ontology has {len(found)} {what}", f"declare at most {MOST_ELEMENTS}")
        return found[:MOST_ELEMENTS]

    def _values(self, subject: Iri | Node, name: Iri) -> list[Term]:
        return self.graph.get(subject, {}).get(name, [])

    def _texts(self, subject: Iri | Node, name: Iri) -> list[str]:
        return [term.lexical for term in self._values(subject, name) if isinstance(term, Literal)]

    def _one_text(self, subject: Iri, name: Iri) -> str:
        return next(iter(self._texts(subject, name)), "")

    def _one_iri(self, subject: Iri, name: Iri) -> Iri | None:
        found = [term for term in self._values(subject, name) if isinstance(term, Iri)]
        if len(found) > 1 or len(found) != len(self._values(subject, name)):
            self.problem(
                subject, f"{self._name(subject)} has more than one {self._name(name)}", "name exactly one class"
            )
        return found[0] if found else None

    def _name(self, iri: Iri) -> str:
        return self.prefixes.short(iri)

    def _mark(self, iri: Iri) -> Mark:
        marks = [MARK_NAMES.get(term) for term in self._values(iri, MARK)]
        if len(marks) == 1 and marks[0] is not None:
            return marks[0]
        fix = "write ts:mark ts:target, ts:inferred or ts:queryOnly"
        self.problem(iri, f"{self._name(iri)} does not say once what it is for", fix)
        return "target"

    def _class(self, iri: Iri) -> OntologyClass:
        parents = tuple(sorted(term for term in self._values(iri, SUBCLASS) if isinstance(term, Iri)))
        return OntologyClass(
            iri,
            self._mark(iri),
            self._one_text(iri, LABEL),
            self._one_text(iri, QUESTION),
            frozenset(self._texts(iri, CAPABILITY)),
            parents,
            self._one_text(iri, PLURAL),
            self._is_named(iri),
        )

    def _is_named(self, iri: Iri) -> bool:
        values = [value_of(term) if isinstance(term, Literal) else None for term in self._values(iri, NAMED)]
        if len(values) > 1 or not all(isinstance(value, bool) for value in values):
            self.problem(
                iri, f"whether texts name a {self._name(iri)} is not told once", "write ts:named false, or nothing"
            )
        return False not in values

    def _property(self, iri: Iri) -> Property:
        return Property(
            iri,
            self._mark(iri),
            self._one_text(iri, LABEL),
            self._one_text(iri, QUESTION),
            frozenset(self._texts(iri, CAPABILITY)),
            self._one_iri(iri, DOMAIN),
            self._one_iri(iri, RANGE),
            FUNCTIONAL in self._values(iri, TYPE),
            tuple(sorted(term for term in self._values(iri, PROPERTY_DISJOINT) if isinstance(term, Iri))),
        )

    def _datatypes(self) -> Iterator[tuple[Iri, Datatype]]:
        for iri in self._of_kind((Iri(RDFS + "Datatype"),)):
            base = self._one_iri(iri, ON_DATATYPE)
            if base is None or base.value not in KNOWN_TYPES:
                self.problem(iri, f"{self._name(iri)} narrows no type we know", "write owl:onDatatype xsd:integer")
            else:
                yield iri, Datatype(iri, base, self._one_text(iri, LABEL), tuple(sorted(self._bounds(iri))))

    def _bounds(self, iri: Iri) -> Iterator[tuple[str, Literal]]:
        for listed in self._values(iri, RESTRICTIONS):
            for node in self._list(listed):
                for facet, values in self.graph.get(node, {}).items() if isinstance(node, Iri | Node) else ():
                    name = facet.value.removeprefix(XSD)
                    bound = values[0]
                    if name in FACETS and isinstance(bound, Literal) and value_of(bound) is not None:
                        yield name, bound
                    else:
                        fix = f"write one of {', '.join(FACETS)} with a number or a date"
                        self.problem(iri, f"the bound {name} of {self._name(iri)} is not understood", fix)

    def _list(self, term: Term) -> Iterator[Term]:
        """The members of an RDF list; one that bites its own tail ends."""
        for _ in range(LONGEST_LIST):
            if term == NIL or not isinstance(term, Iri | Node):
                return
            yield from self._values(term, FIRST)[:1]
            term = next(iter(self._values(term, REST)), NIL)

    def _cardinalities(
        self, classes: dict[Iri, OntologyClass], properties: dict[Iri, Property]
    ) -> Iterator[Cardinality]:
        for owner in classes:
            for node in self._values(owner, SUBCLASS):
                if isinstance(node, Node):
                    yield from self._restriction(owner, node)
        for iri, found in properties.items():
            if found.functional and found.domain is not None:
                yield Cardinality(found.domain, iri, 0, 1)

    def _restriction(self, owner: Iri, node: Node) -> Iterator[Cardinality]:
        property_ = next(iter(self._values(node, ON_PROPERTY)), None)
        counts = [(COUNTS[name], values[0]) for name, values in self.graph.get(node, {}).items() if name in COUNTS]
        for (least, most), count in counts:
            number = value_of(count) if isinstance(count, Literal) else None
            if isinstance(property_, Iri) and isinstance(number, int) and number >= 0:
                yield Cardinality(owner, property_, number if least else 0, number if most else None)
                return
        fix = "write owl:onProperty and owl:cardinality, owl:maxCardinality or owl:minCardinality with a count"
        self.problem(owner, f"a restriction of {self._name(owner)} is not understood", fix)

    def _disjoint(self, classes: dict[Iri, OntologyClass]) -> Iterator[tuple[Iri, Iri]]:
        groups = [[iri, *self._values(iri, DISJOINT)] for iri in classes if self._values(iri, DISJOINT)]
        pairs = [(group[0], other) for group in groups for other in group[1:]]
        for subject, about in self.graph.items():
            if ALL_DISJOINT in about.get(TYPE, ()):
                members = [member for listed in self._values(subject, MEMBERS) for member in self._list(listed)]
                if len(members) > MOST_DISJOINT:
                    self.problem(None, f"{len(members)} classes are disjoint at once", f"list at most {MOST_DISJOINT}")
                pairs += permutations(members[:MOST_DISJOINT], 2)
        for first, second in pairs:
            if isinstance(first, Iri) and isinstance(second, Iri):
                yield from ((first, second), (second, first))

    def _check(self, made: Ontology) -> None:
        if not made.classes and self.findings.valid:
            self.problem(None, "the ontology declares no class", "write nfl:NFLGame a owl:Class .")
        for iri in made.classes:
            self._check_class(made, iri)
        for property_ in made.properties.values():
            self._check_property(made, property_)
        for limit in made.cardinalities:
            self._known(limit.owner, limit.property, made.properties, "property")
        for pair in sorted(made.disjoint):
            self._known(pair[0], pair[1], made.classes, "class")

    def _check_class(self, made: Ontology, iri: Iri) -> None:
        parents = made.classes[iri].parents
        for parent in parents:
            self._known(iri, parent, made.classes, "class")
        if len(made.ancestors[iri]) > MOST_ANCESTORS:
            fix = f"let it lie below at most {MOST_ANCESTORS}"
            self.problem(iri, f"{self._name(iri)} lies below too many classes", fix)
        if any(iri in made.ancestors.get(parent, ()) for parent in parents):
            self.problem(iri, f"{self._name(iri)} lies below itself", "break the circle of rdfs:subClassOf")

    def _check_property(self, made: Ontology, found: Property) -> None:
        if found.domain is not None:
            self._known(found.iri, found.domain, made.classes, "class")
        if found.range is not None and found.range.value not in KNOWN_TYPES and found.range not in made.datatypes:
            self._known(found.iri, found.range, made.classes, "class or type")
        for other in found.disjoint:
            self._known(found.iri, other, made.properties, "property")

    def _known(self, at: Iri, name: Iri, known: Collection[Iri], what: str) -> None:
        if name not in known:
            near = suggestion(self._name(name), [self._name(iri) for iri in islice(known, LOOKED_AT)])
            self.problem(at, f"{self._name(at)} names {self._name(name)}, which is no {what} of the ontology", near)
