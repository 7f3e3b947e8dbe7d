"""Forms made from the classes that read a campaign's file: every entry of a table is a field (P-35).

What a form shows is the file's own text for each entry. Only fields that were changed are written back, so that what
somebody else changed meanwhile, and whatever a form cannot show, stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, get_args, get_origin

from basanite import registry
from basanite.campaign.model.about import About
from basanite.campaign.model.file_edit import toml_key, toml_value
from basanite.campaign.model.file_entries import ACTS
from basanite.campaign.model.plan import (
    Agreement,
    Campaign,
    ClaimEntry,
    DomainRelease,
    JudgingEntry,
    Milestone,
    Pack,
    QuerySet,
    Track,
    UsageRules,
    Window,
)
from basanite.campaign.model.refusals import RefusedError, problem
from basanite.campaign.model.zones import Instant, TimeError, instant_of
from basanite.formats.archives.archive_names import TASKS
from basanite.formats.config_file import NOTHING, Entry, Section, is_section, section_entries, type_and_marks
from basanite.formats.config_schema import entry_words
from basanite.problems import Problem
from basanite.server.catalogue import say, say_plain, sentence
from basanite.server.pages.forms import Form
from basanite.server.pages.times import zone

KINDS: Final[Mapping[str, type[Section]]] = {
    "campaign": Campaign,
    "about": About,
    "judging": JudgingEntry,
    "windows": Window,
    "packs": Pack,
    "querysets": QuerySet,
    "domains": DomainRelease,
    "tracks": Track,
    "milestones": Milestone,
    "agreements": Agreement,
    "rules": UsageRules,
    "claims": ClaimEntry,
}
"""The class of each table of the file."""
FieldKind = Literal["text", "area", "choice", "time", "ticks", "lines", "pairs", "toml", "plain"]
LONG: Final = ("text", "description", "participation", "data", "terms", "organizers", "deliverable")
MINOR: Final = frozenset(
    (
        *("conditions", "shows", "half_width", "transfer_grace", "late_grace", "results_at", "ladder", "looks"),
        *("settings", "forced", "event", "domains", "quota.types", "period", "seed", "sealed", "invalid_per_day"),
        *("open_uploads", "largest_upload", "code", "usage", "key_at", "deletion_by"),
    )
)
"""Fields that few campaigns need."""
OTHERS: Final = "others"
"""The field for whatever a table with free keys has besides its own."""
_RULE: Final = re.compile(r"\s*\((?:[A-Z]{1,2}-?\d+(?:, )?)+\)")
_WALL: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?")
LABELS: Final = {
    "id": sentence("ID"),
    "summary": sentence("Summary"),
    "description": sentence("Description"),
    "organizers": sentence("Organizers"),
    "contact": sentence("Contact"),
    "participation": sentence("How to take part"),
    "data": sentence("Data"),
    "terms": sentence("Terms"),
    "links": sentence("Links"),
    "title": sentence("Title"),
    "opens": sentence("Opens"),
    "closes": sentence("Closes"),
    "tasks": sentence("Tasks"),
    "dataset": sentence("Data packs"),
    "quota.count": sentence("Submissions per team"),
    "quota.period": sentence("Quota period"),
    "quota.types": sentence("Quota by type"),
    "feedback": sentence("Feedback"),
    "kind": sentence("Kind"),
    "board": sentence("Leaderboard shows"),
    "primary": sentence("Primary metric"),
    "settings": sentence("Settings of scoring"),
    "naming": sentence("Public team names"),
    "querysets": sentence("Query sets"),
    "zone": sentence("Time zone"),
    "at": sentence("Date"),
    "shows": sentence("Values that limited feedback shows"),
    "half_width": sentence("Half-width of limited values"),
    "transfer_grace": sentence("Grace period for uploads"),
    "late_grace": sentence("Grace period for late runs"),
    "results_at": sentence("Results on"),
    "certification": sentence("Certification period"),
    "looks": sentence("Results shown per team"),
    "ladder": sentence("Ladder threshold"),
    "forced": sentence("Reason for full feedback on sealed data"),
    "conditions": sentence("Training conditions"),
    "two_people": sentence("Actions that need approval"),
    "k": sentence("Judgments per item"),
    "key_at": sentence("Key published"),
    "released": sentence("Released"),
    "deletion_by": sentence("Certificates of deletion due"),
    OTHERS: sentence("Other entries"),
}
"""What fields are called; others by their key in the file."""


@dataclass(frozen=True)
class EntryField:
    """One field of a form."""

    name: str
    """The key in the file; with a dot for a key of a table inside."""
    kind: FieldKind
    value: str = ""
    """What the form shows, one per line where there are several."""
    options: tuple[tuple[str, str], ...] = ()
    needed: bool = False
    words: str = ""
    usual: str = ""
    """What holds where nothing is entered."""

    @property
    def label(self) -> str:
        """What the field is called."""
        if self.name.startswith("tasks."):
            return say("About the task {task}", task=self.name.partition(".")[2])
        return say(LABELS[self.name]) if self.name in LABELS else self.name.replace("_", " ").capitalize()

    @property
    def is_minor(self) -> bool:
        """Whether it stands below the others, because few campaigns need it and nothing is entered."""
        return self.name in MINOR and not self.value

    @property
    def attributes(self) -> dict[str, str]:
        """What its element says besides its name: what describes it, and whether it must be filled in."""
        described = {"aria-describedby": f"h-{self.name}"} if self.words or self.usual else {}
        return described | ({"required": "required"} if self.needed else {})

    @property
    def chosen(self) -> tuple[str, ...]:
        """The values of a field with several."""
        return tuple(self.value.split("\n")) if self.value else ()


def entry_fields(table: str, values: Mapping[str, Any], campaign: Campaign) -> tuple[EntryField, ...]:
    """The fields of one table of the campaign's file, filled with what it says."""
    kind = KINDS[table]
    found = [field for entry in _own(kind) for field in _fields(entry, kind, values, campaign)]
    for key, (_, words) in kind.file_only.items():
        found.append(EntryField(key, "text", _pairs_or_text(values.get(key)), words=_plain_words(words)))
    if kind.any_keys:
        known = {entry.key for entry in section_entries(cast("Hashable", kind))}
        others = {key: value for key, value in values.items() if key not in known}
        found.append(EntryField(OTHERS, "toml", _toml_lines(others)))
    return tuple(found)


