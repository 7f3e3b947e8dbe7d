"""Times as people need them: in the campaign's zone, in UTC and in the reader's own (P-27)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from basanite.server.catalogue import plural, say, say_plain, sentence

AOE = timezone(timedelta(hours=-12), "AoE")
"""Anywhere on Earth: a day is over when it is over everywhere."""

DAYS = (
    sentence("Mon"), sentence("Tue"), sentence("Wed"), sentence("Thu"), sentence("Fri"), sentence("Sat"),
    sentence("Sun"),
)  # fmt: skip
MONTHS = (
    sentence("Jan"), sentence("Feb"), sentence("Mar"), sentence("Apr"), sentence("May"), sentence("Jun"),
    sentence("Jul"), sentence("Aug"), sentence("Sep"), sentence("Oct"), sentence("Nov"), sentence("Dec"),
)  # fmt: skip
JUST_NOW = 10
"""Seconds before and after which nobody counts."""


@dataclass(frozen=True)
class Clocks:
    """The zones in which a page shows its times, and what time it is."""

    now: datetime
    campaign: str = "UTC"
    viewer: str = "UTC"

    @property
    def zones(self) -> tuple[str, ...]:
        """Every zone once: the campaign's, UTC, and the reader's own.

        >>> Clocks(datetime(2026, 1, 1)).zones
        ('UTC',)
        """
        return tuple(dict.fromkeys((self.campaign, "UTC", self.viewer)))

    def in_zones(self, moment: datetime) -> ShownMoment:
        """A moment in the campaign's zone, with the others where they differ."""
        local = moment.astimezone(zone(self.campaign))
        others = [_other(moment, local, name) for name in self.zones[1:]]
        return ShownMoment(moment, day(local), f"{local:%H:%M}", _abbreviation(local), tuple(filter(None, others)))

    def away(self, moment: datetime) -> str:
        """How far a moment is, in words."""
        return distance(moment - self.now)


@dataclass(frozen=True)
class ShownMoment:
    """One moment as written on a page."""

    moment: datetime
    day: str
    clock: str
    zone: str
    others: tuple[str, ...]

    @property
    def machine(self) -> str:
        """The moment for programs."""
        return self.moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def zone(name: str) -> tzinfo:
    """The zone of a name, `AoE` included; UTC for a name that nobody knows.

    >>> str(zone("AoE")), str(zone("Mars/Olympus"))
    ('AoE', 'UTC')
    """
    if name == "AoE":
        return AOE
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def zones() -> list[str]:
    """The zones that a reader may choose from."""
    return ["UTC", *sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))]


def day(moment: datetime) -> str:
    """The day in words that mean the same everywhere.

    >>> day(datetime(2018, 4, 6, tzinfo=UTC))
    'Fri 6 Apr 2018'
    """
    return f"{_short_day(moment)} {moment.year}"


def _short_day(moment: datetime) -> str:
    """The day without its year, in the language of the page."""
    return f"{say_plain(DAYS[moment.weekday()])} {moment.day} {say_plain(MONTHS[moment.month - 1])}"


def distance(span: timedelta) -> str:
    """A span in the one or two units that matter.

    >>> distance(timedelta(days=2, hours=5)), distance(timedelta(minutes=-3))
    (Markup('in 2 days 5 h'), Markup('3 min ago'))
    """
    seconds = abs(int(span.total_seconds()))
    if seconds < JUST_NOW:
        return say("just now")
    words = _words(seconds)
    return say("{span} ago", span=words) if span < timedelta(0) else say("in {span}", span=words)


def _words(seconds: int) -> str:
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    if days >= 14:
        return plural(days, "{count} day", "{count} days")
    if days:
        return plural(days, "{count} day", "{count} days") + (say(" {hours} h", hours=hours) if hours else "")
    if hours:
        return say("{hours} h {minutes} min", hours=hours, minutes=minutes)
    return say("{minutes} min", minutes=minutes) if minutes else say("{seconds} s", seconds=seconds)


def _other(moment: datetime, local: datetime, name: str) -> str:
    there = moment.astimezone(zone(name))
    if there.utcoffset() == local.utcoffset():
        return ""
    when = f"{there:%H:%M}" if there.date() == local.date() else f"{_short_day(there)} {there:%H:%M}"
    return f"{when} {_abbreviation(there)}"


def _abbreviation(moment: datetime) -> str:
    name = moment.tzname() or "UTC"
    return name if name[:1] not in "+-" else f"UTC{name[:3]}" + (f":{name[3:]}" if name[3:] else "")
