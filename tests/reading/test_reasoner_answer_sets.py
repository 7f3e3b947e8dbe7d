"""The chainer against an independent engine: random theories, stratified and not, read by clingo (R-9)."""

from __future__ import annotations

import random

import pytest
from tests.reading.answer_sets import TooLargeError, answer_sets, as_atoms
from tests.reading.reasoning import NAMES

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules import check_rules
from basanite.reading.rules.layers import layers
from basanite.reading.rules.sexpr_rules import graph_statements, parse_rules

THINGS, PROPERTIES, NUMBERS = ("a1", "b1", "c1"), ("p", "q", "r", "s", "t"), (0, 1, 2, 3)

GIVEN = (*"pppppqqqrst",)
"""Properties of what is given: mostly those that rules ask for first."""


def triple(rng, subjects, objects, properties=PROPERTIES):
    return f"({rng.choice(subjects)} {rng.choice(properties)} {rng.choice(objects)})"


def theory(rng, *, negation, count):
    """A random theory as text; with `upward` negation only properties of lower letters are negated."""
    lines = []
    for number in range(count):
        at = rng.randrange(1, len(PROPERTIES))
        below = PROPERTIES[:at] if negation == "upward" else PROPERTIES
        names = [*rng.sample(("?x", "?y", "?z"), 2), rng.choice(THINGS)]
        body = [
            triple(rng, names[:2], [*names, rng.choice(NUMBERS)], PROPERTIES[: at + 1])
            for _ in range(rng.randint(1, 2))
        ]
        absent = [triple(rng, [*names, "?w"], [*names, "?w"], below) for _ in range(rng.choice((0, 1, 1, 2)))]
        if rng.random() < 0.3:
            body += [f"({names[0]} t ?n)", f"(?n {rng.choice(('<', '<=', '>'))} {rng.choice(NUMBERS)})"]
        variables = sorted({word.strip("()") for part in body for word in part.split() if "?" in word} - {"?n"})
        head = triple(rng, variables or THINGS, [*(variables or THINGS), rng.choice(NUMBERS)], [PROPERTIES[at]])
        negated = f":if-not {' '.join(absent)} " if absent else ""
        lines.append(f"(rule r{number} :if {' '.join(body)} {negated}:then {head})")
    return "\n".join(lines)


def tangle(rng, count):
    """A random theory whose rules mostly block one another."""
    lines = []
    for number in range(count):
        body = [triple(rng, ["?x"], ["?y"], ["p", "q"])]
        body += [triple(rng, ["?x", "?y"], ["?x", "?y", 1], ["q", "r", "s"])] if rng.random() < 0.3 else []
        absent = triple(rng, ["?x", "?y"], ["?x", "?y", "?w"], ["r", "s", "t"])
        lines.append(f"(rule r{number} :if {' '.join(body)} :if-not {absent} :then (?x {rng.choice('rst')} ?y))")
    return "\n".join(lines)


def case(seed, make):
    """Rules without faults and statements for them."""
    rng = random.Random(seed)
    while True:
        findings = Findings()
        rules = parse_rules(make(rng), "random.rules", findings)
        check_rules(rules, None, findings)
        if findings.valid:
            text = " ".join(triple(rng, THINGS, [*THINGS, *THINGS, *NUMBERS], GIVEN) for _ in range(rng.randint(3, 9)))
            return rules, graph_statements(text, "x", findings, NAMES)


def test_theories_with_an_order_agree_with_their_one_answer_set():
    ordered = 0
    for seed in range(150):
        rules, given = case(seed, lambda rng: theory(rng, negation="upward", count=4))
        inference = Reasoner(rules).infer(given)
        if all(layer.ordered for layer in layers(rules.rules)):
            ordered += 1
            assert inference.undecided == ()
            assert answer_sets(rules.rules, given) == [as_atoms(inference.statements())], seed
    assert ordered > 75


def test_theories_without_an_order_lie_between_what_is_sure_and_what_is_possible():
    undecided = 0
    for seed in range(1000, 1250):
        rules, given = case(
            seed, lambda rng: tangle(rng, 5) if rng.random() < 0.7 else theory(rng, negation="any", count=5)
        )
        inference = Reasoner(rules).infer(given)
        undecided += bool(inference.undecided)
        sure = as_atoms(inference.statements())
        possible = as_atoms(map(inference.statement, inference.state.possible.triples()))
        found = answer_sets(rules.rules, given)
        assert sure <= possible
        assert found is None or all(sure <= one <= possible for one in found), seed
        if not inference.undecided:
            assert found == [sure], seed
    assert undecided > 20


def test_the_solver_would_wrap_a_number_that_we_do_not():
    findings = Findings()
    rules = parse_rules("(rule r :if (?x n ?n) (?n < 6) :then (?x few true))", "x", findings)
    given = graph_statements("(a n 4294967301)", "x", findings, NAMES)
    assert Reasoner(rules, None, Limits()).infer(given).derived == ()
    with pytest.raises(TooLargeError):
        answer_sets(rules.rules, given)
