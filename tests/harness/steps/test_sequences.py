"""Items with several windows: kept, sliced and summed like any other rows."""

import numpy as np
import pytest
import scipy.sparse

from basanite.harness.steps.layout import ModuleError, gather_blocks
from basanite.harness.steps.store import Sequences, Store, whole


def made(sparse=False):
    rows = np.arange(24.0).reshape(8, 3)
    return Sequences(scipy.sparse.csr_array(rows) if sparse else rows, np.array([0, 3, 4, 4, 8]))


def dense(matrix):
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("sparse", [False, True])
def test_some_items_take_their_windows_with_them(sparse):
    some = made(sparse)[np.array([3, 0])]
    assert some.shape == (2, 3)
    assert np.array_equal(dense(some.rows), np.arange(24.0).reshape(8, 3)[[4, 5, 6, 7, 0, 1, 2]])
    assert some.offsets.tolist() == [0, 4, 7]
    assert made(sparse)[1:3].offsets.tolist() == [0, 1, 1]


@pytest.mark.parametrize("sparse", [False, True])
def test_an_item_as_a_whole_is_the_sum_of_its_windows(sparse):
    rows = np.arange(24.0).reshape(8, 3)
    assert dense(whole(made(sparse))).tolist() == [
        rows[:3].sum(axis=0).tolist(),
        rows[3].tolist(),
        [0, 0, 0],
        rows[4:].sum(axis=0).tolist(),
    ]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_store_gives_back_windows_and_where_items_begin(sparse, tmp_path):
    store = Store(tmp_path)
    store.save("aa" * 32, {"features": made(sparse), "other": np.ones(2)})
    back = store.load("aa" * 32, mapped=True)["features"]
    assert np.array_equal(dense(back.rows), dense(made().rows))
    assert back.offsets.tolist() == [0, 3, 4, 4, 8]


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_of_items_are_joined_window_by_window(sparse, tmp_path):
    joined = gather_blocks(iter([made(sparse)[:2], made(sparse)[2:]]), 4, "a module")
    store = Store(tmp_path)
    store.save("bb" * 32, {"features": joined})
    back = store.load("bb" * 32)["features"]
    assert np.array_equal(dense(back.rows), dense(made().rows))
    assert back.offsets.tolist() == [0, 3, 4, 4, 8]


def test_a_module_that_forgets_an_item_is_named():
    with pytest.raises(ModuleError, match="windows of 3 items for 4"):
        gather_blocks(iter([made()[:3]]), 4, "a module")


def test_windows_that_are_not_finite_are_refused():
    with pytest.raises(ModuleError, match="not finite"):
        gather_blocks(iter([Sequences(np.array([[np.nan]]), np.array([0, 1]))]), 1, "a module")
