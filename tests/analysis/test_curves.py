"""Curves over thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.samples import COST, MEAN

from basanite.kernel import Sweep
from basanite.tasks.retrieval.detection_charts import best, curve, error_rates, thin_curve


def sweep(values):
    sums = np.column_stack([values, np.where(np.isnan(values), 0, 1)])
    return Sweep(np.arange(len(values)) / 10, np.nan_to_num(sums), ("x", "count"))


def test_a_curve_is_the_reduce_of_every_sum():
    assert curve(MEAN, sweep([0.5, 0.7, 0.1])).tolist() == [0.5, 0.7, 0.1]


def test_of_equal_thresholds_the_largest_is_best():
    assert best(MEAN, sweep([0.1, 0.7, 0.7, 0.2])) == (0.2, 0.7)


def test_the_best_cost_is_the_lowest():
    assert best(COST, sweep([0.3, 0.1, 0.1, 0.9])) == (0.2, 0.1)


def test_undefined_points_are_passed_over():
    assert best(MEAN, sweep([np.nan, 0.4, np.nan])) == (0.1, 0.4)
    assert np.isnan(best(MEAN, sweep([np.nan, np.nan]))).all()


def test_error_rates_are_ratios_of_named_columns():
    sums = np.array([[1.0, 4, 3, 6], [2, 4, 0, 0]])
    made = Sweep(np.array([0.1, 0.2]), sums, ("missed", "relevant", "alarms", "others"))
    missed, alarms = error_rates(made, misses=("missed", "relevant"), false_alarms=("alarms", "others"))
    assert missed.tolist() == [0.25, 0.5]
    assert alarms[0] == pytest.approx(0.5)
    assert np.isnan(alarms[1])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=200), st.integers(4, 50))
def test_thinning_keeps_both_ends_and_both_extremes(values, most):
    heights = np.array(values)
    kept = thin_curve(heights, most)
    assert len(kept) <= most
    assert kept[0] == 0
    assert kept[-1] == len(heights) - 1
    assert heights[kept].max() == heights.max()
    assert heights[kept].min() == heights.min()
    assert (np.diff(kept) > 0).all()
