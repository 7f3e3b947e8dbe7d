"""The published example works as it is printed: rules, input, query and answer (R-13)."""

from __future__ import annotations

import pytest
from tests.reading.reasoning import EXAMPLES, NAMES, contradicted, derived

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.ontology_file import read_ontology
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.answers import answer
from basanite.reading.reasoner.explanation import Explainer
from basanite.reading.reasoner.given import read_statements
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules import check_rules, read_rules
from basanite.reading.rules.sexpr_rules import parse_graph
from basanite.reading.rules.tree import named_bindings, short

FOLDER = EXAMPLES / "table3"


@pytest.fixture(scope="module")
def reasoner():
    findings = Findings()
    rules = read_rules(FOLDER / "table3.rules", findings)
    check_rules(rules, None, findings)
    assert findings.valid
    assert not findings.problems
    return Reasoner(rules)


def given(name):
    findings = Findings()
    found = read_statements(FOLDER / name, NAMES, findings)
    assert findings.valid
    return found.statements


def query():
    return parse_graph((FOLDER / "periods.graph").read_text(), "query", Findings(), NAMES)


def test_overtime_without_a_count_gives_five_periods_with_its_derivation(reasoner):
    inference = reasoner.infer(given("overtime.graph"))
    assert derived(inference) == ["Game-1 numberOfPeriods 5"]
    assert inference.consistent is True
    tree = Explainer(inference).tree(inference.derived[0])
    assert tree.step.rule.name == "rule-1"
    assert [str(below.statement) for below in tree.step.antecedents] == [str(given("overtime.graph")[1])]
    assert [short(term, NAMES) for term in tree.step.absent[0].terms] == ["Game-1", "numberOfPeriods", "?n"]


def test_the_query_of_the_example_has_the_printed_answer_and_it_is_inferred(reasoner):
    found = answer(reasoner.infer(given("overtime.graph")), query()).answers
    assert [named_bindings(dict(one.bindings), NAMES) for one in found] == [{"?G": "Game-1", "?N": "5"}]
    assert found[0].kind == "inferred"


def test_overtime_with_four_periods_is_a_contradiction(reasoner):
    inference = reasoner.infer(given("four-periods.graph"))
    assert contradicted(inference) == ["rule-2"]
    assert inference.consistent is False
    assert derived(inference) == []
    behind = Explainer(inference).behind(inference.contradictions[0])
    assert behind == sorted(given("four-periods.graph")[1:], key=str)


def test_a_stated_count_of_five_stays_explicit(reasoner):
    findings = Findings()
    stated = [*given("overtime.graph"), *_stated("(Game-1 numberOfPeriods 5)", findings)]
    inference = reasoner.infer(stated)
    assert derived(inference) == []
    assert [one.kind for one in answer(inference, query()).answers] == ["explicit"]


def _stated(text, findings):
    from basanite.reading.rules.sexpr_rules import graph_statements

    return graph_statements(text, "x", findings, NAMES)


def test_the_printed_ontology_holds_with_the_rules_that_ship():
    findings = Findings()
    rules = read_rules(EXAMPLES / "nfl" / "rules" / "scoring.rules", findings)
    ontology = read_ontology(EXAMPLES / "nfl" / "ontology.ttl", rules.prefixes, findings)
    check_rules(rules, ontology, findings)
    assert findings.valid
    nfl = Prefixes("https://nfl.example/scoring#")
    game = [goal.statement({}) for goal in parse_graph("(g type NFLGame) (g hasOvertimePlay true)", "x", findings, nfl)]
    inference = Reasoner(rules, ontology, Limits()).infer(game)
    assert [short(one.object, nfl) for one in inference.derived] == ["Event", "5"]
    two = [
        goal.statement({}) for goal in parse_graph("(g numberOfPeriods 4) (g numberOfPeriods 5)", "x", findings, nfl)
    ]
    assert "ontology:too-many" in contradicted(Reasoner(rules, ontology).infer([*game, *two]))
