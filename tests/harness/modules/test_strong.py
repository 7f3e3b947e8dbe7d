"""The strong classifier for labels: kernels by hand, the grid of the plan, and one Gram matrix for all."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.svm import SVC

from basanite.errors import SettingError
from basanite.harness.modules.machines import SVM, SupportVectorMachine, chi2_distances


@pytest.fixture(scope="module")
def digits():
    rows, labels = load_digits(return_X_y=True)
    return rows[:400] / 16, (labels[:400] == 3).astype(float)


def by_hand(rows, others):
    """The chi-squared distance, pair by pair; 0/0 is 0."""
    return np.array(
        [[sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0) for y in others] for x in rows]
    )


def test_chi2_distances_and_the_kernel(digits):
    rows = digits[0][:12]
    distances = chi2_distances(rows, rows)
    np.testing.assert_allclose(distances, by_hand(rows, rows), atol=1e-12)
    gram = np.exp(-distances / distances.mean())
    np.testing.assert_allclose(gram, gram.T)
    np.testing.assert_array_equal(np.diagonal(gram), 1.0)
    assert np.linalg.eigvalsh(gram).min() > -1e-9


def test_every_kernel_and_c_is_scikit_learns_machine(digits):
    rows, label = digits
    train, rest = rows[:120], rows[120:]
    mean = chi2_distances(train, train).mean()
    for parameters in ({"kernel": "linear", "C": 0.3}, {"kernel": "chi2", "C": 5.0}):
        one = SupportVectorMachine()
        one.fit(train, label[:120], parameters)
        linear = parameters["kernel"] == "linear"
        kernel = "linear" if linear else lambda a, b: chi2_kernel(a, b, gamma=1 / mean)
        peer = SVC(kernel=kernel, C=parameters["C"]).fit(train, label[:120])
        np.testing.assert_allclose(one.score(rest), peer.decision_function(rest), rtol=0, atol=1e-5)


def test_the_plans_grid_has_both_kernels_and_the_preset_of_2009_one_weighted_machine(digits):
    grid = SVM.make({}, 0).grid()
    assert {point["kernel"] for point in grid} == {"linear", "chi2"}
    assert [point["C"] for point in grid] == sorted(point["C"] for point in grid)
    assert grid[0] == {"C": 0.01, "kernel": "linear"}
    wang = SVM.make({"preset": "wang2009"}, 0)
    assert wang.grid() == ({"C": 100.0, "kernel": "chi2"},)
    rows, label = digits
    wang.fit(rows[:120], label[:120], wang.grid()[0])
    mean = chi2_distances(rows[:120], rows[:120]).mean()
    weight = {value: 120 / (2 * (label[:120] == value).sum()) for value in (0.0, 1.0)}
    peer = SVC(kernel=lambda a, b: chi2_kernel(a, b, gamma=1 / mean), C=100.0, class_weight=weight)
    wanted = peer.fit(rows[:120], label[:120]).decision_function(rows[120:])
    np.testing.assert_allclose(wang.score(rows[120:]), wanted, rtol=0, atol=1e-5)


def test_many_at_once_is_one_by_one(digits):
    rows, label = digits
    folds = [np.arange(160)[place::4] for place in range(4)]
    many = SupportVectorMachine(C=[0.1, 10.0])
    state = many.fit_many(rows[:160], folds, label[:160], many.grid())
    scores = many.score_many(state, rows[160:])
    for fold, places in enumerate(folds):
        for point, parameters in enumerate(many.grid()):
            one = SupportVectorMachine()
            one.fit(rows[places], label[places], parameters)
            np.testing.assert_allclose(scores[fold, point], one.score(rows[160:]), rtol=0, atol=1e-5)
    np.testing.assert_allclose(many.score_chosen(state, rows[160:], [3, 0, 1, 2]), scores[range(4), [3, 0, 1, 2]])


def test_the_next_target_of_the_same_rows_does_not_measure_them_again(digits, monkeypatch):
    rows, label = digits[0][:80].copy(), digits[1][:80]
    many, folds = SupportVectorMachine(C=[1.0]), [np.arange(40), np.arange(40, 80)]
    first = many.fit_many(rows, folds, label, many.grid())
    monkeypatch.setattr("basanite.harness.modules.machines.chi2_distances", None)
    second = many.fit_many(rows, folds, 1 - label, many.grid())
    np.testing.assert_allclose(first.machines[0][1].dual.sum(), second.machines[0][1].dual.sum(), atol=1e-9)


def test_a_label_without_positives_in_a_fold_is_scored_alike_for_all(digits):
    rows, label = digits
    spoiled = label[:80].copy()
    spoiled[:40] = 0
    many = SupportVectorMachine(C=[1.0])
    state = many.fit_many(rows[:80], [np.arange(40), np.arange(40, 80)], spoiled, many.grid())
    scores = many.score_many(state, rows[80:])
    assert np.ptp(scores[0], axis=1).tolist() == [0, 0]
    assert np.ptp(scores[1], axis=1).min() > 0


def test_negative_features_are_refused_by_the_kernel_that_cannot_have_them(digits):
    rows, label = digits
    assert SVM.needs == "nonneg"
    with pytest.raises(SettingError, match="never negative"):
        SupportVectorMachine().fit(rows[:50] - 1, label[:50], {"kernel": "chi2", "C": 1.0})
    SupportVectorMachine().fit(rows[:50] - 1, label[:50], {"kernel": "linear", "C": 1.0})
