"""Instants as people write them: in the campaign's zone, in a zone named behind them, or anywhere on earth (P-27)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

AOE: Final = timezone(timedelta(hours=-12), "AoE")
"""Anywhere on earth: a day is over when it is over everywhere."""
EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)
FORM: Final = 'write "2018-05-14 00:00", followed by a time zone if needed: "2018-05-18 24:00 AoE"'
_INSTANT: Final = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[ T](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2}))?"
    r"(?:\s*(?P<zone>[A-Za-z].*))?"
)


@dataclass(frozen=True)
class Instant:
    """A moment with the zone it was declared in (AoE included), so that pages can show both (P-27)."""

    utc: datetime
    zone: str = "UTC"


class TimeError(ValueError):
    """A text is no instant, or names a zone nobody knows; the message says what is wrong."""


def zone_of(name: str) -> tzinfo:
    """The zone of a name: one of the IANA list, UTC, or AoE.

    >>> zone_of("AoE").utcoffset(None)
    datetime.timedelta(days=-1, seconds=43200)
    """
    if name.lower() in ("aoe", "anywhere on earth"):
        return AOE
    if name in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise TimeError(f"{name[:60]!r} is not a time zone: write one like Europe/Paris, UTC or AoE") from None


def instant_of(value: str | datetime, zone: str) -> Instant:
    """The instant that a text or a date-time of TOML means, in the campaign's zone unless it names its own.

    >>> instant_of("2018-05-18 24:00", "America/New_York").utc.isoformat()
    '2018-05-19T04:00:00+00:00'
    >>> instant_of("2018-05-18 24:00 AoE", "America/New_York").utc.isoformat()
    '2018-05-19T12:00:00+00:00'
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            return _within_bounds(value, zone)
        name = value.strftime("UTC%z") if value.utcoffset() else "UTC"
        return Instant(_within(value.astimezone(UTC) if _near(value) else value), name)
    match = _INSTANT.fullmatch(value.strip())
    if not match:
        raise TimeError(f"{value[:60]!r} is not a date with a time")
    name = (match["zone"] or zone).strip()
    return _within_bounds(_local(match), name)


def _near(value: datetime) -> bool:
    return EARLIEST.year < value.year < LATEST.year


def _local(match: re.Match[str]) -> datetime:
    """The moment on the wall; 24:00 is the next day's beginning."""
    hour, rest = int(match["hour"]), (int(match["minute"]), int(match["second"] or 0))
    try:
        day = datetime.fromisoformat(match["date"])
        if hour == 24 and not any(rest):
            return day + timedelta(days=1)
        return day.replace(hour=hour, minute=rest[0], second=rest[1])
    except (ValueError, OverflowError):
        raise TimeError(f"{match[0]!r} is not a valid date or time") from None


def _within_bounds(local: datetime, zone: str) -> Instant:
    """A moment on the wall of a zone; one that the clock skips or shows twice is refused, not guessed."""
    if not _near(local):
        raise TimeError(f"the year {local.year} is out of range")
    aware = local.replace(tzinfo=zone_of(zone))
    utc = aware.astimezone(UTC)
    if utc.astimezone(aware.tzinfo).replace(tzinfo=None) != local:
        raise TimeError(f"{local:%Y-%m-%d %H:%M} does not exist in {zone}, because the clock skips it; write it in UTC")
    if aware.replace(fold=1).utcoffset() != aware.utcoffset():
        raise TimeError(f"{local:%Y-%m-%d %H:%M} occurs twice in {zone}, because the clock goes back; write it in UTC")
    return Instant(_within(utc), _canonical(zone))


def _canonical(zone: str) -> str:
    return "AoE" if zone_of(zone) is AOE else "UTC" if zone_of(zone) is UTC else zone


def _within(utc: datetime) -> datetime:
    if EARLIEST <= utc <= LATEST:
        return utc
    raise TimeError(f"the year {utc.year} is out of range")


def shown_in(moment: datetime, zone: str) -> str:
    """A moment as the clock of a zone shows it.

    >>> shown_in(datetime(2018, 5, 19, 4, tzinfo=UTC), "America/New_York")
    '2018-05-19 00:00 America/New_York'
    """
    return f"{moment.astimezone(zone_of(zone)):%Y-%m-%d %H:%M} {_canonical(zone)}"


def spelt(moment: datetime, campaign_zone: str, viewer_zone: str = "") -> str:
    """A moment in UTC, in the campaign's zone and in the viewer's, each zone once (P-27).

    >>> spelt(datetime(2018, 5, 19, 4, tzinfo=UTC), "America/New_York", "Europe/Paris")
    '2018-05-19 04:00 UTC (2018-05-19 00:00 America/New_York, 2018-05-19 06:00 Europe/Paris)'
    """
    zones = [zone for zone in dict.fromkeys((campaign_zone, viewer_zone)) if zone and _canonical(zone) != "UTC"]
    others = ", ".join(shown_in(moment, zone) for zone in zones)
    return shown_in(moment, "UTC") + (f" ({others})" if others else "")
