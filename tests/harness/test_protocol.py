"""The plan's sampling: against its own pseudocode, at the sizes it prints, and for every input that can be drawn."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import SettingError
from basanite.harness.protocol import (
    Sizes,
    cap_validation,
    nearest,
    partition,
    quotas,
    sample_stratified,
    stratified_folds,
)

labels = st.lists(st.integers(0, 4), min_size=2, max_size=60).map(np.array)


def largest_remainder(counts, n):
    """The rule by exact fractions, one seat at a time."""
    exact = [Fraction(count * n, sum(counts)) for count in counts]
    seats = [int(share) for share in exact]
    while sum(seats) < n:
        rest = [share - seat if seat == int(share) else Fraction(-1) for share, seat in zip(exact, seats, strict=True)]
        seats[rest.index(max(rest))] += 1
    return seats


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.data())
def test_quotas_are_those_of_the_largest_remainder(counts, data):
    n = data.draw(st.integers(0, sum(counts)))
    found = quotas(counts, n)
    assert found == largest_remainder(counts, n)
    assert sum(found) == n
    assert all(quota <= count for quota, count in zip(found, counts, strict=True))


def test_sizes_are_rounded_as_the_plans_own_figures_are():
    assert nearest(0.7 * 433_697) == 303_588
    assert nearest(0.7 * 433_697) - 10_000 == 293_588


@given(labels, st.data())
def test_a_sample_has_the_shares_of_the_whole_and_no_row_twice(values, data):
    n = data.draw(st.integers(0, len(values)))
    rows = sample_stratified(values, n, np.random.default_rng(3))
    assert len(set(rows.tolist())) == len(rows) == n
    classes, counts = np.unique(values, return_counts=True)
    wanted = dict(zip(classes.tolist(), quotas(counts.tolist(), n), strict=True))
    assert Counter(values[rows].tolist()) == Counter({name: quota for name, quota in wanted.items() if quota})


def test_more_rows_than_there_are_cannot_be_sampled():
    with pytest.raises(SettingError, match="at most 3"):
        sample_stratified(np.array([0, 1, 1]), 4, np.random.default_rng(0))


def plan_folds(values, folds):
    """createStratifiedFolds as the plan writes it (j from 1, fold j % K; its fold 0 is our K)."""
    counts = Counter(values.tolist())
    order = sorted(range(len(values)), key=lambda row: (counts[values[row]], values[row], row))
    slots = {number: [] for number in range(folds)}
    for j, row in enumerate(order, start=1):
        slots[j % folds].append(row)
    return [slots[number % folds] for number in range(1, folds + 1)]


@given(labels, st.integers(2, 7))
def test_folds_are_those_of_the_plans_pseudocode(values, folds):
    folds = min(folds, len(values))
    assert [fold.tolist() for fold in stratified_folds(values, folds)] == plan_folds(values, folds)


@given(labels, st.integers(2, 7))
def test_no_fold_has_two_more_of_a_class_than_another(values, folds):
    folds = min(folds, len(values))
    made = stratified_folds(values, folds)
    assert sorted(row for fold in made for row in fold.tolist()) == list(range(len(values)))
    for label in set(values.tolist()):
        held = [int((values[fold] == label).sum()) for fold in made]
        assert max(held) - min(held) <= 1


def test_rows_are_shuffled_only_if_a_seed_says_so():
    values = np.array([0] * 30)
    plain, shuffled = stratified_folds(values, 3), stratified_folds(values, 3, shuffle_seed=5)
    assert plain[0].tolist() == list(range(0, 30, 3))
    assert [fold.tolist() for fold in shuffled] != [fold.tolist() for fold in plain]
    assert [fold.tolist() for fold in stratified_folds(values, 3, shuffle_seed=5)] == [f.tolist() for f in shuffled]


@settings(max_examples=40)
@given(st.integers(40, 200), st.integers(0, 99))
def test_a_partition_has_the_plans_sets_and_shares_no_row(rows, seed):
    values = np.random.default_rng(seed).integers(1, 6, rows)
    made = partition(values, Sizes(0.7, 20, 10), np.random.default_rng(seed))
    assert len(made.folds) == 10
    assert len(made.training) == 20
    assert len(made.training) + len(made.validation) == nearest(0.7 * rows)
    everything = np.concatenate([made.training, made.validation, made.test])
    assert sorted(everything.tolist()) == list(range(rows))


def test_a_group_is_never_in_training_and_test():
    groups = np.repeat(np.arange(30), 5)
    values = np.tile([1, 2, 3, 4, 5], 30)
    made = partition(values, Sizes(0.7, 50, 5), np.random.default_rng(1), groups=groups)
    trained = set(groups[np.concatenate([made.training, made.validation])])
    assert not trained & set(groups[made.test])
    assert len(made.test) == 45


def test_validation_can_be_capped_by_a_stratified_sample():
    values = np.tile([1, 2, 3, 4, 5], 100)
    made = partition(values, Sizes(0.7, 50, 5), np.random.default_rng(1))
    assert cap_validation(made, values, None, np.random.default_rng(2)) is made
    small = cap_validation(made, values, 100, np.random.default_rng(2))
    assert len(small.validation) == 100
    assert set(small.validation) <= set(made.validation)
    assert Counter(values[small.validation].tolist()) == dict.fromkeys(range(1, 6), 20)
    assert np.array_equal(small.test, made.test)


@pytest.mark.parametrize("folds", [0, 1, 9])
def test_a_number_of_folds_that_cannot_be_is_refused(folds):
    with pytest.raises(SettingError, match="folds cannot be made"):
        stratified_folds(np.arange(5), folds)
