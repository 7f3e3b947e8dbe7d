"""A use case as plain values: what annotators can mark, how the form looks, and what each mark asserts (R-14).

Everything that an annotator makes is an *object* of a *category*. A category may lie in another one (a score in a team,
a team in a game), has fields to fill in, and slots for the words of the text that say it. What stands in a form at most
once is a *single*: it has a fixed name, so that two tabs that fill it in mean the same object.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, get_args

from basanite.reading.ontology import Ontology
from basanite.reading.patterns import Pattern

Kind = Literal["text", "count", "integer", "decimal", "date", "yes-no", "choice", "span", "object"]
KINDS: Final = get_args(Kind)
MENTION: Final = "mention"
"""The slot for the words that name or say the object itself."""
VALUE: Final = "value"
NAME: Final = "name"
ENDS: Final = ("from", "to")
"""The fields of a relation, in their order."""
TEXT: Final = "text"
"""The variable that stands for the words of the mention."""


@dataclass(frozen=True)
class Choice:
    """One value of a list: what is kept, what is shown, and the key that picks it."""

    value: str
    title: str
    key: str = ""


@dataclass(frozen=True)
class Field:
    """Something to fill in: a value of some kind, words of the text (`span`), or another object (`object`)."""

    name: str
    kind: Kind = "text"
    title: str = ""
    choices: tuple[Choice, ...] = ()
    of: tuple[str, ...] = ()
    """The categories whose objects a field of kind `object` points to."""
    needed: bool = False
    key: str = ""
    help: str = ""
    line: int | None = None

    def choice(self, value: str) -> Choice | None:
        """The choice of this value, if there is one."""
        return next((choice for choice in self.choices if choice.value == value), None)


@dataclass(frozen=True)
class Category:
    """A kind of object: where it lies, how many there are, and what it is filled in with."""

    name: str
    title: str = ""
    parent: str = ""
    """The category that it lies in; nothing for those that lie in the document itself."""
    frame: bool = False
    """Whether it is shown as a form of its own, with others in it."""
    table: bool = False
    """Whether its objects are rows of a table."""
    least: int = 0
    most: int | None = None
    fields: tuple[Field, ...] = ()
    inferred: bool = False
    """Whether annotators can tick that the text does not say it in so many words."""
    key: str = ""
    colour: str = ""
    help: str = ""
    line: int | None = None

    @property
    def single(self) -> bool:
        """Whether it stands at most once where it lies, so that it needs no adding."""
        return self.most == 1 and not self.table

    @property
    def is_relation(self) -> bool:
        """Whether its rows only join two objects: a table with the fields `from` and `to`."""
        return self.table and [(one.name, one.kind) for one in self.fields] == [(end, "object") for end in ENDS]

    @property
    def slots(self) -> tuple[Field, ...]:
        """The fields that hold words of the text."""
        return tuple(one for one in self.fields if one.kind == "span")

    @property
    def entries(self) -> tuple[Field, ...]:
        """The fields that hold values."""
        return tuple(one for one in self.fields if one.kind != "span")

    def field(self, name: str) -> Field | None:
        """The field of this name, if there is one."""
        return next((one for one in self.fields if one.name == name), None)


@dataclass(frozen=True)
class Layout:
    """How the page is laid out: the side of the text, what becomes tabs and columns, and the order below."""

    text: Literal["left", "right"] = "left"
    tabs: str = ""
    columns: str = ""
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mint:
    """A thing that a template makes: nameless, or with a name made of parts such as `game-{document}`."""

    variable: str
    name: str = ""


@dataclass(frozen=True)
class When:
    """What an object must be like for a template to hold: values of fields, and parts that it must have."""

    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    has: tuple[str, ...] = ()
    """At least one object of one of these categories lies in it."""


@dataclass(frozen=True)
class Source:
    """Where the words come from: slots, the first of them that holds any; or all that other roles cover."""

    slots: tuple[tuple[str, str], ...] = ()
    """Pairs of category and slot; the category is the template's own, one that it lies in, or a single there.

    `.field` in the place of a category means the object that a field points to.
    """
    cover: tuple[str, ...] = ()
    """Roles of the same statement: the stretch of text from the first to the last of their words, in one sentence."""


@dataclass(frozen=True)
class Say:
    """One triple of a template, and where the words for its parts come from."""

    pattern: Pattern
    provenance: tuple[tuple[str, Source], ...] = ()
    """Keys are roles (statement, subject, predicate, object) or variables with their question mark."""
    line: int | None = None


@dataclass(frozen=True)
class Template:
    """What every object of a category asserts."""

    category: str
    says: tuple[Say, ...]
    mints: tuple[Mint, ...] = ()
    when: When = field(default_factory=When)
    no_text: tuple[str, ...] = ()
    """Variables that never have words of their own, whatever the provenance says."""
    sums: tuple[tuple[str, str], ...] = ()
    """Variables that stand for the sum of a field over all objects of the category in one place."""
    line: int | None = None


@dataclass(frozen=True)
class Migration:
    """How records of one version become records of the next."""

    since: int
    rename: Mapping[str, str] = field(default_factory=dict)
    """Categories, old name to new."""
    fields: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Fields by category (its old name) and name, to their new name."""
    values: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """Values by category and field (old names), old value to new."""
    drop: tuple[str, ...] = ()
    """Categories, or fields as `Category.field`, that are left out on purpose."""
    line: int | None = None


@dataclass(frozen=True)
class Config:
    """A whole use case, checked."""

    name: str
    version: int
    categories: Mapping[str, Category]
    ontology: Ontology
    title: str = ""
    layout: Layout = field(default_factory=Layout)
    templates: tuple[Template, ...] = ()
    migrations: tuple[Migration, ...] = ()
    guidelines: str = ""
    text: str = field(default="", repr=False)
    """The file as it was written."""

    @property
    def digest(self) -> str:
        """The hash of the file: two configurations of one version that differ are distinguished."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def parts(self) -> Mapping[str, tuple[Category, ...]]:
        """The categories that lie in each, in their order; those of the document itself under ""."""
        found: dict[str, list[Category]] = {"": []}
        for category in self.categories.values():
            found.setdefault(category.parent, []).append(category)
        order = {name: place for place, name in enumerate(self.layout.order)}
        return {
            name: tuple(sorted(several, key=lambda one: order.get(one.name, len(order))))
            for name, several in found.items()
        }

    def upwards(self, name: str) -> Iterator[Category]:
        """A category and those that it lies in, the innermost first."""
        seen: set[str] = set()
        while name in self.categories and name not in seen:
            seen.add(name)
            yield self.categories[name]
            name = self.categories[name].parent
