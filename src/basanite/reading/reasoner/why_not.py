"""Why a statement does not follow: for each rule that could conclude it, the attempt that came nearest (R-35).

Of all ways to match the body of a rule, the one with the fewest failing conditions is shown. Every condition is part of
it: what holds, what is missing, which comparison fails, and which statement blocks an `if-not`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from basanite.reading.builtins import OPERATIONS
from basanite.reading.limits import LimitReachedError, Limits
from basanite.reading.patterns import Builtin, Goal, Pattern, Prefixes, Variable
from basanite.reading.reasoner.inference import Inference
from basanite.reading.reasoner.store import match
from basanite.reading.rules.tree import Rule, goal_text, named_bindings, triple
from basanite.reading.terms import Statement, Term

MOST_STEPS: Final = 20_000
"""Partial matches of one rule that are tried."""
MOST_ATTEMPTS: Final = 10
"""Rules that are shown."""


@dataclass(frozen=True)
class Attempt:
    """The nearest that a rule came to a conclusion."""

    rule: Rule
    bindings: Mapping[str, Term]
    holds: tuple[Goal, ...]
    missing: tuple[Goal, ...]
    """Triples that nothing matches."""
    fails: tuple[Goal, ...]
    """Comparisons that are false, and calculations that need a missing value."""
    blocked: tuple[Statement, ...]
    """Statements that an `if-not` excludes."""

    @property
    def distance(self) -> int:
        """How many conditions do not hold."""
        return len(self.missing) + len(self.fails) + len(self.blocked)


def attempts(inference: Inference, statement: Statement) -> list[Attempt]:
    """The nearest attempt of each rule that could conclude a statement, the nearest first."""
    found = []
    for rule in inference.program.rules:
        for head in rule.heads:
            bound = _unify(head, statement)
            if bound is not None:
                found.append(_Matcher(inference, rule).nearest(bound))
    return sorted(found, key=lambda one: (one.distance, one.rule.name))


def _unify(head: Pattern, statement: Statement) -> dict[str, Term] | None:
    """What the variables of a conclusion stand for if it is to be the statement."""
    bound: dict[str, Term] = {}
    for term, value in zip(head.terms, (statement.subject, statement.predicate, statement.object), strict=True):
        if isinstance(term, Variable):
            if bound.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return bound


@dataclass
class _Matcher:
    """Looks for the match of a rule's body with the fewest missing triples."""

    inference: Inference
    rule: Rule
    steps: int = 0
    best: Attempt | None = None
    limits: Limits = field(init=False)

    def __post_init__(self) -> None:
        self.limits = self.inference.reasoner.limits

    def nearest(self, bound: Mapping[str, Term]) -> Attempt:
        """The best match; where there are too many to try, the best of those tried."""
        self._extend(bound, list(self.rule.patterns), [], [])
        assert self.best is not None
        return self.best

    def _extend(
        self, bound: Mapping[str, Term], left: Sequence[Pattern], holds: Sequence[Goal], missing: Sequence[Goal]
    ) -> None:
        self.steps += 1
        enough = self.steps > MOST_STEPS and self.best is not None
        absent = len({_bind(goal, bound) for goal in missing})
        if enough or (self.best is not None and absent >= self.best.distance):
            return
        if not left:
            attempt = self._finish(bound, holds, missing)
            if self.best is None or attempt.distance < self.best.distance:
                self.best = attempt
            return
        at = max(range(len(left)), key=lambda place: self._bound_places(left[place], bound))
        pattern, rest = left[at], [*left[:at], *left[at + 1 :]]
        for more in self._matches(pattern.bind(bound)):
            self._extend({**bound, **more}, rest, [*holds, pattern], missing)
        self._extend(bound, rest, holds, [*missing, pattern])

    @staticmethod
    def _bound_places(pattern: Pattern, bound: Mapping[str, Term]) -> int:
        return sum(not isinstance(term, Variable) or term.name in bound for term in pattern.terms)

    def _matches(self, pattern: Pattern) -> Iterator[dict[str, Term]]:
        """What the open places of a triple can stand for."""
        state = self.inference.state
        numbers = [None if isinstance(term, Variable) else state.terms.find(term) for term in pattern.terms]
        known = zip(numbers, pattern.terms, strict=True)
        if any(number is None and not isinstance(term, Variable) for number, term in known):
            return
        for subject, predicate, object_ in match(state.sure, *numbers):
            bound: dict[str, Term] = {}
            row = map(self.inference.term, (subject, predicate, object_))
            pairs = [
                (term.name, value) for term, value in zip(pattern.terms, row, strict=True) if isinstance(term, Variable)
            ]
            if all(bound.setdefault(name, value) == value for name, value in pairs):
                yield bound

    def _finish(self, bound: Mapping[str, Term], holds: Sequence[Goal], missing: Sequence[Goal]) -> Attempt:
        """The attempt with its comparisons and calculations tried, and what blocks it."""
        bound, held = dict(bound), list(holds)
        fails: list[Goal] = []
        waiting = list(self.rule.builtins)
        while ready := [goal for goal in waiting if self._can_try(goal, bound)]:
            for goal in ready:
                waiting.remove(goal)
                (held if self._try(goal, bound) else fails).append(goal)
        blocked = tuple(found for goal in self.rule.if_not for found in self._blockers(goal, bound))
        parts = (dict.fromkeys(_bind(goal, bound) for goal in goals) for goals in (held, missing, [*fails, *waiting]))
        shown, absent, wrong = map(tuple, parts)
        return Attempt(self.rule, bound, shown, absent, wrong, blocked)

    def _can_try(self, goal: Builtin, bound: Mapping[str, Term]) -> bool:
        inputs = goal.arguments[OPERATIONS[goal.name].inputs]
        return all(not isinstance(term, Variable) or term.name in bound for term in inputs)

    def _try(self, goal: Builtin, bound: dict[str, Term]) -> bool:
        """Whether a comparison holds; a calculation binds its result or is compared with it."""
        operation = OPERATIONS[goal.name]
        terms = [bound[term.name] if isinstance(term, Variable) else term for term in goal.arguments[operation.inputs]]
        if operation.test is not None:
            return operation.test(terms)
        assert operation.calculate is not None
        try:
            result = operation.calculate(terms, self.limits)
        except LimitReachedError:
            return False
        last = goal.arguments[-1]
        if result is None:
            return False
        if isinstance(last, Variable) and last.name not in bound:
            bound[last.name] = result
            return True
        value = bound[last.name] if isinstance(last, Variable) else last
        equal = OPERATIONS["equalTo"].test
        return equal is not None and equal([result, value])

    def _blockers(self, goal: Goal, bound: Mapping[str, Term]) -> Iterator[Statement]:
        if not isinstance(goal, Pattern):
            return
        pattern = goal.bind(bound)
        for more in self._matches(pattern):
            yield pattern.statement(more)
            return


