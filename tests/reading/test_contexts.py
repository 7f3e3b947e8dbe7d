"""Consistent contexts of contradictory statements: maximal and largest ones, against brute force (R-25)."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from tests.reading.reasoning import EXAMPLES, NAMES, rules, statements

from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.ontology_file import read_ontology
from basanite.reading.patterns import Prefixes
from basanite.reading.reasoner.contexts import contexts
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules import read_rules
from basanite.reading.rules.sexpr_rules import graph_statements
from basanite.reading.rules.tree import triple

PERIODS = """
  (rule five :if (?g overtime true) :if-not (?g periods ?n) :then (?g periods 5) :probability 0.9)
  (rule clash :if (?g overtime true) (?g periods ?n) (?n <= 4) :then (?input contradicts Theory))"""


def left_out(found):
    return [[" ".join(triple(statement, NAMES)) for statement in one.left_out] for one in found.contexts]


def test_each_context_leaves_out_as_little_as_it_can():
    given = statements("(g overtime true) (g periods 4) (g periods 3) (g type Game)")
    found = contexts(Reasoner(rules(PERIODS)), given)
    assert left_out(found) == [["g overtime true"], ["g periods 3", "g periods 4"]]
    assert [one.size for one in found.contexts] == [3, 2]
    assert left_out(contexts(Reasoner(rules(PERIODS)), given, which="largest")) == [["g overtime true"]]


def test_contexts_are_ranked_by_probability_where_rules_carry_one():
    found = contexts(Reasoner(rules(PERIODS)), statements("(g overtime true) (g periods 4)"))
    assert [one.probability for one in found.contexts] == [1.0, 0.9]
    assert left_out(found) == [["g overtime true"], ["g periods 4"]]
    certain = PERIODS.replace(":probability 0.9", "")
    assert [one.probability for one in contexts(Reasoner(rules(certain)), statements("(g a b)")).contexts] == [None]


def consistent_sets(reasoner, given):
    """All maximal consistent sets, by trying every set."""
    good = []
    for size in range(len(given), -1, -1):
        for chosen in combinations(given, size):
            if not any(set(chosen) < set(other) for other in good) and reasoner.infer(chosen).consistent:
                good.append(chosen)
    return {frozenset(map(str, given)) - frozenset(map(str, one)) for one in good}


THEORY = """
  (rule a :if (?x p ?y) :if-not (?x q ?y) :then (?x r ?y))
  (rule b :if (?x r ?y) (?y r ?z) :then (?x s ?z))
  (rule c :if (?x s ?x) :then (?input contradicts T))
  (rule d :if (?x q ?y) (?y q ?x) (?x r ?z) :then (?input contradicts T))
  (rule e :if (?x p ?y) (?x q ?z) :if-not (?z p ?y) :then (?z r ?x))"""


def test_random_inputs_have_the_contexts_that_brute_force_finds():
    reasoner, several = Reasoner(rules(THEORY)), 0
    for seed in range(10):
        rng = random.Random(seed)
        words = {f"({rng.choice('abcd')} {rng.choice('pq')} {rng.choice('abcd')})" for _ in range(7)}
        given = statements(" ".join(sorted(words)))
        found = contexts(reasoner, given)
        wanted = consistent_sets(reasoner, given)
        assert {frozenset(map(str, one.left_out)) for one in found.contexts} == wanted, seed
        largest = contexts(reasoner, given, which="largest")
        fewest = min(map(len, wanted))
        assert {frozenset(map(str, one.left_out)) for one in largest.contexts} == {
            w for w in wanted if len(w) == fewest
        }
        several += len(wanted) > 1
    assert several > 2


def test_the_ontology_takes_part():
    findings = Findings()
    theory = read_rules(EXAMPLES / "nfl" / "rules" / "scoring.rules", findings)
    nfl: Prefixes = theory.prefixes
    ontology = read_ontology(EXAMPLES / "nfl" / "ontology.ttl", nfl, findings)
    text = "(g type NFLGame) (g numberOfPeriods 4) (g numberOfPeriods 5) (g numberOfPeriods 6) (g hasOvertimePlay true)"
    given = graph_statements(text, "x", findings, nfl)
    found = contexts(Reasoner(theory, ontology), given)
    kept = [
        sorted({triple(s, nfl)[2] for s in given} - {triple(s, nfl)[2] for s in one.left_out}) for one in found.contexts
    ]
    assert sorted(kept) == [["4", "NFLGame"], ["5", "NFLGame", "true"], ["6", "NFLGame", "true"]]
    assert all(one.inference.consistent for one in found.contexts)


def test_consistent_input_is_its_own_context():
    found = contexts(Reasoner(rules(PERIODS)), statements("(g overtime true)"))
    assert [(one.size, one.left_out) for one in found.contexts] == [(1, ())]


@pytest.mark.req("R-35")
def test_independent_contradictions_add_up_and_never_multiply():
    pairs = " ".join(f"(g{n} overtime true) (g{n} periods 4)" for n in range(20))
    found = contexts(Reasoner(rules(PERIODS)), statements(pairs))
    assert (found.contexts, found.undecided, found.exact) == ((), (), True)
    assert [len(one.repairs) for one in found.conflicts] == [2] * 20
    assert [len(one.sets[0]) for one in found.conflicts] == [2] * 20
    assert (found.best.size, found.best.inference.consistent) == (20, True)


def test_the_solver_runs_in_a_child_that_is_held_to_time_and_memory():
    holes = 11  # pigeons do not fit: no solver finds that out quickly
    theory = "\n".join(
        [
            "(rule two :if (?a in ?h) (?b in ?h) (?a mrq:differentFrom ?b) :then (?i contradicts T))",
            "(rule home :if (?a is pigeon) :if-not (?a in ?h) :then (?a lost true))",
            "(rule lost :if (?a lost true) :then (?i contradicts T))",
        ]
    )
    words = [f"(p{n} is pigeon) " + " ".join(f"(p{n} in h{h})" for h in range(holes)) for n in range(holes + 1)]
    reasoner = Reasoner(rules(theory), None, Limits(seconds=1))
    found = contexts(reasoner, statements(" ".join(words)), which="largest")
    assert (found.contexts, [one.limit for one in found.undecided]) == ((), ["seconds"])
    assert (found.best.inference.consistent, found.exact) == (True, False)
    small = contexts(Reasoner(rules(theory), None, Limits(megabytes=1)), statements(words[0]))
    assert small.contexts == ()
    assert [one.limit for one in small.undecided] == ["megabytes"]
