"""Commands that read result folders: exit codes, files, states, and mistakes told in words."""

import json
import shutil

import pytest
from tests.cli.running import here
from tests.harness.analysis.folders import folder

from basanite.harness.results import ResultFolder, write_scores


@pytest.fixture
def result(tmp_path):
    folder(tmp_path / "result", names={"a": "Alpha", "b": "Beta"})
    return tmp_path


@pytest.mark.req("H-26")
def test_a_report_without_names_goes_into_the_result_folder(result):
    ended = here("harness", "report", "result", "--draws", "120", cwd=result)
    assert ended.code == 0, ended.stderr
    assert (result / "result" / "report.html").read_bytes().startswith(b"<!doctype html>")
    assert (result / "result" / "report.pptx").read_bytes().startswith(b"PK")
    assert "This report is not released: draft." in ended.stdout


@pytest.mark.req("H-33")
def test_states_and_comments_are_kept_between_calls(result):
    words = ["harness", "report", "result", "--draws", "120", "--report", "r.txt", "--json"]
    first = here(*words, "--comment", "b", "Our preprocessor is older.", cwd=result)
    assert first.data["report"]["state"] == "team comments"
    assert here(*words, "--state", "released", cwd=result).data["report"]["comments"][0]["team"] == "b"
    late = here(*words, "--comment", "b", "too late", cwd=result)
    assert late.code == 2
    assert "released" in late.stderr
    assert here(*words, "--state", "draft", cwd=result).code == 2
    kept = json.loads((result / "result" / "report_state.json").read_text(encoding="utf-8"))
    assert kept["history"] == ["draft", "team comments", "released"]


def test_a_comment_of_nobody_is_refused(result):
    ended = here("harness", "report", "result", "--draws", "120", "--comment", "z", "x", cwd=result)
    assert (ended.code, "The teams are a, b" in ended.stderr) == (2, True)


@pytest.mark.req("H-27")
def test_folders_that_differ_end_with_code_one(result):
    shutil.copytree(result / "result", result / "theirs")
    assert here("harness", "compare", "result", "theirs", cwd=result).code == 0
    scores = [
        score.__class__(**{**vars(score), "value": score.value + 0.01}) if score.run == "6a" else score
        for score in ResultFolder(result / "theirs").scores()
    ]
    write_scores(result / "theirs", scores)
    ended = here("harness", "compare", "result", "theirs", "--json", cwd=result)
    assert (ended.code, ended.data["beyond"]) == (1, ["video/6a"])
    assert here("harness", "compare", "result", "theirs", "--tolerance", "0.02", cwd=result).code == 0
    assert "DIFFERS" in here("harness", "compare", "result", "theirs", cwd=result).stdout


@pytest.mark.req("H-34")
def test_progress_is_told_as_a_table(result):
    folder(result / "later", signal={(6, "a"): 4.0})
    ended = here("harness", "progress", "result", "later", "--draws", "120", cwd=result)
    assert ended.code == 0
    assert "better" in next(line for line in ended.stdout.splitlines() if "6a" in line)
    assert "not the same team" in ended.stdout


def test_extras_need_the_plan(result):
    ended = here("harness", "analyse", "result", "--layers", cwd=result)
    assert (ended.code, "--plan" in ended.stderr) == (2, True)


@pytest.mark.parametrize("command", ["analyse", "report"])
def test_what_is_no_result_folder_is_told_in_words(command, tmp_path):
    ended = here("harness", command, "nowhere", cwd=tmp_path)
    assert ended.code in (1, 2)
    assert "manifest.json" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_report_that_cannot_be_written_is_told_before_the_work(result):
    ended = here("harness", "report", "result", "--html", "no/such/folder.html", cwd=result)
    assert (ended.code, "Analysing" in ended.stderr) == (2, False)
