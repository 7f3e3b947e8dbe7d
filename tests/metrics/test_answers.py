"""Matching of answers to gold: against all one-to-one matchings, at the edges, and in any order."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.metrics.answers import CREDITS, KINDS, LEAST, METRICS, AnswerCounts, document_rows, match

names = st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=4)
literals = st.sampled_from(["4", "5", "true"])
answers = st.lists(st.tuples(names, literals).map(lambda made: (("?G", made[0]), ("?N", made[1]))), max_size=4)


def slow_credit(answer, gold, everything, credit):
    """The credit by the words of the rule, one pair at a time."""
    found = dict(answer)
    if found.keys() != dict(gold).keys():
        return 0.0
    values = []
    for name, wanted in gold:
        given_ = found[name]
        if isinstance(wanted, frozenset) != isinstance(given_, frozenset):
            return 0.0
        if isinstance(wanted, str):
            if given_ != wanted:
                return 0.0
            continue
        rivals = [dict(other)[name] for other in everything]
        if any(len(given_ & rival) > len(given_ & wanted) for rival in rivals):
            return 0.0
        values.append(credit(given_, wanted))
    if any(value == 0 for value in values):
        return 0.0
    total = sum(values) / len(values) if values else 1.0
    return total if total >= LEAST - 1e-9 else 0.0


def best_total(given_, gold, credit):
    """The most credit of any one-to-one matching, by trying all."""
    table = [[slow_credit(one, two, gold, credit) for two in gold] for one in given_]
    few, many = sorted((len(given_), len(gold)))
    best = 0.0
    for chosen in itertools.permutations(range(many), few):
        pairs = [(at, other) if len(given_) <= len(gold) else (other, at) for at, other in enumerate(chosen)]
        best = max(best, sum(table[row][column] for row, column in pairs))
    return best


@pytest.mark.parametrize("rule", sorted(CREDITS))
@settings(max_examples=150, deadline=None)
@given(given_=answers, gold=answers)
def test_no_matching_has_more_credit(rule, given_, gold):
    found = match(given_, gold, CREDITS[rule])
    assert len({one.answer for one in found}) == len({one.gold for one in found}) == len(found)
    assert sum(one.credit for one in found) == pytest.approx(best_total(given_, gold, CREDITS[rule]))
    for one in found:
        assert one.credit == pytest.approx(slow_credit(given_[one.answer], gold[one.gold], gold, CREDITS[rule]))


@settings(max_examples=60, deadline=None)
@given(given_=answers, gold=answers, seed=st.integers(0, 99))
def test_the_order_of_the_files_settles_no_tie(given_, gold, seed):
    rng = np.random.default_rng(seed)
    one, two = rng.permutation(len(given_)), rng.permutation(len(gold))
    turned = match([given_[at] for at in one], [gold[at] for at in two])
    straight = match(given_, gold)
    pairs = sorted((str(given_[m.answer]), str(gold[m.gold]), m.credit) for m in straight)
    assert pairs == sorted((str(given_[one[m.answer]]), str(gold[two[m.gold]]), m.credit) for m in turned)


def entity(*texts):
    return (("?G", frozenset(texts)),)


def test_missing_aliases_cost_nothing_and_strings_of_others_do():
    gold = [entity("Jets", "New York Jets", "NYJ"), entity("Giants", "New York Giants")]
    assert match([entity("Jets")], gold)[0].credit == 1.0
    assert match([entity("Jets", "NYJ", "Giants")], gold)[0].credit == pytest.approx(2 / 3)
    assert match([entity("Jets", "Giants", "New York Giants")], gold)[0].gold == 1  # others hold more of it
    assert match([entity("Jets", "the team", "they")], gold) == []  # a third is less than a half


def test_dice_is_another_rule_that_must_be_asked_for():
    gold = [entity("Jets", "New York Jets", "NYJ")]
    assert match([entity("Jets")], gold, CREDITS["dice"])[0].credit == pytest.approx(0.5)


def test_a_wrong_literal_is_no_match_however_right_the_entity():
    game = frozenset({"the game"})
    assert match([(("?G", game), ("?N", "4"))], [(("?G", game), ("?N", "5"))]) == []


def test_one_gold_answer_is_given_once():
    assert len(match([entity("Jets"), entity("Jets")], [entity("Jets")])) == 1
    assert match([], [entity("Jets")]) == match([entity("Jets")], []) == []


def test_values_are_precision_recall_f_and_the_ratio_to_the_human():
    counts = np.zeros((2, 2, 3, 4))
    counts[0, 0, 0] = 3, 2, 5, 8  # machine: credit, exact, answers, gold
    counts[1, 0, 0] = 1, 1, 1, 2
    counts[0, 1, 0] = 6, 6, 6, 8  # human
    counts[1, 1, 0] = 1, 1, 2, 2
    rows = document_rows(AnswerCounts(("a", "b"), counts))
    found = {metric.name: metric.of(rows) for metric in METRICS}
    assert found["precision"] == pytest.approx(4 / 6)
    assert found["recall"] == pytest.approx(4 / 10)
    assert found["f"] == pytest.approx(2 * 4 / 16)
    assert found["exact_f"] == pytest.approx(2 * 3 / 16)
    assert found["human_f"] == pytest.approx(2 * 7 / 18)
    assert found["pr"] == pytest.approx(found["f"] / found["human_f"])
    assert all(np.isnan(found[f"{name}_{kind}"]) for name in ("f", "precision") for kind in KINDS[1:])
    assert np.isnan(found["pr_i"])


def test_the_ratio_is_undefined_where_the_human_found_nothing():
    counts = np.ones((1, 2, 3, 4))
    counts[0, 1, :, :2] = 0
    found = {metric.name: metric.of(document_rows(AnswerCounts(("a",), counts))) for metric in METRICS}
    assert np.isnan(found["pr"])
    assert found["human_f"] == 0
