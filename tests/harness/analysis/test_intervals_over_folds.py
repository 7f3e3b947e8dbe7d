"""Intervals over folds and rows: against sums of squares by hand, and by how often they hold the truth."""

import numpy as np
import pytest
from scipy import stats

from basanite.harness.analysis.variance import (
    Block,
    Sample,
    components,
    crossed_bootstrap,
    mean_square_root,
    rmse_cells,
)


def drawn(rng, folds=10, rows=80, fold_sd=0.3, row_sd=1.0, rest_sd=0.5):
    """Cells with a true mean of 0: an effect of the fold, one of the row, and one of their own."""
    effects = rng.normal(0, fold_sd, (folds, 1)) + rng.normal(0, row_sd, (1, rows))
    return effects + rng.normal(0, rest_sd, (folds, rows))


def block(cells):
    return Block(cells, np.arange(cells.shape[1]))


def test_the_variance_is_that_of_the_two_way_table():
    cells = drawn(np.random.default_rng(1))
    folds, rows = cells.shape
    by_fold = [sum(cells[k]) / rows for k in range(folds)]
    by_row = [sum(cells[:, i]) / folds for i in range(rows)]
    middle = sum(by_fold) / folds
    rest = sum((cells[k, i] - by_fold[k] - by_row[i] + middle) ** 2 for k in range(folds) for i in range(rows))
    s_fold = sum((value - middle) ** 2 for value in by_fold) / (folds - 1)
    s_row = sum((value - middle) ** 2 for value in by_row) / (rows - 1)
    s_int = rest / ((folds - 1) * (rows - 1))
    found = components([block(cells)], shared_folds=True)
    assert found.value == pytest.approx(middle)
    assert found.variance == pytest.approx(s_fold / folds + s_row / rows - s_int / (folds * rows))


def test_the_variance_is_never_below_either_part():
    cells = np.tile(np.array([[1.0], [-1.0]] * 5), (1, 40))  # nothing but folds
    found = components([block(cells)], shared_folds=True)
    assert found.variance >= max(found.fold, found.row)
    assert found.variance == pytest.approx(found.fold)


@pytest.mark.parametrize(("fold_sd", "row_sd"), [(0.0, 1.0), (0.3, 1.0), (0.3, 0.0)])
def test_intervals_hold_the_truth_as_often_as_they_say(fold_sd, row_sd):
    held = 0
    for seed in range(1000, 1400):
        found = components(
            [block(drawn(np.random.default_rng(seed), fold_sd=fold_sd, row_sd=row_sd))], shared_folds=True
        )
        half = stats.t.ppf(0.975, found.degrees) * found.error
        held += abs(found.value) <= half
    assert 0.925 <= held / 400 <= 0.985


def test_a_t_over_folds_alone_would_find_differences_that_are_not_there():
    alarms = 0
    for seed in range(400):
        by_fold = drawn(np.random.default_rng(seed), fold_sd=0.05, row_sd=1.0, rest_sd=0.1).mean(axis=1)
        alarms += stats.ttest_1samp(by_fold, 0).pvalue < 0.05
    assert alarms / 400 > 0.3  # which is why rows are in our variance


def test_a_row_in_several_test_sets_moves_all_of_them_together():
    cells = drawn(np.random.default_rng(2), fold_sd=0.0, rest_sd=0.0)
    same = components([block(cells), block(cells)], shared_folds=False)
    apart = components([block(cells), Block(cells, np.arange(100, 180))], shared_folds=False)
    assert same.row == pytest.approx(components([block(cells)], shared_folds=True).row)
    assert apart.row == pytest.approx(same.row / 2, rel=0.02)


def test_folds_of_targets_with_their_own_splits_are_independent():
    cells = drawn(np.random.default_rng(3), row_sd=0.0)
    shared = components([block(cells)] * 2, shared_folds=True)
    own = components([block(cells)] * 2, shared_folds=False)
    assert own.fold == pytest.approx(shared.fold / 2)


def test_the_tangent_of_an_rmse_leaves_its_value():
    errors = np.random.default_rng(4).exponential(size=(5, 30))
    assert rmse_cells(errors).mean(axis=1) == pytest.approx(np.sqrt(errors.mean(axis=1)))
    assert rmse_cells(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2


def sample(errors, rows=None):
    rows = np.arange(errors.shape[1]) if rows is None else rows
    return Sample({"food": (rows, tuple(mean_square_root(fold) for fold in errors))})


def test_the_crossed_bootstrap_has_the_spread_of_the_components():
    rng = np.random.default_rng(5)
    errors = 4 + drawn(rng, folds=8, rows=120, fold_sd=0.4, row_sd=0.8)
    errors = np.abs(errors)
    found = crossed_bootstrap({"a": sample(errors)}, rows=120, draws=4000, seed=1)["a"]
    wanted = components([block(rmse_cells(errors))], shared_folds=True)
    assert found.values.mean() == pytest.approx(wanted.value, rel=0.01)
    # The bootstrap counts the interaction twice, which is little here.
    assert found.values.std() == pytest.approx(wanted.error, rel=0.15)


def test_all_systems_are_drawn_alike_so_equal_ones_never_differ():
    errors = np.random.default_rng(6).exponential(size=(5, 40))
    found = crossed_bootstrap({"a": sample(errors), "b": sample(errors)}, rows=40, draws=200, seed=3)
    assert np.array_equal(found["a"].values, found["b"].values)


def test_the_same_row_has_the_same_weight_for_every_target():
    errors = np.random.default_rng(7).exponential(size=(5, 40))
    values = tuple(mean_square_root(fold) for fold in errors)
    rows = np.arange(40)
    twice = Sample({"food": (rows, values), "noise": (rows, values)})
    found = crossed_bootstrap({"one": sample(errors), "two": twice}, rows=40, draws=200, seed=3)
    assert np.allclose(found["one"].values, found["two"].values)


def test_rows_of_one_cluster_are_drawn_together():
    errors = np.repeat(np.random.default_rng(8).exponential(size=(5, 10)), 4, axis=1)
    clusters = np.repeat(np.arange(10), 4)
    apart, together = (
        crossed_bootstrap({"a": sample(errors)}, rows=40, draws=2000, seed=3, clusters=how)["a"].values.std()
        for how in (None, clusters)
    )
    assert together > 1.3 * apart


def test_a_target_without_positives_leaves_the_mean_of_that_draw_and_is_counted():
    def sometimes(weights):
        return np.where(weights[:, 0] > 0, 0.5, np.nan)

    two = Sample(
        {"run": (np.arange(30), (sometimes,) * 4), "sit": (np.arange(30), (lambda weights: np.ones(len(weights)),) * 4)}
    )
    found = crossed_bootstrap({"a": two}, rows=30, draws=400, seed=0)["a"]
    assert 0 < found.undefined < 400
    assert set(np.round(found.values, 9)) == {0.75, 1.0}
