"""The linear pass and the pairwise sweep: parts merge, workers and precisions agree, memory stays small."""

import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.labelled_features import clouds, distances

from basanite.errors import FeaturesError
from basanite.representation.backends.blas import Blas
from basanite.representation.measures import pairs
from basanite.representation.measures.all_measures import LINEAR, Options, linear_values, measure
from basanite.representation.measures.results import Classes
from basanite.representation.measures.sums import LinearPass, linear_pass, radii, total
from basanite.representation.measures.sweep import pairwise_sweep


class Counted:
    """Features that count how often each row is read."""

    def __init__(self, features):
        self.features, self.shape = features, features.shape
        self.reads = np.zeros(len(features), int)

    def __getitem__(self, rows):
        self.reads[rows] += 1
        return self.features[rows]


def brute(features, labels):
    """All that a sweep leaves, from the whole matrix of distances."""
    away, same = distances(features), labels[:, None] == labels
    names = sorted(set(labels.tolist()))
    means = np.array([away[:, labels == name].mean(axis=1) for name in names]).T
    own = np.searchsorted(names, labels)
    means[np.arange(len(labels)), own] = np.inf
    return {
        "own": np.where(same, away, 0).sum(axis=1),
        "rival_mean": means.min(axis=1),
        "within": away[same].sum() / 2,
        "between": away[~same].sum() / 2,
        "gap": away[~same].min(),
        "diameter": away[same].max(),
        "squares": (away**2).sum() / 2,
    }


def agree(found, expected, **tolerance):
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, **tolerance), name


@pytest.mark.parametrize("tile", [7, 16, 512])
@pytest.mark.parametrize("classes", [2, 5, 40])
def test_a_sweep_of_any_cut_is_the_whole_matrix(classes, tile, monkeypatch):
    monkeypatch.setattr(pairs, "TILE", tile)
    features, labels = clouds(classes, rows=130, classes=classes)
    expected = brute(features, labels)
    agree(pairwise_sweep(features, labels, precision="float64"), expected, rel=1e-9)
    agree(pairwise_sweep(features, labels), expected, rel=1e-5)


def test_strips_that_do_not_fit_in_memory_give_the_same(monkeypatch):
    features, labels = clouds(1, rows=200, classes=6)
    whole = pairwise_sweep(features, labels, precision="float64")
    monkeypatch.setattr(pairs, "TILE", 16)
    for size in (1 << 13, 1 << 10):
        monkeypatch.setattr(pairs, "STRIP_BYTES", size)
        found = pairwise_sweep(features, labels, precision="float64")
        agree(found, {name: getattr(whole, name) for name in ("own", "rival_mean", "between", "gap")}, rel=1e-12)
        assert found.rival.tolist() == whole.rival.tolist()


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor], ids=["threads", "processes"])
def test_workers_of_any_kind_agree_with_one_process(pool, monkeypatch):
    monkeypatch.setattr(pairs, "TILE", 32)
    features, labels = clouds(2, rows=300, classes=9)
    alone = measure(features, labels, options=Options(precision="float64")).values
    with pool(2) as executor:
        together = measure(features, labels, options=Options(precision="float64"), backend=Blas(executor)).values
    for name, found in alone.items():
        assert together[name].value == pytest.approx(found.value, rel=1e-12), name


def test_dunn_is_exact_in_float32_where_a_tile_would_lose_it():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 4
    features = 100 * rng.normal(size=(4, 50))[labels] + rng.normal(size=(400, 50))
    features[1] = features[0] + 1e-6 * rng.normal(size=50)
    expected = brute(features, labels)
    found = pairwise_sweep(features, labels, precision="float32")
    assert found.gap == pytest.approx(expected["gap"], rel=1e-12)
    assert found.diameter == pytest.approx(expected["diameter"], rel=1e-12)
    assert found.own == pytest.approx(expected["own"], rel=1e-5)


