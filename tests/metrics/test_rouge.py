"""ROUGE of summaries is that of the package rouge-score, to the last digit, with stems and without."""

import random

import pytest
from rouge_score import rouge_scorer

from basanite.metrics.text.rouge import COLUMNS, Summaries, rouge, rouge_rows

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
WORDS = (
    *("the", "cats", "cat", "running", "Runs", "dog's", "2", "city", "cities", "a", "of,", "on", "sat!", "étude"),
    *("1,000", "conditional", "relational", "İstanbul"),
)


def text(dice, words=WORDS, longest=12):
    lines = (" ".join(dice.choices(words, k=dice.randint(0, longest))) for _ in range(dice.randint(0, 4)))
    return "\n".join(lines)


def package(answer, references, *, stemmer):
    found = rouge_scorer.RougeScorer(NAMES, use_stemmer=stemmer).score_multi(references, answer)
    return [part for name in NAMES for part in (found[name].fmeasure, found[name].precision, found[name].recall)]


def ours(answer, references, tokenise):
    rows = rouge_rows(Summaries(("1",), (answer,), (references,)), tokenise=tokenise)
    assert rows.shape == (1, len(COLUMNS))
    return rows[0, :-1].tolist()


@pytest.mark.parametrize(("tokenise", "stemmer"), [("rouge", False), ("stems", True)])
def test_f_precision_and_recall_are_those_of_the_package(tokenise, stemmer):
    dice = random.Random(3)
    for _ in range(250):
        answer, references = text(dice), [text(dice) for _ in range(dice.randint(1, 3))]
        found = ours(answer, references, tokenise)
        assert found == pytest.approx(package(answer, references, stemmer=stemmer), abs=1e-12)


def test_the_same_subsequence_is_taken_where_several_are_longest():
    dice = random.Random(4)
    for _ in range(150):  # two words make many subsequences of one length, of which the union counts
        answer, reference = text(dice, "ab", 9).replace("a", "a "), text(dice, "ab", 9)
        assert ours(answer, [reference], "rouge") == pytest.approx(
            package(answer, [reference], stemmer=False), abs=1e-12
        )


def test_long_sentences_are_compared_by_bits_beyond_one_machine_word():
    dice = random.Random(5)
    answer, reference = (" ".join(dice.choices(WORDS, k=150)) for _ in range(2))
    assert ours(answer, [reference], "rouge") == pytest.approx(package(answer, [reference], stemmer=False), abs=1e-12)


def test_nothing_shares_nothing():
    assert set(rouge("", ["a cat"]).values()) == {0.0}
    assert set(rouge("猫", ["猫"]).values()) == {0.0}
    assert set(rouge("猫 坐", ["猫 坐"], tokenise="none").values()) == {1.0}
