"""Formulas counted by hand, and baselines that never see the rating they are to guess."""

import numpy as np
import pytest
from tests.synthetic.readability_files import passage_of

from basanite.metrics.judgement.formulas import (
    FEATURES,
    LEARNED,
    baseline_ratings,
    blind,
    features,
    flesch,
    flesch_kincaid,
    fog,
    folds,
    ridge,
    text_counts,
)

TEXT = "The red dog runs home. Considerable anticipation characterised everybody."


def test_the_formulas_count_words_sentences_and_syllables():
    # the-red-dog-runs-home: 5; con-sid-er-a-ble: 5, an-tic-i-pa-tion: 5, char-ac-ter-ised: 4, ev-ery-bod-y: 4
    found = text_counts(TEXT)
    assert (found.sentences, found.words, found.complex) == (2, 9, 4)
    words, syllables = 9 / 2, found.syllables / 9
    assert flesch(TEXT) == pytest.approx(206.835 - 1.015 * words - 84.6 * syllables)
    assert flesch_kincaid(TEXT) == pytest.approx(0.39 * words + 11.8 * syllables - 15.59)
    assert fog(TEXT) == pytest.approx(0.4 * (words + 100 * 4 / 9))


def test_features_go_beyond_the_surface():
    plain = "The man waits. The man reads. The man sleeps."
    built = "The man, who was asked because rules changed, waits although nobody came."
    table = features([plain, built])
    column = {name: table[:, at] for at, name in enumerate(FEATURES)}
    assert column["subordinators a sentence"].tolist() == [0, 3]
    assert column["passives a sentence"].tolist() == [0, 1]
    assert column["words shared with the sentence before"][0] == pytest.approx(2 / 3)
    assert np.isfinite(features(["", "…", "\u202e\x00", "a" * 100_000])).all()


def test_a_baseline_does_not_see_the_rating_of_the_passage_it_rates():
    texts = [passage_of(number).text for number in range(40)]
    gold = np.array([passage_of(number).ease for number in range(40)])
    before = baseline_ratings(texts, gold)
    for at in (0, 17):
        other = gold.copy()
        other[at] = 5 if gold[at] < 3 else 1
        after = baseline_ratings(texts, other)
        for name in before:
            assert after[name][at] == before[name][at], name
            assert not np.array_equal(after[name], before[name]), name


def test_what_is_learned_from_all_features_beats_a_single_formula_where_they_matter():
    texts = [passage_of(number).text for number in range(60)]
    gold = np.array([passage_of(number).ease for number in range(60)])
    found = baseline_ratings(texts, gold)
    errors = {name: float(np.mean((ratings - gold) ** 2)) for name, ratings in found.items()}
    assert errors[LEARNED] < min(errors[name] for name in errors if name != LEARNED) * 1.05
    assert errors[LEARNED] < 0.5 * gold.var()


def test_folds_are_even_and_every_passage_is_rated_once():
    fold = folds(23, seed=1)
    assert sorted(np.bincount(fold).tolist()) == [4, 4, 5, 5, 5]
    assert baseline_ratings(["a"] * 5, [1, 2, 3, 4, 5]) == {}


def test_ridge_finds_a_straight_line_and_is_not_shaken_by_a_constant_column():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(0, 1, 50), np.ones(50)])
    truth = 3 + 0.5 * table[:, 0]
    assert blind(table, truth, folds(50, seed=0), ridge) == pytest.approx(truth, abs=0.01)
