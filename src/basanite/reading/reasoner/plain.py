"""Conclusions, explanations, contexts and combinations as plain data for `--json`, and as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from basanite.reading.limits import Undecided, cure
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.answers import Answers
from basanite.reading.reasoner.combinations import Bounds, Combinations, Theory, World
from basanite.reading.reasoner.contexts import Context, Contexts
from basanite.reading.reasoner.explanation import Explainer, Step, Tree
from basanite.reading.reasoner.inference import Contradiction, Inference
from basanite.reading.rules.tree import goal_text, named_bindings, triple
from basanite.reading.terms import Statement
from basanite.reports.wording import plural

MOST_SHOWN: Final = 10
"""Repairs of one conflict that the text lists."""


def inference_object(
    inference: Inference, explainer: Explainer, answers: Answers | None = None, *, derivations: bool = True
) -> dict[str, Any]:
    """The object that `reading infer --json` prints; a limit that was reached leaves nothing in it but `undecided`."""
    prefixes = inference.reasoner.rules.prefixes
    found = answers.answers if answers else ()
    undecided = dict.fromkeys((*inference.undecided, *(answers.undecided if answers else ())))
    data: dict[str, Any] = {
        "derived": [triple(statement, prefixes) for statement in inference.derived],
        "contradictions": [_contradiction(one, explainer) for one in inference.contradictions],
        "answers": [named_bindings(dict(one.bindings), prefixes) for one in found],
        "kinds": [one.kind for one in found],
        "derivations": _derivations(inference, explainer) if derivations else {},
        "undecided": [one.as_dict() for one in undecided],
        "consistent": inference.consistent,
        "incomplete": [fault.message for fault in inference.incomplete],
    }
    if any(one.probability is not None for one in found):
        data["probabilities"] = [one.probability for one in found]
        data["unknown"] = [1 - one.probability if one.probability is not None else None for one in found]
    return data


def _contradiction(one: Contradiction, explainer: Explainer) -> dict[str, Any]:
    prefixes = explainer.inference.reasoner.rules.prefixes
    return {
        "rule": one.rule,
        "bindings": named_bindings(dict(one.bindings), prefixes),
        "inputs": [triple(statement, prefixes) for statement in explainer.behind(one)],
        "message": one.message,
    }


def _derivations(inference: Inference, explainer: Explainer) -> dict[str, Any]:
    """For every derived statement, by its id, the last step of its shallowest derivation."""
    found = {}
    for statement in inference.derived:
        fact = inference.fact(statement)
        assert fact is not None
        found[statement.id] = _flat(statement, explainer, explainer.nearest[fact], len(explainer.supports[fact]) - 1)
    return found


def _flat(statement: Statement, explainer: Explainer, firing: Any, others: int) -> dict[str, Any]:
    inference = explainer.inference
    prefixes, rule = inference.reasoner.rules.prefixes, inference.program.rules[firing.at]
    return {
        "statement": triple(statement, prefixes),
        "rule": rule.name,
        "bindings": named_bindings(inference.bindings(firing), prefixes),
        "if": [inference.statement(fact).id for fact in inference.antecedents(firing)],
        "if_not": [goal_text(goal, prefixes) for goal in inference.absent(firing)],
        "tests": [goal_text(goal, prefixes) for goal in inference.tests(firing)],
        "others": others,
    }


def tree_object(tree: Tree, prefixes: Prefixes) -> dict[str, Any]:
    """A derivation tree as nested data."""
    data: dict[str, Any] = {
        "statement": triple(tree.statement, prefixes),
        "id": tree.statement.id,
        "kind": "inferred" if tree.step or tree.cut else "explicit",
        "others": tree.others,
    }
    if tree.cut:
        data["cut"] = True
    return {**data, **step_object(tree.step, prefixes)} if tree.step else data


def step_object(step: Step, prefixes: Prefixes) -> dict[str, Any]:
    """A step with the trees that it rests on."""
    return {
        "rule": step.rule.name,
        "comment": step.rule.comment,
        "bindings": named_bindings(dict(step.bindings), prefixes),
        "if": [tree_object(below, prefixes) for below in step.antecedents],
        "if_not": [goal_text(goal, prefixes) for goal in step.absent],
        "tests": [goal_text(goal, prefixes) for goal in step.tests],
        "probability": None if step.rule.probability is None else float(step.rule.probability),
    }


def tree_lines(tree: Tree, prefixes: Prefixes, indent: str = "") -> Iterator[str]:
    """A derivation tree as lines of text."""
    words = " ".join(triple(tree.statement, prefixes))
    if tree.step is None:
        yield f"{indent}{words}   [{'more below, not shown' if tree.cut else 'given'}]"
    else:
        rule = tree.step.rule
        certainty = "" if rule.probability is None else f", probability {rule.probability}"
        yield f"{indent}{words}   [by rule {rule.name}{certainty}]"
        yield from step_lines(tree.step, prefixes, indent + "  ")
    if tree.others:
        yield f"{indent}  other derivations ({tree.others})"


def step_lines(step: Step, prefixes: Prefixes, indent: str = "") -> Iterator[str]:
    """What a step rests on, as lines of text."""
    for below in step.antecedents:
        yield from tree_lines(below, prefixes, indent)
    for goal in step.tests:
        yield f"{indent}{goal_text(goal, prefixes)}   [holds]"
    for goal in step.absent:
        yield f"{indent}no statement matches {goal_text(goal, prefixes)}"


def undecided_words(one: Undecided) -> str:
    """What is undecided, in words.

    >>> undecided_words(Undecided("r", (("?g", "Game-1"),)))
    'rule r with ?g = Game-1: neither sure nor impossible'
    """
    if one.limit:
        where = f" in rule {one.rule}" if one.rule else ""
        return f"the limit on {one.limit}, {one.most}, was reached{where}. {cure(one.limit)}"
    values = ", ".join(f"{name} = {value}" for name, value in one.bindings)
    return f"rule {one.rule} with {values}: neither sure nor impossible"


def inference_lines(data: Mapping[str, Any]) -> list[str]:
    """What `infer` found, in words."""
    derived = [f"Derived: {' '.join(statement)}" for statement in data["derived"]]
    against = []
    for one in data["contradictions"]:
        values = _values(one["bindings"])
        against.append(f"Contradiction: {one['rule']} with {values}. {one['message']}".rstrip())
        against += [f"  given: {' '.join(statement)}" for statement in one["inputs"]]
    chances = data.get("probabilities") or [None] * len(data["answers"])
    found = zip(data["answers"], data["kinds"], chances, strict=True)
    answers = [f"Answer: {_values(one)}   [{kind}{_chance(chance)}]" for one, kind, chance in found]
    undecided = (
        Undecided(one["rule"] or "", tuple(one.get("bindings", {}).items()), one.get("limit", ""), one.get("most", 0))
        for one in data["undecided"]
    )
    doubts = [f"Undecided: {undecided_words(one)}" for one in undecided]
    missing = [f"Incomplete: {words}" for words in data["incomplete"]]
    clashes = plural("contradiction", len(data["contradictions"]))
    counts = f"{len(derived)} derived, {clashes}, {len(doubts)} undecided."
    return [*derived, *against, *answers, *doubts, *missing, counts]


def _values(bindings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in bindings.items())


def _chance(chance: float | None) -> str:
    return "" if chance is None or chance == 1 else f", probability {chance:.4g}, unknown {1 - chance:.4g}"


def contexts_object(found: Contexts, prefixes: Prefixes) -> dict[str, Any]:
    """The object that `reading contexts --json` prints."""

    def triples(statements: Iterable[Statement]) -> list[list[str]]:
        return [triple(statement, prefixes) for statement in statements]

    def context(one: Context) -> dict[str, Any]:
        derived = triples(one.inference.derived)
        return {
            **{"left_out": triples(one.left_out), "size": one.size},
            "probability": one.probability,
            "derived": derived,
        }

    return {
        "contexts": [context(one) for one in found.contexts],
        "best": None if found.best is None else {**context(found.best), "exact": found.exact},
        "conflicts": [
            {
                "sets": [triples(group) for group in one.sets],
                "repairs": [triples(repair) for repair in one.repairs],
                "complete": one.complete,
            }
            for one in found.conflicts
        ],
        "undecided": [one.as_dict() for one in found.undecided],
    }


def contexts_lines(data: Mapping[str, Any]) -> list[str]:
    """The contexts in words."""
    lines: list[str] = []
    for number, one in enumerate(data["contexts"], start=1):
        chance = "" if one["probability"] is None else f", probability {one['probability']:.4g}"
        lines.append(f"Context {number}: {plural('statement', one['size'])}, {len(one['left_out'])} left out{chance}")
        lines += [f"  without {' '.join(statement)}" for statement in one["left_out"]]
    if data["best"] is not None and not data["contexts"]:
        lines += _conflict_lines(data)
    for one in data["undecided"]:
        lines.append(f"Undecided: the limit on {one['limit']}, {one['most']}, was reached. {cure(one['limit'])}")
    return [*lines, f"Contexts: {len(data['contexts'])}."] if data["contexts"] or data["best"] is None else lines


def _conflict_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts one by one, where their repairs have too many combinations to list, and the best context."""
    for number, one in enumerate(data["conflicts"], start=1):
        more = "" if one["complete"] else "; there may be more"
        yield f"Conflict {number}: {plural('repair', len(one['repairs']))}{more}"
        yield from (f"  cannot all be true: {'; '.join(map(' '.join, group))}" for group in one["sets"])
        yield from (f"  repair: without {'; '.join(map(' '.join, repair))}" for repair in one["repairs"][:MOST_SHOWN])
        if len(one["repairs"]) > MOST_SHOWN:
            yield f"  {plural('further repair', len(one['repairs']) - MOST_SHOWN)}: --json lists them"
    best = data["best"]
    exact = "" if best["exact"] else " (the best found in time; a larger one may exist)"
    yield f"Best context: {plural('statement', best['size'])}, {len(best['left_out'])} left out{exact}"
    yield from (f"  without {' '.join(statement)}" for statement in best["left_out"])


