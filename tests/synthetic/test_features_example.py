"""The example files of features: what they say of themselves, and that the code makes such files."""

import numpy as np
import pytest
from tests.representation.made import EXAMPLE

from basanite.representation.measures.ferm import ferm
from basanite.synthetic.features import BATCH, KNOWN, REPEATS, ROWS, example_files, train_network, write_task_example

FILES = sorted(path.stem for path in EXAMPLE.glob("*.npz"))


@pytest.fixture(scope="module")
def made():
    return example_files(train_network())


def test_the_code_makes_the_files_that_are_there_with_the_same_rows(made):
    assert sorted(made) == FILES
    for name in FILES:
        stored = np.load(EXAMPLE / f"{name}.npz")
        assert set(stored.files) == set(made[name]), name
        assert (stored["labels"] == made[name]["labels"]).all(), name
        assert stored["features"].shape == made[name]["features"].shape, name


@pytest.mark.parametrize("where", ["stored", "made"])
def test_known_digits_are_represented_better_than_unknown_ones(made, where):
    sets = {name: np.load(EXAMPLE / f"{name}.npz") if where == "stored" else made[name] for name in ("seen", "unseen")}
    values = {name: ferm(one["features"], one["labels"]).values["ferm1"].value for name, one in sets.items()}
    assert values["seen"] > values["unseen"] + 0.05


def test_the_files_of_the_task_are_made_by_the_code(tmp_path):
    write_task_example(tmp_path)
    there = EXAMPLE.parent / "representation"
    assert (tmp_path / "labels.csv").read_text() == (there / "labels.csv").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        path.name
        for path in there.iterdir()
        if path.suffix not in {".md", ".toml"}  # which people write
    )
    for name in ("alpha", "gamma"):
        mine, kept = np.load(tmp_path / f"{name}.npz"), np.load(there / f"{name}.npz")
        assert {key: mine[key].shape for key in mine} == {key: kept[key].shape for key in kept}
    assert sorted(np.load(there / "alpha.npz")["ids"]) != list(np.load(there / "alpha.npz")["ids"])


def test_batches_hold_more_and_more_unknown_digits(made):
    shares = [float((made[name]["labels"] >= KNOWN).mean()) for name in ("monday", "tuesday", "wednesday")]
    assert shares == [0.0, pytest.approx(1 / 3), 0.75]
    assert len(made["monday"]["labels"]) == BATCH


def test_there_are_five_repeats_with_changed_pictures(made):
    assert sum(name.startswith("seen-changed") for name in made) == REPEATS == 5
    assert len(made["seen"]["labels"]) == KNOWN * ROWS
