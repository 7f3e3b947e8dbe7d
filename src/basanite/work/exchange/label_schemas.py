"""Labels that projects of other tools declare: brat's `annotation.conf`, Label Studio's configuration (R-40).

Both say less and more than ours: what has no place here (drawing, colors, rules that join events) is left out. The
annotations of a project are read too, so that a label that is used but nowhere declared is not lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from xml.parsers import expat

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.work.annotation.config.model import VALUE
from basanite.work.annotation.events import Object
from basanite.work.annotation.labels import (
    LabelSet,
    Question,
    Relation,
    SpanLabel,
    attribute_words,
    labels_seen,
)
from basanite.work.exchange.model import Annotated, Link, Place

BRAT_FILE: Final = "annotation.conf"
LARGEST_SCHEMA: Final = 2**20
DEEPEST: Final = 50
_SECTION: Final = re.compile(r"\s*\[(\w+)\]\s*")
_ARGUMENT: Final = re.compile(r"([^\s,:]+?)[?*+]?(?:\{[^}]*\})?:([^\s,]+)")
_ENTITY: Final = "<ENTITY>"
_ANY: Final = frozenset({_ENTITY, "<ANY>"})


def read_brat_schema(folder: Path, place: Place) -> LabelSet:
    """The labels that `annotation.conf` declares; none if the folder has no such file."""
    path = folder / BRAT_FILE
    if not path.is_file() or path.is_symlink():
        return LabelSet()
    try:
        text = read_bounded(path, LARGEST_SCHEMA).decode("utf-8", "replace")
    except UnreadableError as error:
        Place(BRAT_FILE, place.findings).fault(None, str(error), "give the file of a brat project")
        return LabelSet()
    return _Brat(text).labels()


class _Brat:
    """The sections of one file: lines, with macros put in."""

    def __init__(self, text: str) -> None:
        self.macros: dict[str, str] = {}
        self.sections: dict[str, list[str]] = {}
        section = ""
        for line in text.splitlines():
            found = _SECTION.fullmatch(line)
            if found is not None:
                section = found[1].lower()
            elif line.strip() and not line.lstrip().startswith("#") and not re.fullmatch(r"\s*-+\s*", line):
                self._take(section, line.strip())

    def _take(self, section: str, line: str) -> None:
        macro = re.fullmatch(r"(<[^>]+>)\s*=\s*(.+)", line)
        if macro is not None:
            self.macros[macro[1]] = macro[2].strip()
        else:
            self.sections.setdefault(section, []).append(line)

    def labels(self) -> LabelSet:
        """Everything together."""
        entities = [self._name(line) for line in self.sections.get("entities", ()) if not line.startswith("!")]
        events = [self._name(line) for line in self.sections.get("events", ()) if not line.startswith("!")]
        spans = [SpanLabel(name) for name in dict.fromkeys((*entities, *events))]
        known = {one.name: one for one in spans}
        for line in self.sections.get("attributes", ()):
            name, ends = self._name(line).lstrip("!"), self._arguments(line)
            values = _alternatives(ends.get("Value", ""))
            for label in self._types(ends.get("Arg", ""), entities, events):
                asked = Question(name, values or (name,))
                known[label] = replace(known[label], attributes=(*known[label].attributes, asked))
        relations = LabelSet(relations=tuple(self._relations(entities, events)))
        return LabelSet(tuple(known.values())).joined(relations)

    def _relations(self, entities: Sequence[str], events: Sequence[str]) -> Iterator[Relation]:
        for line in self.sections.get("relations", ()):
            ends = [value for key, value in self._arguments(line).items() if not key.startswith("<")]
            if len(ends) >= 2:
                yield Relation(self._name(line), *(self._types(end, entities, events) for end in ends[:2]))
        for line in self.sections.get("events", ()):
            for role, types in self._arguments(line).items():
                targets = self._types(types, entities, events)
                if targets and not role.startswith("<"):
                    yield Relation(role, (self._name(line),), targets)

    def _name(self, line: str) -> str:
        return re.split(r"[\s|]", line, maxsplit=1)[0]

    def _arguments(self, line: str) -> dict[str, str]:
        for _ in range(5):
            line = re.sub(r"<[^>]+>", lambda match: self.macros.get(match[0], match[0]), line)
        return {match[1]: match[2] for match in _ARGUMENT.finditer(line.partition(self._name(line))[2])}

    def _types(self, text: str, entities: Sequence[str], events: Sequence[str]) -> tuple[str, ...]:
        """The labels that an argument takes; of those that are not declared, none."""
        found: dict[str, None] = {}
        for part in _alternatives(text):
            several = entities if part == _ENTITY else events if part == "<EVENT>" else [part]
            found |= dict.fromkeys([*entities, *events] if part == "<ANY>" else several)
        return tuple(name for name in found if name in {*entities, *events})


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split("|") if part)


REGIONS: Final = frozenset({"labels", "hypertextlabels"})
WRITTEN: Final = frozenset({"textarea", "number", "datetime", "rating"})


@dataclass
class _Element:
    """An element of a labeling configuration."""

    tag: str
    attributes: Mapping[str, str]
    values: list[str] = field(default_factory=list)


def read_label_studio_schema(data: bytes, place: Place) -> LabelSet:
    """The labels of a labeling configuration in XML; nothing outside of the file is ever looked at (X-8)."""
    found: list[_Element] = []
    open_ones: list[_Element] = []

    def begin(tag: str, attributes: Mapping[str, str]) -> None:
        if len(open_ones) > DEEPEST:
            raise ValueError("elements lie too deep in each other")
        value = attributes.get("value", attributes.get("alias", ""))
        if tag.lower() in ("label", "choice", "relation") and value:
            for one in reversed(open_ones):
                if one.tag in (*REGIONS, "choices", "relations"):
                    one.values.append(value)
                    break
        open_ones.append(_Element(tag.lower(), dict(attributes)))
        found.append(open_ones[-1])

    def refuse(*_: object) -> None:
        raise ValueError("it declares entities or a document type")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, lambda _: open_ones.pop()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        fix = "copy the labeling configuration from the project's settings"
        place.fault(getattr(error, "lineno", None), f"this is no labeling configuration: {error}", fix)
        return LabelSet()
    return _label_studio(found)


def _label_studio(found: Sequence[_Element]) -> LabelSet:
    names = dict.fromkeys(value for one in found if one.tag in REGIONS for value in one.values)
    spans = {name: SpanLabel(name) for name in names}
    questions = []
    for one in found:
        asked = _question(one)
        if asked is None:
            continue
        if one.attributes.get("perRegion", "").lower() != "true":
            questions.append(asked)
            continue
        wanted = {value.strip() for value in one.attributes.get("whenLabelValue", "").split(",") if value.strip()}
        for name in spans:
            if not wanted or name in wanted:
                spans[name] = replace(spans[name], attributes=(*spans[name].attributes, asked))
    relations = (Relation(value) for one in found if one.tag == "relations" for value in one.values)
    return LabelSet(tuple(spans.values()), tuple(questions), tuple(relations))


def _question(one: _Element) -> Question | None:
    name = one.attributes.get("name", "")
    if one.tag == "choices" and name and one.values:
        return Question(name, tuple(dict.fromkeys(one.values)), one.attributes.get("choice", "").lower() == "multiple")
    return Question(name) if one.tag in WRITTEN and name else None


def used_labels(annotated: Iterable[Annotated]) -> LabelSet:
    """The labels that annotations use, declared or not."""
    objects: list[Object] = []
    links: list[tuple[str, str, str]] = []
    for one in annotated:
        objects += one.objects
        for link in one.links:
            source, target = one.by_id.get(link.source), one.by_id.get(link.target)
            if source is not None and target is not None:
                links.append((link.kind, source.category, target.category))
    return labels_seen(objects, links)


def as_configured(one: Annotated, labels: LabelSet) -> Annotated:
    """Annotations under the names that a configuration of these labels has."""
    words = labels.words
    fields = {span.name: attribute_words(span.attributes) for span in labels.spans}
    return replace(
        one,
        objects=tuple(_rename_object(thing, words, fields) for thing in one.objects),
        links=tuple(Link(words.get(link.kind, link.kind), link.source, link.target) for link in one.links),
    )


def _rename_object(thing: Object, words: Mapping[str, str], fields: Mapping[str, Mapping[str, str]]) -> Object:
    own = fields.get(thing.category, {VALUE: VALUE})
    renamed = {own.get(name, name): value for name, value in thing.fields.items()}
    return replace(thing, category=words.get(thing.category, thing.category), fields=renamed)
