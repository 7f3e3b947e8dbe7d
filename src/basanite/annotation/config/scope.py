"""The variables that a template can use, and what each stands for: a thing, a field, a sum, or the words themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from basanite.annotation.config.model import MENTION, TEXT, Category, Field, Mint, Template
from basanite.annotation.config.templates import reachable

VariableKind = Literal["thing", "field", "sum", "text"]
NO_FIELD: Final = Field("")


@dataclass(frozen=True)
class Meaning:
    """What a variable stands for, and in which category it is found."""

    kind: VariableKind
    category: str
    field: Field = NO_FIELD
    mint: Mint | None = None


def mints_of(templates: Sequence[Template]) -> dict[str, tuple[Mint, ...]]:
    """The things that each category makes, in their order; the first is the thing that it stands for."""
    found: dict[str, list[Mint]] = {}
    for template in templates:
        found.setdefault(template.category, []).extend(template.mints)
    return {name: tuple(mints) for name, mints in found.items()}


def scope(
    template: Template, categories: Mapping[str, Category], mints: Mapping[str, Sequence[Mint]]
) -> dict[str, Meaning]:
    """What every variable of a template can mean; its own category comes first."""
    own = categories[template.category]
    found: dict[str, Meaning] = {}
    for name, field in template.sums:
        found[name] = Meaning("sum", own.name, own.field(field) or NO_FIELD)
    for name, meaning in (*_own(own), *_reached(own, categories, mints)):
        found.setdefault(name, meaning)
    return found


def _own(own: Category) -> Iterator[tuple[str, Meaning]]:
    for field in own.entries:
        yield field.name, Meaning("field", own.name, field)
    if own.field(MENTION) is not None:
        yield TEXT, Meaning("text", own.name)


def _reached(
    own: Category, categories: Mapping[str, Category], mints: Mapping[str, Sequence[Mint]]
) -> Iterator[tuple[str, Meaning]]:
    for name, category in reachable(own, categories).items():
        for mint in mints.get(name, ()):
            yield mint.variable, Meaning("thing", name, mint=mint)
        for field in category.entries:
            yield f"{name}_{field.name}", Meaning("field", name, field)
