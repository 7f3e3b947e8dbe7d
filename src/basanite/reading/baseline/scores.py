"""Which games a report is about, who won, and with how many points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from basanite.reading.baseline.numbers import CARDINAL, number
from basanite.reading.baseline.report import Place, Report
from basanite.reading.baseline.teams import Mention

WIN_VERBS: Final = (
    r"beat|beats|defeated|outlasted|upset|edged|routed|overtook|overtake|slipped by|downed|topped|stunned|"
    r"held off|rallied past|cruised past|over|past|decision over|victory over|win over"
)
LOSS_VERBS: Final = r"lost to|fell to|losing to|bowed to"
WORDS_OF_VICTORY: Final = re.compile(r"\b(?:won|wins|win|winners?|victory)\b", re.IGNORECASE)
WORDS_OF_DEFEAT: Final = re.compile(r"\b(?:lost|lose|loses|loser|fell)\b", re.IGNORECASE)

_VERB: Final = re.compile(rf"\b(?P<verb>(?P<lost>{LOSS_VERBS})|{WIN_VERBS}) (?:the )?$")
_FIRST: Final = re.compile(rf",? ({CARDINAL})[,;] ", re.IGNORECASE)
_SECOND: Final = re.compile(rf",? ({CARDINAL})\b", re.IGNORECASE)
_OTHER_DAYS: Final = re.compile(r"\b(?:has|have|had|hadn't|haven't|streak|straight|row|toss|eight of|last)\b")
_SPELLED: Final = CARDINAL.replace(r"|\d{1,2}", "")
_SCORE: Final = re.compile(
    rf"(?<![\w(:.,-])(?:(?P<a>\d{{1,2}})-(?P<b>\d{{1,2}})(?![\w-])|(?P<c>{CARDINAL})(?: points)? to (?P<d>{CARDINAL})\b"
    rf"|(?P<e>{_SPELLED})(?:-|, | )(?P<f>{_SPELLED})(?=[.,!\s]))",
    re.IGNORECASE,
)
_STANDING: Final = re.compile(
    r"\b(?:lead|led|up|down|ahead|trailed|trailing|within|made it|make it|tied|tie|level|deficit|nothing|favored|from|"
    r"record|outscored|outgained|meeting|having lost)\b[^.]{0,24}$",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\s*(?:lead|deficit|at (?:the )?half|before|going into|early|yards|on third|in overtime to|at)\b"
)


@dataclass(frozen=True, slots=True)
class Score:
    """Two numbers that may be a final score, where they stand, and how much speaks for it."""

    first: Place
    second: Place
    values: tuple[int, int]
    weight: int


@dataclass(frozen=True)
class Game:
    """A game as the report tells it: two teams, perhaps a winner, perhaps points, each with its place in the text."""

    teams: tuple[str, str]
    winner: str = ""
    told: Place | None = None
    both: bool = False
    points: tuple[tuple[str, int, Place], ...] = ()
    begin: int = 0


def games(report: Report) -> list[Game]:
    """The games of a report: those told in one line each, or else the one between the teams named most.

    >>> games(Report("Bears 17, Lions 9. Jets 8, Bills 3."))[1].points[0]
    ('New York Jets', 8, (24, 25))
    """
    scores = _scores(report)
    distinct: dict[frozenset[str], Game] = {}
    for game in (*_lined_up(report), *_told(report, scores)):
        if all(not pair & set(game.teams) for pair in distinct):
            distinct[frozenset(game.teams)] = game
    if len(distinct) > 1:
        return sorted(distinct.values(), key=lambda game: game.begin)
    pair = next(iter(distinct.values())).teams if distinct else _most_named(report)
    return [_whole(report, scores, pair, tuple(distinct.values()))] if pair else []


def _most_named(report: Report) -> tuple[str, str] | None:
    counted = Counter(mention.team for mention in report.named).most_common(2)
    return (counted[0][0], counted[1][0]) if len(counted) == 2 else None


def _lined_up(report: Report) -> list[Game]:
    """Games in the form `Bears 17, Lions 9`."""
    return [game for one, two in pairwise(report.named) if (game := _line(report.text, one, two))]


def _line(text: str, one: Mention, two: Mention) -> Game | None:
    between = _FIRST.fullmatch(text, one.end, two.start)
    after = _SECOND.match(text, two.end)
    if not between or not after or one.team == two.team:
        return None
    first = (one.team, number(between[1]), between.span(1))
    second = (two.team, number(after[1]), after.span(1))
    return Game((one.team, two.team), points=(first, second), begin=one.start)


def _told(report: Report, scores: Sequence[Score]) -> Iterator[Game]:
    """Games told in one sentence: two teams, a verb between them, a score."""
    for place in dict.fromkeys(report.sentence(score.first[0]) for score in scores):
        found = _verb(report.text, report.inside(*place), {})
        if found:
            best = _best(score for score in scores if place[0] <= score.first[0] < place[1])
            yield _with_score(report, Game(found[:2], found[0], found[2], both=True, begin=place[0]), best)


def _verb(text: str, inside: Sequence[Mention], other: Mapping[str, str]) -> tuple[str, str, Place] | None:
    """Winner, loser and the words between them; a side that the sentence does not name is the other of the pair."""
    for place, two in enumerate(inside):
        match = _VERB.search(text, max(0, two.start - 24), two.start)
        one = next(
            (mention.team for mention in reversed(inside[:place]) if mention.team != two.team), other.get(two.team)
        )
        if match and one:
            return (two.team, one, match.span("verb")) if match["lost"] else (one, two.team, match.span("verb"))
    return None


def _whole(report: Report, scores: Sequence[Score], pair: tuple[str, str], known: Sequence[Game]) -> Game:
    """The one game of a report, put together from all of it."""
    if known and known[0].points:
        return known[0] if known[0].winner else _with_winner(report, known[0])
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    within = (report.inside(*place, pair) for place in report.sentences)
    verb = next((found for inside in within if (found := _verb(report.text, inside, other))), None)
    game = Game(verb[:2], verb[0], verb[2], both=True) if verb else _with_winner(report, Game(pair))
    return _with_score(report, game, _best(scores)) if scores else game


def _best(scores: Iterable[Score]) -> Score:
    return max(scores, key=lambda score: score.weight)


def _with_winner(report: Report, game: Game) -> Game:
    """The game with the team that stands before a word of victory, or not before one of defeat."""
    for words, won in ((WORDS_OF_VICTORY, True), (WORDS_OF_DEFEAT, False)):
        for match in words.finditer(report.text):
            team = _before(report, match.start(), game.teams)
            if team and not _of_other_days(report.text, match):
                other = game.teams[1] if team == game.teams[0] else game.teams[0]
                teams = (team, other) if won else (other, team)
                return replace(game, teams=teams, winner=teams[0], told=match.span())
    return game


def _of_other_days(text: str, match: re.Match[str]) -> bool:
    return bool(_OTHER_DAYS.search(text, max(0, match.start() - 14), match.end() + 24))


def _before(report: Report, place: int, pair: tuple[str, str]) -> str:
    """The team named last before a place, in the same sentence."""
    inside = report.inside(report.sentence(place)[0], place, pair)
    return inside[-1].team if inside else ""


def _scores(report: Report) -> list[Score]:
    return [_score(report, match) for match in _SCORE.finditer(report.text) if _plausible(match)]


def _plausible(match: re.Match[str]) -> bool:
    first, second = (number(part) for part in match.groups() if part)
    return 1 < max(first, second) <= 70 and 1 not in (first, second)


def _score(report: Report, match: re.Match[str]) -> Score:
    text, (begin, end) = report.text, report.sentence(match.start())
    weight = 2 * min(len({mention.team for mention in report.inside(begin, end)}), 2)
    weight += 3 * bool(WORDS_OF_VICTORY.search(text, begin, end)) + 2 * bool(match["a"])
    weight += 4 * bool(re.search(r"\b[Ff]inal\b", text[begin:end]))
    weight -= 6 * bool(_STANDING.search(text, begin, match.start())) + 6 * bool(_AFTER.match(text, match.end()))
    places = [match.span(name) for name in "abcdef" if match[name]]
    first, second = (number(text[a:b]) for a, b in places)
    return Score(places[0], places[1], (first, second), weight)


def _with_score(report: Report, game: Game, score: Score) -> Game:
    """The game with its points: the winner has more; without a winner the team named first has the first number."""
    (first, second), values = (score.first, score.second), score.values
    one, two = game.teams
    if not game.winner:
        one, two = _by_order(report, game.teams, score)
    elif values[0] < values[1]:
        first, second, values = second, first, (values[1], values[0])
    return replace(game, points=((one, values[0], first), (two, values[1], second)))


def _by_order(report: Report, pair: tuple[str, str], score: Score) -> tuple[str, str]:
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    after = report.inside(score.second[1], score.second[1] + 15, pair)
    before = _before(report, score.first[0], pair) or report.last(score.first[0], pair) or pair[0]
    leader = after[0].team if after else before
    ahead = score.values[0] >= score.values[1]
    return (leader, other[leader]) if ahead or not after else (other[leader], leader)
