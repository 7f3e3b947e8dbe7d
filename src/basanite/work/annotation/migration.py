"""Two versions of a configuration: what differs, and records of the old one brought to the new (R-14).

Records are migrated on a copy, with a list of everything that changes. The log of events is rewritten, not what it
comes to, so undo still works in the copy. Old records are never touched and keep their version. What the new
configuration has no place for is left out of the copy and listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from basanite.problems import Findings, shortened
from basanite.reading.package.ndjson import LineFaults, records
from basanite.work.annotation.config.model import Category, Config, Field, Migration, Template
from basanite.work.annotation.events import MOST_EVENTS, Event, single_id
from basanite.work.annotation.replay import event_of, receive

ChangeKind = Literal["renamed", "value", "dropped", "unmapped", "doubtful"]
MADE = ("create", "row.add")
GONE = ("remove", "row.remove")
TURNS = ("undo", "redo")
RULE: Final = "R-15"
KEYS: Final = frozenset({"document", "annotator", "version", "events"})
DifferenceKind = Literal["new", "gone", "renamed", "changed"]


@dataclass(frozen=True)
class Record:
    """All events of one annotator on one document, and the version of the configuration that they were made with."""

    document: str
    annotator: str
    version: int
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Change:
    """One line of the diff: an event, before and after."""

    document: str
    annotator: str
    event: str
    kind: ChangeKind
    """`unmapped`: left out, since the new version has no place for it; `doubtful`: kept, but no value any more."""
    before: str
    after: str = ""

    def as_dict(self) -> dict[str, str]:
        """The object that `--json` lists."""
        return {
            "document": self.document,
            "annotator": self.annotator,
            "event": self.event,
            "kind": self.kind,
            "before": self.before,
            "after": self.after,
        }


def migrate(config: Config, records: Iterable[Record]) -> tuple[tuple[Record, ...], tuple[Change, ...]]:
    """Copies of records in the configuration's version, and all that changes; one that is newer is left as it is."""
    copies, changes = list[Record](), list[Change]()
    for record in records:
        if record.version > config.version:
            words = f"version {record.version} is newer than {config.version}"
            changes.append(Change(record.document, record.annotator, "", "unmapped", words))
        elif record.version == config.version:
            copies.append(record)
        else:
            copy, found = _Migrator(config, record).copy()
            copies.append(copy)
            changes += found
    return tuple(copies), tuple(changes)


