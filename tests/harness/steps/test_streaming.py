"""Arrays that are larger than memory: written block by block, read as they are used."""

import numpy as np
import pytest

from basanite.harness.steps.store import Store, Streamed


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "steps")


def blocks(array, size):
    for at in range(0, len(array), size):
        yield array[at : at + size]


@pytest.mark.parametrize("kind", ["<f4", "<f8", "<i8"])
def test_a_streamed_array_has_the_bytes_of_a_whole_one(store, kind):
    array = np.arange(60).reshape(20, 3).astype(kind)
    store.save("aa" * 32, {"codes": array})
    store.save("bb" * 32, {"codes": Streamed(array.shape, kind, blocks(array, 7))})
    one, two = ((store.path(key) / "codes.npy").read_bytes() for key in ("aa" * 32, "bb" * 32))
    assert one == two


@pytest.mark.parametrize("rows", [19, 21])
def test_an_array_with_other_rows_than_announced_is_never_kept(store, rows):
    array = np.zeros((20, 3))
    with pytest.raises(ValueError, match="was announced"):
        store.save("aa" * 32, {"codes": Streamed((rows, 3), "<f8", blocks(array, 7))})
    assert not store.has("aa" * 32)


def test_a_maker_that_fails_half_way_leaves_nothing(store):
    def failing():
        yield np.zeros((5, 3))
        raise RuntimeError("the learner changed")

    with pytest.raises(RuntimeError):
        store.save("aa" * 32, {"codes": Streamed((20, 3), "<f8", failing())})
    assert not store.has("aa" * 32)
    assert store.clear_leftovers() == 0


def test_what_is_written_to_a_mapped_array_never_reaches_the_disk(store):
    store.save("aa" * 32, {"codes": np.ones((4, 2))})
    mapped = store.load("aa" * 32, mapped=True)["codes"]
    mapped[:] = 7
    assert np.array_equal(store.load("aa" * 32)["codes"], np.ones((4, 2)))
