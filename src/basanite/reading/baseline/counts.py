"""How many touchdowns, conversions, field goals and safeties a report gives a team."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from basanite.reading.baseline.numbers import CARDINAL, ORDINAL, number
from basanite.reading.baseline.report import Place, Report

EVENTS: Final = {
    "touchdownCompleteCount": r"touchdowns?(?: (?:pass(?:es)?|runs?|catches))?|TDs?",
    "onePointConversionCompleteCount": r"extra points?",
    "twoPointConversionCompleteCount": r"two-point (?:conversion|pass|try|play)s?",
    "fieldGoalCompleteCount": r"field goals?",
    "safetyCompleteCount": r"safet(?:y|ies)",
}
_AMOUNT: Final = (
    rf"(?P<amount>{CARDINAL}|{ORDINAL}(?! (?:quarter|period|down|half))|both|a pair of|single|only|lone|no)"
)
_FORMS: Final = {
    name: re.compile(rf"\b{_AMOUNT}(?: [\w'’-]+){{0,3}}? (?:{words})\b", re.IGNORECASE)
    for name, words in EVENTS.items()
}
_SHARED: Final = re.compile(r"\b(?:apiece|[Ee]ach (?:side|team))\b")
MOST: Final = 10
"""More of one kind than this is no count of a team's scores in one game."""
_ONCE: Final = {
    "safetyCompleteCount": re.compile(r"\b(?:[Aa] )?[Ss]afety\b"),
    "twoPointConversionCompleteCount": re.compile(r"\ba two-point (?:conversion|pass|try|play)\b"),
}


def counts(report: Report, pair: Sequence[str], begin: int, end: int) -> dict[tuple[str, str], tuple[int, Place]]:
    """For each team and kind of event the largest number that a stretch of a report gives, and where.

    >>> counts(Report("The Jets kicked two field goals."), ("New York Jets",), 0, 32)
    {('New York Jets', 'fieldGoalCompleteCount'): (2, (16, 31))}
    """
    found: dict[tuple[str, str], tuple[int, Place]] = {}
    for name, amount, place in _amounts(report.text, begin, end):
        for team in _owners(report, pair, place):
            if found.get((team, name), (-1, place))[0] < amount <= MOST:
                found[team, name] = (amount, place)
    return found


def _amounts(text: str, begin: int, end: int) -> Iterator[tuple[str, int, Place]]:
    for name, form in _FORMS.items():
        for match in form.finditer(text, begin, end):
            yield name, number(match["amount"]), match.span()
    for name, form in _ONCE.items():
        for match in form.finditer(text, begin, end):
            yield name, 1, match.span()


def _owners(report: Report, pair: Sequence[str], place: Place) -> Sequence[str]:
    """The team that an amount belongs to: named inside it, before it in the sentence, after it, or last of all."""
    if _SHARED.search(report.text, max(0, place[0] - 40), place[1] + 12):
        return pair
    first, last = report.sentence(place[0])
    chosen = (
        report.inside(*place, pair)[:1]
        or report.inside(first, place[0], pair)[-1:]
        or report.inside(place[1], last, pair)[:1]
    )
    team = chosen[0].team if chosen else report.last(first, pair)
    return [team] if team else []
