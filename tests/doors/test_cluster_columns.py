"""`--cluster COLUMN` of `score` and `compare`: which units are resampled together, for every task (S-28)."""

import json

import numpy as np
import pytest
from tests.cli.running import here
from tests.doors.examples import BY_TASK, EXAMPLES

import basanite

GROUPS, SIZE = 30, 6
SUBJECTS = {
    "ranking": "query",
    "clir": "query",
    "e2e": "query",
    "readability": "passage",
    "relevance": "item",
    "scores": "item",
} | dict.fromkeys(("domainid", "langid", "reading"), "document")
"""What the first column of a metadata table is called, where it is not `id`."""


def write_items(folder, groups=GROUPS, *, column="patient", size=SIZE, names=str):
    """Items of patients on whom a system is nearly always right or nearly always wrong; the group and hit of each."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(groups), size)
    right = rng.random(groups)[group] < 0.6
    right ^= rng.random(len(right)) < 0.05
    ids = [f"i{at:04}" for at in range(len(group))]
    cells = [names(number) for number in group]
    rows = (f"{name},x,{cell}" for name, cell in zip(ids, cells, strict=True))
    (folder / "key.csv").write_text("\n".join((f"id,label,{column}", *rows)) + "\n")
    (folder / "plain.csv").write_text("\n".join(("id,label", *(f"{name},x" for name in ids))) + "\n")
    (folder / "groups.csv").write_text(
        "\n".join((f"id,{column}", *(f"{name},{cell}" for name, cell in zip(ids, cells, strict=True)))) + "\n"
    )
    for system, hits in (("one", right), ("two", rng.random(len(right)) < 0.5)):
        answers = (f"{name},{'x' if hit else 'y'}" for name, hit in zip(ids, hits, strict=True))
        (folder / f"{system}.csv").write_text("\n".join(("id,label", *answers)) + "\n")
    return group, right


def run_score(folder, *words, reference="key.csv", code=0):
    given = ("--reference", reference, "--submission", "one.csv", "--metric", "accuracy", "--json")
    ended = here("score", "classification", *given, *words, cwd=folder)
    assert ended.code == code, ended.stderr
    return ended.data if code == 0 else ended.stderr


def bounds(data):
    return data["values"]["accuracy"]["low"], data["values"]["accuracy"]["high"]


@pytest.mark.req("S-28", case="good")
def test_whole_clusters_of_the_named_column_are_resampled(tmp_path):
    group, right = write_items(tmp_path)
    alone, together = run_score(tmp_path), run_score(tmp_path, "--cluster", "patient")
    rates = np.array([right[group == number].mean() for number in range(GROUPS)])
    drawn = rates[np.random.default_rng(1).integers(0, GROUPS, (20_000, GROUPS))].mean(axis=1)
    width = np.ptp(np.quantile(drawn, (0.025, 0.975)))
    assert np.ptp(bounds(together)) == pytest.approx(width, rel=0.25)
    assert np.ptp(bounds(together)) > 1.5 * np.ptp(bounds(alone))
    assert together["values"]["accuracy"]["value"] == alone["values"]["accuracy"]["value"]
    assert together["settings"]["cluster"] == "patient"
    assert "|cluster:patient|" in together["signature"]
    assert any("items of one patient stay together (30 patients)" in note for note in together["notes"])


@pytest.mark.req("S-28", case="good")
def test_a_column_of_the_metadata_is_as_good_as_one_of_the_reference(tmp_path):
    write_items(tmp_path)
    described = run_score(tmp_path, "--metadata", "groups.csv", "--cluster", "patient", reference="plain.csv")
    assert bounds(described) == bounds(run_score(tmp_path, "--cluster", "patient"))
    files = {"reference": tmp_path / "plain.csv", "submission": tmp_path / "one.csv"}
    found = basanite.score("classification", **files, metadata=tmp_path / "groups.csv", cluster="patient")
    assert (found.values["accuracy"].low, found.values["accuracy"].high) == pytest.approx(bounds(described))
    assert run_score(tmp_path, "--set", "cluster=patient")["values"] == described["values"]


@pytest.mark.req("S-28", case="good")
@pytest.mark.parametrize("where", ["reference", "metadata"])
def test_a_column_called_cluster_is_taken_as_one_unless_told_otherwise(tmp_path, where):
    write_items(tmp_path, column="cluster")
    given = ("--metadata", "groups.csv") if where == "metadata" else ()
    reference = "plain.csv" if where == "metadata" else "key.csv"
    taken = run_score(tmp_path, *given, reference=reference)
    left = run_score(tmp_path, *given, "--cluster", "none", reference=reference)
    assert any("items of one cluster stay together (30 clusters)" in note for note in taken["notes"])
    assert np.ptp(bounds(taken)) > 1.5 * np.ptp(bounds(left))
    assert "units treated as independent" in left["notes"]
    assert "units treated as independent" not in taken["notes"]


@pytest.mark.req("S-28", case="good")
def test_a_comparison_moves_clusters_too(tmp_path):
    write_items(tmp_path)
    given = ("--reference", "key.csv", "--submission", "one.csv", "--submission", "two.csv", "--metric", "accuracy")
    alone, together = (
        here("compare", "classification", *given, *words, "--json", cwd=tmp_path).data["differences"]
        for words in ((), ("--cluster", "patient"))
    )
    width = [one["high"] - one["low"] for found in (alone, together) for one in found if one["metric"] == "accuracy"]
    assert width[1] > 1.3 * width[0]


@pytest.mark.req("S-28")
def test_a_column_that_looks_like_a_cluster_and_is_ignored_is_named_in_a_note(tmp_path):
    def ignored(*words, **more):
        write_items(tmp_path, **more)
        return [note for note in run_score(tmp_path, *words)["notes"] if "looks like a cluster" in note]

    (note,) = ignored()
    assert "patient (30 levels)" in note
    assert "name patient as the cluster" in note
    (shown,) = ignored(names=lambda number: f"Ward {number:02} bed")
    assert "patient (30 levels)" in shown
    assert ignored(groups=14) == []
    assert ignored(groups=180, size=1) == [], "every level once: no cluster"
    assert ignored("--cluster", "patient") == []
    assert ignored("--cluster", "none") == [], "the user has decided"
    described = run_score(tmp_path, "--metadata", "groups.csv", reference="plain.csv")
    assert "patient" in described["breakdowns"], "a factor"
    assert not any("looks like a cluster" in note for note in described["notes"]), "declared by the metadata table"


@pytest.mark.req("S-28", "S-13")
def test_the_minimum_counts_clusters_and_the_flag_names_them(tmp_path):
    write_items(tmp_path, groups=6, size=18, column="recording")
    few = run_score(tmp_path, "--cluster", "recording")
    value = few["values"]["accuracy"]
    assert (value["low"], value["high"], value["units"]) == (None, None, 108)
    assert "too few for an interval: 6 recordings" in value["flags"]
    assert bounds(run_score(tmp_path))[0] is not None
    write_items(tmp_path, groups=15, size=8, column="recording")
    assert bounds(run_score(tmp_path, "--cluster", "recording"))[0] is not None
    write_items(tmp_path, groups=1, size=40, column="site")
    assert "too few for an interval: 1 site" in run_score(tmp_path, "--cluster", "site")["values"]["accuracy"]["flags"]
    words = here("score", "classification", "--reference", "key.csv", "--submission", "one.csv", "--cluster", "site")
    assert words.code == 2  # not in this folder: nothing is read from elsewhere


@pytest.mark.req("S-28", "S-13")
def test_the_words_of_a_report_and_of_a_comparison_name_the_few_clusters(tmp_path):
    write_items(tmp_path, groups=6, size=18, column="recording")
    given = ("--reference", "key.csv", "--cluster", "recording", "--metric", "accuracy", "--submission", "one.csv")
    shown = here("score", "classification", *given, "--report", "one.html", cwd=tmp_path)
    assert "too few for an interval: 6 recordings" in " ".join(shown.stdout.split())
    assert "6 recordings" in (tmp_path / "one.html").read_text()
    both = here("compare", "classification", *given, "--submission", "two.csv", "--json", cwd=tmp_path)
    notes = [one["note"] for one in both.data["differences"] if one["metric"] == "accuracy"]
    assert all("too few for an interval: 6 recordings" in note for note in notes)


@pytest.mark.req("S-28")
def test_units_without_a_cell_are_clusters_of_their_own(tmp_path):
    write_items(tmp_path, names=lambda number: "" if number < 10 else f"p{number}")
    notes = run_score(tmp_path, "--cluster", "patient")["notes"]
    assert "patient: not known for 60 of 180 units; each is a cluster of its own" in notes
    assert any("(80 patients)" in note for note in notes)


@pytest.mark.req("S-28")
def test_numbers_as_programs_write_them_name_clusters_too(tmp_path):
    write_items(tmp_path)
    rows = [line.split(",") for line in (tmp_path / "key.csv").read_text().splitlines()[1:]]
    cells = (None if at % 9 == 0 else float(patient) for at, (*_, patient) in enumerate(rows))
    objects = ({"id": row[0], "label": row[1], "patient": cell} for row, cell in zip(rows, cells, strict=True))
    (tmp_path / "key.jsonl").write_text("".join(json.dumps(one) + "\n" for one in objects))
    notes = run_score(tmp_path, "--cluster", "patient", reference="key.jsonl")["notes"]
    assert "patient: not known for 20 of 180 units; each is a cluster of its own" in notes


@pytest.mark.req("S-28")
def test_one_unit_in_each_cluster_is_the_same_as_no_clusters(tmp_path):
    write_items(tmp_path, groups=120, size=1)
    assert bounds(run_score(tmp_path, "--cluster", "patient")) == bounds(run_score(tmp_path, "--cluster", "none"))


@pytest.mark.req("S-28", case="bad")
def test_a_column_that_is_missing_or_empty_is_refused_with_those_there_are(tmp_path):
    write_items(tmp_path)
    wrong = run_score(tmp_path, "--cluster", "patent", code=2)
    assert "No column about each item is called 'patent'" in wrong
    assert "Did you mean 'patient'?" in wrong
    assert "--metadata" in run_score(tmp_path, "--cluster", "patient", reference="plain.csv", code=2)
    assert "twice" in run_score(tmp_path, "--cluster", "patient", "--set", "cluster=none", code=2)
    assert "--dask 127.0.0.1:8786" in run_score(tmp_path, "--cluster", "127.0.0.1:8786", code=2)
    write_items(tmp_path, names=lambda number: "")
    assert "patient" in run_score(tmp_path, "--cluster", "patient", code=2)


@pytest.mark.req("S-28", case="good")
@pytest.mark.parametrize("task", BY_TASK)
def test_every_task_takes_a_cluster_from_a_table_of_its_units(task, tmp_path):
    example = BY_TASK[task]
    single = {"judgements": example.path(task, example.judgements)} if example.judgements else {}
    files = {name: example.path(task, getattr(example, name)) for name in ("reference", "submission")}
    scores = basanite.score(task, **files, **single, **example.settings, draws=5).scores
    units = scores.tables[scores.primary].units
    rows = (f"{unit}\tb{at // 2}" for at, unit in enumerate(units))
    table = tmp_path / "blocks.tsv"
    table.write_text("\n".join((f"{SUBJECTS.get(task, 'id')}\tblock", *rows)) + "\n")
    words = (*map(str, example.home(task)), "--metadata", str(table), "--cluster", "block")
    ended = here("score", task, *words, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    blocks = f"({-(-len(units) // 2)} blocks)" if len(units) > 2 else "(1 block)"
    assert any(f"items of one block stay together {blocks}" in note for note in ended.data["notes"])


@pytest.mark.req("S-28", "S-10")
def test_where_only_some_units_are_in_clusters_the_others_are_named(tmp_path):
    folder = EXAMPLES / "clir"
    queries = sorted(path.stem for path in (folder / "key").iterdir())
    (tmp_path / "topics.tsv").write_text("query\ttopic\n" + "".join(f"{name}\t{name[-1]}\n" for name in queries))
    files = ("--reference", str(folder / "key"), "--submission", str(folder / "Alpha.tgz"), "--metadata", "topics.tsv")
    notes = here("score", "clir", *files, "--cluster", "topic", "--json", cwd=tmp_path).data["notes"]
    assert "units treated as independent: each document" in notes  # adwv is over documents, which have no topic
