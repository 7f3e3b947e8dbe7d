"""Categories: what annotators can make, where it lies, how often, and the keys and colours that it goes by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from basanite.annotation.config.colours import checked_colour, given_colours
from basanite.annotation.config.fields import WORD, read_fields, truth
from basanite.annotation.config.files import Beside
from basanite.annotation.config.keys import Keys
from basanite.annotation.config.model import Category, Field
from basanite.reading.strict_yaml import YamlMap, YamlText
from basanite.registry import suggestion

MOST_CATEGORIES: Final = 500
KEYS: Final = frozenset(
    {
        *("title", "in", "frame", "repeat", "mention", "name", "value", "choices", "fields", "table", "inferred"),
        *("key", "colour", "help"),
    }
)
_REPEAT: Final = re.compile(r"(\d{1,5})?(\.\.)?(\d{1,5})?")


def read_categories(top: YamlMap, beside: Beside) -> dict[str, Category]:
    """All categories by name, each checked by itself and against the others."""
    faults, value = beside.faults, top.entries.get("categories")
    if not isinstance(value, YamlMap) or not 0 < len(value.entries) <= MOST_CATEGORIES:
        line = top.lines.get("categories", top.line)
        faults.add(line, "there are no categories", f"write categories: with 1 to {MOST_CATEGORIES} entries")
        return {}
    found: dict[str, Category] = {}
    for name, entry in value.entries.items():
        line = value.lines[name]
        if not WORD.fullmatch(name):
            faults.add(line, f"{name[:60]!r} is no name for a category", "use letters, digits and _", found=name)
        elif isinstance(entry, YamlMap):
            found[name] = _category(name, entry, line, beside)
        else:
            faults.add(entry.line, f"the category {name} is no mapping", f"write {name}: {{mention: span}}")
    _check_places(found, beside)
    return _with_keys(_with_colours(found), beside)


def _category(name: str, entry: YamlMap, line: int, beside: Beside) -> Category:
    faults = beside.faults
    faults.unknown_keys(entry, KEYS)
    parent, table = faults.text(entry, "in"), "table" in entry.entries
    frame = truth(entry, "frame", beside)
    least, most = (
        _repeat(entry, beside) if "repeat" in entry.entries else (0, 1 if _once(parent, frame, table) else None)
    )
    if frame and table:
        faults.add(entry.lines["table"], f"{name} is a frame and a table", "put the table into a category in the frame")
    colour = faults.text(entry, "colour")
    return Category(
        name,
        faults.text(entry, "title") or name,
        parent,
        frame,
        table,
        least,
        most,
        tuple(_titled(field) for field in read_fields(entry, beside)),
        truth(entry, "inferred", beside),
        faults.text(entry, "key"),
        checked_colour(colour, entry.lines["colour"], faults) if colour else "",
        faults.text(entry, "help"),
        line,
    )


def _titled(field: Field) -> Field:
    return field if field.title else replace(field, title=field.name)


def _once(parent: str, frame: bool, table: bool) -> bool:
    """Whether a category stands once where nothing is said: as a field in a frame does."""
    return bool(parent) and not frame and not table


def _repeat(entry: YamlMap, beside: Beside) -> tuple[int, int | None]:
    """How many there are: `2`, `1..`, `0..3`."""
    value = entry.entries["repeat"]
    text = value.text.strip() if isinstance(value, YamlText) else ""
    match = _REPEAT.fullmatch(text)
    if match is None or not text or text == "..":
        beside.faults.add(entry.lines["repeat"], f"repeat: {text[:40]!r}", 'write 2, "1..", or "0..3"', found=text)
        return 0, None
    least = int(match[1] or 0)
    most = int(match[3]) if match[3] else None if match[2] else least
    if most is not None and (most < least or most == 0):
        beside.faults.add(entry.lines["repeat"], f"repeat: {text} allows none", "let the second number be larger")
        return 0, None
    return least, most


def _check_places(found: Mapping[str, Category], beside: Beside) -> None:
    """Whether every category lies in a frame that there is, and none in itself."""
    for category in found.values():
        for message, fix in _place_faults(category, found):
            beside.faults.add(category.line, f"{category.name}: {message}", fix)
        for field in category.fields:
            if field.kind == "object" and field.of not in found:
                fix = suggestion(field.of, tuple(found))
                beside.faults.add(field.line, f"{category.name}.{field.name}: there is no category {field.of}", fix)


def _place_faults(category: Category, found: Mapping[str, Category]) -> Iterator[tuple[str, str]]:
    parent = found.get(category.parent)
    if category.parent and parent is None:
        yield f"there is no category {category.parent}", suggestion(category.parent, tuple(found))
    elif parent is not None and not parent.frame:
        yield f"{parent.name}, in which it lies, is no frame", f"write frame: true in {parent.name}"
    if not category.frame and not category.fields:
        yield "it has nothing to fill in", "write mention: span, value: text, choices: […] or a table"
    if category.name in _above(category, found):
        yield "it lies in itself", "take one `in` away"


def _above(category: Category, found: Mapping[str, Category]) -> list[str]:
    names, name = list[str](), category.parent
    while name in found and name not in names:
        names.append(name)
        name = found[name].parent
    return names


def _with_colours(found: Mapping[str, Category]) -> dict[str, Category]:
    colours = given_colours({name: category.colour for name, category in found.items()})
    return {name: replace(category, colour=colours[name]) for name, category in found.items()}


def _with_keys(found: Mapping[str, Category], beside: Beside) -> dict[str, Category]:
    """The same with the keys that nothing else has; those of categories and fields work everywhere on the page."""
    keys = Keys(beside.faults)
    return {
        name: replace(
            category,
            key=keys.take(category.key, name, category.line),
            fields=tuple(
                replace(field, key=keys.take(field.key, f"{name}.{field.name}", field.line))
                for field in category.fields
            ),
        )
        for name, category in found.items()
    }
