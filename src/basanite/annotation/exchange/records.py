"""From what an annotator did to what travels, and back: as events of a configuration, the same each time (P-32).

What the configuration has no place for (a category, a field, something that must lie in an object that is not there) is
left behind, and said. Ids of events follow from the content, so the same file imported twice changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from basanite.annotation.config import Category, Config, Field
from basanite.annotation.events import Event, Mention, Object, State, single_id
from basanite.annotation.events.shapes import LONGEST_TEXT, is_parts
from basanite.annotation.exchange.model import Annotated, Link, Losses, in_order, mentions_of
from basanite.reading.package.documents import Document


def annotated_of(config: Config, document: Document, state: State, *, annotator: str = "") -> Annotated:
    """What somebody marked in a text; fields that point to objects become links."""
    links: list[Link] = []
    objects: list[Object] = []
    for one in state.objects.values():
        pointing = {name for name in one.fields if _points(config, one, name)}
        links += [Link(name, one.id, one.fields[name]) for name in sorted(pointing)]
        objects.append(replace(one, fields={name: v for name, v in one.fields.items() if name not in pointing}))
    return Annotated(document.name, document.text, tuple(objects), tuple(links), annotator, state.note)


def events_of(config: Config, one: Annotated, losses: Losses, *, salt: str = "") -> tuple[Event, ...]:
    """The events that make an annotation from nothing."""
    return tuple(_Maker(config, one, losses, salt).events())


class _Maker:
    """One annotation on its way into the log."""

    def __init__(self, config: Config, one: Annotated, losses: Losses, salt: str) -> None:
        self.config, self.one, self.losses, self.salt = config, one, losses, salt
        self.names: dict[str, str] = {}
        """The name of every object that was made, by the one it had."""
        self.taken: set[str] = set()

    def events(self) -> Iterator[Event]:
        """Objects, parents first; then what is said of them; pointers last."""
        for thing in in_order(self.one.objects):
            category = self._category(thing)
            if category is not None:
                yield from self._object(thing, category)
        for link in self.one.links:
            yield from self._link(link)
        if self.one.note:
            yield self._event("note", object="", text=self.one.note[:LONGEST_TEXT])

    def _category(self, thing: Object) -> Category | None:
        category = self.config.categories.get(thing.category)
        if category is None:
            self.losses.add(f"the category {thing.category[:60]!r}, which the configuration does not have", thing.id)
            return None
        above = self.one.by_id.get(thing.parent)
        if category.parent and (above is None or above.category != category.parent or above.id not in self.names):
            self.losses.add(f"{category.name} that lies in no {category.parent}", thing.id)
            return None
        return category

    def _object(self, thing: Object, category: Category) -> Iterator[Event]:
        parent = self.names[thing.parent] if category.parent else ""
        if category.single:
            name = single_id(parent, category.name)
            if name in self.taken:
                self.losses.add(f"a second {category.name} in one place", thing.id)
                return
        else:
            name = self._fresh(thing)
            kind = "row.add" if category.table else "create"
            yield self._event(kind, object=name, category=category.name, parent=parent)
        self.names[thing.id] = name
        self.taken.add(name)
        yield from self._said(thing, category, name)

    def _fresh(self, thing: Object) -> str:
        return f"o{len(self.taken) + 1}-{self._digest('object', thing.id)[:8]}"

    def _said(self, thing: Object, category: Category, name: str) -> Iterator[Event]:
        for key, value in thing.fields.items():
            entry = category.field(key)
            if entry is None or entry.kind in ("span", "object") or not _fits(entry, value):
                self.losses.add(f"{key!r:.60} of {category.name}: no such field, or no such value", value)
            else:
                yield self._event("set", object=name, field=key, value=value)
        for slot, mention in mentions_of(thing):
            yield from self._mention(category, name, slot, mention)
        if thing.inferred and not category.inferred:
            self.losses.add(f"that a {category.name} is inferred", thing.id)
        elif thing.inferred:
            yield self._event("inferred", object=name, value=True)
        if thing.note:
            yield self._event("note", object=name, text=thing.note[:LONGEST_TEXT])

    def _mention(self, category: Category, name: str, slot: str, mention: Mention) -> Iterator[Event]:
        entry = category.field(slot)
        if entry is None or entry.kind != "span" or not is_parts(mention.parts):
            self.losses.add(f"words for {slot!r:.60} of {category.name}", mention.words(self.one.text))
        else:
            yield self._event("span.add", object=name, field=slot, parts=[list(part) for part in mention.parts])

    def _link(self, link: Link) -> Iterator[Event]:
        source, target = self.one.by_id.get(link.source), self.one.by_id.get(link.target)
        category = self.config.categories.get(source.category) if source else None
        entry = category.field(link.kind) if category else None
        there = link.source in self.names and link.target in self.names
        if entry is None or entry.kind != "object" or not there or target is None or target.category != entry.of:
            self.losses.add(f"the pointer {link.kind[:60]!r}", f"{link.source} to {link.target}")
        else:
            value = self.names[link.target]
            yield self._event("set", object=self.names[link.source], field=link.kind, value=value)

    def _event(self, kind: str, **data: object) -> Event:
        return Event(f"x{self._digest(kind, data)[:40]}", kind, data)

    def _digest(self, kind: str, data: object) -> str:
        plain = json.dumps([self.salt, self.one.document, kind, data], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _points(config: Config, one: Object, name: str) -> bool:
    category = config.categories.get(one.category)
    entry = category.field(name) if category else None
    return entry is not None and entry.kind == "object"


def _fits(entry: Field, value: str) -> bool:
    right = 0 < len(value) <= LONGEST_TEXT and "\0" not in value
    return right and (entry.kind != "choice" or entry.choice(value) is not None)


def texts_of(documents: Iterable[Document]) -> Mapping[str, str]:
    """Texts by name, for the formats that come without them."""
    return {document.name: document.text for document in documents}
