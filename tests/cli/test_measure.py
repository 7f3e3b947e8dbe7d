"""`basanite measure`: what it prints is the contract's, and mistakes end in words and the right exit code."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from tests.cli.running import FEATURES, here

from basanite.representation.measures.all_measures import NAMES
from basanite.representation.measures.ferm import ferm
from basanite.representation.measures.further import FURTHER

VALUE_KEYS = {"value", "low", "high", "units", "undefined", "flags", "parts"}
RESULT_KEYS = {"format", "task", "values", "primary", "breakdowns", "settings", "signature", "digests", "notes"}


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(FEATURES, tmp_path / "features")
    return tmp_path / "features"


@pytest.fixture(scope="module")
def whole():
    """A set with every part, so that every value of the contract is printed."""
    return here("measure", "run", "unseen.npz", "--draws", "30", "--json", cwd=FEATURES).data


@pytest.mark.req("P-20")
def test_a_run_prints_every_value_of_the_contract_in_the_shape_of_a_score(whole):
    assert set(whole) >= RESULT_KEYS
    assert set(NAMES) & set(whole["values"]) == set(NAMES) - set(FURTHER)
    assert all(set(value) >= VALUE_KEYS for value in whole["values"].values())
    assert (whole["format"], whole["task"], whole["primary"]) == ("basanite-result/1", "measure", "ferm1")
    stored = np.load(FEATURES / "unseen.npz")
    wanted = ferm(stored["features"], stored["labels"])
    assert whole["values"]["ferm2"]["value"] == pytest.approx(wanted.values["ferm2"].value, rel=1e-9)
    ratios = [levels["ferm1"]["value"] for levels in whole["breakdowns"]["class"].values()]
    assert ratios == pytest.approx(wanted.classes.ratio.tolist(), rel=1e-9)


def test_further_measures_are_printed_when_they_are_named():
    named = [word for name in FURTHER for word in ("--metric", name)]
    values = here("measure", "run", "unseen.npz", *named, "--draws", "0", "--json", cwd=FEATURES).data["values"]
    assert set(NAMES) & set(values) == {"ferm1", *FURTHER}
    assert all(set(values[name]) >= VALUE_KEYS and values[name]["value"] is not None for name in FURTHER)


@pytest.mark.req("S-25")
def test_every_interval_names_its_method_and_the_table_shows_it(whole):
    levels = [values for factor in whole["breakdowns"].values() for values in factor.values()]
    found = [value for values in (whole["values"], *levels) for value in values.values()]
    for value in found:
        exact = any(flag.startswith("exact binomial bound") for flag in value["flags"])
        assert value.get("method") == (None if value["low"] is None else "exact" if exact else "percentile"), value
    assert {"percentile", "exact"} <= {value.get("method") for value in found}
    shown = here("measure", "run", "seen.npz", "--metric", "rs", "--draws", "20", cwd=FEATURES).stdout
    assert re.search(r"Metric +Value +Low +High +Method +Units", shown)
    assert re.search(r"R-squared( +[0-9.]+){3} +percentile", shown)


def test_the_same_command_prints_the_same_bytes():
    words = ("measure", "run", "seen.npz", "--metric", "rs", "--draws", "20", "--json")
    assert here(*words, cwd=FEATURES).stdout == here(*words, cwd=FEATURES).stdout


def test_one_name_stands_for_both_parts_of_otce(whole):
    words = ("measure", "run", "unseen.npz", "--draws", "0", "--json", "--metric")
    found = here(*words, "otce", cwd=FEATURES).data["values"]
    assert {"otce_wd", "otce_wt"} <= set(found)
    assert found["otce_wd"]["value"] == pytest.approx(whole["values"]["otce_wd"]["value"], rel=1e-9)
    without = here("measure", "run", "seen.npz", "--metric", "otce", cwd=FEATURES)
    assert (without.code, "OTCE source features and labels" in without.stderr) == (2, True)


def test_the_backend_is_a_choice_and_agrees(whole):
    pytest.importorskip("torch")
    words = ("measure", "run", "unseen.npz", "--draws", "0", "--backend", "torch", "--json")
    other = here(*words, cwd=FEATURES).data
    assert other["settings"]["backend"].startswith("torch")
    for name in set(NAMES) - set(FURTHER):
        assert other["values"][name]["value"] == pytest.approx(whole["values"][name]["value"], rel=1e-6), name


def test_settings_change_definitions_and_are_kept(whole):
    words = ("measure", "run", "unseen.npz", "--metric", "davies_bouldin", "--draws", "0", "--set", "q=2", "--json")
    changed = here(*words, cwd=FEATURES).data
    assert changed["settings"]["q"] == 2
    assert changed["values"]["davies_bouldin"]["value"] > whole["values"]["davies_bouldin"]["value"]
    assert "q:2" in changed["signature"]


def test_reports_are_written_and_told(folder):
    words = ("measure", "run", "seen.npz", "--metric", "gap", "--draws", "20", "--projection", "pca")
    ended = here(*words, "--report", "out.html", "--report", "out.json", cwd=folder)
    assert ended.code == 0
    assert "Report written to out.html" in ended.stderr
    assert "Rows in two dimensions (principal components)" in (folder / "out.html").read_text()
    assert json.loads((folder / "out.json").read_text())["task"] == "measure"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("run", "nothing.npz"), 2, "cannot be read"),
        (("run", "pens.csv"), 1, "'side': 180 of 180 cells are not a finite number"),
        (("run", "seen.npz", "--set", "q=7"), 2, "between 1 and 2"),
        (("run", "seen.npz", "--set", "quality=7"), 2, "has no setting"),
        (("run", "seen.npz", "--metric", "ferm9"), 2, "Did you mean"),
        (("run", "seen.npz", "--metric", "leep"), 2, "LEEP and NCE need source probabilities"),
        (("run", "seen.npz", "--backend", "abacus"), 2, "abacus"),
        (("run", "seen.npz", "--metadata", "proxy.csv"), 1, "first column"),
        (("run", "seen.npz", "--report", "seen.npz"), 2, "No output writes"),
        (("shift", "seen.npz", "unseen.npz", "--source-classes", "99"), 2, "at least 2"),
        (("compare", "seen.npz"), 2, "at least two"),
        (("compare", "seen.npz", "seen.npz"), 2, "called 'seen'"),
        (("compare", "seen.npz", "unseen.npz", "--transformed", "x"), 2, "NAME=FILE"),
        (("compare", "seen.npz", "unseen.npz", "--transformed", "x=seen.npz"), 2, "which is not compared"),
        (("monitor", "seen.npz", "monday.npz", "--bands", "keep=0"), 2, "not a table of actions"),
        (("monitor", "seen.npz", "monday.npz", "--by", "leep"), 2, "No measure to watch"),
        (("monitor", "seen.npz", "monday.npz", "--draws", "5"), 2, "at least 20 draws"),
        (("monitor", "unseen.npz", "monday.npz", "--predicted"), 2, "no predictions"),
        (("mesure",), 2, "There is no command 'measure mesure'"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, tuple) else None,
)
def test_mistakes_end_in_words_with_the_cure(words, code, said, folder):
    ended = here("measure", *words, cwd=folder)
    assert (ended.code, said in ended.stderr) == (code, True), ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"labels": [0, 1]}, "holds no features"),
        ({"features": np.ones((3, 2))}, "no labels"),
        ({"features": np.ones((3, 2)), "labels": np.array([0, 1])}, "one entry for each row"),
        ({"features": np.ones((3, 2)), "labels": np.array([0, 0, 0])}, "two classes"),
        ({"features": np.ones(3), "labels": np.array([0, 1, 1])}, "rows by dimensions"),
        ({"features": np.ones((0, 2)), "labels": np.array([], int)}, "rows by dimensions"),
        ({"features": np.array([["a", "b"]] * 3), "labels": np.array([0, 1, 1])}, "table of numbers"),
    ],
    ids=["no features", "no labels", "too few labels", "one class", "flat", "empty", "words"],
)
def test_files_that_cannot_be_measured_are_told_with_the_cure(arrays, said, tmp_path):
    np.savez(tmp_path / "odd.npz", **arrays)
    ended = here("measure", "run", "odd.npz", cwd=tmp_path)
    assert (ended.code in (1, 2), said in ended.stderr) == (True, True), ended.stderr
    assert "Traceback" not in ended.stderr


def test_rows_that_are_all_alike_are_undefined_and_not_an_error(tmp_path):
    np.savez(tmp_path / "same.npz", features=np.ones((20, 3)), labels=np.repeat([0, 1], 10))
    found = here("measure", "run", "same.npz", "--draws", "20", "--json", cwd=tmp_path)
    assert found.code == 0, found.stderr
    values = found.data["values"]
    assert values["ferm1"]["value"] == 1.0
    assert values["rs"]["value"] is None
    assert "undefined" in values["rs"]["flags"]


def test_a_batch_may_be_named_and_an_alarm_is_no_failure():
    words = ("measure", "monitor", "seen.npz", "third=wednesday.npz", "--metric", "gap", "--by", "gap", "--draws", "30")
    ended = here(*words, "--json", cwd=FEATURES)
    assert ended.code == 0
    assert ended.data["batches"]["third"]["alarm"] is True
