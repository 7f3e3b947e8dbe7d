"""PARSEVAL against brute force, against PYEVALB where both mean the same, and against what evalb's papers say."""

import contextlib
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.brackets import counted, crosses

from basanite.formats.texts.trees import Names, read_trees
from basanite.metrics.text.parsing import COLUMNS, Parses, crossing_spans, statistics, values
from basanite.metrics.text.pruning import (
    Rules,
    equivalence,
    fitting,
    kept_by_reference,
    kept_words,
    lengths,
    misfit,
    prune_trees,
)
from basanite.synthetic.treebank import Parser, sentences

BAD = Parser(raised=0.3, forgotten=0.2, mislabelled=0.2, mistagged=0.2, strayed=0.3)


def both(gold, answers):
    names = Names()
    return read_trees(gold, names), read_trees(answers, names)


def found(gold, answers, **more):
    return values(*both(gold, answers), **more)


def rows_of(gold, answers, rules=None, **more):
    ours, theirs = (prune_trees(side, rules or Rules()) for side in both(gold, answers))
    return statistics(Parses([""] * len(gold), ours, theirs, fitting(ours, theirs), **more))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_sentence_counts_as_brute_force_counts_it(seed):
    gold, answers = sentences(seed, 150, parser=BAD)
    rows = rows_of(gold, answers)
    for row, one, other in zip(rows, gold, answers, strict=True):
        assert dict(zip(COLUMNS, row.tolist(), strict=True)) == counted(one, other)


def test_values_are_those_of_pyevalb_where_both_mean_the_same():
    """No punctuation, traces, function labels or brackets that appear twice: there its sets are bags."""
    from PYEVALB import scorer

    made = sentences(4, 300, traces=False, parser=BAD)
    pairs = [tuple(plain(text) for text in pair) for pair in zip(*made, strict=True)]
    pairs = [(one, other) for one, other in pairs if counted(one, other) and distinct(one, other)]
    assert len(pairs) > 50
    with contextlib.redirect_stdout(io.StringIO()):
        peer = scorer.Scorer().score_corpus(*zip(*pairs, strict=True))
    rows = rows_of(*map(list, zip(*pairs, strict=True)))
    wanted = [[r.matched_brackets, r.gold_brackets, r.test_brackets, r.cross_brackets, r.correct_tags] for r in peer]
    assert rows[:, [0, 1, 2, 6, 8]].tolist() == wanted


def plain(text):
    return (
        text.replace("(TOP ", "", 1)[:-1]
        .replace(" (. .)", "")
        .replace(" (, ,)", "")
        .replace("-SBJ", "")
        .replace("PRT", "PX")
    )


def distinct(*texts):
    from tests.metrics.brackets import brackets, nested

    return all(len(set(brackets(nested(text)))) == len(brackets(nested(text))) for text in texts)


@pytest.mark.parametrize(
    ("answer", "precision", "recall"),
    [
        ("(NP (NP (D the) (N man)))", 1.0, 1.0),
        ("(NP (NP (NP (D the) (N man))))", 2 / 3, 1.0),
        ("(NP (D the) (N man))", 1.0, 1 / 2),
    ],
)
def test_brackets_that_stand_twice_are_matched_as_often(answer, precision, recall):
    result = found(["(NP (NP (D the) (N man)))"], [answer])
    assert (result["labelled_precision"], result["labelled_recall"]) == (precision, recall)


