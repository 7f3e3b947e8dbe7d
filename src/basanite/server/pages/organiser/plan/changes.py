"""What a new version of a campaign's file changes, in words: what is added, changed and removed, field by field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from basanite.campaign.model.freezing import Change
from basanite.campaign.model.plan import Campaign
from basanite.server.catalogue import say, sentence

TABLES = {
    "windows": sentence("Window “{name}”"),
    "packs": sentence("Data pack “{name}”"),
    "querysets": sentence("Query set “{name}”"),
    "tracks": sentence("Track “{name}”"),
    "milestones": sentence("Milestone “{name}”"),
    "agreements": sentence("Agreement “{name}”"),
    "rules": sentence("Rules “{name}”"),
}
FIELDS = {
    "opens": sentence("Opens"),
    "closes": sentence("Closes"),
    "tasks": sentence("Tasks"),
    "dataset": sentence("Data"),
    "quota.count": sentence("Quota"),
    "quota.period": sentence("Quota for each"),
    "quota.types": sentence("Quota by type"),
    "feedback": sentence("Feedback"),
    "kind": sentence("Kind"),
    "languages": sentence("Languages"),
    "querysets": sentence("Query sets"),
    "naming": sentence("Naming of teams"),
    "transfer_grace": sentence("Grace for uploads"),
    "late_grace": sentence("Grace for late runs"),
    "certification": sentence("Certification"),
    "results_at": sentence("Results at"),
    "two_people": sentence("Acts that take two people"),
    "title": sentence("Title"),
    "zone": sentence("Time zone"),
    "released": sentence("Released"),
    "key_at": sentence("Key published"),
    "sealed": sentence("Sealed key"),
    "version": sentence("Version"),
    "text": sentence("Text"),
}
"""Fields of the file in words; others by their own name."""
_SECONDS = re.compile(r"([\d.e+]+) s")


@dataclass(frozen=True)
class Fact:
    """One field: what it says, and what it said."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ChangeLine:
    """One thing of the plan that is added, changed or removed."""

    state: str
    """`added`, `changed`, `removed`."""
    what: str
    facts: tuple[Fact, ...]


def change_lines(changes: Iterable[Change], *campaigns: Campaign) -> tuple[ChangeLine, ...]:
    """The changes thing by thing; the campaigns, newest first, know what things are called."""
    named = {
        (table, one.id): getattr(one, "title", "") or one.id
        for campaign in reversed(campaigns)
        for table in TABLES
        for one in getattr(campaign, table)
    }
    placed = [(_place(change.what, named), change) for change in changes]
    order = {place[:2]: at for at, (place, _) in reversed(list(enumerate(placed)))}
    placed.sort(key=lambda pair: order[pair[0][:2]])
    grouped = groupby(placed, key=lambda pair: pair[0][:2])
    return tuple(_line(table, named.get((table, id_), id_), list(found)) for (table, id_), found in grouped)


def _place(path: str, named: Mapping[tuple[str, str], str]) -> tuple[str, str, str]:
    """The table, the id and the field that a path names; ids may hold dots, so known ones are looked for."""
    table, _, rest = path.partition(".")
    ids = [one for kind, one in named if kind == table and (rest == one or rest.startswith(f"{one}."))]
    if not ids:
        return "", "", path
    found = max(ids, key=len)
    return table, found, rest[len(found) + 1 :]


def _line(table: str, name: str, found: list[tuple[tuple[str, str, str], Change]]) -> ChangeLine:
    what = say(TABLES[table], name=name) if table else say("Campaign")
    (_, _, field), first = found[0]
    if table and not field and first.before is None:
        return ChangeLine("added", what, tuple(_facts(first.after)))
    if table and not field:
        return ChangeLine("removed", what, ())
    facts = (
        Fact(_field(place[2]), _words(place[2], change.before), _words(place[2], change.after))
        for place, change in found
    )
    return ChangeLine("changed", what, tuple(facts))


def _facts(fields: Mapping[str, Any]) -> Iterator[Fact]:
    """What an added thing says, without what it leaves empty."""
    for name, value in fields.items():
        parts = {f"{name}.{key}": part for key, part in value.items()} if name == "quota" else {name: value}
        yield from (
            Fact(_field(key), "", _words(key, part))
            for key, part in parts.items()
            if key != "id" and part not in (None, "", "0 s", [], {})
        )


def _field(path: str) -> str:
    return say(FIELDS[path]) if path in FIELDS else path.replace("_", " ")


def _words(path: str, value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "–"
    if isinstance(value, bool):
        return say("yes") if value else say("no")
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words('', part)}" for key, part in value.items() if part not in (None, "", [], {}))
    if isinstance(value, list):
        return ", ".join(_words("", part) for part in value)
    seconds = _SECONDS.fullmatch(str(value)) if path in ("transfer_grace", "late_grace", "certification") else None
    return _duration(float(seconds[1])) if seconds else str(value)


def _duration(seconds: float) -> str:
    """A span in the largest unit that fits it.

    >>> _duration(604800), _duration(5400), _duration(3600)
    ('7 days', '90 min', '1 h')
    """
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {'day' if unit == 'days' and count == 1 else unit}"
    return f"{seconds:g} s"
