"""Clustering measures against scikit-learn, SciPy, permetrics and sums over pairs; edge cases as ruled."""

import numpy as np
import pytest
from hypothesis import given, settings
from permetrics import ClusteringMetric
from scipy.stats import pearsonr
from sklearn import metrics as peers
from tests.metrics.labelled_features import clouds, distances, labelled

from basanite.errors import FeaturesError, SettingError
from basanite.representation.measures import cluster_measures as clustering
from basanite.representation.measures.all_measures import Options, Source, measure
from basanite.representation.measures.results import COINCIDENT, SINGLETONS

SEEDS = (0, 1, 2)
PLAIN = ("davies_bouldin", "calinski_harabasz", "rs", "c_root_k")


def case(seed):
    return clouds(seed, positive=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_three_that_scikit_learn_has_are_the_same(seed):
    features, labels = case(seed)
    assert clustering.silhouette(features, labels).value == pytest.approx(peers.silhouette_score(features, labels))
    each = clustering.silhouette_samples(features, labels)
    assert each == pytest.approx(peers.silhouette_samples(features, labels))
    ours = clustering.davies_bouldin(features, labels).value
    assert ours == pytest.approx(peers.davies_bouldin_score(features, labels), rel=1e-9)
    ours = clustering.calinski_harabasz(features, labels).value
    assert ours == pytest.approx(peers.calinski_harabasz_score(features, labels))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("metric", ["cosine", "sqeuclidean"])
def test_silhouettes_by_class_means_are_those_by_pairs(metric, seed):
    features, labels = case(seed)
    ours = clustering.silhouette_samples(features, labels, metric=metric)
    assert ours == pytest.approx(peers.silhouette_samples(features, labels, metric=metric), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_dunn_and_rs_are_those_of_permetrics(seed):
    features, labels = case(seed)
    peer = ClusteringMetric(X=features, y_pred=labels)
    assert clustering.dunn(features, labels).value == pytest.approx(peer.dunn_index(use_modified=False), rel=1e-12)
    ours = clustering.dunn(features, labels, definition="point_centroid").value
    assert ours == pytest.approx(peer.dunn_index(), rel=1e-9)
    assert clustering.rs(features, labels).value == pytest.approx(peer.r_squared_index(), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_point_biserial_is_the_correlation_over_all_pairs(seed):
    features, labels = case(seed)
    pairs = np.triu_indices(len(labels), 1)
    apart, away = (labels[:, None] != labels)[pairs], distances(features)[pairs]
    expected = pearsonr(away, apart).statistic
    assert clustering.point_biserial(features, labels).value == pytest.approx(expected, abs=1e-12)
    shrink = np.sqrt((len(away) - 1) / len(away))
    ours = clustering.point_biserial(features, labels, definition="nbclust").value
    assert ours == pytest.approx(expected * shrink, abs=1e-12)
    share = apart.mean()
    plain = (away[~apart].mean() - away[apart].mean()) * np.sqrt(share * (1 - share))
    assert clustering.point_biserial(features, labels, definition="clustercrit").value == pytest.approx(plain)


@settings(deadline=None, max_examples=40)
@given(labelled(positive=False))
def test_measures_are_their_definitions(case):
    features, labels = case
    names = sorted(set(labels.tolist()))
    centroids = np.array([features[labels == name].mean(axis=0) for name in names])
    counts = np.array([(labels == name).sum() for name in names])
    total = ((features - features.mean(axis=0)) ** 2).sum(axis=0)
    between = (counts[:, None] * (centroids - features.mean(axis=0)) ** 2).sum(axis=0)
    roots = np.sqrt(between / total)
    found = measure(features, labels, options=Options(precision="float64")).values
    assert found["rs"].value == pytest.approx(between.sum() / total.sum())
    assert found["c_root_k"].value == pytest.approx(roots.mean() / np.sqrt(len(names)))
    same, away = labels[:, None] == labels, distances(features)
    assert found["dunn"].value == pytest.approx(away[~same].min() / away[same].max(), rel=1e-12)
    for q in (1, 2):
        sizes = np.array(
            [
                np.mean(np.linalg.norm(features[labels == name] - centre, axis=1) ** q) ** (1 / q)
                for name, centre in zip(names, centroids, strict=True)
            ]
        )
        apart = distances(centroids) + np.where(np.eye(len(names)), np.inf, 0)
        worst = ((sizes[:, None] + sizes) / apart).max(axis=1).mean()
        assert clustering.davies_bouldin(features, labels, q=q).value == pytest.approx(worst, rel=1e-9)


def test_rivals_of_dunn_and_c_root_k_are_named_options():
    features, labels = case(3)
    centroids = np.array([features[labels == name].mean(axis=0) for name in range(5)])
    nearest = distances(centroids)[np.triu_indices(5, 1)].min()
    radius = np.linalg.norm(features - centroids[labels], axis=1).max()
    diameter = distances(features)[labels[:, None] == labels].max()
    assert clustering.dunn(features, labels, definition="centroids").value == pytest.approx(nearest / radius)
    ours = clustering.dunn(features, labels, definition="centroid_diameter").value
    assert ours == pytest.approx(nearest / diameter)
    of_roots, root = (clustering.c_root_k(features, labels, mean=mean).value for mean in ("of_roots", "root_of_mean"))
    assert root > of_roots  # the root of a mean is no less than the mean of roots


def test_macro_silhouette_is_the_mean_of_class_means():
    features, labels = case(4)
    each = peers.silhouette_samples(features, labels)
    expected = np.mean([each[labels == name].mean() for name in range(5)])
    assert clustering.silhouette(features, labels, average="macro").value == pytest.approx(expected)


def test_dead_features_change_nothing_unless_asked():
    features, labels = case(5)
    dead = np.concatenate([features, np.full((len(labels), 3), 7e4)], axis=1)
    value = clustering.c_root_k(features, labels).value
    assert clustering.c_root_k(dead, labels).value == pytest.approx(value)
    assert clustering.c_root_k(dead, labels).parts["constant_features"] == 3
    assert clustering.c_root_k(dead, labels, constants="zero").value == pytest.approx(value * 6 / 9)
    assert np.isnan(clustering.c_root_k(dead, labels, constants="nan").value)


def test_classes_without_scatter_give_infinity_and_data_without_any_are_undefined():
    collapsed = np.repeat(np.array([[0.1, 0.7], [1.3, 0.2], [5.1, 5.7]]), 4, axis=0)
    labels = np.repeat(np.arange(3), 4)
    assert clustering.calinski_harabasz(collapsed, labels).value == np.inf
    assert clustering.dunn(collapsed, labels).value == np.inf
    assert clustering.rs(collapsed, labels).value == pytest.approx(1)
    same = np.ones((6, 2))
    for name in ("calinski_harabasz", "rs", "c_root_k", "dunn", "point_biserial"):
        assert np.isnan(getattr(clustering, name)(same, [0, 0, 0, 1, 1, 1]).value), name
    assert clustering.silhouette(same, [0, 0, 0, 1, 1, 1]).value == 0


def test_coincident_centroids_make_davies_bouldin_infinite_unless_dropped_as_scikit_learn_does():
    features = np.array([[-1.0, 0], [1, 0], [0, -2], [0, 2], [9, 9], [9, 10]])
    labels = [0, 0, 1, 1, 2, 2]
    found = clustering.davies_bouldin(features, labels)
    assert found.value == np.inf
    assert COINCIDENT in found.flags
    dropped = clustering.davies_bouldin(features, labels, coincident="drop").value
    assert dropped == pytest.approx(peers.davies_bouldin_score(features, labels))


def test_single_rows_have_silhouette_0_and_all_single_rows_have_none():
    features, labels = case(6)
    labels[11] = 77
    found = clustering.silhouette(features, labels)
    assert found.value == pytest.approx(peers.silhouette_score(features, labels))
    assert SINGLETONS in found.flags
    assert np.isnan(clustering.silhouette(features, np.arange(len(labels))).value)
    assert np.isnan(clustering.calinski_harabasz(features, np.arange(len(labels))).value)
    assert np.isnan(clustering.point_biserial(features, np.arange(len(labels))).value)


def test_features_far_from_zero_lose_nothing():
    features, labels = case(7)
    for name in PLAIN:
        here, there = (getattr(clustering, name)(rows, labels).value for rows in (features, features + 1e6))
        assert there == pytest.approx(here, rel=1e-7), name


def test_tiny_scatter_inside_classes_is_not_lost_in_a_difference():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    features = rng.normal(size=(3, 4))[labels] + 1e-7 * rng.normal(size=(60, 4))
    ours = clustering.calinski_harabasz(features, labels).value
    assert ours == pytest.approx(peers.calinski_harabasz_score(features, labels), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-120, 1e-30, 1e30, 1e120])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_scale_of_all_features_changes_no_value(precision, scale):
    features, labels = case(10)
    options = Options(precision=precision)
    here, there = (measure(rows, labels, options=options).values for rows in (features, features * scale))
    for name, found in here.items():
        assert there[name].value == pytest.approx(found.value, rel=1e-5), name


@pytest.mark.parametrize("scale", [1e-200, 1e160, 1e200])
def test_features_whose_squares_are_lost_are_refused_with_the_cure_but_have_their_ferm(scale):
    features, labels = clouds(11)
    assert measure(features * scale, labels, names=["ferm1"]).values["ferm1"].value == pytest.approx(
        measure(features, labels, names=["ferm1"]).values["ferm1"].value
    )
    for name in ("rs", "silhouette", "h_score", "davies_bouldin"):
        with pytest.raises(FeaturesError, match="Multiply all"):
            measure(features * scale, labels, names=[name])


def test_the_worst_rows_by_silhouette_come_first():
    features, labels = case(8)
    found = measure(features, labels).with_samples(features)
    each = peers.silhouette_samples(features, labels)
    assert found.samples.silhouette == pytest.approx(each, abs=1e-6)
    assert found.samples.worst(1)[0] == each.argmin()


def test_asking_for_what_the_data_do_not_hold_is_answered_in_words():
    features, labels = case(9)
    with pytest.raises(SettingError, match="leep"):
        measure(features, labels, names=["leep"])
    assert set(measure(features, labels, names=["rs", "ferm1"]).values) == {"rs", "ferm1"}
    with pytest.raises(FeaturesError, match="q must be 1"):
        clustering.davies_bouldin(features, labels, q=3)


def test_everything_is_measured_at_once_and_as_one_by_one():
    features, labels = clouds(10)
    theta = np.random.default_rng(0).dirichlet(np.ones(4), len(labels))
    source = Source(probabilities=theta, features=features[:50], labels=labels[:50])
    found = measure(features, labels, source=source, options=Options(precision="float64")).values
    assert len(found) == 17
    for name in ("silhouette", "dunn", "point_biserial", *PLAIN):
        assert found[name].value == pytest.approx(getattr(clustering, name)(features, labels).value, rel=1e-9)
