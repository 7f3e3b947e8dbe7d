"""`basanite run` against a real endpoint on loopback: answers, budgets, faults, kills, and what is written down."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from itertools import count

import pytest
from tests.cli.running import forked, here
from tests.models.loopback_model import KEY, LoopbackModel, Reply, serving

SYSTEM = """format = "basanite-system/1"
name = "adder"
{top}
[endpoint]
url = "{url}"
model = "adder-1"
{endpoint}
[prompt]
template = "{template}"
[answer]
pattern = 'Answer: (.*)'
[price]
input = 1.0
output = 2.0
{more}
"""
ITEMS = 12


def written(folder, model, *, top="", endpoint="", template="{question}", more="", items=ITEMS):
    """A folder with a system and its items, whose sums are the answers."""
    (folder / "system.toml").write_text(
        SYSTEM.format(url=model.url, top=top, endpoint=endpoint, template=template, more=more)
    )
    rows = [{"id": f"q{n}", "question": f"What is {n} plus 7?", "answer": str(n + 7)} for n in range(items)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


COMMAND = ("run", "questions", "--system", "system.toml", "--data", "items.jsonl", "--out", "run")


def run(folder, *more):
    return here(*COMMAND, *more, cwd=folder)


def turns(folder, out="run"):
    return [json.loads(line) for line in (folder / out / "transcripts.jsonl").read_text().splitlines()[1:]]


@pytest.mark.req("L-2", "L-10")
def test_every_item_is_asked_once_and_the_answers_are_a_submission_that_scores(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        ended = run(tmp_path, "--reference", "items.jsonl", "--json")
        assert ended.code == 0, ended.stderr
        summary = json.loads(ended.stdout)
        assert (summary["answered"], summary["calls"], summary["failed"]) == (ITEMS, ITEMS, 0)
        assert model.calls == ITEMS
        assert run(tmp_path).code == 0
        assert model.calls == ITEMS, "a finished run asks nothing again"
    spent = sum(turn["tokens_in"] * 1.0 + turn["tokens_out"] * 2.0 for turn in turns(tmp_path)) / 1e6
    assert summary["cost"] == pytest.approx(spent, rel=1e-9)
    scored = here("score", "questions", "items.jsonl", "run/submission.jsonl", "--json", cwd=tmp_path)
    assert json.loads(scored.stdout)["values"]["accuracy"]["value"] == 1.0
    trials = json.loads(here("score", "scores", "run/scores.csv", "--json", cwd=tmp_path).stdout)["values"]
    assert trials["mean"]["value"] == 1.0
    assert trials["cost"]["value"] == pytest.approx(spent / ITEMS, rel=1e-6)


@pytest.mark.req("L-2")
def test_repeats_are_calls_of_their_own_nested_in_items(tmp_path):
    said = count()
    with serving(LoopbackModel(answer=lambda prompt: f"Answer: {next(said) % 2}")) as model:
        written(tmp_path, model, top="repeats = 3", items=8)
        assert run(tmp_path, "--reference", "items.jsonl").code == 0
        assert model.calls == 24
    assert sorted(path.name for path in (tmp_path / "run").glob("submission*")) == [
        "submission-1.jsonl",
        "submission-2.jsonl",
        "submission-3.jsonl",
    ]
    scored = here("score", "scores", "run/scores.csv", cwd=tmp_path)
    assert "8 items with 3 repeats each" in scored.stdout


@pytest.mark.req("L-2")
def test_a_budget_is_never_passed_and_more_budget_resumes_the_run(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model, more="[budget]\ncost = 0.0013", endpoint="parallel = 4", items=40)
        stopped = run(tmp_path, "--json")
        summary = json.loads(stopped.stdout)
        assert stopped.code == 1
        assert "the next call could pass the budget of 0.0013 USD" in summary["stopped"]
        assert 0 < summary["answered"] < 40
        assert summary["cost"] <= 0.0013
        assert not (tmp_path / "run" / "submission.jsonl").exists()
        before = model.calls
        written(tmp_path, model, more="[budget]\ncost = 1.0", items=40)
        assert run(tmp_path).code == 0
        assert (before, model.calls) == (summary["calls"], 40)


@pytest.mark.req("L-2")
def test_a_budget_of_cost_needs_an_endpoint_that_counts(tmp_path):
    with serving(LoopbackModel(usage=False)) as model:
        written(tmp_path, model, more="[budget]\ncost = 1.0", endpoint="parallel = 1")
        ended = run(tmp_path)
        assert ended.code == 1
        assert "the endpoint counts no tokens" in ended.stderr
        assert model.calls == 1
        written(tmp_path, model, more="[budget]\ncalls = 5", endpoint="parallel = 1")
        assert "budget of 5 calls" in run(tmp_path).stderr
        assert model.calls == 5


def a_bad_day(number, prompt):
    """A busy endpoint, a broken line, nonsense, an error and a cut answer, each once; then all is well."""
    faults = {
        1: Reply(429, b'{"error": {"message": "slow down"}}', (("retry-after", "0.1"),)),
        2: Reply(200, b'{"choices": [', cut=True),
        3: Reply(200, b"<html>all is well</html>"),
        4: Reply(500, b""),
        5: Reply(200, b'{"choices": []}'),
        6: Reply(200, b"[" * 100_000),
        7: Reply(429, b"", (("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"),)),
    }
    return faults.get(number)


@pytest.mark.req("L-2", "L-10")
def test_faults_of_an_endpoint_are_tried_again_and_cost_no_item(tmp_path):
    with serving(LoopbackModel(fault=a_bad_day)) as model:
        written(tmp_path, model, endpoint="parallel = 2")
        ended = run(tmp_path)
        assert ended.code == 0, ended.stderr
        assert model.calls == ITEMS + 7
        assert max(model.answered.values()) == 1
    assert {turn["error"] for turn in turns(tmp_path)} == {""}


@pytest.mark.req("L-2")
def test_an_endpoint_that_stays_busy_ends_the_run_which_can_be_resumed(tmp_path):
    busy = Reply(429, b'{"error": {"message": "quota"}}', (("retry-after", "0.2"),))
    with serving(LoopbackModel(fault=lambda number, prompt: busy if number > 3 else None)) as model:
        written(tmp_path, model, endpoint="patience = 0.5\nparallel = 2")
        began = time.monotonic()
        ended = run(tmp_path)
        assert (ended.code, "the endpoint answered 429: quota" in ended.stderr) == (1, True)
        assert time.monotonic() - began < 100
        assert len(turns(tmp_path)) == 3
        model.fault = lambda number, prompt: None
        assert run(tmp_path).code == 0
    assert len(turns(tmp_path)) == ITEMS


@pytest.mark.req("L-2")
def test_an_item_that_is_refused_fails_alone_and_is_asked_again_later(tmp_path):
    too_long = Reply(400, b'{"error": {"message": "context length exceeded"}}')
    with serving(LoopbackModel(fault=lambda number, prompt: too_long if " 5 " in prompt else None)) as model:
        written(tmp_path, model)
        ended = run(tmp_path)
        assert ended.code == 1
        assert "failed: the endpoint answered 400: context length exceeded" in ended.stdout
        assert "1 item is left" in ended.stderr
        model.fault = lambda number, prompt: None
        assert run(tmp_path).code == 0
        assert model.calls == ITEMS + 1


@pytest.mark.req("L-1")
def test_a_key_comes_from_the_environment_and_is_written_nowhere(tmp_path, monkeypatch):
    with serving(LoopbackModel(key=KEY)) as model:
        written(tmp_path, model, endpoint='key = "ADDER_KEY"')
        monkeypatch.delenv("ADDER_KEY", raising=False)
        missing = run(tmp_path)
        assert (missing.code, "export ADDER_KEY=" in missing.stderr) == (2, True)
        monkeypatch.setenv("ADDER_KEY", "sk-mistyped-0123456789")
        wrong = run(tmp_path)
        assert (wrong.code, "check the key in ADDER_KEY" in wrong.stderr) == (1, True)
        monkeypatch.setenv("ADDER_KEY", KEY)
        right = run(tmp_path)
        assert right.code == 0
        assert model.calls <= ITEMS + 8
    shown = "".join(ended.stdout + ended.stderr for ended in (missing, wrong, right))
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert not re.search("sk-mistyped|sk-loopback", shown + kept)


@pytest.mark.req("L-1", "L-2")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (('url = "http', 'url = "ftp'), "is no address of an endpoint"),
        (("http://127.0.0.1", "http://models.example"), "unencrypted"),
        (("{question}", "{quesion}"), "Did you mean 'question'?"),
        (("{question}", "What?"), "asks the same of every item"),
        (("'Answer: (.*)'", "'Answer: ('"), "is no pattern"),
        (("input = 1.0", 'input = "free"'), "system.toml:13"),
        (("basanite-system/1", "basanite-system/2"), "newer version"),
    ],
)
def test_a_system_that_is_wrong_is_refused_with_line_and_fix_before_any_call(tmp_path, change, told):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        path = tmp_path / "system.toml"
        path.write_text(path.read_text().replace(*change))
        refused = run(tmp_path)
        assert (refused.code, told in refused.stderr) == (1, True), refused.stderr
        assert "Fix:" in refused.stderr
        assert model.calls == 0


@pytest.mark.req("L-2")
def test_items_that_are_wrong_are_refused_with_their_line(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        (tmp_path / "items.jsonl").write_text('{"id": "a", "question": "1 2"}\n{"id": "a", "question": null}\n')
        refused = run(tmp_path)
        assert refused.code == 1
        assert "items.jsonl:2: item 'a' stands here again" in refused.stderr
        assert "items.jsonl:2: item 'a' says nothing under 'question'" in refused.stderr
        assert model.calls == 0


@pytest.mark.req("L-2")
def test_another_prompt_or_other_items_never_join_a_run_and_edited_lines_are_refused(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        assert run(tmp_path).code == 0
        written(tmp_path, model, template="Please: {question}")
        changed = run(tmp_path)
        assert (changed.code, "other model, prompt or decoding" in changed.stderr) == (2, True)
        written(tmp_path, model, items=3)
        fewer = run(tmp_path)
        assert (fewer.code, "a run with other items" in fewer.stderr) == (2, True)
        written(tmp_path, model)
        path = tmp_path / "run" / "transcripts.jsonl"
        path.write_text(path.read_text().replace('"repeat":1', '"repeat":"one"', 1))
        edited = run(tmp_path)
        assert (edited.code, "transcripts.jsonl:2: this line" in edited.stderr) == (2, True)
        assert model.calls == ITEMS


@pytest.mark.req("L-2")
def test_runs_that_share_a_cache_pay_for_no_request_twice(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        assert run(tmp_path, "--cache", "cache").code == 0
        again = here(*COMMAND[:-1], "second", "--cache", "cache", "--json", cwd=tmp_path)
        summary = json.loads(again.stdout)
        assert (summary["from_cache"], summary["calls"], summary["cost"], model.calls) == (ITEMS, 0, 0.0, ITEMS)
    one, two = ((tmp_path / out / "submission.jsonl").read_bytes() for out in ("run", "second"))
    assert one == two


@pytest.mark.req("L-2")
def test_check_shows_the_prompt_and_the_most_it_can_cost_and_calls_nothing(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model)
        shown = run(tmp_path, "--check", "--json")
        assert shown.code == 0
        about = json.loads(shown.stdout)
        assert about["prompt"] == "[user]\nWhat is 0 plus 7?"
        assert run(tmp_path, "--json").code == 0
        paid = sum(turn["cost"] for turn in turns(tmp_path))
        assert paid < about["most_cost"]
        assert model.calls == ITEMS == about["calls"]


@pytest.mark.req("L-2")
def test_a_run_that_is_killed_at_any_moment_loses_no_item_and_pays_for_none_twice(tmp_path):
    dice = random.Random(5)
    with serving(LoopbackModel(delay=0.01)) as model:
        written(tmp_path, model, endpoint="parallel = 4", items=60)
        for _ in range(4):
            worker = subprocess.Popen(
                [sys.executable, "-m", "basanite", *COMMAND],
                cwd=tmp_path,
                env=dict(os.environ),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wanted = min(model.calls + dice.randint(2, 12), 55)
            until = time.monotonic() + 60
            while model.calls < wanted and time.monotonic() < until and worker.poll() is None:
                time.sleep(0.002)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
        ended = forked(*COMMAND, cwd=tmp_path)
        assert ended.code == 0, ended.stderr
        keys = {key for _, key in model.answered}
        assert len(keys) == 60, "a call that was under way when the run died is sent under the same key"
    found = turns(tmp_path)
    assert len({turn["item"] for turn in found}) == len(found) == 60
    assert all(turn["text"].endswith(str(int(turn["item"][1:]) + 7)) for turn in found)
