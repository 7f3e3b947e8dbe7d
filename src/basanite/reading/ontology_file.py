"""An ontology from RDF: what we understand of OWL is taken over, and what is missing or contradicts itself is found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, permutations
from pathlib import Path
from typing import Final

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem, Severity
from basanite.reading.axioms import (
    ALL_DIFFERENT,
    ANNOTATION_PROPERTY,
    CHAIN,
    CLASS,
    DIFFERENT,
    DISJOINT_WITH,
    DISTINCT_MEMBERS,
    DOMAIN,
    EQUIVALENT_CLASS,
    EQUIVALENT_PROPERTY,
    EXACTLY,
    EXPRESSIONS,
    FUNCTIONAL,
    INVERSE,
    LEAST,
    MEMBERS,
    MOST,
    NOTHING,
    ON_PROPERTY,
    PROPERTY_DISJOINT,
    PROPERTY_KINDS,
    RANGE,
    RDFS_CLASS,
    SUBCLASS,
    SUBPROPERTY,
    THING,
    Unsupported,
    is_value_type,
    list_members,
    read_axioms,
)
from basanite.reading.ontology import (
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
from basanite.reading.rdf import Names, format_of, parse_rdf
from basanite.reading.terms import OWL, RDF, RDFS, SAME_AS, TS, TYPE, XSD, Iri, Literal, Node, Statement, Term, names
from basanite.reading.values import value_of
from basanite.registry import suggestion

LARGEST: Final = 64 * 2**20
MOST_DISJOINT: Final = 300
MOST_ELEMENTS: Final = 200_000
MOST_ANCESTORS: Final = 200
LOOKED_AT: Final = 1_000
"""Names among which the one that was meant is looked for."""
BEGINNING: Final = re.compile(r"\s*(?:[\w.\-]*:(?P<short>[\w.\-]+)|<(?P<full>[^>\s]+)>)")
RULE: Final = "R-7"

(LABEL,) = names(RDFS, "label")
MARK, PLURAL, NAMED, QUESTION, CAPABILITY = names(TS, "mark", "plural", "named", "question", "capability")
ON_DATATYPE, RESTRICTIONS, ALL_DISJOINT, ONTOLOGY, VERSION = names(
    OWL, "onDatatype", "withRestrictions", "AllDisjointClasses", "Ontology", "versionInfo"
)
CLASS_KINDS: Final = (CLASS, RDFS_CLASS)
COUNTED: Final = {LEAST: (True, False), MOST: (False, True), EXACTLY: (True, True)}
"""Numbers of values in a restriction, and whether each bounds from below and from above."""
VOCABULARIES: Final = (RDF, RDFS, OWL)
MARK_NAMES: Final[dict[Term, Mark]] = {
    Iri(TS + "target"): "target",
    Iri(TS + "inferred"): "inferred",
    Iri(TS + "queryOnly"): "query-only",
}
FACETS: Final = ("minInclusive", "maxInclusive", "minExclusive", "maxExclusive")


def read_ontology(
    path: Path, prefixes: Prefixes, findings: Findings, *, names: Names | None = None, may_be_open: bool = False
) -> Ontology:
    """The ontology of a file in any RDF format; what is wrong with it is found, with the line of the element.

    One without our marks may come from anywhere: its elements need no declaration, and where the caller allows it,
    statements may say more than it knows (R-34).
    """
    data = read_bounded(path, LARGEST)
    graph: dict[Iri | Node, dict[Iri, list[Term]]] = {}
    statements = [
        row.statement for row in parse_rdf(data, format_of(path), path.name, findings, rule=RULE, names=names)
    ]
    for statement in statements:
        graph.setdefault(statement.subject, {}).setdefault(statement.predicate, []).append(statement.object)
    marked = any(MARK in about for about in graph.values())
    if names is not None:
        prefixes = prefixes.with_names(names.prefixes)
    reader = _Reader(path.name, data.decode("utf-8", "replace"), prefixes, findings, graph, marked)
    return reader.ontology(closed=marked or not may_be_open)


@dataclass(frozen=True)
class _Reader:
    """The graph of the file by subject and property, and where its problems go."""

    file: str
    text: str
    prefixes: Prefixes
    findings: Findings
    graph: dict[Iri | Node, dict[Iri, list[Term]]]
    marked: bool
    """Whether any element has one of our marks."""

    def ontology(self, *, closed: bool) -> Ontology:
        """Everything that the graph declares, checked."""
        classes = {iri: self._class(iri) for iri in self._few(self._classes(), "classes")}
        properties = {iri: self._property(iri) for iri in self._few(self._properties(), "properties")}
        axioms = read_axioms(self.graph, self.prefixes, closed=closed)
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
            axioms.rules,
            () if closed else tuple(self._facts(classes, properties)),
            closed,
        )
        for left_out in axioms.unsupported:
            self._warn(left_out)
        if self.marked or (closed and not made.classes):
            self._check(made)
        elif closed and self.findings.valid:
            words = "no element has a ts:mark, so every class and property counts as asked for"
            self._add(None, words, "write ts:mark ts:target, ts:inferred or ts:queryOnly", "warn", RULE)
        self._check_depth(made)
        return made

    def problem(self, iri: Iri | None, message: str, fix: str) -> None:
        """Report what is wrong with an element."""
        self._add(iri, message, fix, "reject", RULE)

    def _add(self, iri: Iri | None, message: str, fix: str, severity: Severity, rule: str) -> None:
        line = self._line(iri) if iri else None
        self.findings.add(Problem(rule, self.file, line, None, message, fix, severity=severity, where="reference"))

    def _warn(self, left_out: Unsupported) -> None:
        """Name an axiom from which nothing is derived."""
        about = f" ({self._name(left_out.element)})" if left_out.element else ""
        words = f"nothing is derived from an axiom{about}: {left_out.reason}"
        self._add(left_out.element, words, "write a rule for it where you need it", "warn", "R-33")

    def _classes(self) -> list[Iri]:
        """The declared classes; in an ontology without marks also what is used as one."""
        declared = self._of_kind(CLASS_KINDS)
        if self.marked:
            return declared
        used = set(declared)
        for subject, about in self.graph.items():
            for name in (SUBCLASS, EQUIVALENT_CLASS, DISJOINT_WITH):
                used.update(term for term in (subject, *about.get(name, ())) if name in about and isinstance(term, Iri))
            for name in (DOMAIN, RANGE):
                used.update(term for term in about.get(name, ()) if isinstance(term, Iri))
        return sorted(iri for iri in used if iri not in (THING, NOTHING) and not is_value_type(self.graph, iri))

    def _properties(self) -> list[Iri]:
        """The declared properties; in an ontology without marks also what is used as one."""
        declared = self._of_kind(PROPERTY_KINDS)
        if self.marked:
            return declared
        used = set(declared)
        for subject, about in self.graph.items():
            for name in (SUBPROPERTY, EQUIVALENT_PROPERTY, INVERSE, PROPERTY_DISJOINT):
                used.update(term for term in (subject, *about.get(name, ())) if name in about and isinstance(term, Iri))
            if isinstance(subject, Iri) and not about.keys().isdisjoint((DOMAIN, RANGE, CHAIN)):
                used.add(subject)
        return sorted(used)

    def _facts(self, classes: dict[Iri, OntologyClass], properties: dict[Iri, Property]) -> Iterator[Statement]:
        """What the file says about individuals, which is neither an axiom nor a note."""
        notes = set(self._of_kind((ANNOTATION_PROPERTY,)))
        for subject, about in self.graph.items():
            if subject in classes or subject in properties or ONTOLOGY in about.get(TYPE, ()):
                continue
            for predicate, objects in about.items():
                own = predicate in (TYPE, SAME_AS, DIFFERENT) or not predicate.value.startswith(VOCABULARIES)
                for object_ in objects if own and predicate not in notes else ():
                    if predicate != TYPE or (isinstance(object_, Iri) and not object_.value.startswith(VOCABULARIES)):
                        yield Statement(subject, predicate, object_)
            if ALL_DIFFERENT in about.get(TYPE, ()):
                yield from self._different(about)

    def _different(self, about: dict[Iri, list[Term]]) -> Iterator[Statement]:
        for listed in (*about.get(MEMBERS, ()), *about.get(DISTINCT_MEMBERS, ())):
            for one, other in combinations(islice(list_members(self.graph, listed), MOST_DISJOINT), 2):
                if isinstance(one, Iri | Node):
                    yield Statement(one, DIFFERENT, other)

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
        if not self.marked:
            return found[0] if len(found) == 1 and len(self._values(subject, name)) == 1 else None
        if len(found) > 1 or len(found) != len(self._values(subject, name)):
            self.problem(
                subject, f"{self._name(subject)} has more than one {self._name(name)}", "name exactly one class"
            )
        return found[0] if found else None

    def _name(self, iri: Iri) -> str:
        return self.prefixes.short(iri)

    def _mark(self, iri: Iri) -> Mark:
        if not self.marked:
            return "target"
        marks = [MARK_NAMES.get(term) for term in self._values(iri, MARK)]
        if len(marks) == 1 and marks[0] is not None:
            return marks[0]
        fix = "write ts:mark ts:target, ts:inferred or ts:queryOnly"
        self.problem(iri, f"{self._name(iri)} does not say once what it is for", fix)
        return "target"

    def _class(self, iri: Iri) -> OntologyClass:
        above = [term for term in self._values(iri, SUBCLASS) if isinstance(term, Iri)]
        parents = tuple(sorted(term for term in above if self.marked or term not in (THING, NOTHING, iri)))
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
                iri,
                f"what ts:named says of {self._name(iri)} is not stated exactly once",
                "write ts:named false, or nothing",
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
            names=self._is_named(iri),
        )

    def _datatypes(self) -> Iterator[tuple[Iri, Datatype]]:
        for iri in self._of_kind((Iri(RDFS + "Datatype"),)):
            base = self._one_iri(iri, ON_DATATYPE)
            if base is None or base.value not in KNOWN_TYPES:
                if not self.marked:
                    self._warn(Unsupported(iri, "a datatype that is not understood"))
                    continue
                self.problem(iri, f"{self._name(iri)} narrows no type we know", "write owl:onDatatype xsd:integer")
            else:
                yield iri, Datatype(iri, base, self._one_text(iri, LABEL), tuple(sorted(self._bounds(iri))))

    def _bounds(self, iri: Iri) -> Iterator[tuple[str, Literal]]:
        for listed in self._values(iri, RESTRICTIONS):
            for node in list_members(self.graph, listed):
                for facet, values in self.graph.get(node, {}).items() if isinstance(node, Iri | Node) else ():
                    name = facet.value.removeprefix(XSD)
                    bound = values[0]
                    if name in FACETS and isinstance(bound, Literal) and value_of(bound) is not None:
                        yield name, bound
                    elif self.marked:
                        fix = f"write one of {', '.join(FACETS)} with a number or a date"
                        self.problem(iri, f"the bound {name} of {self._name(iri)} is not understood", fix)

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
        about = self.graph.get(node, {})
        property_ = next(iter(about.get(ON_PROPERTY, ())), None)
        counts = [(COUNTED[name], values[0]) for name, values in about.items() if name in COUNTED]
        if not counts and not about.keys().isdisjoint(EXPRESSIONS):
            return  # an axiom
        for (least, most), count in counts:
            number = value_of(count) if isinstance(count, Literal) else None
            if isinstance(property_, Iri) and isinstance(number, int) and number >= 0:
                yield Cardinality(owner, property_, number if least else 0, number if most else None)
                return
        fix = "write owl:onProperty and owl:cardinality, owl:maxCardinality or owl:minCardinality with a count"
        self.problem(owner, f"a restriction of {self._name(owner)} is not understood", fix)

    def _disjoint(self, classes: dict[Iri, OntologyClass]) -> Iterator[tuple[Iri, Iri]]:
        groups = [[iri, *self._values(iri, DISJOINT_WITH)] for iri in classes if self._values(iri, DISJOINT_WITH)]
        pairs = [(group[0], other) for group in groups for other in group[1:]]
        for subject, about in self.graph.items():
            if ALL_DISJOINT in about.get(TYPE, ()):
                members = [
                    member for listed in self._values(subject, MEMBERS) for member in list_members(self.graph, listed)
                ]
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
            self._check_known(limit.owner, limit.property, made.properties, "property")
        for pair in sorted(made.disjoint):
            self._check_known(pair[0], pair[1], made.classes, "class")

    def _check_depth(self, made: Ontology) -> None:
        for iri in made.classes:
            if len(made.ancestors[iri]) > MOST_ANCESTORS:
                fix = f"let it lie below at most {MOST_ANCESTORS}"
                self.problem(iri, f"{self._name(iri)} lies below too many classes", fix)

    def _check_class(self, made: Ontology, iri: Iri) -> None:
        parents = made.classes[iri].parents
        for parent in parents:
            self._check_known(iri, parent, made.classes, "class")
        if any(iri in made.ancestors.get(parent, ()) for parent in parents):
            self.problem(iri, f"{self._name(iri)} lies below itself", "break the circle of rdfs:subClassOf")

    def _check_property(self, made: Ontology, found: Property) -> None:
        if found.domain is not None:
            self._check_known(found.iri, found.domain, made.classes, "class")
        if found.range is not None and found.range.value not in KNOWN_TYPES and found.range not in made.datatypes:
            self._check_known(found.iri, found.range, made.classes, "class or type")
        for other in found.disjoint:
            self._check_known(found.iri, other, made.properties, "property")

    def _check_known(self, at: Iri, name: Iri, known: Collection[Iri], what: str) -> None:
        if name not in known:
            near = suggestion(self._name(name), [self._name(iri) for iri in islice(known, LOOKED_AT)])
            self.problem(at, f"{self._name(at)} names {self._name(name)}, which is not a {what} of the ontology", near)
