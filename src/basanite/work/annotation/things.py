"""What an annotation speaks of: places in the form, values in the terms of the ontology, things by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from basanite.reading.ontology import ANY_LITERAL, Ontology
from basanite.reading.terms import XSD, Iri, Literal, Node, Term
from basanite.reading.values import INTEGER_BOUNDS, MOST_DIGITS, value_of
from basanite.work.annotation.config.model import NAME, VALUE, Config, Mint
from basanite.work.annotation.config.templates import mints_of
from basanite.work.annotation.events import Object, State, single_id


@dataclass(frozen=True, order=True)
class Place:
    """An object of the annotation, and perhaps one of its fields: where something is shown and corrected."""

    object: str
    field: str = ""

    def as_dict(self) -> dict[str, str]:
        """The object that pages are sent."""
        return {"object": self.object, "field": self.field}


def object_title(config: Config, state: State, one: Object) -> str:
    """What an object is called in messages: the name that was chosen for it, or its category and number.

    A field in a frame is called after the frame as well: `Score of Chicago Bears`.
    """
    category = config.categories[one.category]
    entry = category.field(NAME)
    value = one.fields.get(NAME, "")
    if entry is not None and value:
        choice = entry.choice(value)
        return choice.title if choice else value
    above = state.objects.get(one.parent)
    if category.single:
        return f"{category.title} of {object_title(config, state, above)}" if above else category.title
    several = state.children(one.parent, one.category)
    return category.title if len(several) == 1 else f"{category.title} {several.index(one) + 1}"


def field_title(config: Config, one: Object, name: str) -> str:
    """The title of a field, as messages say it; the only value of a category goes by the category's title."""
    category = config.categories[one.category]
    entry = category.field(name)
    if entry is None or (name == VALUE and entry.title == VALUE):
        return category.title
    return entry.title


PLACE: Final = re.compile(r"\{([^{}]*)\}")
LONGEST_NAME: Final = 200
"""Characters of a name; what would be longer stays nameless."""
_ODD: Final = re.compile(r"[^\w.\-]+")
_NAME: Final = re.compile(r"[^\W_](?:[\w.\-]*[\w\-])?")


