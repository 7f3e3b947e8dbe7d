"""Scores of other programs: repeats are nested in items, and whatever is missing or odd is told (Y-6)."""

from __future__ import annotations

import csv
import random

import numpy as np
import pytest
from tests.cli.running import ROOT, here

import basanite
from basanite.errors import BasaniteError

EXAMPLE = ROOT / "examples" / "scores"
ROWS = [
    {"item": f"q{n}", "repeat": r, "score": int((n * 7 + r * 3) % 5 < 3), "cost": 0.1 * n, "topic": "ab"[n % 2]}
    for n in range(20)
    for r in range(3)
]


def table(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def told(rows, **settings):
    """The messages of problems and warnings of a table."""
    return [problem.message for problem in basanite.validate("scores", submission=rows, **settings)]


@pytest.mark.req("Y-6")
def test_repeats_are_nested_in_items_and_never_counted_as_units():
    once = [{"item": f"q{n}", "score": n % 3 == 0} for n in range(60)]
    often = [{**row, "repeat": r} for row in once for r in range(10)]
    one, ten = (basanite.score("scores", submission=rows) for rows in (once, often))
    assert ten["mean"].units == one["mean"].units == 60
    assert (ten["mean"].low, ten["mean"].high) == (one["mean"].low, one["mean"].high)
    assert ten["agreement"].value == 1.0
    assert "agreement" not in one.values


@pytest.mark.req("Y-6")
def test_values_are_those_worked_out_from_the_table():
    found = basanite.score("scores", submission=ROWS, metrics=["pass@2", "pass^2", "cost", "agreement", "pass_at_1"])
    by_item = [[row["score"] for row in ROWS if row["item"] == f"q{n}"] for n in range(20)]
    passes = np.array([sum(scores) for scores in by_item])
    pairs = np.array([3, 1, 1, 3])[passes]
    assert found["mean"].value == pytest.approx(passes.mean() / 3)
    assert found["pass_at_1"].value == pytest.approx(passes.mean() / 3)
    assert found["pass_at_2"].value == pytest.approx(np.array([0, 2 / 3, 1, 1])[passes].mean())
    assert found["pass_hat_2"].value == pytest.approx(np.array([0, 0, 1 / 3, 1])[passes].mean())
    assert found["agreement"].value == pytest.approx((pairs / 3).mean())
    assert found["cost"].value == pytest.approx(0.95)
    assert set(found.breakdowns["topic"]) == {"a", "b"}


@pytest.mark.req("Y-6")
def test_the_example_is_compared_by_clusters_with_paired_tests_and_groups():
    words = ("compare", "scores", "--reference", "items.csv", "--submission", "Alpha.csv", "--submission", "Beta.csv")
    found = here(*words, "--cluster", "source", "--json", cwd=EXAMPLE).data
    assert found["groups"]["mean"] == [["Alpha"], ["Beta"]]
    assert {"mean", "pass_at_1", "pass_at_5", "pass_hat_5", "agreement", "cost", "latency"} == set(found["groups"])
    assert found["groups"]["cost"][0] == ["Beta"]  # the cheaper one is better
    assert any("items of one source stay together (20 sources)" in note for note in found["notes"])


@pytest.mark.req("Y-6")
def test_the_systems_of_one_table_are_compared(tmp_path):
    rng = random.Random(3)
    rows = [
        {"system": name, "item": f"q{n}", "score": int(rng.random() < share)}
        for name, share in (("A", 0.9), ("B", 0.5), ("C", 0.5))
        for n in range(80)
    ]
    path = table(tmp_path / "board.csv", rows)
    found = here("compare", "scores", "--submission", path, "--json").data
    assert found["systems"] == ["A", "B", "C"]
    assert found["groups"]["mean"][0] == ["A"]
    one = basanite.score("scores", submission=path, only="B")
    assert one["mean"].value == found["values"]["B"]["mean"]["value"]
    refused = here("score", "scores", "--submission", path)
    assert refused.code == 1
    assert "there are 3 systems in it: A, B, C [Y-6]. Fix: name one (only=NAME), or compare them" in refused.stderr
    assert "no system is called 'D'" in here("score", "scores", "--submission", path, "--set", "only=D").stderr


@pytest.mark.req("Y-6")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[4].update(score=1.5), "the score 1.5 of item 'q1' lies outside 0 to 1"),
        (lambda rows: rows[4].update(score=float("inf")), "the score inf of item 'q1' lies outside 0 to 1"),
        (lambda rows: rows[4].update(score="good"), "score is not a number"),
        (lambda rows: rows[4].update(score=None), "item 'q1' has no score"),
        (lambda rows: rows[4].update(item=None), "item is empty"),
        (lambda rows: rows[4].update(cost=-1), "the cost -1 of item 'q1' is not a number of 0 or more"),
        (lambda rows: rows[4].update(repeat=0), "item 'q1', repeat 0, appears twice"),
        (lambda rows: rows.pop(4), "1 of 20 items have fewer than 3 repeats, such as 'q1' with 2"),
        (lambda rows: [row.pop("repeat") for row in rows], "item 'q0' appears twice"),
        (lambda rows: [row.update(points=row.pop("score")) for row in rows], "there is no column 'score'"),
    ],
)
def test_what_is_wrong_with_scores_is_told(change, message):
    rows = [dict(row) for row in ROWS]
    change(rows)
    assert message in told(rows)
    with pytest.raises(BasaniteError):
        basanite.score("scores", submission=rows)


