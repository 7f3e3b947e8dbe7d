"""What travels between formats: a text, the objects marked in it, and a list of all that was left behind (P-32).

What the configuration has no place for (a category, a field, something that must lie in an object that is not there) is
left behind, and said. Ids of events follow from the content, so the same file imported twice changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from basanite.formats.foreign_files import KEEP_IT
from basanite.formats.foreign_files import RULE as RULE  # said in one way by all formats
from basanite.formats.foreign_files import Losses as Losses
from basanite.problems import Findings, Problem, shortened
from basanite.reading.package.documents import Document
from basanite.work.annotation.config import Category, Config, Field
from basanite.work.annotation.config.model import ENDS
from basanite.work.annotation.events import LONGEST_TEXT, Event, Mention, Object, State, is_parts, single_id

MENTION: Final = "mention"
LARGEST: Final = 64 * 2**20
"""Bytes of one file that is read."""
MOST_FILES: Final = 20_000
MOST_OBJECTS: Final = 20_000
MOST_TEXTS: Final = 20_000


@dataclass(frozen=True)
class Link:
    """One object points to another."""

    kind: str
    source: str
    target: str


@dataclass(frozen=True)
class Annotated:
    """A text with what one annotator marked in it."""

    document: str
    text: str
    objects: tuple[Object, ...] = ()
    links: tuple[Link, ...] = ()
    annotator: str = ""
    note: str = ""

    @cached_property
    def by_id(self) -> Mapping[str, Object]:
        """The objects by their ids."""
        return {one.id: one for one in self.objects}


@dataclass(frozen=True)
class Place:
    """Where the problems of one file go."""

    file: str
    findings: Findings

    def fault(self, line: int | None, message: str, fix: str, found: str = "") -> None:
        """Something cannot be read."""
        self.findings.add(Problem(RULE, self.file, line, None, message, fix, shortened(found), where="reference"))

    def lost(self, line: int | None, message: str, found: str = "") -> None:
        """Something can be read, but not kept."""
        self.findings.add(
            Problem(RULE, self.file, line, None, f"not kept: {message}", KEEP_IT, shortened(found), severity="warn")
        )


def in_order(objects: Iterable[Object]) -> tuple[Object, ...]:
    """Objects by where their words stand, parents before their parts."""
    several = {one.id: one for one in objects}
    depth = {id_: _depth(id_, several) for id_ in several}
    return tuple(sorted(several.values(), key=lambda one: (depth[one.id], first_place(one), one.category, one.id)))


def first_place(one: Object) -> tuple[int, int]:
    """Where an object's words begin and end; objects without words come first.

    >>> first_place(Object("a", "Team", mentions={"mention": (Mention("m", ((4, 8),)),)}))
    (4, 8)
    """
    parts = [part for several in one.mentions.values() for mention in several for part in mention.parts]
    return min(parts, default=(-1, -1))


def mentions_of(one: Object) -> list[tuple[str, Mention]]:
    """All words of an object with their slot, the own mention first."""
    slots = sorted(one.mentions, key=lambda slot: (slot != MENTION, slot))
    return [(slot, mention) for slot in slots for mention in one.mentions[slot]]


def by_slot(pairs: Iterable[tuple[str, Mention]]) -> Mapping[str, tuple[Mention, ...]]:
    """Words by slot."""
    found: dict[str, list[Mention]] = {}
    for slot, mention in pairs:
        found.setdefault(slot, []).append(mention)
    return {slot: tuple(several) for slot, several in found.items()}


def content_of(one: Annotated) -> tuple[object, ...]:
    """An annotation without the names of its objects, to tell whether two say the same."""
    paths = {thing.id: _path(thing, one) for thing in one.objects}
    links = sorted((link.kind, paths.get(link.source, ""), paths.get(link.target, "")) for link in one.links)
    return one.document, one.text, tuple(sorted(paths.values())), tuple(links), one.note


def check_parts(parts: Sequence[tuple[int, int]], length: int) -> bool:
    """Whether pieces lie in the text, in their order and apart."""
    places = [place for part in parts for place in part]
    rising = all(start < end for start, end in parts) and places == sorted(places)
    return bool(parts) and rising and places[0] >= 0 and places[-1] <= length


def merge_parts(parts: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Pieces in their order; such as touch or overlap become one.

    >>> merge_parts([(5, 9), (0, 3), (3, 4)])
    ((0, 4), (5, 9))
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def _depth(id_: str, several: Mapping[str, Object]) -> int:
    depth, seen = 0, {id_}
    while (parent := several[id_].parent) in several and parent not in seen:
        seen.add(parent)
        id_, depth = parent, depth + 1
    return depth


def _path(thing: Object, one: Annotated, deep: int = 0) -> str:
    parent = one.by_id.get(thing.parent) if deep < 20 else None
    mentions = sorted((slot, mention.parts) for slot, mention in mentions_of(thing))
    own = repr((thing.category, sorted(thing.fields.items()), mentions, thing.inferred, thing.note))
    return own if parent is None else f"{_path(parent, one, deep + 1)}/{own}"


def annotated_of(config: Config, document: Document, state: State, *, annotator: str = "") -> Annotated:
    """What somebody marked in a text; fields that point to objects become links."""
    links: list[Link] = []
    objects: list[Object] = []
    for one in state.objects.values():
        if config.categories[one.category].is_relation and set(one.fields) == set(ENDS):
            links.append(Link(one.category, *(one.fields[end] for end in ENDS)))
            continue
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
        self.pointers: set[tuple[str, str]] = set()
        """Fields that point to something already: each holds one object."""

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
        yield from self._content_events(thing, category, name)

    def _fresh(self, thing: Object) -> str:
        return f"o{len(self.taken) + 1}-{self._digest('object', thing.id)[:8]}"

    def _content_events(self, thing: Object, category: Category, name: str) -> Iterator[Event]:
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
        if source is None or target is None or not {link.source, link.target} <= self.names.keys():
            self.losses.add(f"the pointer {link.kind[:60]!r}", f"{link.source} to {link.target}")
            return
        ends = self.names[link.source], self.names[link.target]
        relation, category = self.config.categories.get(link.kind), self.config.categories.get(source.category)
        entry = category.field(link.kind) if category else None
        if entry is not None and target.category in entry.of and (ends[0], link.kind) not in self.pointers:
            self.pointers.add((ends[0], link.kind))
            yield self._event("set", object=ends[0], field=link.kind, value=ends[1])
        elif relation is not None and _joins(relation, source.category, target.category):
            name = f"r{len(self.pointers) + 1}-{self._digest('relation', [link.kind, *ends])[:8]}"
            self.pointers.add((name, link.kind))
            yield self._event("row.add", object=name, category=link.kind, parent="")
            for end, value in zip(ENDS, ends, strict=True):
                yield self._event("set", object=name, field=end, value=value)
        else:
            self.losses.add(f"the pointer {link.kind[:60]!r}", f"{link.source} to {link.target}")

    def _event(self, kind: str, **data: object) -> Event:
        return Event(f"x{self._digest(kind, data)[:40]}", kind, data)

    def _digest(self, kind: str, data: object) -> str:
        plain = json.dumps([self.salt, self.one.document, kind, data], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _joins(relation: Category, source: str, target: str) -> bool:
    return relation.is_relation and all(
        name in one.of for one, name in zip(relation.fields, (source, target), strict=True)
    )


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
