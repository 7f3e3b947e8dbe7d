"""LEEP, H-score and OTCE against their definitions, scikit-learn's shrinkage and POT's plans."""

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf
from tests.metrics.labelled_features import clouds

from basanite.errors import FeaturesError
from basanite.representation.measures.resamples import subsamples
from basanite.representation.measures.results import FEW_ROWS, SUBSAMPLED, Classes
from basanite.representation.measures.transfer import Transport, h_score, leep, otce


def plain_leep(theta, labels):
    """LEEP with its full table and loops."""
    joint = np.array([theta[labels == name].sum(axis=0) for name in range(labels.max() + 1)]) / len(labels)
    given = joint / joint.sum(axis=0)
    return np.mean([np.log((given[label] * row).sum()) for row, label in zip(theta, labels, strict=True)])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_leep_is_its_definition_and_never_positive(seed):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([[0, 1, 2], rng.integers(0, 3, 20)])
    theta = rng.dirichlet(np.full(5, 0.3), len(labels))
    found = leep(source_probabilities=theta, labels=labels)
    assert found.value == pytest.approx(plain_leep(theta, labels))
    assert found.value <= 0
    shares = np.bincount(labels) / len(labels)
    assert found.parts["above_constant"] == pytest.approx(found.value - (shares * np.log(shares)).sum())


def test_leep_of_a_constant_head_is_minus_the_entropy_and_of_a_perfect_one_0():
    labels = np.array([0] * 10 + [1] * 30)
    assert leep(source_probabilities=np.full((40, 3), 1 / 3), labels=labels).parts["above_constant"] == pytest.approx(0)
    assert leep(source_probabilities=np.eye(2)[labels], labels=labels).value == pytest.approx(0)


def test_source_classes_that_nobody_predicts_are_left_out_of_leep():
    labels = np.array([0, 1] * 10)
    theta = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    wide = np.concatenate([theta, np.zeros((20, 2))], axis=1)
    value = leep(source_probabilities=theta, labels=labels).value
    assert leep(source_probabilities=wide, labels=labels).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("theta", "says"),
    [
        (np.full((4, 2), 0.7), "sum to 1"),
        (np.array([[1.5, -0.5]] * 4), "negative"),
        (np.full((4, 2), np.nan), "nan or infinite"),
        (np.ones(4), "table"),
    ],
    ids=["sum", "negative", "nan", "flat"],
)
def test_what_are_no_probabilities_is_refused(theta, says):
    with pytest.raises(FeaturesError, match=says):
        leep(source_probabilities=theta, labels=[0, 0, 1, 1])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_h_score_is_the_trace_and_its_shrunk_form_uses_the_covariance_of_ledoit_and_wolf(seed):
    features, labels = clouds(seed, rows=200, dimensions=8)
    means = np.array([features[labels == name].mean(axis=0) for name in range(5)])[labels]
    plain = np.trace(np.linalg.pinv(np.cov(features.T)) @ np.cov(means.T))
    found = h_score(features, labels)
    assert found.value == pytest.approx(plain)
    assert found.parts["per_class"] == pytest.approx(plain / 4)
    assert 0 <= found.value <= 4
    covariance, share = ledoit_wolf(features)
    shrunk = (1 - share) * np.trace(np.linalg.inv(covariance) @ np.cov(means.T, bias=True))
    assert h_score(features, labels, shrunk=True).value == pytest.approx(shrunk)


def test_with_too_few_rows_h_score_is_k_minus_1_whatever_the_features_and_says_so():
    features = np.random.default_rng(0).normal(size=(30, 60))
    labels = np.arange(30) % 6
    found = h_score(features, labels)
    assert found.value == pytest.approx(5)
    assert FEW_ROWS in found.flags
    assert FEW_ROWS not in h_score(features[:, :5], labels).flags
    assert h_score(features, labels, shrunk=True).value < 4


