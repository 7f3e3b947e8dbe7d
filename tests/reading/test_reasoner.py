"""Forward chaining with default negation: layers, the well-founded semantics, and the rulings on published rules."""

from __future__ import annotations

import pytest
from tests.reading.reasoning import EXAMPLES, contradicted, derived, inferred, rules, statements

from basanite.problems import Findings
from basanite.reading.limits import Undecided
from basanite.reading.ontology_file import read_ontology
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules import read_rules
from basanite.reading.rules.layers import layers
from basanite.reading.rules.sexpr_rules import graph_statements

OVERTIME = "(rule five :if (?g overtime true) :if-not (?g periods ?n) :then (?g periods 5))"
REGULAR = "(rule four :if (?g overtime false) :if-not (?g periods ?n) :then (?g periods 4))"


def test_a_rule_is_not_blocked_by_what_only_it_supports():
    assert derived(inferred(OVERTIME, "(g overtime true) (h overtime true)")) == ["g periods 5", "h periods 5"]


def test_a_rule_is_blocked_by_what_another_rule_supports():
    other = "(rule told :if (?g said ?n) :then (?g periods ?n))"
    assert derived(inferred(OVERTIME + other, "(g overtime true) (g said 6)")) == ["g periods 6"]
    same = inferred(OVERTIME + other, "(g overtime true) (g said 5)")
    assert [len(found) for found in same.state.firings] == [0, 1]


def test_two_defaults_that_block_each_other_give_every_input_its_one_reading():
    theory = OVERTIME + REGULAR
    assert not layers(rules(theory).rules)[0].ordered
    inference = inferred(theory, "(g overtime true) (h overtime false)")
    assert derived(inference) == ["g periods 5", "h periods 4"]
    assert inference.undecided == ()


def test_instances_without_one_reading_are_undecided_by_rule_and_binding():
    theory = """
      (rule day :if (?g played true) :if-not (?g at night) :then (?g at day))
      (rule night :if (?g played true) :if-not (?g at day) :then (?g at night))"""
    inference = inferred(theory, "(g played true) (h played true) (h at day)")
    assert derived(inference) == []
    assert inference.undecided == (Undecided("day", (("?g", "g"),)), Undecided("night", (("?g", "g"),)))


def test_what_rests_on_something_undecided_is_undecided_and_the_rest_is_not():
    theory = """
      (rule day :if (?g played true) :if-not (?g at night) :then (?g at day))
      (rule night :if (?g played true) :if-not (?g at day) :then (?g at night))
      (rule seen :if (?g at day) :then (?g seen true))
      (rule early :if (?g played true) :if-not (?g at midnight) :then (?g early true))"""
    inference = inferred(theory, "(g played true)")
    assert derived(inference) == ["g early true"]
    assert {one.rule for one in inference.undecided} == {"day", "night", "seen"}


def test_each_pattern_after_if_not_is_negated_on_its_own_and_its_other_variables_are_local():
    theory = "(rule lone :if (?x is team) :if-not (?x won ?y) (?x lost ?y) :then (?x idle true))"
    given = "(a is team) (b is team) (c is team) (d is team) (a won x) (b lost y) (d won x) (d lost z)"
    assert derived(inferred(theory, given)) == ["c idle true"]


def test_a_local_variable_twice_in_one_pattern_means_the_same_thing_twice():
    theory = "(rule r :if (?x is team) :if-not (?y beat ?y) :then (?x fine true))"
    assert derived(inferred(theory, "(a is team) (b beat c)")) == ["a fine true"]
    assert derived(inferred(theory, "(a is team) (b beat b)")) == []


def test_rules_may_recurse_and_may_go_in_circles():
    theory = """
      (rule step :if (?x next ?y) :then (?x before ?y))
      (rule on :if (?x before ?y) (?y before ?z) :then (?x before ?z))"""
    chain = " ".join(f"(n{number} next n{number + 1})" for number in range(30)) + "(n30 next n0)"
    assert len(derived(inferred(theory, chain))) == 31 * 31


def test_a_property_may_be_a_variable():
    theory = "(rule mirror :if (?p is symmetric) (?x ?p ?y) :then (?y ?p ?x))"
    assert derived(inferred(theory, "(meets is symmetric) (a meets b) (a beats b)")) == ["b meets a"]
    absent = "(rule quiet :if (?x is team) :if-not (?x ?p loud) :then (?x quiet true))"
    assert derived(inferred(absent, "(a is team) (b is team) (b was loud)")) == ["a quiet true"]


