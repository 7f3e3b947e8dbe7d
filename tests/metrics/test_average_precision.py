"""Average precision of confidences: the plan's worked example, scikit-learn, and brute force with whole numbers."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from basanite.metrics.retrieval.average_precision import (
    AP,
    AP11,
    MAP,
    MAP11,
    Confidences,
    draws_without_positives,
    rows,
    values,
)

SEEDS = range(8)


def table(labels, confidences):
    return rows(Confidences((), np.asarray(labels, bool), np.asarray(confidences, float)))


def sample(seed, *, instances=40, classes=3, levels=8):
    rng = np.random.default_rng(seed)
    labels = rng.random((instances, classes)) < rng.uniform(0.1, 0.5, classes)
    labels[0] = True
    return labels, rng.integers(0, levels, labels.shape) / 4 - 1


def by_definition(labels, confidences):
    """The plan's steps, one threshold at a time, recall compared in whole numbers."""
    total = int(np.sum(labels))
    ends = [np.asarray(confidences) >= threshold for threshold in set(confidences)]
    points = [(int(np.sum(labels[end])), int(end.sum())) for end in ends]
    best = [max((hits / size for hits, size in points if 10 * hits >= t * total), default=0.0) for t in range(11)]
    return sum(best) / 11


def test_the_plans_worked_example():
    truth, confidence = [1, 0, 1, 1, 1], [0.9, 0.8, 0.6, 0.2, 0.2]
    # Precision 1 up to recall 0.2; from 0.3 on the best is 4 of 5, since both of the last instances pass together.
    assert values(truth, confidence)["map11"] == pytest.approx((3 * 1.0 + 8 * 0.8) / 11)


@pytest.mark.parametrize("seed", SEEDS)
def test_eleven_points_are_those_of_the_definition(seed):
    labels, confidences = sample(seed)
    wanted = [by_definition(labels[:, at], confidences[:, at]) for at in range(labels.shape[1])]
    found = [AP11.of(table(labels[:, [at]], confidences[:, [at]])) for at in range(labels.shape[1])]
    assert found == pytest.approx(wanted, abs=1e-12)
    assert values(labels, confidences)["map11"] == pytest.approx(np.mean(wanted), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_plain_average_precision_is_that_of_scikit_learn(seed):
    labels, confidences = sample(seed)
    wanted = [average_precision_score(labels[:, at], confidences[:, at]) for at in range(labels.shape[1])]
    assert [AP.of(table(labels[:, [at]], confidences[:, [at]])) for at in range(3)] == pytest.approx(wanted, abs=1e-12)
    assert values(labels, confidences)["map"] == pytest.approx(average_precision_score(labels, confidences))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_tied_rows_cannot_matter(seed):
    labels, confidences = sample(seed, levels=2)
    order = np.random.default_rng(seed).permutation(len(labels))
    assert values(labels[order], confidences[order]) == pytest.approx(values(labels, confidences), abs=1e-15)


def test_a_constant_scorer_gets_the_share_of_positives():
    labels = np.arange(40) % 4 == 0
    assert values(labels, np.zeros(40)) == pytest.approx({"map11": 0.25, "map": 0.25})


def test_three_of_ten_reach_a_recall_of_three_tenths():
    confidence = -np.arange(1000.0)
    labels = np.isin(np.arange(1000), [0, 1, 2, *range(900, 907)])
    precisions = [1, 1, 1, 1, *([10 / 907] * 7)]
    assert values(labels, confidence)["map11"] == pytest.approx(np.mean(precisions), abs=1e-12)


def test_a_class_without_positives_is_undefined_and_leaves_the_mean():
    labels, confidences = sample(1)
    labels[:, 1] = False
    assert np.isnan(AP11.of(table(labels[:, [1]], confidences[:, [1]])))
    assert np.isnan(AP.of(table(labels[:, [1]], confidences[:, [1]])))
    others = [AP11.of(table(labels[:, [at]], confidences[:, [at]])) for at in (0, 2)]
    assert values(labels, confidences)["map11"] == pytest.approx(np.mean(others))
    assert np.isnan(values(np.zeros((5, 2)), np.ones((5, 2)))["map"])


def test_raw_scores_are_ranked_far_beyond_where_a_squashed_one_saturates():
    assert values([0, 1], [40.0, 50.0])["map"] == 1.0
    assert values([0, 1], [-1e300, 1e300])["map"] == 1.0


@pytest.mark.parametrize("metric", [MAP11, MAP], ids=lambda metric: metric.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_draw_is_the_value_of_the_instances_it_holds(metric, seed):
    rng = np.random.default_rng(seed)
    labels, confidences = sample(seed, instances=25)
    drawn = rng.integers(0, 25, (6, 25))
    weights = np.stack([np.bincount(draw, minlength=25) for draw in drawn]).astype(float)
    found = metric.drawn(table(labels, confidences), weights)
    wanted = [metric.of(table(labels[draw], confidences[draw])) for draw in drawn]
    assert found == pytest.approx(np.array(wanted), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_draws_agree_with_scikit_learns_sample_weights(seed):
    labels, confidences = sample(seed, classes=1)
    weights = np.random.default_rng(seed).integers(0, 4, (5, len(labels))).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [average_precision_score(labels[:, 0], confidences[:, 0], sample_weight=draw) for draw in weights]
    assert AP.drawn(table(labels, confidences), weights) == pytest.approx(np.array(wanted), abs=1e-12)


def test_a_draw_without_positives_of_a_class_leaves_that_class_out_and_is_counted():
    labels = np.array([[1, 0], [0, 1], [0, 0], [0, 1]], bool)
    confidences = np.array([[4, 1], [3, 2], [2, 3], [1, 4]], float)
    weights = np.array([[0.0, 2, 1, 1], [1, 1, 1, 1], [0, 0, 4, 0]])
    found = MAP.drawn(table(labels, confidences), weights)
    assert found[0] == pytest.approx(average_precision_score(labels[:, 1], confidences[:, 1], sample_weight=weights[0]))
    assert np.isnan(found[2])
    assert draws_without_positives(table(labels, confidences), weights).tolist() == [2, 1]


def test_confidences_of_nobody_are_undefined():
    assert np.isnan(values(np.empty((0, 3)), np.empty((0, 3)))["map11"])
