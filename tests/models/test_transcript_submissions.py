"""What a run leaves is scored: answers by tasks, refusals and errors as metrics, code by its tests (L-2, L-3)."""

import csv
import json
from itertools import count

import pytest
from scipy.stats import binomtest
from tests.cli.running import here
from tests.models.loopback_model import LoopbackModel, Reply, serving, sum_of
from tests.models.test_run import COMMAND, ITEMS, run, turns, written

MANY = 40
TRANSCRIPTS = "run/transcripts.jsonl"


def scored(folder, *words):
    ended = here("score", *words, "--json", cwd=folder)
    assert ended.code == 0, ended.stderr + ended.stdout
    return ended.data["values"]


def ask(folder, answer, *more, task="questions", items=None, template="{question}", pattern="Answer: (.*)", fault=None):
    """Run a model that answers so on items (rows), and leave its folder."""
    with serving(LoopbackModel(answer=answer, fault=fault or (lambda number, prompt: None))) as model:
        written(folder, model, template=template)
        text = (folder / "system.toml").read_text().replace("'Answer: (.*)'", f"'{pattern}'")
        (folder / "system.toml").write_text(text)
        if items is not None:
            (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
        return here("run", task, *COMMAND[2:], *more, cwd=folder)


@pytest.mark.req("L-2")
def test_refusals_and_errors_are_metrics_with_intervals(tmp_path):
    too_long = Reply(400, b'{"error": {"message": "context length exceeded"}}')

    def fault(number, prompt):
        return too_long if " 5 " in prompt or " 6 " in prompt else None

    with serving(LoopbackModel(fault=fault)) as model:
        model.answer = lambda prompt: "I cannot help with that." if prompt.endswith(" 3 plus 7?") else sum_of(prompt)
        written(tmp_path, model, items=MANY)
        path = tmp_path / "system.toml"
        path.write_text(path.read_text().replace("[price]", "refusal = 'I cannot'\n[price]"))
        left = run(tmp_path, "--reference", "items.jsonl")
        assert (left.code, "--accept-errors" in left.stderr) == (1, True)
        assert not (tmp_path / "run/submission.jsonl").exists()
        ended = run(tmp_path, "--reference", "items.jsonl", "--accept-errors")
        assert ended.code == 0, ended.stderr
    refused = here("score", "scores", "run/scores.csv", cwd=tmp_path)
    assert refused.code == 1
    assert "missing=lowest" in refused.stdout + refused.stderr
    for missing, tried in (("lowest", MANY), ("skip", MANY - 2)):
        values = scored(tmp_path, "scores", "run/scores.csv", "--set", f"missing={missing}")
        for name, times in (("refusal", 1), ("error", 2)):
            low, high = binomtest(times, MANY).proportion_ci(method="wilson")
            found = values[name]
            assert found["value"] == pytest.approx(times / MANY)
            assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.01)
            assert found["units"] == MANY
        assert values["mean"]["value"] == pytest.approx((MANY - 3) / tried)
    alone = scored(tmp_path, "scores", TRANSCRIPTS)
    assert [alone[name]["value"] * MANY for name in ("mean", "refusal", "error")] == pytest.approx([MANY - 3, 1, 2])


