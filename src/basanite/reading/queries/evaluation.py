"""Answers of a query on a set of statements: joins over an index, in an order that depends on nothing but the input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from basanite.errors import BasaniteError
from basanite.reading.builtins import OPERATIONS
from basanite.reading.patterns import Bindings, Builtin, Goal, Pattern, Variable
from basanite.reading.queries.model import Query
from basanite.reading.terms import Iri, Node, Statement, Term

MOST_TRIED: Final = 5_000_000
COMPARISONS: Final = {name: operation.test for name, operation in OPERATIONS.items() if operation.test is not None}
"""The built-ins that hold or do not; queries calculate nothing."""


class QueryLimitError(BasaniteError):
    """A query tries more bindings than the limit allows, so it has no answer that is known to be whole (X-13)."""


@dataclass(frozen=True)
class Answer:
    """What a query's variables stand for, and the statements that the answer rests on."""

    bindings: tuple[tuple[str, Term], ...]
    statements: tuple[Statement, ...]

    def __getitem__(self, name: str) -> Term:
        return dict(self.bindings)[name]


class StatementIndex:
    """Statements by property, and by property with subject or object."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.all = list(dict.fromkeys(statements))
        self.by_predicate: dict[Iri, list[Statement]] = {}
        self.by_subject: dict[tuple[Iri, Iri | Node], list[Statement]] = {}
        self.by_object: dict[tuple[Iri, Term], list[Statement]] = {}
        for statement in self.all:
            self.by_predicate.setdefault(statement.predicate, []).append(statement)
            self.by_subject.setdefault((statement.predicate, statement.subject), []).append(statement)
            self.by_object.setdefault((statement.predicate, statement.object), []).append(statement)

    def candidates(self, pattern: Pattern) -> Sequence[Statement]:
        """Statements that may match, from the smallest list that must hold all that do."""
        if not isinstance(pattern.predicate, Iri):
            return self.all
        lists = [self.by_predicate.get(pattern.predicate, [])]
        if isinstance(pattern.subject, Iri | Node):
            lists.append(self.by_subject.get((pattern.predicate, pattern.subject), []))
        if not isinstance(pattern.object, Variable):
            lists.append(self.by_object.get((pattern.predicate, pattern.object), []))
        return min(lists, key=len)


@dataclass
class _Search:
    """One run of a query: what is looked through, and how much may still be tried."""

    index: StatementIndex
    left: int
    query: Query

    def solve(self, goals: Sequence[Goal], bindings: dict[str, Term]) -> Iterator[dict[str, Term]]:
        """Every way to meet the goals that are left."""
        if not goals:
            yield bindings
            return
        goal = min(goals, key=lambda goal: self._cost(goal, bindings))
        others = [other for other in goals if other is not goal]
        if isinstance(goal, Builtin):
            if holds(goal, bindings):
                yield from self.solve(others, bindings)
            return
        pattern = goal.bound(bindings)
        for statement in self.index.candidates(pattern):
            self._count()
            found = matched(pattern, statement)
            if found is not None:
                yield from self.solve(others, {**bindings, **found})

    def _cost(self, goal: Goal, bindings: Bindings) -> int:
        """How many statements would be tried; a comparison costs nothing once its variables are bound."""
        if isinstance(goal, Builtin):
            return -1 if all(name in bindings for name in goal.variables) else len(self.index.all) + 1
        return len(self.index.candidates(goal.bound(bindings)))

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise QueryLimitError(
                f"The query {self.query.id!r} is undecided: it tries more bindings than allowed. Ask for fewer things "
                "at once, or join them by a shared variable."
            )


def answers(
    query: Query, statements: Iterable[Statement] | StatementIndex, *, most_tried: int = MOST_TRIED
) -> list[Answer]:
    """All answers of a query, each once, sorted; of several ways to find one, the statements that sort first are kept.

    >>> from basanite.reading.patterns import Prefixes, parse_pattern, parse_statement
    >>> nfl = Prefixes("urn:nfl:", {"nfl": "urn:nfl:"})
    >>> query = Query("periods", (parse_pattern("?G numberOfPeriods ?N", nfl),), select=("G", "N"))
    >>> [nfl.short(answer["N"]) for answer in answers(query, [parse_statement(["g1", "numberOfPeriods", "5"], nfl)])]
    ['5']
    """
    index = statements if isinstance(statements, StatementIndex) else StatementIndex(statements)
    search = _Search(index, most_tried, query)
    told = query.select or query.variables
    found: dict[tuple[Term, ...], Answer] = {}
    for bindings in search.solve(query.goals, {}):
        terms = tuple(bindings[name] for name in told)
        behind = tuple(dict.fromkeys(pattern.statement(bindings) for pattern in query.patterns))
        if terms not in found or _order(behind) < _order(found[terms].statements):
            found[terms] = Answer(tuple(zip(told, terms, strict=True)), behind)
    return [found[terms] for terms in sorted(found, key=_order)]


def _order(parts: Iterable[Term | Statement]) -> tuple[str, ...]:
    return tuple(map(str, parts))


def has_answer(query: Query, index: StatementIndex, *, most_tried: int = MOST_TRIED) -> bool:
    """Whether a query has any answer; looks no further than the first."""
    return next(_Search(index, most_tried, query).solve(query.goals, {}), None) is not None


def matched(pattern: Pattern, statement: Statement) -> dict[str, Term] | None:
    """What the variables of a pattern stand for if it is this statement; nothing if it isn't."""
    found: dict[str, Term] = {}
    for wanted, term in zip(pattern.terms, (statement.subject, statement.predicate, statement.object), strict=True):
        if isinstance(wanted, Variable):
            if found.setdefault(wanted.name, term) != term:
                return None
        elif wanted != term:
            return None
    return found


def holds(builtin: Builtin, bindings: Bindings) -> bool:
    """Whether a comparison holds: values by their worth, things by their name; what cannot be compared never does."""
    terms = [bindings[term.name] if isinstance(term, Variable) else term for term in builtin.arguments]
    return COMPARISONS[builtin.name](terms)
