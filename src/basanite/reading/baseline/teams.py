"""The teams of the league and the places where a text names them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

TEAMS: Final = (
    "Arizona Cardinals",
    "Atlanta Falcons",
    "Baltimore Ravens",
    "Buffalo Bills",
    "Carolina Panthers",
    "Chicago Bears",
    "Cincinnati Bengals",
    "Cleveland Browns",
    "Dallas Cowboys",
    "Denver Broncos",
    "Detroit Lions",
    "Green Bay Packers",
    "Houston Texans",
    "Indianapolis Colts",
    "Jacksonville Jaguars",
    "Kansas City Chiefs",
    "Las Vegas Raiders",
    "Los Angeles Chargers",
    "Los Angeles Rams",
    "Miami Dolphins",
    "Minnesota Vikings",
    "New England Patriots",
    "New Orleans Saints",
    "New York Giants",
    "New York Jets",
    "Philadelphia Eagles",
    "Pittsburgh Steelers",
    "San Francisco 49ers",
    "Seattle Seahawks",
    "Tampa Bay Buccaneers",
    "Tennessee Titans",
    "Washington Commanders",
)
SHORT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Bucs": "Tampa Bay Buccaneers",
        "Jags": "Jacksonville Jaguars",
        "Niners": "San Francisco 49ers",
        "Pats": "New England Patriots",
        "Vikes": "Minnesota Vikings",
    }
)
GROUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ORCHARD PARK": "Buffalo Bills",
        "GLENDALE": "Arizona Cardinals",
        "LANDOVER": "Washington Commanders",
        "SANTA CLARA": "San Francisco 49ers",
    }
)
"""Towns that reports of home games are sent from, where the team is named after another place."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A piece of text that names a team."""

    team: str
    start: int
    end: int


def nickname(team: str) -> str:
    """What a team is called without its place.

    >>> nickname("New York Jets"), place("New York Jets")
    ('Jets', 'New York')
    """
    return team.rpartition(" ")[2]


def place(team: str) -> str:
    """The town, state or region that a team is named after."""
    return team.rpartition(" ")[0]


def aliases(team: str) -> tuple[str, ...]:
    """Every name of a team that belongs to it alone, the full one first.

    >>> aliases("New York Jets"), aliases("Chicago Bears")
    (('New York Jets', 'Jets'), ('Chicago Bears', 'Bears', 'Chicago'))
    """
    own = [place(team)] if len(_AT[place(team)]) == 1 else []
    return (team, nickname(team), *own, *(short for short, owner in SHORT.items() if owner == team))


def mentions(text: str) -> list[Mention]:
    """Where a text names teams, in order; a place with two teams counts for the one named otherwise.

    >>> [mention.team for mention in mentions("New York won. The Jets are 5-4.")]
    ['New York Jets', 'New York Jets']
    """
    found = [match for match in _NAME.finditer(text) if not _DATELINE.match(text, match.start())]
    certain = Counter(_OWNER[match[0].upper()] for match in found if match[0].upper() in _OWNER)
    resolved = ((_resolve(match[0].upper(), certain), match) for match in found)
    return [Mention(team, *match.span()) for team, match in resolved if team]


def dateline(text: str) -> tuple[str, int] | None:
    """The home team that a report's dateline tells, and where the town ends.

    >>> dateline("LANDOVER - It rained.")
    ('Washington Commanders', 8)
    """
    match = re.match(r"[A-Z][A-Z. ]+(?=,| -)", text)
    if not match or " - " not in text.partition("\n")[0]:
        return None
    team = GROUNDS.get(match[0]) or _OWNER.get(match[0]) or _resolve(match[0], Counter(m.team for m in mentions(text)))
    return (team, match.end()) if team else None


def _resolve(name: str, seen: Mapping[str, int]) -> str:
    if name in _OWNER:
        return _OWNER[name]
    named = [team for team in _AT.get(name.title(), ()) if seen.get(team)]
    return max(named, key=lambda team: seen[team], default="")


def _grouped(teams: Iterable[str]) -> dict[str, list[str]]:
    at: dict[str, list[str]] = {}
    for team in teams:
        at.setdefault(place(team), []).append(team)
    return at


_AT: Final = _grouped(TEAMS)
_OWNER: Final = {alias.upper(): team for team in TEAMS for alias in aliases(team)}
_WRITTEN: Final = sorted(
    {form for name in (*_OWNER, *map(str.upper, _AT)) for form in (name, name.title().replace("Ers", "ers"))},
    key=lambda name: (-len(name), name),
)
_NAME: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, _WRITTEN))})(?!\w)")
_DATELINE: Final = re.compile(r"(?<![\s\S])[A-Z. ]+(?:,[^\n]{1,20})? - ")
