"""What the reasoner thinks of an annotation: contradictions and gaps, each at the field that caused it (R-16).

It runs on every save, so its limits are small (X-13). What a limit stops is told as undecided, never as in order. The
annotator never sees the ontology: messages speak of the form, and the derivation is there for who wants it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.ontology_checks import Fault
from basanite.reading.package import Document, Package
from basanite.reading.package.checks import rule_files
from basanite.reading.patterns import Variable
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.inference import Contradiction, Inference, Reasoner
from basanite.reading.reasoner.plain import step_lines, step_object, tree_lines, tree_object, undecided_words
from basanite.reading.rules.files import read_all_rules
from basanite.reading.rules.tree import triple
from basanite.reading.terms import TYPE, Iri, Node, Statement, Term
from basanite.reports.wording import plural
from basanite.work.annotation.config.model import Category, Config, Field
from basanite.work.annotation.config.templates import mints_of, scope
from basanite.work.annotation.events import Object, State, single_id
from basanite.work.annotation.mapping import Meant, meant
from basanite.work.annotation.things import WANTED, Place, Things, field_title, object_title, value_fault

GapKind = Literal["missing", "too-many", "value", "reference"]


@dataclass(frozen=True, order=True)
class Gap:
    """Something to complete or correct, the place for it, and what to do."""

    place: Place
    kind: GapKind
    message: str
    fix: str

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {**self.place.as_dict(), "kind": self.kind, "message": self.message, "fix": self.fix}


@dataclass(frozen=True)
class _Form:
    """An annotation compared with its configuration."""

    config: Config
    state: State
    things: Things

    def gaps(self, found: Meant) -> Iterator[Gap]:
        """All gaps; those of values that no template can use come last."""
        yield from self._counts(None)
        for one in self.things.in_order():
            yield from self._object(one)
            yield from self._counts(one)
        for place, name in found.unfit:
            one = self.state.objects[place.object]
            value = one.fields.get(place.field, "")
            if not self._value_fault(one, place.field):
                yield Gap(place, "value", f"{value!r} cannot be the {name}", "write another value")

    def _counts(self, one: Object | None) -> Iterator[Gap]:
        """Whether there are as many objects of each category as there must and may be."""
        for category in self.config.parts.get(one.category if one else "", ()):
            several = self.state.children(one.id if one else "", category.name)
            here = [other for other in several if self.things.present(other)]
            if len(here) < category.least:
                yield self._too_few(category, len(here), one)
            if category.most is not None and len(here) > category.most:
                words = f"{plural(category.title, len(here))}, at most {category.most}"
                yield Gap(Place(here[category.most].id), "too-many", words, "take one away")

    def _too_few(self, category: Category, count: int, one: Object | None) -> Gap:
        where = f" in {object_title(self.config, self.state, one)}" if one else ""
        parent = one.id if one else ""
        place = Place(single_id(parent, category.name) if category.single else parent)
        words = f"{plural(category.title, count)}{where}, at least {category.least}"
        return Gap(place, "missing", words, f"add a {category.title}")

    def _object(self, one: Object) -> Iterator[Gap]:
        for entry in self.config.categories[one.category].fields:
            found = self._words(one, entry) if entry.kind == "span" else self._entry(one, entry)
            if found is not None:
                kind, message, fix = found
                yield Gap(Place(one.id, entry.name), kind, message, fix)

    def _words(self, one: Object, entry: Field) -> tuple[GapKind, str, str] | None:
        """What is wrong with the words that are marked for a slot."""
        if not entry.needed or one.inferred or one.mentions.get(entry.name):
            return None
        return (
            "missing",
            f"{object_title(self.config, self.state, one)} has no words in the text",
            "mark the words that say it",
        )

    def _entry(self, one: Object, entry: Field) -> tuple[GapKind, str, str] | None:
        """What is wrong with the value of a field."""
        value, title = one.fields.get(entry.name, ""), field_title(self.config, one, entry.name)
        if not value:
            if not entry.needed and not self._is_value(one, entry):
                return None
            name = object_title(self.config, self.state, one)
            return "missing", f"{name}: {title} is not filled in", WANTED.get(entry.kind, "fill it in")
        if fault := self._value_fault(one, entry.name):
            return "value", f"{value[:40]!r} is no {title}", fault
        pointed = self.state.objects.get(value)
        if entry.kind == "object" and (pointed is None or pointed.category not in entry.of):
            name = object_title(self.config, self.state, one)
            return "reference", f"{name}: the target of {title} is gone", "choose another"
        return None

    def _is_value(self, one: Object, entry: Field) -> bool:
        """Whether a field is what its object is about: words without their value say nothing yet."""
        return entry.name in ("value", "name") and not (entry.kind == "text" and bool(one.mentions))

    def _value_fault(self, one: Object, name: str) -> str:
        entry = self.config.categories[one.category].field(name)
        value = one.fields.get(name, "")
        if entry is None or not value:
            return ""
        if entry.kind == "choice":
            return "" if entry.choice(value) else WANTED["choice"]
        return value_fault(value, entry.kind)


LIVE: Final = Limits(
    statements=20_000, bindings=500_000, firings=50_000, terms_per_rule=5_000, depth=100, text=20_000, seconds=5
)
"""What the reasoner may do on one save; a usual document takes a thousandth of it."""
MOST_SHOWN: Final = 100
"""Contradictions, and derived statements, that are told of one document."""
_NAMES: Final = re.compile(r"[\w.\-]*:[\w.\-]+|<[^<>\s]+>")


@dataclass(frozen=True)
class Clash:
    """A contradiction: what is wrong in the words of the form, where, and how the reasoner came to it."""

    rule: str
    message: str
    places: tuple[Place, ...]
    says: tuple[str, ...]
    """The statements of the annotator that cannot all be true, in words."""
    lines: tuple[str, ...]
    """The derivation as indented lines."""
    derivation: dict[str, Any] = field(default_factory=dict, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {
            "rule": self.rule,
            "message": self.message,
            "places": [place.as_dict() for place in self.places],
            "says": list(self.says),
            "lines": list(self.lines),
            "derivation": self.derivation,
        }


@dataclass(frozen=True)
class Follows:
    """A statement that follows from what was annotated, in words, with its derivation."""

    statement: Statement
    words: str
    lines: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {"words": self.words, "lines": list(self.lines)}


@dataclass(frozen=True)
class Review:
    """Everything that a check found about an annotation."""

    contradictions: tuple[Clash, ...] = ()
    gaps: tuple[Gap, ...] = ()
    follows: tuple[Follows, ...] = ()
    undecided: tuple[str, ...] = ()
    statements: int = 0

    @property
    def in_order(self) -> bool:
        """Whether nothing contradicts, nothing is missing and nothing stayed undecided."""
        return not (self.contradictions or self.gaps or self.undecided)

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {
            "contradictions": [one.as_dict() for one in self.contradictions],
            "gaps": [one.as_dict() for one in self.gaps],
            "follows": [one.as_dict() for one in self.follows],
            "undecided": list(self.undecided),
            "statements": self.statements,
            "in_order": self.in_order,
        }


def reasoner_of(package: Package, findings: Findings | None = None, *, limits: Limits = LIVE) -> Reasoner:
    """The theory of a package, to be kept between saves: rules are read and compiled once."""
    prefixes = package.manifest.prefixes
    rules = read_all_rules(
        tuple(rule_files(package.root)), Findings() if findings is None else findings, prefixes=prefixes
    )
    return Reasoner(rules, package.ontology, limits)


def review(config: Config, theory: Package | Reasoner, document: Document, state: State) -> Review:
    """What to tell about an annotation as it stands; with a `Reasoner` that is kept, a usual one takes milliseconds."""
    reasoner = theory if isinstance(theory, Reasoner) else reasoner_of(theory)
    found = meant(config, state, document)
    inference = reasoner.infer(one.assertion.statement for one in found.said)
    form, reviewer = (
        _Form(config, state, Things(config, state, document.name)),
        _Reviewer(config, state, found, inference),
    )
    return Review(
        tuple(map(reviewer.clash, inference.contradictions[:MOST_SHOWN])),
        tuple(reviewer.all_gaps(tuple(dict.fromkeys(form.gaps(found))))),
        tuple(reviewer.follows()),
        tuple(map(undecided_words, inference.undecided)),  # past a limit, nothing else is told of the reasoner
        len(found.said),
    )


@dataclass(frozen=True)
class _Reviewer:
    """The findings of the reasoner, led back to the form."""

    config: Config
    state: State
    found: Meant
    inference: Inference

    @cached_property
    def explainer(self) -> Explainer:
        """Why things follow."""
        return Explainer(self.inference)

    def clash(self, one: Contradiction) -> Clash:
        """A contradiction with the places of the statements behind it."""
        behind = self.explainer.behind(one)
        places = dict.fromkeys(place for statement in behind for place in self.found.places.get(statement, ()))
        says = tuple(self.words(statement) for statement in behind)
        return Clash(one.rule, self._message(one), tuple(places), says, *self._derivation(one))

    def _message(self, one: Contradiction) -> str:
        """The comment of a rule is for people already; names of the ontology are put into words."""
        message = one.message or "These cannot all be true."
        if one.firing is not None:
            return message
        names = self.names
        return _NAMES.sub(lambda match: self._term(names[match[0]]) if match[0] in names else match[0], message)

    def _derivation(self, one: Contradiction) -> tuple[tuple[str, ...], dict[str, Any]]:
        prefixes = self.inference.reasoner.rules.prefixes
        if one.firing is not None:
            step = self.explainer.step(one.firing)
            return tuple(step_lines(step, prefixes)), step_object(step, prefixes)
        trees = [tree for tree in map(self.explainer.tree, one.antecedents) if tree is not None]
        lines = tuple(line for tree in trees for line in tree_lines(tree, prefixes))
        return lines, {"rule": one.rule, "comment": one.message, "if": [tree_object(tree, prefixes) for tree in trees]}

    def follows(self) -> Iterator[Follows]:
        """What follows, but for memberships in wider classes."""
        prefixes = self.inference.reasoner.rules.prefixes
        derived = [statement for statement in self.inference.derived if statement.predicate != TYPE]
        for statement in derived[:MOST_SHOWN]:
            tree = self.explainer.tree(statement)
            lines = tuple(tree_lines(tree, prefixes)) if tree else ()
            yield Follows(statement, self.words(statement), lines)

    def all_gaps(self, gaps: tuple[Gap, ...]) -> Iterator[Gap]:
        """The gaps of the form, and those that only the ontology knows of."""
        yield from gaps
        told = {gap.place for gap in gaps}
        for fault in self.inference.incomplete:
            for gap in self._missing(fault):
                if gap.place not in told:
                    told.add(gap.place)
                    yield gap

    def _missing(self, fault: Fault) -> Iterator[Gap]:
        """A value that the ontology wants, at the field that would give it."""
        property_ = self.config.ontology.properties.get(fault.element)
        label = (property_.label or property_.name) if property_ else fault.element.value
        for id_ in self.found.things.get(fault.subject, ())[:1]:
            place = next(self._fields(id_, fault), Place(id_))
            name = object_title(self.config, self.state, self.state.objects[id_])
            yield Gap(place, "missing", f"{name}: {label} is not stated", "fill it in, if the text says it")

    def _fields(self, id_: str, fault: Fault) -> Iterator[Place]:
        """The fields near an object whose templates assert a property."""
        own = self.state.objects[id_]
        mints = mints_of(self.config.templates)
        for template in self.config.templates:
            category = self.config.categories[template.category]
            for say in template.says:
                if say.pattern.predicate != fault.element or not isinstance(say.pattern.object, Variable):
                    continue
                meaning = scope(template, self.config.categories, mints).get(say.pattern.object.name)
                name = meaning.field.name if meaning and meaning.kind == "field" else ""
                if template.category == own.category:
                    yield Place(id_, name)
                elif category.single and category.parent == own.category:
                    yield Place(single_id(id_, category.name), name)

    def words(self, statement: Statement) -> str:
        """A statement in the words of the form."""
        property_ = self.config.ontology.properties.get(statement.predicate)
        if statement.predicate == TYPE:
            return f"{self._term(statement.subject)} is a {self._term(statement.object)}"
        label = (property_.label or property_.name) if property_ else "is"
        return f"{self._term(statement.subject)}: {label} {self._term(statement.object)}"

    def _term(self, term: Term) -> str:
        objects = self.found.things.get(term, ())
        if objects:
            return object_title(self.config, self.state, self.state.objects[objects[0]])
        if isinstance(term, Iri):
            element = self.config.ontology.element(term)
            return (
                (element.label or element.name) if element else triple(Statement(term, TYPE, term), self._prefixes)[0]
            )
        return term.label if isinstance(term, Node) else term.lexical

    @property
    def _prefixes(self) -> Any:
        return self.inference.reasoner.rules.prefixes

    @cached_property
    def names(self) -> dict[str, Term]:
        """The terms of the annotation and the ontology by the names that the reasoner's messages use."""
        ontology = self.config.ontology
        terms: list[Term] = [*self.found.things, *ontology.classes, *ontology.properties]
        return {ontology.prefixes.short(term): term for term in terms}
