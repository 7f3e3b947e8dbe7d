"""The example files of features: what they say of themselves, and that the code makes such files."""

import numpy as np
import pytest
from tests.representation.made import EXAMPLE

from basanite.metrics.representation.cosine import ferm
from basanite.synthetic.examples.features import BATCH, KNOWN, REPEATS, ROWS, example_files, trained

FILES = sorted(path.stem for path in EXAMPLE.glob("*.npz"))


@pytest.fixture(scope="module")
def made():
    return example_files(trained())


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


def test_batches_hold_more_and_more_unknown_digits(made):
    shares = [float((made[name]["labels"] >= KNOWN).mean()) for name in ("monday", "tuesday", "wednesday")]
    assert shares == [0.0, pytest.approx(1 / 3), 0.75]
    assert len(made["monday"]["labels"]) == BATCH


def test_there_are_five_repeats_with_changed_pictures(made):
    assert sum(name.startswith("seen-changed") for name in made) == REPEATS == 5
    assert len(made["seen"]["labels"]) == KNOWN * ROWS