class _Migrator:
    """One record on its way to a newer version."""

    def __init__(self, config: Config, record: Record) -> None:
        self.config, self.record = config, record
        self.changes: list[Change] = []

    def copy(self) -> tuple[Record, list[Change]]:
        """The copy, and what changes in it."""
        events: list[Event] = list(self.record.events)
        for migration in self.config.migrations:
            if self.record.version <= migration.since < self.config.version:
                events = list(self._step(migration, events))
        events = list(self._name_objects(events))
        events = list(self._drop_refused(events))
        self._doubt(events)
        return replace(self.record, version=self.config.version, events=tuple(events)), self.changes

    def _tell(self, event: Event, kind: ChangeKind, before: str, after: str = "") -> None:
        record = self.record
        self.changes.append(Change(record.document, record.annotator, event.id, kind, before, after))

    def _step(self, migration: Migration, events: Sequence[Event]) -> Iterator[Event]:
        """One step from a version to the next: names and values as the migration says."""
        categories = categories_of(events)
        for event in events:
            category = categories.get(str(event.data.get("object", "")), "")
            dropped = category in migration.drop or f"{category}.{event.data.get('field')}" in migration.drop
            if dropped and event.kind not in TURNS:
                self._tell(event, "dropped", _words(event))
                continue
            new = replace(event, data=_data_after(event.data, category, migration))
            if new != event:
                values = event.data.get("value") != new.data.get("value")
                self._tell(event, "value" if values else "renamed", _words(event), _words(new))
            yield new

    def _name_objects(self, events: Sequence[Event]) -> Iterator[Event]:
        """Objects under the names that their categories want now: a single goes by its place, others by themselves."""
        names: dict[str, str] = {}
        made: set[str] = set()
        for event in events:
            before = len(names)
            if event.kind in MADE:
                names.update(self._new_name(event, names))
            elif "object" in event.data:
                yield from self._make_first(event, names, made)
            new = self._with_new_names(event, names)
            if new != event and len(names) >= before:
                self._tell(event, "renamed", _words(event), _words(new))
            yield new

    def _new_name(self, event: Event, names: Mapping[str, str]) -> dict[str, str]:
        """What an object that is made will be called, if that is something else."""
        category = self.config.categories.get(str(event.data.get("category", "")))
        id_, parent = str(event.data.get("object", "")), str(event.data.get("parent", ""))
        if category is None or not category.single or id_ == single_id(parent, category.name):
            return {}
        wanted = single_id(names.get(parent, parent), category.name)
        return {} if wanted in names.values() else {id_: wanted}

    def _make_first(self, event: Event, names: dict[str, str], made: set[str]) -> Iterator[Event]:
        """The making of an object that stood once and now may stand more often, before it is first spoken of."""
        id_ = str(event.data["object"])
        parent, slash, name = id_.rpartition("/")
        category = self.config.categories.get(name)
        if not slash or category is None or category.single or id_ in made:
            return
        made.add(id_)
        names[id_] = f"{parent.replace('/', '.') or 'document'}.{name}"[:64]
        kind = "row.add" if category.table else "create"
        data = {"object": names[id_], "category": name, "parent": names.get(parent, parent), "group": event.group}
        yield Event(f"{event.id[:58]}.made", kind, data)

    def _with_new_names(self, event: Event, names: Mapping[str, str]) -> Event:
        data: dict[str, Any] = dict(event.data)
        for key in ("object", "parent"):
            if isinstance(data.get(key), str):
                data[key] = _under(data[key], names)
        category = self.config.categories.get(str(data.get("category", "")))
        kind = event.kind
        if kind in MADE and category is not None:
            kind = "row.add" if category.table else "create"
        return Event(event.id, kind, data)

    def _drop_refused(self, events: Sequence[Event]) -> Iterator[Event]:
        """The events that the new configuration takes; the rest are listed, and no undo speaks of them any more."""
        tables = {
            id_: name in self.config.categories and self.config.categories[name].table
            for id_, name in categories_of(events).items()
        }
        turned = [_removal(event, tables) for event in events]
        received = receive(self.config, (), [event for event in turned if event.kind not in TURNS])
        kept = {event.id for event in received.accepted}
        for event in turned:
            if event.kind in TURNS:
                left = [id_ for id_ in event.data.get("events", ()) if id_ in kept]
                if left:
                    yield replace(event, data={**event.data, "events": left})
            elif event.id in kept:
                yield event
            elif event.id in received.refused:
                why = "; ".join(problem.message for problem in received.refused[event.id])
                self._tell(event, "unmapped", _words(event), why)

    def _doubt(self, events: Sequence[Event]) -> None:
        """Tell of values that are no choices any more; they are kept, and the form shows them as gaps."""
        categories = categories_of(events)
        for event in events:
            category = self.config.categories.get(categories.get(str(event.data.get("object", "")), ""))
            field = category.field(event.data["field"]) if category and event.kind == "set" else None
            value = event.data.get("value", "")
            if field is not None and field.kind == "choice" and value and field.choice(value) is None:
                self._tell(event, "doubtful", _words(event), f"{shortened(value, 40)!r} is not a choice any more")


def categories_of(events: Iterable[Event]) -> dict[str, str]:
    """The category of every object that events speak of: as it was made, or from the name of a single."""
    found: dict[str, str] = {}
    for event in events:
        id_ = event.data.get("object")
        if isinstance(id_, str) and event.kind in MADE:
            found[id_] = str(event.data.get("category", ""))
        elif isinstance(id_, str) and "/" in id_:
            found.setdefault(id_, id_.rpartition("/")[2])
    return found


