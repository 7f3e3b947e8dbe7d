"""What the reasoner thinks of an annotation: contradictions and gaps, each at the field that caused it (R-16).

It runs on every save, so its limits are small (X-13). What a limit stops is told as undecided, never as in order. The
annotator never sees the ontology: messages speak of the form, and the derivation is there for who wants it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from basanite.annotation.config.model import Config
from basanite.annotation.config.scope import mints_of, scope
from basanite.annotation.events.model import State, single_id
from basanite.annotation.gaps import Gap, form_gaps
from basanite.annotation.mapping import Meant, meant
from basanite.annotation.places import Place, called
from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.ontology import Fault
from basanite.reading.package import Document, Package
from basanite.reading.package.checks import rule_files
from basanite.reading.patterns import Variable
from basanite.reading.reasoner.explaining.plain import step_lines, step_object, tree_lines, tree_object, undecided_words
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.inference import Contradiction, Inference, Reasoner
from basanite.reading.rules.files import read_all_rules
from basanite.reading.rules.names import triple
from basanite.reading.terms import Iri, Node, Statement, Term
from basanite.reading.vocabulary import TYPE

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
    """All that is to be told about an annotation."""

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
    reviewer = _Reviewer(config, state, found, inference)
    return Review(
        tuple(map(reviewer.clash, inference.contradictions[:MOST_SHOWN])),
        tuple(reviewer.completed(form_gaps(config, state, found, document.name))),
        tuple(reviewer.follows()),
        tuple(reviewer.undecided()),
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

    def undecided(self) -> Iterator[str]:
        """What got no answer, in words; where a limit was reached, nothing else is told of the reasoner."""
        return map(undecided_words, self.inference.undecided)

    def clash(self, one: Contradiction) -> Clash:
        """A contradiction with the places of the statements behind it."""
        behind = self.explainer.behind(one)
        places = dict.fromkeys(place for statement in behind for place in self.found.places.get(statement, ()))
        says = tuple(self.words(statement) for statement in behind)
        return Clash(one.rule, self._message(one), tuple(places), says, *self._derivation(one))

    def _message(self, one: Contradiction) -> str:
        """The comment of a rule is for people already; names of the ontology are put into words."""
        message = one.message or "These cannot all be true."
        return message if one.firing is not None else _NAMES.sub(lambda match: self._named(match[0]), message)

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

    def completed(self, gaps: tuple[Gap, ...]) -> Iterator[Gap]:
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
            name = called(self.config, self.state, self.state.objects[id_])
            yield Gap(place, "missing", f"{name}: {label} is not told", "fill it in, if the text says it")

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
            return called(self.config, self.state, self.state.objects[objects[0]])
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

    def _named(self, name: str) -> str:
        return self._term(self.names[name]) if name in self.names else name
