"""Explanations: the shallowest tree without circles, as text, data, page and RDF (R-9)."""

from __future__ import annotations

import json
import re

import pytest
from tests.reading.reasoning import NAMES, inferred, statements

from basanite.problems import Findings
from basanite.reading.prov_rdf import statement_node
from basanite.reading.provenance import Span
from basanite.reading.rdf import parse_rdf, write_rdf
from basanite.reading.reasoner.answers import answer
from basanite.reading.reasoner.explanation import DEEPEST, Explainer
from basanite.reading.reasoner.explanation_files import firings_below, provenance_graph
from basanite.reading.reasoner.explanation_page import PageMaker, page
from basanite.reading.reasoner.given import Mention
from basanite.reading.reasoner.plain import inference_object, tree_lines, tree_object
from basanite.reading.rules.sexpr_rules import parse_graph
from basanite.reading.terms import PROV, TS

THEORY = """
  (rule winner "More points win." :if (?g points ?p) (?g against ?q) (?p > ?q) :if-not (?g told ?x) :then (?g won true))
  (rule glad :if (?g won true) :then (?g glad true))
  (rule short :if (?g points ?p) :then (?g glad true))
  (rule round :if (?g glad true) :then (?g won true))
  (rule never :if (?g won true) (?g against ?q) (?q > 5) :then (?input contradicts Theory))"""
GIVEN = "(g points 20) (g against 17)"


@pytest.fixture
def explainer():
    return Explainer(inferred(THEORY, GIVEN))


def one(text):
    return statements(text)[0]


def test_the_shallowest_derivation_comes_first_and_others_are_counted(explainer):
    glad = explainer.tree(one("(g glad true)"))
    assert (glad.step.rule.name, glad.depth, glad.others) == ("short", 1, 1)
    assert [tree.step.rule.name for tree in explainer.others(glad.statement)] == ["glad"]
    won = explainer.tree(one("(g won true)"))
    assert (won.step.rule.name, won.depth) == ("winner", 1)
    assert sorted(map(str, won.leaves())) == sorted(map(str, statements(GIVEN)))


def test_trees_never_go_in_a_circle():
    circle = (
        "(rule a :if (?x p 1) :then (?x q 1)) (rule b :if (?x q 1) :then (?x p 1)) (rule c :if (?x r 1) :then (?x p 1))"
    )
    explainer = Explainer(inferred(circle, "(x r 1)"))
    tree = explainer.tree(one("(x q 1)"))
    assert [tree.step.rule.name, tree.step.antecedents[0].step.rule.name] == ["a", "c"]
    assert tree.depth == 2
    assert explainer.others(one("(x p 1)")) == []


def test_a_given_statement_is_a_leaf_and_an_unknown_one_has_no_tree(explainer):
    assert explainer.tree(one("(g points 20)")).step is None
    assert explainer.tree(one("(g points 21)")) is None


def test_text_shows_what_was_absent_and_what_held(explainer):
    assert list(tree_lines(explainer.tree(one("(g won true)")), NAMES)) == [
        "g won true   [by rule winner]",
        "  g points 20   [given]",
        "  g against 17   [given]",
        "  20 > 17   [holds]",
        "  no statement matches g told ?x",
        "  other derivations (1)",
    ]


def test_the_data_of_an_inference_leads_from_each_conclusion_to_the_input(explainer):
    inference = explainer.inference
    found = answer(inference, parse_graph("(?g glad ?x)", "q", Findings(), NAMES), explainer=explainer)
    data = inference_object(inference, explainer, found)
    assert data["derived"] == [["g", "glad", "true"], ["g", "won", "true"]]
    assert (data["answers"], data["kinds"]) == ([{"?g": "g", "?x": "true"}], ["inferred"])
    assert data["contradictions"] == [
        {
            "rule": "never",
            "bindings": {"?g": "g", "?q": "17"},
            "inputs": [["g", "against", "17"], ["g", "points", "20"]],
            "message": "",
        }
    ]
    given = {statement.id for statement in statements(GIVEN)}
    for entry in data["derivations"].values():
        assert set(entry["if"]) <= given | data["derivations"].keys()
    assert tree_object(explainer.tree(one("(g won true)")), NAMES)["if_not"] == ["g told ?x"]