def test_many_equal_distances_are_no_trouble():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 150)
    features = rng.integers(0, 3, (150, 3)).astype(np.float32)
    agree(pairwise_sweep(features, labels), brute(features.astype(float), labels), rel=1e-5, abs=1e-9)


def test_all_linear_measures_read_each_row_once_and_davies_bouldin_once_more():
    features, labels = clouds(3)
    counted = Counted(features)
    linear_pass(counted, labels)
    assert counted.reads.max() == 2  # the pilot mean looks at some rows before
    assert (counted.reads == 1).sum() >= len(labels) - pairs.TILE
    counted.reads[:] = 0
    measure(counted, labels, names=LINEAR)
    assert counted.reads.max() <= 3


def test_all_measures_of_pairs_come_from_one_sweep():
    features, labels = clouds(4, rows=150)
    counted = Counted(features)
    measure(counted, labels, names=["silhouette", "dunn", "point_biserial"])
    three = counted.reads.sum()
    counted.reads[:] = 0
    measure(counted, labels, names=["silhouette"])
    assert counted.reads.sum() == three


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1000), st.lists(st.integers(1, 99), max_size=4, unique=True))
def test_batches_shards_and_the_whole_are_one_state(seed, cuts):
    features, labels = clouds(seed, rows=100)
    parts = list(np.split(np.arange(100), sorted(cuts)))
    whole = linear_pass(features, labels)
    stream = LinearPass()
    for part in parts:
        stream.add(features[part], labels[part])
    shards = LinearPass(), LinearPass()
    for place, part in enumerate(parts):
        shards[place % 2].add(features[part] + 0.0, labels[part])
    states = [stream.sums(), total(shard.sums() for shard in shards if shard._seen)]
    for state in states:
        second = radii(features, labels, state)
        found = linear_values(state, second, Options())
        for name, value in linear_values(whole, radii(features, labels, whole), Options()).items():
            assert found[name].value == pytest.approx(value.value, rel=1e-9), name


def test_shift_levels_add_rows_to_a_state_without_reading_the_old_ones():
    features, labels = clouds(5)
    base, more = np.arange(80), np.arange(80, 120)
    level = linear_pass(features[base], labels[base]) + linear_pass(features[more], labels[more])
    again = linear_pass(features, labels)
    assert level.unit == pytest.approx(again.in_order(level.names).unit)
    assert level.squares == pytest.approx(again.about(level.shift).squares)
    assert level.rows == 120


def test_states_of_different_dimensions_do_not_add():
    with pytest.raises(FeaturesError, match="3 and of 4 dimensions"):
        linear_pass(np.ones((2, 3)), [0, 1]) + linear_pass(np.ones((2, 4)), [0, 1])


def test_a_stream_names_a_bad_row_by_its_place_in_the_whole():
    stream = LinearPass()
    stream.add(np.ones((5, 2)), [0] * 5)
    stream.add(np.ones((0, 2)), [])
    with pytest.raises(FeaturesError, match="row 7 "):
        stream.add(np.array([[1, 1], [1, 1], [np.nan, 1]]), [0, 1, 1])
    with pytest.raises(FeaturesError, match="1 labels for 2 rows"):
        stream.add(np.ones((2, 2)), [0])
    with pytest.raises(FeaturesError, match="No row"):
        LinearPass().sums()


def test_memory_of_the_sweep_does_not_grow_with_the_square_of_the_rows():
    def peak(rows):
        features, labels = clouds(6, rows=rows, dimensions=4, classes=8)
        features = features.astype(np.float32)
        tracemalloc.start()
        pairwise_sweep(features, labels)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = peak(1500), peak(4500)
    assert large < small + 3000 * 1000  # a full matrix would need 72 MB more


def test_classes_of_some_rows_drop_those_that_are_gone():
    classes = Classes.of(["a", "b", "c", "b"]).subset(np.array([1, 2, 3]))
    assert classes.names == ("b", "c")
    assert classes.counts.tolist() == [2, 1]
