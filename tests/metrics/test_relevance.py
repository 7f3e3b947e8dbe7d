"""Judged and automatic relevance, and their correlation, against scikit-learn and scipy."""

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_extraction.text import TfidfVectorizer

from basanite.errors import SettingError
from basanite.metrics.relevance import CORRELATION, Judged, likeness, rows, spearman, tfidf, values

SEEDS = range(5)
WORDS = ["cat", "dog", "Door", "of", "the", "a", "red", "Straße", "running", "über", "naïve", "42", "x"]


def texts(seed, number=20):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 12))) for _ in range(number)]


@pytest.mark.parametrize("seed", SEEDS)
def test_likeness_is_the_cosine_of_scikit_learns_vectors(seed):
    one, other = texts(seed), texts(seed + 100)
    peer = TfidfVectorizer(token_pattern=r"\w+", lowercase=True, preprocessor=str.casefold)
    vectors = peer.fit_transform([*one, *other])
    wanted = np.asarray(vectors[:20].multiply(vectors[20:]).sum(axis=1)).ravel()
    assert likeness(one, other) == pytest.approx(wanted, abs=1e-12)


def test_any_callable_can_make_the_vectors():
    def lengths(given):
        return np.array([[len(text), 1.0] for text in given])

    assert likeness(["aa"], ["bbbb"], lengths)[0] == pytest.approx(9 / (5**0.5 * 17**0.5))


@pytest.mark.parametrize(
    "embed",
    [
        lambda given: np.ones((1, 3)),
        lambda given: np.ones(len(given)),
        lambda given: np.full((len(given), 2), np.nan),
        lambda given: np.full((len(given), 2), np.inf),
    ],
    ids=["too few", "no vectors", "nan", "infinity"],
)
def test_an_embedding_that_gives_no_vectors_is_refused(embed):
    with pytest.raises(SettingError, match="embedding"):
        likeness(["a"], ["b"], embed)


def test_an_empty_text_is_like_nothing_and_without_context_there_is_no_likeness():
    found = likeness(["", "cat", "cat"], ["cat", "!", "cat"])
    assert found[0] == 0
    assert np.isnan(found[1])
    assert found[2] == pytest.approx(1)
    assert likeness([], []).shape == (0,)
    assert tfidf(["", ""]).shape == (2, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    judged = rng.integers(0, 4, 30) / 3
    auto = 0.5 * judged + rng.random(30) / 2
    assert values(judged, auto)["correlation"] == pytest.approx(stats.pearsonr(judged, auto).statistic, abs=1e-12)
    assert spearman(judged, auto) == pytest.approx(stats.spearmanr(judged, auto).statistic, abs=1e-12)
    gaps = np.where(rng.random(30) < 0.2, np.nan, judged)
    known = ~np.isnan(gaps)
    assert values(gaps, auto)["correlation"] == pytest.approx(np.corrcoef(judged[known], auto[known])[0, 1], abs=1e-12)
    assert values(gaps, auto)["relevance"] == pytest.approx(judged[known].mean())
    assert values(gaps, auto)["relevance_auto"] == pytest.approx(auto.mean())


@pytest.mark.parametrize("constant", [0.0, 0.1, 1 / 3, 1.0])
def test_the_correlation_with_a_constant_is_undefined(constant):
    auto = np.random.default_rng(0).random(50)
    assert np.isnan(values(np.full(50, constant), auto)["correlation"])
    assert np.isnan(spearman(np.full(50, constant), auto))
    assert np.isnan(spearman([np.nan], [0.5]))
    assert np.isnan(CORRELATION.of(rows(Judged((), auto[:1], auto[:1]))))