def _data_after(data: Mapping[str, Any], category: str, migration: Migration) -> dict[str, Any]:
    """The data of an event with the new names and values."""
    found = dict(data)
    for key in ("object", "parent"):
        if isinstance(found.get(key), str):
            found[key] = _renamed_path(found[key], migration.rename)
    if "category" in found:
        found["category"] = migration.rename.get(found["category"], found["category"])
    if "field" in found:
        place = (category, found["field"])
        if "value" in found:
            found["value"] = migration.values.get(place, {}).get(found["value"], found["value"])
        found["field"] = migration.fields.get(place, found["field"])
    return found


def _renamed_path(id_: str, rename: Mapping[str, str]) -> str:
    """The name of a single with its categories renamed.

    >>> _renamed_path("t1/FinalScore", {"FinalScore": "Score"})
    't1/Score'
    """
    first, *names = id_.split("/")
    return "/".join((first, *(rename.get(name, name) for name in names)))


def _under(id_: str, names: Mapping[str, str]) -> str:
    """The new name of an object, or of a single in one that is called otherwise now."""
    if id_ in names:
        return names[id_]
    parent, slash, name = id_.rpartition("/")
    return f"{_under(parent, names)}/{name}" if slash and parent else id_


def _removal(event: Event, tables: Mapping[str, bool]) -> Event:
    """A removal of the kind that its category wants now."""
    if event.kind not in GONE:
        return event
    return replace(event, kind="row.remove" if tables.get(str(event.data.get("object"))) else "remove")


def _words(event: Event) -> str:
    """An event on one line, for a diff."""
    parts = (f"{key}={shortened(str(value), 60)}" for key, value in event.data.items() if key != "group")
    return " ".join((event.kind, *parts))


def read_records(path: Path, findings: Findings) -> tuple[Record, ...]:
    """The records of a file; lines with problems are left out."""
    faults = LineFaults(path.name, RULE, findings)
    found: list[Record] = []
    with faults.unreadable():
        for number, entry in records(path, faults):
            found += _record(number, entry, faults)
    return tuple(found)


def _record(number: int, entry: Mapping[str, Any], faults: LineFaults) -> Iterator[Record]:
    faults.unknown_keys(number, entry, KEYS)
    document = faults.text(number, entry, "document")
    version, events = entry.get("version"), entry.get("events")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        faults.add(number, "the version is not a whole number", 'write "version": 1', found=repr(version))
    elif not isinstance(events, list) or len(events) > MOST_EVENTS:
        faults.add(number, "the events are not a list", f"write at most {MOST_EVENTS} events")
    elif document:
        yield Record(document, str(entry.get("annotator", "")), version, tuple(_event(one) for one in events))


def _event(data: object) -> Event:
    found = event_of(data)
    return found if isinstance(found.data, Mapping) else Event(found.id, found.kind, {})


