"""mRMSE against scikit-learn, with missing ratings and predictions outside the scale."""

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error

from basanite.metrics.ratings import MRMSE, RMSE, Rated, clip_to_scale, squared_errors, values

SEEDS = range(5)


def sample(seed, items=30, ratings=5):
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (items, ratings)).astype(float), rng.uniform(0, 6, (items, ratings))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_mean_of_roots_is_that_of_scikit_learn(seed):
    truth, predicted = sample(seed)
    assert values(truth, predicted)["mrmse"] == pytest.approx(root_mean_squared_error(truth, predicted), abs=1e-12)
    single = [RMSE.of(squared_errors(Rated((), truth[:, [at]], predicted[:, [at]]))) for at in range(5)]
    wanted = root_mean_squared_error(truth, predicted, multioutput="raw_values")
    assert single == pytest.approx(wanted.tolist(), abs=1e-12)


def test_it_is_the_mean_of_roots_and_not_the_root_of_the_pooled_mean():
    truth, predicted = np.zeros((4, 2)), np.tile([1.0, 3.0], (4, 1))
    assert values(truth, predicted)["mrmse"] == 2.0
    assert np.sqrt(np.mean(predicted**2)) == pytest.approx(5**0.5)


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_ratings_are_left_out_of_their_own_mean_only(seed):
    truth, predicted = sample(seed)
    truth[np.random.default_rng(seed).random(truth.shape) < 0.3] = np.nan
    known = [~np.isnan(column) for column in truth.T]
    wanted = [root_mean_squared_error(truth[k, at], predicted[k, at]) for at, k in enumerate(known)]
    assert values(truth, predicted)["mrmse"] == pytest.approx(np.mean(wanted), abs=1e-12)


def test_a_rating_that_nobody_has_leaves_the_mean_and_nothing_at_all_is_undefined():
    assert values([[1, np.nan], [2, np.nan]], [[2, 3], [3, 3]])["mrmse"] == 1.0
    assert np.isnan(values([[np.nan]], [[3]])["mrmse"])


def test_predictions_are_brought_into_the_range_and_counted():
    brought, outside = clip_to_scale([0.0, 1.0, 3.5, 5.0, 9.0], 1, 5)
    assert brought.tolist() == [1, 1, 3.5, 5, 5]
    assert outside.tolist() == [True, False, False, False, True]


def test_one_rating_may_be_a_plain_list():
    assert values([1, 2, 3], [2, 3, 4])["mrmse"] == 1.0
    assert MRMSE.best == "low"
