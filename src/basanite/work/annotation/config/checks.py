"""Templates compared with the ontology: names, classes, ranges, and variables that nothing binds (R-14)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from basanite.reading.ontology import Ontology, Property
from basanite.reading.ontology_checks import ALWAYS_KNOWN
from basanite.reading.patterns import PatternTerm, Variable
from basanite.reading.terms import TYPE, Iri, Literal
from basanite.registry import suggestion
from basanite.work.annotation.config.files import Warned
from basanite.work.annotation.config.model import Category, Mint, Say, Template
from basanite.work.annotation.config.templates import Meaning, mints_of, scope
from basanite.work.annotation.things import literal_of

PLACE: Final = re.compile(r"\{([^{}]*)\}")
LOOKED_AT: Final = 200
SAMPLES: Final = {"count": "1", "integer": "1", "decimal": "1.5", "date": "2005-01-15", "yes-no": "yes"}
"""A value of each kind, to see whether a property admits such values."""

Fault = tuple[str, str]


def check_templates(
    templates: Sequence[Template], categories: Mapping[str, Category], ontology: Ontology, faults: Warned
) -> None:
    """Find everything in templates that the ontology or the categories do not allow."""
    mints = mints_of(templates)
    _check_mints(templates, categories, faults)
    classes = _classes(templates, categories, mints)
    for template in templates:
        meanings = scope(template, categories, mints)
        checker = _Checker(ontology, meanings, classes, mints)
        for say in template.says:
            for message, fix in checker.faults(say):
                faults.add(say.line, message, fix)
        _check_listed(template, meanings, faults)
    _check_silent(templates, categories, faults)


def _check_mints(templates: Sequence[Template], categories: Mapping[str, Category], faults: Warned) -> None:
    """Whether every thing is made once, and its name is made of parts that there are."""
    made: dict[str, int | None] = {}
    for template in templates:
        own = categories[template.category]
        for mint in template.mints:
            if mint.variable in made:
                fix = f"give each thing a variable of its own; see line {made[mint.variable]}"
                faults.add(template.line, f"?{mint.variable} is minted twice", fix)
            made.setdefault(mint.variable, template.line)
            if own.field(mint.variable) is not None:
                faults.add(template.line, f"?{mint.variable} is a field of {own.name}", "call the thing something else")
            for message, fix in _name_faults(mint, own):
                faults.add(template.line, message, fix)


def _name_faults(mint: Mint, own: Category) -> Iterator[Fault]:
    known = ["document", "n", *(field.name for field in own.entries)]
    for part in PLACE.findall(mint.name):
        if part not in known:
            yield f"the name of ?{mint.variable} has {{{part}}}, which {own.name} has not", suggestion(part, known)
    if not re.fullmatch(r"[\w.\-]*", PLACE.sub("", mint.name)):
        yield f"{mint.name!r} cannot be a name", "use letters, digits, '-', '_', '.' and {parts}"
    if mint.name and own.most != 1 and not PLACE.findall(mint.name):
        yield f"every {own.name} would be called {mint.name}", f"write {mint.name}-{{n}}"


def _classes(
    templates: Sequence[Template], categories: Mapping[str, Category], mints: Mapping[str, Sequence[Mint]]
) -> dict[str, Iri]:
    """The class that each thing is said to be of."""
    things = {mint.variable for several in mints.values() for mint in several}
    found: dict[str, Iri] = {}
    for say in (say for template in templates for say in template.says):
        subject, object_ = say.pattern.subject, say.pattern.object
        thing = isinstance(subject, Variable) and subject.name in things
        if thing and say.pattern.predicate == TYPE and isinstance(subject, Variable) and isinstance(object_, Iri):
            found.setdefault(subject.name, object_)
    return found


@dataclass(frozen=True)
class _Checker:
    """One template's triples against the ontology."""

    ontology: Ontology
    meanings: Mapping[str, Meaning]
    classes: Mapping[str, Iri]
    mints: Mapping[str, Sequence[Mint]]

    def faults(self, say: Say) -> Iterator[Fault]:
        """What is wrong with one triple."""
        unbound = [name for name in say.pattern.variables if name not in self.meanings]
        for name in unbound:
            yield f"?{name} stands for nothing here", suggestion(f"?{name}", [f"?{one}" for one in self.meanings])
        yield from self._subject(say.pattern.subject)
        predicate = say.pattern.predicate
        if isinstance(predicate, Variable):
            yield f"{predicate} stands for a property", "write the property itself"
        elif predicate == TYPE:
            yield from self._class(say.pattern.object)
        elif predicate not in ALWAYS_KNOWN:
            yield from self._property(say, whole=not unbound)
        for key, _ in say.provenance:
            if key.startswith("?") and key[1:] not in self.meanings:
                near = suggestion(key, [f"?{one}" for one in self.meanings])
                yield f"provenance: {key} stands for nothing here", near

    def _subject(self, subject: PatternTerm) -> Iterator[Fault]:
        meaning = self.meanings.get(subject.name) if isinstance(subject, Variable) else None
        if meaning is not None and meaning.kind != "thing" and meaning.field.kind != "object":
            yield f"{subject} is a value and cannot be a subject", "values are allowed only as objects; mint a thing"

    def _class(self, object_: PatternTerm) -> Iterator[Fault]:
        if isinstance(object_, Variable):
            meaning = self.meanings.get(object_.name)
            for choice in meaning.field.choices if meaning else ():
                yield from self._class(Iri(self.ontology.prefixes.namespace + choice.value))
        elif not isinstance(object_, Iri) or object_ not in self.ontology.classes:
            yield f"{self._short(object_)} is not a class of the ontology", self._near(object_, self.ontology.classes)
        elif self.ontology.classes[object_].mark == "query-only":
            yield f"{self._short(object_)} is allowed only in queries and rules", "assert another class"

    def _property(self, say: Say, *, whole: bool) -> Iterator[Fault]:
        """What is wrong with a property, and, where the whole triple is known, with what it stands between."""
        predicate = say.pattern.predicate
        assert isinstance(predicate, Iri)
        property_ = self.ontology.properties.get(predicate)
        if property_ is None:
            near = self._near(predicate, self.ontology.properties)
            yield f"{self._short(predicate)} is not a property of the ontology", near
            return
        if property_.mark == "query-only":
            yield f"{self._short(predicate)} is allowed only in queries and rules", "assert another property"
        if whole:
            yield from self._ends(say, property_)

    def _ends(self, say: Say, property_: Property) -> Iterator[Fault]:
        subject = self._class_of(say.pattern.subject)
        if not self._may_be(subject, property_.domain):
            wanted, has = self._short(property_.domain or property_.iri), self._short(subject or property_.iri)
            words = f"{say.pattern.subject} is a {has}, but {property_.name} belongs to a {wanted}"
            yield words, "use the thing that has it"
        yield from self._range(say.pattern.object, property_)

    def _range(self, object_: PatternTerm, property_: Property) -> Iterator[Fault]:
        if property_.range is None:
            return
        wanted, things = self._short(property_.range), property_.range in self.ontology.classes
        meaning = self.meanings.get(object_.name) if isinstance(object_, Variable) else None
        if meaning is not None and meaning.kind != "thing" and meaning.field.kind != "object":
            yield from self._values(meaning, property_)
        elif isinstance(object_, Literal):
            if things or not self.ontology.in_range(object_, property_.range):
                yield f"{self._short(object_)} is no {wanted}", f"write a value of {wanted}"
        elif not things or not self._may_be(self._class_of(object_), property_.range):
            yield f"{self._short(object_)} is not a {wanted}, as {property_.name} requires", f"give it a {wanted}"

    def _values(self, meaning: Meaning, property_: Property) -> Iterator[Fault]:
        """Whether the values that annotators can give are of the type that a property wants."""
        field, range_ = meaning.field, property_.range
        assert range_ is not None
        where = f"{meaning.category}.{field.name or 'mention'}"
        kind = "text" if meaning.kind == "text" else "integer" if meaning.kind == "sum" else field.kind
        samples = [choice.value for choice in field.choices[:LOOKED_AT]] or [SAMPLES.get(kind, "words")]
        for sample in samples:
            if literal_of(sample, kind, range_, self.ontology) is None:
                wanted = self._short(range_)
                what = f"the choice {sample!r} of {where}" if field.choices else f"{where}, a {kind},"
                yield (
                    f"{what} is not a {wanted}, as {property_.name} requires",
                    "change the type of the field, or the property",
                )

    def _class_of(self, term: PatternTerm) -> Iri | None:
        if not isinstance(term, Variable):
            return None
        meaning = self.meanings.get(term.name)
        if meaning is not None and meaning.field.kind == "object":
            first = next((mint for name in meaning.field.of for mint in self.mints.get(name, ())), None)
            return self.classes.get(first.variable) if first else None
        return self.classes.get(term.name) if meaning is not None and meaning.kind == "thing" else None

    def _may_be(self, found: Iri | None, wanted: Iri | None) -> bool:
        if found is None or wanted is None or found not in self.ontology.classes:
            return True
        return self.ontology.is_a(found, wanted) or self.ontology.is_a(wanted, found)

    def _short(self, term: PatternTerm) -> str:
        return self.ontology.prefixes.short(term)

    def _near(self, term: PatternTerm, known: Mapping[Iri, object]) -> str:
        return suggestion(self._short(term), [self._short(iri) for iri in known][:LOOKED_AT])


def _check_listed(template: Template, meanings: Mapping[str, Meaning], faults: Warned) -> None:
    for name in template.no_text:
        if name not in meanings:
            near = suggestion(f"?{name}", [f"?{one}" for one in meanings])
            faults.add(template.line, f"no-text: ?{name} stands for nothing here", near)


def _check_silent(templates: Sequence[Template], categories: Mapping[str, Category], faults: Warned) -> None:
    """Categories that assert nothing are seldom meant, and objects that are pointed to must be things."""
    said, mints = {template.category for template in templates}, mints_of(templates)
    for category in categories.values():
        if templates and category.name not in said:
            fix = f"write {{for: {category.name}, then: [...]}}, or remove it"
            faults.warn(category.line, f"{category.name} asserts nothing", fix)
        for field in category.fields:
            for name in field.of if templates else ():
                if name in categories and not mints.get(name):
                    fix = f'write {{for: {name}, mint: "?thing", ...}}'
                    faults.add(field.line, f"{category.name}.{field.name} points to {name}, which is not a thing", fix)