def test_h_score_with_dead_and_repeated_features_is_that_without_them():
    features, labels = clouds(3, rows=100, dimensions=4)
    more = np.concatenate([features, features[:, :1], np.full((100, 1), 3.0)], axis=1)
    assert h_score(more, labels).value == pytest.approx(h_score(features, labels).value)
    assert h_score(more, labels).parts["rank"] == 4
    assert np.isnan(h_score(np.ones((6, 2)), [0, 0, 0, 1, 1, 1]).value)


def transport(seed, sources, targets):
    rng = np.random.default_rng(seed)
    return {
        "source_features": rng.normal(size=(sources, 3)),
        "source_labels": rng.integers(0, 3, sources),
        "target_features": rng.normal(size=(targets, 3)) + 0.5,
        "target_labels": rng.integers(0, 4, targets),
    }


@pytest.mark.parametrize(("sources", "targets"), [(50, 50), (30, 45)], ids=["equal", "unequal"])
def test_otce_is_that_of_an_exact_plan(sources, targets):
    given = transport(1, sources, targets)
    cost = ot.dist(given["source_features"], given["target_features"])
    plan = ot.emd(ot.unif(sources), ot.unif(targets), cost)
    table = np.zeros((3, 4))
    for row in range(sources):
        np.add.at(table[given["source_labels"][row]], given["target_labels"], plan[row])
    uncertain = -np.nansum(table * np.log(np.where(table > 0, table, 1) / table.sum(axis=1, keepdims=True)))
    found = otce(**given, factors=(2.0, -3.0, 0.5))
    assert found.wd.value == pytest.approx((plan * cost).sum())
    assert found.wt.value == pytest.approx(uncertain, abs=1e-9)
    assert found.nce.value == -found.wt.value
    assert found.score.value == pytest.approx(2 * found.wd.value - 3 * found.wt.value + 0.5)
    assert otce(**given).score is None


def test_the_entropic_plan_is_that_of_sinkhorn():
    given = transport(2, 30, 40)
    cost = ot.dist(given["source_features"], given["target_features"])
    strength = 0.2 * cost.mean()
    plan = ot.sinkhorn(ot.unif(30), ot.unif(40), cost, strength, method="sinkhorn_log", stopThr=1e-12, numItermax=9999)
    found = otce(**given, transport=Transport(plan="entropic", regularisation=0.2))
    assert found.wd.value == pytest.approx((plan * cost).sum(), rel=1e-6)


def test_otce_draws_rows_by_seed_and_says_so():
    given = transport(3, 400, 500)
    first, again, other = (otce(**given, transport=Transport(60, seed)) for seed in (1, 1, 2))
    assert first.wd == again.wd
    assert first.wd.value != other.wd.value
    assert SUBSAMPLED in first.wd.flags
    assert first.wd.parts == {"source_rows": 60, "target_rows": 60}
    whole = otce(**given, transport=Transport(rows=10_000))
    assert whole.wd.parts["source_rows"] == 400  # unequal and large: cut to equal


def test_otce_refuses_sides_that_do_not_fit():
    given = transport(4, 10, 10)
    with pytest.raises(FeaturesError, match="same number of dimensions"):
        otce(**{**given, "target_features": np.ones((10, 2))})
    with pytest.raises(FeaturesError, match="9 labels for 10 rows"):
        otce(**{**given, "target_labels": [0] * 9})
    with pytest.raises(FeaturesError, match="At least one row"):
        otce(**given, transport=Transport(rows=0))


def test_subsamples_hold_no_row_twice_and_two_rows_of_a_class_at_least():
    classes = Classes.of([0] * 20 + [1] * 3 + [2])
    for rows in subsamples(classes, draws=5, seed=0):
        assert len(set(rows.tolist())) == len(rows)
        assert np.bincount(classes.codes[rows]).tolist() == [10, 2, 1]
    first, again = (next(subsamples(classes, draws=1, seed=4)).tolist() for _ in range(2))
    assert first == again
