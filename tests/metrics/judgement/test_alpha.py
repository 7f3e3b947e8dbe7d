"""Krippendorff's alpha against the `krippendorff` package and against pairs counted one by one."""

import itertools

import krippendorff
import numpy as np
import pytest

from basanite.metrics.judgement.alpha import alpha, alpha_of, alpha_with_interval, coincidences, counts_of
from basanite.metrics.judgement.estimate import with_interval

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def table(seed, values=5, items=30, judges=6, missing=0.3):
    rng = np.random.default_rng(seed)
    made = np.clip(rng.integers(0, values, (items, 1)) + rng.integers(-1, 2, (items, judges)), 0, None).astype(float)
    made[rng.random(made.shape) < missing] = np.nan
    return made


def pairwise(ratings, level):
    """Alpha by its definition: all pairs of ratings within items against all pairs of ratings."""
    units = [[x for x in row if not np.isnan(x)] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    everything = [x for unit in units for x in unit]
    often = {value: everything.count(value) for value in sorted(set(everything))}

    def apart(one, other):
        if level == "nominal":
            return float(one != other)
        if level == "interval":
            return (one - other) ** 2
        if level == "ratio":
            return ((one - other) / (one + other)) ** 2 if one + other else 0.0
        low, high = min(one, other), max(one, other)
        return (sum(n for v, n in often.items() if low <= v <= high) - (often[low] + often[high]) / 2) ** 2

    observed = sum(apart(*pair) / (len(unit) - 1) for unit in units for pair in itertools.permutations(unit, 2))
    expected = sum(apart(*pair) for pair in itertools.permutations(everything, 2)) / (len(everything) - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("values", [2, 5, 300])
def test_alpha_is_that_of_the_peer_and_of_its_definition(level, values):
    for seed in range(4):
        given = table(seed, values)
        found = alpha(given, level).value
        assert found == pytest.approx(
            krippendorff.alpha(reliability_data=given.T, level_of_measurement=level), abs=1e-9
        )
        assert found == pytest.approx(pairwise(given, level), abs=1e-9)


def test_items_with_one_rating_carry_nothing():
    given = table(1)
    alone = np.full((5, given.shape[1]), np.nan)
    alone[:, 2] = [0, 1, 4, 4, 9]
    for level in LEVELS:
        assert alpha(np.vstack([given, alone]), level) == alpha(given, level)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (np.empty((0, 3)), "no item"),
        ([[1, np.nan], [np.nan, 2]], "no item"),
        ([[3, 3], [3, 3]], "the same"),
    ],
)
def test_undefined_is_said_with_the_reason(given, reason):
    found = alpha(given, "ordinal")
    assert np.isnan(found.value)
    assert reason in found.reason
    assert alpha_with_interval(given, "ordinal").low is None


def test_ratio_data_must_not_be_negative():
    assert "negative" in alpha([[-1, 2], [3, 4]], "ratio").reason


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_taken_at_once_are_those_of_drawing_items_one_draw_at_a_time(level):
    given = table(3, items=40)
    at_once = alpha_with_interval(given, level, draws=600, seed=1)
    one_by_one = with_interval(given, lambda rows: alpha(rows, level), draws=600, seed=1)
    assert at_once.value == one_by_one.value
    assert (at_once.low, at_once.high) == pytest.approx((one_by_one.low, one_by_one.high), abs=0.06)
    assert at_once.low < at_once.value < at_once.high


def test_too_few_items_have_no_interval():
    assert alpha_with_interval(table(4, items=10), "nominal").low is None


def test_a_table_of_coincidences_has_as_many_pairs_as_there_are_ratings():
    given = table(5)
    made = coincidences(counts_of(given))
    kept = (~np.isnan(given)).sum(axis=1)
    assert made.sum() == pytest.approx(kept[kept > 1].sum())
    assert np.allclose(made, made.T)
    assert float(alpha_of(made, counts_of(given).values, "interval")) == pytest.approx(alpha(given, "interval").value)
