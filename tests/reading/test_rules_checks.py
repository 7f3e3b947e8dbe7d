"""Static checks of rules: what cannot work is found before it runs, with file, line and the name of the rule (R-10)."""

from __future__ import annotations

import pytest
from tests.reading.reasoning import EXAMPLES

from basanite.problems import Findings
from basanite.reading.ontology_file import read_ontology
from basanite.reading.patterns import Prefixes
from basanite.reading.rules import check_rules
from basanite.reading.rules.sexpr_rules import parse_rules

NFL = Prefixes("https://nfl.example/scoring#")


@pytest.fixture(scope="module")
def ontology():
    return read_ontology(EXAMPLES / "nfl" / "ontology.ttl", NFL, Findings())


def checked(text, ontology=None):
    findings = Findings()
    rules = parse_rules(text, "x.rules", findings, prefixes=NFL)
    assert findings.valid, findings.problems
    check_rules(rules, ontology, findings)
    return findings


GENERAL = [
    ("(rule r :if (?x p ?y)\n :then (?x q ?z))", 2, "?z in the conclusion is bound by nothing"),
    ("(rule r :if (?x p ?y) :if-not (?x q ?z)\n :then (?x r ?z))", 2, "?z in the conclusion is bound by nothing"),
    ("(rule r :if (?x p ?y)\n (?w < 4) :then (?x q 1))", 2, "mrq:lessThan needs ?w, which nothing binds"),
    ("(rule r :if (?x p ?y)\n (?s mrq:plus 1 ?s) :then (?x q 1))", 2, "mrq:plus needs ?s"),
    ("(rule r :if (?x p ?y) :if-not\n (?w < 4) :then (?x q 1))", 2, "mrq:lessThan needs ?w"),
    ("(rule r :if (?x p ?y) :if-not\n (?y mrq:plus 1 ?z) :then (?x q 1))", 2, "mrq:plus calculates after if-not"),
    ("(rule r :if (?x p ?y) :then\n (?x < 4))", 2, "there is a built-in after then"),
    ("(rule r :if (?x p ?y)\n (?y mrq:lesThan 4) :then (?x q 1))", 2, "there is no built-in mrq:lesThan"),
    ("(rule r :if (?x p ?y)\n (?y mrq:plus 4) :then (?x q 1))", 2, "mrq:plus has 2 terms"),
    ("(rule r :if (?x p ?y) :then (?x q 1))\n(rule r :if (?x p ?y) :then (?x s 1))", 2, "the name is already used"),
    ("(rule r :if (?x p ?y) :then (?x q 1) (?i contradicts T))", 1, "there is a contradiction beside"),
    ("(rule r :if (?x p ?y) :then (?i contradicts T) :probability 0.5)", 1, "a contradiction has a probability"),
    ("(rule r :if (?x p ?y) :if-not (?x p ?y) :then (?x q 1))", 1, "it can never fire"),
    ("(rule r :if (?x p 5) :if-not (?x p ?any) :then (?x q 1))", 1, "it can never fire"),
    ("(rule r :if (?x p ?y) (5 < 4) :then (?x q 1))", 1, "it can never fire: 5 < 4 is always false"),
    ("(rule r :if (?x p ?y) :if-not (4 < 5) :then (?x q 1))", 1, "it can never fire: 4 < 5 is always true"),
    ("(rule r :if (?x p ?y) (?y < 3) (?y > 5) :then (?x q 1))", 1, "no value of ?y is between 5 and 3"),
    ("(rule r :if (?x p ?y) (3 > ?y) (?y = 3) :then (?x q 1))", 1, "no value of ?y is between 3 and 3"),
]

AGAINST = [
    (
        "(rule r :if (?g type NFLGam)\n :then (?g hasOvertimePlay true))",
        1,
        "NFLGam is not a class",
        "Did you mean 'NFLGame'",
    ),
    (
        "(rule r :if (?g type NFLGame)\n :then (?g numberOfPeriod 5))",
        2,
        "is not a property",
        "Did you mean 'numberOfPeriods'",
    ),
    ("(rule r :if (?g type NFLGame)\n :then (?g numberOfPeriods true))", 2, "the value is no", "Count"),
    ("(rule r :if (?g type NFLGame)\n :then (?g numberOfPeriods -1))", 2, "the value is no", "Count"),
    ('(rule r :if (?g gameWinner "Jets")\n :then (?g hasOvertimePlay true))', 1, "the value is no", "NFLTeam"),
    ('(rule r :if (?g type NFLTeam) (?g numberOfPeriods ?n)\n :then (?g teamName "x"))', 1, "can never fire", ""),
    (
        "(rule r :if (?g numberOfPeriods ?n) (?n numberOfPeriods ?m)\n :then (?g hasOvertimePlay true))",
        1,
        "a value and a thing",
        "",
    ),
]


@pytest.mark.parametrize(("text", "line", "says"), GENERAL)
def test_faults_that_need_no_ontology(text, line, says):
    found = checked(text)
    assert not found.valid
    (problem,) = found.problems
    assert (problem.file, problem.line) == ("x.rules", line)
    assert problem.message.startswith("rule r: ")
    assert says in problem.message


@pytest.mark.parametrize(("text", "line", "says", "fix"), AGAINST)
def test_faults_against_the_ontology(text, line, says, fix, ontology):
    found = checked(text, ontology)
    (problem,) = found.problems
    assert (problem.line, says in problem.message, fix in problem.fix) == (line, True, True), problem


def test_a_cycle_through_if_not_is_a_warning_that_names_the_rules():
    found = checked(
        "(rule day :if (?g p 1) :if-not (?g at night) :then (?g at day))\n"
        "(rule night :if (?g p 1) :if-not (?g at day) :then (?g at night))\n"
        "(rule other :if (?g p 1) :then (?g q 1))"
    )
    assert found.valid
    (problem,) = found.problems
    assert (problem.severity, problem.line) == ("warn", 1)
    assert "day, night wait for each other through if-not" in problem.message


def test_good_rules_have_no_faults(ontology):
    good = """
      (rule five :if (?g hasOvertimePlay true) :if-not (?g numberOfPeriods ?n) :then (?g numberOfPeriods 5))
      (rule points :if (?s pointsScored ?p) (?p >= 0) (?p < 9) (?p mrq:plus 1 ?q)
        :then (?s touchdownCompleteCount ?q))
      (rule wrong :if (?g gameWinner ?t) (?g gameLoser ?t) :then (?input contradicts NFLScoringTheory))"""
    assert checked(good, ontology).problems == []
