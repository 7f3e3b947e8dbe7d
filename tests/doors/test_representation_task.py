"""The task `representation`: features are submitted, scored, compared and put on boards as everything else (F-24)."""

from __future__ import annotations

import json
import pickle
import re
import zipfile

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as peers
from tests.cli.running import ROOT, here
from tests.doors.stage import staged
from tests.doors.test_season_rules import CLOSED, WEEK, release

import basanite
from basanite.errors import BasaniteError
from basanite.testing import small_campaign_text

EXAMPLE = ROOT / "examples" / "representation"
ROWS, CLASSES = 90, 5


@pytest.fixture(scope="module")
def arrays():
    """Features of five uneven classes, with every part that a measure may need."""
    rng = np.random.default_rng(4)
    labels = np.sort(np.append(np.arange(ROWS - 12) % CLASSES, np.zeros(12, int)))
    features = np.maximum(rng.normal(size=(CLASSES, 6))[labels] + 0.8 * rng.normal(size=(ROWS, 6)) + 1, 0)
    return {
        "features": features,
        "labels": labels,
        "groups": np.where(np.arange(ROWS) % 3 == 0, "old", "new"),
        "predictions": np.where(rng.random(ROWS) < 0.8, labels, 0),
        "source_probabilities": rng.dirichlet(np.ones(4), ROWS),
        "source_features": features[::3] + 0.1,
        "source_labels": labels[::3],
    }


@pytest.fixture
def place(tmp_path, arrays):
    """A folder with the labels and the features of the set, apart and together."""
    np.savez(tmp_path / "set.npz", **arrays)
    np.savez(tmp_path / "labels.npz", y=arrays["labels"], groups=arrays["groups"])
    sent = {name: array for name, array in arrays.items() if name not in ("features", "labels", "groups")}
    np.savez(tmp_path / "sent.npz", X=arrays["features"], **sent)
    return tmp_path


def scored(folder, submission, *words, reference="labels.npz", code=0):
    given = ("--reference", reference, "--submission", submission, "--json")
    ended = here("score", "representation", *given, *words, cwd=folder)
    assert ended.code == code, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.data


