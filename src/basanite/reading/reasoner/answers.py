"""Answers of a query over what was given and what follows: explicit or inferred, with their statements and chances.

Where rules carry probabilities, an answer's chance counts all ways to it, and no rule twice (R-11). Each firing of a
rule with a probability is a coin of its own. A statement is as likely as it is that all coins of at least one of its
derivations fall well; what is left is `unknown`, for nothing else is concluded in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from basanite.reading.limits import LimitReachedError, Undecided
from basanite.reading.patterns import Goal, Pattern
from basanite.reading.reasoner.chaining import Fact
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.inference import Firing, Inference
from basanite.reading.reasoner.plans import Binding, Body, cheapest, start_rows
from basanite.reading.reasoner.store import Calculator
from basanite.reading.terms import Statement, Term

Ways: TypeAlias = frozenset[frozenset[Firing]]
"""Sets of uncertain firings, each of which is enough."""

CERTAIN: Ways = frozenset({frozenset()})
MOST_COINS = 300
"""Uncertain firings behind one answer; each doubles the worlds, and is one step of recursion."""


@dataclass
class Chances:
    """Probabilities of the statements of one inference."""

    explainer: Explainer
    _known: dict[Fact, Ways] = field(default_factory=dict)
    _steps: int = 0

    @property
    def uncertain(self) -> bool:
        """Whether any rule of the theory carries a probability."""
        return any(rule.probability is not None for rule in self.explainer.inference.program.rules)

    def probability(self, facts: Iterable[Fact]) -> float:
        """How likely it is that all of some facts follow; too many ways to tell reach the limit on worlds."""
        facts = list(dict.fromkeys(facts))
        self._settle(facts)
        self._steps = 0
        ways = self._join_ways(self._known[fact] for fact in facts)
        if len(frozenset().union(*ways)) > MOST_COINS:
            raise LimitReachedError("worlds", self.explainer.inference.reasoner.limits.worlds)
        return self._chance(ways)

    def _settle(self, facts: Sequence[Fact]) -> None:
        """Find the ways to some facts, from what is given upwards, until no new way is found."""
        cone = self._cone([fact for fact in facts if fact not in self._known])
        self._known.update({fact: CERTAIN if self._is_given(fact) else frozenset() for fact in cone})
        firings = list(dict.fromkeys(f for fact in cone if not self._is_given(fact) for f in self._supports(fact)))
        changed = bool(firings)
        while changed:
            changed = False
            for firing in firings:
                changed = self._add(firing, cone) or changed

    def _add(self, firing: Firing, cone: set[Fact]) -> bool:
        inference = self.explainer.inference
        ways = self._join_ways(self._known[fact] for fact in inference.antecedents(firing))
        if inference.program.rules[firing.at].probability is not None:
            ways = frozenset(way | {firing} for way in ways)
        changed = False
        for head in inference.program.compiled[firing.at].heads:
            fact = head.fact(firing.binding)
            if fact in cone and not self._is_given(fact):
                joined = self._least(self._known[fact] | ways)
                changed = changed or joined != self._known[fact]
                self._known[fact] = joined
        return changed

    def _is_given(self, fact: Fact) -> bool:
        return not self.explainer.inference.is_derived(fact)

    def _supports(self, fact: Fact) -> list[Firing]:
        return self.explainer.supports.get(fact, [])

    def _cone(self, facts: Sequence[Fact]) -> set[Fact]:
        """All facts that some facts may rest on."""
        seen: set[Fact] = set()
        waiting = list(facts)
        while waiting:
            fact = waiting.pop()
            if fact not in seen and fact not in self._known:
                seen.add(fact)
                firings = [] if self._is_given(fact) else self._supports(fact)
                waiting += [below for firing in firings for below in self.explainer.inference.antecedents(firing)]
        return seen

    def _join_ways(self, parts: Iterable[Ways]) -> Ways:
        """The ways to have all of several things."""
        whole = CERTAIN
        for ways in parts:
            whole = self._least(frozenset(one | other for one in whole for other in ways))
        return whole

    def _least(self, ways: Ways) -> Ways:
        """Without those that need more than another one."""
        most = self.explainer.inference.reasoner.limits.worlds
        if len(ways) * len(ways) > most:
            raise LimitReachedError("worlds", most)
        return frozenset(way for way in ways if not any(other < way for other in ways))

    def _chance(self, ways: Ways) -> float:
        """The probability of a set of ways, coin by coin."""
        if not ways:
            return 0.0
        if frozenset() in ways:
            return 1.0
        self._steps += 1
        inference = self.explainer.inference
        if self._steps > inference.reasoner.limits.worlds:
            raise LimitReachedError("worlds", inference.reasoner.limits.worlds)
        coin = min(min(ways, key=sorted))
        probability = inference.program.rules[coin.at].probability
        assert probability is not None
        with_it = self._chance(self._least(frozenset(way - {coin} for way in ways)))
        without = self._chance(frozenset(way for way in ways if coin not in way))
        return float(probability) * with_it + (1 - float(probability)) * without


@dataclass(frozen=True)
class Answered:
    """One instantiation of a query."""

    bindings: tuple[tuple[str, Term], ...]
    statements: tuple[Statement, ...]
    """The triples of the query with their values."""
    kind: Literal["explicit", "inferred"]
    """Inferred if any of the statements is (R-17)."""
    probability: float | None = None
    """Where rules carry probabilities; the rest is unknown."""


@dataclass(frozen=True)
class Answers:
    """All answers of a query, or the limit that kept it undecided."""

    answers: tuple[Answered, ...]
    undecided: tuple[Undecided, ...] = ()


def answer(
    inference: Inference, goals: Sequence[Goal], *, select: Sequence[str] = (), explainer: Explainer | None = None
) -> Answers:
    """Every way to instantiate a query, each once, sorted, likely ones first where there are probabilities."""
    if not inference.complete:
        return Answers((), inference.undecided)
    chances = Chances(explainer or Explainer(inference))
    try:
        found = [_one_answer(inference, goals, names, chances) for names in _bindings(inference, goals)]
    except LimitReachedError as reached:
        return Answers((), (Undecided.by_limit(reached),))
    return Answers(_distinct_answers(found, select))


def _bindings(inference: Inference, goals: Sequence[Goal]) -> list[dict[str, Term]]:
    """The values of all variables, in every answer."""
    terms, limits = inference.state.terms, inference.reasoner.limits
    variables = tuple(dict.fromkeys(name for goal in goals for name in goal.variables))
    plans = Body(tuple(goals), (), variables, terms, "of the query").plans()
    calculator = Calculator(terms, limits, "of the query")
    plan, out = cheapest(plans, inference.state.sure, terms), list[Binding]()
    rows = start_rows(plan, inference.state.sure, terms)
    calculator.spend(plan.run(rows, inference.state.sure, inference.state.sure, calculator, out))
    if len(out) > limits.answers:
        raise LimitReachedError("answers", limits.answers)
    return [dict(zip(variables, map(inference.term, binding), strict=True)) for binding in dict.fromkeys(out)]


def _one_answer(inference: Inference, goals: Sequence[Goal], bindings: dict[str, Term], chances: Chances) -> Answered:
    statements = tuple(goal.statement(bindings) for goal in goals if isinstance(goal, Pattern))
    facts = [fact for fact in map(inference.fact, statements) if fact is not None]
    inferred = any(map(inference.is_derived, facts))
    probability = chances.probability(facts) if chances.uncertain else None
    return Answered(tuple(bindings.items()), statements, "inferred" if inferred else "explicit", probability)


def _distinct_answers(found: Sequence[Answered], select: Sequence[str]) -> tuple[Answered, ...]:
    """Only the variables that are asked for; of several answers that then are one, the explicit or likelier stays."""
    best: dict[tuple[tuple[str, str], ...], Answered] = {}
    for one in sorted(found, key=_rank):
        kept = tuple((name, term) for name, term in one.bindings if not select or name in select)
        key = tuple((name, str(term)) for name, term in kept)
        best.setdefault(key, Answered(kept, one.statements, one.kind, one.probability))
    return tuple(sorted(best.values(), key=_rank))


def _rank(one: Answered) -> tuple[float, bool, str]:
    chance = 1.0 if one.probability is None else one.probability
    return -chance, one.kind == "inferred", " ".join(f"{name}={term}" for name, term in one.bindings)