class Things:
    """Names of things, made of what annotators filled in or of the place where an object stands."""

    def __init__(self, config: Config, state: State, document: str) -> None:
        self.config, self.state, self.document = config, state, document
        self.mints = mints_of(config.templates)
        self.known: dict[tuple[str, str], Term] = {}
        self.made: dict[Term, tuple[str, ...]] = {}
        self.tags: dict[str, str] = {}

    def in_order(self) -> Iterator[Object]:
        """All objects that are there, each before its parts, in the order of the configuration."""
        waiting = [""]
        while waiting:
            parent = waiting.pop()
            if parent:
                yield self.state.objects[parent]
            below = self.config.categories[self.state.objects[parent].category].name if parent else ""
            several = [
                one.id
                for category in self.config.parts.get(below, ())
                for one in self.state.children(parent, category.name)
                if self.present(one)
            ]
            waiting += reversed(several)

    def present(self, one: Object) -> bool:
        """Whether an object counts: a single does once something is said of it or in it."""
        category = self.config.categories[one.category]
        return not category.single or not one.empty or any(map(self.present, self.state.children(one.id)))

    def near(self, one: Object, category: str) -> Object | None:
        """The object of a category that is meant from where one stands: itself, what it lies in, or a single there."""
        chain = list(self.state.upwards(one.id))
        found = next((above for above in chain if above.category == category), None)
        if found is not None:
            return found
        for above in (*(above.id for above in chain), ""):
            single = self.state.objects.get(single_id(above, category))
            if single is not None and self.present(single):
                return single
        return None

    def thing(self, one: Object | None) -> Term | None:
        """The thing that an object stands for: the first that its category makes."""
        mints = self.mints.get(one.category, ()) if one else ()
        return self.term(one, mints[0].variable) if one and mints else None

    def term(self, one: Object, variable: str) -> Term | None:
        """The thing that a variable of an object's category stands for."""
        key = (one.id, variable)
        if key not in self.known:
            mint = next((mint for mint in self.mints.get(one.category, ()) if mint.variable == variable), None)
            if mint is None:
                return None
            term = self.known[key] = self._new_term(one, mint)
            seen = Node(f"{self.document}.{term.label}") if isinstance(term, Node) else term
            self.made[seen] = tuple(dict.fromkeys((*self.made.get(seen, ()), one.id)))
        return self.known[key]

    def naming(self, one: Object) -> tuple[str, ...]:
        """The fields that an object has its name from."""
        own = {entry.name for entry in self.config.categories[one.category].entries}
        parts = (part for mint in self.mints.get(one.category, ()) for part in PLACE.findall(mint.name))
        return tuple(dict.fromkeys(part for part in parts if part in own))

    def _new_term(self, one: Object, mint: Mint) -> Term:
        name = self._name_of(one, mint)
        return (
            Iri(self.config.ontology.prefixes.namespace + name) if name else Node(f"{mint.variable}-{self._tag(one)}")
        )

    def _name_of(self, one: Object, mint: Mint) -> str:
        """The name of a thing; "" where a part of it is not filled in, or it has none."""
        values = {**one.fields, "document": self.document, "n": str(self.numbers.get(one.id, 0))}
        if not mint.name or not all(values.get(part) for part in PLACE.findall(mint.name)):
            return ""
        name = _ODD.sub("-", PLACE.sub(lambda match: values[match[1]], mint.name)).strip("-.")
        return name if len(name) <= LONGEST_NAME and _NAME.fullmatch(name) else ""

    def _tag(self, one: Object) -> str:
        """Where an object stands, in words: `Game1-ChicagoBears-Score`."""
        if one.id not in self.tags:
            above = self.state.objects.get(one.parent)
            first = next(iter(self.mints.get(one.category, ())), None)
            own = self._name_of(one, first) if first else ""
            single = self.config.categories[one.category].single
            tag = own or (one.category if single else f"{one.category}{self.siblings[one.id]}")
            self.tags[one.id] = f"{self._tag(above)}-{tag}" if above else tag
        return self.tags[one.id]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each object among those of its category, from 1."""
        counts: dict[str, int] = {}
        found = {}
        for one in self.in_order():
            found[one.id] = counts[one.category] = counts.get(one.category, 0) + 1
        return found

    @cached_property
    def siblings(self) -> dict[str, int]:
        """The number of each object among those of its category in the same place, from 1."""
        counts: dict[tuple[str, str], int] = {}
        found = {}
        for one in self.state.objects.values():
            key = (one.parent, one.category)
            found[one.id] = counts[key] = counts.get(key, 0) + 1
        return found


TRUTHS: Final = {"yes": "true", "no": "false"}
TYPES: Final = {
    "text": "string",
    "choice": "string",
    "count": "integer",
    "integer": "integer",
    "decimal": "decimal",
    "date": "date",
    "yes-no": "boolean",
}
"""The type of a value where the ontology says nothing of it."""
WANTED: Final = {
    "count": "write a whole number, 0 or more",
    "integer": "write a whole number",
    "decimal": "write a number such as 2.5",
    "date": "write year-month-day, such as 2005-01-15",
    "yes-no": "choose yes or no",
    "choice": "choose one of the list",
}


def value_fault(value: str, kind: str) -> str:
    """What to write instead of a value that is none of its kind; "" where it is one.

    >>> value_fault("17", "count"), value_fault("seventeen", "count")
    ('', 'write a whole number, 0 or more')
    """
    if kind not in ("count", "integer", "decimal", "date", "yes-no"):
        return ""
    literal = _typed_literal(value, kind, TYPES[kind])
    bad = literal is None or (kind == "count" and literal.lexical.startswith("-"))
    return WANTED[kind] if bad else ""


def literal_of(value: str, kind: str, range_: Iri | None, ontology: Ontology) -> Literal | Iri | None:
    """The term that a typed or chosen value stands for where a property wants values of a range; nothing if none.

    Where the range is a class, the value names a thing of the ontology's namespace.
    """
    if range_ is not None and range_ in ontology.classes:
        named = kind in ("choice", "text") and _NAME.fullmatch(value) is not None
        return Iri(ontology.prefixes.namespace + value) if named else None
    base = _base(range_, ontology)
    literal = _typed_literal(value, kind, base.removeprefix(XSD) if base else TYPES.get(kind, "string"))
    if literal is None or (range_ is not None and not ontology.in_range(literal, range_)):
        return None
    return literal


def _base(range_: Iri | None, ontology: Ontology) -> str:
    """The type of XML Schema that a range comes down to; "" where it is open."""
    for _ in range(len(ontology.datatypes) + 1):
        if range_ is None or range_ not in ontology.datatypes:
            break
        range_ = ontology.datatypes[range_].base
    return "" if range_ is None or range_ == ANY_LITERAL else range_.value


def _typed_literal(value: str, kind: str, name: str) -> Literal | None:
    """A literal in its shortest form, so that equal values are equal terms."""
    text = value.strip()
    if len(text) > MOST_DIGITS and name != "string":
        return None
    if kind == "yes-no" or name == "boolean":
        text = TRUTHS.get(text, text)
    literal = Literal(text, XSD + name)
    worth = value_of(literal)
    if worth is None:
        return None
    if name in INTEGER_BOUNDS:
        return Literal(str(worth), XSD + ("integer" if name == "integer" else name))
    return Literal(str(worth).lower(), XSD + name) if name == "boolean" else literal
