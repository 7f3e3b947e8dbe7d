"""Combinations of scoring events: the published figures, brute force, bounds, and theories with faults (R-11)."""

from __future__ import annotations

import math
from itertools import product

import pytest
from tests.reading.reasoning import EXAMPLES, NAMES, rules, statements

from basanite.errors import SettingError, UnknownNameError
from basanite.problems import Findings
from basanite.reading.limits import Limits
from basanite.reading.reasoner.answers import answer
from basanite.reading.reasoner.combinations import Bounds, combinations, read_theory
from basanite.reading.reasoner.inference import Reasoner
from basanite.reading.rules.sexpr_rules import parse_graph


@pytest.fixture(scope="module")
def nfl():
    findings = Findings()
    theory = read_theory(EXAMPLES / "nfl" / "theories" / "scoring.toml", findings)
    assert findings.problems == []
    return theory


def shown(found, most=4):
    return [
        ({k: v for k, v in world.counts.items() if v}, round(world.probability, 4)) for world in found.worlds[:most]
    ]


def test_twenty_points_have_the_published_combinations(nfl):
    found = combinations(nfl, 20)
    assert len(found.worlds) == 24
    assert shown(found) == [
        ({"td": 2, "one": 2, "fg": 2}, 0.8318),
        ({"td": 3, "one": 2}, 0.1439),
        ({"td": 2, "two": 1, "fg": 2}, 0.0090),
        ({"td": 1, "two": 1, "fg": 4}, 0.0087),
    ]
    assert math.isclose(math.fsum(world.probability for world in found.worlds), 1.0)


def test_partial_information_narrows_the_combinations(nfl):
    found = combinations(nfl, 20, Bounds(exactly={"td": 2}, at_least={"fg": 1}))
    assert shown(found, 1) == [({"td": 2, "one": 2, "fg": 2}, 0.9843)]
    assert all(world.counts["td"] == 2 and world.counts["fg"] >= 1 for world in found.worlds)
    most = combinations(nfl, 20, Bounds(at_most={"fg": 0, "safety": 0}))
    assert all(world.counts["fg"] == world.counts["safety"] == 0 for world in most.worlds)


def test_one_point_is_a_contradiction(nfl):
    found = combinations(nfl, 1)
    assert (found.worlds, found.consistent) == ((), False)
    assert combinations(nfl, 20, Bounds(at_least={"td": 4})).consistent is False
    assert combinations(nfl, 0).consistent is True


def test_no_reading_of_six_points_has_a_one_point_try(nfl):
    assert all(world.counts["one"] == 0 for world in combinations(nfl, 6).worlds)


def brute_force(total):
    """Weights of all worlds by trying every count, with the formulas written out."""
    found = {}
    ranges = [range(total // worth + 1) for worth in (6, 1, 2, 3, 2)]
    for td, one, two, fg, safety in product(*ranges):
        if 6 * td + one + 2 * two + 3 * fg + 2 * safety == total and one + two <= td:
            rates = ((2.5, td), (1.7, fg), (0.04, safety))
            prior = math.prod(math.exp(-rate) * rate**n / math.factorial(n) for rate, n in rates)
            ways = math.factorial(td) / math.factorial(one) / math.factorial(two) / math.factorial(td - one - two)
            found[td, one, two, fg, safety] = prior * ways * 0.86**one * 0.04**two * 0.10 ** (td - one - two)
    return found


@pytest.mark.parametrize("total", [0, 2, 3, 6, 7, 13, 20, 24, 31])
def test_worlds_and_marginals_agree_with_brute_force(nfl, total):
    wanted, found = brute_force(total), combinations(nfl, total)
    whole = sum(wanted.values())
    assert {tuple(world.counts.values()) for world in found.worlds} == set(wanted)
    for world in found.worlds:
        assert math.isclose(world.probability, wanted[tuple(world.counts.values())] / whole, rel_tol=1e-9)
    for at, name in enumerate(("td", "one", "two", "fg", "safety")):
        for count, share in found.marginals()[name].items():
            assert math.isclose(share, sum(w for key, w in wanted.items() if key[at] == count) / whole, rel_tol=1e-9)


def test_too_many_worlds_are_undecided_and_none_is_shown(nfl):
    found = combinations(nfl, 200, limits=Limits(worlds=1000))
    assert (found.worlds, found.consistent, [one.limit for one in found.undecided]) == ((), None, ["worlds"])
    huge = combinations(nfl, 10**9, limits=Limits(worlds=1000))
    assert [one.limit for one in huge.undecided] == ["worlds"]


def test_names_and_totals_are_checked(nfl):
    with pytest.raises(UnknownNameError, match="Did you mean 'safety'"):
        combinations(nfl, 20, Bounds(at_least={"safty": 1}))
    with pytest.raises(SettingError, match="from 0"):
        combinations(nfl, -1)


EVENT = 'format = "basanite-theory/1"\nname = "x"\n[[event]]\nname = "a"\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('name = "x"', 'format = "basanite-theory/1"'),
        ('format = "basanite-theory/1"\nname = "x"', "names 0 events"),
        (EVENT + "points = 3", "needs either `poisson` or `per`"),
        (EVENT + "points = 3\npoisson = 0", "not a number above 0"),
        (EVENT + "points = -3\npoisson = 1", "not a whole number from 0"),
        (EVENT + "points = true\npoisson = 1", "not a whole number from 0"),
        (EVENT + "points = 0\npoisson = 1", "adds nothing and has no bound"),
        (EVENT + 'points = 3\nper = "b"\nprobability = 0.5', "follows 'b'"),
        (EVENT + "points = 3\npoisson = nan", "not a number above 0"),
        (EVENT + 'points = 3\npoisson = 1\n[[event]]\nname = "a"\npoints = 1\npoisson = 1', "declared 2 times"),
        (EVENT + "points = 3\npoison = 1", "unknown key `poison`"),
        (
            EVENT + 'points = 3\npoisson = 1\n[[event]]\nname = "b"\npoints = 1\nper = "a"\nprobability = 0.7\n'
            '[[event]]\nname = "c"\npoints = 1\nper = "a"\nprobability = 0.7',
            "add up to 1.4",
        ),
    ],
    ids=lambda value: value[-30:].replace("\n", " "),
)
def test_faults_of_a_theory_are_found(tmp_path, text, says):
    (tmp_path / "x.toml").write_text(text)
    findings = Findings()
    assert read_theory(tmp_path / "x.toml", findings) is None
    assert any(says in problem.message for problem in findings), findings.problems


