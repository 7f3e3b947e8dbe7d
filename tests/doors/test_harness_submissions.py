"""What a learning evaluation predicted, as submissions that pass the stages of all others (H-44)."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from tests.cli.running import here
from tests.harness.analysis.folders import folder


def submissions(path, out, *words):
    ended = here("harness", "submissions", path, "--out", out, "--json", *words)
    assert ended.code == 0, ended.stderr
    return ended.data["submissions"]


@pytest.mark.req("H-44", case="good")
@pytest.mark.parametrize(
    ("metric", "task", "settings"), [("map11", "labels", ()), ("mrmse", "ratings", ("--set", "range=1..5"))]
)
def test_each_fold_of_each_run_is_a_file_whose_score_is_the_value_of_the_run(tmp_path, metric, task, settings):
    folder(tmp_path / "result", metric=metric, teams=("a",), rows=60, folds=2, gone=("5a",))
    found = submissions(tmp_path / "result", tmp_path / "out")
    assert len(found) == 2 * 6  # the floor and five runs, in two folds
    kept = {}
    for line in (tmp_path / "result" / "scores.jsonl").read_text().splitlines():
        one = json.loads(line)
        kept.setdefault((one["run"], one["fold"]), []).append(one["value"])
    for one in found:
        assert one["scored"] == pytest.approx(np.mean(kept[one["run"], one["fold"]]), abs=1e-9)
    last = found[-1]
    reference, file = (tmp_path / "out" / last[name] for name in ("reference", "file"))
    assert here("validate", task, reference, file, *settings).code == 0
    scored = here("score", task, reference, file, "--draws", "100", "--json", *settings).data
    assert scored["values"][metric]["value"] == pytest.approx(last["scored"], abs=1e-9)
    first = file.with_name("1.fold02.csv")
    compared = here("compare", task, reference, file, first, "--draws", "100", *settings)
    assert compared.code == 0, compared.stderr


@pytest.mark.req("H-44", case="bad")
def test_a_value_that_its_predictions_do_not_give_fails_and_files_are_never_overwritten(tmp_path):
    folder(tmp_path / "result", teams=("a",), rows=60, folds=2)
    lines = [json.loads(line) for line in (tmp_path / "result" / "scores.jsonl").read_text().splitlines()]
    changed = next(one for one in lines if one["run"] == "6a")
    changed["value"] = 0.123
    (tmp_path / "result" / "scores.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    ended = here("harness", "submissions", tmp_path / "result", "--out", tmp_path / "out", "--only", "6a")
    assert ended.code == 1
    assert "6a.fold01.csv" in ended.stdout
    assert "2 submissions written" in ended.stdout
    again = here("harness", "submissions", tmp_path / "result", "--out", tmp_path / "out")
    assert again.code == 2
    assert "is not empty" in again.stderr
    wrong = here("harness", "submissions", tmp_path / "result", "--out", tmp_path / "new", "--only", "7a")
    assert "There is no run '7a'" in wrong.stderr


@pytest.mark.req("H-44")
def test_rows_that_come_in_groups_keep_them_as_clusters(tmp_path):
    groups = np.arange(60) // 3
    folder(tmp_path / "result", teams=("a",), rows=60, folds=2, clusters=groups)
    (one, *_) = submissions(tmp_path / "result", tmp_path / "out", "--only", "1")
    with (tmp_path / "out" / one["reference"]).open() as file:
        rows = list(csv.DictReader(file))
    assert len({row["source"] for row in rows}) == len(np.unique(groups))
