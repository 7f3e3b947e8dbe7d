"""Entries of a campaign's file: those of a plan, and instants, durations and sizes as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from basanite.campaign.model.plan import Instant
from basanite.campaign.model.time.zones import FORM, TimeError, instant_of
from basanite.formats.toml.entries import NAME, NAME_FIX, Entries

RULE: Final = "M62"
FAR: Final = Instant(datetime.fromisoformat("1970-01-01T00:00:00+00:00"))
"""Stands for an instant that could not be read; the campaign is not given out then."""
UNITS: Final = {"s": 1, "sec": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "day": 86400, "week": 604800}
SIZES: Final = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
LONGEST_DURATION: Final = timedelta(days=3660)
_DURATION: Final = re.compile(r"(\d{1,9})\s*([a-z]+?)s?")
_SIZE: Final = re.compile(r"(\d{1,12})\s*([A-Za-z]{1,3})")


@dataclass(frozen=True)
class CampaignEntries(Entries):
    """One table of a campaign's file; asking for a key gives its value, or a problem with its line and the default."""

    zone: str = "UTC"

    @property
    def place(self) -> str:
        """The table in words: by its id where it has one, since that is how its writer knows it."""
        if not self.path:
            return "the campaign"
        name = self.values.get("id")
        if isinstance(name, str) and name and isinstance(self.path[-1], int):
            return f"{self.path[-2]} {name!r}"
        return ".".join(str(part + 1 if isinstance(part, int) else part) for part in self.path)

    def add(self, message: str, fix: str, *, key: str = "", found: Any = "", rule: str = RULE) -> None:
        """Report a problem of this table, or of one of its keys."""
        super().add(message, fix, key=key, found=found, rule=rule)

    def instant(self, key: str) -> Instant:
        """An instant that is needed."""
        found = self.optional_instant(key)
        if found is None and key not in self.values:
            self.add(f"{self.place} has no time `{key}`", f"{key}: {FORM}", key=key, rule="P-27")
        return found or FAR

    def optional_instant(self, key: str) -> Instant | None:
        """An instant, or nothing if there is none."""
        return self._read_instant(key, self.values[key]) if key in self.values else None

    def instants(self, key: str) -> tuple[Instant, ...]:
        """A list of instants."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            self.add(f"`{key}` of {self.place} is no list of times", f'write {key} = ["…"]', key=key, found=value)
            return ()
        return tuple(found for item in value if (found := self._read_instant(key, item)))

    def _read_instant(self, key: str, value: Any) -> Instant | None:
        try:
            if isinstance(value, str | datetime):
                return instant_of(value, self.zone)
            raise TimeError(f"`{key}` of {self.place} is no date with a time")
        except TimeError as error:
            self.add(f"`{key}` of {self.place}: {error}", FORM, key=key, found=str(value), rule="P-27")
        return None

    def duration(self, key: str, default: timedelta) -> timedelta:
        """A duration such as "60 min" or "2 days"."""
        value = self.values.get(key)
        if value is None:
            return default
        match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
        if match and match[2] in UNITS and int(match[1]) * UNITS[match[2]] <= LONGEST_DURATION.total_seconds():
            return timedelta(seconds=int(match[1]) * UNITS[match[2]])
        fix = f'write {key} = "60 min", "2 h" or "7 days"'
        self.add(f"`{key}` of {self.place} is no duration", fix, key=key, found=value, rule="P-27")
        return default

    def size(self, key: str, default: int) -> int:
        """A number of bytes, or a size such as "8 GiB"."""
        value = self.values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
        if match and match[2] in SIZES and int(match[1]):
            return int(match[1]) * SIZES[match[2]]
        self.add(f"`{key}` of {self.place} is no size", f'write {key} = "8 GiB"', key=key, found=value)
        return default

    def id(self) -> str:
        """The name by which other entries, addresses and folders know this one."""
        value = self.text("id")
        if value and not NAME.fullmatch(value):
            self.add(f"the id {value!r} cannot be part of an address", NAME_FIX, key="id", found=value)
        return value

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of different texts."""
        value = self.values.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            self.add(f"`{key}` of {self.place} is no list of texts", f'write {key} = ["…"]', key=key, found=value)
            return ()
        if len(set(value)) < len(value):
            self.add(f"`{key}` of {self.place} names something twice", "name each once", key=key, found=value)
        return tuple(dict.fromkeys(value))

    def chosen(self, key: str, allowed: Sequence[str], default: str) -> Any:
        """One of some words; the default where another word stands, which is reported."""
        value = self.choice(key, allowed, default)
        return value if value in allowed else default
