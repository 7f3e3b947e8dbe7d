"""Weeks, days and whole windows over which a quota counts, by the clock of the campaign's zone (C34)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from basanite.campaign.model.plan import Period, Window
from basanite.campaign.model.time.zones import zone_of


@dataclass(frozen=True)
class Span:
    """From one instant until before another, both in UTC."""

    begins: datetime
    ends: datetime

    def __contains__(self, moment: datetime) -> bool:
        return self.begins <= moment < self.ends

    @property
    def name(self) -> str:
        """What a charge is filed under: the first moment, in ISO."""
        return self.begins.isoformat()


def week(moment: datetime, zone: str) -> Span:
    """Monday 00:00 to Sunday 24:00 around a moment; 167 or 169 hours where the clock is changed.

    >>> span = week(datetime(2018, 3, 9, 12, tzinfo=UTC), "America/New_York")
    >>> span.name, (span.ends - span.begins).total_seconds() / 3600
    ('2018-03-05T05:00:00+00:00', 167.0)
    """
    monday = moment.astimezone(zone_of(zone)).date()
    monday -= timedelta(days=monday.weekday())
    return _days(datetime.combine(monday, time()), 7, zone)


def day(moment: datetime, zone: str) -> Span:
    """Midnight to midnight around a moment."""
    return _days(datetime.combine(moment.astimezone(zone_of(zone)).date(), time()), 1, zone)


def _days(start: datetime, count: int, zone: str) -> Span:
    place = zone_of(zone)
    ends = start + timedelta(days=count)
    return Span(start.replace(tzinfo=place).astimezone(UTC), ends.replace(tzinfo=place).astimezone(UTC))


def period_of(kind: Period, moment: datetime, window: Window, zone: str) -> Span:
    """The period of a quota that a moment falls into; for `total` it is the window itself."""
    if kind == "week":
        return week(moment, zone)
    return day(moment, zone) if kind == "day" else Span(window.opens.utc, window.closes.utc)
