"""The doctor says whether scoring can be boxed on this machine, and what follows if not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import ROOT, here

import basanite
from basanite.campaign.jobs import scoring_process as jobs
from basanite.cli import installation
from basanite.extras import Extra
from basanite.sandbox import runner
from basanite.server import checkup
from basanite.testing import small_office


@pytest.mark.req("X-8", "P-11")
def test_the_doctor_tells_whether_scoring_runs_in_a_box(tmp_path):
    shown = here("doctor", "--data", "season", "--json", cwd=tmp_path)
    (box,) = [one for one in shown.data["findings"] if one["name"] == "box"]
    assert (box["state"] == "good") == runner.capability().possible
    assert ("in a sandbox" in box["words"]) == runner.capability().possible


@pytest.mark.parametrize(
    ("box", "words"),
    [("required", "sealed references are not scored"), ("best", "a limited child process without network access")],
)
def test_where_no_box_can_be_made_the_doctor_says_what_follows(tmp_path, monkeypatch, box, words):
    monkeypatch.setattr(checkup, "capability", lambda: runner.Capability("", "not here"))
    office = small_office(tmp_path, limits={"box": box})
    found = checkup.box(office)
    office.close()
    assert (found.state, words in found.words) == ("note", True)


@pytest.mark.req("P-2", "P-8")
def test_a_scoring_process_that_cannot_start_is_found_with_the_import_error_and_the_places(tmp_path, monkeypatch):
    good = here("doctor", "--data", "season", "--json", cwd=tmp_path).data["findings"]
    monkeypatch.setattr(jobs, "COMMAND", (jobs.PYTHON, "-I", "-c", "import package_that_is_gone"))
    bad = here("doctor", "--data", "season", "--json", cwd=tmp_path)
    states = [(one["state"], one["words"]) for found in (good, bad.data["findings"]) for one in found]
    assert ("good", "the scoring process starts") in states
    (words,) = [words for state, words in states if state == "bad" and "scoring process cannot start" in words]
    assert "ModuleNotFoundError: No module named 'package_that_is_gone'" in words
    assert jobs.PYTHON in words
    assert str(Path(basanite.__file__).parent) in words
    assert bad.code == 1


@pytest.mark.req("P-2", "P-3")
def test_where_no_season_lies_the_doctor_tells_what_is_installed_and_makes_nothing(tmp_path):
    shown = here("doctor", cwd=tmp_path)
    assert shown.code == 0
    assert shown.stdout.startswith("ok    basanite: version ")
    assert "note  season: no data folder here" in shown.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("X-25")
def test_the_doctor_warns_who_runs_it_as_root_and_nobody_else():
    doctor = [sys.executable, "-m", "basanite", "doctor", "--json"]
    for start, state in (([], "note"), ([sys.executable, "-m", "tests.threats.ordinary_user"], "good")):
        if start or os.geteuid() == 0:
            how = {"cwd": ROOT, "capture_output": True, "check": True, "timeout": 120}
            shown = subprocess.run([*start, *doctor], **how).stdout
            (user,) = [one for one in json.loads(shown)["findings"] if one["name"] == "user"]
            assert (user["state"], "useradd" in user["cure"]) == (state, state == "note")


def test_an_extra_that_is_missing_is_told_with_what_it_is_for_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr(installation, "EXTRAS", {"reading": Extra("reasoning about texts", ("no_such_package",))})
    (found,) = [one for one in installation.installation() if one.name == "extra reading"]
    assert (found.state, found.cure) == ("note", 'pip install "basanite[reading]"')
    assert "not installed (no_such_package), only needed for reasoning" in found.words


def test_a_season_whose_folder_is_named_is_examined_even_if_it_is_not_there_yet(tmp_path):
    found = {one["name"] for one in here("doctor", "--data", "season", "--json", cwd=tmp_path).data["findings"]}
    assert {"basanite", "extra server", "settings", "database", "workers"} <= found