def record_lines(found: Iterable[Record]) -> Iterator[str]:
    """Records as lines of such a file."""
    for one in found:
        entry = {
            "document": one.document,
            "annotator": one.annotator,
            "version": one.version,
            "events": [event.as_dict() for event in one.events],
        }
        yield json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class Difference:
    """Something that differs; `lost` if records of the old version would lose it."""

    what: str
    kind: DifferenceKind
    detail: str = ""
    lost: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The object that `--json` lists."""
        return {"what": self.what, "kind": self.kind, "detail": self.detail, "lost": self.lost}


def differences(old: Config, new: Config) -> tuple[Difference, ...]:
    """Everything in which two versions differ, categories first."""
    steps = [one for one in new.migrations if old.version <= one.since < new.version]
    return (*_categories(old, new, steps), *_texts(old, new))


def _categories(old: Config, new: Config, steps: list[Migration]) -> Iterator[Difference]:
    reached: set[str] = set()
    for name, category in old.categories.items():
        target = _name_after(name, steps)
        reached.add(target)
        if target != name:
            yield Difference(f"category {name}", "renamed", target)
        if target in new.categories:
            yield from _fields(category, new.categories[target], steps)
        else:
            dropped = any(name in step.drop for step in steps)
            yield Difference(f"category {name}", "gone", "left out on purpose" if dropped else "", not dropped)
    for name in new.categories:
        if name not in reached:
            yield Difference(f"category {name}", "new")


def _name_after(name: str, steps: list[Migration]) -> str:
    for step in steps:
        name = step.rename.get(name, name)
    return name


def _fields(old: Category, new: Category, steps: list[Migration]) -> Iterator[Difference]:
    reached: set[str] = set()
    for field in old.fields:
        category, name, what = old.name, field.name, f"field {old.name}.{field.name}"
        dropped = False
        for step in steps:
            dropped = dropped or f"{category}.{name}" in step.drop
            name = step.fields.get((category, name), name)
            category = step.rename.get(category, category)
        reached.add(name)
        target = new.field(name)
        if name != field.name:
            yield Difference(what, "renamed", name)
        if target is None:
            yield Difference(what, "gone", "left out on purpose" if dropped else "", not dropped)
        else:
            yield from _field(what, field, target, _values_after(field, old.name, steps))
    yield from (Difference(f"field {new.name}.{one.name}", "new") for one in new.fields if one.name not in reached)
    shape = [("in", old.parent, new.parent), ("repeat", _repeat(old), _repeat(new)), ("table", old.table, new.table)]
    for key, before, after in shape:
        if before != after and not (key == "in" and _name_after(str(before), steps) == after):
            yield Difference(f"category {new.name}", "changed", f"{key}: {before or 'none'} to {after or 'none'}")


def _repeat(category: Category) -> str:
    return f"{category.least}..{'' if category.most is None else category.most}"


def _values_after(field: Field, category: str, steps: list[Migration]) -> dict[str, str]:
    """What each choice of a field becomes."""
    found = {choice.value: choice.value for choice in field.choices}
    name = field.name
    for step in steps:
        values = step.values.get((category, name), {})
        found = {old: values.get(new, new) for old, new in found.items()}
        name, category = step.fields.get((category, name), name), step.rename.get(category, category)
    return found


def _field(what: str, old: Field, new: Field, mapped: dict[str, str]) -> Iterator[Difference]:
    if old.kind != new.kind:
        yield Difference(
            what, "changed", f"type: {old.kind} to {new.kind}", lost=new.kind == "span" or old.kind == "span"
        )
        return
    for before, after in mapped.items():
        if before != after:
            yield Difference(f"{what} = {before}", "renamed", after)
        if new.choices and new.choice(after) is None:
            yield Difference(f"{what} = {before}", "gone", "no choice any more", lost=True)
    for choice in new.choices:
        if choice.value not in mapped.values():
            yield Difference(f"{what} = {choice.value}", "new")


def _texts(old: Config, new: Config) -> Iterator[Difference]:
    """Templates that come or go, told by what they say, and the rest of the file."""
    before, after = _template_lines(old), _template_lines(new)
    yield from (Difference(f"assert {line}", "gone") for line in before if line not in after)
    yield from (Difference(f"assert {line}", "new") for line in after if line not in before)
    if old.layout != new.layout:
        yield Difference("layout", "changed")
    if old.guidelines != new.guidelines:
        yield Difference("guidelines", "changed")


def _template_lines(config: Config) -> list[str]:
    """What templates say, each on one line."""
    short = config.ontology.prefixes.short
    lines = [
        f"for {template.category}{_when(template)}: {' '.join(short(term) for term in say.pattern.terms)}"
        for template in (replace(one, line=None) for one in config.templates)
        for say in template.says
    ]
    return list(dict.fromkeys(lines))


def _when(template: Template) -> str:
    parts = [f"{name} {'|'.join(values)}" for name, values in template.when.fields]
    parts += [f"has {'|'.join(template.when.has)}"] if template.when.has else []
    return f" when {', '.join(parts)}" if parts else ""
