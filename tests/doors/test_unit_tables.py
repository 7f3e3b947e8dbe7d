"""Every result as a table of units (unit, system, metric, value), which compare reads again (T-30)."""

from __future__ import annotations

import csv
import json
import math
from statistics import fmean

import polars as pl
import pytest
from tests.cli.running import here
from tests.doors.examples import BY_TASK, EXAMPLES

import basanite

HEADER = ["unit", "system", "metric", "value"]
WITHOUT = {"representation": "representation has no values of single units here"}
"""Tasks whose measures are of whole sets."""


def from_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == HEADER
    return {(unit, metric): float(value or "nan") for unit, _, metric, value in rows}


def from_lines(path):
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["unit"], row["metric"]): math.nan if row["value"] is None else row["value"] for row in rows}


def from_parquet(path):
    frame = pl.read_parquet(path)
    assert frame.columns == HEADER
    return {(row[0], row[2]): math.nan if row[3] is None else row[3] for row in frame.rows()}


@pytest.mark.req("T-30")
@pytest.mark.parametrize("task", BY_TASK)
def test_the_result_of_every_task_is_written_as_a_table_of_units_and_compared_again(task, tmp_path):
    words = ["score", task, *BY_TASK[task].home(task)]
    ended = here(*words, "--units", "a.csv", cwd=tmp_path)
    if task in WITHOUT:
        assert (ended.code, WITHOUT[task] in ended.stderr) == (2, True)
        return
    assert ended.code == 0, ended.stderr
    written = from_csv(tmp_path / "a.csv")
    result = ended.data
    names = {metric.partition("[")[0] for _, metric in written}
    known = set(result["values"]) | {name for one in result["breakdowns"].values() for v in one.values() for name in v}
    assert names <= known
    assert result["primary"] in names or not result["values"]
    for name, value in result["values"].items():
        alone = [number for (_, metric), number in written.items() if metric == name]
        assert not alone or value["units"] <= len(alone)
    other = {key: value + 1 for key, value in written.items()}
    rows = "".join(f'"{unit}",other,{metric},{value}\n' for (unit, metric), value in other.items() if value == value)
    empty = "".join(f'"{unit}",other,{metric},\n' for (unit, metric), value in other.items() if value != value)
    (tmp_path / "b.csv").write_text(",".join(HEADER) + "\n" + rows + empty, encoding="utf-8")
    metric = next(name for (_, name), value in written.items() if value == value)
    compared = here("compare", "--result", "a.csv", "--result", "b.csv", "--metric", metric, "--json", cwd=tmp_path)
    assert compared.code == 0, compared.stderr
    (difference,) = compared.data["differences"]
    defined = [value for (_, name), value in written.items() if name == metric and value == value]
    means = {system: values[metric]["value"] for system, values in compared.data["values"].items()}
    assert sorted(means.values()) == pytest.approx([fmean(defined), fmean(defined) + 1], rel=1e-9)
    assert abs(difference["difference"]) == pytest.approx(1, rel=1e-9)


@pytest.mark.req("T-30")
@pytest.mark.parametrize("task", ["ranking", "clir"])
def test_all_formats_hold_the_same_values(task, tmp_path):
    example = BY_TASK[task]
    given = ("score", task, example.path(task, example.reference), example.path(task, example.submission))
    for name in ("u.csv", "u.jsonl", "u.parquet"):
        assert here(*given, "--draws", "20", "--units", name, cwd=tmp_path).code == 0
    found = from_csv(tmp_path / "u.csv")
    assert from_lines(tmp_path / "u.jsonl") == pytest.approx(found, nan_ok=True)
    assert from_parquet(tmp_path / "u.parquet") == pytest.approx(found, nan_ok=True)
    assert any(value != value for value in found.values())


@pytest.mark.req("T-13", "T-30")
def test_single_queries_are_printed_as_trec_eval_prints_them(tmp_path):
    given = ("score", "ranking", "qrels.txt", "alpha.run", "--metric", "recall_100", "--draws", "20")
    assert here(*given, "--units", tmp_path / "q.txt", cwd=EXAMPLES / "ranking").code == 0
    lines = [line.split("\t") for line in (tmp_path / "q.txt").read_text().splitlines()]
    assert all(len(line) == 3 and len(line[0]) >= 22 for line in lines)
    cells = {(name.strip(), query): value for name, query, value in lines}
    queries = {query for _, query in cells} - {"all"}
    assert len(queries) == int(cells["num_q", "all"]) == 24
    for name in ("map", "recall_100"):
        mean = fmean(float(cells[name, query]) for query in queries)
        assert float(cells[name, "all"]) == pytest.approx(mean, abs=1e-4)


