"""A configuration from its file: everything is read and checked, and all problems are reported at once (R-14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from basanite.formats.bounded import read_bounded
from basanite.problems import Findings, Problem
from basanite.reading.ontology import Ontology
from basanite.reading.ontology_file import read_ontology
from basanite.reading.package.manifest import FILE, NAME, read_manifest
from basanite.reading.package.model import ONTOLOGY, Package
from basanite.reading.patterns import Prefixes
from basanite.reading.strict_yaml import LARGEST, YamlMap, YamlText, read_yaml
from basanite.registry import suggestion
from basanite.work.annotation.config.categories import read_categories
from basanite.work.annotation.config.checks import check_templates
from basanite.work.annotation.config.files import Beside, Warned, faults_of
from basanite.work.annotation.config.model import Category, Config, Layout, Migration
from basanite.work.annotation.config.templates import read_templates

LISTED: Final = 200
LARGEST_VERSION: Final = 1_000_000
KEYS: Final = frozenset(
    {
        *("annotation", "version", "title", "ontology", "namespace", "prefixes", "guidelines"),
        *("categories", "layout", "assert", "migrate"),
    }
)
LAYOUT_KEYS: Final = frozenset({"left", "right"})
SIDE_KEYS: Final = frozenset({"tabs", "columns", "order"})
MIGRATION_KEYS: Final = frozenset({"from", "rename", "fields", "values", "drop"})


def read_config(
    source: Path | str, folder: Path | Package | None = None, *, file: str = "annotation.yaml"
) -> tuple[Config | None, tuple[Problem, ...]]:
    """The configuration of a path or a text, or nothing; and all problems, warnings among them.

    Files that it names are looked for beside it and in `folder`, which mostly is a reading package; one that has been
    read already is not read again.
    """
    findings = Findings(LISTED)
    if isinstance(source, Path):
        data, file, folders = read_bounded(source, LARGEST), source.name, [source.parent]
    else:
        data, folders = source.encode("utf-8", "surrogatepass"), []
    package = folder if isinstance(folder, Package) else None
    folders += [package.root] if package is not None else [folder] if isinstance(folder, Path) else []
    config = _config(data, Beside(folders, faults_of(file, findings), package))
    problems = sorted(findings.problems, key=lambda one: (one.file != file, one.file, one.line or 0))
    return (config if findings.valid else None), tuple(problems)


def _config(data: bytes, beside: Beside) -> Config | None:
    faults = beside.faults
    top = read_yaml(data, faults)
    if not isinstance(top, YamlMap):
        if faults.findings.valid:
            faults.add(1, "the file is not a configuration", "write annotation: NAME first")
        return None
    faults.unknown_keys(top, KEYS)
    name, version = _name(top, faults), _version(top, faults)
    categories = read_categories(top, beside)
    ontology = _ontology(top, beside)
    layout = _layout(top, categories, faults)
    migrations = read_migrations(top, version, categories, faults)
    guidelines = faults.text(top, "guidelines")
    read = beside.read(guidelines, top.lines["guidelines"]) if guidelines else ""
    if ontology is None or not categories:
        return None
    templates = read_templates(top, categories, ontology.prefixes, faults)
    check_templates(templates, categories, ontology, faults)
    title, text = faults.text(top, "title") or name, data.decode("utf-8", "replace")
    return Config(name, version, categories, ontology, title, layout, templates, migrations, read or "", text)


def _name(top: YamlMap, faults: Warned) -> str:
    name = faults.text(top, "annotation", needed=True)
    if name and not NAME.fullmatch(name):
        fix = "use letters, digits, '.', '_' and '-'"
        faults.add(top.lines["annotation"], f"{name[:60]!r} is not a name for a use case", fix, found=name)
    return name


def _version(top: YamlMap, faults: Warned) -> int:
    text = faults.text(top, "version", needed=True)
    if text.isascii() and text.isdigit() and 0 < int(text[:9]) <= LARGEST_VERSION:
        return int(text[:9])
    if text:
        faults.add(top.lines["version"], f"version: {text[:40]}", "write a whole number, 1 or more", found=text)
    return 1


def _ontology(top: YamlMap, beside: Beside) -> Ontology | None:
    """The ontology that templates are compared with, with the short names of the package."""
    line = top.lines.get("ontology", top.line)
    path = beside.find(beside.faults.text(top, "ontology") or "ontology.ttl", line)
    prefixes = _prefixes(top, beside)
    if path is None or prefixes is None:
        return None
    package = beside.package
    if package is not None and path == package.root / ONTOLOGY and prefixes == package.manifest.prefixes:
        return package.ontology
    return read_ontology(path, prefixes, beside.faults.findings)


def _prefixes(top: YamlMap, beside: Beside) -> Prefixes | None:
    namespace, names = beside.faults.text(top, "namespace"), top.entries.get("prefixes")
    if isinstance(names, YamlMap) and not all(isinstance(value, YamlText) for value in names.entries.values()):
        beside.faults.add(names.line, "a prefix stands for not text", "write prefixes: {nfl: https://…#}")
    own = (
        {key: value.text for key, value in names.entries.items() if isinstance(value, YamlText)}
        if isinstance(names, YamlMap)
        else {}
    )
    if namespace:
        return Prefixes(namespace, own)
    root = next((folder for folder in beside.folders if (folder / FILE).is_file()), None)
    if root is None:
        fix = "write namespace: https://…#, or give the reading package that it is for"
        beside.faults.add(top.line, "there is no namespace for names of the ontology", fix)
        return None
    if beside.package is not None and root == beside.package.root:
        return beside.package.manifest.prefixes
    manifest = read_manifest(root, beside.faults.findings)
    return manifest.prefixes if manifest else None


def _layout(top: YamlMap, categories: Mapping[str, Category], faults: Warned) -> Layout:
    entry = top.entries.get("layout")
    if entry is None:
        return Layout(tabs=_first_frame(categories))
    if not isinstance(entry, YamlMap):
        faults.add(top.lines["layout"], "`layout` is not a mapping", "write layout: {left: text, right: {tabs: Game}}")
        return Layout()
    faults.unknown_keys(entry, LAYOUT_KEYS)
    sides: dict[str, object] = dict(entry.entries)
    text: Literal["left", "right"] = "right" if isinstance(sides.get("left"), YamlMap) else "left"
    form = entry.entries.get("right" if text == "left" else "left")
    words = entry.entries.get(text)
    if words is not None and (not isinstance(words, YamlText) or words.text != "text"):
        faults.add(words.line, f"{text} is neither the text nor a form", "write left: text, right: {tabs: …}")
    if not isinstance(form, YamlMap):
        return Layout(text, _first_frame(categories))
    faults.unknown_keys(form, SIDE_KEYS)
    tabs, columns = faults.text(form, "tabs"), faults.text(form, "columns")
    _check_side(form, tabs, columns, categories, faults)
    order = tuple(one.text for one in faults.texts(form, "order"))
    _check_order(form, order, categories, faults)
    return Layout(text, tabs, columns, order)


def _first_frame(categories: Mapping[str, Category]) -> str:
    return next((one.name for one in categories.values() if one.frame and not one.parent), "")


def _check_side(form: YamlMap, tabs: str, columns: str, categories: Mapping[str, Category], faults: Warned) -> None:
    frames = [one.name for one in categories.values() if one.frame]
    for key, name in (("tabs", tabs), ("columns", columns)):
        if name and name not in frames:
            near = suggestion(name, frames) if frames else "write frame: true in a category"
            faults.add(form.lines[key], f"{key}: {name[:60]} is not a frame", near, found=name)
    if tabs in frames and categories[tabs].parent:
        faults.add(form.lines["tabs"], f"tabs: {tabs} lies in {categories[tabs].parent}", "take the outermost frame")
    if columns in frames and tabs in frames and categories[columns].parent != tabs:
        faults.add(form.lines["columns"], f"columns: {columns} does not lie in {tabs}", f"take a frame in {tabs}")


def _check_order(form: YamlMap, order: Sequence[str], categories: Mapping[str, Category], faults: Warned) -> None:
    for name in order:
        if name not in categories:
            near = suggestion(name, tuple(categories))
            faults.add(form.lines["order"], f"order: there is no category {name[:60]}", near, found=name)
    for name in sorted({name for name in order if order.count(name) > 1}):
        faults.add(form.lines["order"], f"order: {name} appears twice", "keep one of them")


def read_migrations(
    top: YamlMap, version: int, categories: Mapping[str, Category], faults: Warned
) -> tuple[Migration, ...]:
    """The migrations of a configuration, the oldest first; each leads from one version to the next."""
    if "migrate" not in top.entries:
        return ()
    found: dict[int, Migration] = {}
    for entry in faults.maps(top, "migrate"):
        faults.unknown_keys(entry, MIGRATION_KEYS)
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
            faults.add(entry.lines["from"], f"from: {text[:40]} is not an older version", fix)
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
        faults.add(entry.lines[key], f"`{key}` is not a mapping", f"write {key}: {{Old: New}}")
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
        faults.add(inner.line, f"values: {key} is not a mapping", "write Status.value: {win: won}")
    if not isinstance(value, YamlMap):
        faults.add(entry.lines["values"], "`values` is not a mapping", "write values: {Status.value: {win: won}}")


def _path(key: str, line: int, faults: Warned) -> Iterator[tuple[str, str]]:
    category, dot, field = key.partition(".")
    if dot and category and field:
        yield category, field
    else:
        faults.add(line, f"{key[:60]!r} is not a field", "write Category.field, with the old names")


def _check_targets(last: Migration, categories: Mapping[str, Category], faults: Warned) -> None:
    """Whether the last step leads to categories and fields that there are now."""
    for old, new in last.rename.items():
        if new not in categories:
            faults.add(last.line, f"{old} becomes {new}, which is not a category", suggestion(new, tuple(categories)))
    for (old, _), new in last.fields.items():
        category = categories.get(last.rename.get(old, old))
        if category is None or category.field(new) is None:
            known = [f"{one.name}.{field.name}" for one in categories.values() for field in one.fields]
            faults.add(last.line, f"{old} has no field {new} now", suggestion(f"{old}.{new}", known))
