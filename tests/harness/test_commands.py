"""What `harness run` and `status` say: progress, gaps and problems, with their exit codes."""

import re

import pytest
from tests.cli.running import here
from tests.harness.plans import ALPHA, DIGITS, HEAD, written

from basanite.cli import terminal


@pytest.fixture
def at_once(monkeypatch):
    """Progress is told after every step."""
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(terminal, "SHARE_BETWEEN_LINES", 0.0)


@pytest.mark.req("H-19")
def test_long_work_says_what_runs_what_was_reused_and_how_long_the_rest_will_take(tmp_path, at_once):
    plan = written(tmp_path, HEAD + DIGITS + ALPHA)
    first, second = here("harness", "run", plan), here("harness", "run", plan)
    lines = first.stderr.splitlines()
    total = int(re.match(r"(\d+) steps, of which 0 are done already", lines[0])[1])
    assert "learn digits/shared a deep" in first.stderr
    told = [
        int(found[1]) for line in lines if (found := re.match(r"(\d+) of \d+ steps, about [\d.]+ (s|min|h) left", line))
    ]
    assert told == list(range(1, total + 1))
    assert f"{total} steps, of which {total} are done already" in second.stderr
    assert first.stdout == second.stdout
    assert "6a" in first.stdout


def test_a_failed_run_is_told_when_it_fails_and_by_the_exit_code(tmp_path):
    plan = written(tmp_path, HEAD + DIGITS + ALPHA.replace("RIDGE", "BROKEN"))
    ended = here("harness", "run", plan, "--json")
    assert ended.code == 1
    assert "classify digits/0 4a failed: ValueError: this classifier cannot learn" in ended.stderr
    runs = ended.data["tasks"]["digits"]["runs"]
    assert (runs["4a"]["state"], runs["4a"]["value"], runs["1"]["state"]) == ("failed", None, "done")


@pytest.mark.parametrize("words", [("run",), ("status",), ("seal",), ("unseal",)], ids=" ".join)
def test_a_plan_that_is_not_there_is_told_without_a_stack_trace(tmp_path, words):
    ended = here("harness", *words, tmp_path / "no.toml")
    assert (ended.code, "Traceback" in ended.stderr, "no.toml" in ended.stderr) == (2, False, True)


def test_status_before_any_run_says_so(tmp_path):
    ended = here("harness", "status", written(tmp_path))
    assert (ended.code, "no run has finished yet. If the run was given --out" in ended.stdout) == (0, True)


def test_status_finds_the_folder_that_the_run_was_given(tmp_path):
    plan, out = written(tmp_path, HEAD + DIGITS), tmp_path / "elsewhere"
    assert here("harness", "run", plan, "--out", out, "--only", "1").code == 0
    found = here("harness", "status", plan, "--out", out, "--json").data
    assert found == here("harness", "status", out, "--json").data
    assert found["tasks"]["digits"]["runs"]["1"]["state"] == "done"
    assert here("harness", "status", plan, "--json").data["tasks"] == {}
    both = here("harness", "status", out, "--out", out)
    assert (both.code, "is a result folder itself" in both.stderr) == (2, True)


def test_an_unknown_command_of_the_harness_is_answered_with_the_nearest(tmp_path):
    ended = here("harness", "rum", cwd=tmp_path)
    assert (ended.code, "Did you mean 'run'?" in ended.stderr) == (2, True)
