"""The kernel's values: settings are bound without touching the original, and tables know their columns."""

import numpy as np
import pytest

from basanite.kernel import ANY, Metric, Scores, UnitRows


def _scaled(sums, factor=1.0):
    return factor * sums[..., 0] / sums[..., 1]


METRIC = Metric("scaled", "", "", "tests", len, _scaled, columns=("x", "n"), parameters=("factor",), range=ANY)
ROWS = np.array([[1.0, 1], [2, 1], [6, 1]])


def test_settings_are_bound_to_a_copy_and_unknown_ones_left_out():
    bound = METRIC.bind(factor=10, other=3)
    assert bound.of(ROWS) == 30
    assert METRIC.of(ROWS) == 3
    assert dict(bound.settings) == {"factor": 10}
    assert bound.bind(factor=2).of(ROWS) == 6


def test_a_value_is_that_of_the_sum_and_many_sums_are_reduced_together():
    assert METRIC.value(ROWS).tolist() == [1, 2, 6]
    assert METRIC.value(ROWS.sum(axis=0)) == METRIC.of(ROWS)


def test_a_table_gives_its_columns_by_name():
    table = UnitRows("query", ("a", "b", "c"), ("x", "n"), ROWS)
    assert table.column("x").tolist() == [1, 2, 6]
    with pytest.raises(ValueError):
        table.column("y")


def test_scores_give_their_metrics_with_their_settings():
    scores = Scores("toy", "A", (METRIC.bind(factor=4),), {}, "scaled", {}, {})
    assert scores.metric("scaled").settings == {"factor": 4}
    with pytest.raises(StopIteration):
        scores.metric("none")
