"""Draws of representation measures: as if every copy stood in the data, less the pairs of copies."""

import numpy as np
import pytest
from tests.metrics.labelled_features import clouds, cosines, distances

from basanite.analysis.interval_methods import tails_of
from basanite.analysis.intervals import span
from basanite.analysis.resampling import weight_blocks, weights
from basanite.representation.measures import cluster_measures as clustering
from basanite.representation.measures import resamples as linear
from basanite.representation.measures.all_measures import NAMES, measure
from basanite.representation.measures.resamples import linear_draws, pairwise_draws, resampling_of, subsamples
from basanite.representation.measures.results import Classes
from basanite.representation.measures.transfer import h_score, h_score_draws, leep, leep_draws

ALL = ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse", "calinski_harabasz", "rs", "c_root_k", "davies_bouldin")


def copied(weight):
    """The rows of a draw, each as often as it was drawn."""
    return np.repeat(np.arange(len(weight)), weight.astype(int))


def ferm_without_copies(features, labels, rows):
    """FERM 1 and 2 and the gap over all pairs of a draw that are not two copies of one row."""
    cos, own = cosines(features)[np.ix_(rows, rows)], labels[rows]
    real = rows[:, None] != rows
    same = own[:, None] == own
    names = sorted(set(own.tolist()))
    inside = [cos[(own == name)[:, None] & (own == name) & real].mean() for name in names]
    outside = [cos[(own == name)[:, None] & (own != name)].mean() for name in names]
    between = [cos[(own == a)[:, None] & (own == b)].mean() for a in names for b in names if a < b]
    assert not (same & ~real).all()
    mean = np.mean(inside)
    ratio = np.mean([a / b for a, b in zip(inside, outside, strict=True)])
    return {"ferm1": ratio, "ferm2": mean / np.mean(between), "gap": mean - np.mean(between)}


def silhouette_without_copies(features, labels, rows):
    away, own = distances(features)[np.ix_(rows, rows)], labels[rows]
    real = rows[:, None] != rows
    each = []
    for at in range(len(rows)):
        inside = (own == own[at]) & real[at]
        near = min(away[at, own == name].mean() for name in set(own.tolist()) - {own[at]})
        mean = away[at, inside].mean() if inside.any() else np.nan
        each.append((near - mean) / max(near, mean) if inside.any() else 0.0)
    return np.mean(each)


def point_biserial_without_copies(features, labels, rows):
    away = distances(features)[np.ix_(rows, rows)]
    pairs = (rows[:, None] != rows) & np.triu(np.ones(away.shape, bool), 1)
    apart = (labels[rows][:, None] != labels[rows])[pairs]
    return np.corrcoef(away[pairs], apart)[0, 1]


def test_draws_of_ferm_leave_out_pairs_of_copies():
    features, labels = clouds(0, rows=60)
    drawn = weights(60, draws=6, seed=1)
    found = linear_draws(features, labels, [drawn[:2], drawn[2:]])
    for draw, weight in enumerate(drawn):
        for name, value in ferm_without_copies(features, labels, copied(weight)).items():
            assert found[name][draw] == pytest.approx(value), name


def test_draws_of_silhouette_and_point_biserial_leave_out_pairs_of_copies(monkeypatch):
    monkeypatch.setattr("basanite.representation.measures.resamples.TILE", 16)
    features, labels = clouds(1, rows=60)
    drawn = weights(60, draws=5, seed=2)
    found = pairwise_draws(features, labels, [drawn], precision="float64")
    for draw, weight in enumerate(drawn):
        rows = copied(weight)
        assert found["silhouette"][draw] == pytest.approx(silhouette_without_copies(features, labels, rows))
        assert found["point_biserial"][draw] == pytest.approx(point_biserial_without_copies(features, labels, rows))


