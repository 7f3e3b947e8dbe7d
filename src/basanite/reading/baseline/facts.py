"""What a report tells of its game: who won with how many points, from how many touchdowns and goals, when and where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Final

from basanite.reading.baseline.report import CARDINAL, ORDINAL, Mention, Place, Report, number

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
    """The games of a report: those that stand in one line each, or else the one between the teams named most.

    >>> games(Report("Bears 17, Lions 9. Jets 8, Bills 3."))[1].points[0]
    ('New York Jets', 8, (24, 25))
    """
    scores = _scores(report)
    distinct: dict[frozenset[str], Game] = {}
    lines = [game for one, two in pairwise(report.mentions) if (game := _line(report.text, one, two))]
    for game in (*lines, *_sentence_games(report, scores)):
        if all(not pair & set(game.teams) for pair in distinct):
            distinct[frozenset(game.teams)] = game
    if len(distinct) > 1:
        return sorted(distinct.values(), key=lambda game: game.begin)
    if distinct:
        pair = next(iter(distinct.values())).teams
    else:
        most_named = Counter(mention.team for mention in report.mentions).most_common(2)
        if len(most_named) < 2:
            return []
        pair = most_named[0][0], most_named[1][0]
    return [_whole(report, scores, pair, tuple(distinct.values()))]


def _line(text: str, one: Mention, two: Mention) -> Game | None:
    """A game in the form `Bears 17, Lions 9`."""
    between = _FIRST.fullmatch(text, one.end, two.start)
    after = _SECOND.match(text, two.end)
    if not between or not after or one.team == two.team:
        return None
    first = (one.team, number(between[1]), between.span(1))
    second = (two.team, number(after[1]), after.span(1))
    return Game((one.team, two.team), points=(first, second), begin=one.start)


def _sentence_games(report: Report, scores: Sequence[Score]) -> Iterator[Game]:
    """Games in one sentence each: two teams, a verb between them, a score."""
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
            around = max(0, match.start() - 14), match.end() + 24
            if team and not _OTHER_DAYS.search(report.text, *around):
                other = game.teams[1] if team == game.teams[0] else game.teams[0]
                teams = (team, other) if won else (other, team)
                return replace(game, teams=teams, winner=teams[0], told=match.span())
    return game


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
