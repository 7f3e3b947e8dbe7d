"""Metrics of repeated trials against the definition: every choice of k trials is looked at."""

from itertools import combinations
from statistics import fmean

import numpy as np
import pytest

from basanite.metrics.repeats import AGREEMENT, MEAN, TrialsOfItems, named_pass_metric

REPEATS = [[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 0], [1, 0, 1]]


def block(scores):
    item = np.repeat(np.arange(len(scores)), [len(one) for one in scores])
    score = np.array([cell for one in scores for cell in one], float)
    return TrialsOfItems([str(at) for at in range(len(scores))], item, score, score >= 1)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("sign", "passes"), [("@", any), ("^", all)])
def test_pass_metrics_are_means_over_all_choices_of_trials(k, sign, passes):
    rows = named_pass_metric(f"pass{sign}{k}").statistics(block(REPEATS))
    for one, (chance, there) in zip(REPEATS, rows, strict=True):
        choices = [passes(choice) for choice in combinations(one, k)]
        assert there == bool(choices)
        assert chance == pytest.approx(fmean(choices) if choices else 0)


@pytest.mark.parametrize("sign", "@^")
def test_pass_metrics_have_no_bias(sign):
    """The expected value over all outcomes of n trials of chance p is that of k fresh ones."""
    p, n, k = 0.3, 6, 3
    outcomes = [[at >> bit & 1 for bit in range(n)] for at in range(2**n)]
    chances = [p ** sum(one) * (1 - p) ** (n - sum(one)) for one in outcomes]
    rows = named_pass_metric(f"pass{sign}{k}").statistics(block(outcomes))
    assert np.dot(chances, rows[:, 0]) == pytest.approx(p**k if sign == "^" else 1 - (1 - p) ** k)


def test_agreement_is_the_share_of_pairs_of_repeats_with_one_score():
    scores = [[0.5, 0.5, 1], [0, 0], [0, 1, 0.5, 1], [1]]
    for one, (share, there) in zip(scores, AGREEMENT.statistics(block(scores)), strict=True):
        pairs = [first == second for first, second in combinations(one, 2)]
        assert (share, there) == (pytest.approx(fmean(pairs) if pairs else 0), bool(pairs))


def test_a_mean_weighs_items_and_not_trials():
    assert MEAN.of(MEAN.statistics(block([[1, 1, 1, 1], [0]]))) == 0.5


def test_many_repeats_neither_overflow_nor_round_to_nothing():
    """Binomial coefficients of 20,000 trials are larger than any float."""
    rows = named_pass_metric("pass@100").statistics(block([[1] + [0] * 19_999]))
    assert rows[0, 0] == pytest.approx(100 / 20_000)
