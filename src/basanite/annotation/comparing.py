"""Two versions of a configuration side by side: what is new, what is gone, and what of it no migration covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from basanite.annotation.config.model import Category, Config, Field, Migration, Template

DifferenceKind = Literal["new", "gone", "renamed", "changed"]


@dataclass(frozen=True)
class Difference:
    """Something that differs; `lost` if records of the old version would lose it."""

    what: str
    kind: DifferenceKind
    detail: str = ""
    lost: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` lists."""
        return {"what": self.what, "kind": self.kind, "detail": self.detail, "lost": self.lost}


def differences(old: Config, new: Config) -> tuple[Difference, ...]:
    """Everything in which two versions differ, categories first."""
    steps = [one for one in new.migrations if old.version <= one.since < new.version]
    return (*_categories(old, new, steps), *_texts(old, new))


def _categories(old: Config, new: Config, steps: list[Migration]) -> Iterator[Difference]:
    reached: set[str] = set()
    for name, category in old.categories.items():
        target = _followed(name, steps)
        reached.add(target)
        if target != name:
            yield Difference(f"category {name}", "renamed", target)
        if target in new.categories:
            yield from _fields(category, new.categories[target], steps)
        else:
            dropped = any(name in step.drop for step in steps)
            yield Difference(f"category {name}", "gone", "left out on purpose" if dropped else "", not dropped)
    for name in new.categories:
        if name not in reached:
            yield Difference(f"category {name}", "new")


def _followed(name: str, steps: list[Migration]) -> str:
    for step in steps:
        name = step.rename.get(name, name)
    return name


def _fields(old: Category, new: Category, steps: list[Migration]) -> Iterator[Difference]:
    reached: set[str] = set()
    for field in old.fields:
        category, name, what = old.name, field.name, f"field {old.name}.{field.name}"
        dropped = False
        for step in steps:
            dropped = dropped or f"{category}.{name}" in step.drop
            name = step.fields.get((category, name), name)
            category = step.rename.get(category, category)
        reached.add(name)
        target = new.field(name)
        if name != field.name:
            yield Difference(what, "renamed", name)
        if target is None:
            yield Difference(what, "gone", "left out on purpose" if dropped else "", not dropped)
        else:
            yield from _field(what, field, target, _mapped(field, old.name, steps))
    yield from (Difference(f"field {new.name}.{one.name}", "new") for one in new.fields if one.name not in reached)
    shape = [("in", old.parent, new.parent), ("repeat", _repeat(old), _repeat(new)), ("table", old.table, new.table)]
    for key, before, after in shape:
        if before != after and not (key == "in" and _followed(str(before), steps) == after):
            yield Difference(f"category {new.name}", "changed", f"{key}: {before or 'none'} to {after or 'none'}")


def _repeat(category: Category) -> str:
    return f"{category.least}..{'' if category.most is None else category.most}"


def _mapped(field: Field, category: str, steps: list[Migration]) -> dict[str, str]:
    """What each choice of a field becomes."""
    found = {choice.value: choice.value for choice in field.choices}
    name = field.name
    for step in steps:
        values = step.values.get((category, name), {})
        found = {old: values.get(new, new) for old, new in found.items()}
        name, category = step.fields.get((category, name), name), step.rename.get(category, category)
    return found


def _field(what: str, old: Field, new: Field, mapped: dict[str, str]) -> Iterator[Difference]:
    if old.kind != new.kind:
        yield Difference(
            what, "changed", f"type: {old.kind} to {new.kind}", lost=new.kind == "span" or old.kind == "span"
        )
        return
    for before, after in mapped.items():
        if before != after:
            yield Difference(f"{what} = {before}", "renamed", after)
        if new.choices and new.choice(after) is None:
            yield Difference(f"{what} = {before}", "gone", "no choice any more", lost=True)
    for choice in new.choices:
        if choice.value not in mapped.values():
            yield Difference(f"{what} = {choice.value}", "new")


def _texts(old: Config, new: Config) -> Iterator[Difference]:
    """Templates that come or go, told by what they say, and the rest of the file."""
    before, after = _said(old), _said(new)
    yield from (Difference(f"assert {line}", "gone") for line in before if line not in after)
    yield from (Difference(f"assert {line}", "new") for line in after if line not in before)
    if old.layout != new.layout:
        yield Difference("layout", "changed")
    if old.guidelines != new.guidelines:
        yield Difference("guidelines", "changed")


def _said(config: Config) -> list[str]:
    """What templates say, each on one line."""
    short = config.ontology.prefixes.short
    lines = [
        f"for {template.category}{_when(template)}: {' '.join(short(term) for term in say.pattern.terms)}"
        for template in (replace(one, line=None) for one in config.templates)
        for say in template.says
    ]
    return list(dict.fromkeys(lines))


def _when(template: Template) -> str:
    parts = [f"{name} {'|'.join(values)}" for name, values in template.when.fields]
    parts += [f"has {'|'.join(template.when.has)}"] if template.when.has else []
    return f" when {', '.join(parts)}" if parts else ""
