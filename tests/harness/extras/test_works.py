"""What a code holds, rows in other orders, and invariance: by hand, by brute force, and on planted cases."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from basanite.harness.inspection import (
    DROPPED,
    alignment,
    changed_versions,
    invariance,
    shift_pictures,
    synonyms,
)
from basanite.harness.steps.training import effective_rank, layer_flags
from basanite.harness.study import (
    describe_codes,
    join_layers,
    measure_codes,
    nested_order,
    reorder_rows,
    reorder_values,
    sparseness,
)


def stored(value):
    """What the store would give back of a streamed matrix."""
    return (
        value if isinstance(value, np.ndarray) or scipy.sparse.issparse(value) else np.concatenate(list(value.blocks))
    )


def test_dimensions_active_and_dead_units_are_counted():
    codes = np.random.default_rng(0).normal(size=(50, 4))
    codes[:, 1] = 3.0  # the same for every row
    codes[:, 2] = 0.0
    found = describe_codes({"codes_1": codes}, "codes_1")
    assert (found["dimensions"], found["active"], found["dead"]) == (4, 2, 2)
    assert found["zeros"] == pytest.approx(0.25)


def test_sparsity_and_effective_rank_are_those_of_their_definitions():
    rng = np.random.default_rng(1)
    rows = np.abs(rng.normal(size=(30, 6)))
    one = rows[0]
    wanted = (1 - (sum(one) / 6) ** 2 / (sum(one**2) / 6)) / (1 - 1 / 6)
    assert sparseness(rows)[0] == pytest.approx(wanted)
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    shares = values / values.sum()
    assert effective_rank(np.cov(rows.T, bias=True)) == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))
    found = describe_codes({"codes_1": rows}, "codes_1")
    assert found["effective_rank"] == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))
    assert found["sparsity"] == pytest.approx(sparseness(rows).mean())


class Wide:
    """One layer with many more units than rows, all of which follow a few directions."""

    layers = 1

    def __init__(self, directions):
        rng = np.random.default_rng(3)
        self.codes = rng.normal(size=(60, directions)) @ rng.normal(size=(directions, 3_000)) * 1e200

    def transform(self, sample, layer):
        return self.codes


def test_a_layer_with_more_units_than_rows_is_looked_at_without_a_matrix_of_its_units():
    wide, narrow = Wide(20), Wide(1)
    tracemalloc.start()
    assert layer_flags(wide, None) == {}
    assert layer_flags(narrow, None) == {"1": ["layer 1: its 3000 units have an effective rank of 1"]}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * wide.codes.nbytes


def test_quantity_is_the_same_for_sparse_codes():
    dense = np.random.default_rng(2).poisson(0.3, size=(40, 5)).astype(float)
    assert describe_codes({"c": scipy.sparse.csr_array(dense)}, "c") == describe_codes({"c": dense}, "c")


def test_a_code_of_zeros_has_no_rank_and_no_active_unit():
    found = describe_codes({"c": np.zeros((5, 3))}, "c")
    assert (found["active"], found["effective_rank"]) == (0, 0.0)


def test_layers_are_joined_and_rows_reordered():
    one, two = np.arange(6.0).reshape(3, 2), np.arange(3.0).reshape(3, 1)
    both = stored(join_layers({"codes_1": one, "codes_2": two}, 2)["features"])
    assert both.tolist() == [[0, 1, 0], [2, 3, 1], [4, 5, 2]]
    order = {"rows": np.array([2, 0, 1])}
    assert stored(reorder_rows({"codes_1": one}, order, "codes_1")["features"]).tolist() == [[4, 5], [0, 1], [2, 3]]
    assert reorder_values({"values": np.array([7.0, 8.0])}, {"rows": np.array([1, 0, 2])})["values"].tolist() == [
        8.0,
        7.0,
    ]


def test_every_beginning_of_the_order_has_the_classes_of_the_whole():
    rng = np.random.default_rng(3)
    classes = rng.choice(4, size=400, p=[0.5, 0.3, 0.15, 0.05])
    order = nested_order(classes, np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(400))
    whole = np.bincount(classes) / 400
    for count in (8, 40, 133, 399):
        assert np.abs(np.bincount(classes[order[:count]], minlength=4) - count * whole).max() <= 1


def test_measures_of_a_layer_are_those_of_the_library():
    from basanite.representation.measures.ferm import gap

    rng = np.random.default_rng(4)
    labels = np.repeat([0, 1, 2], 20)
    rows = np.abs(rng.normal(size=(70, 5)))
    rows[10:] += 3 * np.eye(5)[labels]
    found = measure_codes({"codes_1": rows}, {"values": labels}, "codes_1", 10)
    assert found["values"]["gap"] == pytest.approx(gap(rows[10:], labels))
    assert {"ferm1", "silhouette", "dunn"} <= found["values"].keys()


def test_units_that_do_not_care_about_the_change_are_invariant_and_others_are_at_chance():
    rng = np.random.default_rng(5)
    base = rng.normal(size=(1000, 10))
    assert invariance(base, [base, base]) == pytest.approx(100, rel=0.01)
    other = [rng.normal(size=(1000, 10)) for _ in range(20)]
    assert invariance(base, other) < 6  # the most invariant fifth of units that fire by chance
    half = base.copy()
    half[:, 5:] = rng.normal(size=(1000, 5))
    assert invariance(base, [half]) == pytest.approx(100, rel=0.01)  # a fifth of the units is enough


def test_dead_units_have_no_invariance():
    assert invariance(np.ones((200, 3)), [np.ones((200, 3))]) is None


def test_paths_leave_words_out_and_shift_pictures():
    path, kind = changed_versions(["the food was very good and the service fast"] * 50)
    lengths = [np.mean([len(text.split()) for text in step]) for step in path]
    assert len(lengths) == len(DROPPED)
    assert lengths == sorted(lengths, reverse=True)
    assert "words" in kind
    steps, told = changed_versions(np.eye(9)[:2])
    assert "3 by 3" in told
    assert np.asarray(steps[0]).shape == (2, 9)
    assert changed_versions(np.zeros((2, 5)))[0] == []
    right = next(shift_pictures(np.arange(9.0)[None], 3))
    assert right.reshape(3, 3).tolist() == [[0, 0, 1], [0, 3, 4], [0, 6, 7]]


def test_words_of_praise_and_blame_are_swapped_for_others_that_say_the_same():
    text = "The soup was delicious, but the waiter was slow."
    path, kind = changed_versions([text] * 200)
    assert "synonyms" in kind
    half, every = path[len(DROPPED) :]
    for step, low, high in ((half, 0.35, 0.65), (every, 1, 1)):
        words = [changed.split() for changed in step]
        assert {tuple(one[:3]) for one in words} == {("The", "soup", "was")}
        assert low <= np.mean([one[3] != "delicious," for one in words]) <= high
        assert {one[3].removesuffix(",") for one in words} <= {"delicious", *synonyms()["delicious"]}
        assert {one[8].removesuffix(".") for one in words} <= {"slow", *synonyms()["slow"]}
    assert not {*synonyms()["slow"]} & {*synonyms()["delicious"]}


def test_codes_that_are_turned_are_the_same_and_random_ones_are_not():
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(300, 4))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert alignment(rows, 2 * rows @ turn) == pytest.approx(1)
    assert alignment(rows, rng.normal(size=(300, 4))) < 0.1
    assert alignment(rows, np.zeros((300, 2))) == 0.0


def test_a_learner_of_texts_is_looked_into_with_words_left_out():
    from basanite.harness.data.dataset import Texts, stored_items
    from basanite.harness.inspection import inspect_learner

    rng = np.random.default_rng(0)
    words = ["good", "bad", "food", "slow", "fast", "noisy", "great", "cold", "warm", "fish"]
    texts = [" ".join(rng.choice(words, size=12)) for _ in range(400)]
    preprocessor = {"module": "words", "parameters": {"size": 10}, "seed": 0}
    learner = {"module": "msda", "parameters": {"units": 10, "noise": 0.3}, "seed": 1}
    items, rows = stored_items(Texts.of(texts)), {"rows": np.arange(400)}
    found = inspect_learner(items, rows, preprocessor, learner, 250)
    assert found["transformation"].startswith("words left out, 10% to 50%; words of praise")
    assert [entry["layer"] for entry in found["layers"]] == [1, 2, 3]
    assert all(entry["weights_changed"] > 0 and entry["invariance"] > 0 for entry in found["layers"])
