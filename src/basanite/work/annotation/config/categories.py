"""Categories: what annotators can make, its fields and choices, how often, and the keys and colours that it goes by."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

from basanite.problems import shortened
from basanite.reading.strict_yaml import YamlList, YamlMap, YamlText, YamlValue
from basanite.registry import suggestion
from basanite.reports.theme import DARK, LIGHT
from basanite.work.annotation.config.files import Beside, Warned
from basanite.work.annotation.config.model import KINDS, MENTION, NAME, TEXT, VALUE, Category, Choice, Field, Kind

MOST_CATEGORIES: Final = 500
KEYS: Final = frozenset(
    {
        *("title", "in", "frame", "repeat", "mention", "name", "value", "choices", "fields", "table", "inferred"),
        *("key", "colour", "help"),
    }
)
_REPEAT: Final = re.compile(r"(\d{1,5})?(\.\.)?(\d{1,5})?")
WORD: Final = re.compile(r"[^\W\d]\w{0,63}")
WRITTEN: Final = tuple(kind for kind in KINDS if kind not in ("choice", "object"))
"""Kinds that are written as a word; the others follow from `choices` and `object`."""
MENTIONS: Final = ("span", "optional", "none")
TAKEN: Final = frozenset({TEXT, "document", "n", "group"})
"""Names that variables and names of things use already."""
FIELD_KEYS: Final = frozenset({"type", "choices", "object", "title", "needed", "key", "help"})
TRUTHS: Final = {"true": True, "yes": True, "false": False, "no": False}
MOST_CHOICES: Final = 10_000
LONGEST: Final = 200
CHOICE_KEYS: Final = frozenset({"value", "title", "key"})
ENDINGS: Final = {".csv": ",", ".tsv": "\t"}
Placed = tuple[Choice, int | None]
PAGE_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "?": "shows all keys",
        "/": "searches the corpus",
        "[": "goes to the object before",
        "]": "goes to the next object",
        "*": "marks every occurrence",
        "+": "adds a piece to the words that are marked",
        "-": "takes away what is chosen",
        "=": "ticks inferred",
        " ": "presses the button in focus",
    }
)
"""What the page itself does at a key; the rest of the keys that are no letters or digits are kept for it as well."""
COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "amber": "series_1",
        "blue": "series_2",
        "red": "series_3",
        "green": "series_4",
        "violet": "series_5",
        "sky": "series_6",
        "wine": "series_7",
        "slate": "series_8",
    }
)
"""The colours that reports use for series; each has a light and a dark form."""
LEAST_CONTRAST: Final = 3.0
"""Of a mark against the page, as WCAG 2.2 asks of what is no text (1.4.11)."""
_HEX: Final = re.compile(r"#[0-9a-fA-F]{6}")


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
            faults.add(line, f"{name[:60]!r} is not a name for a category", "use letters, digits and _", found=name)
        elif isinstance(entry, YamlMap):
            found[name] = _category(name, entry, line, beside)
        else:
            faults.add(entry.line, f"the category {name} is not a mapping", f"write {name}: {{mention: span}}")
    _check_places(found, beside)
    colours = given_colours({name: category.colour for name, category in found.items()})
    return _with_keys({name: replace(category, colour=colours[name]) for name, category in found.items()}, beside)


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
        tuple(field if field.title else replace(field, title=field.name) for field in read_fields(entry, beside)),
        truth(entry, "inferred", beside),
        faults.text(entry, "key"),
        checked_colour(colour, entry.lines["colour"], faults) if colour else "",
        faults.text(entry, "help"),
        line,
    )


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
            for name in field.of:
                if name not in found:
                    fix = suggestion(name, tuple(found))
                    beside.faults.add(field.line, f"{category.name}.{field.name}: there is no category {name}", fix)


def _place_faults(category: Category, found: Mapping[str, Category]) -> Iterator[tuple[str, str]]:
    parent = found.get(category.parent)
    if category.parent and parent is None:
        yield f"there is no category {category.parent}", suggestion(category.parent, tuple(found))
    elif parent is not None and not parent.frame:
        yield f"{parent.name}, in which it lies, is not a frame", f"write frame: true in {parent.name}"
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


def read_fields(entry: YamlMap, beside: Beside) -> tuple[Field, ...]:
    """All fields of a category, in the order in which they are written."""
    found: dict[str, Field] = {}
    for field in _fields(entry, beside):
        if field.name in found:
            words = f"the field {field.name} appears twice"
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
        beside.faults.add(value.line, f"`{key}` is not a mapping", f"write {key}: {{name: text, count: count}}")
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
        faults.add(
            line, f"{name[:60]!r} is not a name for a field", "use letters, digits and _; not text, document or n"
        )
    elif isinstance(value, YamlText):
        yield Field(name, _kind(value.text, line, beside), line=line)
    elif isinstance(value, YamlMap):
        yield _long_field(name, value, beside)
    else:
        faults.add(line, f"the field {name} is a list", "write its type, or {choices: […]}")


def _long_field(name: str, entry: YamlMap, beside: Beside) -> Field:
    faults = beside.faults
    faults.unknown_keys(entry, FIELD_KEYS)
    told = [key for key in ("type", "choices", "object") if key in entry.entries]
    if len(told) > 1:
        faults.add(entry.lines[told[1]], f"{name} has both {told[0]} and {told[1]}", "keep one of them")
    kind: Kind = _kind(faults.text(entry, "type"), entry.lines["type"], beside) if "type" in entry.entries else "text"
    of = tuple(dict.fromkeys(one.text for one in faults.texts(entry, "object") if one.text.strip()))
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
        beside.faults.add(line, f"{text[:40]!r} is not a type of a field", near, found=text)
        return "text"
    return cast(Kind, text)


def truth(entry: YamlMap, key: str, beside: Beside) -> bool:
    """Whether a key says true; false where there is none."""
    value = entry.entries.get(key)
    if value is None:
        return False
    if isinstance(value, YamlText) and value.text.lower() in TRUTHS:
        return TRUTHS[value.text.lower()]
    beside.faults.add(entry.lines[key], f"`{key}` is neither true nor false", f"write {key}: true")
    return False


def read_choices(value: YamlValue, beside: Beside) -> tuple[Choice, ...]:
    """The choices of a field; problems say what is wrong with each."""
    faults = beside.faults
    if isinstance(value, YamlText):
        ending = next((ending for ending in ENDINGS if value.text.endswith(ending)), "")
        if not ending:
            fix = "write choices: [one, other], {k: value}, or the name of a .csv or .tsv file"
            faults.add(value.line, f"{value.text[:60]!r} is not a list of choices", fix, found=value.text)
            return ()
        text = beside.read(value.text, value.line)
        faults = beside.of(value.text)
        placed = list(_rows(text, ENDINGS[ending], faults)) if text is not None else []
    elif isinstance(value, YamlList):
        placed = [one for item in value.items for one in _choice(item, faults)]
    else:
        placed = [
            (replace(choice, key=key), value.lines[key])
            for key, item in value.entries.items()
            for choice, _ in _choice(item, faults)
        ]
    return _check_choices(placed, value, faults)


def _choice(item: YamlValue, faults: Warned) -> Iterator[Placed]:
    if isinstance(item, YamlText):
        yield Choice(item.text, item.text), item.line
    elif isinstance(item, YamlMap):
        faults.unknown_keys(item, CHOICE_KEYS)
        value = faults.text(item, "value", needed=True)
        if value:
            yield Choice(value, faults.text(item, "title") or value, faults.text(item, "key")), item.line
    else:
        faults.add(item.line, "a list stands among the choices", "write values, or {value: …, title: …}")


def _rows(text: str, delimiter: str, faults: Warned) -> Iterator[Placed]:
    """The choices of a table with a header: `value`, and perhaps `title` and `key`."""
    try:
        rows = list(csv.reader(io.StringIO(text.replace("\0", "\ufffd"), newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        faults.add(None, f"not a table: {error}", "write a header and one row a line")
        return
    header = [name.strip() for name in rows[0]] if rows else []
    for name in header:
        if name not in CHOICE_KEYS:
            faults.add(
                1,
                f"the column {shortened(name)!r} is not known",
                suggestion(name[:40], sorted(CHOICE_KEYS)),
                found=name,
            )
    if "value" not in header:
        faults.add(1, "there is no column `value`", "write value,title,key in the first line")
        return
    for number, row in enumerate(rows[1:], start=2):
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        if any(cells.values()):
            value = cells.get("value", "")
            yield Choice(value, cells.get("title") or value, cells.get("key", "")), number


def _check_choices(placed: Iterable[Placed], value: YamlValue, faults: Warned) -> tuple[Choice, ...]:
    keys, values, titles = Keys(faults), dict[str, int | None](), dict[str, int | None]()
    found = []
    for choice, line in placed:
        if not choice.value.strip() or len(choice.value) > LONGEST or len(choice.title) > LONGEST:
            faults.add(line, "a choice is empty or too long", f"write 1 to {LONGEST} characters", found=choice.value)
        elif choice.value in values or choice.title in titles:
            first = values.get(choice.value, titles.get(choice.title))
            faults.add(line, f"the choice {choice.title!r} appears twice", f"keep one; see line {first}")
        else:
            values[choice.value] = titles[choice.title] = line
            found.append(replace(choice, key=keys.take(choice.key, choice.title, line)))
    if not found or len(found) > MOST_CHOICES:
        faults.add(value.line, f"there are {len(found)} choices", f"give 1 to {MOST_CHOICES}")
    return tuple(found[:MOST_CHOICES])


class Keys:
    """The keys that are taken in one place, and by what."""

    def __init__(self, faults: Warned) -> None:
        self.faults = faults
        self.taken: dict[str, tuple[str, int | None]] = {}

    def take(self, key: str, owner: str, line: int | None) -> str:
        """Take a key for something; one that is taken, reserved or no key is a problem, and gives none."""
        if not key:
            return ""
        if len(key) != 1 or not key.isalnum():
            use = PAGE_KEYS.get(key, "belongs to the page")
            words = f"the key {key[:20]!r} {use}" if len(key) == 1 else f"{key[:20]!r} is not a key"
            self.faults.add(line, words, "write one letter or digit; a capital is the letter with shift", found=key)
            return ""
        if key in self.taken:
            other, where = self.taken[key]
            self.faults.add(line, f"the key {key!r} is {other}'s already", f"take another; see line {where}", found=key)
            return ""
        self.taken[key] = owner, line
        return key


def checked_colour(text: str, line: int | None, faults: Warned) -> str:
    """The colour that a category has: a name of the theme or #rrggbb; "" with a problem if it cannot be seen."""
    if text in COLOURS:
        return COLOURS[text]
    if not _HEX.fullmatch(text):
        near = suggestion(text[:40], tuple(COLOURS))
        faults.add(line, f"{text[:40]!r} is not a color", f"{near} Or write #rrggbb.", found=text)
        return ""
    for page, where in ((LIGHT.card, "light"), (DARK.card, "dark")):
        ratio = contrast(text, page)
        if ratio < LEAST_CONTRAST:
            fix = f"take a {'darker' if where == 'light' else 'lighter'} one: {LEAST_CONTRAST:g} to 1 at least"
            faults.add(line, f"{text} stands out by {ratio:.1f} to 1 only on a {where} page", fix, found=text)
            return ""
    return text.lower()


def given_colours(named: Mapping[str, str]) -> dict[str, str]:
    """A colour for every category: its own, or the next of the theme that nobody has asked for.

    >>> given_colours({"Game": "", "Team": "series_1"})
    {'Game': 'series_2', 'Team': 'series_1'}
    """
    wheel = [colour for colour in COLOURS.values() if colour not in named.values()] or list(COLOURS.values())
    found, turn = {}, 0
    for name, colour in named.items():
        found[name] = colour or wheel[turn % len(wheel)]
        turn += not colour
    return found


def contrast(one: str, other: str) -> float:
    """How much two colours stand out from each other, 1 to 21 (WCAG 2.2).

    >>> round(contrast("#000000", "#ffffff"), 1)
    21.0
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
