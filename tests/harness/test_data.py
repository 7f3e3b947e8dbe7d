"""The data layer: files become data sets, short reviews are dropped, and what was found is counted."""

import json
import unicodedata

import numpy as np
import polars as pl
import pytest
from tests.harness.plans import RATINGS, review_rows, write_csv

from basanite.errors import BasaniteError, InvalidInputError
from basanite.harness.data.dataset import Texts, items_of, stored_items
from basanite.harness.data.reviews import Columns, read_reviews
from basanite.harness.data.tables import load_data
from basanite.harness.plan import TaskPlan

FINE = "The food was good and the evening went by quickly."


def task(**changes):
    plain = {"name": "t", "data": {"reader": "digits"}, "metric": "map11"}
    return TaskPlan(**{**plain, **changes})


def review(text, **ratings):
    return {"text": text, "restaurant": "r1", **dict.fromkeys(RATINGS, "3"), **ratings}


def write_json_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_parquet(path, rows):
    pl.DataFrame(rows).write_parquet(path)
    return path


def test_csv_json_lines_and_parquet_give_the_same_data(tmp_path):
    rows = review_rows(40)
    numbers = [{**row, **{name: int(row[name]) for name in RATINGS}} for row in rows]
    found = [
        read_reviews(write_csv(tmp_path / "r.csv", rows), Columns()),
        read_reviews(write_json_lines(tmp_path / "r.jsonl", numbers), Columns()),
        read_reviews(write_parquet(tmp_path / "r.parquet", numbers), Columns()),
    ]
    assert len({data.digest for data in found}) == 1
    assert list(found[0].targets) == list(RATINGS)
    assert found[0].items[3] == rows[3]["text"]
    assert found[0].targets["food"].tolist() == [float(row["food"]) for row in rows]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x" * 30, True),
        ("x" * 29, False),
        ("  " + "x" * 29 + " \n", False),
        ("e\u0301" * 29, False),
        ("e\u0301" * 30, True),
        ("\U0001f600" * 30, True),
    ],
    ids=["thirty", "short", "blanks do not count", "marks join first", "thirty joined", "code points, not bytes"],
)
def test_length_is_counted_in_code_points_after_nfc_and_stripping(tmp_path, text, kept):
    path = write_csv(tmp_path / "r.csv", [review(FINE), review(text)])
    data = read_reviews(path, Columns())
    assert len(data) == 1 + kept
    assert data.counts["dropped"] == 1 - kept
    if kept:
        assert data.items[1] == unicodedata.normalize("NFC", text).strip()


def test_the_counts_found_stand_beside_the_published_ones(tmp_path):
    rows = [review(FINE), review(FINE + " Again!"), {**review(FINE), "restaurant": "r2"}, review("short")]
    counts = read_reviews(write_csv(tmp_path / "r.csv", rows), Columns()).counts
    assert (counts["reviews"], counts["restaurants"], counts["dropped"]) == (3, 2, 1)
    assert (counts["shortest"], counts["longest"], counts["mean_words"]) == (len(FINE), len(FINE) + 7, 10.3)
    assert counts["reviews_per_restaurant"] == 1.5
    published = counts["published"]
    assert (published["reviews"], published["restaurants"], published["mean_characters"]) == (433_697, 10_066, 248)


def test_every_bad_row_is_reported_with_its_line(tmp_path):
    rows = [review(FINE, food="6"), review(FINE, noise=""), review(FINE, overall="nan"), review(FINE)]
    path = write_csv(tmp_path / "r.csv", rows)
    path.write_text(path.read_text() + "too,few,cells\n")
    with pytest.raises(InvalidInputError) as caught:
        read_reviews(path, Columns())
    found = [(problem.line, problem.found) for problem in caught.value.findings]
    assert found == [(6, "too, few, cells"), (2, "6"), (4, ""), (3, "")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", b""),
        ("r.csv", b"\xff\xfe"),
        ("r.csv", b"text,overall\n"),
        ("r.csv", b'text\n"open'),
        ("r.csv", "text,food\n\x00,\u202e5\n".encode()),
        ("r.jsonl", b"[1]\n{\n"),
        ("r.jsonl", b"[" * 3000),
        ("r.jsonl", b'{"text": 4, "overall": true}\n'),
        ("r.parquet", b"PAR1"),
    ],
)
def test_what_is_no_table_of_reviews_is_told_and_never_crashes(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError):
        read_reviews(tmp_path / name, Columns())


def test_a_misspelt_column_is_answered_with_the_nearest(tmp_path):
    path = write_csv(tmp_path / "r.csv", [review(FINE)])
    with pytest.raises(InvalidInputError) as caught:
        read_reviews(path, Columns(ratings=("overal",)))
    assert "Did you mean 'overall'?" in next(iter(caught.value.findings)).fix


def test_columns_may_have_other_names_and_reviews_no_restaurant(tmp_path):
    path = write_csv(tmp_path / "r.csv", [{"body": FINE, "stars": "4"}])
    plan = task(data={"reader": "reviews", "path": "r.csv", "text": "body"}, targets=("stars",), metric="mrmse")
    data = load_data(plan, tmp_path)
    assert (data.groups, data.range, path.name) == (None, (1.0, 5.0), "r.csv")
    assert data.targets["stars"].tolist() == [4.0]


@pytest.mark.parametrize(
    ("name", "rows", "targets", "columns"),
    [("digits", 1797, 10, 64), ("breast_cancer", 569, 1, 30), ("diabetes", 442, 1, 10)],
)
def test_real_data_come_without_a_download(name, rows, targets, columns):
    data = load_data(task(data={"reader": name}), None)
    assert (len(data), len(data.targets), data.items.shape[1]) == (rows, targets, columns)


def test_digits_are_ten_labels_of_one_row_each():
    data = load_data(task(), None)
    assert np.array_equal(sum(data.targets.values()), np.ones(1797))
    assert all(data.targets[str(label)][row] == 1 for row, label in enumerate(data.first_labels.tolist()))


def test_generated_reviews_are_read_back_as_any_other_file(tmp_path):
    plan = task(data={"reader": "generated-reviews", "rows": 60, "seed": 4}, metric="mrmse")
    one, two = load_data(plan, tmp_path), load_data(plan, tmp_path)
    assert one.digest == two.digest
    assert list(one.targets) == list(RATINGS)
    assert one.counts["shortest"] >= 30
    assert one.counts["restaurants"] > 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": {"reader": "digit"}}, "Did you mean 'digits'"),
        ({"targets": ("11",)}, "no target '11'"),
        ({"group_by": "film"}, "no groups"),
        ({"data": {"reader": "reviews"}}, "need `path`"),
        ({"data": {"reader": "reviews", "path": "no.csv"}}, "cannot be read"),
    ],
    ids=["reader", "target", "groups", "path", "file"],
)
def test_data_that_are_not_there_are_told_with_a_cure(tmp_path, changes, words):
    with pytest.raises(BasaniteError, match=words):
        load_data(task(**changes), tmp_path)


def test_texts_go_through_the_store_and_come_back():
    texts = Texts.of(["", "café", "\U0001f600"])
    back = items_of(stored_items(texts))
    assert list(back) == ["", "café", "\U0001f600"]
    assert (back[-1], back[0:2], back.take(np.array([2, 0]))) == ("\U0001f600", ["", "café"], ["\U0001f600", ""])
    with pytest.raises(IndexError):
        back[3]
