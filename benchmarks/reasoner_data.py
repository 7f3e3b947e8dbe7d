"""Statements about invented games for the benchmark of the reasoner, with the number of firings that must come out."""

from __future__ import annotations

import random

from basanite.reading.terms import TYPE, XSD, Iri, Literal, Statement, boolean, integer

NFL = "https://nfl.example/scoring#"
RULES = (
    "overtime-default",
    "overtime-needs-five",
    "points-from-events",
    "higher-score-wins",
    "winner-plays",
    "loser-plays",
    "scorer-plays",
    "home-team-plays",
    "winner-outscored",
)
PER_GAME = 40
"""Statements a game, about as many as an annotated story has."""


def name(local):
    """A name of the example's namespace."""
    return Iri(NFL + local)


PROPERTY = {
    key: name(key)
    for key in (
        "hasOvertimePlay",
        "numberOfPeriods",
        "homeTeamInGame",
        "awayTeamInGame",
        "gameDate",
        "gameWinner",
        "gameLoser",
        "teamFinalScoreInGame",
        "teamScoringAll",
        "pointsScored",
        "touchdownCompleteCount",
        "onePointConversionCompleteCount",
        "twoPointConversionCompleteCount",
        "fieldGoalCompleteCount",
        "safetyCompleteCount",
        "eventInGame",
        "teamScoring",
        "eventInPeriod",
    )
}
COUNTS = (
    ("touchdownCompleteCount", 6),
    ("onePointConversionCompleteCount", 1),
    ("twoPointConversionCompleteCount", 2),
    ("fieldGoalCompleteCount", 3),
    ("safetyCompleteCount", 2),
)


def games(statements, seed=0):
    """About so many statements, game by game, and how often each rule must fire on them."""
    rng, teams = random.Random(seed), [name(f"team-{number}") for number in range(32)]
    expected = dict.fromkeys(RULES, 0)
    return [game(number, rng, teams, expected) for number in range(max(statements // PER_GAME, 1))], expected


def game(number, rng, teams, expected):
    """The statements of one game."""
    this, (first, second) = name(f"game-{number}"), rng.sample(teams, 2)
    found = [(this, TYPE, name("NFLGame"))]
    found += [(this, PROPERTY["gameDate"], Literal(f"2009-{1 + number % 12:02}-{1 + number % 28:02}", XSD + "date"))]
    found += [(this, PROPERTY["homeTeamInGame"], first), (this, PROPERTY["awayTeamInGame"], second)]
    expected["home-team-plays"] += 1
    periods(this, rng, found, expected)
    points = [score(this, number, side, team, rng, found, expected) for side, team in enumerate((first, second))]
    winner(this, points, (first, second), rng, found, expected)
    for event in range(PER_GAME):
        if len(found) >= PER_GAME:
            break
        one = name(f"event-{number}-{event}")
        found += [(one, TYPE, name("Touchdown")), (one, PROPERTY["eventInGame"], this)]
        found += [(one, PROPERTY["teamScoring"], rng.choice((first, second)))]
    return [Statement(*triple) for triple in found]


def periods(this, rng, found, expected):
    """Overtime in some games, with or without a number of periods, which now and then contradicts it."""
    if rng.random() < 0.3:
        found.append((this, PROPERTY["hasOvertimePlay"], boolean(True)))
        told = rng.choice((None, 4, 5))
        if told is None:
            expected["overtime-default"] += 1
        else:
            found.append((this, PROPERTY["numberOfPeriods"], integer(told)))
            expected["overtime-needs-five"] += told == 4


def score(this, number, side, team, rng, found, expected):
    """One team's score, as points or by its events."""
    node = name(f"score-{number}-{side}")
    found += [(this, PROPERTY["teamFinalScoreInGame"], node), (node, TYPE, name("TeamSummaryScore"))]
    found.append((node, PROPERTY["teamScoringAll"], team))
    expected["scorer-plays"] += 1
    counts = [rng.randrange(4) for _ in COUNTS]
    points = sum(count * worth for count, (_, worth) in zip(counts, COUNTS, strict=True))
    found += [(node, PROPERTY[key], integer(count)) for count, (key, _) in zip(counts, COUNTS, strict=True)]
    if rng.random() < 0.5:
        found.append((node, PROPERTY["pointsScored"], integer(points)))
    else:
        expected["points-from-events"] += 1
    return points


def winner(this, points, teams, rng, found, expected):
    """Who won: told in some games, now and then wrongly."""
    drawn = points[0] == points[1]
    if rng.random() < 0.4:
        side = rng.randrange(2)
        found += [(this, PROPERTY["gameWinner"], teams[side]), (this, PROPERTY["gameLoser"], teams[1 - side])]
        expected["winner-outscored"] += not drawn and points[side] < points[1 - side]
        told = True
    else:
        expected["higher-score-wins"] += not drawn
        told = not drawn
    expected["winner-plays"] += told
    expected["loser-plays"] += told
