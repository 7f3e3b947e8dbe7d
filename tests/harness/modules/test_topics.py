"""Topics: row for row those of scikit-learn, and those that were planted."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import psi
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.linear_model import Ridge

from basanite.errors import MissingExtraError, SettingError
from basanite.harness.modules import slda
from basanite.harness.modules.lda import LDA_RIDGE, TopicRidge, Topics, exp_digamma, fit_topics


@pytest.mark.parametrize("number", [2, 12])
def test_topics_and_shares_are_those_of_scikit_learn(counts, number):
    peer = LatentDirichletAllocation(number, random_state=7).fit(counts[:40])
    found = fit_topics(counts[:40], number, seed=7)
    np.testing.assert_allclose(found.components, peer.components_, rtol=1e-6)
    same = Topics(peer.components_)
    np.testing.assert_allclose(same.shares(counts[:200]), peer.transform(counts[:200]), rtol=0, atol=1e-7)


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 2**31))
def test_shares_agree_on_any_counts_with_empty_rows_too(rows, columns, seed):
    dice = np.random.default_rng(seed)
    matrix = scipy.sparse.csr_array(dice.poisson(dice.choice([0.05, 0.8, 6]), (rows, columns)).astype(float))
    assume(matrix.nnz)  # scikit-learn divides by the number of words
    peer = LatentDirichletAllocation(3, random_state=1, max_iter=3).fit(matrix)
    found = fit_topics(matrix, 3, seed=1, rounds=3)
    np.testing.assert_allclose(found.shares(matrix), peer.transform(matrix), rtol=0, atol=1e-6)


def test_a_row_has_the_same_shares_in_every_batch(counts):
    topics = fit_topics(counts[:50], 5, seed=0)
    whole = topics.shares(counts[:91])
    parts = np.concatenate([topics.shares(counts[start : start + 7]) for start in range(0, 91, 7)])
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-12)


def test_planted_topics_are_recovered():
    dice = np.random.default_rng(2)
    sides = dice.integers(0, 2, 200)
    means = np.where(np.arange(10) < 5, 4.0, 0.1)
    matrix = dice.poisson(np.where(sides[:, None] == 0, means, means[::-1])).astype(float)
    shares = fit_topics(scipy.sparse.csr_array(matrix), 2, seed=0).shares(matrix)
    side = shares[:, 0] > 0.5
    assert max((side == sides).mean(), (side != sides).mean()) > 0.99


@given(st.floats(1e-3, 1e6))
def test_exponential_of_digamma(x):
    np.testing.assert_allclose(exp_digamma(np.array([x])), np.exp(psi(x)), rtol=2e-9)


def test_ridge_on_the_shares_is_scikit_learns(counts, food):
    classifier = TopicRidge(topics=[6], alpha=2.0, seed=3)
    classifier.fit(counts[:60], food[:60], {"topics": 6})
    peer = LatentDirichletAllocation(6, random_state=3).fit(counts[:60])
    line = Ridge(alpha=2.0).fit(peer.transform(counts[:60]), food[:60])
    np.testing.assert_allclose(classifier.score(counts), line.predict(peer.transform(counts)), atol=1e-6)


@pytest.mark.parametrize("scope", ["fold", "train"])
def test_many_at_once_is_one_by_one(counts, food, folds, scope):
    folds = [rows[:15] for rows in folds]
    many = TopicRidge(topics=[3, 8], scope=scope, seed=1, rounds=4)
    state = many.fit_many(counts[:240], folds, food[:240], many.grid())
    scores = many.score_many(state, counts[240:300])
    assert scores.shape == (4, 2, 60)
    one = TopicRidge(topics=[3, 8], scope=scope, seed=1, rounds=4)
    if scope == "train":
        one.learn_topics(counts[:240])
    for fold, rows in enumerate(folds):
        for point, parameters in enumerate(many.grid()):
            one.fit(counts[rows], food[rows], parameters)
            np.testing.assert_allclose(scores[fold, point], one.score(counts[240:300]), rtol=0, atol=1e-8)
    chosen = [1, 0, 1, 0]
    np.testing.assert_array_equal(many.score_chosen(state, counts[240:300], chosen), scores[np.arange(4), chosen])


def test_by_default_topics_come_from_the_training_fold_alone(counts, food, folds):
    classifier = LDA_RIDGE.make({"topics": [4], "rounds": 3}, 0)
    before = classifier.fit_many(counts[:240], folds, food[:240], classifier.grid())
    other = scipy.sparse.vstack([counts[:60], counts[300:480]]).tocsr()  # other rows in all folds but for their start
    folds_apart = [np.arange(60), *folds[1:]]
    first = classifier.fit_many(counts[:240], folds_apart, food[:240], classifier.grid())
    after = classifier.fit_many(other, folds_apart, food[:240], classifier.grid())
    np.testing.assert_array_equal(first.topics[0][0].components, after.topics[0][0].components)
    assert not np.array_equal(before.topics[1][0].components, after.topics[1][0].components)


def test_fewer_topics_come_first(counts):
    assert [point["topics"] for point in LDA_RIDGE.make({"topics": [40, 10]}, 0).grid()] == [10, 40]
    assert [point["topics"] for point in LDA_RIDGE.make({}, 0).grid()] == [10, 20, 40, 80]


def test_topics_of_all_rows_must_come_first(counts, food):
    with pytest.raises(SettingError, match="learn_topics"):
        TopicRidge(scope="train").fit(counts[:60], food[:60], {"topics": 10})


def test_supervised_topics_learn_a_planted_rating_and_repeat_themselves():
    dice = np.random.default_rng(0)
    rating = dice.integers(1, 6, 240).astype(float)
    rate = np.linspace(0, 1, 5)[(rating - 1).astype(int)][:, None]
    matrix = dice.poisson(4 * np.hstack([np.tile(rate, 5), np.tile(1 - rate, 5)])).astype(float)
    scores = []
    for _ in range(2):
        model = slda.make({"topics": [2], "rounds": 100}, 3)
        model.fit(matrix[:160], rating[:160], {"topics": 2})
        scores.append(model.score(matrix[160:]))
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.sqrt(np.mean((scores[0] - rating[160:]) ** 2)) < 0.7 * rating[160:].std()
    np.testing.assert_array_equal(model.score(matrix[165:170]), scores[0][5:10])


def test_supervised_topics_say_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tomotopy", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"basanite\[harness\]\""):
        slda.make({}, 0).fit(np.ones((2, 2)), np.ones(2), {"topics": 2})