def test_a_deleted_word_goes_with_all_that_holds_nothing_else():
    gold = "(TOP (S (NP-SBJ-1 (PRP it)) (VP (VBD was) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (. .)))"
    answer = "(S1 (S (NP (PRP it)) (VP (VBD was))))"
    ours, theirs = (prune_trees(side, Rules()) for side in both([gold], [answer]))
    assert ours.brackets(0) == theirs.brackets(0) == [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")]
    assert found([gold], [answer])["labelled_f1"] == 1.0


def test_rules_are_settings():
    gold, answer = ["(S (ADVP (RB up)) (NP=1 (NN x)))"], ["(S (PRT (RB up)) (NP-2 (NN x)))"]
    assert found(gold, answer)["exact"] == 1.0
    assert found(gold, answer, rules=Rules(equal_labels={}))["labelled_f1"] == pytest.approx(2 / 3)
    assert found(gold, answer, rules=Rules(cut=""))["labelled_f1"] == pytest.approx(2 / 3)
    assert found(gold, answer, rules=Rules(deleted=frozenset({"ADVP"})))["exact"] == 1.0
    other = ["(S (ADVP (RB Up)) (NP (NN x)))"]
    assert math.isnan(found(gold, other)["labelled_f1"])
    assert found(gold, other, rules=Rules(equal_words={"Up": "up"}))["exact"] == 1.0


def test_what_is_equal_to_the_same_is_equal():
    same = equivalence([("A", "B"), ("C", "D"), ("D", "B"), ("X", "Y")])
    assert same == {"B": "A", "C": "A", "D": "A", "Y": "X"}


def test_a_tree_of_other_words_misses_all_brackets_or_is_left_out_as_asked():
    gold = ["(S (NP (A a)) (B b))", "(S (A a))"]
    answers = ["(S (NP (A a)) (B c))", "(S (A a))"]
    counts, left = found(gold, answers), found(gold, answers, leave_out=True)
    assert (counts["labelled_recall"], counts["labelled_precision"], counts["exact"]) == (1 / 3, 1.0, 0.5)
    assert counts["tagging"] == pytest.approx(1 / 3)
    assert counts["crossing"] == 0.0
    assert (left["labelled_recall"], left["exact"], left["tagging"]) == (1.0, 1.0, 1.0)
    assert rows_of(gold, answers, leave_out=True)[0].tolist() == [0.0] * len(COLUMNS)


def test_values_of_nothing_are_undefined():
    result = found(["(TOP (A a) (. .))"], ["(TOP (A a) (. .))"])
    assert all(math.isnan(result[name]) for name in ("labelled_f1", "labelled_precision", "labelled_recall"))
    assert (result["exact"], result["tagging"], result["crossing"]) == (1.0, 1.0, 0.0)
    answered = found(["(S (A a))"], ["(A a)"])
    assert (answered["labelled_recall"], math.isnan(answered["labelled_precision"])) == (0.0, True)
    assert math.isnan(answered["labelled_f1"])
    assert all(math.isnan(value) for value in found([], []).values())


def test_it_is_said_why_a_tree_does_not_fit():
    ours, theirs = (
        prune_trees(side, Rules()) for side in both(["(A a) (B b)"] * 3, ["(A a)", "(A a) (B c)", "(A a) (B b)"])
    )
    assert fitting(ours, theirs).tolist() == [False, False, True]
    assert misfit(ours, theirs, 0) == "1 words are left after deletion, 2 in the reference"
    assert misfit(ours, theirs, 1) == "word 2 after deletion is 'c', in the reference 'b'"
    assert misfit(ours, theirs, 2) == ""


def test_tags_of_the_reference_can_say_which_words_go():
    gold, answers = both(["(S (NP (A a)) (. '))", "(S (A a))"], ["(S (NP (A a)) (POS '))", "(S (A a) (A b))"])
    rules = Rules()
    assert fitting(prune_trees(gold, rules), prune_trees(answers, rules)).tolist() == [False, False]
    kept = kept_by_reference(gold, answers, rules)
    assert fitting(prune_trees(gold, rules), prune_trees(answers, rules, kept)).tolist() == [True, False]
    assert kept_words(answers, rules).tolist() == [True, True, True, True]


def test_the_length_of_a_sentence_leaves_out_traces_and_no_punctuation():
    assert lengths(read_trees(["(S (A a) (-NONE- *) (. .))", ""]), Rules()).tolist() == [2, 0]


@st.composite
def laminar(draw, words=8):
    """Brackets of some tree over eight words, outer ones first."""
    found = []

    def grow(start, end, depth):
        if draw(st.booleans()):
            found.append((start, end))
        if end - start > 1 and depth < 4:
            middle = draw(st.integers(start + 1, end - 1))
            grow(start, middle, depth + 1)
            grow(middle, end, depth + 1)

    grow(0, words, 0)
    return found


@given(laminar(), laminar())
def test_crossing_brackets_are_those_of_brute_force(tree, spans):
    assert crossing_spans(tree, spans, 8) == sum(any(crosses(span, bracket) for bracket in tree) for span in spans)


def test_very_deep_and_very_long_trees_are_compared():
    deep, long = 30_000, "(S " + "(A a) " * 30_000 + ")"
    left = "".join(["(X " * deep, "(A a)", *[" (A a))"] * deep])
    right = "".join([*["(X (A a) "] * deep, "(A a)", ")" * deep])
    result = found([left, long], [right, long])
    assert result["crossing"] == (deep - 1) / 2
    assert np.isfinite(result["labelled_f1"])
