"""Probabilities from confidences: against scikit-learn, and the rule that turns them into decisions by brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from basanite.metrics.retrieval.calibration import (
    CALIBRATIONS,
    isotonic,
    isotonic_calibration,
    least_probability,
    log_odds,
    logistic_calibration,
    query_threshold,
)
from basanite.metrics.retrieval.thresholds import SCALE, Pool, Ranked

few = settings(max_examples=40, deadline=None)
documents = st.lists(st.tuples(st.sampled_from([0, 1, 7, 500, 50_000, 99_999, SCALE]), st.booleans()), min_size=1)


def counted(pairs):
    pool = Pool()
    score, truth = np.array([pair[0] for pair in pairs], np.int32), np.array([pair[1] for pair in pairs])
    pool.add(Ranked.of(truth, score))
    return pool, score, truth


@few
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=30))
def test_isotonic_is_what_scikit_learn_fits(points):
    values, weights = map(np.array, zip(*points, strict=True))
    wanted = (
        IsotonicRegression().fit(np.arange(len(values)), values, sample_weight=weights).predict(np.arange(len(values)))
    )
    assert isotonic(values, weights) == pytest.approx(wanted, abs=1e-9)


@few
@given(documents)
def test_an_isotonic_calibration_is_what_scikit_learn_predicts_from_single_documents(pairs):
    pool, score, truth = counted(pairs)
    peer = IsotonicRegression(out_of_bounds="clip").fit(score.astype(float), truth.astype(float))
    assert isotonic_calibration(pool)[::501] == pytest.approx(peer.predict(np.arange(SCALE + 1.0))[::501], abs=1e-9)


def test_a_logistic_calibration_is_what_scikit_learn_fits_to_platts_targets():
    rng = np.random.default_rng(5)
    score = rng.integers(0, SCALE + 1, 400).astype(np.int32)
    truth = rng.random(400) < score / SCALE
    pool, *_ = counted(list(zip(score.tolist(), truth.tolist(), strict=True)))
    yes, no = truth.sum(), (~truth).sum()
    target = np.where(truth, (yes + 1) / (yes + 2), 1 / (no + 2))
    x = log_odds(score / SCALE)[:, None]
    peer = LogisticRegression(C=1e12, tol=1e-12, max_iter=1000).fit(
        np.concatenate([x, x]), np.repeat([1, 0], 400), sample_weight=np.concatenate([target, 1 - target])
    )
    at = np.arange(0, SCALE + 1, 997)
    wanted = peer.predict_proba(log_odds(at / SCALE)[:, None])[:, 1]
    assert logistic_calibration(pool)[at] == pytest.approx(wanted, abs=1e-6)


@few
@given(documents, st.sampled_from(sorted(CALIBRATIONS)))
def test_probabilities_never_fall_and_stay_between_0_and_1(pairs, name):
    table = CALIBRATIONS[name](counted(pairs)[0])
    assert table.shape == (SCALE + 1,)
    assert (np.diff(table) >= 0).all()
    assert table.min() >= 0
    assert table.max() <= 1


def test_confidences_that_point_the_wrong_way_give_one_probability_for_all():
    table = logistic_calibration(counted([(10, True)] * 5 + [(90_000, False)] * 15)[0])
    assert (table == 0.25).all()


@pytest.mark.parametrize("name", sorted(CALIBRATIONS))
def test_without_relevant_documents_nothing_is_worth_returning(name):
    pool, *_ = counted([(500, False), (SCALE, False)])
    assert (CALIBRATIONS[name](pool) == 0).all()
    assert (CALIBRATIONS[name](Pool()) == 0).all()


@pytest.mark.parametrize(("beta", "share", "relevant"), [(20.0, 0.8, 2.0), (1.0, 0.5, 3.0), (0.3, 1.0, 1.0)])
def test_the_rule_returns_the_set_of_documents_with_the_highest_expected_value(beta, share, relevant):
    """A hit is worth p / (n_rel N_rel) and a false alarm costs beta (1 - p) / (n N_non): all 64 sets are tried."""
    chances, queries = np.array([0.02, 0.2, 0.45, 0.6, 0.9, 0.99]), 10
    other = 40.0
    worth = chances / (share * queries * relevant) - beta * (1 - chances) / (queries * other)
    best = max(product([0, 1], repeat=6), key=lambda chosen: float(worth @ np.array(chosen)))
    least = least_probability(beta=beta, share=share, relevant=relevant, other=other)
    assert (chances > least).astype(int).tolist() == list(best)


def test_the_number_of_relevant_documents_is_the_sum_of_probabilities_unless_it_is_given():
    table = np.arange(SCALE + 1) / SCALE
    ranked = Ranked(np.array([90_000], np.int32), np.array([10_000, 20_000, 80_000], np.int32))
    told = query_threshold(ranked, table, beta=1.0, share=1.0, relevant=2.0)
    assert told == query_threshold(ranked, table, beta=1.0, share=1.0) == 50_001
    assert query_threshold(ranked, table, beta=1.0, share=1.0, relevant=1.0) == 25_001
    assert query_threshold(ranked, table, beta=1.0, share=1.0, relevant=0.0) == 25_001
    assert query_threshold(ranked, table, beta=1.0, share=1.0, relevant=99.0) == 75_001
