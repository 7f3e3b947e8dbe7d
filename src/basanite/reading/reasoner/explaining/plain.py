"""Results of the reasoner as plain data for `--json`, and derivation trees as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from basanite.reading.limits import Undecided, cure
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.answers import Answers
from basanite.reading.reasoner.explaining.trees import Explainer, Step, Tree
from basanite.reading.reasoner.inference import Contradiction, Inference
from basanite.reading.rules.names import goal_text, named_bindings, triple
from basanite.reading.terms import Statement
from basanite.reports.wording import plural


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
    prefixes, rule = inference.reasoner.rules.prefixes, inference.reasoner.program.rules[firing.at]
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
        yield f"{indent}{words}   [by rule {tree.step.rule.name}{_certainty(tree.step)}]"
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


def _certainty(step: Step) -> str:
    return "" if step.rule.probability is None else f", probability {step.rule.probability}"


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
    against = [line for one in data["contradictions"] for line in _contradiction_lines(one)]
    chances = data.get("probabilities") or [None] * len(data["answers"])
    found = zip(data["answers"], data["kinds"], chances, strict=True)
    answers = [f"Answer: {_values(one)}   [{kind}{_chance(chance)}]" for one, kind, chance in found]
    doubts = [f"Undecided: {undecided_words(_undecided(one))}" for one in data["undecided"]]
    missing = [f"Incomplete: {words}" for words in data["incomplete"]]
    clashes = plural("contradiction", len(data["contradictions"]))
    counts = f"{len(derived)} derived, {clashes}, {len(doubts)} undecided."
    return [*derived, *against, *answers, *doubts, *missing, counts]


def _contradiction_lines(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"Contradiction: {one['rule']} with {_values(one['bindings'])}. {one['message']}".rstrip()
    for statement in one["inputs"]:
        yield f"  given: {' '.join(statement)}"


def _values(bindings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in bindings.items())


def _chance(chance: float | None) -> str:
    return "" if chance is None or chance == 1 else f", probability {chance:.4g}, unknown {1 - chance:.4g}"


def _undecided(one: Mapping[str, Any]) -> Undecided:
    return Undecided(
        one["rule"] or "", tuple(one.get("bindings", {}).items()), one.get("limit", ""), one.get("most", 0)
    )
