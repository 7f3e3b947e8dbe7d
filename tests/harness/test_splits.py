"""Splits are values of data, plan and seed: stratified, disjoint, and with what they hold written down."""

import numpy as np
import pytest

from basanite.errors import SettingError
from basanite.harness.data.dataset import Dataset
from basanite.harness.data.splits import facts, overlap, partition_digest, splits
from basanite.harness.plan import TaskPlan
from basanite.harness.protocol import Partition, Seeds

SEEDS = Seeds.from_number(3)
DICE = np.random.default_rng(0)


def rated(rows=400):
    values = {name: DICE.integers(1, 6, rows).astype(float) for name in ("overall", "food")}
    return Dataset("r", np.zeros((rows, 1)), values, groups=np.arange(rows) % 20)


def task(**changes):
    plain = {"name": "t", "data": {}, "metric": "mrmse", "n": 100, "folds": 4, "targets": ("overall", "food")}
    return TaskPlan(**{**plain, **changes})


def parts(made):
    return [*made.folds, made.validation, made.test]


def test_each_target_has_training_in_folds_the_rest_of_it_for_validation_and_the_rest_of_all_for_test():
    data = rated()
    made = splits(task(), data, SEEDS)["food"]
    assert [len(fold) for fold in made.folds] == [25] * 4
    assert (len(made.validation), len(made.test)) == (180, 120)
    assert np.array_equal(np.sort(np.concatenate(parts(made))), np.arange(400))
    for rows in (np.concatenate(made.folds), made.validation, made.test):
        share = np.bincount(data.targets["food"][rows].astype(int), minlength=6) / len(rows)
        whole = np.bincount(data.targets["food"].astype(int), minlength=6) / 400
        assert np.abs(share - whole).max() < 0.02


def test_targets_have_splits_of_their_own_unless_they_share_one():
    data = rated()
    own = splits(task(), data, SEEDS)
    assert list(own) == ["overall", "food"]
    assert not np.array_equal(own["overall"].test, own["food"].test)
    shared = splits(task(shared_split=True, stratify_by="overall"), data, SEEDS)
    assert list(shared) == ["shared"]
    counts = facts(task(shared_split=True, stratify_by="overall"), data, "shared", shared["shared"])
    assert [set(values) for values in counts.values] == [{"1", "2", "3", "4", "5"}] * 4


def test_groups_are_on_both_sides_as_in_the_plan_unless_they_are_kept_together_and_the_overlap_is_told():
    data = rated()
    plain, grouped = splits(task(), data, SEEDS)["food"], splits(task(group_by="film"), data, SEEDS)["food"]
    assert overlap(data.groups, plain) == 1.0
    assert overlap(data.groups, grouped) == 0.0
    assert facts(task(), data, "food", plain).canonical()["group_overlap"] == 1.0
    half = Partition((np.array([0]), np.array([1])), np.array([2]), np.array([20, 3]))
    assert overlap(data.groups, half) == 0.5


def test_validation_may_be_capped_and_the_other_sets_stay_as_they_are():
    data = rated()
    whole, few = splits(task(), data, SEEDS)["food"], splits(task(validation_cap=50), data, SEEDS)["food"]
    assert len(few.validation) == 50
    assert set(few.validation) < set(whole.validation)
    assert all(map(np.array_equal, (*few.folds, few.test), (*whole.folds, whole.test)))
    counts = np.bincount(data.targets["food"][few.validation].astype(int))[1:]
    expected = np.bincount(data.targets["food"][whole.validation].astype(int))[1:] * 50 / 180
    assert np.abs(counts - expected).max() < 1


def test_ties_go_by_class_and_row_and_shuffling_is_an_option():
    data = rated()
    one, same = (splits(task(), data, SEEDS)["food"] for _ in range(2))
    other = splits(task(shuffle_seed=1), data, SEEDS)["food"]
    assert all(map(np.array_equal, one.folds, same.folds))
    assert not all(map(np.array_equal, one.folds, other.folds))
    assert np.array_equal(one.training, other.training)
    values, first = data.targets["food"], one.folds[0]
    rarity = np.bincount(values[one.training].astype(int))
    keys = [(rarity[int(values[row])], values[row], row) for row in first]
    assert keys == sorted(keys)


def test_a_split_follows_from_the_seed_and_its_digest_tells_any_change():
    data = rated()
    one, again, other = (splits(task(), data, seeds)["food"] for seeds in (SEEDS, SEEDS, Seeds.from_number(4)))
    assert partition_digest(one) == partition_digest(again) != partition_digest(other)
    swapped = Partition((one.folds[1], one.folds[0], *one.folds[2:]), one.validation, one.test)
    assert partition_digest(swapped) != partition_digest(one)


def test_a_stream_depends_on_its_names_and_nothing_else():
    names = [("a", "b"), ("ab",), ("b", "a"), ("a", "b", 1), ("a", "b", "1"), ()]
    assert len({SEEDS.derive(*name) for name in names}) == len(names)
    assert SEEDS.derive("a") != Seeds.from_number(4).derive("a")
    assert SEEDS.small("a") < 2**31
    assert SEEDS.derive("a") >> 200
    data = rated()
    alone = splits(task(targets=("food",)), data, SEEDS)["food"]
    assert partition_digest(alone) == partition_digest(splits(task(), data, SEEDS)["food"])


def test_numbers_with_many_values_are_stratified_by_tenths():
    values = np.random.default_rng(1).normal(size=300)
    data = Dataset("d", np.zeros((300, 1)), {"x": values})
    made = splits(task(targets=("x",)), data, SEEDS)["x"]
    assert abs(np.median(values[made.test]) - np.median(values)) < 0.2
    assert all(set(counts.values()) == {2, 3} for counts in facts(task(targets=("x",)), data, "x", made).values)


def test_data_with_a_split_of_their_own_keep_it():
    first = DICE.integers(0, 3, 90)
    fixed = (np.arange(0, 60), np.arange(60, 90))
    data = Dataset("v", np.zeros((90, 1)), {"x": (first == 0).astype(float)}, first_labels=first, fixed=fixed)
    made = splits(task(targets=("x",), shared_split=True, n=1000, folds=5), data, SEEDS)["shared"]
    assert np.array_equal(made.training, fixed[0])
    assert (len(made.validation), made.test.tolist()) == (0, fixed[1].tolist())


def test_a_plan_that_leaves_no_test_rows_is_refused():
    with pytest.raises(SettingError, match="no test row"):
        splits(task(train_share=0.9999), rated(), SEEDS)
