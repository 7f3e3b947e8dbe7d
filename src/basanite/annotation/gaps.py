"""What the form still lacks, or has too much of: found without the reasoner, from the configuration alone (R-16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from basanite.annotation.config.model import Category, Config, Field
from basanite.annotation.events.model import Object, State, single_id
from basanite.annotation.mapping import Meant
from basanite.annotation.places import Place, called, shown
from basanite.annotation.things import Things
from basanite.annotation.values import WANTED, value_fault
from basanite.reports.wording import plural

GapKind = Literal["missing", "too-many", "value", "reference"]


@dataclass(frozen=True, order=True)
class Gap:
    """Something to complete or to mend, the place for it, and what to do."""

    place: Place
    kind: GapKind
    message: str
    fix: str

    def as_dict(self) -> dict[str, Any]:
        """The object that pages are sent."""
        return {**self.place.as_dict(), "kind": self.kind, "message": self.message, "fix": self.fix}


def form_gaps(config: Config, state: State, found: Meant, document: str = "") -> tuple[Gap, ...]:
    """Everything that the form lacks, object by object."""
    return tuple(dict.fromkeys(_Form(config, state, Things(config, state, document)).gaps(found)))


@dataclass(frozen=True)
class _Form:
    """An annotation held against its configuration."""

    config: Config
    state: State
    things: Things

    def gaps(self, found: Meant) -> Iterator[Gap]:
        """All gaps; those of values that no template can use come last."""
        yield from self._counts(None)
        for one in self.things.ordered():
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
        where = f" in {called(self.config, self.state, one)}" if one else ""
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
            f"{called(self.config, self.state, one)} has no words in the text",
            "mark the words that say it",
        )

    def _entry(self, one: Object, entry: Field) -> tuple[GapKind, str, str] | None:
        """What is wrong with the value of a field."""
        value, title = one.fields.get(entry.name, ""), shown(self.config, one, entry.name)
        if not value:
            if not entry.needed and not self._is_value(one, entry):
                return None
            name = called(self.config, self.state, one)
            return "missing", f"{name}: {title} is not filled in", WANTED.get(entry.kind, "fill it in")
        if fault := self._value_fault(one, entry.name):
            return "value", f"{value[:40]!r} is no {title}", fault
        pointed = self.state.objects.get(value)
        if entry.kind == "object" and (pointed is None or pointed.category != entry.of):
            name = called(self.config, self.state, one)
            return "reference", f"{name}: what {title} points to is gone", "choose another"
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
