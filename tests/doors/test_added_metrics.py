"""A metric of a plug-in joins a task: it stands beside the task's own, and what is wrong with it costs it alone."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.cli.running import process
from tests.test_registry import plug_in

MODULE = """
import numpy as np
from dataclasses import replace
from basanite.errors import SettingError
from basanite.kernel import NOT_NEGATIVE, Metric, column_ratio
from basanite.tasks import Setting
from basanite.tasks.worked import Step, Worked


def lengths(pairs, settings):
    if not settings["unit_length"]:
        raise SettingError("set unit_length=NUMBER")
    return np.array([[len(answer) / settings["unit_length"], 1.0] for answer in pairs.answers])


LENGTH = Metric(
    name="length", summary="Mean length of an answer in characters", citation="Nobody (2026), Lengths", family="length",
    statistics=lengths, reduce=lambda sums: column_ratio(sums, 0, 1), range=NOT_NEGATIVE, columns=("length", "units"),
    own_settings=(Setting("unit_length", "How many characters are one.", float, 1.0),),
)

def explain_length(case):
    value = len(case.answer) / case.settings["unit_length"]
    return Worked((Step("Length", ("The answer is " + case.answer + ".",), f"characters = {value:g}"),), value)


EXPLAINED = replace(LENGTH, explain=explain_length)
WRONG = replace(LENGTH, explain=lambda case: Worked((), -1.0))
UNSET = replace(LENGTH, own_settings=(Setting("unit_length", "How many characters are one.", float, 0.0),))
SHORT = replace(LENGTH, statistics=lambda pairs, settings: np.ones((1, 2)))
BLEU = replace(LENGTH, name="bleu")
"""
REFERENCE = (
    '{"id": "a", "references": ["one two"], "genre": "news"}\n{"id": "b", "references": ["three"], "genre": "web"}\n'
)
SUBMISSION = '{"id": "a", "text": "one"}\n{"id": "b", "text": "threes"}\n'


@pytest.fixture
def command(tmp_path):
    """A command in a folder with data, whose Python has a plug-in with these entry points."""
    (tmp_path / "r.jsonl").write_text(REFERENCE)
    (tmp_path / "s.jsonl").write_text(SUBMISSION)
    (tmp_path / "other.jsonl").write_text(SUBMISSION.replace("threes", "x"))

    def run(entries, *words):
        shutil.rmtree(tmp_path / "plugin", ignore_errors=True)
        plug_in(tmp_path / "plugin", "lengths", "metrics", entries)
        (tmp_path / "plugin" / "lengths.py").write_text(MODULE)
        return process(*words, cwd=tmp_path, PYTHONPATH=str(tmp_path / "plugin"))

    return run


def score(command, target, *more):
    files = ("--reference", "r.jsonl", "--submission", "s.jsonl")
    return command({"translation.length": target}, "score", "translation", *files, "--json", *more)


@pytest.mark.req("T-28")
def test_an_added_metric_is_scored_with_breakdowns_settings_and_its_package(command):
    found = score(command, "lengths:LENGTH", "--set", "unit_length=2").data
    assert found["values"]["length"]["value"] == 2.25
    assert found["breakdowns"]["genre"]["news"]["length"]["value"] == 1.5
    assert found["settings"]["unit_length"] == 2
    assert "lengths 1.2" in json.dumps(found)
    assert found["primary"] == "bleu"


@pytest.mark.req("T-28")
def test_an_added_metric_ranks_systems_and_is_listed_with_its_task(command):
    files = ("--reference", "r.jsonl", "--submission", "s.jsonl", "--submission", "other.jsonl")
    entries = {"translation.length": "lengths:LENGTH"}
    found = command(entries, "compare", "translation", *files, "--primary", "length", "--json").data
    assert [one["difference"] for one in found["differences"] if one["metric"] == "length"] == [2.5]
    assert found["groups"]["length"]
    listed = command(entries, "metrics", "--json").data["metrics"]
    assert "translation.length" in [one["name"] for one in listed]
    assert (
        "unit_length"
        in next(t for t in command(entries, "tasks", "--json").data["tasks"] if t["name"] == "translation")["settings"]
    )


@pytest.mark.req("T-28")
def test_a_metric_that_joins_one_task_is_no_metric_of_another_and_is_not_loaded_for_it(command, tmp_path):
    entries = {"translation.length": "a_module_that_nobody_has:LENGTH"}
    for name in ("r", "s"):
        (tmp_path / f"{name}.csv").write_text("id,label\na,x\nb,y\n")
    found = command(entries, "score", "classification", "--reference", "r.csv", "--submission", "s.csv", "--json").data
    assert "length" not in found["values"]
    assert "a_module_that_nobody_has" not in json.dumps(found)


@pytest.mark.req("T-27", "T-28")
def test_an_added_metric_brings_its_own_explanation_which_must_end_in_its_value(command):
    words = ("explain", "translation", "length", "r.jsonl", "s.jsonl", "--unit", "b")
    found = command({"translation.length": "lengths:EXPLAINED"}, *words)
    assert "The answer is threes." in found.stdout
    assert "characters = 6" in found.stdout
    assert "cannot be explained" in command({"translation.length": "lengths:LENGTH"}, *words).stderr
    wrong = command({"translation.length": "lengths:WRONG"}, *words)
    assert (wrong.code, "its explanation ends in -1.0" in wrong.stderr) == (3, True)


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("translation.length", "a_module_that_nobody_has:LENGTH", "needs the module 'a_module_that_nobody_has'"),
        ("translation.size", "lengths:LENGTH", "register it as translation.length"),
        ("translation.bleu", "lengths:BLEU", "translation has a metric 'bleu' already"),
        ("translation.length", "lengths:MODULE_IS_NONE", "cannot be loaded"),
        ("translation.length", "lengths:lengths", "it is a function, not a Metric"),
    ],
)
@pytest.mark.req("T-28")
def test_a_metric_that_cannot_join_is_left_out_with_the_reason_and_the_others_are_scored(command, name, target, said):
    files = ("--reference", "r.jsonl", "--submission", "s.jsonl")
    found = command({name: target}, "score", "translation", *files, "--json").data
    (note,) = [note for note in found["notes"] if "is left out" in note]
    assert f"{name} of lengths is left out" in note
    assert said in note
    assert found["values"]["bleu"]["value"] == 0


@pytest.mark.parametrize(
    ("target", "said"),
    [("lengths:UNSET", "not computed: set unit_length=NUMBER"), ("lengths:SHORT", "gave 1 x 2 numbers for 2 units")],
)
@pytest.mark.req("T-28")
def test_an_added_metric_that_cannot_be_computed_has_no_value_and_says_why(command, target, said):
    value = score(command, target).data["values"]["length"]
    assert value["value"] is None
    assert said in value["flags"][0]