@pytest.mark.req("L-3")
def test_transcripts_are_a_submission_to_a_task_of_texts(tmp_path):
    assert ask(tmp_path, lambda prompt: f"Hm.\nAnswer: {prompt.split()[2]}").code == 0
    by_file = scored(tmp_path, "questions", "items.jsonl", "run/submission.jsonl")
    assert scored(tmp_path, "questions", "items.jsonl", TRANSCRIPTS) == by_file
    shown = here("inspect", TRANSCRIPTS, "--json", cwd=tmp_path).data["files"][0]
    assert (shown["kind"], shown["items"]["count"]) == ("transcripts of a language model", ITEMS)
    texts = [{"id": f"q{n}", "text": f"What is {n}"} for n in range(ITEMS)]
    (tmp_path / "reference.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    values = scored(tmp_path, "translation", "reference.jsonl", TRANSCRIPTS)
    assert values == scored(tmp_path, "translation", "reference.jsonl", *sorted(texts_of(tmp_path)))


def texts_of(folder):
    """The same answers as a file of texts."""
    rows = [{"id": turn["item"], "text": turn["text"].split(": ")[1]} for turn in turns(folder)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["texts.jsonl"]


@pytest.mark.req("L-3")
def test_a_new_rule_for_answers_is_used_without_asking_again(tmp_path):
    with serving(LoopbackModel(answer=lambda prompt: "Answer: 1\nResult: 7")) as model:
        written(tmp_path, model)
        assert run(tmp_path).code == 0
        path = tmp_path / "system.toml"
        path.write_text(path.read_text().replace("Answer: (.*)", "Result: (.*)"))
        assert run(tmp_path).code == 0
        assert model.calls == ITEMS
    assert scored(tmp_path, "questions", "items.jsonl", TRANSCRIPTS)["accuracy"]["value"] == pytest.approx(1 / ITEMS)


@pytest.mark.req("L-3")
def test_multiple_choice_and_numeric_answers_count(tmp_path):
    said = count()
    items = [{"id": str(n), "question": f"{n}?", "choices": ["red", "blue"], "answer": "B"} for n in range(10)]
    answers = ["Answer: B", "Answer: (b)", "Answer: blue", "Answer: A", "Answer: green"]
    ended = ask(tmp_path, lambda prompt: answers[next(said) % 5], items=items, template="{question}\\n{choices}")
    assert ended.code == 0, ended.stderr
    assert scored(tmp_path, "questions", "items.jsonl", TRANSCRIPTS)["accuracy"]["value"] == pytest.approx(0.6)
    numbers = [("1,250.0", "1250", 1), ("$3", "3.0", 1), ("1/3", "0.333", 0), ("twelve", "12", 0), ("-5e1", "-50", 1)]
    rows = [{"id": str(n), "answer": right} for n, (_, right, _) in enumerate(numbers)]
    given = [{"id": str(n), "answer": text} for n, (text, _, _) in enumerate(numbers)]
    for name, lines in (("key.jsonl", rows), ("given.jsonl", given)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in lines))
    by_number = ("questions", "key.jsonl", "given.jsonl", "--set", "rule=number")
    assert scored(tmp_path, *by_number)["accuracy"]["value"] == pytest.approx(3 / 5)
    assert scored(tmp_path, *by_number, "--set", "tolerance=0.001")["accuracy"]["value"] == pytest.approx(4 / 5)
    rows[0]["answer"] = "many"
    (tmp_path / "key.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = here("score", *by_number, cwd=tmp_path)
    assert "the answer to question '0' is no number" in refused.stdout + refused.stderr


PROGRAMS = {
    "right": "```python\ndef add(a, b):\n    return a + b\n```",
    "wrong": "```python\ndef add(a, b):\n    return a - b\n```",
    "leaves": "```python\nimport os\nos._exit(0)\n```",
    "quits": "```python\nraise SystemExit(0)\n```",
    "broken": "```python\ndef add(a, b)\n```",
    "greedy": "```python\nx = bytearray(1 << 40)\n```",
    "reaches out": "```python\nimport socket\nsocket.create_connection(('127.0.0.1', {port}), 1)\n"
    "def add(a, b):\n    return a + b\n```",
    "in words": "I would add them.",
    "completes": "```python\n    return a + b\n```",
}


@pytest.mark.req("L-3")
def test_code_runs_in_the_sandbox_against_its_tests(tmp_path):
    items = [{"id": name, "question": name, "tests": ["assert add(2, 3) == 5"]} for name in PROGRAMS]
    items[-1] |= {"tests": "def check(f):\n    assert f(2, 3) == 5", "entry_point": "add", "prompt": "def add(a, b):\n"}

    with serving(LoopbackModel()) as model:
        port = model.url.rsplit(":", 1)[1].split("/")[0]
        model.answer = lambda prompt: PROGRAMS[prompt].replace("{port}", port)
        written(tmp_path, model)
        (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
        path = tmp_path / "system.toml"
        path.write_text(path.read_text().replace("pattern = 'Answer: (.*)'", ""))
        ended = here("run", "code", *COMMAND[2:], "--reference", "items.jsonl", cwd=tmp_path)
        assert ended.code == 0, ended.stderr
        calls = model.calls
    assert calls == len(PROGRAMS), "no program reached the network"
    with (tmp_path / "run/scores.csv").open() as file:
        passed = {row["item"]: row["score"] for row in csv.DictReader(file)}
    assert passed == {name: str(int(name in ("right", "completes"))) for name in PROGRAMS}
    assert scored(tmp_path, "scores", "run/scores.csv")["pass_at_1"]["value"] == pytest.approx(2 / len(PROGRAMS))


@pytest.mark.req("L-3")
def test_code_without_tests_and_tests_without_code_are_refused(tmp_path):
    items = [{"id": "a", "question": "a"}]
    ended = ask(tmp_path, lambda prompt: "x = 1", "--reference", "other.jsonl", task="code", items=items)
    assert (ended.code, "other.jsonl does not exist" in ended.stderr) == (2, True)
    assert ask(tmp_path, lambda prompt: "x = 1", task="code", items=items).code == 0
    (tmp_path / "other.jsonl").write_text('{"id": "b", "tests": "assert True"}\n{"id": "c"}\n')
    ended = here("run", "code", *COMMAND[2:], "--reference", "other.jsonl", cwd=tmp_path)
    for told in ("item 'a' has no tests", "item 'b' has tests and no answer", "other.jsonl:2: the item has no tests"):
        assert told in ended.stderr + ended.stdout


@pytest.mark.req("L-2", "L-3")
def test_a_transcript_edited_by_hand_is_refused_with_its_line_wherever_it_is_read(tmp_path):
    assert ask(tmp_path, lambda prompt: "Answer: 99").code == 0
    path = tmp_path / TRANSCRIPTS
    lines = path.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("Answer: 99", "Answer: 9")
    path.write_text("".join(lines))
    for words in (("score", "questions", "items.jsonl", TRANSCRIPTS), ("score", "scores", TRANSCRIPTS)):
        refused = here(*words, cwd=tmp_path)
        assert refused.code == 1
        assert "transcripts.jsonl:4: the line was edited after it was written" in refused.stderr + refused.stdout
    with serving(LoopbackModel()) as model:
        text = (tmp_path / "system.toml").read_text()
        (tmp_path / "system.toml").write_text(text)
        again = run(tmp_path)
        assert (again.code, "transcripts.jsonl:4: this line was not written" in again.stderr) == (2, True)
        assert model.calls == 0


@pytest.mark.req("L-3")
def test_repeats_and_failed_items_are_no_submission_of_one_answer_each(tmp_path):
    with serving(LoopbackModel()) as model:
        written(tmp_path, model, top="repeats = 2", items=3)
        assert run(tmp_path).code == 0
    refused = here("score", "questions", "items.jsonl", TRANSCRIPTS, cwd=tmp_path)
    assert "there are 2 repeats of an item" in refused.stderr + refused.stdout
    values = scored(tmp_path, "scores", TRANSCRIPTS)
    assert (values["mean"]["units"], values["error"]["value"]) == (3, 0.0)


@pytest.mark.req("L-2")
def test_an_answer_in_another_language_is_counted_and_wrong(tmp_path):
    ended = ask(tmp_path, lambda prompt: "Die Antwort lautet sieben.")
    assert ended.code == 0
    assert f"{ITEMS} in which [answer] pattern finds no answer" in ended.stdout
    assert scored(tmp_path, "questions", "items.jsonl", TRANSCRIPTS)["accuracy"]["value"] == 0.0


@pytest.mark.req("L-2", "L-10")
def test_an_endpoint_that_is_busy_for_long_is_waited_for_and_no_item_is_paid_twice(tmp_path):
    busy = Reply(429, b"", (("retry-after", "0.02"),))
    with serving(LoopbackModel(fault=lambda number, prompt: busy if 3 < number < 60 else None)) as model:
        written(tmp_path, model, endpoint="parallel = 4")
        ended = run(tmp_path, "--json")
        assert ended.code == 0, ended.stderr
        assert max(model.answered.values()) == 1
    assert (ended.data["answered"], ended.data["calls"], ended.data["failed"]) == (ITEMS, ITEMS, 0)
    assert {turn["attempts"] for turn in turns(tmp_path)} == {1}, "waiting is no try"
