"""Users' mistakes end in exit code 1 or 2 with words that help, our own in 3; only the last shows a stack trace."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import EXAMPLE, here, process

KEY = ("--reference", "key")
ALPHA = ("--submission", "Alpha.tgz")
SCORE = ("score", "clir", *KEY, *ALPHA)
LISTS = ("--documents", "documents.txt", "--queries", "queries.txt")

MISUSE = {
    "a reference that is not there": (("score", "clir", "--reference", "nokey", *ALPHA), "nokey cannot be read"),
    "a submission that is not there": (("score", "clir", *KEY, "--submission", "No.tgz"), "No.tgz cannot be read"),
    "metadata that is not there": ((*SCORE, "--metadata", "no.tsv"), "no.tsv cannot be read"),
    "a folder as metadata": ((*SCORE, "--metadata", "key"), "key cannot be read: Is a directory"),
    "a folder as list": (("validate", "clir", *ALPHA, "--documents", "key", "--queries", "key"), "key cannot be read"),
    "neither key nor lists": (("validate", "clir", *ALPHA), "Give --reference, or both --documents and --queries"),
    "one list only": (("validate", "clir", *ALPHA, *LISTS[:2]), "both --documents and --queries"),
    "no reference": (("score", "clir", *ALPHA), "clir is scored against a reference: give it before the submission"),
    "an unknown task": (("score", "clri", *KEY, *ALPHA), "No task is called 'clri'. Did you mean 'clir'?"),
    "an unknown metric": ((*SCORE, "--metric", "aqvw"), "no metric 'aqvw'. Did you mean 'aqwv'?"),
    "an unknown command": (("scroe",), "There is no command 'scroe'. Did you mean 'score'?"),
    "an unknown option": ((*SCORE, "--drows", "3"), "--draws"),
    "no command": ((), "Score offline:"),
    "an unknown setting": ((*SCORE, "--set", "bta=1"), "no setting 'bta'. Did you mean 'beta'?"),
    "a setting without value": ((*SCORE, "--set", "beta"), "write --set key=value"),
    "a setting given twice": ((*SCORE, "--set", "beta=1", "--set", "beta=2"), "is set twice"),
    "no draws": ((*SCORE, "--draws", "0"), "0 is not in the range"),
    "a negative beta": ((*SCORE, "--set", "beta=-1"), "beta='-1' cannot be used"),
    "a beta that is not a number": ((*SCORE, "--set", "beta=nan"), "beta='nan' cannot be used"),
    "an infinite beta": ((*SCORE, "--set", "beta=inf"), "beta='inf' cannot be used"),
    "a level above 1": ((*SCORE, "--set", "level=2"), "level"),
    "an unknown interval": ((*SCORE, "--set", "interval=magic"), "it is not one of metric, percentile, bca"),
    "a broken pattern": ((*SCORE, "--set", "document_pattern=("), "not a regular expression"),
    "an unknown kind of report": ((*SCORE, "--report", "a.docx"), "No output writes .docx"),
    "a report in no folder": ((*SCORE, "--report", "no/a.html"), "Make it first: mkdir -p no"),
    "a report below a file": ((*SCORE, "--report", "queries.txt/a.html"), "does not exist"),
    "a folder as report": ((*SCORE, "--report", "{tmp}/taken.html"), "is a folder"),
    "one system to compare": (("compare", "clir", *KEY, *ALPHA), "at least two systems"),
    "two systems of one name": (("compare", "clir", *KEY, *ALPHA, *ALPHA), "Two systems are called 'Alpha'"),
    "nothing to compare": (("compare",), "two --submission or more, or two --result or more"),
    "submissions without task": (("compare", *KEY, *ALPHA), "Give TASK"),
    "a copy over something": (
        ("validate", "clir", *ALPHA, *KEY, "--fix", "Beta.tgz"),
        "existing files are never overwritten",
    ),
    "a pipe as metadata": ((*SCORE, "--metadata", "{tmp}/pipe"), "pipe or a device"),
    "a name far too long": (("score", "clir", *KEY, "--submission", "x" * 5000), "too long"),
    "a report over an input": ((*SCORE, "--metadata", "a.csv", "--report", "./a.csv"), "is an input of this run"),
    "a report over a result": (
        ("compare", "--result", "A=a.json", "--result", "B=b.json", "--report", "b.json"),
        "is an input of this run",
    ),
    "a pipe as submission": (("score", "clir", *KEY, "--submission", "{tmp}/pipe"), "neither a file nor a folder"),
}
PROBLEMS = {
    "an empty folder as key": ("score", "clir", "--reference", "{tmp}/empty", *ALPHA),
    "an empty folder as submission": ("score", "clir", *KEY, "--submission", "{tmp}/empty"),
    "an empty file as submission": ("validate", "clir", *KEY, "--submission", "{tmp}/Empty.tgz"),
    "a text as key": ("score", "clir", "--reference", "documents.txt", *ALPHA),
    "a text as submission": ("compare", "clir", *KEY, *ALPHA, "--submission", "documents.txt"),
    "an empty list": ("validate", "clir", *ALPHA, "--documents", "{tmp}/list.txt", "--queries", "queries.txt"),
}


@pytest.fixture
def place(tmp_path):
    (tmp_path / "taken.html").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "Empty.tgz").touch()
    (tmp_path / "list.txt").touch()
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def words_in(place, words):
    return [word.replace("{tmp}", str(place)) for word in words]


@pytest.mark.req("P-3")
@pytest.mark.parametrize(("words", "said"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_told_in_words_with_exit_code_2(words, said, place):
    ended = here(*words_in(place, words))
    assert (ended.code, ended.stdout) == (2, ""), ended
    assert said in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


@pytest.mark.req("P-3")
@pytest.mark.parametrize("words", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("json_wanted", [False, True], ids=["words", "json"])
def test_problems_of_the_input_are_listed_with_exit_code_1(words, json_wanted, place):
    ended = here(*words_in(place, words), *(["--json"] if json_wanted else []))
    assert ended.code == 1
    assert "Traceback" not in ended.stderr
    if json_wanted:
        assert (ended.data["valid"], ended.data["problems"] != [], ended.stderr) == (False, True, "")
    else:
        assert (ended.stdout, "is not accepted until" in ended.stderr) == ("", True)


@pytest.mark.req("M03", case="bad")
def test_an_unknown_language_is_refused_and_never_given_a_default_beta():
    ended = here(*SCORE, "--set", "language=XX")
    assert (ended.code, ended.stdout) == (2, "")
    assert "No beta is known for language 'XX'" in ended.stderr
    assert here(*SCORE, "--set", "language=XX", "--set", "beta=7", "--metric", "aqwv", "--json").code == 0


@pytest.mark.req("M04", case="bad")
@pytest.mark.parametrize("wrong", ["value=0", "prior=0", "prior=1", "prior=2", "prior=-0.1", "prior=nan", "cost=inf"])
def test_constants_that_cannot_be_are_an_error(wrong):
    ended = here(*SCORE, "--set", "cost=0.1", "--set", wrong) if "cost" not in wrong else here(*SCORE, "--set", wrong)
    assert (ended.code, ended.stdout) == (2, "")
    assert f"{wrong.partition('=')[0]}=" in ended.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read and write everything")
@pytest.mark.req("P-3")
def test_files_that_may_not_be_read_or_written_are_told(tmp_path):
    secret = tmp_path / "Secret.tgz"
    secret.write_bytes((EXAMPLE / "Alpha.tgz").read_bytes())
    secret.chmod(0)
    tmp_path.chmod(0o500)
    for words in (("score", "clir", *KEY, "--submission", secret), (*SCORE, "--report", tmp_path / "a.html")):
        ended = here(*words)
        assert (ended.code, "Traceback" in ended.stderr) == (2, False)
    tmp_path.chmod(0o700)


def plug_in(folder, code):
    """A package on the path that registers the task `stranger`."""
    info = folder / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[basanite.tasks]\nstranger = stranger:TASK\n")
    (folder / "stranger.py").write_text(code)
    return {"PYTHONPATH": str(folder)}


@pytest.mark.req("P-3")
def test_a_fault_of_ours_has_exit_code_3_and_says_what_to_send(tmp_path):
    ended = process(
        "score", "stranger", *KEY, *ALPHA, cwd=EXAMPLE, **plug_in(tmp_path, "raise RuntimeError('a fault')")
    )
    assert (ended.code, ended.stdout) == (3, "")
    assert "Traceback" in ended.stderr
    assert "Please send us" in ended.stderr


@pytest.mark.req("P-3")
def test_a_plug_in_without_its_dependency_is_no_fault_of_ours_and_hurts_nobody_else(tmp_path):
    environment = plug_in(tmp_path, "import not_there")
    ended = process("score", "stranger", *KEY, *ALPHA, cwd=EXAMPLE, **environment)
    assert (ended.code, ended.stdout) == (2, "")
    assert "needs the module 'not_there'" in ended.stderr
    assert process("validate", "clir", *KEY, *ALPHA, cwd=EXAMPLE, **environment).code == 0


@pytest.mark.req("P-3")
@pytest.mark.parametrize("code", ["TASK = None", "OTHER = 1"], ids=["no task", "nothing of that name"])
def test_a_plug_in_that_is_no_task_is_told_and_still_listed(tmp_path, code):
    environment = plug_in(tmp_path, code)
    ended = process("score", "stranger", *KEY, *ALPHA, cwd=EXAMPLE, **environment)
    assert (ended.code, ended.stdout, "Traceback" in ended.stderr) == (2, "", False)
    assert "stranger" in ended.stderr
    assert "stranger" in process("tasks", cwd=EXAMPLE, **environment).stdout


@pytest.mark.req("P-3")
def test_a_report_is_written_even_if_the_reader_of_the_output_goes_away(tmp_path):
    line = f"{sys.executable} -m basanite score clir --reference key --submission Alpha.tgz --report {tmp_path}/r.csv"
    subprocess.run(["bash", "-c", f"{line} | head -1"], cwd=EXAMPLE, capture_output=True, timeout=120)
    assert (tmp_path / "r.csv").read_text().startswith("system")


@pytest.mark.req("P-3")
def test_a_reader_that_goes_away_is_no_mistake(tmp_path):
    line = f"{sys.executable} -m basanite score clir --reference key --submission Alpha.tgz | head -1"
    done = subprocess.run(["bash", "-c", line], cwd=EXAMPLE, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("Alpha", "")


@pytest.mark.req("D-12")
@pytest.mark.parametrize(
    "words",
    [
        ("tasks",),
        ("--help",),
        ("metrics",),
        ("plugins",),
        ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz"),
        ("score", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--json"),
        ("compare", "clir", "--reference", "key", "--submission", "Alpha.tgz", "--submission", "Beta.tgz"),
        ("validate", "clir", "--reference", "key", "--submission", "Alpha.tgz"),
    ],
)
def test_closing_the_pipe_is_no_error(words):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "basanite", *words]
    done = subprocess.run(command, cwd=EXAMPLE, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.req("D-12")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_output_that_is_closed_from_the_start_is_no_error(more):
    words = ["-m", "basanite", "score", "clir", "--reference", "key", "--submission", "Alpha.tgz", *more]
    line = f"{shlex.join([sys.executable, *words])} >&-"
    done = subprocess.run(["bash", "-c", line], cwd=EXAMPLE, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.req("D-12")
def test_the_first_line_of_a_long_list_can_be_taken():
    line = f"set -o pipefail; {sys.executable} -m basanite tasks | head -1"
    done = subprocess.run(["bash", "-c", line], cwd=EXAMPLE, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")


def test_an_unknown_setting_of_a_server_is_called_unknown(tmp_path):
    (tmp_path / "basanite.toml").write_text('[server]\ndrop = "drop"\n')
    ended = here("admin", "people", "list", cwd=tmp_path)
    assert ended.code == 2
    assert ended.stderr.startswith("Error: There is no setting 'server'. ")


def test_only_some_metrics_can_be_asked_for():
    ended = here(*SCORE, "--metric", "pfa", "--json")
    assert ended.code == 0
    assert json.loads(ended.stdout)["values"].keys() == {"aqwv", "pfa"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_not_our_fault():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "basanite", "tasks"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == "Error: The output cannot be read or written: No space left on device.\n"


def test_any_encoding_of_the_terminal_will_do(tmp_path):
    ended = process("tasks", cwd=tmp_path, PYTHONIOENCODING="ascii:strict")
    assert ended.code == 0, ended.stderr
