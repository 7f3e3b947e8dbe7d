"""Gains: against the components themselves, scikit-learn and the metric's own draws; directions, clusters, seeds."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from tests.harness.analysis.folders import folder

from basanite.analysis.resampling import weights
from basanite.harness.analysis.gains import Comparer
from basanite.harness.analysis.variance import Block, components, precision_of, rmse_cells
from basanite.metrics.retrieval.average_precision import AP, AP11, Confidences, rows


@pytest.mark.parametrize("seed", range(6))
def test_precision_under_weights_is_that_of_the_metric_in_every_draw(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(60) < 0.2
    scores = np.round(rng.normal(size=60) + truth, 1 if seed % 2 else 6)  # ties, and none
    table = rows(Confidences((), truth[:, None], scores[:, None]))
    drawn = weights(60, draws=50, seed=seed)
    np.testing.assert_array_equal(precision_of(scores, truth)(drawn), AP11.drawn(table, drawn))
    np.testing.assert_allclose(precision_of(scores, truth, plain=True)(drawn), AP.drawn(table, drawn), rtol=1e-14)


def test_precision_without_positives_is_undefined_in_every_draw():
    found = precision_of(np.arange(5.0), np.zeros(5, bool))(np.ones((3, 5)))
    assert np.isnan(found).all()
    few = precision_of(np.arange(5.0), np.arange(5) == 2)(np.array([[1.0, 1, 0, 1, 2], [1, 1, 1, 1, 1]]))
    assert np.isnan(few).tolist() == [True, False]


def test_the_plain_average_precision_is_that_of_scikit_learn(tmp_path):
    result = folder(tmp_path)
    comparer = Comparer(result, "video", draws=100, metric="map")
    for fold, scores in enumerate(result.predictions("video", "6a", "sit")):
        wanted = average_precision_score(result.truth("video", "sit"), scores)
        assert comparer.values("6a")[fold, 1] == pytest.approx(wanted)


def test_the_gain_in_ratings_has_the_error_of_its_variance_components(tmp_path):
    result = folder(tmp_path, metric="mrmse")
    gain = Comparer(result, "video", draws=200).gain("6a", "3a")
    blocks = []
    for target in ("run", "sit"):
        cells = [
            rmse_cells((result.predictions("video", run, target) - result.truth("video", target)) ** 2)
            for run in ("3a", "6a")
        ]
        blocks.append(Block(cells[0] - cells[1], np.arange(200)))
    wanted = components(blocks, shared_folds=True)
    assert gain.value == pytest.approx(wanted.value)
    assert (gain.error, gain.degrees) == pytest.approx((wanted.error, wanted.degrees))
    assert gain.drawn is not None
    assert gain.drawn[0] < gain.value < gain.drawn[1]


@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_a_gain_is_positive_where_the_first_does_better_whatever_the_metric(metric, tmp_path):
    comparer = Comparer(folder(tmp_path, metric=metric), "video", draws=200)
    assert comparer.gain("6a", "4a").low > 0
    assert comparer.gain("4a", "6a").high < 0
    better = comparer.value("6a").value - comparer.value("4a").value
    assert (better > 0) is (metric == "map11")


@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_rows_of_one_restaurant_vary_together(metric, tmp_path):
    plain = folder(tmp_path / "plain", metric=metric, rows=400)
    groups = np.argsort(np.argsort(plain.truth("video", "run"), kind="stable")) // 50
    clusters = np.concatenate([groups, np.arange(50) + 9])
    grouped = folder(tmp_path / "grouped", metric=metric, rows=400, clusters=clusters)
    alone = Comparer(plain, "video", draws=500).value("4a").error
    assert Comparer(grouped, "video", draws=500).value("4a").error > 1.3 * alone


@pytest.mark.parametrize("metric", ["map11", "mrmse"])
def test_with_three_seeds_the_seed_is_a_third_factor(metric, tmp_path):
    result = folder(tmp_path, metric=metric, replications=4, noise_of_seeds=0.4)
    together = Comparer(result, "video", draws=300, replications=4).gain("6a", "3a")
    each = [Comparer(result, "video", draws=300).values("6a", number).mean() for number in range(1, 5)]
    other = [Comparer(result, "video", draws=300).values("3a", number).mean() for number in range(1, 5)]
    gaps = (np.array(each) - np.array(other)) * (1 if metric == "map11" else -1)
    assert together.value == pytest.approx(gaps.mean())
    assert together.error > gaps.std(ddof=1) / 2  # no less than what seeds alone bring
    two = Comparer(result, "video", draws=300, replications=2).gain("6a", "3a")
    assert together.degrees < two.degrees or metric == "map11"


def test_no_interval_of_a_value_leaves_the_range_of_its_metric(tmp_path):
    result = folder(tmp_path, rows=60, signal={(6, "a"): 9.0, (4, "a"): 0.1})
    comparer = Comparer(result, "video", draws=200)
    assert comparer.value("6a").high <= 1
    assert comparer.value("4a").low >= 0


def test_what_is_put_beside_the_runs_is_compared_like_one(tmp_path):
    result = folder(tmp_path)
    comparer = Comparer(result, "video", draws=200)
    comparer.add_predictions("mine", {target: result.predictions("video", "6a", target) for target in ("run", "sit")})
    same = comparer.gain("mine", "6a")
    assert (same.value, same.error, same.p) == (0.0, 0.0, 1.0)
    assert comparer.gain("mine", "4a").value == comparer.gain("6a", "4a").value
