"""Answers are right as the evaluation code of VQA and SQuAD has it: the same steps, one after the other."""

import random
import re
import string

import pytest

from basanite.metrics.text.questions import CONTRACTIONS, consensus, squad_scores, vqa_answer

PIECES = [
    *("a", "the", "An", "two", "none", "Zero", "dont", "isn't", "couldnt've", "couldn'tve", "somebody'd", "lets", "Im"),
    *("red", "dog", "1,000", "3.5", "U.S.", "yes.", "no!", "black-white", "a/b", "(b)", "x;", "ten", "'ow'sat", '"q"'),
    *("\n", "\t", " ", "é", "..", ",", "$5", "." * 40),
]


def text(dice, most=3):
    return " ".join(dice.choice(PIECES) for _ in range(dice.randint(0, most)))


def by_steps(answer):
    """VQA's steps in their order: each mark over the whole text, then periods, number words, articles, contractions."""
    made = answer
    for mark in ';/[]"{}()=+\\_-><@`,?!':
        if mark + " " in answer or " " + mark in answer or re.search(r"\d,\d", answer):
            made = made.replace(mark, "")
        else:
            made = made.replace(mark, " ")
    pieces = re.split(r"\.(?!\d)", made)
    made = "".join(pieces[:33]) + "".join("." + piece for piece in pieces[33:])  # 32 periods go, for that is re.UNICODE
    numbers = {"none": "0", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}
    numbers |= {"seven": "7", "eight": "8", "nine": "9", "ten": "10"}
    words = [numbers.get(word, word) for word in made.lower().split()]
    return " ".join(CONTRACTIONS.get(word, word) for word in words if word not in ("a", "an", "the"))


def by_leaving_out(given, people):
    """Each person left out in turn, and the others counted."""
    given, people = (given.replace("\n", " ").replace("\t", " ").strip(), [one.strip() for one in people])
    people = [one.replace("\n", " ").replace("\t", " ").strip() for one in people]
    if len(set(people)) > 1:
        given, people = by_steps(given), [by_steps(one) for one in people]
    shares = [min(1, (people[:at] + people[at + 1 :]).count(given) / 3) for at in range(len(people))]
    return sum(shares) / len(shares)


def test_answers_are_compared_as_vqa_does_step_by_step():
    dice = random.Random(5)
    for _ in range(1500):
        answer = text(dice)
        assert vqa_answer(answer) == by_steps(answer)


@pytest.mark.parametrize("size", [1, 3, 10])
def test_consensus_is_the_mean_over_people_left_out(size):
    dice = random.Random(size)
    for _ in range(300):
        base = [text(dice) for _ in range(2)]
        people = [dice.choice(base) for _ in range(size)]
        given = dice.choice([*base, base[0].upper(), f"{base[0]}."])
        assert consensus(given, people) == pytest.approx(by_leaving_out(given, people), abs=1e-12)


def test_contractions_have_one_apostrophe_too_few():
    assert len(CONTRACTIONS) == 114  # the table of VQA's code, less those that become themselves or hold a capital
    assert (CONTRACTIONS["wouldnt've"], CONTRACTIONS["youre"], CONTRACTIONS["somebody'd"]) == (
        *("wouldn't've", "you're"),
        "somebodyd",
    )
    assert not {"lets", "shes", "couldntve"} & set(CONTRACTIONS)


def normal(answer):
    """SQuAD's steps: lower case, marks away, articles to blanks, blanks to one."""
    kept = "".join(sign for sign in answer.lower() if sign not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def shared_words(first, second):
    left = list(second)
    for word in first:
        if word in left:
            left.remove(word)
    return len(second) - len(left)


def score(given, gold, *, second):
    """Exact match and F with one answer, by the scripts of SQuAD 1.1 and 2.0."""
    words, others = normal(given).split(), normal(gold).split()
    same = shared_words(words, others)
    if second and not (words and others):
        return float(words == others), float(words == others)
    f = 2 * same / (len(words) + len(others)) if same else 0.0
    return float(normal(given) == normal(gold)), f


@pytest.mark.parametrize("rule", ["squad1", "squad2"])
def test_exact_match_and_f_are_the_best_over_the_answers(rule):
    dice = random.Random(9)
    for _ in range(1000):
        gold = [text(dice) for _ in range(dice.randint(1, 3))]
        given = dice.choice([*gold, text(dice), ""])
        wanted = [one for one in gold if normal(one)] or [""] if rule == "squad2" else gold
        both = [score(given, one, second=rule == "squad2") for one in wanted]
        assert squad_scores(given, gold, rule=rule) == pytest.approx(
            tuple(max(values) for values in zip(*both, strict=True))
        )


def test_no_answer_is_right_where_there_is_none():
    assert squad_scores("", []) == (1.0, 1.0)
    assert squad_scores("a", []) == (1.0, 1.0)  # nothing is left of an article
    assert squad_scores("dog", []) == (0.0, 0.0)
    assert squad_scores("", ["the"], rule="squad1") == (1.0, 0.0)  # as the script of SQuAD 1.1 has it
