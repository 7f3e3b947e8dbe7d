"""Captions in the layout of COCO: annotations (the captions of people) and results (those of a system), as JSON.

Annotations are an object with a list `annotations` of `{"image_id", "caption"}`, any number for each image, and perhaps
a list `images` of `{"id"}`. Results are a list of `{"image_id", "caption"}`, one for each image.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from basanite.formats.items import ID_LENGTH, Items
from basanite.formats.records import Place, digest_of, open_single
from basanite.formats.summaries.strict_json import parse
from basanite.problems import Findings, Problem

LARGEST: Final = 1 << 30
LONGEST: Final = 10_000
"""Characters of a caption: nobody writes a longer one, and aligning its words would take hours."""

_IMAGE_ID = re.compile(rb'(?<!\\)"image_id"\s*:')


@dataclass(frozen=True)
class _Document:
    """A JSON file that could be read: its value, and the lines of its entries where they are known."""

    file: str
    value: Any
    data: bytes
    digest: str
    place: Place

    def lines(self, entries: int) -> Sequence[int | None]:
        """The line of each entry: that of its `image_id`, if each has exactly one."""
        found = [match.start() for match in _IMAGE_ID.finditer(self.data)]
        if len(found) != entries:
            return [None] * entries
        return list(_line_numbers(self.data, found))

    def problem(self, line: int | None, message: str, fix: str, found: Any = "", **more: Any) -> Problem:
        """A problem of this file."""
        return self.place.problem(self.file, line, message, fix, found, **more)


@dataclass(frozen=True)
class _Entry:
    """One caption of one image."""

    image: str
    caption: str
    line: int | None


def read_annotations(path: Path, place: Place, findings: Findings) -> Items | None:
    """The captions of people: the content of each image is a tuple of texts, in the order of the file."""
    document = _read(path, place, findings)
    if document is None:
        return None
    listed = document.value.get("annotations") if isinstance(document.value, dict) else None
    if not isinstance(listed, list):
        message, fix = "there is no list of annotations", 'write {"annotations": [{"image_id": 1, "caption": "…"}, …]}'
        findings.add(document.problem(None, message, fix))
        return None
    captions: dict[str, list[_Entry]] = defaultdict(list)
    for entry in _entries(listed, document, findings):
        captions[entry.image].append(entry)
    _check_images(captions, document, findings)
    content = tuple(tuple(entry.caption for entry in entries) for entries in captions.values())
    return _items(document, tuple(captions), content, [entries[0].line for entries in captions.values()])


def read_results(path: Path, place: Place, findings: Findings) -> Items | None:
    """The captions of a system: one text for each image."""
    document = _read(path, place, findings)
    if document is None:
        return None
    if not isinstance(document.value, list):
        fix = 'write [{"image_id": 1, "caption": "…"}, …]'
        findings.add(document.problem(None, "this is no list of results", fix))
        return None
    kept: dict[str, _Entry] = {}
    refused: list[str | None] = []
    for entry in _entries(document.value, document, findings, refused):
        if entry.image in kept:
            message = f"image {entry.image!r} has two captions"
            findings.add(document.problem(entry.line, message, "keep one for each image", entry.image))
        kept.setdefault(entry.image, entry)
    content = tuple(entry.caption for entry in kept.values())
    items = _items(document, tuple(kept), content, [entry.line for entry in kept.values()])
    return replace(items, refused=frozenset(filter(None, refused)), lost=refused.count(None))


def _items(document: _Document, ids: tuple[str, ...], content: tuple[Any, ...], lines: Sequence[int | None]) -> Items:
    places = [line or 1 for line in lines]
    return Items(document.file, ids, content, places, document.digest)


def _read(path: Path, place: Place, findings: Findings) -> _Document | None:
    file = open_single(path, place, findings)
    if file is None:
        return None
    data = file.data
    parsed = parse(data.removeprefix(b"\xef\xbb\xbf"), limit=LARGEST, rule=place.rule)
    if not parsed.fault:
        return _Document(path.name, parsed.value, data, digest_of([(path.name, file.raw)]), place)
    fix = "write one JSON value in UTF-8, as COCO does"
    findings.add(
        Problem(parsed.rule, path.name, parsed.line, None, parsed.fault, fix, column=parsed.column, where=place.where)
    )
    return None


def _entries(
    listed: Sequence[Any], document: _Document, findings: Findings, refused: list[str | None] | None = None
) -> Iterator[_Entry]:
    """The captions of a list; what is none is reported with its number and, if possible, its line, and `refused`
    gets the image that it was for, or None."""
    lost = [] if refused is None else refused
    for number, (entry, line) in enumerate(zip(listed, document.lines(len(listed)), strict=True), start=1):
        if not isinstance(entry, dict):
            message, fix = f"entry {number} is no object", 'write {"image_id": 1, "caption": "…"}'
            findings.add(document.problem(line, message, fix, entry))
            lost.append(None)
            continue
        image, caption = image_name(entry.get("image_id")), entry.get("caption")
        if image is None:
            fix = f"write a whole number or a text of 1 to {ID_LENGTH} characters"
            findings.add(document.problem(line, f"entry {number} has no image_id", fix, entry.get("image_id", "")))
            lost.append(None)
        elif not isinstance(caption, str) or len(caption) > LONGEST:
            what = "a caption that is too long" if isinstance(caption, str) else "no caption"
            fix = f'write "caption": "…" with at most {LONGEST} characters'
            findings.add(document.problem(line, f"entry {number} has {what}", fix, caption if caption else ""))
            lost.append(image)
        else:
            yield _Entry(image, caption, line)


def image_name(found: Any) -> str | None:
    """The name of an image: a text, or the digits of a whole number; None if it is neither.

    >>> image_name(42), image_name("a.jpg"), image_name(True), image_name("")
    ('42', 'a.jpg', None, None)
    """
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 10**18:
        return str(found)
    return found if isinstance(found, str) and 0 < len(found) <= ID_LENGTH else None


def _check_images(captions: Mapping[str, Sequence[_Entry]], document: _Document, findings: Findings) -> None:
    """If the file lists its images: each is one, has a caption, and no other image has any."""
    listed = document.value.get("images")
    if listed is None:
        return
    if not isinstance(listed, list):
        findings.add(document.problem(None, "images is no list", 'write "images": [{"id": 1}, …], or leave it out'))
        return
    names = {image_name(image.get("id")) if isinstance(image, dict) else None for image in listed}
    if None in names:
        findings.add(document.problem(None, "an image in the list of images has no id", 'write {"id": 1} for each'))
        names.discard(None)
    for name, entries in captions.items():
        if name not in names:
            message, fix = f"image {name!r} is not in the list of images", "list it, or leave its captions out"
            findings.add(document.problem(entries[0].line, message, fix, name))
    for name in sorted(name for name in names if name is not None and name not in captions):
        message = f"image {name!r} has no caption, so it is left out"
        findings.add(document.problem(None, message, "write at least one caption for it", name, severity="warn"))


def _line_numbers(data: bytes, places: Sequence[int]) -> Iterator[int]:
    """The lines of rising places, counted from 1."""
    line, before = 1, 0
    for place in places:
        line += data.count(b"\n", before, place)
        before = place
        yield line
