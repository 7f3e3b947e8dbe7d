"""Classes from the files that people have, and values from scores of classes equal to scikit-learn's (T-22)."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics as peer
from tests.cli.running import here

NAMES = np.array(["bird", "cat", "dog"])
QUICK = ("--draws", "20")
GIVEN = ("--reference", "key", "--submission", "system")
SCORED = ("log_loss", "brier", "ece", "roc_auc", "average_precision")


def sample(seed=0, size=60, classes=3):
    """True classes by number, and probabilities of which some are equal."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, size)
    margin = rng.normal(0, 1, (size, classes)).round(1)
    margin[np.arange(size), truth] += 1
    given = np.exp(margin)
    return truth, given / given.sum(axis=1, keepdims=True)


def score(folder, *words, code=0):
    ended = here("score", "classification", *map(str, words), *QUICK, "--json", cwd=folder)
    assert ended.code == code, ended.stdout + ended.stderr
    return ended.data if ended.stdout else ended.stderr


def values(data):
    return {name: value["value"] for name, value in data["values"].items()}


def written(folder, name, rows):
    (folder / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")


LAYOUTS = {
    "a label a line": ([], []),
    "a label a line under a name": ([["label"]], [["prediction"]]),
    "columns y_true and y_pred": ([["y_true"]], [["y_pred"]]),
    "ids with target and prediction": ([["id", "target"]], [["id", "prediction"]]),
    "ids with gold and label": ([["ID", "Gold"]], [["index", "label"]]),
}


@pytest.mark.req("T-22", "D-6")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("ending", [".csv", ".txt"])
def test_usual_files_of_classes_are_read_and_scored_as_by_scikit_learn(tmp_path, layout, ending):
    truth, given = sample()
    answers = given.argmax(axis=1)
    for name, header, side in zip(("key", "system"), LAYOUTS[layout], (truth, answers), strict=True):
        ids = header and len(header[0]) == 2
        written(
            tmp_path,
            name + ending,
            [*header, *([[at, NAMES[one]] if ids else [NAMES[one]] for at, one in enumerate(side)])],
        )
    found = score(tmp_path, "--reference", f"key{ending}", "--submission", f"system{ending}")
    named = values(found)
    assert named["accuracy"] == pytest.approx(peer.accuracy_score(truth, answers), abs=1e-9)
    assert named["mcc"] == pytest.approx(peer.matthews_corrcoef(truth, answers), abs=1e-9)
    assert named["cohen_kappa"] == pytest.approx(peer.cohen_kappa_score(truth, answers), abs=1e-9)
    assert named["balanced_accuracy"] == pytest.approx(peer.balanced_accuracy_score(truth, answers), abs=1e-9)
    by_position = any("paired by their position" in note for note in found["notes"])
    assert by_position == (layout[:3] != "ids")


@pytest.mark.req("T-22")
@pytest.mark.parametrize("kind", ["csv", "prefixed", "npz", "npz without classes", "jsonl"])
def test_one_file_with_truth_answers_and_scores_gives_the_values_of_scikit_learn(tmp_path, kind):
    truth, given = sample(1)
    answers = given.argmax(axis=1)
    if kind.startswith("npz"):
        named = {} if "without" in kind else {"classes": NAMES}
        sides = (truth, answers) if "without" in kind else (NAMES[truth], NAMES[answers])
        np.savez(tmp_path / "system", y_true=sides[0], y_pred=sides[1], y_proba=given, **named)
    elif kind == "jsonl":
        heads = ("label", "prediction", *(f"score_{name}" for name in NAMES))
        rows = [(NAMES[t], NAMES[a], *p) for t, a, p in zip(truth, answers, given.tolist(), strict=True)]
        (tmp_path / "system.npz").write_text(
            "".join(json.dumps(dict(zip(heads, row, strict=True))) + "\n" for row in rows)
        )
    else:
        heads = NAMES if kind == "csv" else [f"p_{name}" for name in NAMES]
        rows = [(NAMES[t], NAMES[a], *map(repr, p)) for t, a, p in zip(truth, answers, given.tolist(), strict=True)]
        written(tmp_path, "system.npz", [("y_true", "y_pred", *heads), *rows])
    found = score(tmp_path, "--submission", "system.npz")
    named = values(found)
    one_hot = truth[:, None] == np.arange(3)
    expected = {
        "log_loss": peer.log_loss(truth, given),
        "brier": peer.brier_score_loss(truth, given),
        "roc_auc": peer.roc_auc_score(truth, given, multi_class="ovr"),
        "average_precision": peer.average_precision_score(one_hot, given),
    }
    assert {name: named[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    for at, name in enumerate(("0", "1", "2") if "without" in kind else NAMES):
        own = found["breakdowns"]["class"][name]
        assert own["class_roc_auc"]["value"] == pytest.approx(
            peer.roc_auc_score(one_hot[:, at], given[:, at]), abs=1e-9
        )
        area = peer.average_precision_score(one_hot[:, at], given[:, at])
        assert own["class_average_precision"]["value"] == pytest.approx(area, abs=1e-9)


@pytest.mark.req("T-22")
@pytest.mark.parametrize("names", [("0", "1"), ("no", "yes"), ("ham", "spam")])
def test_one_score_of_two_classes_is_that_of_the_positive_one(tmp_path, names):
    truth, given = sample(2, classes=2)
    answers = np.array(names)[given.argmax(axis=1)]
    rows = zip(np.array(names)[truth], answers, map(repr, given[:, 1].tolist()), strict=True)
    written(tmp_path, "system.csv", [("y_true", "y_pred", "score"), *rows])
    if names[0] == "ham":
        (problem,) = score(tmp_path, "--submission", "system.csv", code=1)["problems"]
        assert "nothing says of which class" in problem["message"]
        assert "score_spam" in problem["fix"]
    more = ("--set", "positive=spam") if names[0] == "ham" else ()
    named = values(score(tmp_path, "--submission", "system.csv", *more))
    expected = {
        "log_loss": peer.log_loss(truth, given[:, 1]),
        "brier": peer.brier_score_loss(truth, given[:, 1]),
        "roc_auc": peer.roc_auc_score(truth, given[:, 1]),
        "average_precision": peer.average_precision_score(truth, given[:, 1]),
        "ece": binned(given[:, 1], truth == 1, 15),
    }
    assert {name: named[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def binned(confidence, hits, bins):
    """The expected calibration error, bin by bin."""
    edges = np.linspace(0, 1, bins + 1)
    total = 0.0
    for low, high in pairwise(edges):
        inside = (confidence > low) & (confidence <= high) if low else confidence <= high
        if inside.any():
            total += inside.sum() * abs(hits[inside].mean() - confidence[inside].mean())
    return total / len(hits)


@pytest.mark.req("T-22")
@pytest.mark.parametrize("bins", [5, 15])
def test_calibration_error_is_the_mean_gap_of_bins_and_has_a_reliability_diagram(tmp_path, bins):
    truth, given = sample(3, size=300)
    rows = zip(NAMES[truth], NAMES[given.argmax(axis=1)], *given.T.tolist(), strict=True)
    written(tmp_path, "system.csv", [("y_true", "y_pred", *NAMES), *rows])
    report = tmp_path / "report.html"
    found = score(tmp_path, "--submission", "system.csv", "--set", f"bins={bins}", "--report", report)
    expected = binned(given.max(axis=1), given.argmax(axis=1) == truth, bins)
    assert values(found)["ece"] == pytest.approx(expected, abs=1e-9)
    assert "Reliability diagram" in report.read_text(encoding="utf-8")
    assert found["values"]["ece"]["low"] is None, "no interval can be trusted: it is too large in few items"


@pytest.mark.req("T-22", "S-27")
@pytest.mark.parametrize("name", ["mcc", "balanced_accuracy", "cohen_kappa", *SCORED])
def test_each_can_be_the_headline(tmp_path, name):
    truth, given = sample(4)
    rows = zip(NAMES[truth], NAMES[given.argmax(axis=1)], *given.T.tolist(), strict=True)
    written(tmp_path, "system.csv", [("y_true", "y_pred", *NAMES), *rows])
    assert score(tmp_path, "--submission", "system.csv", "--primary", name)["primary"] == name


@pytest.mark.req("T-22")
def test_row_names_of_pandas_are_ids(tmp_path):
    written(tmp_path, "key.csv", [("", "label"), (0, "a"), (1, "b"), (2, "b")])
    written(tmp_path, "system.csv", [("", "prediction"), (2, "b"), (0, "a"), (1, "a")])
    found = values(score(tmp_path, "--reference", "key.csv", "--submission", "system.csv"))
    assert found["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.req("T-22")
def test_systems_are_compared_on_values_of_scores(tmp_path):
    truth, given = sample(5)
    written(tmp_path, "key.csv", [("id", "label"), *enumerate(NAMES[truth])])
    for name, seed in (("A", 5), ("B", 6)):
        other = given if name == "A" else sample(seed)[1]
        rows = zip(range(60), NAMES[other.argmax(axis=1)], *other.T.tolist(), strict=True)
        written(tmp_path, f"{name}.csv", [("id", "label", *NAMES), *rows])
    ended = here(
        *("compare", "classification", "--reference", "key.csv", "--submission", "A.csv", "--submission", "B.csv"),
        *("--primary", "roc_auc", "--metric", "log_loss", *QUICK, "--json"),
        cwd=tmp_path,
    )
    found = {one["metric"]: one for one in ended.data["differences"]}
    expected = peer.roc_auc_score(truth, given, multi_class="ovr") - peer.roc_auc_score(truth, other, multi_class="ovr")
    assert found["roc_auc"]["difference"] == pytest.approx(expected, abs=1e-9)
    assert found["log_loss"]["verdict"] == "first"


@pytest.mark.req("T-22")
def test_scores_that_are_no_probabilities_rank_and_nothing_else(tmp_path):
    truth, given = sample(7, classes=2)
    margin = np.log(given[:, 1] / given[:, 0])
    written(tmp_path, "system.csv", [("y_true", "y_pred", "score"), *zip(truth, truth, margin.tolist(), strict=True)])
    found = score(tmp_path, "--submission", "system.csv")
    assert values(found)["roc_auc"] == pytest.approx(peer.roc_auc_score(truth, margin), abs=1e-9)
    assert not {"log_loss", "brier", "ece"} & found["values"].keys()
    assert any("scores are not probabilities (line 2" in note for note in found["notes"])
    (problem,) = score(tmp_path, "--submission", "system.csv", "--metric", "brier", code=1)["problems"]
    assert "Brier score needs probabilities, and scores are not probabilities (line 2" in problem["message"]


@pytest.mark.req("T-22")
def test_a_probability_of_0_for_what_is_true_counts_as_in_scikit_learn(tmp_path):
    written(tmp_path, "system.csv", [("y_true", "y_pred", "score"), (1, 0, 0.0), (0, 0, 0.25), (1, 1, 1.0)])
    found = values(score(tmp_path, "--submission", "system.csv"))
    assert found["log_loss"] == pytest.approx(peer.log_loss([1, 0, 1], [0.0, 0.25, 1.0]), rel=1e-9)


@pytest.mark.req("T-22")
def test_what_is_undefined_is_null_and_a_constant_has_no_correlation(tmp_path):
    written(tmp_path, "system.csv", [("y_true", "y_pred", "score"), *[(1, 1, 0.5)] * 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = values(score(tmp_path, "--submission", "system.csv"))
    assert [found[name] for name in ("roc_auc", "mcc", "cohen_kappa")] == [None, None, None]
    assert found["average_precision"] == 1


REFUSED = {
    "ids in one file alone": (
        [("id", "label"), (1, "a"), (2, "b")],
        [("a",), ("b",)],
        "has ids and system.csv has none",
    ),
    "two answers": (
        [("id", "label"), (1, "a")],
        [("id", "y_pred", "prediction"), (1, "a", "b")],
        "columns 'y_pred' and 'prediction' could both be the answer",
    ),
    "two truths": (
        [("id", "gold", "target"), (1, "a", "b")],
        [("id", "label"), (1, "a")],
        "could both be the true class",
    ),
    "names that may be ids": (
        [("label",), ("a",), ("b",)],
        [("photo", "label"), ("x.jpg", "a"), ("y.jpg", "b")],
        "there is no column 'id', and 'photo' differs in every row",
    ),
    "no header": ([("id", "label"), (1, "a")], [(1, "a"), (2, "b")], "the first line is not a header"),
    "no column of classes": ([("id", "label"), (1, "a")], [("id", "text"), (1, "a")], "there is no column 'label'"),
    "other lengths": ([("a",), ("b",)], [("a",)], "1 lines where the reference has 2"),
    "a score that is none": (
        [("id", "label"), (1, "0"), (2, "1")],
        [("id", "label", "score"), (1, "0", "high"), (2, "1", 0.5)],
        "score is not a finite number",
    ),
}


@pytest.mark.req("T-22", "D-4", "D-7")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_refused_once(tmp_path, name):
    key, system, words = REFUSED[name]
    written(tmp_path, "key.csv", key)
    written(tmp_path, "system.csv", system)
    (problem,) = score(tmp_path, "--reference", "key.csv", "--submission", "system.csv", code=1)["problems"]
    assert words in problem["message"]
    assert problem["fix"]


@pytest.mark.req("T-22", "D-4")
def test_lines_that_look_like_something_else_are_no_labels(tmp_path):
    (tmp_path / "key.txt").write_text("0,1\n1,1\n")
    (tmp_path / "system.txt").write_text("".join(f"this is sentence {at}\n" for at in range(30)))
    for name, words in (("key", "no header names them"), ("system", "looks like plain text")):
        given = ("--reference", f"{name}.txt", "--submission", f"{name}.txt")
        (problem,) = score(tmp_path, *given, code=1)["problems"]
        assert words in problem["message"]


@pytest.mark.req("T-22", "D-4")
def test_scores_that_cannot_be_used_are_left_out_with_a_warning(tmp_path):
    truth, given = sample(8)
    rows = zip(NAMES[truth], NAMES[truth], *given.T.tolist(), strict=True)
    written(tmp_path, "system.csv", [("y_true", "y_pred", "score_cat", "score_dog", "score_bird"), *rows])
    (warned,) = score(tmp_path, "--submission", "system.csv")["warnings"]
    assert "are not the class of the highest score" in warned["message"]
    rows = zip(NAMES[truth], NAMES[truth], *given.T[:2].tolist(), strict=True)
    written(tmp_path, "system.csv", [("y_true", "y_pred", "score_cat", "score_dog"), *rows])
    found = score(tmp_path, "--submission", "system.csv")
    assert "no column of scores for the class 'bird'" in found["warnings"][0]["message"]
    assert "roc_auc" not in found["values"]
    written(tmp_path, "other.csv", [("y_true", "y_pred", "score_a"), (1, 0, 0.5), (0, 0, 0.5)])
    assert "for the class '0'" in score(tmp_path, "--submission", "other.csv")["warnings"][0]["message"]
    problems = score(tmp_path, "--submission", "system.csv", "--primary", "roc_auc", code=1)["problems"]
    assert "ROC AUC needs scores of the classes, and there are none" in problems[-1]["message"]
    assert "score_CLASS" in problems[-1]["fix"]


def test_a_file_without_true_classes_and_without_a_reference_says_what_is_missing(tmp_path):
    written(tmp_path, "system.csv", [("id", "y_pred"), (1, "a")])
    (problem,) = score(tmp_path, "--submission", "system.csv", code=1)["problems"]
    assert "no column for the true class, and no reference is given" in problem["message"]


@pytest.mark.req("T-22", case="bad")
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a": np.arange(3)}, "no array in it is called y_true"),
        ({"y_true": np.arange(3), "y_pred": np.arange(2)}, "arrays differ in length"),
        ({"y_true": np.array([1, "a"], dtype=object), "y_pred": np.arange(2)}, "not read"),
        ({"y_true": np.array([0.5, 1.0]), "y_pred": np.arange(2)}, "label is missing, empty, too long or not text"),
    ],
)
def test_arrays_that_are_no_classes_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "system", **arrays)
    problems = score(tmp_path, "--submission", "system.npz", code=1)["problems"]
    assert words in problems[0]["message"]


@pytest.mark.req("T-22", "T-12")
@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        ("both.csv", "y_true,y_pred\n0,1\n", "basanite score classification both.csv"),
        ("key.csv", "id,target\n0,1\n", "basanite score classification key.csv SUBMISSION"),
        ("system.csv", "id,prediction\n0,1\n", "basanite score classification REFERENCE system.csv"),
        ("labels.txt", "cat\ndog\n", "basanite score classification REFERENCE labels.txt"),
    ],
)
def test_inspect_names_the_command_for_each_file(tmp_path, name, content, command):
    (tmp_path / name).write_text(content)
    assert f"read by  {command}\n" in here("inspect", name, cwd=tmp_path).stdout
