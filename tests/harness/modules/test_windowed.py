"""Classifiers of windows: a clip is as good as its best window."""

import numpy as np
import pytest

from basanite.harness.modules.windowed import LINEAR_SVM, LOGISTIC_LABELS, SVC_LINEAR
from basanite.harness.steps.store import Sequences


@pytest.fixture
def clips():
    dice = np.random.default_rng(0)
    lengths = dice.integers(1, 4, 40)
    target = (np.arange(40) % 2).astype(float)
    rows = dice.normal(size=(lengths.sum(), 5)) + np.repeat(target, lengths)[:, None]
    return Sequences(rows, np.concatenate([[0], np.cumsum(lengths)])), target


@pytest.mark.parametrize("module", [LINEAR_SVM, LOGISTIC_LABELS, SVC_LINEAR], ids=lambda module: module.name)
def test_a_clip_scores_as_its_best_window_and_windows_have_its_label(module, clips):
    features, target = clips
    one = module.make({}, 0)
    point = one.grid()[0]
    one.fit(features, target, point)
    inside = module.make({}, 0).inner
    inside.fit(features.rows, np.repeat(target, features.lengths), point)
    scores = inside.score(features.rows)
    slow = [scores[a:b].max() for a, b in zip(features.offsets[:-1], features.offsets[1:], strict=True)]
    assert one.score(features) == pytest.approx(np.array(slow))


@pytest.mark.parametrize("module", [LINEAR_SVM, LOGISTIC_LABELS, SVC_LINEAR], ids=lambda module: module.name)
def test_many_at_once_is_one_after_the_other(module, clips):
    features, target = clips
    folds = [np.arange(0, 20), np.arange(20, 40)]
    many = module.make({}, 0)
    grid = many.grid()
    state = many.fit_many(features, folds, target, grid)
    found, chosen = many.score_many(state, features), many.score_chosen(state, features, [1, 0])
    for at, rows in enumerate(folds):
        for point, parameters in enumerate(grid):
            one = module.make({}, 0)
            one.fit(features[rows], target[rows], parameters)
            assert found[at, point] == pytest.approx(one.score(features), abs=2e-3)
    assert chosen == pytest.approx(np.array([found[0, 1], found[1, 0]]))
