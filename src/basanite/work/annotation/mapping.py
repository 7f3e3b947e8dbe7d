"""From what annotators marked to formal assertions with the words that say them (R-14, R-8).

The mapping is pure: the same objects give the same statements, and things without a name are called after the place of
their object, so that two annotators who fill in the same form say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from basanite.reading.package import Document
from basanite.reading.patterns import PatternError, PatternTerm, Variable
from basanite.reading.provenance import ROLES, Assertion, Kind, Role, Span, document_statement, sentences, span_at
from basanite.reading.terms import Iri, Literal, Statement, Term, integer
from basanite.work.annotation.config.model import MENTION, Config, Say, Template
from basanite.work.annotation.config.templates import Meaning, mints_of, scope
from basanite.work.annotation.events import Mention, Object, State
from basanite.work.annotation.things import Place, Things, literal_of

LONGEST_COVER: Final = 150
"""Characters of a stretch that is taken as the words of a statement, where only its parts were marked."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}")


@dataclass(frozen=True)
class Said:
    """An assertion, and the places of the form that it comes from."""

    assertion: Assertion
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Meant:
    """Everything that an annotation asserts, and what of it does not fit."""

    said: tuple[Said, ...]
    things: Mapping[Term, tuple[str, ...]] = field(default_factory=dict)
    """The objects that each thing stands for."""
    unfit: tuple[tuple[Place, str], ...] = ()
    """Values that the property of a template does not admit, and the name of that property."""

    @cached_property
    def places(self) -> Mapping[Statement, tuple[Place, ...]]:
        """Where each statement comes from."""
        return {one.assertion.statement: one.places for one in self.said}


def assertions(
    config: Config, state: State, document: Document, *, annotator: str = "", version: int | None = None
) -> tuple[Assertion, ...]:
    """What an annotation of a document asserts; the version is that of the configuration unless another is given."""
    found = meant(config, state, document).said
    number = config.version if version is None else version
    return tuple(replace(one.assertion, annotator=annotator, version=number) for one in found)


def meant(config: Config, state: State, document: Document) -> Meant:
    """What an annotation asserts, with the places that each assertion comes from; every statement stands once."""
    mapper = _Mapper(config, state, document)
    found: dict[Statement, list[Said]] = {}
    for one in mapper.all():
        found.setdefault(one.assertion.statement, []).append(one)
    return Meant(tuple(map(_join_statements, found.values())), mapper.things.made, tuple(dict.fromkeys(mapper.unfit)))


def _join_statements(several: Sequence[Said]) -> Said:
    """The same statement from several places: all its words; explicit if any of them says so."""
    if len(several) == 1:
        return several[0]
    kind: Kind = "explicit" if any(one.assertion.kind == "explicit" for one in several) else "inferred"
    spans = _in_order([span for one in several for span in one.assertion.spans])
    places = tuple(dict.fromkeys(place for one in several for place in one.places))
    return Said(replace(several[0].assertion, kind=kind, spans=spans), places)


