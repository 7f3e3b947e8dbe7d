"""A report as the reader sees it: its text, the teams it names, where its sentences are, and words for numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from basanite.formats.texts.normalisers import SMALL, TENS

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


def _teams_by_place(teams: Iterable[str]) -> dict[str, list[str]]:
    at: dict[str, list[str]] = {}
    for team in teams:
        at.setdefault(place(team), []).append(team)
    return at


_AT: Final = _teams_by_place(TEAMS)
_OWNER: Final = {alias.upper(): team for team in TEAMS for alias in aliases(team)}
_WRITTEN: Final = sorted(
    {form for name in (*_OWNER, *map(str.upper, _AT)) for form in (name, name.title().replace("Ers", "ers"))},
    key=lambda name: (-len(name), name),
)
_NAME: Final = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, _WRITTEN))})(?!\w)")
_DATELINE: Final = re.compile(r"(?<![\s\S])[A-Z. ]+(?:,[^\n]{1,20})? - ")


Place = tuple[int, int]
"""Where a piece of text begins and ends, in code points."""

_SENTENCE: Final = re.compile(r"\S(?:[^.!?\n]|[.!?](?!\s|$)|\n(?!\s*\n))*[.!?]?")
"""A rule of its own and a plain one: what a baseline reads must not move when sentences are found better elsewhere."""


@dataclass(frozen=True)
class Report:
    """The text of one document."""

    text: str

    @cached_property
    def mentions(self) -> list[Mention]:
        """Where teams are named, in order."""
        return mentions(self.text)

    @cached_property
    def sentences(self) -> list[Place]:
        """Where sentences begin and end, in order."""
        return [match.span() for match in _SENTENCE.finditer(self.text)]

    def sentence(self, place: int) -> Place:
        """The sentence around a place; an empty one where there is none.

        >>> Report("It rained. The Jets lost.").sentence(15)
        (11, 25)
        """
        before = bisect_right(self.sentences, place, key=lambda sentence: sentence[0]) - 1
        begin, end = self.sentences[before] if before >= 0 else (place, place)
        return (begin, end) if place < end else (place, place)

    def inside(self, begin: int, end: int, pair: Collection[str] = ()) -> list[Mention]:
        """The teams named in a stretch of text; with a pair, only those two."""
        first = bisect_right(self.mentions, begin - 1, key=lambda mention: mention.start)
        last = bisect_right(self.mentions, end - 1, key=lambda mention: mention.start)
        return [mention for mention in self.mentions[first:last] if not pair or mention.team in pair]

    def last(self, place: int, pair: Collection[str]) -> str:
        """The team of a pair that was named last before a place, wherever that was."""
        until = bisect_right(self.mentions, place - 1, key=lambda mention: mention.start)
        return next((mention.team for mention in reversed(self.mentions[:until]) if mention.team in pair), "")


ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_OTHERS: Final = {"a": 1, "an": 1, "single": 1, "lone": 1, "only": 1, "pair": 2, "both": 2, "twice": 2, "no": 0}

_VALUES: Final[dict[str, int]] = {
    **{word: value for value, word in enumerate(SMALL)},
    **{word: 10 * value for value, word in enumerate(TENS, start=2)},
    **{word: value for value, word in enumerate(ORDINALS, start=1)},
    "twentieth": 20,
    "thirtieth": 30,
    **_OTHERS,
}

_TEN, _UNIT = "|".join(TENS), "|".join(SMALL[1:10])
CARDINAL: Final = rf"(?>(?:{_TEN})-(?:{_UNIT})|(?:{'|'.join(SMALL[::-1])})|(?:{_TEN})|\d{{1,2}})"
"""A pattern of a whole number below 100, to be used without regard to case; forty-six is never 40 to 6."""
ORDINAL: Final = f"(?:{'|'.join(ORDINALS)})"


def number(words: str) -> int:
    """The value of a number below 100 in figures or in words.

    >>> number("Thirty-eight"), number("17"), number("third"), number("a pair of")
    (38, 17, 3, 2)
    """
    parts = re.findall(r"\d+|[a-z]+", words.lower())
    if "pair" in parts:
        return 2
    return sum(int(part) if part.isdigit() else _VALUES.get(part, 0) for part in parts)
