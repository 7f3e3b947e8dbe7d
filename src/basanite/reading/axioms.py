"""Axioms of RDFS and OWL 2 RL as rules of the reasoner, so that every consequence can be explained (R-33).

The subclass side of an axiom becomes triples that must be there, the superclass side triples that follow. An axiom that
such rules cannot express, as "is a member of one of these classes", is listed with a reason and never ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, count, product
from typing import Final, TypeAlias

from basanite.errors import BasaniteError
from basanite.reading.patterns import Builtin, Goal, Pattern, PatternTerm, Prefixes, Variable
from basanite.reading.rules.tree import CONTRADICTS, Rule
from basanite.reading.terms import OWL, RDF, RDFS, SAME_AS, TYPE, XSD, Iri, Literal, Node, Term, names
from basanite.reading.values import value_of

Graph: TypeAlias = Mapping[Iri | Node, Mapping[Iri, list[Term]]]
Body: TypeAlias = tuple[Goal, ...]

LONGEST_LIST: Final = 10_000
MOST_ALTERNATIVES: Final = 300
"""Bodies that one class expression may become."""
MOST_EXCLUSIVE: Final = 300
DEEPEST: Final = 20
"""Class expressions inside each other."""

SUBCLASS, SUBPROPERTY, DOMAIN, RANGE, RDFS_CLASS, DATATYPE, ANY_VALUE = names(
    RDFS, "subClassOf", "subPropertyOf", "domain", "range", "Class", "Datatype", "Literal"
)
FIRST, REST, NIL, PLAIN_PROPERTY = names(RDF, "first", "rest", "nil", "Property")
CLASS, THING, NOTHING, RESTRICTION, INDIVIDUAL = names(
    OWL, "Class", "Thing", "Nothing", "Restriction", "NamedIndividual"
)
EQUIVALENT_CLASS, DISJOINT_WITH, COMPLEMENT, DISJOINT_UNION, HAS_KEY = names(
    OWL, "equivalentClass", "disjointWith", "complementOf", "disjointUnionOf", "hasKey"
)
INTERSECTION, UNION, ONE_OF = names(OWL, "intersectionOf", "unionOf", "oneOf")
ON_PROPERTY, SOME, ALL, VALUE, SELF = names(OWL, "onProperty", "someValuesFrom", "allValuesFrom", "hasValue", "hasSelf")
LEAST, MOST, EXACTLY = names(OWL, "minCardinality", "maxCardinality", "cardinality")
LEAST_OF, MOST_OF, EXACTLY_OF, ON_CLASS = names(
    OWL, "minQualifiedCardinality", "maxQualifiedCardinality", "qualifiedCardinality", "onClass"
)
EQUIVALENT_PROPERTY, INVERSE, CHAIN, PROPERTY_DISJOINT = names(
    OWL, "equivalentProperty", "inverseOf", "propertyChainAxiom", "propertyDisjointWith"
)
OBJECT_PROPERTY, DATA_PROPERTY, ANNOTATION_PROPERTY = names(
    OWL, "ObjectProperty", "DatatypeProperty", "AnnotationProperty"
)
SYMMETRIC, TRANSITIVE, ASYMMETRIC, REFLEXIVE, IRREFLEXIVE, FUNCTIONAL, INVERSE_FUNCTIONAL = names(
    OWL,
    *("SymmetricProperty", "TransitiveProperty", "AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty"),
    *("FunctionalProperty", "InverseFunctionalProperty"),
)
ALL_DISJOINT_PROPERTIES, ALL_DIFFERENT, NEGATIVE, MEMBERS, DISTINCT_MEMBERS, DIFFERENT = names(
    OWL,
    *("AllDisjointProperties", "AllDifferent", "NegativePropertyAssertion", "members", "distinctMembers"),
    "differentFrom",
)
SOURCE, ASSERTION_PROPERTY, TARGET, TARGET_VALUE, IMPORTS = names(
    OWL, "sourceIndividual", "assertionProperty", "targetIndividual", "targetValue", "imports"
)
PROPERTY_KINDS: Final = (
    *(OBJECT_PROPERTY, DATA_PROPERTY, PLAIN_PROPERTY, SYMMETRIC, TRANSITIVE, ASYMMETRIC, REFLEXIVE, IRREFLEXIVE),
    *(FUNCTIONAL, INVERSE_FUNCTIONAL),
)
EXPRESSIONS: Final = (
    *(SOME, ALL, VALUE, SELF, LEAST_OF, MOST_OF, EXACTLY_OF, INTERSECTION, UNION, ONE_OF, COMPLEMENT),
)
"""What makes a thing without a name a class expression, beside numbers of values."""


class UnsupportedAxiomError(BasaniteError):
    """A rule cannot express an axiom; the text says which part of it."""


@dataclass(frozen=True)
class Unsupported:
    """An axiom from which nothing is derived: the element that it is about, and the part that is not supported."""

    element: Iri | None
    reason: str


@dataclass(frozen=True)
class Axioms:
    """The rules that the axioms of an ontology become, and the axioms that become none."""

    rules: tuple[Rule, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()


def list_members(graph: Graph, term: Term) -> Iterator[Term]:
    """The members of an RDF list; one that contains its own tail ends."""
    for _ in range(LONGEST_LIST):
        if term == NIL or not isinstance(term, Iri | Node):
            return
        about = graph.get(term, {})
        yield from about.get(FIRST, [])[:1]
        term = next(iter(about.get(REST, [])), NIL)


def pairs_of(graph: Graph, listed: Term) -> Iterator[tuple[Term, Term]]:
    """Every two members of an RDF list."""
    members = list(list_members(graph, listed))
    if len(members) > MOST_EXCLUSIVE:
        raise UnsupportedAxiomError(
            f"a list of {len(members)} members that exclude each other: at most {MOST_EXCLUSIVE}"
        )
    return combinations(members, 2)


def is_value_type(graph: Graph, term: Term) -> bool:
    """Whether a range is a type of values, not a class of things."""
    if not isinstance(term, Iri | Node):
        return False
    named = isinstance(term, Iri) and (
        term.value.startswith(XSD) or term == ANY_VALUE or term.value == RDF + "langString"
    )
    return named or DATATYPE in graph.get(term, {}).get(TYPE, ())


def read_axioms(graph: Graph, prefixes: Prefixes, *, closed: bool) -> Axioms:
    """The axioms of a graph as rules.

    In a closed world the checks of statements against the ontology already enforce domains, ranges, functional
    properties and numbers of values, so these become no rules there; in an open one they do.
    """
    reader = _AxiomReader(graph, prefixes, closed)
    reader.read()
    return Axioms(tuple(reader.rules), tuple(dict.fromkeys(reader.unsupported)))


def same_as_rules() -> tuple[Rule, ...]:
    """What `owl:sameAs` and `owl:differentFrom` mean; needed only where something is the same as something else."""
    x, y, z, p = map(Variable, "xyzp")
    same, other = Pattern(x, SAME_AS, y), Builtin("differentFrom", (p, SAME_AS))
    different = Builtin("differentFrom", (x, z))

    def rule(name: str, comment: str, body: Body, head: Pattern) -> Rule:
        return Rule(f"ontology:{name}", comment, body, (), (head,))

    return (
        rule("same-is-symmetric", "What is the same is so in both directions.", (same,), Pattern(y, SAME_AS, x)),
        rule(
            *("same-is-transitive", "What is the same as the same thing is the same."),
            (same, Pattern(y, SAME_AS, z), different),
            Pattern(x, SAME_AS, z),
        ),
        rule(
            *("same-subject", "What is said of a thing is said of it under all its names."),
            (same, Pattern(x, p, z), other),
            Pattern(y, p, z),
        ),
        rule(
            *("same-object", "What is said with a thing is said with it under all its names."),
            (same, Pattern(z, p, x), other),
            Pattern(z, p, y),
        ),
        rule("same-and-different", "Two things are the same and different.", (same, Pattern(x, DIFFERENT, y)), CLASH),
    )


CLASH: Final = Pattern(Variable("inputGraph"), CONTRADICTS, Iri("urn:basanite:name:ontology"))
"""The head of a rule that finds a contradiction."""


@dataclass
class _AxiomReader:
    """Goes through a graph once and writes rules."""

    graph: Graph
    prefixes: Prefixes
    closed: bool
    rules: list[Rule] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    same_name: Counter[str] = field(default_factory=Counter)
    """How many rules have wanted a name: later ones are numbered."""
    element: Iri | None = None
    """The named element whose axiom is being read."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def read(self) -> None:
        """Read every axiom, the named elements in the order of their names."""
        ordered = sorted(self.graph, key=lambda term: (isinstance(term, Node), str(term)))
        for subject in ordered:
            self.element = subject if isinstance(subject, Iri) else None
            for predicate, objects in self.graph[subject].items():
                reader = _READERS.get(predicate)
                for object_ in objects if reader else ():
                    self._attempt(lambda s=subject, o=object_, r=reader: r(self, s, o))  # type: ignore[misc]
            for kind in self.graph[subject].get(TYPE, ()):
                typed = _KIND_READERS.get(kind) if isinstance(kind, Iri) else None
                if typed is not None:
                    self._attempt(lambda s=subject, r=typed: r(self, s))  # type: ignore[misc]

    def _attempt(self, read: Callable[[], None]) -> None:
        try:
            read()
        except UnsupportedAxiomError as error:
            self.unsupported.append(Unsupported(self.element, str(error)))

    def values(self, subject: Term, predicate: Iri) -> list[Term]:
        """The objects of a property."""
        return self.graph.get(subject, {}).get(predicate, []) if isinstance(subject, Iri | Node) else []

    def short(self, term: Term | None) -> str:
        """A term as it is written in the name of a rule."""
        if isinstance(term, Iri):
            return term.value.rstrip("#/").replace("#", "/").rpartition("/")[2]
        return "expression"

    def variable(self) -> Variable:
        """A variable that no other part of the rule uses."""
        return Variable(f"v{next(self.numbers)}")

    def add(self, name: str, comment: str, body: Iterable[Goal], head: Pattern) -> None:
        """Add a rule under a name of its own."""
        free = wanted = f"ontology:{name}"
        self.same_name[wanted] += 1
        if self.same_name[wanted] > 1:
            free = f"{wanted}#{self.same_name[wanted]}"
        self.rules.append(Rule(free, comment, tuple(dict.fromkeys(body)), (), (head,)))

    # Classes

    def subclass(self, below: Term, above: Term) -> None:
        """Everything in one class expression is in another."""
        if isinstance(below, Iri) and isinstance(above, Iri) and above not in (THING, NOTHING):
            return  # one rule for each named superclass is made from the classes themselves
        if self.closed and isinstance(above, Node) and self.graph.get(above, {}).keys().isdisjoint(EXPRESSIONS):
            return  # a number of values, which is checked with the statements
        self._imply(below, above)

    def equivalent(self, one: Term, other: Term) -> None:
        """Two class expressions have the same members."""
        for below, above in ((one, other), (other, one)):
            self._attempt(lambda b=below, a=above: self._imply(b, a))  # type: ignore[misc]

    def _imply(self, below: Term, above: Term) -> None:
        if below == NOTHING or above == THING:
            return
        thing = Variable("thing")
        name = f"{self.short(below)}-is-{self.short(above)}"
        bodies = self.membership(below, thing)
        for body in bodies:
            for extra, head in self.consequences(above, thing):
                self._add_about(name, self._comment(below, above), (*body, *extra), head, thing)

    def _comment(self, below: Term, above: Term) -> str:
        left, right = (self.prefixes.short(t) if isinstance(t, Iri) else "the expression" for t in (below, above))
        return f"Every {left} is a {right}."

    def _add_about(self, name: str, comment: str, body: Body, head: Pattern, thing: Variable) -> None:
        """Add a rule; where its body only lists an individual, the conclusion is about that individual."""
        if not any(isinstance(goal, Pattern) for goal in body):
            individual = next(g.arguments[1] for g in body if isinstance(g, Builtin) and g.name == "identicalTo")
            body, head = (), Pattern(*(individual if term == thing else term for term in head.terms))
        self.add(name, comment, body, head)

    def membership(self, expression: Term, thing: Variable, depth: int = 0) -> list[Body]:
        """The triples that make something a member of a class expression: any one of these bodies is enough."""
        if depth > DEEPEST:
            raise UnsupportedAxiomError(f"class expressions are nested more than {DEEPEST} deep")
        if isinstance(expression, Iri):
            if expression == THING:
                raise UnsupportedAxiomError("it is about every thing there is (owl:Thing)")
            return [] if expression == NOTHING else [(Pattern(thing, TYPE, expression),)]
        for parts in self.values(expression, INTERSECTION):
            each = [self.membership(part, thing, depth + 1) for part in list_members(self.graph, parts)]
            return self._few([tuple(goal for body in bodies for goal in body) for bodies in _choices(each)])
        for parts in self.values(expression, UNION):
            members = list_members(self.graph, parts)
            return self._few([body for part in members for body in self.membership(part, thing, depth + 1)])
        for parts in self.values(expression, ONE_OF):
            return self._few([(Builtin("identicalTo", (thing, one)),) for one in list_members(self.graph, parts)])
        return self._restricted_membership(expression, thing, depth)

    def _few(self, bodies: list[Body]) -> list[Body]:
        if len(bodies) > MOST_ALTERNATIVES:
            raise UnsupportedAxiomError(f"a class expression has more than {MOST_ALTERNATIVES} alternatives")
        return bodies

    def _restricted_membership(self, expression: Term, thing: Variable, depth: int) -> list[Body]:
        property_ = next(iter(self.values(expression, ON_PROPERTY)), None)
        if property_ is None:
            raise UnsupportedAxiomError(f"{self._expression_kind(expression)} as a subclass")
        for value in self.values(expression, VALUE):
            return [(self.role(property_, thing, value),)]
        for _ in self.values(expression, SELF):
            return [(self.role(property_, thing, thing),)]
        other = self.variable()
        reached = self.role(property_, thing, other)
        filler = next(iter(self.values(expression, SOME)), None)
        if filler is None and self._number(expression, LEAST) == 1:
            filler = THING
        if filler is None and self._number(expression, LEAST_OF) == 1:
            filler = next(iter(self.values(expression, ON_CLASS)), None)
        if filler is None:
            raise UnsupportedAxiomError(f"{self._expression_kind(expression)} as a subclass")
        if filler in (THING, ANY_VALUE):
            return [(reached,)]
        if is_value_type(self.graph, filler):
            raise UnsupportedAxiomError("some value of a datatype as a subclass")
        return [(reached, *body) for body in self.membership(filler, other, depth + 1)]

    def consequences(self, expression: Term, thing: Variable, depth: int = 0) -> list[tuple[Body, Pattern]]:
        """What follows for a member of a class expression: further triples that must be there, and the conclusion."""
        if depth > DEEPEST:
            raise UnsupportedAxiomError(f"class expressions are nested more than {DEEPEST} deep")
        if expression == THING:
            return []
        if expression == NOTHING:
            return [((), CLASH)]
        if isinstance(expression, Iri):
            return [((), Pattern(thing, TYPE, expression))]
        for parts in self.values(expression, INTERSECTION):
            members = list_members(self.graph, parts)
            return [found for part in members for found in self.consequences(part, thing, depth + 1)]
        for other in self.values(expression, COMPLEMENT):
            return [(body, CLASH) for body in self.membership(other, thing, depth + 1)]
        return self._restricted_consequences(expression, thing, depth)

    def _restricted_consequences(self, expression: Term, thing: Variable, depth: int) -> list[tuple[Body, Pattern]]:
        property_ = next(iter(self.values(expression, ON_PROPERTY)), None)
        if property_ is None:
            raise UnsupportedAxiomError(f"{self._expression_kind(expression)} as a superclass")
        for value in self.values(expression, VALUE):
            return [((), self.role(property_, thing, value))]
        for _ in self.values(expression, SELF):
            return [((), self.role(property_, thing, thing))]
        for filler in self.values(expression, ALL):
            if is_value_type(self.graph, filler):
                raise UnsupportedAxiomError("all values of a datatype")
            other = self.variable()
            reached = self.role(property_, thing, other)
            return [((reached, *extra), head) for extra, head in self.consequences(filler, other, depth + 1)]
        return self._limit(expression, property_, thing, depth)

    def _limit(self, expression: Term, property_: Term, thing: Variable, depth: int) -> list[tuple[Body, Pattern]]:
        """At most no value, or at most one: a contradiction, or values that are the same."""
        most, of = self._number(expression, MOST), THING
        for name in (MOST_OF, EXACTLY_OF):
            if self.values(expression, name):
                most = self._number(expression, name)
                of = next((t for t in self.values(expression, ON_CLASS) if isinstance(t, Iri)), THING)
        if self.values(expression, EXACTLY):
            most = self._number(expression, EXACTLY)
        if most not in (0, 1):
            raise UnsupportedAxiomError(f"{self._expression_kind(expression)} as a superclass")
        if self.values(expression, EXACTLY) or self.values(expression, EXACTLY_OF):
            reason = "at least this many values (only the upper bound of the number is used)"
            self.unsupported.append(Unsupported(self.element, reason))
        first, second = self.variable(), self.variable()
        bodies = [self._bodies_reaching(property_, thing, value, of, depth) for value in (first, second)]
        if most == 0:
            return [(body, CLASH) for body in bodies[0]]
        pairs = [(*one, *other) for one, other in product(*bodies)]
        return [found for pair in pairs for found in self._one_value(pair, first, second)]

    def _bodies_reaching(self, property_: Term, thing: Variable, value: Variable, of: Term, depth: int) -> list[Body]:
        """The bodies in which a thing has a value, of a class if one is named."""
        role = self.role(property_, thing, value)
        if of == THING:
            return [(role,)]
        return [(role, *body) for body in self.membership(of, value, depth + 1)]

    def _one_value(self, body: Body, first: Variable, second: Variable) -> Iterator[tuple[Body, Pattern]]:
        """Two values of one: things are the same, and literals that differ contradict each other."""
        unequal = Builtin("notEqualTo", (first, second))
        is_thing, is_value = (
            Builtin(name, (first, Literal("true", XSD + "boolean"))) for name in ("isName", "isLiteral")
        )
        yield (*body, unequal, is_thing), Pattern(first, SAME_AS, second)
        yield (*body, unequal, is_value), CLASH

    def _number(self, expression: Term, name: Iri) -> int | None:
        found = next(iter(self.values(expression, name)), None)
        number = value_of(found) if isinstance(found, Literal) else None
        return number if isinstance(number, int) and not isinstance(number, bool) else None

    def _expression_kind(self, expression: Term) -> str:
        """The part of an expression that says what it is."""
        about = self.graph.get(expression, {}) if isinstance(expression, Iri | Node) else {}
        telling = [name for name in about if name.value.startswith(OWL) and name not in (ON_PROPERTY, ON_CLASS)]
        return f"owl:{telling[0].value.removeprefix(OWL)}" if telling else "an expression that is not understood"

    def disjoint(self, one: Term, other: Term) -> None:
        """No thing is in both; pairs of named classes are checked with the classes."""
        if isinstance(one, Iri) and isinstance(other, Iri):
            return
        self._exclude(one, other)

    def _exclude(self, one: Term, other: Term) -> None:
        thing = Variable("thing")
        words = f"Nothing is both {self.short(one)} and {self.short(other)}."
        for first, second in product(self.membership(one, thing), self.membership(other, thing)):
            self.add(f"{self.short(one)}-excludes-{self.short(other)}", words, (*first, *second), CLASH)

    def complement(self, one: Term, other: Term) -> None:
        """A named class that is all that another is not: nothing is in both."""
        if isinstance(one, Iri):
            self._exclude(one, other)
            reason = "everything outside a class is in its complement (only that nothing is in both is used)"
            self.unsupported.append(Unsupported(self.element, reason))

    def disjoint_union(self, whole: Term, parts: Term) -> None:
        """A class that is the union of classes without a common member."""
        for part in list_members(self.graph, parts):
            self._imply(part, whole)
        for one, other in pairs_of(self.graph, parts):
            self._exclude(one, other)
        raise UnsupportedAxiomError("every member is in one of the parts of owl:disjointUnionOf")

    def defined(self, name: Term, _: Term) -> None:
        """A named class that is defined by an expression written into it."""
        if not isinstance(name, Iri) or is_value_type(self.graph, name):
            return
        thing = Variable("thing")
        shadow = Node("definition")
        about = {key: self.values(name, key) for key in (INTERSECTION, UNION, ONE_OF) if self.values(name, key)}
        inner = _AxiomReader({**self.graph, shadow: about}, self.prefixes, self.closed, numbers=self.numbers)
        for body in inner.membership(shadow, thing):
            words = f"The definition of {self.short(name)}."
            self._add_about(f"definition-of-{self.short(name)}", words, body, Pattern(thing, TYPE, name), thing)
        for extra, head in inner.consequences(shadow, thing):
            body = (Pattern(thing, TYPE, name), *extra)
            self.add(f"{self.short(name)}-as-defined", f"The definition of {self.short(name)}.", body, head)

    def key(self, of: Term, listed: Term) -> None:
        """Members of a class with the same values of some properties are the same."""
        one, other = Variable("one"), Variable("other")
        values = [(property_, self.variable()) for property_ in list_members(self.graph, listed)]
        shared = [self.role(property_, x, value) for property_, value in values for x in (one, other)]
        for first, second in product(self.membership(of, one), self.membership(of, other)):
            body = (*shared, *first, *second, Builtin("differentFrom", (one, other)))
            self.add(f"key-of-{self.short(of)}", f"{self.short(of)}: the same key.", body, Pattern(one, SAME_AS, other))

    # Properties

    def role(self, property_: Term, subject: PatternTerm, object_: PatternTerm) -> Pattern:
        """A triple of a property or of the inverse of one."""
        if isinstance(property_, Iri):
            if property_.value in (OWL + "topObjectProperty", OWL + "bottomObjectProperty"):
                raise UnsupportedAxiomError(f"owl:{property_.value.removeprefix(OWL)}")
            return Pattern(subject, property_, object_)
        for inverse in self.values(property_, INVERSE):
            if isinstance(inverse, Iri):
                return Pattern(object_, inverse, subject)
        raise UnsupportedAxiomError("a property that has no name and is not the inverse of one")

    def subproperty(self, below: Term, above: Term) -> None:
        """Things in one relation are in another."""
        x, y = Variable("x"), Variable("y")
        words = f"Whatever is in the relation {self.short(below)} is in {self.short(above)}."
        self.add(
            f"{self.short(below)}-implies-{self.short(above)}",
            *(words, (self.role(below, x, y),), self.role(above, x, y)),
        )

    def equivalent_property(self, one: Term, other: Term) -> None:
        """Two properties relate the same things."""
        self.subproperty(one, other)
        self.subproperty(other, one)

    def inverse(self, one: Term, other: Term) -> None:
        """One property is another one read backwards."""
        if isinstance(one, Node):
            return  # an expression inside another axiom
        x, y = Variable("x"), Variable("y")
        for first, second in dict.fromkeys(((one, other), (other, one))):
            words = f"{self.short(second)} is {self.short(first)} read backwards."
            name = f"{self.short(first)}-inverse-{self.short(second)}"
            self.add(name, words, (self.role(first, x, y),), self.role(second, y, x))

    def chain(self, property_: Term, listed: Term) -> None:
        """Things connected by several relations in a row are in this one."""
        steps = list(list_members(self.graph, listed))
        if not steps:
            raise UnsupportedAxiomError("a chain of no properties")
        places = [self.variable() for _ in range(len(steps) + 1)]
        body = [self.role(step, places[at], places[at + 1]) for at, step in enumerate(steps)]
        words = f"{' then '.join(map(self.short, steps))} gives {self.short(property_)}."
        self.add(f"chain-{self.short(property_)}", words, body, self.role(property_, places[0], places[-1]))

    def domain(self, property_: Term, kind: Term) -> None:
        """Whatever has the property is of a class."""
        if self.closed and isinstance(kind, Iri):
            return
        self._add_type(property_, kind, "domain")

    def range(self, property_: Term, kind: Term) -> None:
        """The property's values are of a class; types of values are checked with the statements."""
        if (self.closed and isinstance(kind, Iri)) or is_value_type(self.graph, kind):
            return
        self._add_type(property_, kind, "range")

    def _add_type(self, property_: Term, kind: Term, side: str) -> None:
        subject, object_ = Variable("x"), Variable("y")
        thing = subject if side == "domain" else object_
        role = self.role(property_, subject, object_)
        words = f"The {side} of {self.short(property_)} is {self.short(kind)}."
        for extra, head in self.consequences(kind, thing):
            self.add(f"{side}-of-{self.short(property_)}", words, (role, *extra), head)

    def symmetric(self, property_: Term) -> None:
        """The relation holds in both directions."""
        x, y = Variable("x"), Variable("y")
        words = f"{self.short(property_)} holds in both directions."
        self.add(
            f"{self.short(property_)}-is-symmetric", words, (self.role(property_, x, y),), self.role(property_, y, x)
        )

    def transitive(self, property_: Term) -> None:
        """The relation goes on along its own steps."""
        x, y, z = map(Variable, "xyz")
        body = (self.role(property_, x, y), self.role(property_, y, z))
        words = f"{self.short(property_)} is transitive."
        self.add(f"{self.short(property_)}-is-transitive", words, body, self.role(property_, x, z))

    def asymmetric(self, property_: Term) -> None:
        """The relation never holds in both directions."""
        x, y = Variable("x"), Variable("y")
        body = (self.role(property_, x, y), self.role(property_, y, x))
        self.add(f"{self.short(property_)}-is-asymmetric", f"{self.short(property_)} is asymmetric.", body, CLASH)

    def irreflexive(self, property_: Term) -> None:
        """Nothing is in the relation with itself."""
        x = Variable("x")
        words = f"Nothing is in the relation {self.short(property_)} with itself."
        self.add(f"{self.short(property_)}-is-irreflexive", words, (self.role(property_, x, x),), CLASH)

    def reflexive(self, property_: Term) -> None:
        """Everything is in the relation with itself: no rule can list everything."""
        raise UnsupportedAxiomError("owl:ReflexiveProperty")

    def functional(self, property_: Term) -> None:
        """A thing has one value of the property."""
        if self.closed:
            return
        thing, first, second = Variable("x"), Variable("y"), Variable("z")
        body = (self.role(property_, thing, first), self.role(property_, thing, second))
        for full, head in self._one_value(body, first, second):
            words = f"{self.short(property_)} has one value."
            self.add(f"{self.short(property_)}-is-functional", words, full, head)

    def inverse_functional(self, property_: Term) -> None:
        """A value belongs to one thing."""
        first, second, value = Variable("x"), Variable("y"), Variable("z")
        body = (self.role(property_, first, value), self.role(property_, second, value))
        words = f"A value of {self.short(property_)} belongs to one thing."
        differ = Builtin("differentFrom", (first, second))
        name = f"{self.short(property_)}-is-inverse-functional"
        self.add(name, words, (*body, differ), Pattern(first, SAME_AS, second))

    def all_disjoint(self, node: Term) -> None:
        """Properties of which no two relate the same things."""
        for listed in self.values(node, MEMBERS):
            for one, other in pairs_of(self.graph, listed):
                x, y = Variable("x"), Variable("y")
                words = f"Nothing is in both relations {self.short(one)} and {self.short(other)}."
                name = f"{self.short(one)}-excludes-{self.short(other)}"
                self.add(name, words, (self.role(one, x, y), self.role(other, x, y)), CLASH)

    # Individuals

    def negative(self, node: Term) -> None:
        """A statement that must not hold."""
        parts = [next(iter(self.values(node, name)), None) for name in (SOURCE, ASSERTION_PROPERTY)]
        target = next(iter((*self.values(node, TARGET), *self.values(node, TARGET_VALUE))), None)
        subject, property_ = parts
        if subject is None or property_ is None or target is None:
            raise UnsupportedAxiomError("a negative assertion without its three parts")
        words = f"{self.short(subject)} is not in the relation {self.short(property_)} with this value."
        self.add(f"not-{self.short(property_)}", words, (self.role(property_, subject, target),), CLASH)

    def imports(self, _: Term, other: Term) -> None:
        """Another ontology: nothing is fetched."""
        raise UnsupportedAxiomError(f"owl:imports of {self.prefixes.short(other)}: nothing is fetched")


