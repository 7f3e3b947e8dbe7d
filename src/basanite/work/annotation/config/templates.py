"""Assertion templates: what an object of a category says in terms of the ontology, and by which variables (R-14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from basanite.problems import shortened
from basanite.reading.patterns import Pattern, PatternError, Prefixes, parse_pattern
from basanite.reading.provenance import ROLES
from basanite.reading.strict_yaml import YamlList, YamlMap, YamlText, YamlValue
from basanite.registry import suggestion
from basanite.work.annotation.config.files import Warned
from basanite.work.annotation.config.model import (
    MENTION,
    TEXT,
    VALUE,
    Category,
    Field,
    Mint,
    Say,
    Source,
    Template,
    When,
)

MOST_TEMPLATES: Final = 2_000
KEYS: Final = frozenset({"for", "mint", "then", "when", "provenance", "no-text", "sum"})
SAY_KEYS: Final = frozenset({"say", "provenance"})
VariableKind = Literal["thing", "field", "sum", "text"]
NO_FIELD: Final = Field("")


def read_templates(
    top: YamlMap, categories: Mapping[str, Category], prefixes: Prefixes, faults: Warned
) -> tuple[Template, ...]:
    """The templates of a configuration; those that cannot be read are left out, with their problems."""
    if "assert" not in top.entries:
        faults.warn(top.line, "nothing is asserted", "write assert: and a list, or marks never become statements")
        return ()
    reader = _Reader(categories, prefixes, faults)
    entries = list(faults.maps(top, "assert"))
    if len(entries) > MOST_TEMPLATES:
        faults.add(top.lines["assert"], f"{len(entries)} templates", f"write at most {MOST_TEMPLATES}")
    return tuple(template for entry in entries[:MOST_TEMPLATES] for template in reader.template(entry))


@dataclass(frozen=True)
class _Reader:
    """What templates are read with."""

    categories: Mapping[str, Category]
    prefixes: Prefixes
    faults: Warned

    def template(self, entry: YamlMap) -> Iterator[Template]:
        """The template of an entry, if its category is known."""
        self.faults.unknown_keys(entry, KEYS)
        name = self.faults.text(entry, "for", needed=True)
        category = self.categories.get(name)
        if category is None:
            if name:
                self.faults.add(entry.lines["for"], f"there is no category {name}", suggestion(name, self._names()))
            return
        shared = tuple(self._provenance(entry, category))
        yield Template(
            name,
            tuple(self._says(entry, category, shared)),
            tuple(self._mints(entry)),
            self._when(entry, category),
            tuple(one for text in self.faults.texts(entry, "no-text") for one in self._variable(text.text, text.line)),
            tuple(self._sums(entry, category)),
            entry.line,
        )

    def _names(self) -> tuple[str, ...]:
        return tuple(self.categories)

    def _variable(self, text: str, line: int) -> Iterator[str]:
        """The name of a variable without its question mark."""
        if text.startswith("?") and text[1:].isidentifier():
            yield text[1:]
        else:
            self.faults.add(line, f"{text[:60]!r} is not a variable", 'write "?name", with quotes', found=text)

    def _mints(self, entry: YamlMap) -> Iterator[Mint]:
        value = entry.entries.get("mint")
        if isinstance(value, YamlMap):
            for key, item in value.entries.items():
                name = item.text.strip() if isinstance(item, YamlText) else None
                if name is None:
                    self.faults.add(value.lines[key], f"mint: {key} has no name", 'write "?g": "game-{document}"')
                for variable in self._variable(key, value.lines[key]) if name is not None else ():
                    yield Mint(variable, name or "")
            return
        for text in self.faults.texts(entry, "mint"):
            for variable in self._variable(text.text, text.line):
                yield Mint(variable)

    def _sums(self, entry: YamlMap, category: Category) -> Iterator[tuple[str, str]]:
        value = entry.entries.get("sum")
        if value is None:
            return
        if not isinstance(value, YamlMap):
            self.faults.add(entry.lines["sum"], "`sum` is not a mapping", 'write sum: {"?total": count}')
            return
        numbers = [field.name for field in category.fields if field.kind in ("count", "integer")]
        for key, item in value.entries.items():
            name = item.text if isinstance(item, YamlText) else ""
            if name not in numbers:
                fix = suggestion(name, numbers) if numbers else f"give {category.name} a field of type count"
                self.faults.add(value.lines[key], f"{name!r} is not a number of {category.name}", fix, found=name)
            else:
                yield from ((variable, name) for variable in self._variable(key, value.lines[key]))

    def _when(self, entry: YamlMap, category: Category) -> When:
        value = entry.entries.get("when")
        if value is None:
            return When()
        if not isinstance(value, YamlMap):
            return When(tuple(self._condition(VALUE, value, entry.lines["when"], category)))
        has = value.entries.get("has")
        fields = [
            pair
            for key, item in value.entries.items()
            if key != "has"
            for pair in self._condition(key, item, value.lines[key], category)
        ]
        return When(tuple(fields), tuple(self._has(has, category)) if has is not None else ())

    def _has(self, value: YamlValue, category: Category) -> Iterator[str]:
        inside = [one.name for one in self.categories.values() if one.parent == category.name]
        for text in _texts(value):
            if text.text in inside:
                yield text.text
            else:
                near = suggestion(text.text, inside) if inside else "nothing lies in it"
                self.faults.add(text.line, f"no {text.text} lies in a {category.name}", near, found=text.text)

    def _condition(
        self, name: str, value: YamlValue, line: int, category: Category
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        field = category.field(name)
        if field is None or field.kind == "span":
            known = [one.name for one in category.entries]
            near = suggestion(name, [*known, "has"]) if known else f"{category.name} has no fields"
            self.faults.add(line, f"when: {category.name} has no field {name}", near, found=name)
            return
        wanted = _texts(value)
        for text in wanted:
            if field.choices and field.choice(text.text) is None:
                near = suggestion(text.text, [choice.value for choice in field.choices][:200])
                self.faults.add(text.line, f"{text.text!r} is not a choice of {category.name}.{name}", near)
        yield name, tuple(text.text for text in wanted)

    def _says(self, entry: YamlMap, category: Category, shared: tuple[tuple[str, Source], ...]) -> Iterator[Say]:
        value = entry.entries.get("then")
        items = value.items if isinstance(value, YamlList) else [value] if value is not None else []
        if not items:
            self.faults.add(
                entry.line, f"the template for {category.name} says nothing", 'write then: ["?g type Game"]'
            )
        for item in items:
            if isinstance(item, YamlMap):
                self.faults.unknown_keys(item, SAY_KEYS)
                own = tuple(self._provenance(item, category))
                text = item.entries.get("say")
            else:
                own, text = (), item
            if not isinstance(text, YamlText):
                self.faults.add(item.line, "a triple is not text", 'write "?s property ?o", with quotes')
                continue
            for pattern in self._pattern(text):
                yield Say(pattern, own or shared, text.line)

    def _pattern(self, text: YamlText) -> Iterator[Pattern]:
        try:
            found = parse_pattern(text.text, self.prefixes)
        except PatternError as error:
            self.faults.add(text.line, error.message, error.fix, found=shortened(text.text))
            return
        if isinstance(found, Pattern):
            yield found
        else:
            self.faults.add(text.line, "a comparison is not a statement", "write it under when, or in a rule")

    def _provenance(self, entry: YamlMap, category: Category) -> Iterator[tuple[str, Source]]:
        value = entry.entries.get("provenance")
        if value is None:
            return
        if not isinstance(value, YamlMap):
            fix = "write provenance: {object: mention}"
            self.faults.add(entry.lines["provenance"], "`provenance` is not a mapping", fix)
            return
        for key, item in value.entries.items():
            if key not in ROLES and not key.startswith("?"):
                near = suggestion(key, ROLES)
                self.faults.add(value.lines[key], f"{key[:40]!r} is not a role", f"{near} Or a variable.", found=key)
                continue
            if isinstance(item, YamlMap):
                yield from ((key, Source(cover=roles)) for roles in self._cover(key, item))
                continue
            slots = tuple(slot for text in _texts(item) for slot in self._slot(text, category))
            if slots:
                yield key, Source(slots)

    def _cover(self, key: str, entry: YamlMap) -> Iterator[tuple[str, ...]]:
        """Roles whose words another one covers."""
        self.faults.unknown_keys(entry, frozenset({"cover"}))
        known = [role for role in ROLES if role != "statement"]
        texts = self.faults.texts(entry, "cover")
        for text in texts:
            if text.text not in known:
                near = suggestion(text.text, known)
                self.faults.add(
                    text.line, f"{text.text[:40]!r} is not a role that can be covered", near, found=text.text
                )
        if key != "statement":
            self.faults.add(entry.line, f"{key} covers others", "only the statement covers its parts")
        elif texts and all(text.text in known for text in texts):
            yield tuple(text.text for text in texts)

    def _slot(self, text: YamlText, category: Category) -> Iterator[tuple[str, str]]:
        """A slot as it is written: `mention`, `Team.mention` of one in reach, `field.mention` of what it points to."""
        owner, dot, name = text.text.rpartition(".")
        reach = reachable(category, self.categories)
        pointer = category.field(owner) if dot and owner not in reach else None
        pointed = self.categories.get(next(iter(pointer.of), "")) if pointer is not None else None
        found = pointed or (reach.get(owner) if dot else category)
        if found is None:
            near = suggestion(owner, tuple(reach))
            self.faults.add(text.line, f"{owner[:60]} is not in reach of {category.name}", near, found=text.text)
        elif name not in [slot.name for slot in found.slots]:
            slots = [slot.name for slot in found.slots]
            near = suggestion(name, slots) if slots else f"write mention: span in {found.name}"
            self.faults.add(text.line, f"{found.name} has no words for {name[:60]!r}", near, found=text.text)
        else:
            yield f".{owner}" if pointed else found.name, name


def reachable(category: Category, categories: Mapping[str, Category]) -> dict[str, Category]:
    """The categories of which one object at most can be meant: itself, what it lies in, and singles in those."""
    chain, name = [category], category.parent
    while name in categories and categories[name] not in chain:
        chain.append(categories[name])
        name = categories[name].parent
    above = {one.name for one in chain} | {""}
    found = {one.name: one for one in chain}
    found |= {one.name: one for one in categories.values() if one.single and one.parent in above}
    return found


def _texts(value: YamlValue) -> list[YamlText]:
    items = value.items if isinstance(value, YamlList) else [value]
    return [item for item in items if isinstance(item, YamlText)]


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
    for name, meaning in (*_own_meanings(own), *_meanings_in_reach(own, categories, mints)):
        found.setdefault(name, meaning)
    return found


def _own_meanings(own: Category) -> Iterator[tuple[str, Meaning]]:
    for field in own.entries:
        yield field.name, Meaning("field", own.name, field)
    if own.field(MENTION) is not None:
        yield TEXT, Meaning("text", own.name)


def _meanings_in_reach(
    own: Category, categories: Mapping[str, Category], mints: Mapping[str, Sequence[Mint]]
) -> Iterator[tuple[str, Meaning]]:
    for name, category in reachable(own, categories).items():
        for mint in mints.get(name, ()):
            yield mint.variable, Meaning("thing", name, mint=mint)
        for field in category.entries:
            yield f"{name}_{field.name}", Meaning("field", name, field)