@pytest.mark.req("T-30")
def test_a_comparison_writes_all_its_systems_and_finds_the_same_again(tmp_path):
    given = ("qrels.txt", "alpha.run", "beta.run", "gamma.run", "--metric", "map", "--json")
    ended = here("compare", "ranking", *given, "--units", tmp_path / "u.jsonl", cwd=EXAMPLES / "ranking")
    again = here("compare", "--result", tmp_path / "u.jsonl", "--metric", "map", "--json", cwd=tmp_path)
    assert again.data["systems"] == ["alpha", "beta", "gamma"]
    for first, second in zip(ended.data["differences"], again.data["differences"], strict=True):
        assert first["verdict"] == second["verdict"]
        assert first["difference"] == pytest.approx(second["difference"], rel=1e-6)
        assert first["p"] == pytest.approx(second["p"], abs=0.005)
    assert any("means over the units" in note for note in again.data["notes"])
    from_python = basanite.compare_values(tmp_path / "u.jsonl")
    assert from_python.ranking("map").column("system") == again.data["groups"]["map"][0] + [
        name for group in again.data["groups"]["map"][1:] for name in group
    ]
    assert from_python.save_units(tmp_path / "again.csv").exists()


@pytest.mark.req("T-30")
def test_lower_is_better_where_the_metric_says_so(tmp_path):
    rows = [["u1", "A", "wer", 0.5], ["u2", "A", "wer", 0.4], ["u1", "B", "wer", 0.1], ["u2", "B", "wer", 0.2]]
    rows += [[unit, system, "own", value] for unit, system, _, value in rows]
    (tmp_path / "u.csv").write_text("\n".join(",".join(map(str, row)) for row in [HEADER, *rows]) + "\n")
    ended = here("compare", "--result", "u.csv", "--json", cwd=tmp_path)
    assert [ranks["B"][0] for ranks in ended.data["rank_ranges"].values()] == [1, 1]
    best = basanite.compare_values(tmp_path / "u.csv")
    assert best.ranking("wer").column("system") == ["B", "A"]
    assert best.ranking("own").column("system") == ["A", "B"]
    assert any("high values of own are taken to be better" in note for note in ended.data["notes"])


@pytest.mark.req("T-30")
def test_names_that_a_spreadsheet_would_run_come_back_as_they_were(tmp_path):
    (tmp_path / "key.csv").write_text("id,label\n=1+1,a\n-5,b\nx,a\n")
    (tmp_path / "mine.csv").write_text("id,label\n=1+1,a\n-5,a\nx,a\n")
    here("score", "classification", "key.csv", "mine.csv", "--units", "u.csv", cwd=tmp_path)
    assert "\n'=1+1,mine,accuracy,1\n" in (tmp_path / "u.csv").read_text()
    here("score", "classification", "key.csv", "mine.csv", "--units", "u.jsonl", cwd=tmp_path)
    both = here("compare", "--result", "u.csv", "--result", "u.jsonl", cwd=tmp_path)
    assert "f1_macro of mine on =1+1 appears twice" in both.stderr


@pytest.mark.req("T-30")
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("unit,system,metric\nu1,A,m\n", 1, "there is no column 'value'"),
        ("unit,system,metric,value\nu1,A,m,many\nu1,B,m,1\n", 1, "u.csv:2: value is not a number"),
        ("unit,system,metric,value\nu1,A,m,1\nu1,A,m,2\n", 1, "m of A on u1 appears twice"),
        ("unit,system,metric,value\nu1,A,m,1\n", 2, "give at least two systems"),
        ("unit,system,metric,value\nu1,A,m,1\nu2,B,m,1\n", 2, "are not those of the others"),
        ("unit,system,metric,value\n", 1, "there is no value in it"),
        ("unit,system,metric,value\nu1,A,m,inf\nu1,B,m,1\n", 2, "give a finite number"),
    ],
)
def test_a_table_that_cannot_be_compared_is_refused_with_the_line(text, code, said, tmp_path):
    (tmp_path / "u.csv").write_text(text)
    ended = here("compare", "--result", "u.csv", cwd=tmp_path)
    assert (ended.code, said in ended.stderr, "Traceback" in ended.stderr) == (code, True, False), ended.stderr


@pytest.mark.req("T-30")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("score", "ranking", "qrels.txt", "alpha.run", "--units", "u.html"), "name it .csv, .jsonl, .parquet or .txt"),
        (("score", "ranking", "qrels.txt", "alpha.run", "--units", "no/u.csv"), "does not exist"),
        (("score", "ranking", "qrels.txt", "alpha.run", "--units", "qrels.txt"), "is an input of this run"),
        (("compare", "ranking", "qrels.txt", "alpha.run", "beta.run", "--units", "u.txt"), "would hold one system"),
    ],
)
def test_a_table_of_units_that_cannot_be_written_is_refused(words, said, tmp_path):
    ended = here(*words, cwd=EXAMPLES / "ranking")
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr
