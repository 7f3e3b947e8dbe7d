"""Items with several labels: the first one in the declared order counts, and folds may go by all of them (A6)."""

import numpy as np
import polars as pl
import pytest

from basanite.errors import InvalidInputError
from basanite.harness.data.dataset import Dataset, first_labels, iterative_folds
from basanite.harness.data.splits import facts, splits
from basanite.harness.data.tables import load_data, read_table
from basanite.harness.plan import TaskPlan
from basanite.harness.protocol import Seeds

NAMES = ("AnswerPhone", "DriveCar", "Eat", "Run")


def labels(rows=400, seed=0):
    """Some rare and some frequent labels that go together."""
    dice = np.random.default_rng(seed)
    table = dice.random((rows, 4)) < np.array([0.06, 0.15, 0.3, 0.5])
    table[:, 0] |= table[:, 1] & (dice.random(rows) < 0.2)
    return table


def data(table):
    targets = {name: table[:, at].astype(float) for at, name in enumerate(NAMES)}
    return Dataset("clips", np.zeros((len(table), 2)), targets, first_labels=first_labels(targets))


def task(**changes):
    return TaskPlan(
        **{"name": "clips", "data": {}, "metric": "map11", "n": 200, "folds": 5, "shared_split": True, **changes}
    )


def spread(table, folds):
    counts = np.array([table[fold].sum(axis=0) for fold in folds])
    return (counts.max(axis=0) - counts.min(axis=0)).max()


def test_the_first_label_is_the_first_of_the_declared_order():
    table = labels()
    found = first_labels({name: table[:, at].astype(float) for at, name in enumerate(NAMES)})
    expected = [next((at for at in range(4) if row[at]), -1) for row in table]
    assert found.tolist() == expected
    assert -1 in expected


def test_folds_hold_as_many_of_each_first_label_and_the_counts_are_told():
    table = labels()
    clips = data(table)
    made = splits(task(), clips, Seeds.from_number(1))["shared"]
    first = clips.first_labels
    counts = np.array([[np.sum(first[fold] == label) for label in range(-1, 4)] for fold in made.folds])
    assert (counts.max(axis=0) - counts.min(axis=0)).max() <= 1
    told = facts(task(), clips, "shared", made).canonical()["positives_in_folds"]
    assert told == [dict(zip(NAMES, table[fold].sum(axis=0).tolist(), strict=True)) for fold in made.folds]


@pytest.mark.parametrize("seed", range(5))
def test_iterative_stratification_spreads_every_label(seed):
    table = labels(seed=seed)
    plain = splits(task(), data(table), Seeds.from_number(1))["shared"]
    iterative = splits(task(iterative=True), data(table), Seeds.from_number(1))["shared"]
    assert np.array_equal(plain.training, iterative.training)
    assert np.array_equal(plain.test, iterative.test)
    assert spread(table, iterative.folds) <= min(spread(table, plain.folds), 3)
    assert {len(fold) for fold in iterative.folds} <= {39, 40, 41}


def test_iterative_folds_hold_every_row_once_and_depend_on_nothing_but_the_labels():
    table = labels(97)
    folds = iterative_folds(table, 7)
    assert sorted(np.concatenate(folds).tolist()) == list(range(97))
    assert all(map(np.array_equal, folds, iterative_folds(table, 7)))
    assert [len(fold) for fold in iterative_folds(np.zeros((6, 2), bool), 3)] == [2, 2, 2]


def test_any_table_of_numbers_is_a_data_set(tmp_path):
    table = labels(50)
    columns = {"width": np.arange(50.0), "height": np.ones(50), "film": ["a", "b"] * 25}
    frame = pl.DataFrame({**columns, **{name: table[:, at].astype(int) for at, name in enumerate(NAMES)}})
    frame.write_csv(tmp_path / "clips.csv")
    frame.write_parquet(tmp_path / "clips.parquet")
    one, two = (
        load_data(task(data={"reader": "table", "path": f"clips.{kind}", "group": "film"}, targets=NAMES), tmp_path)
        for kind in ("csv", "parquet")
    )
    assert one.digest == two.digest
    assert one.items.shape == (50, 2)
    assert one.groups.tolist() == [0, 1] * 25
    assert one.first_labels.tolist() == first_labels(one.targets).tolist()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"x,Run\n1,0\n2,7\n", 3),
        (b"x,Run\n1,0\nnan,1\n", 3),
        (b"x,Run\n1,0\n,1\n", 3),
        (b"x,Run\n1,0\none,0\n", 3),
        (b"x,Rum\n1,0\n", 1),
        (b"", None),
        (b"\xff\xfe\x00", 1),
    ],
    ids=["label", "nan", "empty cell", "words", "column", "empty", "bytes"],
)
def test_a_table_that_cannot_be_used_is_told_with_the_line(tmp_path, content, line):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        read_table(tmp_path / "t.csv", ["Run"])
    assert [problem.line for problem in caught.value.findings][:1] == [line]
