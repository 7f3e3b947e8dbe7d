"""Word and character error rates against jiwer and brute force, and alignments that add up."""

import itertools
import math
import random

import jiwer
import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from basanite.metrics.text.speech import (
    CER,
    WER,
    AlignmentCounts,
    Utterances,
    align,
    best_reading,
    best_reference,
    character_statistics,
    counts_of,
    values,
    word_statistics,
)

WORDS = ["a", "b", "c", "de", "été", "e\u0301te", "新年", "快乐", "the", "uh"]


def texts(rng, size, *, least=0, most=9):
    return [" ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most))) for _ in range(size)]


def utterances(references, answers):
    return Utterances([str(at) for at in range(len(answers))], [[text] for text in references], answers)


def edits(said, heard):
    """The fewest edits, by the plain table that everybody learns."""
    row = list(range(len(heard) + 1))
    for place, word in enumerate(said, start=1):
        above, row[0] = row[0], place
        for at, other in enumerate(heard, start=1):
            above, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, above + (word != other))
    return row[-1]


@pytest.mark.parametrize("seed", range(25))
def test_rates_are_those_of_jiwer(seed):
    rng = random.Random(seed)
    said, heard = texts(rng, 12, least=1), texts(rng, 12)
    found = values(said, heard)
    assert found["wer"] == pytest.approx(jiwer.wer(said, heard), abs=1e-12)
    assert found["cer"] == pytest.approx(jiwer.cer(said, heard), abs=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_rows_are_edits_and_lengths_of_each_utterance(seed):
    rng = random.Random(seed)
    said, heard = texts(rng, 8), texts(rng, 8)
    block = utterances(said, heard)
    pairs = list(zip(said, heard, strict=True))
    words = [[edits(one.split(), other.split()), len(one.split())] for one, other in pairs]
    assert word_statistics(block).tolist() == words
    assert character_statistics(block).tolist() == [[edits(one, other), len(one)] for one, other in pairs]


@pytest.mark.parametrize("seed", range(25))
def test_alignment_counts_add_up_to_the_edits_and_the_lengths(seed):
    rng = random.Random(seed)
    said, heard = (text.split() for text in texts(rng, 2, most=12))
    counts = counts_of(said, heard)
    assert counts.substitutions + counts.deletions + counts.insertions == edits(said, heard)
    assert counts.hits + counts.substitutions + counts.deletions == len(said)
    assert counts.hits + counts.substitutions + counts.insertions == len(heard)


@pytest.mark.parametrize("seed", range(25))
def test_an_alignment_spells_out_both_sides_and_has_the_counts(seed):
    rng = random.Random(seed)
    said, heard = (text.split() for text in texts(rng, 2, most=12))
    steps = align(said, heard)
    assert [step.reference for step in steps if step.step != "insertion"] == said
    assert [step.answer for step in steps if step.step != "deletion"] == heard
    assert all((step.reference == step.answer) == (step.step == "hit") for step in steps)
    kinds = [step.step for step in steps]
    numbers = [kinds.count(kind) for kind in ("hit", "substitution", "deletion", "insertion")]
    assert AlignmentCounts(*numbers) == counts_of(said, heard)


def test_counts_of_many_utterances_are_those_of_jiwer_in_total():
    rng = random.Random(9)
    said, heard = texts(rng, 50, least=1), texts(rng, 50)
    ours, peer = utterances(said, heard).words.counts, jiwer.process_words(said, heard)
    errors = peer.substitutions + peer.deletions + peer.insertions
    assert ours.substitutions + ours.deletions + ours.insertions == errors
    assert ours.hits + ours.substitutions + ours.deletions == peer.hits + peer.substitutions + peer.deletions


def test_the_rate_of_a_corpus_is_no_mean_of_rates():
    assert values(["a", "a b c d e f g h i"], ["b", "a b c d e f g h i"])["wer"] == pytest.approx(1 / 10)


def test_spaces_are_collapsed_for_words_and_counted_for_characters():
    found = values(["a  b"], [" a b "])
    assert found == {"wer": 0.0, "cer": 1 / 4}


def test_case_and_accents_are_never_folded_in_silence():
    assert values(["Paris"], ["paris"]) == {"wer": 1.0, "cer": 1 / 5}
    # composed against combining: one character replaced, one added
    assert character_statistics(utterances(["caf\u00e9"], ["cafe\u0301"])).tolist() == [[2, 4]]


def test_what_is_heard_in_silence_counts_as_inserted():
    assert values(["", "a b"], ["x y", "a b"])["wer"] == 1.0


def test_without_a_single_word_of_reference_there_is_no_rate():
    for heard in ("", "x"):
        assert all(map(math.isnan, values(["", " "], ["", heard]).values()))


def test_an_empty_answer_drops_every_word():
    assert values(["a b", "c"], ["", ""]) == {"wer": 1.0, "cer": 1.0}


def test_chinese_without_spaces_is_measured_by_characters():
    assert values(["新年快乐"], ["新年好乐"]) == {"wer": 1.0, "cer": 1 / 4}


def test_a_very_long_utterance_is_counted():
    rng = random.Random(1)
    said = [rng.choice(WORDS) for _ in range(5000)]
    heard = [word for word in said if word != "uh"]
    assert word_statistics(utterances([" ".join(said)], [" ".join(heard)])).tolist() == [[said.count("uh"), 5000]]


def test_of_several_references_the_nearest_counts_and_of_equals_the_longest():
    block = Utterances(["1"], [["a b c", "a x c d", "q"]], ["a b c d"])
    assert word_statistics(block).tolist() == [[1, 4]]
    assert best_reference([["a"], ["b"]], ["c"]) == ["a"]
    assert best_reference([["a"], ["b", "c"]], ["d"]) == ["a"]


@pytest.mark.few(20)
@pytest.mark.parametrize("seed", range(200))
def test_the_best_reading_has_fewest_edits_and_then_most_words_of_all_combinations(seed):
    rng = random.Random(seed)
    slots = [
        [tuple(rng.choices("abcd", k=rng.randint(0, 2))) for _ in range(rng.randint(1, 3))]
        for _ in range(rng.randint(0, 5))
    ]
    heard = rng.choices("abcd", k=rng.randint(0, 7))
    every = [[word for reading in way for word in reading] for way in itertools.product(*slots)]
    best = min((Levenshtein.distance(words, heard), -len(words)) for words in every)
    chosen = best_reading(slots, heard)
    words = [word for reading in chosen for word in reading]
    assert all(reading in slot for reading, slot in zip(chosen, slots, strict=True))
    assert (Levenshtein.distance(words, heard), -len(words)) == best


def test_many_optional_words_take_no_longer_than_their_number():
    slots = [[("uh",), ()]] * 300  # 2 to the 300th combinations
    assert [reading for reading in best_reading(slots, ["uh"] * 7) if reading] == [("uh",)] * 7


def test_rates_have_no_upper_end():
    assert WER.of(np.array([[5.0, 2.0]])) == CER.of(np.array([[5.0, 2.0]])) == 2.5
