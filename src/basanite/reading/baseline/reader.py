"""Puts together what the patterns find: statements of the NFL ontology, each with the text it rests on (R-8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from basanite.reading.baseline.circumstances import game_date, overtime, periods, sides
from basanite.reading.baseline.counts import counts
from basanite.reading.baseline.report import Place, Report
from basanite.reading.baseline.scores import Game, games
from basanite.reading.baseline.teams import Mention, dateline
from basanite.reading.provenance import Assertion, Kind, Role, span_at
from basanite.reading.terms import XSD, Iri, Literal, Node, Statement, Term, boolean, integer
from basanite.reading.vocabulary import TYPE

NAMESPACE: Final = "https://nfl.example/scoring#"
NAME: Final = "baseline"


def read(text: str, document: str) -> tuple[Assertion, ...]:
    """What the baseline reads in a report, in the order of games.

    >>> told = read("DENVER - The Denver Broncos beat the Chiefs 30-27 in overtime.", "d1")
    >>> [str(a.statement.object) for a in told if a.statement.predicate == _iri("hasOvertimePlay")]
    ['"true"^^<http://www.w3.org/2001/XMLSchema#boolean>']
    """
    return tuple(_Reading(text, document).assertions())


class _Reading:
    """One report while it is read."""

    def __init__(self, text: str, document: str) -> None:
        self.text, self.document = text, document
        self.report = Report(text)
        self.games = games(self.report)

    def assertions(self) -> Iterator[Assertion]:
        for place, game in enumerate(self.games):
            begin = game.begin if place else 0
            end = self.games[place + 1].begin if place + 1 < len(self.games) else len(self.text)
            yield from self._game(game, _iri(f"{self.document}-game-{place + 1}"), (begin, end), place)

    def _game(self, game: Game, subject: Iri, stretch: Place, order: int) -> Iterator[Assertion]:
        yield self._say(subject, TYPE, _iri("NFLGame"))
        yield from self._teams(game, subject)
        yield from self._result(game, subject)
        yield from self._circumstances(subject, game, stretch)
        found = counts(self.report, game.teams, *stretch)
        for place, team in enumerate(game.teams):
            score = Node(f"score-{order + 1}-{place + 1}")
            yield from self._score(game, subject, score, team)
            for (owner, name), (amount, where) in sorted(found.items()):
                if owner == team:
                    yield self._say(score, _iri(name), integer(amount), [("object", where)])

    def _teams(self, game: Game, subject: Iri) -> Iterator[Assertion]:
        for team in game.teams:
            own = [mention for mention in self.report.named if mention.team == team]
            yield self._say(_team(team), TYPE, _iri("NFLTeam"), [("subject", _place(own[0]))])
            yield from self._names(own)
            yield self._say(subject, _iri("teamInGame"), _team(team), [("object", _place(own[0]))])

    def _names(self, own: Sequence[Mention]) -> Iterator[Assertion]:
        first = {self.text[mention.start : mention.end]: mention for mention in reversed(own)}
        for name, mention in sorted(first.items(), key=lambda item: item[1].start):
            yield self._say(_team(mention.team), _iri("teamName"), Literal(name), [("object", _place(mention))])

    def _result(self, game: Game, subject: Iri) -> Iterator[Assertion]:
        if game.winner and game.told:
            told: list[tuple[Role, Place]] = [("predicate", game.told)]
            yield self._say(subject, _iri("gameWinner"), _team(game.winner), told)
            if game.both:
                loser = next(team for team in game.teams if team != game.winner)
                yield self._say(subject, _iri("gameLoser"), _team(loser), told)

    def _score(self, game: Game, subject: Iri, score: Node, team: str) -> Iterator[Assertion]:
        yield self._say(subject, _iri("teamFinalScoreInGame"), score)
        yield self._say(score, TYPE, _iri("TeamSummaryScore"))
        yield self._say(score, _iri("teamScoringAll"), _team(team))
        for owner, amount, where in game.points:
            if owner == team:
                yield self._say(score, _iri("pointsScored"), integer(amount), [("object", where)])

    def _circumstances(self, subject: Iri, game: Game, stretch: Place) -> Iterator[Assertion]:
        if played := game_date(self.text):
            yield self._say(subject, _iri("gameDate"), Literal(played[0], XSD + "date"), [("object", played[1])])
        if extra := overtime(self.report, *stretch):
            yield self._say(subject, _iri("hasOvertimePlay"), boolean(extra[0]), [("statement", extra[1])])
        if length := periods(self.text, *stretch):
            yield self._say(subject, _iri("numberOfPeriods"), integer(length[0]), [("object", length[1])])
        yield from self._sides(subject, game, stretch)

    def _sides(self, subject: Iri, game: Game, stretch: Place) -> Iterator[Assertion]:
        told = sides(self.report, game.teams, *stretch)
        sent_from = dateline(self.text)
        if "home" not in told and sent_from and sent_from[0] in game.teams:
            yield self._say(
                subject, _iri("homeTeamInGame"), _team(sent_from[0]), [("predicate", (0, sent_from[1]))], "inferred"
            )
        for side, (team, where) in told.items():
            yield self._say(subject, _iri(f"{side}TeamInGame"), _team(team), [("predicate", where)])

    def _say(
        self,
        subject: Iri | Node,
        predicate: Iri,
        object_: Term,
        places: Sequence[tuple[Role, Place]] = (),
        kind: Kind = "explicit",
    ) -> Assertion:
        spans = tuple(span_at(self.text, start, end, role) for role, (start, end) in places)
        return Assertion(Statement(subject, predicate, object_), self.document, kind, spans, NAME)


def _iri(name: str) -> Iri:
    return Iri(NAMESPACE + name)


def _team(team: str) -> Iri:
    return _iri(team.replace(" ", ""))


def _place(mention: Mention) -> Place:
    return mention.start, mention.end
