"""Puts together what the patterns find: statements of the NFL ontology, each with the text it rests on (R-8).

From them come answers of queries in the form that scoring takes (R-18, R-20). An entity is told by names. A team has
those that belong to it alone. A game has none of its own, so it is called by its two teams: `Bears v Lions`. A summary
score is called by its team and its game.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from basanite.reading.baseline.facts import Game, counts, game_date, games, overtime, periods, sides
from basanite.reading.baseline.report import TEAMS, Mention, Place, Report, aliases, dateline, nickname
from basanite.reading.provenance import Assertion, Kind, Role, span_at
from basanite.reading.queries import Answer, StatementIndex, answers
from basanite.reading.query import Query
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.terms import TYPE, XSD, Iri, Literal, Node, Statement, Term, boolean, integer

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
            own = [mention for mention in self.report.mentions if mention.team == team]
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


_TEAM: Final = {NAMESPACE + team.replace(" ", ""): team for team in TEAMS}


def answer_records(
    queries: Iterable[Query], document: str, read: Sequence[Assertion], reasoner: Reasoner
) -> list[dict[str, Any]]:
    """The answers of a document to each query, as records of an answer file; what the rules add is inferred."""
    told = {assertion.statement: assertion for assertion in read}
    inference = reasoner.infer(told)
    index, explainer = StatementIndex((*told, *inference.derived)), Explainer(inference)
    return [
        {
            "query": query.id,
            "document": document,
            "answer": {
                f"?{name}": term.lexical if isinstance(term, Literal) else names(term, index)
                for name, term in answer.bindings
            },
            "kind": _kind(answer, told),
            "provenance": _pieces(answer, told, explainer),
        }
        for query in queries
        for answer in answers(query, index)
    ]


def names(term: Term, index: StatementIndex) -> list[str]:
    """What an entity is called: a team by its own names, a game and a score by their teams.

    >>> names(Iri(NAMESPACE + "ChicagoBears"), StatementIndex(()))
    ['Chicago Bears', 'Bears', 'Chicago']
    """
    if isinstance(term, Iri) and term.value in _TEAM:
        return list(aliases(_TEAM[term.value]))
    teams = sorted(nickname(team) for team in _teams(term, index, "teamInGame"))
    if teams:
        return [" v ".join(teams)]
    return [f"score of the {nickname(team)}" for team in _teams(term, index, "teamScoringAll")] or [str(term)]


def _teams(term: Term, index: StatementIndex, name: str) -> list[str]:
    found = index.by_subject.get((Iri(NAMESPACE + name), term), ()) if not isinstance(term, Literal) else ()
    return [_TEAM[said.object.value] for said in found if isinstance(said.object, Iri) and said.object.value in _TEAM]


def _kind(answer: Answer, told: Mapping[Statement, Assertion]) -> Kind:
    stated = all(statement in told and told[statement].kind == "explicit" for statement in answer.statements)
    return "explicit" if stated else "inferred"


def _pieces(answer: Answer, told: Mapping[Statement, Assertion], explainer: Explainer) -> list[dict[str, Any]]:
    """The text behind an answer; behind what the rules add stands the text of what they start from."""
    trees = (explainer.tree(statement) for statement in answer.statements)
    leaves = dict.fromkeys(leaf for tree in trees if tree for leaf in tree.leaves())
    spans = dict.fromkeys(span for leaf in leaves if leaf in told for span in told[leaf].spans)
    return [{"role": span.role, "start": span.start, "end": span.end, "exact": span.exact} for span in spans]
