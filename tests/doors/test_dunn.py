"""`basanite measure run`: Dunn's index is that of all distances one by one, also where classes collapse or repeat."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score
from tests.doors.features import measured

TABLES = 24
KINDS = ("plain", "collapsed", "nearly collapsed", "repeated", "far away", "two scales", "float32")
SCALES = (1.0, 1e-100, 1e15, 1e100)
WAYS = (("--set", "precision=float32"), ("--set", "precision=float64"), ("--backend", "torch"))


def by_all_distances(features, labels):
    """Dunn by its definition: every distance from differences, scaled so that no square is lost."""
    away = np.abs(features[:, None].astype(np.float64) - features[None])
    largest = away.max(axis=2)
    roots = np.sqrt(((away / np.where(largest > 0, largest, 1)[..., None]) ** 2).sum(axis=2)) * largest
    same = labels[:, None] == labels
    gap, diameter = roots[~same].min(), roots[same].max()
    return gap / diameter if diameter > 0 else (np.inf if gap > 0 else None)


def table(seed, kind):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    rows, dimensions = int(rng.integers(3, 40)), int(rng.integers(1, 5))
    classes = int(rng.integers(2, min(rows, 6) + 1))
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    features = rng.random((rows, dimensions))
    if "collapsed" in kind or kind == "float32":
        features = features[labels]
    return labels, {
        "nearly collapsed": features + 1e-9 * rng.random(features.shape),
        "repeated": np.round(3 * features) / 3,
        "far away": features + 1e6,
        "two scales": np.where(labels[:, None] == 0, features, 1e-9 * features),
        "float32": (features + 1e-4 * rng.integers(0, 2, features.shape)).astype(np.float32),
    }.get(kind, features)


def dunn(folder, *words, features, labels):
    found = measured(folder, "--metric", "dunn", "--draws", "0", *words, features=features, labels=labels)
    value = found["values"]["dunn"]
    return np.inf if "infinite" in value["flags"] else value["value"]


@pytest.mark.req("F-27")
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_two_rows_nearly_alike_are_a_class_of_their_own_small_size(way, tmp_path):
    if "torch" in way:
        pytest.importorskip("torch")
    features, labels = np.array([[0.9], [0.9 + 1e-9], [0.07]]), np.array([0, 0, 1])
    assert dunn(tmp_path, *way, features=features, labels=labels) == pytest.approx(8.3e8, rel=1e-6)


@pytest.mark.few(7)
@pytest.mark.req("F-27")
@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize("kind", KINDS)
def test_dunn_is_exact_for_collapsed_repeated_and_scaled_classes(kind, way, tmp_path):
    if "torch" in way:
        pytest.importorskip("torch")
    for seed in range(TABLES):
        labels, features = table(seed, kind)
        if kind != "float32":
            features = features * SCALES[seed % len(SCALES)]
        found = dunn(tmp_path, *way, features=features, labels=labels)
        assert found == pytest.approx(by_all_distances(features, labels), rel=1e-9), seed


@pytest.mark.req("F-27")
def test_classes_that_fill_several_tiles_stay_exact_when_they_collapse(tmp_path):
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 700)
    centres = rng.random((2, 6))
    assert dunn(tmp_path, features=centres[labels], labels=labels) == np.inf
    nearly = centres[labels] + 1e-10 * rng.random((1400, 6))
    assert dunn(tmp_path, features=nearly, labels=labels) == pytest.approx(by_all_distances(nearly, labels), rel=1e-9)


@pytest.mark.req("F-27")
def test_the_silhouette_of_classes_much_closer_than_the_rest_keeps_its_digits(tmp_path):
    rng = np.random.default_rng(5)
    labels = np.repeat([0, 1, 2], 12)
    features = np.where(labels[:, None] == 2, 1.0, 1e-9 * (labels[:, None] + rng.random((36, 3))))
    found = measured(tmp_path, "--metric", "silhouette", "--draws", "0", features=features, labels=labels)
    away = np.linalg.norm(features[:, None] - features, axis=2)
    assert found["values"]["silhouette"]["value"] == pytest.approx(silhouette_score(away, labels, metric="precomputed"))


@pytest.mark.req("F-27")
def test_intervals_of_nearly_collapsed_classes_are_as_narrow_as_those_of_the_same_noise_enlarged(tmp_path):
    rng = np.random.default_rng(6)
    labels = np.arange(60) % 4
    centres, noise = rng.random((4, 3)), rng.random((60, 3))
    shown = []
    for size in (1e-9, 1e-3):
        found = measured(tmp_path, "--draws", "100", features=centres[labels] + size * noise, labels=labels)["values"]
        shown.append({name: found[name] for name in ("calinski_harabasz", "davies_bouldin", "dunn")})
    for name, tiny in shown[0].items():
        plain = shown[1][name]
        for end in ("low", "high"):
            assert tiny[end] / tiny["value"] == pytest.approx(plain[end] / plain["value"], rel=0.02), (name, end)
