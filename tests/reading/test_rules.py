"""Rules in both ways of writing: one tree, and every fault with file, line and rule (R-10)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given as sampled
from hypothesis import strategies as st
from tests.reading.reasoning import EXAMPLES

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.patterns import Pattern, Prefixes, Variable
from basanite.reading.rules import check_rules, read_rules
from basanite.reading.rules.files import parse_yaml_rules, read_all_rules
from basanite.reading.rules.sexpr_rules import graph_statements, parse_graph, parse_rules
from basanite.reading.terms import XSD, Iri

OVERTIME = """(rule overtime-default "If overtime is mentioned but no period count, assume 5."
  :if (?g hasOvertimePlay true) :if-not (?g numberOfPeriods ?n) :then (?g numberOfPeriods 5) :probability 0.97)"""
OVERTIME_YAML = """- rule: overtime-default
  comment: If overtime is mentioned but no period count, assume 5.
  if: ["?g hasOvertimePlay true"]
  if-not: ["?g numberOfPeriods ?n"]
  then: ["?g numberOfPeriods 5"]
  probability: 0.97
"""


def sexpr(text, **more):
    findings = Findings()
    return parse_rules(text, "x.rules", findings, **more), findings


def yaml(text):
    findings = Findings()
    return parse_yaml_rules(text.encode(), "x.yaml", findings), findings


def faults(findings):
    return [(problem.file, problem.line, problem.message) for problem in findings]


def test_both_ways_of_writing_make_the_same_rules():
    (first, one), (second, other) = sexpr(OVERTIME), yaml(OVERTIME_YAML)
    assert one.valid
    assert other.valid
    assert first == second
    assert first.rules[0].probability == Decimal("0.97")


def test_the_rules_that_ship_mean_the_same_in_both_files():
    findings, folder = Findings(), EXAMPLES / "nfl" / "rules"
    first = read_rules(folder / "scoring.rules", findings)
    second = read_rules(folder / "as-yaml" / "scoring.yaml", findings)
    assert findings.valid
    assert len(first.rules) == 9
    assert first == second


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("(rule r :if (?x p)\n :then (?x q 1))", 1, "rule r: a triple has three terms"),
        ("(rule r :if (?x p ?y)\n :then\n (?x q bad:name))", 3, "rule r: the prefix 'bad' is not known"),
        ("(rule r :if (?x p ?y)\n :unless (?x q 1)\n :then (?x r 1))", 2, "rule r: :unless is not part of a rule"),
        ("(rule r :if (?x p ?y))", 1, "rule r: there is nothing after :then"),
        ("(rule r :if (?x p ?y) :then (?x q 1) :probability 1.5)", 1, "rule r: the probability '1.5'"),
        ("(rule r :if ((?x p ?y)) :then (?x q 1))", 1, "rule r: :if holds something that is no triple"),
        ("\n(rule :if (?x p ?y) :then (?x q 1))", 2, "a rule has no name"),
        ("\n\n(rul r :if (?x p ?y) :then (?x q 1))", 3, "'rul' begins no form"),
        ("(rule r :if (?x p ?y) :then (?x q 1)", 1, "a bracket is never closed"),
        ("\n)", 2, "')' is outside of brackets"),
        ('(rule r "open :if (?x p ?y))', 1, "nothing can be read at"),
        ("(format basanite-rules/2)", 1, "the format 'basanite-rules/2' is not known"),
        ("(namespace x)", 1, "a declaration has no full IRI"),
    ],
)
def test_faults_of_s_expressions_name_file_line_and_rule(text, line, says):
    _, findings = sexpr(text)
    (problem,) = findings.problems
    assert (problem.file, problem.line) == ("x.rules", line)
    assert says in problem.message
    assert problem.fix


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("- rule: r\n  if: [?g p true]\n  then: ['?g q 1']", 2, "rule r: `if` holds something that is no quoted text"),
        ("- rule: r\n  if: ['?g p']\n  then: ['?g q 1']", 2, "rule r: a triple has three terms"),
        ("- rule: r\n  if: ['?g p 1']\n  than: ['?g q 1']", 3, "rule r: `than` is not part of a rule"),
        ("- rule: r\n  if: ['?g p 1']", 1, "rule r: there is nothing under `then`"),
        ("- rule: r\n  if: &a ['?g p 1']\n  then: *a", 2, "anchor"),
        ("- rule: r\n  rule: s\n", 2, "twice"),
        ("- !!python/object:os.system x", 1, "tag"),
        ("rules: []\n", 1, "format"),
        ("just text", 1, "the file holds no list of rules"),
    ],
)
def test_faults_of_yaml_name_file_line_and_rule(text, line, says):
    _, findings = yaml(text)
    assert any((problem.file, problem.line) == ("x.yaml", line) and says in problem.message for problem in findings), (
        faults(findings)
    )


def test_values_of_yaml_stay_what_the_triple_says():
    rules, findings = yaml(
        "- rule: r\n  if: ['?g p no', '?g q 2005-01-15', '?g r 12', '?g s true']\n  then: ['?g t 1']"
    )
    assert findings.valid
    objects = [goal.object for goal in rules.rules[0].if_]
    assert objects[0] == Iri("urn:basanite:name:no")
    assert [found.datatype.removeprefix(XSD) for found in objects[1:]] == ["date", "integer", "boolean"]


def test_all_faults_are_found_and_good_rules_are_read_all_the_same():
    rules, findings = sexpr("(rule a :if (?x p) :then (?x q 1)) (rule b :if (?x p 1) :then (?x q 1)) (rule c :then)")
    assert [rule.name for rule in rules.rules] == ["b"]
    assert len(findings.problems) == 2


def test_rules_without_a_name_are_numbered():
    rules, findings = sexpr(
        "(:if (?x p 1) :then (?x q 1)) (rule n :if (?x p 1) :then (?x q 2)) (:if (?x p 1) :then (?x r 1))"
    )
    assert findings.valid
    assert [rule.name for rule in rules.rules] == ["rule-1", "n", "rule-2"]


def test_short_names_are_declared_in_the_file():
    rules, findings = sexpr("(namespace <urn:a:>) (prefix b <urn:b:>) (:if (?x p b:o) :then (?x b:q 1))")
    assert findings.valid
    assert rules.rules[0].if_[0] == Pattern(Variable("x"), Iri("urn:a:p"), Iri("urn:b:o"))
    assert rules.prefixes == Prefixes("urn:a:", {"b": "urn:b:"})


def test_size_and_depth_of_a_file_of_rules_are_bounded(tmp_path):
    (tmp_path / "many.rules").write_text("(:if (?x p 1) :then (?x q 1))" * 20)
    findings = Findings()
    assert read_rules(tmp_path / "many.rules", findings, limits=Limits(rules=10)).rules == ()
    assert "at most 10" in findings.problems[0].message
    _, deep = sexpr("(" * 70 + ")" * 70)
    assert "nested more than 64" in deep.problems[0].message


def test_bytes_that_are_no_text_are_a_problem_with_a_line(tmp_path):
    (tmp_path / "bad.rules").write_bytes(b"; fine\n; \xff\n")
    findings = Findings()
    read_rules(tmp_path / "bad.rules", findings)
    assert [(problem.line, problem.message) for problem in findings] == [(2, "not UTF-8")]


def test_several_files_are_one_theory(tmp_path):
    (tmp_path / "a.rules").write_text("(rule a :if (?x p 1) :then (?x q 1))")
    (tmp_path / "b.yaml").write_text("- rule: b\n  if: ['?x q 1']\n  then: ['?x r 1']\n")
    both = read_all_rules((tmp_path / "a.rules", tmp_path / "b.yaml"), Findings())
    assert [rule.name for rule in both.rules] == ["a", "b"]


def test_graphs_are_read_as_the_paper_writes_them():
    names = Prefixes("urn:n:")
    with_brackets = parse_graph("((?G type NFLGame)\n (?G numberOfPeriods ?N))", "q", Findings(), names)
    assert with_brackets == parse_graph("(?G type NFLGame) (?G numberOfPeriods ?N)", "q", Findings(), names)
    findings = Findings()
    assert graph_statements("((?G type NFLGame))", "s", findings, names) == []
    assert faults(findings) == [("s", 1, "a variable or a comparison is not a statement")]


def test_a_rule_has_one_version_in_both_ways_of_writing_and_another_when_it_says_something_else():
    (first, _), (second, _) = sexpr(OVERTIME), yaml(OVERTIME_YAML)
    changed, _ = sexpr(OVERTIME.replace("5)", "6)"))
    assert first.rules[0].version == second.rules[0].version != changed.rules[0].version


PIECES = [
    "(",
    ")",
    "rule ",
    ":if ",
    ":then ",
    ":if-not ",
    "?x ",
    "p ",
    '"',
    "<",
    ">",
    "<urn:a> ",
    "5 ",
    "\\",
    "\0",
    "\n",
    ";",
    "é",
]


@sampled(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_no_text_makes_the_readers_fail(text):
    for read in (sexpr, yaml):
        if text.isprintable() or read is sexpr:
            rules, findings = read(text)
            assert rules.rules == () or findings.valid or findings.problems
            check_rules(rules, None, findings)
