"""Entries of a campaign file that pydantic does not know: instants and durations as people write them, ids, sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from basanite.campaign.model.redaction import USUAL_ERRORS
from basanite.campaign.model.zones import FORM, Instant, TimeError, instant_of, zone_of
from basanite.formats.config_file import NAME, NAME_FIX, Needed, WrongError, distinct
from basanite.formats.toml_file import Table

FAR: Final = Instant(datetime.fromisoformat("1970-01-01T00:00:00+00:00"))
"""Stands for an instant that could not be read; the campaign is not given out then."""
ACTS: Final = ("release", "reference", "void", "role")
SLUG: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
UNITS: Final = {"s": 1, "sec": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "day": 86400, "week": 604800}
SIZES: Final = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
LONGEST_DURATION: Final = timedelta(days=3660)
_DURATION: Final = re.compile(r"(\d{1,9})\s*([a-z]+?)s?")
_SIZE: Final = re.compile(r"(\d{1,12})\s*([A-Za-z]{1,3})")


@dataclass(frozen=True)
class CampaignTable(Table):
    """One table of a campaign's file."""

    rule: ClassVar[str] = "M62"
    whole_file: ClassVar[str] = "the campaign"

    zone: str = "UTC"
    """The clock of instants that name none."""

    @property
    def place(self) -> str:
        """The table in words: by its id where it has one, since that is how its writer knows it."""
        name = self.values.get("id")
        if isinstance(name, str) and name and self.path and isinstance(self.path[-1], int):
            return f"{self.path[-2]} {name!r}"
        return super().place


def _instant(value: Any, info: ValidationInfo) -> Instant:
    try:
        if isinstance(value, str | datetime):
            return instant_of(value, info.context.zone)  # type: ignore[union-attr]
        raise TimeError("`{key}` of {place} is not a date with a time")
    except TimeError as error:
        found = str(list(value) if isinstance(value, tuple) else value)
        raise WrongError(f"`{{key}}` of {{place}}: {error}", FORM, rule="P-27", found=found) from None


def _duration(value: Any) -> timedelta:
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match and match[2] in UNITS and int(match[1]) * UNITS[match[2]] <= LONGEST_DURATION.total_seconds():
        return timedelta(seconds=int(match[1]) * UNITS[match[2]])
    fix = 'write {key} = "60 min", "2 h" or "7 days"'
    raise WrongError("`{key}` of {place} is not a duration", fix, rule="P-27")


def _size(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match and match[2] in SIZES and int(match[1]):
        return int(match[1]) * SIZES[match[2]]
    raise WrongError("`{key}` of {place} is not a size", 'write {key} = "8 GiB"')


def _part_of_address(text: str) -> str:
    if text.strip() and not NAME.fullmatch(text):
        raise WrongError(f"the ID {text!r} cannot be part of a web address", NAME_FIX, instead=text)
    return text


def _slug(text: str) -> str:
    if text.strip() and not SLUG.fullmatch(text):
        fix = "use lowercase letters, digits and hyphens, at most 64"
        raise WrongError(f"the slug {text!r} cannot be part of a web address", fix, instead=text)
    return text


def _zone(name: str) -> str:
    try:
        zone_of(name)
    except TimeError as error:
        fix = "use an IANA time zone name, UTC or AoE"
        raise WrongError(f"the campaign's time zone: {error}", fix, rule="P-27", instead="UTC") from None
    return name


def _act(name: str) -> str:
    if name not in ACTS:
        raise WrongError(f"there is no action {name!r}", f"write some of {', '.join(ACTS)}", rule="X-4", found=name)
    return name


def _times(value: Any) -> Any:
    if not isinstance(value, tuple):
        raise WrongError("`{key}` of {place} is not a list of times", 'write {key} = ["…"]')
    return value


def usual_errors_for_true(value: Any, check: Callable[[Any], float]) -> float | None:
    """The standard errors of a ladder; `true` means the usual two, `false` no ladder (S-17)."""
    return None if value is False else check(USUAL_ERRORS if value is True else value)


def _set_of_texts(value: Any) -> Any:
    texts = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return frozenset(distinct(value)) if texts else value


Time: TypeAlias = Annotated[
    Instant, PlainValidator(_instant), WithJsonSchema({"type": "string", "description": "An instant."})
]
Times: TypeAlias = Annotated[tuple[Time, ...], BeforeValidator(_times)]
NO_TIME: Final = Needed("{place} has no time `{key}`", f"{{key}}: {FORM}", rule="P-27", stand_in=FAR)
Duration: TypeAlias = Annotated[timedelta, PlainValidator(_duration), WithJsonSchema({"type": "string"})]
Size: TypeAlias = Annotated[int, PlainValidator(_size), WithJsonSchema({"type": ["integer", "string"]})]
Id: TypeAlias = Annotated[str, AfterValidator(_part_of_address)]
Slug: TypeAlias = Annotated[str, AfterValidator(_slug)]
Zone: TypeAlias = Annotated[str, AfterValidator(_zone)]
TwoPeople: TypeAlias = Annotated[frozenset[Annotated[str, AfterValidator(_act)]], BeforeValidator(_set_of_texts)]


def settings_with_primary(table: Table) -> dict[str, Any]:
    """Settings of scoring; `primary` is one of them: a metric for all tasks of the row, or one for each by name."""
    settings, primary = dict(table.table("settings", needed=False).values), table.values["primary"]
    if "primary" in settings:
        table.add(f"{table.place} gives its primary metric twice", "remove it from `settings`", key="settings")
    if not isinstance(primary, Mapping):
        return {**settings, "primary": _metric(table, "primary")}
    names = table.table("primary")
    for task in names.values:
        own = settings.get(task, {})
        settings[task] = {**(own if isinstance(own, Mapping) else {}), "primary": _metric(names, task)}
    return settings


def _metric(table: Table, key: str) -> str:
    """The name of a metric; nothing, with a problem, if it is none."""
    name = table.values[key]
    if isinstance(name, str) and name.strip():
        return name
    table.add(f"{table.place} has no text `{key}`", f'write {key} = "…"', key=key, found=name)
    return ""