def _choices(each: list[list[Body]]) -> list[tuple[Body, ...]]:
    """One body of each list in every combination, unless that would be far too many."""
    size = 1
    for bodies in each:
        size *= len(bodies)
        if size > MOST_ALTERNATIVES:
            raise UnsupportedAxiomError(f"a class expression has more than {MOST_ALTERNATIVES} alternatives")
    return list(product(*each))


_READERS: Final[dict[Iri, Callable[[_AxiomReader, Term, Term], None]]] = {
    SUBCLASS: _AxiomReader.subclass,
    EQUIVALENT_CLASS: _AxiomReader.equivalent,
    DISJOINT_WITH: _AxiomReader.disjoint,
    COMPLEMENT: _AxiomReader.complement,
    DISJOINT_UNION: _AxiomReader.disjoint_union,
    INTERSECTION: _AxiomReader.defined,
    UNION: _AxiomReader.defined,
    ONE_OF: _AxiomReader.defined,
    HAS_KEY: _AxiomReader.key,
    SUBPROPERTY: _AxiomReader.subproperty,
    EQUIVALENT_PROPERTY: _AxiomReader.equivalent_property,
    INVERSE: _AxiomReader.inverse,
    CHAIN: _AxiomReader.chain,
    DOMAIN: _AxiomReader.domain,
    RANGE: _AxiomReader.range,
    IMPORTS: _AxiomReader.imports,
}
_KIND_READERS: Final[dict[Iri, Callable[[_AxiomReader, Term], None]]] = {
    SYMMETRIC: _AxiomReader.symmetric,
    TRANSITIVE: _AxiomReader.transitive,
    ASYMMETRIC: _AxiomReader.asymmetric,
    IRREFLEXIVE: _AxiomReader.irreflexive,
    REFLEXIVE: _AxiomReader.reflexive,
    FUNCTIONAL: _AxiomReader.functional,
    INVERSE_FUNCTIONAL: _AxiomReader.inverse_functional,
    ALL_DISJOINT_PROPERTIES: _AxiomReader.all_disjoint,
    NEGATIVE: _AxiomReader.negative,
}
