"""W3C Web Annotation as JSON-LD: every object is an annotation, its words are targets with two selectors (P-32).

Pieces of one mention are a `Composite`, several mentions a list, and an object without words has the text itself as its
target. Positions count code points, as the recommendation says; tools that count UTF-16 units are told by the quotation
beside them. The context is the recommendation's own and is never fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeGuard
from urllib.parse import quote, unquote

from basanite.formats.strict_json import parse
from basanite.reading.provenance import CONTEXT
from basanite.reading.terms import DOCUMENT, TS
from basanite.work.annotation.events import Mention, Object
from basanite.work.exchange.model import (
    LARGEST,
    MENTION,
    MOST_OBJECTS,
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
from basanite.work.exchange.offsets import Quoted, Text, way_of

ANNO: Final = "http://www.w3.org/ns/anno.jsonld"
OBJECT: Final = "urn:basanite:object:"
HEAD: Final = [ANNO, {"ts": TS}]


def write_web_annotation(annotated: Iterable[Annotated], losses: Losses) -> bytes:
    """One collection with all annotations of all texts."""
    items = [item for one in annotated for item in _items(one, losses)]
    page = {"type": "AnnotationPage", "items": items}
    whole = {"@context": HEAD, "type": "AnnotationCollection", "total": len(items), "first": page}
    return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


def _items(one: Annotated, losses: Losses) -> Iterator[dict[str, Any]]:
    for thing in in_order(one.objects):
        yield _annotation(one, thing)
    for link in one.links:
        source, target = (_name(one, id_) for id_ in (link.source, link.target))
        linked = {"motivation": "linking", "body": target, "target": source, "ts:relation": link.kind}
        yield {"type": "Annotation", **linked}
    if one.note:
        body = {"type": "TextualBody", "purpose": "commenting", "value": one.note}
        yield {"type": "Annotation", "motivation": "commenting", "body": body, "target": _source(one)}


def _annotation(one: Annotated, thing: Object) -> dict[str, Any]:
    bodies = [{"type": "TextualBody", "purpose": "tagging", "value": thing.category}]
    bodies += [
        {"type": "TextualBody", "purpose": "describing", "value": value, "ts:field": key}
        for key, value in sorted(thing.fields.items())
    ]
    if thing.note:
        bodies.append({"type": "TextualBody", "purpose": "commenting", "value": thing.note})
    targets = [_target(one, slot, mention) for slot, mention in mentions_of(thing)]
    made: dict[str, Any] = {"id": _name(one, thing.id), "type": "Annotation", "motivation": "tagging", "body": bodies}
    made["target"] = targets or _source(one)
    if thing.parent:
        made["ts:in"] = _name(one, thing.parent)
    if thing.inferred:
        made["ts:inferred"] = True
    if one.annotator:
        made["creator"] = {"type": "Person", "nickname": one.annotator}
    return made


def _name(one: Annotated, id_: str) -> str:
    who = f"{quote(one.annotator, safe='')}:" if one.annotator else ""
    return f"{OBJECT}{who}{quote(one.document, safe='')}:{quote(id_, safe='')}"


def _source(one: Annotated) -> str:
    return DOCUMENT + quote(one.document, safe="")


def _target(one: Annotated, slot: str, mention: Mention) -> dict[str, Any]:
    pieces = [_piece(one, start, end) for start, end in mention.parts]
    target = pieces[0] if len(pieces) == 1 else {"type": "Composite", "items": pieces}
    return target if slot == MENTION else {**target, "ts:slot": slot}


def _piece(one: Annotated, start: int, end: int) -> dict[str, Any]:
    text = one.text
    quotation = {"type": "TextQuoteSelector", "exact": text[start:end]}
    quotation |= {"prefix": text[max(start - CONTEXT, 0) : start], "suffix": text[end : end + CONTEXT]}
    position = {"type": "TextPositionSelector", "start": start, "end": end}
    return {"source": _source(one), "selector": [position, quotation]}


def read_web_annotation(data: bytes, place: Place, *, texts: Mapping[str, str]) -> list[Annotated]:
    """The annotations of the given texts; those of other texts are not kept."""
    parsed = parse(data, limit=LARGEST, rule=RULE)
    if parsed.fault:
        place.fault(parsed.line, parsed.fault, "give JSON-LD of the Web Annotation model")
        return []
    items = _annotation_items(parsed.value)
    if not items or len(items) > MOST_OBJECTS * 10:
        place.fault(None, "no annotations, or too many", "give an Annotation, a list, or a collection of them")
        return []
    groups: dict[tuple[str, str], _Reader] = {}
    for item in items:
        creator = item.get("creator")
        name = creator.get("nickname", creator.get("id", "")) if isinstance(creator, Mapping) else creator
        source, who = _about(item), str(name or "")[:200]
        if source in texts:
            groups.setdefault((source, who), _Reader(source, Text(texts[source]), place, who)).take(item)
        elif item.get("motivation") != "linking":
            place.lost(None, "annotations of texts that are not here", source)
    if not groups:
        place.fault(None, "no annotation is about a text that is here", "give the texts that were annotated")
    made = {key: reader.annotation() for key, reader in groups.items()}
    return [_with_links(one, items) for one in made.values()]


def _annotation_items(value: Any) -> list[Mapping[str, Any]]:
    """All annotations, wherever they lie: alone, in a list, in a page, in a collection."""
    if isinstance(value, Mapping):
        for key in ("first", "items", "@graph"):
            if key in value:
                return _annotation_items(value[key])
        return [value]
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _about(item: Mapping[str, Any]) -> str:
    """The name of the text that an annotation is about."""
    target = item.get("target")
    first = target[0] if isinstance(target, list) and target else target
    while isinstance(first, Mapping) and isinstance(first.get("items"), list) and first["items"]:
        first = first["items"][0]
    source = first.get("source") if isinstance(first, Mapping) else first
    source = source.get("id") if isinstance(source, Mapping) else source
    return unquote(str(source).removeprefix(DOCUMENT).rpartition("/")[2]).removesuffix(".txt")


def _with_links(one: Annotated, items: Iterable[Mapping[str, Any]]) -> Annotated:
    known = {_name(one, id_): id_ for id_ in one.by_id}
    links = tuple(
        Link(str(item.get("ts:relation", "linking")), known[str(item["target"])], known[str(item["body"])])
        for item in items
        if item.get("motivation") == "linking" and {str(item.get("target")), str(item.get("body"))} <= known.keys()
    )
    return Annotated(one.document, one.text, one.objects, links, one.annotator, one.note)


class _Reader:
    """The annotations of one text by one maker."""

    def __init__(self, name: str, text: Text, place: Place, who: str) -> None:
        self.name, self.text, self.place, self.who = name, text, place, who
        self.items: list[tuple[str, Mapping[str, Any]]] = []
        self.note = ""

    def take(self, item: Mapping[str, Any]) -> None:
        """Keep one annotation until all are there."""
        tags = [body for body in _bodies(item) if body.get("purpose", "tagging") == "tagging"]
        if not tags and item.get("motivation") == "commenting":
            self.note = "\n".join(str(body.get("value", "")) for body in _bodies(item))
        elif not tags:
            self.place.lost(None, f"{self.name}: an annotation without a tag", str(item.get("id", "")))
        else:
            own = str(item.get("id") or f"w{len(self.items) + 1}")
            self.items.append((unquote(own.rpartition(":")[2]), item))

    def annotation(self) -> Annotated:
        """All of them together."""
        quoted = [piece for _, item in self.items for _, several in self._mentions(item) for piece in several]
        way = way_of(self.text, quoted, "code-points")
        objects = in_order(self._object(id_, item, way) for id_, item in self.items[:MOST_OBJECTS])
        return Annotated(self.name, self.text.plain, objects, annotator=self.who, note=self.note)

    def _object(self, id_: str, item: Mapping[str, Any], way: str) -> Object:
        bodies = _bodies(item)
        tags = [str(body.get("value")) for body in bodies if body.get("purpose", "tagging") == "tagging"]
        fields = {str(body["ts:field"]): str(body.get("value", "")) for body in bodies if "ts:field" in body}
        notes = [str(body.get("value", "")) for body in bodies if body.get("purpose") == "commenting"]
        pairs = [
            (slot, Mention(f"{id_}-{at}", parts))
            for at, (slot, several) in enumerate(self._mentions(item))
            for parts in self._parts(id_, several, way)
        ]
        if tags[1:]:
            self.place.lost(None, f"{self.name}: a second tag", tags[1])
        parent = unquote(str(item.get("ts:in", "")).rpartition(":")[2])
        inferred = item.get("ts:inferred") is True
        return Object(id_, tags[0], parent, fields, by_slot(pairs), inferred, "\n".join(notes))

    def _mentions(self, item: Mapping[str, Any]) -> Iterator[tuple[str, list[Quoted]]]:
        target = item.get("target")
        for one in target if isinstance(target, list) else [target]:
            if isinstance(one, Mapping):
                pieces = one.get("items") if isinstance(one.get("items"), list) else [one]
                quoted = [found for piece in pieces or [] for found in self._quotations(piece)]
                if quoted:
                    yield str(one.get("ts:slot", MENTION)), quoted

    def _quotations(self, piece: object) -> Iterator[Quoted]:
        selector = piece.get("selector") if isinstance(piece, Mapping) else None
        several = [one for one in (selector if isinstance(selector, list) else [selector]) if isinstance(one, Mapping)]
        position = next((one for one in several if one.get("type") == "TextPositionSelector"), {})
        quotation = next((one for one in several if one.get("type") == "TextQuoteSelector"), {})
        start, end = (position.get(name) for name in ("start", "end"))
        words, before, after = (_text(quotation.get(name)) for name in ("exact", "prefix", "suffix"))
        if _whole(start) and _whole(end):
            yield Quoted(((start, end),), words or None)
        elif found := self.text.look_for(words, before, after) or self.text.look_for(words):
            yield found
        elif several:
            self.place.lost(None, f"{self.name}: words that are not in the text", words)

    def _parts(self, id_: str, several: list[Quoted], way: str) -> Iterator[tuple[tuple[int, int], ...]]:
        parts = tuple(part for piece in several for part in self.text.parts(piece, way))
        wrong = next((one for one in several if one.words is not None and not self.text.says(one, way)), None)
        if wrong is not None or not check_parts(merge_parts(parts), len(self.text.plain)):
            fix = "check its selectors"
            self.place.fault(None, f"{self.name}: the words of {id_} are not there", fix, repr(wrong))
            return
        yield merge_parts(parts)


def _bodies(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    body = item.get("body", [])
    several = body if isinstance(body, list) else [body]
    plain = [{"value": one} if isinstance(one, str) else one for one in several]
    return [one for one in plain if isinstance(one, Mapping) and "value" in one]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
