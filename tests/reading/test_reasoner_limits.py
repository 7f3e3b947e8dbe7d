"""Limits: anyone who writes rules or statements to exhaust the reasoner gets `undecided`, never a part of an answer."""

from __future__ import annotations

import pytest
from tests.reading.reasoning import NAMES, inferred, rules, statements

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.limits import Limits, Undecided, chosen_limits
from basanite.reading.reasoner.answers import answer
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules.sexpr_rules import parse_graph, parse_rules

COUNT = "(rule count :if (?x n ?n) (?n mrq:plus 1 ?m) :then (?x n ?m))"
CROSS = "(rule cross :if (?a p ?b) (?c p ?d) (?e p ?f) :then (?a q ?f))"
MANY = " ".join(f"(s{number} p o{number})" for number in range(50))


@pytest.mark.parametrize(
    ("theory", "given", "limits", "reached"),
    [
        (COUNT, "(x n 1)", {"terms_per_rule": 50}, "terms_per_rule"),
        (COUNT, "(x n 1)", {"depth": 20}, "depth"),
        ("(rule sq :if (?x n ?n) (?n mrq:times ?n ?m) :then (?x n ?m))", "(x n 9)", {"digits": 100}, "digits"),
        ("(rule sq :if (?x n ?n) (?n mrq:times ?n ?m) :then (?x n ?m))", "(x n 99999)", {}, "digits"),
        ("(rule dup :if (?x t ?t) (?t mrq:concatenate ?t ?u) :then (?x t ?u))", '(x t "ab")', {"text": 1000}, "text"),
        (CROSS, MANY, {"bindings": 1000}, "bindings"),
        (CROSS, MANY, {"firings": 100}, "firings"),
        ("(rule r :if (?a p ?b) :then (?b p ?a))", MANY, {"statements": 60}, "statements"),
        (COUNT, MANY, {"statements": 10}, "statements"),
        (COUNT, '(x n "%s")' % ("9" * 200), {"text": 100}, "text"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_a_limit_leaves_nothing_but_undecided(theory, given, limits, reached):
    inference = inferred(theory, given, **limits)
    assert [one.limit for one in inference.undecided] == [reached]
    assert (inference.complete, inference.consistent) == (False, None)
    assert (inference.derived, inference.contradictions) == ((), ())
    assert answer(inference, parse_graph("(?a p ?b)", "q", Findings(), NAMES)).answers == ()


def test_the_default_limits_stop_a_rule_that_never_ends():
    assert [one.limit for one in inferred(COUNT, "(x n 1)").undecided] == ["depth"]


def test_within_the_limits_nothing_is_undecided():
    assert inferred(CROSS, MANY).undecided == ()


def test_a_query_that_asks_for_everything_with_everything_is_undecided():
    inference = Reasoner(rules(COUNT), None, Limits(bindings=5000)).infer(statements(MANY))
    found = answer(inference, parse_graph("(?a p ?b) (?c p ?d) (?e p ?f)", "q", Findings(), NAMES))
    assert (found.answers, [one.limit for one in found.undecided]) == ((), ["bindings"])


def test_too_many_answers_are_undecided():
    inference = Reasoner(rules("(rule r :if (?x a ?y) :then (?x b ?y))"), None, Limits(answers=10)).infer(
        statements(MANY)
    )
    found = answer(inference, parse_graph("(?a p ?b)", "q", Findings(), NAMES))
    assert [one.limit for one in found.undecided] == ["answers"]


def test_deep_brackets_are_a_problem_and_not_a_crash():
    findings = Findings()
    parse_rules("(" * 100_000, "deep.rules", findings)
    assert [problem.message for problem in findings] == ["brackets are nested more than 64 deep"]


def test_limits_are_set_by_name():
    assert chosen_limits(["depth=7", "worlds=9"]) == Limits(depth=7, worlds=9)
    with pytest.raises(SettingError, match="Did you mean 'depth'"):
        chosen_limits(["dept=7"])
    for wrong in ("depth=0", "depth=x", "depth=", "depth=-1", "depth=" + "9" * 40):
        with pytest.raises(SettingError, match="whole number"):
            chosen_limits([wrong])


def test_a_limit_says_which_rule_reached_it():
    (found,) = inferred(COUNT, "(x n 1)", terms_per_rule=5).undecided
    assert found.as_dict() == {"limit": "terms_per_rule", "most": 5, "rule": "count"}
    assert Undecided("r", (("?x", "a"),)).as_dict() == {"rule": "r", "bindings": {"?x": "a"}}
