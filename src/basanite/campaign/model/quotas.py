"""How many are left: attempts counted by team, language, task and data set over a week, a day or a window (M64, C34).

Development rows that follow each other share their weekly count, so that a row which changes on a Friday gives nobody
a second attempt; evaluation and sanity weeks count for themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from basanite.campaign.model.plan import Campaign, Period, Window
from basanite.campaign.model.zones import zone_of


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


Extras = Mapping[tuple[str, str], int]
"""Attempts given beyond the quota, by key and period."""


@dataclass(frozen=True)
class Use:
    """One attempt that counts: reserved or charged, not freed and not refunded."""

    key: str
    period: str
    task: str
    type: str


@dataclass(frozen=True)
class Account:
    """What is counted together, and over which time."""

    key: str
    span: Span

    @property
    def period(self) -> str:
        """What charges of this time are filed under."""
        return self.span.name


@dataclass(frozen=True)
class Balance:
    """Attempts of one account: how many there are, how many are gone."""

    count: int
    used: int
    types: Mapping[str, tuple[int, int]]
    """For each bounded type, how many there may be and how many there are."""

    @property
    def left(self) -> int:
        """How many more of any kind."""
        return max(self.count - self.used, 0)

    def left_of(self, task: str, kind: str) -> int:
        """How many more of one type of a task."""
        bounds = [most - gone for name, (most, gone) in self.types.items() if name in (kind, f"{task}/{kind}")]
        return max(min([self.left, *bounds]), 0)


def pooled_tasks(window: Window) -> tuple[str, ...]:
    """Tasks that share one count in this window: those whose types the quota bounds by task (M67)."""
    named = {name.partition("/")[0] for name in window.quota.types if "/" in name}
    return tuple(task for task in window.tasks if task in named)


def account(campaign: Campaign, window: Window, task: str, language: str, track: str, now: datetime) -> Account:
    """Where an attempt is counted: language x task x data set (C34), each track for itself (P-31)."""
    tasks = pooled_tasks(window) if task in pooled_tasks(window) else (task,)
    lasting = window.kind == "development" and window.quota.period != "total"
    scope = f"each {window.quota.period}" if lasting else f"window {window.id}"  # a window may be called `week`
    key = "/".join((scope, language or "-", "+".join(tasks), "+".join(window.dataset), track or "-"))
    return Account(key, period_of(window.quota.period, now, window, campaign.zone))


def balance(window: Window, account: Account, used: Iterable[Use], extras: Extras) -> Balance:
    """What an account holds after these attempts."""
    place = (account.key, account.period)
    mine = [use for use in used if (use.key, use.period) == place]
    count = window.quota.count + extras.get(place, 0)
    named = [(use.type, f"{use.task}/{use.type}") for use in mine]
    types = {name: (most, sum(name in each for each in named)) for name, most in window.quota.types.items()}
    return Balance(count, len(mine), types)
