"""Fields of a category: what can be filled in, what is chosen, which words are marked, what is pointed to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from basanite.annotation.config.choices import read_choices
from basanite.annotation.config.files import Beside
from basanite.annotation.config.model import KINDS, MENTION, NAME, TEXT, VALUE, Field, Kind
from basanite.reading.strict_yaml import YamlMap, YamlText, YamlValue
from basanite.registry import suggestion

WORD: Final = re.compile(r"[^\W\d]\w{0,63}")
WRITTEN: Final = tuple(kind for kind in KINDS if kind not in ("choice", "object"))
"""Kinds that are written as a word; the others follow from `choices` and `object`."""
MENTIONS: Final = ("span", "optional", "none")
TAKEN: Final = frozenset({TEXT, "document", "n", "group"})
"""Names that variables and names of things use already."""
KEYS: Final = frozenset({"type", "choices", "object", "title", "needed", "key", "help"})
TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}


def read_fields(entry: YamlMap, beside: Beside) -> tuple[Field, ...]:
    """All fields of a category, in the order in which they are written."""
    found: dict[str, Field] = {}
    for field in _fields(entry, beside):
        if field.name in found:
            words = f"the field {field.name} stands twice"
            beside.faults.add(field.line, words, f"give each a name of its own; see line {found[field.name].line}")
        found.setdefault(field.name, field)
    return tuple(found.values())


def _fields(entry: YamlMap, beside: Beside) -> Iterator[Field]:
    for key, value in entry.entries.items():
        line = entry.lines[key]
        if key in (NAME, VALUE):
            yield from _field(key, value, line, beside)
        elif key == "choices":
            yield Field(VALUE, "choice", choices=read_choices(value, beside), line=line)
        elif key == MENTION:
            yield from _mention(value, line, beside)
        elif key in ("fields", "table"):
            yield from _inner(key, value, beside)


def _inner(key: str, value: YamlValue, beside: Beside) -> Iterator[Field]:
    if not isinstance(value, YamlMap):
        beside.faults.add(value.line, f"`{key}` is no mapping", f"write {key}: {{name: text, count: count}}")
        return
    for name, item in value.entries.items():
        if name == MENTION:
            yield from _mention(item, value.lines[name], beside)
        else:
            yield from _field(name, item, value.lines[name], beside)


def _mention(value: YamlValue, line: int, beside: Beside) -> Iterator[Field]:
    """The slot for the words of the object itself."""
    text = value.text if isinstance(value, YamlText) else ""
    if text not in MENTIONS:
        fix = "write span (words are needed), optional or none"
        beside.faults.add(line, f"mention: {text[:40]!r} is not known", fix, found=text)
    elif text != "none":
        yield Field(MENTION, "span", needed=text == "span", line=line)


def _field(name: str, value: YamlValue, line: int, beside: Beside) -> Iterator[Field]:
    faults = beside.faults
    if not WORD.fullmatch(name) or name in TAKEN or name == MENTION:
        faults.add(line, f"{name[:60]!r} is no name for a field", "use letters, digits and _; not text, document or n")
    elif isinstance(value, YamlText):
        yield Field(name, _kind(value.text, line, beside), line=line)
    elif isinstance(value, YamlMap):
        yield _long_field(name, value, beside)
    else:
        faults.add(line, f"the field {name} is a list", "write its type, or {choices: […]}")


def _long_field(name: str, entry: YamlMap, beside: Beside) -> Field:
    faults = beside.faults
    faults.unknown_keys(entry, KEYS)
    told = [key for key in ("type", "choices", "object") if key in entry.entries]
    if len(told) > 1:
        faults.add(entry.lines[told[1]], f"{name} has both {told[0]} and {told[1]}", "keep one of them")
    kind: Kind = _kind(faults.text(entry, "type"), entry.lines["type"], beside) if "type" in entry.entries else "text"
    of = faults.text(entry, "object")
    choices = read_choices(entry.entries["choices"], beside) if "choices" in entry.entries else ()
    return Field(
        name,
        "choice" if "choices" in entry.entries else "object" if of else kind,
        faults.text(entry, "title"),
        choices,
        of,
        truth(entry, "needed", beside),
        faults.text(entry, "key"),
        faults.text(entry, "help"),
        entry.line,
    )


def _kind(text: str, line: int, beside: Beside) -> Kind:
    if text not in WRITTEN:
        near = suggestion(text[:40], WRITTEN)
        beside.faults.add(line, f"{text[:40]!r} is no type of a field", near, found=text)
        return "text"
    return cast(Kind, text)


def truth(entry: YamlMap, key: str, beside: Beside) -> bool:
    """A truth value under a key; false where there is none."""
    value = entry.entries.get(key)
    if value is None:
        return False
    if isinstance(value, YamlText) and value.text.lower() in TRUTHS:
        return TRUTHS[value.text.lower()]
    beside.faults.add(entry.lines[key], f"`{key}` is neither true nor false", f"write {key}: true")
    return False