def combinations_object(theory: Theory, total: int, bounds: Bounds, found: Combinations) -> dict[str, Any]:
    """The object that `reading combinations --json` prints; probabilities are conditional on all that was stated."""
    stated = {"at_least": bounds.at_least, "at_most": bounds.at_most, "exactly": bounds.exactly}
    marginals = found.marginals()
    return {
        "theory": theory.name,
        "total": total,
        "stated": {name: dict(counts) for name, counts in stated.items()},
        "consistent": found.consistent,
        "worlds": [_world(theory, world) for world in found.worlds],
        "marginals": {name: {str(n): p for n, p in counts.items()} for name, counts in marginals.items()},
        "undecided": [one.as_dict() for one in found.undecided],
    }


def _world(theory: Theory, world: World) -> dict[str, Any]:
    """A world with the statements that it would make true."""
    told = [
        [theory.subject, event.property, str(world.counts[event.name])] for event in theory.events if event.property
    ]
    return {"counts": dict(world.counts), "probability": world.probability, "statements": told}


def combinations_lines(theory: Theory, total: int, found: Combinations, most: int) -> list[str]:
    """The combinations in words, the most likely first."""
    if found.undecided:
        one = found.undecided[0]
        return [f"Undecided: the limit on {one.limit}, {one.most}, was reached. {cure(one.limit)}"]
    if not found.worlds:
        return [f"Contradiction: no combination of events makes a total of {total} within what is stated."]
    lines = [f"{world.probability:8.4f}  {_world_words(theory, world)}" for world in found.worlds[:most]]
    rest = sum(world.probability for world in found.worlds[most:])
    more = [f"{rest:8.4f}  {plural('other combination', len(found.worlds) - most)}"] if len(found.worlds) > most else []
    return [*lines, *more, f"Combinations: {len(found.worlds)}."]


def _world_words(theory: Theory, world: World) -> str:
    parts = [plural(event.label, world.counts[event.name]) for event in theory.events if world.counts[event.name]]
    return ", ".join(parts) or "nothing"