def typed_values(form: Form, shown: Sequence[EntryField]) -> dict[str, str]:
    """What a form says in each field, as the field itself would show it; fields that it does not have stay as shown."""
    return {one.name: _typed_text(form, one) if one.name in form.fields else one.value for one in shown}


def _typed_text(form: Form, one: EntryField) -> str:
    if one.kind not in ("ticks", "lines"):
        return form.text(one.name).replace("\r\n", "\n")
    return "\n".join(part.strip() for text in form.all(one.name) for part in text.splitlines() if part.strip())


def changed_entries(
    shown: Sequence[EntryField], typed: Mapping[str, str], values: Mapping[str, Any], zone_name: str
) -> dict[str, Any]:
    """The entries of the file that a form changes; None for those to remove. What cannot be read is refused."""
    found: dict[str, Any] = {}
    problems: list[Problem] = []
    for one in shown:
        text = typed.get(one.name, one.value)
        if text == one.value:
            continue
        try:
            _put_value(found, one, _value(one, text, zone_name), values)
        except (ValueError, TimeError) as error:
            what = say_plain("{field}: {error}", field=str(one.label), error=str(error))
            problems.append(problem("P-35", what, say_plain("correct the field")))
    if problems:
        raise RefusedError(problems, status=422)
    return found


def _own(kind: type[Section]) -> Iterator[Entry]:
    """The entries that are fields of this table's form: tables of their own have forms of their own."""
    for entry in section_entries(cast("Hashable", kind)):
        inner = type_and_marks(entry.form)[0]
        tables = get_origin(inner) is tuple and is_section(type_and_marks(get_args(inner)[0])[0])
        apart = kind is Campaign and (tables or entry.key in ("about", "judging", "slug"))
        if entry.may_be_written and not apart:
            yield entry


def _fields(entry: Entry, kind: type[Section], values: Mapping[str, Any], campaign: Campaign) -> Iterator[EntryField]:
    inner = type_and_marks(entry.form)[0]
    held = values.get(entry.key)
    if is_section(inner):
        inside = held if isinstance(held, Mapping) else {}
        for one in _own(inner):
            for field in _fields(one, inner, inside, campaign):
                yield replace(field, name=f"{entry.key}.{field.name}")
        return
    if kind is About and entry.key == "tasks":
        texts = held if isinstance(held, Mapping) else {}
        tasks = dict.fromkeys((*(task for window in campaign.windows for task in window.tasks), *texts))
        yield from (EntryField(f"tasks.{task}", "area", str(texts.get(task, ""))) for task in tasks)
        return
    options = _options(entry, kind, campaign)
    field_kind = _kind_of(entry, inner, options)
    words = _plain_words(entry_words(kind).get(entry.name, ""))
    value = "" if held is None else _shown_text(field_kind, held, campaign.zone)
    if field_kind == "ticks":
        options = (*options, *((one, one) for one in value.split("\n") if one and one not in dict(options)))
    yield EntryField(entry.key, field_kind, value, options, entry.is_needed, words, _usual(entry))


