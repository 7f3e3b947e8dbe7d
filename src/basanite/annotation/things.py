"""The things that objects stand for: their names in the ontology, and which object is meant where several could be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from basanite.annotation.config.model import Config, Mint
from basanite.annotation.config.scope import mints_of
from basanite.annotation.events.model import Object, State, single_id
from basanite.reading.terms import Iri, Node, Term

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

    def ordered(self) -> Iterator[Object]:
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
            term = self.known[key] = self._made(one, mint)
            seen = Node(f"{self.document}.{term.label}") if isinstance(term, Node) else term
            self.made[seen] = tuple(dict.fromkeys((*self.made.get(seen, ()), one.id)))
        return self.known[key]

    def naming(self, one: Object) -> tuple[str, ...]:
        """The fields that an object has its name from."""
        own = {entry.name for entry in self.config.categories[one.category].entries}
        parts = (part for mint in self.mints.get(one.category, ()) for part in PLACE.findall(mint.name))
        return tuple(dict.fromkeys(part for part in parts if part in own))

    def _made(self, one: Object, mint: Mint) -> Term:
        name = self._named(one, mint)
        return (
            Iri(self.config.ontology.prefixes.namespace + name) if name else Node(f"{mint.variable}-{self._tag(one)}")
        )

    def _named(self, one: Object, mint: Mint) -> str:
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
            own = self._named(one, first) if first else ""
            single = self.config.categories[one.category].single
            tag = own or (one.category if single else f"{one.category}{self.siblings[one.id]}")
            self.tags[one.id] = f"{self._tag(above)}-{tag}" if above else tag
        return self.tags[one.id]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each object among those of its category, from 1."""
        counts: dict[str, int] = {}
        found = {}
        for one in self.ordered():
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