def test_firings_are_prov_activities_in_every_rdf_format(explainer):
    import io

    inference = explainer.inference
    start = [explainer.nearest[inference.fact(one("(g won true)"))]]
    graph = list(provenance_graph(inference, firings_below(inference, explainer.nearest, start)))
    used = {str(s.object) for s in graph if s.predicate.value == PROV + "used"}
    assert used == {str(statement_node(statement)) for statement in statements(GIVEN)}
    generated = [s.object for s in graph if s.predicate.value == PROV + "generated"]
    assert generated == [statement_node(one("(g won true)"))]
    assert [s.object.lexical for s in graph if s.predicate.value == TS + "absent"] == ["g told ?x"]
    assert [s for s in graph if s.predicate.value == PROV + "hadPlan"]
    for name in ("rdfxml", "turtle", "ntriples", "jsonld"):
        out, findings = io.BytesIO(), Findings()
        write_rdf(graph, out, name)
        back = {str(row.statement) for row in parse_rdf(out.getvalue(), name, "x", findings)}
        assert (back, findings.problems) == ({str(statement) for statement in graph}, [])


def test_a_long_derivation_is_cut_and_says_so():
    theory = "(rule step :if (?x next ?y) (?x on true) :then (?y on true))"
    chain = " ".join(f"(n{number} next n{number + 1})" for number in range(DEEPEST + 20)) + "(n0 on true)"
    tree = Explainer(inferred(theory, chain)).tree(one(f"(n{DEEPEST + 20} on true)"))
    assert tree.depth == DEEPEST
    lines = list(tree_lines(tree, NAMES))
    assert any("more below, not shown" in line for line in lines)


HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'‮"


def hostile_page():
    quoted = json.dumps(HOSTILE)
    theory = f"(rule r {quoted} :if (?g says ?t) :if-not (?g denies {quoted}) :then (?g heard ?t))"
    inference = inferred(theory, f"(g says {quoted})")
    text = "Before. " + HOSTILE + " After.\nSecond line."
    said = one(f"(g says {quoted})")
    spans = (Span("object", 8, 8 + len(HOSTILE), HOSTILE, "Before. ", " After."),)
    maker = PageMaker(Explainer(inference), {said: [Mention("doc<b>", spans)]}, {"doc<b>": text})
    shown = maker.statement(inference.derived[0])
    return page("Why this holds", HOSTILE, [shown], maker).decode()


def test_nothing_a_stranger_wrote_acts_in_the_page():
    text = hostile_page()
    assert "<script" not in text
    assert "<img" not in text
    assert "‮" not in text
    assert text.startswith("<!doctype html>")
    assert "default-src &#39;none&#39;" in text


def test_the_page_unfolds_without_scripts_and_leads_to_the_highlighted_text():
    text = hostile_page()
    assert "<details" in text
    assert "no statement matches" in text
    (target,) = re.findall(r'href="#(m\d+)"', text)
    assert f'id="{target}"' in text
    assert "Second line." in text


@pytest.mark.browser
@pytest.mark.req("R-9")
def test_a_browser_without_scripts_opens_and_closes_steps(tmp_path, chrome):
    explainer = Explainer(inferred(THEORY, GIVEN))
    maker = PageMaker(explainer)
    shown = [maker.contradiction(found) for found in explainer.inference.contradictions]
    (tmp_path / "why.html").write_bytes(page("What contradicts what", "1 contradiction", shown, maker))
    view = chrome.new_page(java_script_enabled=False)
    view.goto((tmp_path / "why.html").as_uri())
    step = view.locator("details.branch").first
    leaf = step.locator(".leaf").first
    assert leaf.is_visible()
    step.locator("summary").first.click()
    assert not leaf.is_visible()
    assert view.locator("section.wrong .flat .leaf").count() == 2
    view.close()