def test_an_event_may_have_a_bound_and_no_worth(tmp_path):
    (tmp_path / "x.toml").write_text(
        EVENT + 'points = 3\npoisson = 1\n[[event]]\nname = "late"\npoints = 0\npoisson = 1\nat_most = 2'
    )
    theory = read_theory(tmp_path / "x.toml", Findings())
    found = {world.counts["late"]: world.probability for world in combinations(theory, 3).worlds}
    assert {count: round(share, 10) for count, share in found.items()} == {0: 0.4, 1: 0.4, 2: 0.2}


# Probabilities of rules


DEFAULT = "(rule five :if (?g overtime true) :if-not (?g periods ?n) :then (?g periods 5) :probability 0.97)"


def chances(theory, given, query):
    inference = Reasoner(rules(theory)).infer(statements(given))
    found = answer(inference, parse_graph(query, "q", Findings(), NAMES))
    return [round(one.probability, 6) for one in found.answers]


def test_an_answer_carries_the_probability_of_its_rule():
    assert chances(DEFAULT, "(g overtime true)", "(?g periods ?n)") == [0.97]
    assert chances(DEFAULT, "(g overtime true) (g periods 6)", "(?g periods ?n)") == [1.0]


def test_chains_multiply_alternatives_add_and_no_coin_is_counted_twice():
    chain = DEFAULT + "(rule long :if (?g periods 5) :then (?g long true) :probability 0.5)"
    assert chances(chain, "(g overtime true)", "(?g long true)") == [0.485]
    assert chances(chain, "(g overtime true)", "(?g long true) (?g periods ?n)") == [0.485]
    either = (
        "(rule a :if (?x p 1) :then (?x r 1) :probability 0.5) (rule b :if (?x q 1) :then (?x r 1) :probability 0.4)"
    )
    assert chances(either, "(x p 1) (x q 1)", "(?x r 1)") == [0.7]
    assert chances(either + "(rule c :if (?x r 1) :then (?x s 1))", "(x p 1) (x q 1)", "(?x r 1) (?x s 1)") == [0.7]


def test_likely_answers_come_first_and_games_are_independent():
    theory = DEFAULT + "(rule told :if (?g said ?n) :then (?g periods ?n) :probability 0.99)"
    inference = Reasoner(rules(theory)).infer(statements("(g overtime true) (h said 4)"))
    found = answer(inference, parse_graph("(?g periods ?n)", "q", Findings(), NAMES))
    assert [round(one.probability, 2) for one in found.answers] == [0.99, 0.97]
    both = answer(inference, parse_graph("(g periods ?n) (h periods ?m)", "q", Findings(), NAMES))
    assert round(both.answers[0].probability, 6) == round(0.99 * 0.97, 6)


def test_too_many_ways_to_one_answer_are_undecided():
    theory = "(rule r :if (?x p ?y) :then (?x q 1) :probability 0.5)"
    given = " ".join(f"(x p {number})" for number in range(40))
    inference = Reasoner(rules(theory), None, Limits(worlds=1000)).infer(statements(given))
    found = answer(inference, parse_graph("(?x q 1)", "q", Findings(), NAMES))
    assert (found.answers, [one.limit for one in found.undecided]) == ((), ["worlds"])
