"""A clock that stands still until it is set or moved forward."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

BEGINNING = datetime(2018, 1, 15, 12, 0, tzinfo=UTC)
"""A Monday in the small season's first window."""


class SetClock:
    """The time in a test; hand it to an office as its clock.

    >>> clock = SetClock("2018-01-15 12:00")
    >>> clock.forward(minutes=1, microseconds=1).isoformat()
    '2018-01-15T12:01:00.000001+00:00'
    """

    def __init__(self, now: datetime | str = BEGINNING) -> None:
        self.now = _in_utc(now)

    def __call__(self) -> datetime:
        """The time that was set."""
        return self.now

    def set(self, now: datetime | str) -> datetime:
        """Set the clock, to a moment or to text like `2018-04-06 09:00` in UTC."""
        self.now = _in_utc(now)
        return self.now

    def forward(self, step: timedelta = timedelta(0), **parts: float) -> datetime:
        """Move the clock, by a duration or by its parts: `forward(days=1, microseconds=-1)`."""
        self.now += step + timedelta(**parts)
        return self.now


def _in_utc(moment: datetime | str) -> datetime:
    moment = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