def test_draws_of_the_other_measures_are_their_values_on_the_rows_drawn():
    features, labels = clouds(2, rows=80)
    theta = np.random.default_rng(0).dirichlet(np.ones(4), 80)
    drawn = weights(80, draws=4, seed=3)
    found = linear_draws(features, labels, [drawn], names=ALL)
    heads, scores = leep_draws(theta, labels, [drawn]), h_score_draws(features, labels, [drawn])
    for draw, weight in enumerate(drawn):
        rows = copied(weight)
        for name in ("calinski_harabasz", "rs", "c_root_k", "davies_bouldin"):
            assert found[name][draw] == pytest.approx(getattr(clustering, name)(features[rows], labels[rows]).value)
        assert heads[draw] == pytest.approx(leep(source_probabilities=theta[rows], labels=labels[rows]).value)
        assert scores[draw] == pytest.approx(h_score(features[rows], labels[rows]).value)


def test_a_draw_of_every_row_once_is_the_estimate():
    features, labels = clouds(3)
    once = np.ones((1, len(labels)))
    estimate = measure(features, labels).values
    found = linear_draws(features, labels, [once], names=ALL) | pairwise_draws(features, labels, [once])
    for name, draws in found.items():
        assert draws[0] == pytest.approx(estimate[name].value, rel=1e-5), name


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("spread", [0.1, 0.5], ids=["tight", "loose"])
def test_no_interval_excludes_its_own_estimate(spread, seed):
    features, labels = clouds(seed, rows=150, classes=4, spread=spread)
    estimate = measure(features, labels).values
    drawn = list(weight_blocks(150, draws=200, seed=seed))
    found = linear_draws(features, labels, drawn) | pairwise_draws(features, labels, drawn)
    for name, draws in found.items():
        interval = span(estimate[name].value, draws, tails_of(0.95))
        assert interval.low <= estimate[name].value <= interval.high
    for name in ("ferm1", "ferm2", "gap", "silhouette", "point_biserial"):
        # with pairs of copies in, draws would be far too similar: the estimate would lie outside of nearly all
        assert 0.02 < np.mean(found[name] < estimate[name].value) < 0.98, name


def test_pairs_of_copies_would_shift_the_interval_away():
    features, labels = clouds(4, rows=40, classes=8)
    estimate = measure(features, labels, names=["gap"]).values["gap"].value
    drawn = weights(40, draws=300, seed=0)
    found = linear_draws(features, labels, [drawn])["gap"]
    naive = [measure(features[copied(one)], labels[copied(one)], names=["gap"]).values["gap"].value for one in drawn]
    assert abs(np.mean(found) - estimate) < 0.3 * abs(np.mean(naive) - estimate)


def test_measures_that_copies_spoil_are_subsampled_and_the_others_drawn():
    kinds = {name: resampling_of(name, rows=500, dimensions=100) for name in NAMES}
    assert {name for name, kind in kinds.items() if kind == "subsampling"} == {"dunn", "otce_wd", "otce_wt"}
    assert resampling_of("h_score", rows=101, dimensions=100) == "subsampling"
    assert resampling_of("h_score", rows=102, dimensions=100) == "bootstrap"


def test_a_subsampled_interval_of_dunn_holds_its_estimate():
    features, labels = clouds(5, rows=100)
    classes = Classes.of(labels)
    estimate = clustering.dunn(features, classes).value
    parts = subsamples(classes, draws=40, seed=0)
    found = np.array([clustering.dunn(features[rows], classes.subset(rows)).value for rows in parts])
    assert found.min() >= estimate * 0.99  # fewer pairs: the gap only grows
    interval = span(estimate, found, tails_of(0.95))
    assert interval.low <= estimate <= interval.high


def test_classes_that_a_draw_misses_leave_it():
    features, labels = clouds(6, rows=30, classes=3)
    weight = np.where(labels == 2, 0.0, 1.0)[None]
    keep = labels != 2
    expected = measure(features[keep], labels[keep]).values
    found = linear_draws(features, labels, [weight], names=ALL) | pairwise_draws(features, labels, [weight])
    for name, draws in found.items():
        assert draws[0] == pytest.approx(expected[name].value, rel=1e-5), name


def test_blocks_of_weights_of_any_size_give_the_same(monkeypatch):
    features, labels = clouds(7, rows=50)
    drawn = weights(50, draws=7, seed=0)
    whole = linear_draws(features, labels, [drawn], names=ALL)
    monkeypatch.setattr(linear, "JOINED", 100)
    parts = linear_draws(features, labels, iter(drawn[:, None]), names=ALL)
    for name, draws in whole.items():
        assert parts[name] == pytest.approx(draws)
