"""How records of older versions are to be read: renamed categories, fields and values, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from basanite.annotation.config.files import Warned
from basanite.annotation.config.model import Category, Migration
from basanite.reading.strict_yaml import YamlMap, YamlText
from basanite.registry import suggestion

KEYS: Final = frozenset({"from", "rename", "fields", "values", "drop"})


def read_migrations(
    top: YamlMap, version: int, categories: Mapping[str, Category], faults: Warned
) -> tuple[Migration, ...]:
    """The migrations of a configuration, the oldest first; each leads from one version to the next."""
    if "migrate" not in top.entries:
        return ()
    found: dict[int, Migration] = {}
    for entry in faults.maps(top, "migrate"):
        faults.unknown_keys(entry, KEYS)
        for migration in _migration(entry, version, faults):
            if migration.since in found:
                first = found[migration.since].line
                faults.add(entry.line, f"version {migration.since} is migrated twice", f"keep one; see line {first}")
            found.setdefault(migration.since, migration)
    if version - 1 in found:
        _check_targets(found[version - 1], categories, faults)
    return tuple(found[since] for since in sorted(found))


def _migration(entry: YamlMap, version: int, faults: Warned) -> Iterator[Migration]:
    text = faults.text(entry, "from", needed=True)
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) < version):
        if text:
            fix = f"write a version before this one, 1 to {version - 1}"
            faults.add(entry.lines["from"], f"from: {text[:40]} is no older version", fix)
        return
    yield Migration(
        int(text[:9]),
        dict(_pairs(entry, "rename", faults)),
        {
            path: new
            for key, new in _pairs(entry, "fields", faults)
            for path in _path(key, entry.lines["fields"], faults)
        },
        {
            path: dict(inner)
            for key, inner in _values(entry, faults)
            for path in _path(key, entry.lines["values"], faults)
        },
        tuple(text.text for text in faults.texts(entry, "drop")),
        entry.line,
    )


def _pairs(entry: YamlMap, key: str, faults: Warned) -> Iterator[tuple[str, str]]:
    value = entry.entries.get(key)
    if value is None:
        return
    if not isinstance(value, YamlMap):
        faults.add(entry.lines[key], f"`{key}` is no mapping", f"write {key}: {{Old: New}}")
        return
    for old, new in value.entries.items():
        if isinstance(new, YamlText) and new.text:
            yield old, new.text
        else:
            faults.add(value.lines[old], f"{old} becomes nothing", "name what it becomes, or list it under drop")


def _values(entry: YamlMap, faults: Warned) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    value = entry.entries.get("values")
    if value is None:
        return
    for key, inner in value.entries.items() if isinstance(value, YamlMap) else ():
        if isinstance(inner, YamlMap):
            yield key, [(old, new.text) for old, new in inner.entries.items() if isinstance(new, YamlText)]
            continue
        faults.add(inner.line, f"values: {key} is no mapping", "write Status.value: {win: won}")
    if not isinstance(value, YamlMap):
        faults.add(entry.lines["values"], "`values` is no mapping", "write values: {Status.value: {win: won}}")


def _path(key: str, line: int, faults: Warned) -> Iterator[tuple[str, str]]:
    category, dot, field = key.partition(".")
    if dot and category and field:
        yield category, field
    else:
        faults.add(line, f"{key[:60]!r} is no field", "write Category.field, with the old names")


def _check_targets(last: Migration, categories: Mapping[str, Category], faults: Warned) -> None:
    """Whether the last step leads to categories and fields that there are now."""
    for old, new in last.rename.items():
        if new not in categories:
            faults.add(last.line, f"{old} becomes {new}, which is no category", suggestion(new, tuple(categories)))
    for (old, _), new in last.fields.items():
        category = categories.get(last.rename.get(old, old))
        if category is None or category.field(new) is None:
            known = [f"{one.name}.{field.name}" for one in categories.values() for field in one.fields]
            faults.add(last.line, f"{old} has no field {new} now", suggestion(f"{old}.{new}", known))