def _bind(goal: Goal, bound: Mapping[str, Term]) -> Goal:
    if isinstance(goal, Pattern):
        return goal.bind(bound)
    terms = (bound.get(term.name, term) if isinstance(term, Variable) else term for term in goal.arguments)
    return Builtin(goal.name, tuple(terms))


def why_not_object(inference: Inference, statement: Statement, prefixes: Prefixes) -> dict[str, Any]:
    """The object that `reading explain --json` prints for a statement that does not follow."""
    return {
        "statement": triple(statement, prefixes),
        "follows": False,
        "attempts": [
            {
                "rule": one.rule.name,
                "bindings": named_bindings(dict(one.bindings), prefixes),
                "holds": [goal_text(goal, prefixes) for goal in one.holds],
                "missing": [goal_text(goal, prefixes) for goal in one.missing],
                "fails": [goal_text(goal, prefixes) for goal in one.fails],
                "blocked": [" ".join(triple(found, prefixes)) for found in one.blocked],
            }
            for one in attempts(inference, statement)
        ],
    }


def why_not_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """The same in words."""
    yield f"{' '.join(data['statement'])} was not given and does not follow."
    if not data["attempts"]:
        yield "No rule concludes such a statement."
    for one in data["attempts"][:MOST_ATTEMPTS]:
        yield f"Rule {one['rule']} could conclude it:"
        yield from (f"  holds: {text}" for text in one["holds"])
        yield from (f"  missing: {text}" for text in one["missing"])
        yield from (f"  fails: {text}" for text in one["fails"])
        yield from (f"  blocked by: {text}" for text in one["blocked"])
    if len(data["attempts"]) > MOST_ATTEMPTS:
        yield f"{len(data['attempts']) - MOST_ATTEMPTS} more rules came less near: --json lists them"
