"""Answers of a query over what was given and what follows: explicit or inferred, with their statements and chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from basanite.reading.limits import LimitReachedError, Undecided
from basanite.reading.patterns import Goal, Pattern
from basanite.reading.reasoner.calculator import Calculator
from basanite.reading.reasoner.explaining.trees import Explainer
from basanite.reading.reasoner.inference import Inference
from basanite.reading.reasoner.lineage import Chances
from basanite.reading.reasoner.plans import Binding, Body, cheapest, start_rows
from basanite.reading.terms import Statement, Term


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
        found = [_answered(inference, goals, names, chances) for names in _bindings(inference, goals)]
    except LimitReachedError as reached:
        return Answers((), (Undecided.by_limit(reached),))
    return Answers(_selected(found, select))


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


def _answered(inference: Inference, goals: Sequence[Goal], bindings: dict[str, Term], chances: Chances) -> Answered:
    statements = tuple(goal.statement(bindings) for goal in goals if isinstance(goal, Pattern))
    facts = [fact for fact in map(inference.fact, statements) if fact is not None]
    inferred = any(map(inference.is_derived, facts))
    probability = chances.probability(facts) if chances.uncertain else None
    return Answered(tuple(bindings.items()), statements, "inferred" if inferred else "explicit", probability)


def _selected(found: Sequence[Answered], select: Sequence[str]) -> tuple[Answered, ...]:
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
