"""Simple linear classifiers: many at once is one by one, and one is scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR
from sklearn.svm import LinearSVC as Liblinear

from basanite import registry

RATINGS = {
    "svr": ("svr-linear", {}),
    "multinomial": ("logistic", {}),
    "argmax": ("logistic", {"output": "argmax"}),
    "liblinear": ("logistic", {"solver": "liblinear"}),
}
LABELS = {
    "svc": ("svc-linear", {}),
    "linear-svm": ("linear-svm", {}),
    "logistic": ("logistic-labels", {}),
    "logistic-liblinear": ("logistic-labels", {"solver": "liblinear"}),
}


def made(case):
    name, parameters = {**RATINGS, **LABELS}[case]
    return registry.load("modules", name).make({"C": [0.02, 0.5], **parameters}, 0)


def forms(counts):
    """The same rows as a sparse matrix, as a dense one, and as codes with fewer columns than a fold has rows."""
    codes = np.tanh(counts.toarray() @ np.random.default_rng(0).normal(0, 0.1, (counts.shape[1], 30)))
    return {"sparse": counts, "dense": counts.toarray(), "codes": codes}


@pytest.mark.few(6)
@pytest.mark.parametrize("form", ["sparse", "dense", "codes"])
@pytest.mark.parametrize("case", [*RATINGS, *LABELS])
def test_many_at_once_is_one_by_one(counts, food, folds, case, form):
    features = forms(counts)[form]
    target = food if case in RATINGS else (food >= 5).astype(float)
    many = made(case)
    state = many.fit_many(features[:240], folds, target[:240], many.grid())
    scores = many.score_many(state, features)
    assert scores.shape == (4, 2, 700)
    for fold, rows in enumerate(folds):
        for point, parameters in enumerate(many.grid()):
            one = made(case)
            one.fit(features[rows], target[rows], parameters)
            wanted = one.score(features)
            close = 5e-5 if "multinomial" in case else 1e-5  # L-BFGS ends where float64 sees no gain any more
            np.testing.assert_allclose(scores[fold, point], wanted, rtol=0, atol=close)
            errors = [np.sqrt(np.mean((found - target) ** 2)) for found in (scores[fold, point], wanted)]
            assert abs(errors[0] - errors[1]) < 1e-5
    chosen = [1, 0, 0, 1]
    np.testing.assert_allclose(
        many.score_chosen(state, features, chosen), scores[np.arange(4), chosen], rtol=0, atol=1e-12
    )


def test_support_vector_regression_is_scikit_learns(counts, food):
    one = made("svr")
    one.fit(counts[:60], food[:60], {"C": 0.5})
    peer = SVR(kernel="linear", C=0.5).fit(counts[:60], food[:60])
    np.testing.assert_array_equal(one.score(counts), peer.predict(counts))


def test_a_logistic_rating_is_the_expected_value_or_on_request_the_likeliest(counts, food):
    peer = LogisticRegression(C=0.5, tol=1e-8, max_iter=5000).fit(counts[:240], food[:240])
    posterior = peer.predict_proba(counts)
    for case, wanted in (("multinomial", posterior @ peer.classes_), ("argmax", peer.predict(counts))):
        one = made(case)
        one.fit(counts[:240], food[:240], {"C": 0.5})
        np.testing.assert_allclose(one.score(counts), wanted, rtol=0, atol=1e-9)


def test_the_expected_value_has_the_smaller_squared_error(counts, food):
    errors = {}
    for case in ("multinomial", "argmax"):
        one = made(case)
        one.fit(counts[:350], food[:350], {"C": 0.5})
        errors[case] = np.mean((one.score(counts[350:]) - food[350:]) ** 2)
    assert errors["multinomial"] < errors["argmax"]


def test_liblinear_takes_each_rating_against_the_rest(counts, food):
    single = LogisticRegression(C=0.5, tol=1e-8, max_iter=5000, solver="liblinear")
    peer = OneVsRestClassifier(single).fit(counts[:240], food[:240])
    one = made("liblinear")
    one.fit(counts[:240], food[:240], {"C": 0.5})
    np.testing.assert_allclose(one.score(counts), peer.predict_proba(counts) @ peer.classes_, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("case", "peer"),
    [
        ("svc", SVC(kernel="linear", C=0.5)),
        ("linear-svm", Liblinear(C=0.5, tol=1e-6, dual=False, max_iter=5000)),
        ("logistic", LogisticRegression(C=0.5, tol=1e-8, max_iter=5000)),
        ("logistic-liblinear", LogisticRegression(C=0.5, tol=1e-8, max_iter=5000, solver="liblinear")),
    ],
    ids=["svc", "linear-svm", "logistic", "logistic-liblinear"],
)
def test_a_label_has_the_raw_decision_value(counts, food, case, peer):
    target = (food >= 5).astype(float)
    one = made(case)
    one.fit(counts[:240], target[:240], {"C": 0.5})
    wanted = peer.fit(counts[:240], target[:240]).decision_function(counts)
    np.testing.assert_allclose(one.score(counts), wanted, rtol=0, atol=1e-9)
    assert wanted.max() > 1 > 0 > wanted.min()  # no probability


@pytest.mark.parametrize("case", [*RATINGS, *LABELS])
def test_a_fold_with_one_value_gives_a_constant_and_leaves_the_others_alone(counts, food, folds, case):
    target = (food[:240] if case in RATINGS else (food[:240] >= 5)).astype(float)
    spoiled = target.copy()
    spoiled[folds[1]] = 1.0 if case in RATINGS else 0.0
    many = made(case)
    scores = [
        many.score_many(many.fit_many(counts[:240], folds, values, many.grid()), counts) for values in (target, spoiled)
    ]
    assert np.isfinite(scores[1]).all()
    np.testing.assert_allclose(scores[1][1], spoiled[folds[1]][0], atol=1e-12)
    np.testing.assert_allclose(np.delete(scores[1], 1, axis=0), np.delete(scores[0], 1, axis=0), rtol=0, atol=1e-9)
    one = made(case)
    one.fit(counts[folds[1]], spoiled[folds[1]], {"C": 0.5})
    np.testing.assert_allclose(one.score(counts), spoiled[folds[1]][0], atol=1e-12)


def test_a_rating_that_a_fold_lacks_is_impossible_there(counts, food, folds):
    values = food[:240].copy()
    values[folds[2]] = np.where(values[folds[2]] >= 5, 4.0, 3.0)
    for case in ("multinomial", "liblinear"):
        many = made(case)
        scores = many.score_many(many.fit_many(counts[:240], folds, values, many.grid()), counts)
        assert scores[2].min() >= 3
        assert scores[2].max() <= 4
        one = made(case)
        one.fit(counts[folds[2]], values[folds[2]], many.grid()[1])
        np.testing.assert_allclose(scores[2, 1], one.score(counts), rtol=0, atol=1e-5)


def test_regression_gives_ratings_beyond_the_scale_unclipped():
    rows = scipy.sparse.csr_array(np.array([[0.0], [1.0], [2.0]]))
    one = registry.load("modules", "svr-linear").make({"C": [100.0]}, 0)
    one.fit(rows, np.array([1.0, 3.0, 5.0]), {"C": 100.0})
    assert one.score(np.array([[4.0]]))[0] > 8


@pytest.mark.parametrize("case", [*RATINGS, *LABELS])
def test_the_smaller_c_comes_first(case):
    name, parameters = {**RATINGS, **LABELS}[case]
    grid = registry.load("modules", name).make({"C": [1.0, 0.1, 10.0], **parameters}, 0).grid()
    assert [point["C"] for point in grid] == [0.1, 1.0, 10.0]