def test_a_value_never_becomes_a_subject():
    theory = "(rule turn :if (?x p ?y) :then (?y q ?x))"
    assert derived(inferred(theory, '(a p b) (a p 5) (a p "text")')) == ["b q a"]


def test_numbers_and_truth_values_are_different_terms():
    theory = "(rule truth :if (?x p true) :then (?x told true)) (rule one :if (?x p 1) :then (?x counted true))"
    assert derived(inferred(theory, "(a p 1) (b p true)")) == ["a counted true", "b told true"]


def test_contradictions_are_reported_and_inference_goes_on():
    theory = """
      (rule same :if (?g winner ?t) (?g loser ?t) :then (?input contradicts Theory))
      (rule plays :if (?g winner ?t) :then (?g team ?t))"""
    inference = inferred(theory, "(g winner a) (g loser a) (h winner b)")
    assert contradicted(inference) == ["same"]
    assert derived(inference) == ["g team a", "h team b"]
    assert [str(one) for one in inference.contradictions[0].antecedents] == [
        str(one) for one in statements("(g winner a) (g loser a)")
    ]


def test_one_statement_given_twice_is_one():
    assert len(inferred(OVERTIME, "(g overtime true) (g overtime true)").state.firings[0]) == 1


def test_rules_without_a_triple_conclude_from_nothing():
    assert derived(inferred("(rule fact :if (1 < 2) :then (a p b))", "(x y z)")) == ["a p b"]


def test_one_reasoner_serves_many_documents_and_none_sees_another():
    reasoner = Reasoner(rules(OVERTIME))
    first = reasoner.infer(statements("(g overtime true)"))
    second = reasoner.infer(statements("(h overtime true)"))
    assert (derived(first), derived(second)) == (["g periods 5"], ["h periods 5"])


def test_the_order_of_rules_and_statements_does_not_matter():
    theory = [OVERTIME, REGULAR, "(rule long :if (?g periods ?n) (?n > 4) :then (?g long true))"]
    given = ["(g overtime true)", "(h overtime false)", "(k periods 7)"]
    forward = derived(inferred(" ".join(theory), " ".join(given)))
    assert forward == derived(inferred(" ".join(theory[::-1]), " ".join(given[::-1])))
    assert forward == ["g long true", "g periods 5", "h periods 4", "k long true"]


@pytest.fixture(scope="module")
def football():
    findings = Findings()
    theory = read_rules(EXAMPLES / "nfl" / "rules" / "scoring.rules", findings)
    ontology = read_ontology(EXAMPLES / "nfl" / "ontology.ttl", theory.prefixes, findings)
    assert findings.valid
    return Reasoner(theory, ontology)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("(g numberOfPeriods 4) (g numberOfPeriods 5)", "too-many"),
        ("(g type NFLGame) (g type NFLTeam)", "disjoint"),
        ("(g gameWinner t) (g gameLoser t)", "disjoint"),
        ("(g type NFLTeam) (g numberOfPeriods 4)", "domain"),
        ("(g numberOfPeriods many)", "range"),
        ("(g numberOfPeriods -1)", "range"),
        ("(g periodsPlayed 4)", "unknown"),
    ],
)
def test_constraints_of_the_ontology_become_contradictions(football, given, kind):
    stated = graph_statements(given, "x", Findings(), football.rules.prefixes)
    inference = football.infer(stated)
    assert [one.rule for one in inference.contradictions if one.rule.startswith("ontology:")] == [f"ontology:{kind}"]
    assert set(Explainer(inference).behind(inference.contradictions[0])) <= set(stated)


def test_a_constraint_that_a_conclusion_breaks_leads_back_to_the_input(football):
    text = "(g gameWinner a) (g gameLoser b) (g homeTeamInGame c)"
    stated = graph_statements(text, "x", Findings(), football.rules.prefixes)
    inference = football.infer(stated)
    (found,) = inference.contradictions
    assert found.rule == "ontology:too-many"
    assert Explainer(inference).behind(found) == sorted(stated, key=str)


def test_what_is_only_missing_is_incomplete_and_no_contradiction(football):
    stated = graph_statements("(s type TeamSummaryScore) (s pointsScored 20)", "x", Findings(), football.rules.prefixes)
    inference = football.infer(stated)
    assert inference.consistent is True
    assert [fault.kind for fault in inference.incomplete] == ["missing"]