def _kind_of(entry: Entry, inner: Any, options: Sequence[tuple[str, str]]) -> FieldKind:
    origin = get_origin(inner)
    if origin is Literal or inner is bool:
        return "choice"
    if inner is Instant:
        return "time"
    if origin in (tuple, frozenset):
        return "ticks" if options else "lines"
    if origin is Mapping:
        return "toml" if get_args(inner)[1] is Any else "pairs"
    if inner in (int, float):
        return "plain"
    return "area" if entry.key in LONG else "text"


def _options(entry: Entry, kind: type[Section], campaign: Campaign) -> tuple[tuple[str, str], ...]:
    inner = type_and_marks(entry.form)[0]
    if get_origin(inner) is Literal:
        return tuple((one, one) for one in get_args(inner))
    if inner is bool:
        return ("true", say_plain("yes")), ("false", say_plain("no"))
    named: Mapping[str, Any] = {
        "dataset": campaign.packs,
        "querysets": campaign.querysets,
        "tracks": campaign.tracks,
        "two_people": ACTS,
        "tasks": (*TASKS, *sorted(name for name in registry.names("tasks") if name not in map(str.lower, TASKS))),
    }
    if kind is Campaign and entry.key != "two_people":
        return ()
    found = named.get(entry.key, campaign.languages if kind is not Campaign and entry.key == "languages" else ())
    return tuple((one, one) if isinstance(one, str) else (one.id, getattr(one, "title", "") or one.id) for one in found)


def _usual(entry: Entry) -> str:
    default = entry.default
    if default is NOTHING or default is None or callable(default) or default in ("", (), frozenset()):
        return ""
    if isinstance(default, bool):
        return say_plain("yes") if default else say_plain("no")
    return str(default) if isinstance(default, str | int | float) else ""


def _shown_text(kind: FieldKind, held: Any, zone_name: str) -> str:
    """An entry of the file as its field shows it."""
    if kind == "time":
        return _wall(held, zone_name)
    if kind in ("ticks", "lines"):
        return "\n".join(map(str, held)) if isinstance(held, list) else str(held)
    if kind == "pairs":
        return _pairs_or_text(held)
    if kind == "toml":
        return _toml_lines(held) if isinstance(held, Mapping) else ""
    if isinstance(held, bool):
        return "true" if held else "false"
    return str(held)


def _wall(held: Any, zone_name: str) -> str:
    """A time as pickers take it, in the campaign's zone; one that cannot be read stays as it is."""
    try:
        moment = instant_of(held, zone_name).utc
    except (TimeError, AttributeError):
        return str(held)
    return f"{moment.astimezone(zone(zone_name)):%Y-%m-%dT%H:%M}"


def _pairs_or_text(held: Any) -> str:
    return (
        "\n".join(f"{name} = {value}" for name, value in held.items()) if isinstance(held, Mapping) else str(held or "")
    )


def _toml_lines(values: Mapping[str, Any]) -> str:
    return "\n".join(f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items())


def _value(one: EntryField, text: str, zone_name: str) -> Any:
    """What the file says for a typed text; None where nothing was entered."""
    if not text:
        return None
    if one.kind == "time":
        return text.replace("T", " ") if _WALL.fullmatch(text) else str(instant_of(text, zone_name) and text)
    if one.kind in ("ticks", "lines"):
        return list(dict.fromkeys(text.split("\n")))
    if one.kind == "pairs":
        return _pairs(text)
    if one.kind == "toml":
        return _table(text)
    if one.name == "primary" and "=" in text:
        return _pairs(text)
    if one.kind == "plain" or (one.kind == "choice" and text in ("true", "false")):
        return _number(text)
    return text


def _pairs(text: str) -> dict[str, Any]:
    """Lines of `name = value`; whole numbers are numbers."""
    found: dict[str, Any] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ValueError(say_plain("write one “name = value” per line"))
        found[name.strip()] = int(value) if value.strip().isdecimal() else value.strip()
    return found


def _table(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from None


def _number(text: str) -> Any:
    """A number or a switch; anything else stays text, which the reader of the file knows, or tells what to write."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _put_value(found: dict[str, Any], one: EntryField, value: Any, values: Mapping[str, Any]) -> None:
    """Put a changed value under its key, or into the table that it belongs to."""
    if one.name == OTHERS:
        before = _table(one.value) if one.value else {}
        found.update(dict.fromkeys(before) | (value or {}))
        return
    key, dot, part = one.name.partition(".")
    if not dot:
        found[key] = value
        return
    held = found.get(key, values.get(key))
    table = dict(held) if isinstance(held, Mapping) else {}
    table.pop(part, None)
    if value is not None:
        table[part] = value
    found[key] = table or None


def _plain_words(text: str) -> str:
    """The words below a field of the class, without references to rules and marks of code."""
    return _RULE.sub("", " ".join(text.split())).replace("`", "").replace('"', "")
