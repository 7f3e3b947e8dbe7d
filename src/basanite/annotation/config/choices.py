"""Lists to choose from: written out in the configuration, or kept in a CSV or TSV file beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from basanite.annotation.config.files import Beside, Warned
from basanite.annotation.config.keys import Keys
from basanite.annotation.config.model import Choice
from basanite.problems import shortened
from basanite.reading.strict_yaml import YamlList, YamlMap, YamlText, YamlValue
from basanite.registry import suggestion

MOST_CHOICES: Final = 10_000
LONGEST: Final = 200
KEYS: Final = frozenset({"value", "title", "key"})
ENDINGS: Final = {".csv": ",", ".tsv": "\t"}
Placed = tuple[Choice, int | None]


def read_choices(value: YamlValue, beside: Beside) -> tuple[Choice, ...]:
    """The choices of a field; problems say what is wrong with each."""
    faults = beside.faults
    if isinstance(value, YamlText):
        ending = next((ending for ending in ENDINGS if value.text.endswith(ending)), "")
        if not ending:
            fix = "write choices: [one, other], {k: value}, or the name of a .csv or .tsv file"
            faults.add(value.line, f"{value.text[:60]!r} is no list of choices", fix, found=value.text)
            return ()
        text = beside.read(value.text, value.line)
        faults = beside.of(value.text)
        placed = list(_rows(text, ENDINGS[ending], faults)) if text is not None else []
    elif isinstance(value, YamlList):
        placed = [one for item in value.items for one in _listed(item, faults)]
    else:
        placed = [one for key, item in value.entries.items() for one in _keyed(key, item, value.lines[key], faults)]
    return _checked(placed, value, faults)


def _listed(item: YamlValue, faults: Warned) -> Iterator[Placed]:
    if isinstance(item, YamlText):
        yield Choice(item.text, item.text), item.line
    elif isinstance(item, YamlMap):
        faults.unknown_keys(item, KEYS)
        value = faults.text(item, "value", needed=True)
        if value:
            yield Choice(value, faults.text(item, "title") or value, faults.text(item, "key")), item.line
    else:
        faults.add(item.line, "a list stands among the choices", "write values, or {value: …, title: …}")


def _keyed(key: str, item: YamlValue, line: int, faults: Warned) -> Iterator[Placed]:
    for choice, _ in _listed(item, faults):
        yield replace(choice, key=key), line


def _rows(text: str, delimiter: str, faults: Warned) -> Iterator[Placed]:
    """The choices of a table with a header: `value`, and perhaps `title` and `key`."""
    try:
        rows = list(csv.reader(io.StringIO(text.replace("\0", "\ufffd"), newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        faults.add(None, f"not a table: {error}", "write a header and one row a line")
        return
    header = [name.strip() for name in rows[0]] if rows else []
    for name in header:
        if name not in KEYS:
            faults.add(
                1, f"the column {shortened(name)!r} is not known", suggestion(name[:40], sorted(KEYS)), found=name
            )
    if "value" not in header:
        faults.add(1, "there is no column `value`", "write value,title,key in the first line")
        return
    for number, row in enumerate(rows[1:], start=2):
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        if any(cells.values()):
            value = cells.get("value", "")
            yield Choice(value, cells.get("title") or value, cells.get("key", "")), number


def _checked(placed: Iterable[Placed], value: YamlValue, faults: Warned) -> tuple[Choice, ...]:
    keys, values, titles = Keys(faults), dict[str, int | None](), dict[str, int | None]()
    found = []
    for choice, line in placed:
        if not choice.value.strip() or len(choice.value) > LONGEST or len(choice.title) > LONGEST:
            faults.add(line, "a choice is empty or too long", f"write 1 to {LONGEST} characters", found=choice.value)
        elif choice.value in values or choice.title in titles:
            first = values.get(choice.value, titles.get(choice.title))
            faults.add(line, f"the choice {choice.title!r} stands twice", f"keep one; see line {first}")
        else:
            values[choice.value] = titles[choice.title] = line
            found.append(replace(choice, key=keys.take(choice.key, choice.title, line)))
    if not found or len(found) > MOST_CHOICES:
        faults.add(value.line, f"there are {len(found)} choices", f"give 1 to {MOST_CHOICES}")
    return tuple(found[:MOST_CHOICES])