def compared(folder, *submissions, words=(), reference="labels.npz"):
    given = [word for name in submissions for word in ("--submission", name)]
    ended = here("compare", "representation", "--reference", reference, *given, *words, "--json", cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data


def problems(folder, submission, reference="labels.npz"):
    """What is wrong with a submission, by the command that validates."""
    given = ("--reference", reference, "--submission", submission, "--json")
    ended = here("validate", "representation", *given, cwd=folder)
    assert ended.code == 1, ended.stdout
    assert "Traceback" not in ended.stderr
    return [problem["message"] for problem in ended.data["problems"]]


def plain(data):
    """The values of a result, without intervals."""
    return {name: value["value"] for name, value in data["values"].items()}


@pytest.mark.req("F-24")
def test_the_same_files_give_the_numbers_of_measure_run_to_the_last_digit(place):
    task = scored(place, "sent.npz", "--draws", "50", "--seed", "3")
    measured = here("measure", "run", "set.npz", "--draws", "50", "--seed", "3", "--json", cwd=place).data
    assert {"leep", "otce_wd", "accuracy", "misplaced", "dunn", "h_score"} <= task["values"].keys()
    assert task["values"] == measured["values"]
    assert task["breakdowns"] == measured["breakdowns"]
    assert list(task["breakdowns"]) == ["class", "group"]


@pytest.mark.few(2)
@pytest.mark.req("F-24")
@pytest.mark.parametrize("setting", ["weighting=pairs", "q=2", "dunn=centroids", "level=0.9"])
def test_settings_are_those_of_measure_run(place, setting):
    words = ("--draws", "10", "--set", setting)
    other = here("measure", "run", "set.npz", *words, "--json", cwd=place).data["values"]
    assert scored(place, "sent.npz", *words)["values"] == other


@pytest.mark.req("F-24")
def test_values_are_those_of_peers_and_of_plain_definitions(place, arrays):
    features, labels = arrays["features"], arrays["labels"]
    found = plain(scored(place, "sent.npz", "--draws", "5"))
    assert found["silhouette"] == pytest.approx(peers.silhouette_score(features, labels), rel=1e-9)
    assert found["calinski_harabasz"] == pytest.approx(peers.calinski_harabasz_score(features, labels), rel=1e-9)
    assert found["davies_bouldin"] == pytest.approx(peers.davies_bouldin_score(features, labels), rel=1e-9)
    unit = features / np.linalg.norm(features, axis=1)[:, None]
    cosine, same = unit @ unit.T, labels[:, None] == labels
    off = ~np.eye(ROWS, dtype=bool)
    ratios = [cosine[own][:, own][off[own][:, own]].mean() / cosine[own][:, ~own].mean() for own in same_rows(labels)]
    assert found["ferm1"] == pytest.approx(np.mean(ratios), rel=1e-9)
    intra = np.mean([cosine[own][:, own][off[own][:, own]].mean() for own in same_rows(labels)])
    between = [cosine[a][:, b].mean() for i, a in enumerate(same_rows(labels)) for b in same_rows(labels)[i + 1 :]]
    assert found["gap"] == pytest.approx(intra - np.mean(between), rel=1e-9)
    assert found["accuracy"] == pytest.approx((arrays["predictions"] == labels).mean())
    away = np.linalg.norm(features[:, None] - features[None], axis=2)
    assert found["dunn"] == pytest.approx(away[~same].min() / away[same].max(), rel=1e-9)


def same_rows(labels):
    return [labels == name for name in np.unique(labels)]


@pytest.mark.req("F-24")
@pytest.mark.parametrize("kind", ["npz", "npy", "csv", "tsv", "parquet", "jsonl"])
@pytest.mark.parametrize("reference", ["labels.npz", "labels.csv"])
def test_every_format_gives_the_same_numbers_and_rows_are_paired_by_their_ids(place, arrays, kind, reference):
    features, labels = arrays["features"].round(6), arrays["labels"]
    ids = [str(row) for row in range(ROWS)] if reference == "labels.npz" else [f"r{row}" for row in range(ROWS)]
    lines = (f"{ids[row]},{labels[row]},{arrays['groups'][row]}" for row in range(ROWS))
    (place / "labels.csv").write_text("\n".join(("id,label,group", *lines)) + "\n")
    np.savez(place / "plain.npz", features=features)
    turned = np.random.default_rng(1).permutation(ROWS)
    write(place / f"sent.{kind}", features, labels, ids, turned)
    wanted = scored(place, "plain.npz", "--draws", "30")
    found = scored(place, f"sent.{kind}", "--draws", "30", reference=reference)
    assert found["values"] == wanted["values"]
    assert found["breakdowns"] == wanted["breakdowns"]
    paired = "rows are paired with labels by their position, since the features have no ids"
    assert (paired in found["notes"]) == (kind == "npy" and reference == "labels.csv")


def write(path, features, labels, ids, turned):
    """The features in another order with their ids; an array without any keeps its order."""
    names = [f"f{at}" for at in range(features.shape[1])]
    turned_ids = [ids[row] for row in turned]
    if path.suffix == ".npy":
        np.save(path, features)
    elif path.suffix == ".npz":
        np.savez(path, X=features[turned], ids=np.array(turned_ids), y=labels[turned])
    elif path.suffix == ".parquet":
        pl.DataFrame({"id": turned_ids, **dict(zip(names, features[turned].T, strict=True))}).write_parquet(path)
    elif path.suffix == ".jsonl":
        rows = ({"id": ids[row], "embedding": features[row].tolist()} for row in turned)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        rows = [mark.join((ids[row], *map(repr, features[row].tolist()), str(labels[row]))) for row in turned]
        path.write_text("\n".join((mark.join(("id", *names, "label")), *rows)) + "\n")


@pytest.mark.req("F-24")
def test_the_example_is_compared_with_paired_tests_groups_and_power():
    found = compared(EXAMPLE, "alpha.npz", "beta.csv", "gamma.npz", reference="labels.csv")
    ferm = [one for one in found["differences"] if one["metric"] == "ferm1"]
    assert [one["verdict"] for one in ferm] == ["first"] * 3
    assert found["groups"]["ferm1"] == [["alpha"], ["beta"], ["gamma"]]
    assert found["rank_ranges"]["ferm1"] == {"alpha": [1, 1], "beta": [2, 2], "gamma": [3, 3]}
    assert all(one["method"] == "shared draws" for one in ferm)
    assert all(1e-4 > one["p"] >= 1 / 10_001 for one in ferm[:2]), "no smaller p than other tests give"
    for name in ("dunn", "misplaced"):
        (untested, *_) = (one for one in found["differences"] if one["metric"] == name)
        assert (untested["p"], untested["low"], untested["verdict"]) == (None, None, "undecided")
        assert "not tested" in untested["note"]
    both = [word for name in ("alpha.npz", "gamma.npz") for word in ("--submission", EXAMPLE / name)]
    enough = here("power", "representation", "--reference", EXAMPLE / "labels.csv", *both, "--json")
    assert enough.code == 0, enough.stderr
    same = compared(EXAMPLE, "A=alpha.npz", "B=alpha.npz", reference="labels.csv", words=("--draws", "50"))
    assert {one["verdict"] for one in same["differences"] if one["metric"] not in ("dunn", "misplaced")} == {
        "identical"
    }


@pytest.mark.req("F-24")
def test_the_interval_of_a_difference_is_that_of_a_bootstrap_written_by_hand(place, arrays):
    rng = np.random.default_rng(8)
    features, labels = arrays["features"], arrays["labels"]
    other = np.maximum(features + 0.5 * rng.normal(size=features.shape), 0)
    np.savez(place / "other.npz", X=other)
    (one,) = (
        one
        for one in compared(place, "sent.npz", "other.npz", words=("--draws", "2000", "--metric", "gap"))["differences"]
        if one["metric"] == "gap"
    )
    drawn = [gap_of_draw(features, other, labels, rng) for _ in range(2000)]
    t = 1.988  # of 85 degrees of freedom: rows less classes
    assert (one["high"] - one["low"]) / (2 * t) == pytest.approx(np.std(drawn), rel=0.08)
    assert (one["high"] + one["low"]) / 2 == pytest.approx(one["difference"])


def gap_of_draw(first, second, labels, rng):
    """The difference of two gaps in one draw of rows of each class, without pairs of copies."""
    rows = np.concatenate([rng.choice(np.flatnonzero(own), own.sum()) for own in same_rows(labels)])
    found = []
    for features in (first, second):
        unit = features[rows] / np.linalg.norm(features[rows], axis=1)[:, None]
        cosine, pairs = unit @ unit.T, rows[:, None] != rows
        own = [cosine[at][:, at][pairs[at][:, at]].mean() for at in same_rows(labels[rows])]
        parts = same_rows(labels[rows])
        found.append(np.mean(own) - np.mean([cosine[a][:, b].mean() for i, a in enumerate(parts) for b in parts[:i]]))
    return found[0] - found[1]


@pytest.mark.slow
@pytest.mark.req("F-24")
def test_systems_that_differ_by_chance_are_rarely_told_apart(tmp_path):
    alarms, names = [], ("ferm1", "silhouette", "rs", "point_biserial")
    centres = np.random.default_rng(0).normal(size=(4, 5))
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = np.arange(60) % 4
        shared = centres[labels] + 0.7 * rng.normal(size=(60, 5)) + 1
        np.savez(tmp_path / "labels.npz", y=labels)
        for name in ("one", "two"):
            np.savez(tmp_path / f"{name}.npz", X=np.maximum(shared + 0.7 * rng.normal(size=(60, 5)), 0))
        sent = {name: tmp_path / f"{name}.npz" for name in ("one", "two")}
        found = basanite.compare(
            "representation", submissions=sent, reference=tmp_path / "labels.npz", draws=100, metrics=names
        )
        alarms.append([one.p <= 0.05 for one in found.differences])
    assert (np.mean(alarms, axis=0) < 0.15).all(), "nominal is 0.05, and chance alone makes 0.12 of 60"


@pytest.mark.req("F-24")
def test_clusters_move_together_and_are_counted(place):
    lines = "\n".join(f"{row},s{row // 3}" for row in range(ROWS))
    (place / "sources.csv").write_text(f"row,speaker\n{lines}\n")
    words = ("--draws", "100", "--metadata", "sources.csv", "--cluster", "speaker")
    together, alone = scored(place, "sent.npz", *words), scored(place, "sent.npz", "--draws", "100")
    assert plain(together) == plain(alone)
    assert together["values"]["gap"]["low"] != alone["values"]["gap"]["low"]
    assert any("items of one speaker stay together (30 speakers)" in note for note in together["notes"])
    assert "no interval: half-samples cannot keep clusters whole" in together["values"]["dunn"]["flags"]
    few = "\n".join(f"{row},s{row // 10}" for row in range(ROWS))
    (place / "sources.csv").write_text(f"row,speaker\n{few}\n")
    value = scored(place, "sent.npz", *words)["values"]["ferm1"]
    assert (value["low"], value["flags"]) == (None, ["too few for an interval: 9 speakers"])


@pytest.mark.req("F-24")
def test_reports_show_the_map_of_classes_and_a_headline_is_chosen(place):
    words = ("--draws", "20", "--primary", "silhouette", "--report", "one.html", "--report", "one.json")
    given = ("--reference", "labels.npz", "--submission", "sent.npz")
    ended = here("score", "representation", *given, *words, cwd=place)
    assert ended.code == 0, ended.stderr
    assert "Silhouette is" in ended.stdout
    page = (place / "one.html").read_text()
    assert "Similarity between classes" in page
    refused = here("score", "representation", *given, "--set", "interval=bca", "--draws", "20", cwd=place)
    assert refused.code == 2
    assert "percentile intervals only" in refused.stderr


WRONG = {
    "rows": ({"X": np.ones((89, 6))}, "89 rows of features, and the reference has labels of 90"),
    "nan": ({"X": np.where(np.arange(540).reshape(90, 6) == 20, np.nan, 1.0)}, "row 3 (counted from 0) holds nan"),
    "inf": ({"X": np.where(np.arange(540).reshape(90, 6) == 20, np.inf, 1.0)}, "row 3 (counted from 0) holds infinity"),
    "words": ({"X": np.full((90, 6), "a")}, "the type <U1"),
    "complex": ({"X": np.ones((90, 6), complex)}, "complex128, which are not read"),
    "flat": ({"X": np.ones(90)}, "shape (90,)"),
    "cube": ({"X": np.ones((90, 3, 2))}, "shape (90, 3, 2)"),
    "nothing": ({"X": np.ones((0, 6))}, "shape (0, 6)"),
    "no columns": ({"X": np.ones((90, 0))}, "shape (90, 0)"),
    "no features": ({"Z": np.ones((90, 6))}, "there are no features in it; it holds Z"),
    "two features": ({"X": np.ones((90, 6)), "features": np.ones((90, 6))}, "could each be the features"),
    "labels": ({"X": np.ones((90, 6)), "y": np.arange(90) % 2}, "labels in it are not those of the reference"),
    "short labels": ({"X": np.ones((90, 6)), "y": np.arange(9)}, "labels has 9 entries and features 90 rows"),
    "twice": ({"X": np.ones((90, 6)), "ids": np.zeros(90, int)}, "id '0' appears twice"),
    "unknown": ({"X": np.ones((90, 6)), "ids": np.arange(1, 91)}, "no row of the reference is called '90'"),
    "other set": ({"X": np.ones((90, 6)), "ids": np.arange(500, 590)}, "is this the right data set?"),
    "fractions": ({"X": np.ones((90, 6)), "ids": np.arange(90) + 0.5}, "ids are numbers with a fraction"),
}


@pytest.mark.req("F-24")
@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_in_features_is_named(place, name):
    arrays, says = WRONG[name]
    np.savez(place / "wrong.npz", **arrays)
    assert any(says in message for message in problems(place, "wrong.npz")), problems(place, "wrong.npz")


TABLES = {
    "text": ("id,species,f1\n" + "".join(f"{row},ant,{row}\n" for row in range(90)), "90 of 90 cells are not a finite"),
    "cell": ("id,f1\n" + "".join(f"{row},{'x' if row == 4 else row}\n" for row in range(90)), "'f1' is not a finite"),
    "no header": ("".join(f"{row}.5,{row}.25\n" for row in range(90)), "not a header: all of its cells are numbers"),
    "two labels": ("id,label,target,f1\n0,1,1,1\n", "could each be the labels"),
    "only ids": ("id\n" + "".join(f"{row}\n" for row in range(90)), "no column holds features"),
    "ragged": ('{"id": "0", "features": [1, 2]}\n{"id": "1", "features": [1]}\n', "not a list of 2 finite numbers"),
}


@pytest.mark.req("F-24")
@pytest.mark.parametrize("name", TABLES)
def test_a_mistake_in_a_table_is_named_with_its_line(place, name):
    text, says = TABLES[name]
    (place / "wrong.csv").write_text(text)
    assert any(says in message for message in problems(place, "wrong.csv")), problems(place, "wrong.csv")


REFERENCES = {
    "one class": ({"y": np.zeros(90, int)}, "the labels name 1 class"),
    "no labels": ({"X": np.ones((90, 6))}, "there are no labels in it"),
    "missing": ({"y": np.where(np.arange(90) == 3, np.nan, 1.0)}, "row 3 (counted from 0) has no label"),
    "table": ({"y": np.ones((90, 2))}, "labels has the shape (90, 2)"),
    "groups": ({"y": np.arange(90) % 2, "groups": np.array(["a"])}, "groups has the shape (1,)"),
    "nothing": ({"y": np.zeros(0)}, "the labels name 0 classes"),
}


@pytest.mark.req("F-24")
@pytest.mark.parametrize("name", REFERENCES)
def test_a_mistake_in_labels_is_named(place, name):
    arrays, says = REFERENCES[name]
    np.savez(place / "wrong.npz", **arrays)
    found = problems(place, "sent.npz", reference="wrong.npz")
    assert any(says in message for message in found), found


@pytest.mark.req("F-24")
def test_files_in_each_others_place_are_told_so_first(place, arrays):
    np.savez(place / "features.npz", X=arrays["features"])
    assert "this looks like a reference" in problems(place, "labels.npz", reference="features.npz")[0]


class Trap:
    """Something that leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.req("F-24")
def test_hostile_files_are_refused_and_run_nothing(place):
    np.savez(place / "object.npz", X=np.array([[Trap(place / "sprung")]] * 90, dtype=object))
    (place / "pickle.npz").write_bytes(pickle.dumps(Trap(place / "sprung")))
    (place / "header.npy").write_bytes(b"\x93NUMPY\x01\x00" + (60_000).to_bytes(2, "little") + b"(" * 60_000)
    lie = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10**9, 1000), }".ljust(117) + b"\n"
    (place / "lie.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(lie).to_bytes(2, "little") + lie)
    with zipfile.ZipFile(place / "zip.npz", "w") as archive:
        archive.writestr("../../features.npy", b"\x93NUMPY")
    (place / "bytes.csv").write_bytes(bytes(range(256)) * 40)
    for name in ("object.npz", "pickle.npz", "header.npy", "lie.npy", "zip.npz", "bytes.csv"):
        (message, *_) = problems(place, name)
        assert not re.search(r"Error|Traceback|np\.str_", message), message
        with pytest.raises(BasaniteError):
            basanite.score("representation", submission=place / name, reference=place / "labels.npz", draws=5)
    assert not (place / "sprung").exists()


@pytest.mark.req("F-24")
@pytest.mark.timeout(400)
def test_two_teams_are_ranked_on_a_board_and_see_what_was_wrong(tmp_path):
    text = (
        small_campaign_text().replace('tasks = ["CLIR"]', 'tasks = ["representation"]').replace('"7 days"', '"0 min"')
    )
    with staged(tmp_path / "season", text.replace('querysets = ["QUERY1"]\n', ""), WEEK) as stage:
        where = ("--task", "representation", "--dataset", "EVAL1", "--language", "1A")
        people = ("--reason", "first", "--as", "eva@people.example")
        stage.admin("reference", "add", EXAMPLE / "labels.csv", *where, *people)
        sent = {}
        for who, name in (("ada", "alpha.npz"), ("bea", "gamma.npz")):
            more = {"task": "representation", "queryset": "", "type": "primary", "filename": name}
            answer = stage.post(who, (EXAMPLE / name).read_bytes(), "EVAL1", **more)
            assert answer.status_code == 201, answer.text
            sent[who] = answer.json()["id"]
        np.savez(tmp_path / "short.npz", X=np.ones((7, 4)))
        more = {"task": "representation", "queryset": "", "label": "short", "filename": "short.npz"}
        wrong = stage.post("bea", (tmp_path / "short.npz").read_bytes(), "EVAL1", **more).json()["id"]
        stage.work()
        stage.clock.set(CLOSED)
        release(stage, "top")
        for _ in range(5):
            stage.work()
            board = stage.get("bea", "/leaderboard", window="week", task="representation", language="1A").json()
        refused = stage.get("bea", f"/submissions/{wrong}").json()
        data = stage.get("ada", f"/submissions/{sent['ada']}").json()["result"]["data"]
    assert board["metric"] == "ferm1"
    assert [(row["name"], row["group"], row["ranks"]) for row in board["rows"]] == [
        ("Alpha", 1, [1, 1]), ("Beta", 2, [2, 2])
    ]  # fmt: skip
    home = here("score", "representation", "--reference", "labels.csv", "--submission", "alpha.npz", "--json",
                cwd=EXAMPLE).data  # fmt: skip
    value = pytest.approx(home["values"]["ferm1"]["value"], abs=5e-4)
    assert data["values"]["ferm1"]["value"] == value, "a board shows four digits"
    assert board["rows"][0]["value"] == value
    assert refused["state"] == "invalid"
    assert "7 rows of features, and the reference has labels of 180" in json.dumps(refused["problems"])
