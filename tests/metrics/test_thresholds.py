"""Curves, maxima, oracle and areas: against brute force, against scikit-learn, and with nothing lost on the way."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from tests.metrics.detections import block, exactly, tables

from basanite.metrics.retrieval.query_value import AQWV, rates
from basanite.metrics.retrieval.thresholds import (
    AUC,
    AUC_POOLED,
    GRID,
    MQWV,
    ORACLE,
    SCALE,
    THETA_BEST,
    Histogram,
    PackedScores,
    Pool,
    Ranked,
    RankedStore,
    areas,
    best_threshold,
    crossfit_rates,
    grid_rates,
    oracle_rates,
    pooled_counts,
    row_at,
    score_grid,
    sweep_of,
    total,
)


def ranked(case):
    return [Ranked.of(truth, score) for truth, score in zip(case[0], case[2], strict=True)]


def histogram(case):
    whole = Histogram()
    for one in ranked(case):
        whole.add(one)
    return whole


def decided_by(case, threshold):
    return block(case[0], case[2] >= threshold, case[2])


def balance(case):
    return len(case[0]) / max(case[0].any(axis=1).sum(), 1)


def thresholds(case):
    return [*np.unique(case[2]), SCALE + 1]


def value(case, threshold, beta):
    return AQWV.bind(beta=beta).of(rates(decided_by(case, threshold)))


@given(tables())
@settings(max_examples=40, deadline=None)
def test_a_row_at_a_threshold_is_the_row_of_the_decisions_that_it_makes(case):
    for threshold in (0, 1, 50_000, SCALE, SCALE + 1):
        rows = np.array([row_at(one, threshold) for one in ranked(case)])
        assert np.array_equal(rows, rates(decided_by(case, threshold)))


@given(tables())
@settings(max_examples=25, deadline=None)
def test_a_histogram_gives_the_sums_of_rows_at_every_threshold(case):
    places = np.array(sorted({0, 1, 2, 49_999, 50_001, *thresholds(case)}), dtype=np.int64)
    found = histogram(case).sums(places)
    for row, threshold in zip(found, places, strict=True):
        assert row == pytest.approx(rates(decided_by(case, threshold)).sum(axis=0), abs=1e-12)


@given(tables())
@settings(max_examples=15, deadline=None)
def test_a_sweep_has_every_threshold_that_makes_a_difference_and_one_that_returns_nothing(case):
    sweep = sweep_of(histogram(case))
    assert sweep.thresholds[:-1].tolist() == [score / SCALE for score in thresholds(case)[:-1]]
    assert math.isinf(sweep.thresholds[-1])
    assert sweep.sums[-1, sweep.columns.index("pfa")] == 0


@given(tables(), st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_histograms_of_parts_add_up_to_that_of_the_whole(case, parts):
    pieces = [Histogram() for _ in range(parts)]
    for at, one in enumerate(ranked(case)):
        pieces[at % parts].add(one)
    places = np.array(thresholds(case), dtype=np.int64)
    assert total(pieces).sums(places) == pytest.approx(histogram(case).sums(places), abs=1e-12)


@given(tables(), st.sampled_from([0.0, 0.5, 1.0, 20.0]))
@settings(max_examples=80, deadline=None)
def test_maxima_oracle_and_areas_are_those_of_brute_force(case, beta):
    detections, wanted = block(*case), exactly(*case, beta=beta)
    whole = histogram(case)
    best = best_threshold(whole, beta=beta)
    grid = score_grid(np.sort(case[2][case[0]]), GRID, best)
    curves = grid_rates(detections, grid=grid)
    pool = Pool()
    for one in ranked(case):
        pool.add(one)
    found = {
        "mqwv": MQWV.bind(beta=beta, grid=grid).of(curves),
        "oracle": ORACLE.bind(beta=beta).of(oracle_rates(detections, beta=beta, balance=balance(case))),
        "auc": AUC.of(areas(detections)),
        "auc_pooled": pool.area(),
    }
    assert {
        name: pytest.approx(wanted[name], abs=1e-12, nan_ok=True) == found[name] for name in found
    } == dict.fromkeys(found, True)
    theta = THETA_BEST.bind(beta=beta, grid=grid).of(curves)
    if case[0].any():
        assert theta == (wanted["theta_best"] if not math.isnan(wanted["theta_best"]) else math.inf)
        assert theta == (best / SCALE if best <= SCALE else math.inf)
    else:
        assert math.isnan(theta)
        assert best == SCALE + 1


def test_equal_scores_count_half():
    assert Ranked.of(np.array([True, False]), np.array([5, 5], np.int32)).area() == (0.5, 1.0)
    assert Ranked.of(np.array([True, False, False]), np.array([5, 5, 1], np.int32)).area() == (0.75, 1.0)
    assert Ranked.of(np.array([True, True]), np.array([5, 5], np.int32)).area() == (0.0, 0.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 30, 100_000]))
@settings(max_examples=20, deadline=None)
def test_areas_are_those_of_scikit_learn(seed, distinct):
    rng = np.random.default_rng(seed)
    relevant = rng.random((4, 60)) < 0.3
    relevant[:, 0], relevant[:, 1] = True, False
    score = rng.integers(0, distinct + 1, relevant.shape).astype(np.int32)
    wanted = [roc_auc_score(truth, scores) for truth, scores in zip(relevant, score, strict=True)]
    detections = block(relevant, relevant, score)
    assert AUC.of(areas(detections)) == pytest.approx(np.mean(wanted), abs=1e-12)
    pool = Pool()
    for one in ranked((relevant, relevant, score)):
        pool.add(one)
    assert pool.area() == pytest.approx(roc_auc_score(relevant.ravel(), score.ravel()), abs=1e-12)
    grid = score_grid(np.unique(score), 10_000)
    on_grid = AUC_POOLED.bind(grid=grid, shift=0.0).of(pooled_counts(detections, grid=grid))
    assert on_grid == pytest.approx(pool.area(), abs=1e-12), "a grid of all scores loses nothing"


@given(tables().filter(lambda case: case[0].any()), st.sampled_from([0.0, 0.5, 1.0, 20.0]))
@settings(max_examples=40, deadline=None)
def test_oracle_is_at_least_mqwv_and_mqwv_at_least_the_value_of_any_one_threshold(case, beta):
    best = best_threshold(histogram(case), beta=beta)
    most = value(case, best, beta)
    own = ORACLE.bind(beta=beta).of(oracle_rates(block(*case), beta=beta, balance=balance(case)))
    assert own >= most - 1e-12
    values = {threshold: value(case, threshold, beta) for threshold in thresholds(case)}
    assert max(values.values()) <= most + 1e-12
    assert best == max(t for t, found in values.items() if found >= most - 1e-12), "of equal thresholds the largest"


@given(tables())
@settings(max_examples=20, deadline=None)
def test_rows_at_other_queries_thresholds_are_rows_of_decisions(case):
    chosen = [float(at % 3 * 40_000) for at in range(len(case[0]))]
    found = crossfit_rates(block(*case), thresholds=chosen)
    for at, threshold in enumerate(chosen):
        alone = tuple(part[at : at + 1] for part in case)
        assert np.array_equal(found[at : at + 1], rates(decided_by(alone, threshold)))


def test_the_store_keeps_every_score_there_can_be():
    store = RankedStore()
    everything = np.arange(SCALE + 1, dtype=np.int32)
    store.add("all", PackedScores.of(Ranked(everything[::7], everything)))
    store.add("none", PackedScores.of(Ranked(everything[:0], everything[:0])))
    store.add("odd", PackedScores.of(Ranked(everything[:0], everything[99_999:])))
    assert np.array_equal(store[0].other, everything)
    assert np.array_equal(store[0].relevant, everything[::7])
    assert store[0].other.dtype == np.int32
    assert [len(store[1].other), store[2].other.tolist()] == [0, [99_999, 100_000]]
    assert np.array_equal(store.relevant_scores(), everything[::7])
    assert (len(store), store.units) == (3, ["all", "none", "odd"])
    store.clear()
    assert len(store) == 0


@given(st.lists(st.integers(0, SCALE), max_size=3000), st.integers(5, 50), st.integers(0, SCALE + 1))
@settings(max_examples=30, deadline=None)
def test_a_grid_is_small_rises_and_has_what_was_asked_for(scores, most, also):
    grid = score_grid(np.sort(np.array(scores, dtype=np.int32)), most, also)
    assert len(grid) <= most
    assert (np.diff(grid) > 0).all()
    assert {also, SCALE + 1} <= set(grid.tolist()) <= {*scores, also, SCALE + 1}
    if len(set(scores)) <= most - 2:
        assert set(scores) <= set(grid.tolist())


def test_detections_without_scores_have_no_areas():
    detections = block([[1, 0]], [[1, 0]], [[1, 0]])
    bare = type(detections)(detections.units, detections.relevant, detections.returned)
    with pytest.raises(ValueError, match="no scores"):
        areas(bare)