def _in_order(spans: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(sorted(dict.fromkeys(spans), key=lambda span: (ROLES.index(span.role), span.start, span.end)))


@dataclass(frozen=True)
class _Case:
    """Objects that one instance of a template speaks of: one, or all that are summed up; perhaps one mention only."""

    template: Template
    meanings: Mapping[str, Meaning]
    objects: tuple[Object, ...]
    mention: Mention | None = None

    @property
    def first(self) -> Object:
        """The object that stands for all."""
        return self.objects[0]


class _Mapper:
    """Goes through all objects and their templates."""

    def __init__(self, config: Config, state: State, document: Document) -> None:
        self.config, self.state, self.document = config, state, document
        self.things = Things(config, state, document.name)
        self.unfit: list[tuple[Place, str]] = []
        mints = mints_of(config.templates)
        self.templates: dict[str, list[tuple[Template, Mapping[str, Meaning]]]] = {}
        for template in config.templates:
            meanings = scope(template, config.categories, mints)
            self.templates.setdefault(template.category, []).append((template, meanings))

    def all(self) -> Iterator[Said]:
        """Everything that is said, object by object."""
        summed: set[tuple[str, str]] = set()
        for one in self.things.in_order():
            place = (one.parent, one.category)
            if place not in summed:
                summed.add(place)
                yield from self._sums(one)
            yield from self._object(one)

    def _sums(self, one: Object) -> Iterator[Said]:
        """What all objects of a category in one place say together."""
        for template, meanings in self.templates.get(one.category, ()):
            if template.sums:
                several = self.state.children(one.parent, one.category)
                held = tuple(other for other in several if self._holds(template, other))
                yield from self._case(_Case(template, meanings, held)) if held else ()

    def _object(self, one: Object) -> Iterator[Said]:
        for template, meanings in self.templates.get(one.category, ()):
            if not template.sums and self._holds(template, one):
                yield from self._case(_Case(template, meanings, (one,)))

    def _holds(self, template: Template, one: Object) -> bool:
        when = template.when
        if any(one.fields.get(name, "") not in wanted for name, wanted in when.fields):
            return False
        return not when.has or any(
            self.things.present(child) for name in when.has for child in self.state.children(one.id, name)
        )

    def _case(self, case: _Case) -> Iterator[Said]:
        for say in case.template.says:
            names = say.pattern.variables
            by_words = any(case.meanings[name].kind == "text" for name in names if name in case.meanings)
            mentions = case.first.mentions.get(MENTION, ()) if by_words else (None,)
            for mention in mentions:
                yield from self._say(say, replace(case, mention=mention))

    def _say(self, say: Say, case: _Case) -> Iterator[Said]:
        bindings: dict[str, Term] = {}
        for name in say.pattern.variables:
            term = self._term(name, say, case)
            if term is None:
                return
            bindings[name] = term
        try:
            statement = document_statement(say.pattern.statement(bindings), self.document.name)
        except PatternError:  # a value where a thing is wanted: the check of the configuration has told it
            return
        inferred = any(one.inferred for one in case.objects) or len(case.objects) > 1
        spans = _in_order(tuple(self._spans(say, case, cover=not inferred)))
        assertion = Assertion(statement, self.document.name, "inferred" if inferred else "explicit", spans)
        yield Said(assertion, tuple(self._places(say, case)))

    def _term(self, name: str, say: Say, case: _Case) -> Term | None:
        """What a variable stands for here; nothing where it is not filled in, or does not fit."""
        meaning = case.meanings.get(name)
        if meaning is None:
            return None
        if meaning.kind == "text":
            return Literal(case.mention.words(self.document.text)) if case.mention else None
        if meaning.kind == "sum":
            return self._sum(meaning.field.name, case)
        owner = self.things.near(case.first, meaning.category)
        if owner is None:
            return None
        if meaning.kind == "thing":
            return self.things.term(owner, name)
        return self._value(owner, meaning, say)

    def _sum(self, name: str, case: _Case) -> Term | None:
        numbers = [one.fields.get(name, "").strip() for one in case.objects]
        return integer(sum(map(int, numbers))) if all(map(_WHOLE.fullmatch, numbers)) else None

    def _value(self, owner: Object, meaning: Meaning, say: Say) -> Term | None:
        value, entry = owner.fields.get(meaning.field.name, ""), meaning.field
        if not value:
            return None
        if entry.kind == "object":
            pointed = self.state.objects.get(value)
            return self.things.thing(pointed) if pointed and pointed.category in entry.of else None
        if entry.kind == "choice" and entry.choice(value) is None:
            return None
        predicate = say.pattern.predicate
        property_ = self.config.ontology.properties.get(predicate) if isinstance(predicate, Iri) else None
        if property_ is None:  # a class to choose, or a label
            as_class = say.pattern.object == Variable(entry.name) and entry.kind == "choice"
            return Iri(self.config.ontology.prefixes.namespace + value) if as_class else Literal(value)
        term = literal_of(value, entry.kind, property_.range, self.config.ontology)
        if term is None:
            self.unfit.append((Place(owner.id, entry.name), property_.label or property_.name))
        return term

    def _spans(self, say: Say, case: _Case, *, cover: bool) -> Iterator[Span]:
        sources = dict(say.provenance)
        parts: tuple[tuple[Role, PatternTerm | None], ...] = (
            ("statement", None),
            ("subject", say.pattern.subject),
            ("predicate", say.pattern.predicate),
            ("object", say.pattern.object),
        )
        found: dict[Role, list[Span]] = {}
        for role, term in parts:
            name = term.name if isinstance(term, Variable) else ""
            source = None if name in case.template.no_text else sources.get(f"?{name}", sources.get(role))
            mentions = self._mentions(source.slots, case) if source else ()
            pieces = (part for mention in mentions for part in mention.parts)
            found[role] = [span_at(self.document.text, start, end, role) for start, end in pieces]
        roles = sources["statement"].cover if cover and "statement" in sources else ()
        yield from self._cover([span for role, several in found.items() if role in roles for span in several])
        yield from (span for several in found.values() for span in several)

    def _cover(self, spans: Sequence[Span]) -> Iterator[Span]:
        """The stretch from the first to the last of some words, if it is a short one in one sentence, and more."""
        start, end = min((s.start for s in spans), default=0), max((s.end for s in spans), default=0)
        more = all((span.start, span.end) != (start, end) for span in spans)
        if spans and more and end - start <= LONGEST_COVER and any(a <= start and end <= b for a, b in self.sentences):
            yield span_at(self.document.text, start, end, "statement")

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Where the sentences of the document begin and end."""
        return list(sentences(self.document.text))

    def _mentions(self, slots: Sequence[tuple[str, str]], case: _Case) -> Iterator[Mention]:
        """The words of the first slot that holds any."""
        for category, slot in slots:
            own = category == case.first.category
            if own and slot == MENTION and case.mention is not None:
                found: list[Mention] = [case.mention]
            else:
                near = case.objects if own else (self._owner(case.first, category),)
                found = [mention for one in near if one for mention in one.mentions.get(slot, ())]
            if found:
                yield from found
                return

    def _owner(self, one: Object, category: str) -> Object | None:
        """The object whose words are meant: near by its category, or what a field points to."""
        if category.startswith("."):
            return self.state.objects.get(one.fields.get(category[1:], ""))
        return self.things.near(one, category)

    def _places(self, say: Say, case: _Case) -> Iterator[Place]:
        """The fields of the form that a statement comes from: what it uses, what decides on it, or the object."""
        used = [case.meanings[name] for name in say.pattern.variables if name in case.meanings]
        fields = [
            one.field.name for one in used if one.kind in ("field", "sum") and one.category == case.first.category
        ]
        fields = fields or [name for name, _ in case.template.when.fields]
        fields = fields or [MENTION for one in used if one.kind == "text"]
        fields = fields or list(self.things.naming(case.first))
        category = self.config.categories[case.first.category]
        fields = fields or ([MENTION] if not category.frame and category.field(MENTION) else [""])
        for one in case.objects:
            yield from (Place(one.id, name) for name in fields)
