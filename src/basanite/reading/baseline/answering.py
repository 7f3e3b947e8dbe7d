"""From what was read in a document to answers of queries, in the form that scoring takes (R-18, R-20).

An entity is told by names. A team has those that belong to it alone. A game has none of its own, so it is called by its
two teams: `Bears v Lions`. A summary score is called by its team and its game.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from basanite.reading.baseline.reader import NAMESPACE
from basanite.reading.baseline.teams import TEAMS, aliases, nickname
from basanite.reading.provenance import Assertion, Kind
from basanite.reading.queries import Answer, Query, StatementIndex, answers
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.terms import Iri, Literal, Statement, Term

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
            "answer": {f"?{name}": _bound(term, index) for name, term in answer.bindings},
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


def _bound(term: Term, index: StatementIndex) -> list[str] | str:
    return term.lexical if isinstance(term, Literal) else names(term, index)
