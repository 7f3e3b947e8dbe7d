"""Edits and moves of phrases are those that sacrebleu's search finds, in its beam and beyond it."""

import random

import pytest
from sacrebleu.metrics.lib_ter import translation_edit_rate

from basanite.metrics.text.edit_rate import count_edits


def moved(words, dice, vocabulary):
    """The words after a few moves, changes, losses and additions."""
    made = list(words)
    for _ in range(dice.randint(1, 6)):
        begin = dice.randrange(len(made) + 1)
        end = begin + dice.randint(1, 5)
        phrase = made[begin:end]
        del made[begin:end]
        place = dice.randint(0, len(made))
        made[place:place] = dice.choice([phrase, phrase, [], [dice.choice(vocabulary)]])
    return made


def same(words, reference):
    assert count_edits(words, reference) == translation_edit_rate(words, reference)[0], (words, reference)


@pytest.mark.parametrize("kinds", [2, 5, 40])
def test_moved_and_changed_sentences_need_as_many_edits(kinds):
    dice = random.Random(kinds)
    vocabulary = [f"w{at}" for at in range(kinds)]
    for _ in range(150):
        reference = dice.choices(vocabulary, k=dice.choice([1, 3, 8, 15]))
        same(moved(reference, dice, vocabulary), reference)


@pytest.mark.parametrize("size", [30, 55])
def test_texts_that_have_little_in_common_are_looked_for_in_the_same_beam(size):
    dice = random.Random(size)
    vocabulary = [f"w{at}" for at in range(30)]
    for length in (1, 2, size - 5):
        same(dice.choices(vocabulary, k=length), dice.choices(vocabulary, k=size))


@pytest.mark.parametrize("junk", [25, 26])
def test_a_match_beyond_the_beam_is_not_seen(junk):
    words = [f"w{at}" for at in range(30)]
    same([f"x{at}" for at in range(junk)] + words, words + [f"y{at}" for at in range(junk)])


def test_a_long_text_whose_halves_changed_places_is_put_right_in_the_same_way():
    words = [f"w{at % 45}" for at in range(80)]
    same(words[40:] + words[:40], words)


def test_the_search_ends_after_as_many_candidates():
    same(["a", "b"] * 20, ["b", "a", "a"] * 12)  # so many places are alike that 1,000 candidates are tried


@pytest.mark.parametrize(("words", "reference"), [("", ""), ("", "a b"), ("a b", ""), ("a", "a"), ("a b c", "c a b")])
def test_empty_and_equal_texts(words, reference):
    same(words.split(), reference.split())
