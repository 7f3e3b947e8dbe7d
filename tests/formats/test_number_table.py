"""Tables of numbers: which columns hold them, and what is said of a cell that does not."""

import numpy as np
import polars
import pytest

from basanite.formats.items import FINITE, Wanted, align_columns, numbers, read_numbers
from basanite.formats.records import Place
from basanite.problems import Findings

PLACE = Place("submission", "H-20")


def read(path, content, wanted=FINITE, **more):
    path.write_text(content, encoding="utf-8")
    findings = Findings(limit=None)
    return read_numbers(path, PLACE, findings, wanted, **more), findings


def test_columns_of_text_describe_items_and_all_others_hold_numbers(tmp_path):
    items, findings = read(tmp_path / "a.csv", "id,film,A,genre,B\nx,12,0.5,war,-1e3\ny,13,2,,7\n", text=("film",))
    assert findings.valid
    assert items.content[0].names == ("A", "B")
    assert align_columns(items.content, ("B", "A")).tolist() == [[-1000, 0.5], [7, 2]]
    assert items.columns == {"film": ("12", "13"), "genre": ("war", "")}


def test_every_cell_that_is_no_number_is_named_with_its_line(tmp_path):
    items, findings = read(tmp_path / "a.csv", "id,A,B\nx,one,0\ny,1,\nz,nan,inf\nx,1,1\n")
    found = [(problem.line, problem.message.split(":")[0], problem.found) for problem in findings.problems]
    assert found == [(2, "A", "one"), (3, "B", ""), (4, "A", "nan"), (4, "B", "inf"), (5, "id 'x' appears twice", "x")]
    assert items.ids == ("x", "y", "z")


def test_a_parquet_file_is_read_like_its_table(tmp_path):
    polars.DataFrame({"id": [1, 2], "A": [0.25, 1.0], "B": [True, False], "C": [None, None]}).write_parquet(
        tmp_path / "a.parquet"
    )
    findings = Findings()
    items = read_numbers(tmp_path / "a.parquet", PLACE, findings, FINITE)
    assert findings.valid
    assert items.ids == ("1", "2")
    assert align_columns(items.content, ("A", "B")).tolist() == [[0.25, 1], [1, 0]]


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("name,A\nx,1\n", {}),
        ("id,A\nx,1\n", {"chosen": ("A", "B")}),
        ("id,A\nx,words\n", {}),
        ("id\nx\n", {}),
        ("", {}),
        ("id,A\n", {}),
        ("id,A,A\nx,1,2\n", {}),
    ],
    ids=["no id", "a column missing", "no numbers", "only ids", "empty", "only a header", "a name twice"],
)
def test_a_table_without_what_is_needed_is_refused_and_never_a_crash(text, more, tmp_path):
    items, findings = read(tmp_path / "a.csv", text, **more)
    assert items is None
    assert not findings.valid
    assert all(problem.fix for problem in findings.problems)


def test_chosen_columns_leave_the_others_to_describe_items(tmp_path):
    items, findings = read(tmp_path / "a.csv", "id,A,year\nx,1,1999\n", chosen=("A",))
    assert findings.valid
    assert items.content[0].names == ("A",)
    assert items.columns == {"year": ("1999",)}


def test_what_a_cell_must_hold_is_up_to_the_task(tmp_path):
    positive = Wanted(lambda cells: cells > 0, "not above 0", "write more")
    _, findings = read(tmp_path / "a.csv", "id,A\nx,-1\n", positive)
    assert [(problem.message, problem.fix) for problem in findings.problems] == [("A: not above 0", "write more")]


def test_numbers_of_hostile_cells_are_infinite_and_of_empty_ones_nan():
    found = numbers([None, "9" * 400, [1], {"a": 1}, "1\0", 10**400, "-0.0"])
    assert np.isnan(found[0])
    assert np.isinf(found[1:6]).all()
    assert found[6] == 0
    assert align_columns([], ("A",)).shape == (0, 1)
