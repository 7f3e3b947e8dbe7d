"""When and where a game was played, and for how long."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from typing import Final

from basanite.reading.baseline.numbers import CARDINAL, ORDINAL, number
from basanite.reading.baseline.report import Place, Report

_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH: Final = "(?P<month>" + "|".join(rf"{name[:3]}(?:{name[3:]}|t?\.)?" for name in _MONTHS) + ")"
_DATES: Final = (
    re.compile(rf"(?:\b[A-Z][a-z]+day, )?\b{_MONTH} (?P<day>\d{{1,2}}), (?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(rf"\b(?P<day>\d{{1,2}}) {_MONTH},? (?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(rf"\bthe (?P<day>[a-z]+(?:-[a-z]+)?) of {_MONTH},? (?P<year>\d{{4}})", re.IGNORECASE),
)
_OVERTIME: Final = re.compile(
    rf"\b(?:overtime|OT|sudden death|extra (?:period|session|frame)|{ORDINAL} overtime|fifth (?:quarter|period))\b",
    re.IGNORECASE,
)
_ELSEWHERE: Final = re.compile(r"\b(?:last (?:year|season)|in (?:the )?(?:19|20)\d\d|having lost)\b")
_DENIED: Final = re.compile(r"\b(?:no|without|avoided|needed no)\s+(?:any )?$", re.IGNORECASE)
_PERIODS: Final = re.compile(
    rf"\b(?:(?P<count>{CARDINAL}) periods|(?P<last>fifth|sixth) (?:period|quarter))\b", re.IGNORECASE
)
_HOME: Final = re.compile(
    r"\b(?:at home|home (?:team|side|crowd|fans|game|opener)|hosts|own fans|local team|first home game)\b",
    re.IGNORECASE,
)
_AWAY: Final = re.compile(
    r"\b(?:visitors|visiting|guests|on the road|road game|playing away|road games)\b", re.IGNORECASE
)


def game_date(text: str) -> tuple[str, Place] | None:
    """The first full date of a report as year-month-day, and its place.

    >>> game_date("It was the first of December, 2024, and cold.")
    ('2024-12-01', (7, 34))
    """
    found = [match for form in _DATES for match in form.finditer(text)]
    read = ((_as_date(match), match.span()) for match in sorted(found, key=lambda match: match.start()))
    return next(((day, place) for day, place in read if day), None)


def overtime(report: Report, begin: int, end: int) -> tuple[bool, Place] | None:
    """Whether a stretch of a report says that there was overtime, and where.

    >>> overtime(Report("They won without overtime."), 0, 26)
    (False, (17, 25))
    """
    for match in _OVERTIME.finditer(report.text, begin, end):
        first, last = report.sentence(match.start())
        if not _ELSEWHERE.search(report.text, first, last):
            return (not _DENIED.search(report.text, first, match.start()), match.span())
    return None


def periods(text: str, begin: int, end: int) -> tuple[int, Place] | None:
    """How many periods a stretch of a report counts, and where.

    >>> periods("Five periods of football.", 0, 25)
    (5, (0, 12))
    """
    match = _PERIODS.search(text, begin, end)
    return (number(match["count"] or match["last"]), match.span()) if match else None


def sides(report: Report, pair: Collection[str], begin: int, end: int) -> dict[str, tuple[str, Place]]:
    """The home and the away team that a stretch of a report tells in words, each with its place."""
    found: dict[str, tuple[str, Place]] = {}
    for side, words in (("home", _HOME), ("away", _AWAY)):
        for match in words.finditer(report.text, begin, end):
            team = _nearest(report, pair, match.start())
            if team and side not in found:
                found[side] = (team, match.span())
    if len(found) == 2 and found["home"][0] == found["away"][0]:
        del found["away"]
    return found


def _nearest(report: Report, pair: Collection[str], place: int) -> str:
    inside = report.inside(*report.sentence(place), pair)
    return min(inside, key=lambda mention: abs(mention.start - place)).team if inside else ""


def _as_date(match: re.Match[str]) -> str:
    month = next(count for count, name in enumerate(_MONTHS, 1) if name.startswith(match["month"][:3].lower()))
    day = int(match["day"]) if match["day"].isdigit() else number(match["day"])
    try:
        return date(int(match["year"]), month, day).isoformat()
    except ValueError:
        return ""
