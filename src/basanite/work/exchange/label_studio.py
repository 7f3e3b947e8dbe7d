"""Label Studio's JSON: tasks with annotations, each a list of results (P-32).

A mention is a region of type `labels`; further mentions of an object, and further pieces of one mention, are regions of
their own with the relations `same` and `part`. An object without words is a choice without a region. Label Studio
counts UTF-16 units, so we write those; files that count code points (many converters do) are told by the quoted words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from basanite.formats.strict_json import parse
from basanite.work.annotation.config.model import VALUE
from basanite.work.annotation.events import Mention, Object
from basanite.work.exchange.model import (
    LARGEST,
    MENTION,
    MOST_OBJECTS,
    MOST_TEXTS,
    RULE,
    Annotated,
    Link,
    Losses,
    Place,
    by_slot,
    check_parts,
    in_order,
    mentions_of,
    merge_parts,
)
from basanite.work.exchange.offsets import Offsets, Quoted, Text, way_of

TO: Final = "text"
LABEL: Final = "label"
OBJECT: Final = "object"
NOTE: Final = "note"
INFERRED: Final = "inferred"
PART, SAME, SLOT = "part", "same", "slot:"
REGIONS: Final = frozenset({"labels", "hypertextlabels"})
SAID: Final = frozenset({"textarea", "choices", "number", "rating", "datetime"})


def write_label_studio(annotated: Iterable[Annotated], losses: Losses) -> bytes:
    """The tasks of all texts; several annotators of one text become its annotations."""
    tasks: dict[str, dict[str, Any]] = {}
    for one in annotated:
        data = {TO: one.text, "name": one.document}
        task = tasks.setdefault(one.document, {"id": len(tasks) + 1, "data": data, "annotations": []})
        results = list(_Writer(one, losses).results())
        number = len(task["annotations"]) + 1
        task["annotations"].append({"id": task["id"] * 1000 + number, "completed_by": number, "result": results})
    return (json.dumps(list(tasks.values()), ensure_ascii=False, indent=1) + "\n").encode()


class _Writer:
    """One annotation on its way out."""

    def __init__(self, one: Annotated, losses: Losses) -> None:
        self.one, self.losses = one, losses
        self.offsets = Offsets.of(one.text)

    def results(self) -> Iterator[dict[str, Any]]:
        """All results: regions, what is said of them, and relations."""
        for thing in in_order(self.one.objects):
            yield from self._object(thing)
        for link in self.one.links:
            yield _relation(link.source, link.target, link.kind)
        if self.one.note:
            self.losses.add("notes on whole texts", self.one.note)

    def _object(self, thing: Object) -> Iterator[dict[str, Any]]:
        pairs = mentions_of(thing)
        first: dict[str, Any] = {}
        for number, (slot, mention) in enumerate(pairs):
            for at, part in enumerate(mention.parts):
                id_ = thing.id if number == at == 0 else f"{thing.id}~{number}.{at}"
                region = self._region(id_, thing, part)
                first = first or region["value"]
                yield region
                if id_ != thing.id and at == 0:
                    yield _relation(id_, thing.id, SAME if slot == MENTION else SLOT + slot)
                elif at:
                    yield _relation(id_, thing.id if number == 0 else f"{thing.id}~{number}.0", PART)
        if pairs and pairs[0][0] != MENTION:
            yield self._text_result(thing, "slot", pairs[0][0], first)
        if not pairs:
            yield {**self._head(thing.id, OBJECT, "choices", thing), "value": {"choices": [thing.category]}}
        yield from self._values(thing, first)

    def _values(self, thing: Object, place: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for key, value in sorted(thing.fields.items()):
            yield self._text_result(thing, f"field:{key}", value, place)
        if thing.inferred:
            yield self._text_result(thing, INFERRED, "true", place)
        if thing.note:
            yield self._text_result(thing, NOTE, thing.note, place)

    def _head(self, id_: str, name: str, kind: str, thing: Object) -> dict[str, Any]:
        head: dict[str, Any] = {"id": id_, "from_name": name, "to_name": TO, "type": kind, "origin": "manual"}
        return {**head, "parentID": thing.parent} if thing.parent else head

    def _region(self, id_: str, thing: Object, part: tuple[int, int]) -> dict[str, Any]:
        start, end = (self.offsets.to_utf16(place) for place in part)
        value = {"start": start, "end": end, "text": self.one.text[slice(*part)], "labels": [thing.category]}
        return {**self._head(id_, LABEL, "labels", thing), "value": value}

    def _text_result(self, thing: Object, name: str, value: str, place: Mapping[str, Any]) -> dict[str, Any]:
        where = {key: place[key] for key in ("start", "end") if key in place}
        return {**self._head(thing.id, name, "textarea", thing), "value": {**where, "text": [value]}}


def _relation(source: str, target: str, kind: str) -> dict[str, Any]:
    return {"type": "relation", "from_id": source, "to_id": target, "direction": "right", "labels": [kind]}


@dataclass
class _Region:
    """A region, or an object without one, while it is read."""

    category: str
    quoted: Quoted | None
    parent: str = ""
    said: dict[str, str] = field(default_factory=dict)


def read_label_studio(data: bytes, place: Place, *, text_key: str = TO) -> list[Annotated]:
    """All annotations of all tasks; who made them becomes a number (P-21)."""
    parsed = parse(data, limit=LARGEST, rule=RULE)
    tasks = parsed.value if isinstance(parsed.value, list) else [parsed.value]
    if parsed.fault or not all(isinstance(task, dict) for task in tasks):
        place.fault(parsed.line, parsed.fault or "no list of tasks", "export as JSON from Label Studio")
        return []
    if len(tasks) > MOST_TEXTS:
        place.fault(None, f"more than {MOST_TEXTS} tasks", "split the file")
        return []
    who: dict[str, str] = {}
    return [one for at, task in enumerate(tasks, start=1) for one in _task(task, at, place, text_key, who)]


def _task(
    task: Mapping[str, Any], number: int, place: Place, text_key: str, who: dict[str, str]
) -> Iterator[Annotated]:
    data = task.get("data")
    text = data.get(text_key) if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(text, str):
        place.fault(None, f"task {number} has no text under data.{text_key}", "name the key of the text", repr(data))
        return
    name = str(data.get("name") or f"task-{task.get('id', number)}")
    for other in ("predictions", "drafts", "comments"):
        if task.get(other):
            place.lost(None, f"{other} of task {number}")
    annotations = task.get("annotations", task.get("completions", []))
    for one in annotations if isinstance(annotations, list) else []:
        if isinstance(one, Mapping) and not one.get("was_cancelled"):
            maker = json.dumps(one.get("completed_by", ""), sort_keys=True)[:200]
            annotator = who.setdefault(maker, f"annotator-{len(who) + 1}")
            yield _Reader(Text(text), name, place).annotation(one.get("result"), annotator)


class _Reader:
    """One annotation on its way in."""

    def __init__(self, text: Text, name: str, place: Place) -> None:
        self.text, self.name, self.place = text, name, place
        self.regions: dict[str, _Region] = {}
        self.relations: list[Link] = []
        self.unknown: Counter[str] = Counter()

    def annotation(self, results: object, annotator: str) -> Annotated:
        """All results of one annotation."""
        listed = [one for one in results if isinstance(one, Mapping)] if isinstance(results, Sequence) else []
        for one in sorted(listed[:MOST_OBJECTS], key=lambda one: one.get("type") not in REGIONS):
            self._take(one)
        if len(listed) > MOST_OBJECTS:
            self.place.fault(None, f"{self.name}: more than {MOST_OBJECTS} results", "split the text")
        for kind, times in self.unknown.items():
            self.place.lost(None, f"{self.name}: {times} results of type {kind}")
        objects, links = self._objects()
        return Annotated(self.name, self.text.plain, in_order(objects), links, annotator)

    def _take(self, result: Mapping[str, Any]) -> None:
        kind, value = str(result.get("type", "")), result.get("value")
        if kind == "relation":
            labels = result.get("labels")
            label = str(labels[0]) if isinstance(labels, list) and labels else ""
            self.relations.append(Link(label, str(result.get("from_id")), str(result.get("to_id"))))
        elif not isinstance(value, Mapping):
            self.unknown[kind[:40] or "none"] += 1
        elif kind in REGIONS:
            self._region(result, value)
        elif kind in SAID:
            self._take_text(result, kind, value)
        else:
            self.unknown[kind[:40] or "none"] += 1

    def _region(self, result: Mapping[str, Any], value: Mapping[str, Any]) -> None:
        labels = value.get("labels", value.get("hypertextlabels"))
        start, end = self._places(value)
        if not isinstance(labels, list) or not labels or start is None or end is None:
            self.place.fault(None, f"{self.name}: a region without label or position", "export it again", repr(value))
            return
        words = value.get("text") if isinstance(value.get("text"), str) else None
        parent, id_ = str(result.get("parentID") or ""), str(result.get("id", len(self.regions)))
        self.regions[id_] = _Region(str(labels[0]), Quoted(((start, end),), words), parent)
        for label in labels[1:]:
            self.regions[f"{id_}+{label}"] = _Region(str(label), Quoted(((start, end),), words), parent)

    def _places(self, value: Mapping[str, Any]) -> tuple[int | None, int | None]:
        whole = value.get("globalOffsets")
        source = whole if isinstance(whole, Mapping) else value
        places = [source.get(name) for name in ("start", "end")]
        start, end = (one if isinstance(one, int) and not isinstance(one, bool) else None for one in places)
        return start, end

    def _take_text(self, result: Mapping[str, Any], kind: str, value: Mapping[str, Any]) -> None:
        id_, name = str(result.get("id", "")), str(result.get("from_name", ""))
        given = value.get("text" if kind == "textarea" else kind, "")
        words = [str(one) for one in (given if isinstance(given, list) else [given])]
        if name == OBJECT and kind == "choices":
            self.regions[id_] = _Region(words[0] if words else "", None, str(result.get("parentID") or ""))
        elif id_ in self.regions:
            self.regions[id_].said[name.removeprefix("field:")] = ", ".join(words)
        elif self.regions.get(f"{name}/0") is None:  # of the whole text: an object without words for each answer
            for at, word in enumerate(words):
                self.regions[f"{name}/{at}"] = _Region(name, None, said={VALUE: word})

    def _objects(self) -> tuple[list[Object], tuple[Link, ...]]:
        quoted = [region.quoted for region in self.regions.values() if region.quoted]
        way = way_of(self.text, quoted, "utf-16")
        belongs = {link.source: link for link in self.relations if link.kind in (PART, SAME) or link.kind[:5] == SLOT}
        owners = {id_: self._owner(id_, belongs) for id_ in self.regions}
        mentions: dict[str, dict[str, tuple[str, list[tuple[int, int]]]]] = {}
        for id_, region in self.regions.items():
            slot, head = self._head(id_, belongs)
            for part in self._part(id_, region, way):
                mentions.setdefault(owners[id_], {}).setdefault(head, (slot, []))[1].append(part)
        objects = [self._object(id_, mentions.get(id_, {})) for id_, owner in owners.items() if id_ == owner]
        links = (link for link in self.relations if link.source not in belongs or belongs[link.source] is not link)
        known = {one.id for one in objects}
        return objects, tuple(link for link in links if {link.source, link.target} <= known)

    def _owner(self, id_: str, belongs: Mapping[str, Link]) -> str:
        seen: set[str] = set()
        while id_ in belongs and id_ not in seen and belongs[id_].target in self.regions:
            seen.add(id_)
            id_ = belongs[id_].target
        return id_

    def _head(self, id_: str, belongs: Mapping[str, Link]) -> tuple[str, str]:
        """The slot and the first region of the mention that a region is a piece of."""
        link = belongs.get(id_)
        if link is not None and link.kind == PART and link.target in self.regions and link.target != id_:
            again = belongs.get(link.target)
            return (again.kind.removeprefix(SLOT) if again and again.kind[:5] == SLOT else MENTION), link.target
        return (link.kind.removeprefix(SLOT) if link and link.kind[:5] == SLOT else MENTION), id_

    def _part(self, id_: str, region: _Region, way: str) -> Iterator[tuple[int, int]]:
        if region.quoted is None:
            return
        parts = self.text.parts(region.quoted, way)
        right = check_parts(parts, len(self.text.plain))
        if not right or (region.quoted.words is not None and not self.text.says(region.quoted, way)):
            fix = "check its start and end"
            self.place.fault(None, f"{self.name}: the words of {id_} are not there", fix, repr(region.quoted))
            return
        yield from parts

    def _object(self, id_: str, mentions: Mapping[str, tuple[str, list[tuple[int, int]]]]) -> Object:
        region = self.regions[id_]
        said = dict(region.said)
        own = said.pop("slot", MENTION)
        pairs = [
            (own if head == id_ and slot == MENTION else slot, Mention(head, merge_parts(parts)))
            for head, (slot, parts) in mentions.items()
        ]
        inferred, note = said.pop(INFERRED, "") == "true", said.pop(NOTE, "")
        return Object(id_, region.category, region.parent, said, by_slot(pairs), inferred, note)
