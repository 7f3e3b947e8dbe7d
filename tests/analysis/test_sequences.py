"""Confidence sequences stay valid when they are looked at after every unit; intervals for a fixed number do not."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from basanite.analysis.sequences import confidence_sequence
from basanite.errors import SettingError

CAMPAIGNS, UNITS = 200, 250


def arrivals(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Campaigns whose units arrive one by one, and their true mean."""
    shape = (CAMPAIGNS, UNITS)
    if kind == "rare":
        return (rng.random(shape) < 0.05).astype(float), 0.05
    if kind == "even":
        return (rng.random(shape) < 0.5).astype(float), 0.5
    return rng.beta(2, 6, shape), 0.25


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["rare", "even", "skewed"])
def test_peeking_after_every_unit_keeps_the_level_of_a_sequence_and_breaks_that_of_an_interval(kind: str) -> None:
    """The sequence only shrinks, so that looking at its end is looking at every step of it."""
    units, truth = arrivals(kind, np.random.default_rng(17))
    ends = [confidence_sequence(row) for row in units]
    covered = np.mean([one.low <= truth <= one.high for one in ends])
    count = np.arange(30, UNITS + 1)
    sums, squares = (np.cumsum(power, axis=1)[:, 29:] for power in (units, units**2))
    mean = sums / count
    error = np.sqrt((squares / count - mean**2) / (count - 1))
    always = np.mean((np.abs(mean - truth) <= 1.96 * error).all(axis=1))
    assert covered >= 0.95
    assert always < 0.85, "the interval for a fixed number misses the mean at some look"


def test_a_sequence_only_shrinks_and_nothing_that_was_excluded_comes_back() -> None:
    units = np.random.default_rng(3).beta(2, 2, 120)
    steps = [confidence_sequence(units[:count]) for count in range(1, 121)]
    assert all(later.low >= one.low and later.high <= one.high for one, later in itertools.pairwise(steps))
    assert steps[-1].half_width < steps[20].half_width < steps[0].half_width


def test_a_sequence_is_not_much_wider_than_the_interval_for_a_fixed_number() -> None:
    units = np.random.default_rng(5).beta(4, 4, 400)
    fixed = 1.96 * units.std(ddof=1) / math.sqrt(400)
    assert fixed < confidence_sequence(units).half_width < 2.5 * fixed


def test_units_on_another_scale_give_the_same_sequence_on_that_scale() -> None:
    units = np.random.default_rng(7).random(60)
    plain, stars = confidence_sequence(units), confidence_sequence(1 + 4 * units, (1.0, 5.0))
    assert stars.low == pytest.approx(1 + 4 * plain.low)
    assert stars.high == pytest.approx(1 + 4 * plain.high)


@pytest.mark.parametrize("values", [[], [0.0], [1.0] * 500, [0.0] * 500, [0.0, 1.0] * 300])
def test_constant_few_and_extreme_units_have_a_sequence_inside_the_range(values: list[float]) -> None:
    now = confidence_sequence(values)
    assert 0 <= now.low < now.high <= 1
    assert not values or now.low <= now.mean <= now.high


@pytest.mark.parametrize("values", [[0] * 30 + [1] * 60, [0] * 300 + [1] * 300, [1] * 200 + [0] * 40])
def test_units_in_an_order_that_depends_on_their_values_have_no_sequence_and_no_precision(values: list[float]) -> None:
    now = confidence_sequence(values)
    assert now.mean == np.mean(values)
    assert math.isnan(now.low)
    assert math.isnan(now.high)
    assert not now.half_width < 1
    assert "early and late units" in now.reason
    assert confidence_sequence([0, 1, 1] * 30).reason == ""


@pytest.mark.parametrize(
    ("values", "bounds"),
    [([0.5, float("nan")], (0, 1)), ([1.5], (0, 1)), ([0.5], (1, 0)), ([0.5], (0, math.inf)), ([-0.1], (0, 1))],
)
def test_what_has_no_range_or_leaves_it_is_refused(values: list[float], bounds: tuple[float, float]) -> None:
    with pytest.raises(SettingError):
        confidence_sequence(values, bounds)
