"""Dates with time as RFC 3339 writes them, checked to the last digit: most schema validators skip this (M44)."""

from __future__ import annotations

import re

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MINUTES = 24 * 60
LEAP_SECOND_DAYS = ((6, 30), (12, 31))


def is_date_time(text: object) -> bool:
    """Whether this is a date-time of RFC 3339 that can exist, with an offset; what is no string passes.

    A 60th second is accepted only where one can be: at 23:59:60 UTC on 30 June or 31 December.

    >>> [is_date_time(text) for text in ("2018-03-27T13:51:00-05:00", "2018-03-27 13:51:00", "2018-02-29T00:00:00Z")]
    [True, False, False]
    """
    if not isinstance(text, str):
        return True
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    ahead = _offset(found[7], found[8], found[9])
    if ahead is None or not _is_date(year, month, day) or hour > 23 or minute > 59 or second > 60:
        return False
    return second < 60 or _may_leap(year, month, day, 60 * hour + minute - ahead)


def _offset(sign: str | None, hours: str, minutes: str) -> int | None:
    """Minutes ahead of UTC; None if there is no such offset."""
    if sign is None:
        return 0
    if int(hours) > 23 or int(minutes) > 59:
        return None
    return (60 * int(hours) + int(minutes)) * (-1 if sign == "-" else 1)


def _is_date(year: int, month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _month_length(year, month)


def _month_length(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _DAYS[month - 1] + leap


def _may_leap(year: int, month: int, day: int, minute: int) -> bool:
    """Whether that minute of that day, counted in UTC, is one that can have a 60th second."""
    days, minute = divmod(minute, _MINUTES)
    if minute != _MINUTES - 1:
        return False
    day += days
    if day == 0:
        month = (month - 2) % 12 + 1
        day = _month_length(year, month)
    elif day > _month_length(year, month):
        return False  # the first of a month
    return (month, day) in LEAP_SECOND_DAYS