@pytest.mark.req("Y-6")
def test_missing_scores_and_repeats_count_as_a_setting_says_and_are_noted():
    rows = [dict(row) for row in ROWS if row != ROWS[0]]
    rows[10]["score"] = None
    skipped = basanite.score("scores", submission=rows, missing="skip")
    lowest = basanite.score("scores", submission=rows, missing="lowest")
    scores = [[row["score"] for row in rows if row["item"] == f"q{n}" and row["score"] is not None] for n in range(20)]
    assert skipped["mean"].value == pytest.approx(np.mean([np.mean(one) for one in scores]))
    assert lowest["mean"].value == pytest.approx(np.mean([sum(one) / 3 for one in scores]))
    assert "1 of 59 trials have no score and are left out (missing=skip)" in skipped.notes
    assert any("2 items have fewer repeats than others" in note for note in skipped.notes)
    assert "2 trials without a score, 1 of them missing repeats, count 0 (missing=lowest)" in lowest.notes


@pytest.mark.req("Y-6")
def test_items_that_only_one_system_has_are_named(tmp_path):
    one, two = ([{"item": f"q{n}", "score": 1} for n in range(start, start + 20)] for start in (0, 2))
    files = table(tmp_path / "A.csv", one), table(tmp_path / "B.csv", two)
    ended = here("compare", "scores", "--submission", files[0], "--submission", files[1])
    assert ended.code == 2
    assert "2 only A has (such as 'q0'), 2 only B has (such as 'q20')" in ended.stderr


@pytest.mark.req("Y-6")
def test_a_table_of_items_says_which_must_be_there():
    items = [{"item": f"q{n}", "site": f"s{n % 7}"} for n in range(21)]
    assert told(ROWS, reference=items) == ["item 'q20' has no answer"]
    found = basanite.score("scores", submission=ROWS, reference=items[:20], cluster="site")
    assert any("7 sites" in note for note in found.notes)


@pytest.mark.req("Y-6")
def test_a_scale_of_its_own_says_which_scores_there_can_be_and_which_pass():
    rows = [{"item": f"q{n}", "repeat": r, "score": 10 * (n % 5) + r} for n in range(20) for r in range(2)]
    found = basanite.score("scores", submission=rows, range="0..100", **{"pass": 21})
    assert found["mean"].value == pytest.approx(20.5)
    assert found["pass_at_1"].value == pytest.approx((0 + 0 + 0.5 + 1 + 1) / 5)
    low = basanite.score("scores", submission=rows, range="any", better="low")
    assert low["mean"].value == found["mean"].value
    assert "pass_at_1" not in low.values
    ended = here("score", "scores", "--submission", EXAMPLE / "Alpha.csv", "--metric", "pass@6")
    assert (ended.code, "Pass@6 needs 6 repeats of an item, and there are 5" in ended.stderr) == (2, True)


@pytest.mark.req("Y-6")
def test_parquet_is_read_as_the_same_table_in_csv_is(tmp_path):
    pl = pytest.importorskip("polars")
    rows = [{"system": name, **row, "topic": f"t{row['topic']}"} for name in ("A", "B") for row in ROWS]
    files = {"csv": table(tmp_path / "board.csv", rows), "parquet": tmp_path / "board.parquet"}
    pl.DataFrame(rows).write_parquet(files["parquet"])
    words = ("compare", "scores", "--metric", "pass^2", "--json")
    one, two = (here(*words, "--submission", path).data for path in files.values())
    assert one == two
    for path in files.values():
        assert here("audit", path, "--json").data["claims"][0]["difference"] == 0
    pl.DataFrame([*rows, rows[-1]]).write_parquet(tmp_path / "twice.parquet")
    assert "repeat 2, appears twice" in here("audit", tmp_path / "twice.parquet").stderr
    pl.DataFrame([*rows[:-1], {**rows[-1], "item": None}]).write_parquet(tmp_path / "empty.parquet")
    assert "item is empty" in here("audit", tmp_path / "empty.parquet").stderr
    pl.DataFrame([*rows[:-1], {**rows[-1], "score": None}]).write_parquet(tmp_path / "missing.parquet")
    assert "item 'q19' of B has no score" in here("audit", tmp_path / "missing.parquet").stderr


@pytest.mark.req("Y-6", case="bad")
def test_a_few_bytes_cannot_ask_for_billions_of_repeats():
    rows = [{"item": "q0", "repeat": at, "score": 1} for at in range(4000)]
    rows += [{"item": f"r{at}", "repeat": 0, "score": 1} for at in range(4000)]
    assert "more than 10,000,000 repeats are missing" in told(rows, missing="lowest")
