"""A whole project of another tool: its texts, what can be marked in them, and what was marked so far (R-40).

Positions follow the text into the one form that they are counted in here. A CoNLL file without marks between documents
is cut into texts of some sentences, so that nobody has to annotate a corpus in one piece.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from basanite.errors import UnreadableError
from basanite.formats.bounded import read_bounded
from basanite.problems import Findings
from basanite.reading.package.documents import LARGEST as LARGEST_TEXT
from basanite.work.annotation.events import Mention, Object
from basanite.work.annotation.labels import LabelSet
from basanite.work.annotation.source_texts import Names, SourceText, plain_text, read_texts
from basanite.work.exchange.conll import START
from basanite.work.exchange.formats import format_named
from basanite.work.exchange.label_schemas import (
    BRAT_FILE,
    as_configured,
    read_brat_schema,
    read_label_studio_schema,
    used_labels,
)
from basanite.work.exchange.model import LARGEST, Annotated, Place

PLAIN: Final = "texts"
SOURCES: Final = ("brat", "label-studio", "conll", PLAIN)
TAGGED: Final = frozenset({".conll", ".bio", ".iob", ".iob2", ".bioes"})
SENTENCES: Final = 20
"""Sentences of a text that is cut out of a long file."""
LONG: Final = 100


@dataclass(frozen=True)
class Project:
    """What was found: annotations have the names that a configuration of the labels has."""

    format: str
    texts: tuple[SourceText, ...]
    labels: LabelSet
    annotated: tuple[Annotated, ...] = ()


def read_project(
    path: Path, findings: Findings, *, format_: str = "", column: str = "", schema: Path | None = None
) -> Project:
    """The project in a file or folder; without a format, the content tells which it is."""
    kind = format_ or source_kind(path)
    if kind == PLAIN:
        return Project(kind, tuple(read_texts(path, findings, column=column)), _schema(path, kind, schema, findings))
    found = _read(path, kind, findings)
    names, texts = Names(), dict[str, SourceText]()
    annotated = []
    for one in found:
        moved = _move_to_plain_text(one, findings)
        text = texts.get(one.document)
        if text is None:
            text = texts[one.document] = SourceText(names.take(one.document), moved.text)
        if text.text != moved.text:
            place = Place(one.document[:100], findings)
            place.fault(None, "two annotators have different texts of this name", "give each text a name of its own")
            continue
        annotated.append(replace(moved, document=text.name))
    if kind == "brat" and path.is_dir():
        texts |= {f"\0{one.name}": one for one in _without_marks(path, texts, names, findings)}
    labels = _schema(path, kind, schema, findings).joined(used_labels(annotated))
    whole = tuple(as_configured(one, labels) for one in annotated)
    return Project(kind, tuple(texts.values()), labels, whole)


def source_kind(path: Path) -> str:
    """What a file or folder is: a project of another tool, or texts."""
    if path.is_dir():
        marked = (path / BRAT_FILE).is_file() or next(path.rglob("*.ann"), None) is not None
        return "brat" if marked else PLAIN
    if path.suffix.lower() in TAGGED:
        return "conll"
    if path.suffix.lower() == ".json" and path.is_file():
        try:
            read = json.loads(read_bounded(path, LARGEST))
        except (ValueError, UnreadableError, RecursionError):
            return PLAIN
        first = read[0] if isinstance(read, list) and read else read
        return "label-studio" if isinstance(first, dict) and isinstance(first.get("data"), dict) else PLAIN
    return PLAIN


def _schema(path: Path, kind: str, schema: Path | None, findings: Findings) -> LabelSet:
    if schema is not None:
        data = read_bounded(schema, LARGEST)
        if data.lstrip()[:1] == b"<":
            return read_label_studio_schema(data, Place(schema.name, findings))
        return read_brat_schema(schema.parent, Place(schema.name, findings))
    return read_brat_schema(path, Place(BRAT_FILE, findings)) if kind == "brat" and path.is_dir() else LabelSet()


def _read(path: Path, kind: str, findings: Findings) -> list[Annotated]:
    if kind == "brat" and path.is_dir() and next(path.rglob("*.ann"), None) is None:
        return []
    if kind != "conll":
        return format_named(kind).read(path, {}, findings)
    data = _cut(read_bounded(path, LARGEST))
    with tempfile.TemporaryDirectory(prefix="basanite-") as scratch:
        copy = Path(scratch) / path.name
        copy.write_bytes(data)
        return format_named(kind).read(copy, {}, findings)


def _cut(data: bytes) -> bytes:
    """A long file without marks between documents, with marks; any other as it is."""
    lines = data.splitlines()
    blank = [at for at, line in enumerate(lines) if not line.strip()]
    if len(blank) < LONG or any(line.startswith(START.encode()) for line in lines):
        return data
    for number, at in enumerate(blank[SENTENCES - 1 :: SENTENCES]):
        lines[at] = f"\n{START}\tpart-{number + 2:04d}\n".encode()
    return b"\n".join([f"{START}\tpart-0001\n".encode(), *lines])


def _move_to_plain_text(one: Annotated, findings: Findings) -> Annotated:
    """An annotation on the text in its plain form, each position where its words are now."""
    text = plain_text(one.text)
    if text == one.text:
        return one
    place = Place(one.document[:100], findings)
    return replace(one, text=text, objects=tuple(_moved_object(thing, one.text, text, place) for thing in one.objects))


def _moved_object(thing: Object, before: str, after: str, place: Place) -> Object:
    mentions = {}
    for slot, several in thing.mentions.items():
        kept = []
        for mention in several:
            parts = tuple(
                (len(plain_text(before[:start])), len(plain_text(before[:end]))) for start, end in mention.parts
            )
            if all(after[a:b] == plain_text(before[c:d]) for (a, b), (c, d) in zip(parts, mention.parts, strict=True)):
                kept.append(Mention(mention.id, parts))
            else:
                place.lost(None, "words that end inside a character", mention.words(before))
        mentions[slot] = tuple(kept)
    return replace(thing, mentions={slot: several for slot, several in mentions.items() if several})


def _without_marks(
    folder: Path, texts: dict[str, SourceText], names: Names, findings: Findings
) -> Iterator[SourceText]:
    """Texts of a brat project that have no file of marks yet."""
    for path in sorted(folder.rglob("*.txt")):
        if path.stem in texts or path.with_suffix(".ann").is_file() or path.is_symlink():
            continue
        try:
            text = plain_text(read_bounded(path, LARGEST_TEXT).decode("utf-8"))
        except (UnicodeDecodeError, UnreadableError) as error:
            Place(path.name, findings).fault(None, f"it cannot be read: {error}", "save it as UTF-8")
            continue
        if text.strip():
            yield SourceText(names.take(path.stem), text)


def count_marks(annotated: Sequence[Annotated]) -> int:
    """How many objects some annotations hold."""
    return sum(len(one.objects) for one in annotated)
