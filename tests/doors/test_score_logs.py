"""Logs of inspect_ai and lm-evaluation-harness are scored as they are, and compared only where they were made alike."""

from __future__ import annotations

import json

import pytest
from numcodecs import zstd
from tests.cli.running import here
from tests.doors.score_logs import (
    deepeval,
    every_eval,
    inspect_eval,
    inspect_json,
    lm_eval_samples,
    promptfoo,
    sample,
    zstandard_eval,
)

import basanite
from basanite.errors import BasaniteError, InvalidInputError
from basanite.formats.system_names import system_name

NAMES = [f"q{at}" for at in range(20)]


def samples(shift=0, **more):
    return [
        sample(name, epoch, (at + epoch + shift) % 3 > 0, **more) for epoch in (1, 2) for at, name in enumerate(NAMES)
    ]


def refusal(*files, **settings):
    with pytest.raises(BasaniteError) as raised:
        basanite.compare("scores", submissions=list(files), **settings)
    return str(raised.value)


def problems(path, **settings):
    return [problem.message for problem in basanite.validate("scores", submission=path, **settings)]


@pytest.mark.req("Y-6")
def test_a_log_of_inspect_has_the_same_values_however_it_is_packed(tmp_path):
    files = [
        inspect_eval(tmp_path / "one.eval", samples(), epochs=2),
        inspect_json(tmp_path / "two.json", samples(), epochs=2),
        zstandard_eval(tmp_path / "three.zip", samples(), zstd.compress),
    ]
    results = [basanite.score("scores", submission=file) for file in files]
    one = results[0]
    assert (one["mean"].value, one["mean"].units) == (pytest.approx(27 / 40), 20)
    assert (one["latency"].value, one["tokens"].value) == (1.5, 12)
    assert one["pass_hat_2"].value == pytest.approx(7 / 20)
    for other in results[1:]:
        assert other.values == one.values
        assert other.breakdowns == one.breakdowns
    assert "the score is match; the log also has length (score=NAME chooses)" in one.notes
    assert basanite.score("scores", submission=files[0], score="length")["mean"].value == 0.25
    assert "no score is called 'width'; there are: match, length" in problems(files[0], score="width")


@pytest.mark.req("Y-6")
def test_two_logs_are_compared_without_the_name_of_a_task_or_a_reference(tmp_path):
    inspect_eval(tmp_path / "A.eval", samples(), epochs=2)
    inspect_eval(tmp_path / "B.eval", samples(1), epochs=2)
    inspect_json(tmp_path / "C.json", samples(2), epochs=2)
    found = here("compare", "A.eval", "B.eval", "Third=C.json", "--json", cwd=tmp_path).data
    assert (found["task"], found["systems"]) == ("scores", ["A", "B", "Third"])
    assert found["settings"]["test_draws"] == 10_000
    assert here("score", "A.eval", "--json", cwd=tmp_path).data["task"] == "scores"


@pytest.mark.req("Y-6")
def test_runs_of_other_versions_prompts_or_inputs_are_refused_with_the_difference(tmp_path):
    one = inspect_eval(tmp_path / "one.eval", samples(), epochs=2)
    version = inspect_eval(tmp_path / "version.eval", samples(), epochs=2, version=2)
    assert "their version differs: '1' against '2'" in refusal(one, version)
    plan = {"steps": [{"solver": "prompt_template", "params": {"template": "Think first. Answer: {prompt}"}}]}
    prompt = inspect_eval(tmp_path / "prompt.eval", samples(), epochs=2, plan=plan)
    assert "template: Answer: {prompt}' against" in refusal(one, prompt)
    assert "template: Think first." in refusal(one, prompt)
    asked = inspect_eval(tmp_path / "asked.eval", samples(input="What was it?"), epochs=2)
    assert "asked different things under 20 of the same names, such as 'q0'" in refusal(one, asked)
    scorer = refusal(one, inspect_eval(tmp_path / "same.eval", samples(), epochs=2), score="width")
    assert "no score is called 'width'" in scorer
    both = basanite.compare("scores", submissions=[one, version], ignore="version")
    assert both.differences[0].verdict == "identical"
    assert basanite.compare("scores", submissions=[one, asked], ignore="inputs").differences


@pytest.mark.req("Y-6")
def test_a_log_that_was_cut_off_is_refused_and_says_so(tmp_path):
    whole = inspect_eval(tmp_path / "whole.eval", samples(), epochs=2).read_bytes()
    cut = tmp_path / "cut.eval"
    for size in (len(whole) // 2, len(whole) - 30, 40):
        cut.write_bytes(whole[:size])
        assert "its end, where the directory of the archive is, is missing or damaged" in problems(cut)[0]
    cut.write_bytes(whole[: len(whole) // 2])
    alone = here("score", cut)
    assert (alone.code, "directory of the archive is, is missing" in alone.stderr) == (1, True)
    damaged = tmp_path / "damaged.eval"
    at = whole.index(b"summaries.json", whole.index(b"samples/q19_epoch_2")) + 40
    damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    assert "summaries.json is damaged" in problems(damaged)[0]
    long = inspect_eval(tmp_path / "long.eval", [sample("q", text="x" * (80 << 20))])
    assert "expands to more than 200 times its size" in problems(long)[0]
    text = inspect_json(tmp_path / "text.json", samples(), epochs=2).read_bytes()
    (tmp_path / "cut.json").write_bytes(text[: len(text) // 2])
    assert "the log is truncated or damaged" in problems(tmp_path / "cut.json")[0]


@pytest.mark.req("Y-6")
def test_a_run_that_was_killed_is_refused_unless_a_setting_says_what_is_missing_counts(tmp_path):
    part = [one for one in samples() if one["epoch"] == 1 or one["id"] < "q15"]
    killed = inspect_eval(tmp_path / "killed.eval", part, epochs=2, summaries=False)
    told = problems(killed)
    assert told[0] == "the run did not come to its end: its status is 'started'"
    assert any("have fewer than 2 repeats" in one for one in told)
    found = basanite.score("scores", submission=killed, missing="skip")
    assert found["mean"].units == 20
    assert "the run did not come to its end: its status is 'started'" in found.notes
    assert "read from the journal of the log, for it has no summaries" in found.notes


@pytest.mark.req("Y-6")
def test_samples_with_errors_and_items_without_samples_are_told(tmp_path):
    faulty = samples()
    faulty[3] |= {"scores": None, "error": "the sandbox died"}
    path = inspect_eval(tmp_path / "faulty.eval", faulty, epochs=2)
    assert problems(path) == ["item 'q3' has no score (error: the sandbox died)"]
    short = [one for one in samples() if one["id"] != "q4"]
    log = inspect_json(tmp_path / "short.json", short, epochs=2)
    log.write_text(log.read_text().replace('"q3",', '"q3", "q4",', 1))
    assert problems(log) == ["1 items of the run have no trial: 'q4'"]
    lowest = basanite.score("scores", submission=log, missing="lowest")
    assert lowest["mean"].units == 20
    assert lowest["mean"].value == pytest.approx(sum(one["scores"]["match"]["value"] == "C" for one in short) / 40)


@pytest.mark.req("Y-6")
def test_samples_of_the_lm_evaluation_harness_are_compared(tmp_path):
    scores = [{"acc": float(at % 2), "acc_norm": 1.0} for at in range(24)]
    date = "2026-01-02T03-04-05.678901"
    one = lm_eval_samples(tmp_path / f"samples_arc_{date}.jsonl", scores)
    two = lm_eval_samples(tmp_path / f"samples_arc_{date.replace('05', '06')}.jsonl", scores[::-1])
    found = basanite.compare("scores", submissions={"A": one, "B": two}, score="acc")
    assert found.differences[0].difference == 0
    first = basanite.score("scores", submission=one)
    assert first["mean"].value == 0.5
    assert "the score is acc; the log also has acc_norm (score=NAME chooses)" in first.notes
    other = lm_eval_samples(tmp_path / f"samples_arc_{date.replace('05', '07')}.jsonl", scores, prompt="other")
    assert "asked different things under 24 of the same names" in refusal(one, other)
    assert system_name(one) in here("score", one).stdout
    one.write_bytes(one.read_bytes()[:-20])
    assert problems(one) == ["the last line of the file is truncated"]


@pytest.mark.req("Y-6")
def test_the_folder_of_a_run_has_all_its_tasks_and_their_versions(tmp_path):
    for name, version in (("A", 1.0), ("B", 2.0)):
        folder, date = tmp_path / name, f"2026-01-02T03-04-0{int(version)}.678901"
        folder.mkdir()
        lm_eval_samples(folder / f"samples_arc_{date}.jsonl", [{"acc": 1.0}] * 12)
        lm_eval_samples(folder / f"samples_gsm_{date}.jsonl", [{"exact_match": 0.0}] * 12, filters=("strict", "loose"))
        results = {"results": {}, "versions": {"arc": 1.0, "gsm": version}, "configs": {}, "n-shot": {}}
        (folder / f"results_{date}.json").write_text(json.dumps(results))
    found = basanite.score("scores", submission=tmp_path / "A")
    assert {level: one["mean"].value for level, one in found.breakdowns["task"].items()} == {"arc": 1.0, "gsm": 0.0}
    assert any("acc of arc, exact_match,strict of gsm" in note for note in found.notes)
    assert "'arc 1.0, gsm 1.0' against 'arc 1.0, gsm 2.0'" in refusal(tmp_path / "A", tmp_path / "B")
    with pytest.raises(InvalidInputError, match="means and no scores of items"):
        basanite.score("scores", submission=next((tmp_path / "A").glob("results_*")))


RUN = "2026-01-02T03-04-0{}-00-00_sums_{}.eval"


@pytest.mark.req("Y-6")
def test_logs_that_programs_named_are_called_after_their_models_or_their_folders(tmp_path):
    for at, (folder, model) in enumerate((("a", "lab/m1"), ("b", "lab/m2"), ("c", "lab/m2"))):
        (tmp_path / folder).mkdir()
        inspect_eval(tmp_path / folder / RUN.format(at, "x" * 22), samples(at), epochs=2, model=model)
    one, two, three = (next((tmp_path / folder).iterdir()) for folder in "abc")
    assert here("compare", one, two, "--json").data["systems"] == ["lab/m1", "lab/m2"]
    assert here("compare", two, three, "--json").data["systems"] == ["b", "c"]
    assert here("score", one).stdout.startswith("lab/m1\n")
    date = "2026-01-02T03-04-05.678901"
    for run in ("base", "quantized"):
        folder = tmp_path / run / "lab__m1"
        folder.mkdir(parents=True)
        lm_eval_samples(folder / f"samples_arc_{date}.jsonl", [{"acc": float(at % 2)} for at in range(24)])
    files = sorted(tmp_path.glob("*/lab__m1/samples*"))
    assert here("compare", *files, "--json").data["systems"] == ["base/lab__m1", "quantized/lab__m1"]
    assert here("compare", *(file.parent for file in files), "--json").data["systems"] == [
        "base/lab__m1",
        "quantized/lab__m1",
    ]


@pytest.mark.req("Y-6")
def test_folders_of_logs_are_scored_and_compared_as_they_are(tmp_path):
    logs = tmp_path / "logs"
    (logs / "more").mkdir(parents=True)
    inspect_eval(logs / "A.eval", samples(), epochs=2)
    assert here("score", logs, "--json").data["values"]["mean"]["units"] == 20
    inspect_eval(logs / "more" / "B.eval", samples(1), epochs=2)
    compared = here("compare", logs, "--json").data
    assert compared["systems"] == ["A", "B"]
    assert compared["values"] == here("compare", logs / "A.eval", logs / "more/B.eval", "--json").data["values"]
    assert len(here("audit", logs, "--json").data["standings"]) == 2
    assert "2 logs in the folder: A.eval, more/B.eval" in problems(logs)[0]
    (tmp_path / "nothing").mkdir()
    assert "no log of inspect_ai and no samples_*.jsonl" in problems(tmp_path / "nothing")[0]
    output = tmp_path / "output" / "lab__m1"  # what lm_eval writes below --output_path
    output.mkdir(parents=True)
    for at, task in enumerate(("arc", "gsm")):  # runs of their own
        lm_eval_samples(output / f"samples_{task}_2026-01-02T03-04-0{at}.678901.jsonl", [{"acc": 1.0}] * 12)
    found = here("score", output.parent, "--json").data
    assert set(found["breakdowns"]["task"]) == {"arc", "gsm"}
    lm_eval_samples(output / "samples_arc_2026-01-02T03-04-09.678901.jsonl", [{"acc": 1.0}] * 12)
    assert "there are 2 runs of arc in the folder" in problems(output)[0]


@pytest.mark.req("Y-6")
def test_a_cause_that_many_trials_share_is_told_once(tmp_path):
    date = "2026-01-02T03-04-05.678901"
    lm_eval_samples(tmp_path / f"samples_arc_{date}.jsonl", [{"acc": 1.0}] * 12)
    lm_eval_samples(tmp_path / f"samples_gsm_{date}.jsonl", [{"exact_match": 0.0}] * 12)
    told = problems(tmp_path, score="acc")
    assert told == ["12 of 24 trials have no score (acc is none of its scores: exact_match), the first of item 'gsm/0'"]
    percent = [{"item": f"q{at}", "score": 10 * at} for at in range(11)]
    (scale,) = basanite.validate("scores", submission=percent)
    assert (scale.line, scale.message) == (2, "10 of 11 scores lie outside 0 to 1: they are 0 to 100")
    assert "range=0..100" in scale.fix
    rolling = lm_eval_samples(tmp_path / "samples_text.jsonl", [{"word_perplexity": [-9.5, 3]}] * 12)
    assert problems(rolling) == ["no document has a score: word_perplexity has a value of the whole set alone"]


@pytest.mark.req("Y-6")
def test_samples_that_somebody_declared_invalid_do_not_count(tmp_path):
    broken = samples()
    broken[3] |= {"invalidation": {"author": "me", "reason": "the sandbox broke"}}
    text = inspect_json(tmp_path / "log.json", broken, epochs=2, invalidated=True)
    packed = inspect_eval(tmp_path / "log.eval", broken, epochs=2, invalidated=True)
    for log in (text, packed):
        assert problems(log) == ["item 'q3' has no score (somebody declared it invalid: the sandbox broke)"]
        assert basanite.score("scores", submission=log, missing="skip")["mean"].parts["trials"] == 39


SHARES = [at / 40 for at in range(20)]


@pytest.mark.req("Y-6")
def test_results_of_promptfoo_hold_all_providers_and_repeats(tmp_path):
    passed = {"openai:a": [at % 3 > 0 for at in range(24)], "openai:b": [at % 3 > 1 for at in range(24)]}
    path = promptfoo(tmp_path / "results.json", passed, repeat=2)
    found = here("compare", path, "--json").data
    assert found["systems"] == ["openai:a", "openai:b"]
    values = found["values"]["openai:a"]
    assert values["mean"]["value"] == pytest.approx(2 / 3)
    assert (values["mean"]["units"], values["agreement"]["value"]) == (24, 1.0)
    assert [values[name]["value"] for name in ("latency", "cost", "tokens")] == [0.25, 0.01, 30]
    tone = basanite.score("scores", submission=path, only="openai:b", score="tone")
    assert tone["mean"].value == 0.5
    assert set(tone.breakdowns["topic"]) == {"a", "b"}
    lines = promptfoo(tmp_path / "results.jsonl", passed, repeat=2)
    assert here("compare", lines, "--json").data["values"] == found["values"]
    prompts = ("Ask {{question}}", "Answer {{question}} " + "at length " * 20)
    several = promptfoo(tmp_path / "prompts.json", passed, prompts=prompts)
    labels = [f"{who}: {what}" for who in passed for what in ("Ask {{question}}", "prompt 2")]
    assert here("compare", several, "--json").data["systems"] == labels
    lines.write_bytes(lines.read_bytes()[:-9])
    assert problems(lines) == ["the log is truncated or damaged: line 96 is no JSON"]
    text = path.read_text().replace('"failureReason": 1', '"error": "rate limit", "failureReason": 2', 1)
    path.write_text(text)
    assert any("has no score (error: rate limit)" in one for one in problems(path, only="openai:a"))


@pytest.mark.req("Y-6")
def test_test_runs_of_deepeval_are_scored_by_one_of_their_metrics(tmp_path):
    one, two = deepeval(tmp_path / "one.json", SHARES), deepeval(tmp_path / "two.json", SHARES, wrapped=True)
    first, second = (basanite.score("scores", submission=path) for path in (one, two))
    assert first["mean"].value == second["mean"].value == pytest.approx(sum(SHARES) / 20)
    assert first["latency"].value == 2.0
    assert "the score is Relevancy; the log also has Bias (score=NAME chooses)" in first.notes
    assert basanite.score("scores", submission=one, score="Bias")["mean"].value == 1.0
    assert basanite.compare("scores", submissions=[one, two]).differences[0].verdict == "identical"


@pytest.mark.req("Y-6")
def test_samples_of_every_eval_ever_are_scored_and_its_results_are_means(tmp_path):
    path = every_eval(tmp_path / "samples.jsonl", SHARES)
    found = basanite.score("scores", submission=path)
    assert (found["mean"].value, found["latency"].value) == (pytest.approx(sum(SHARES) / 20), 0.5)
    path.write_bytes(path.read_bytes()[:-9])
    assert problems(path) == ["the last line of the file is truncated"]
    one = {"evaluation_name": "sums", "score_details": {"score": 0.9, "uncertainty": {"num_samples": 100}}}
    for name, score in (("A", 0.9), ("B", 0.5)):
        one["score_details"]["score"] = score
        results = {"schema_version": "0.2.1", "model_info": {"name": name, "id": name}, "evaluation_results": [one]}
        (tmp_path / f"{name}.json").write_text(json.dumps(results))
    assert "means and no scores of items" in problems(tmp_path / "A.json")[0]
    claims = here("audit", tmp_path / "A.json", tmp_path / "B.json", "--json").data["claims"]
    assert [(claim["first"], claim["second"], claim["saying"]) for claim in claims] == [("A", "B", "holds")]


@pytest.mark.req("Y-6", case="bad")
@pytest.mark.parametrize(
    "text",
    [
        '{"results": {"results": [{"namedScores": 3}]}}',
        '{"results": 5, "namedScores": []}',
        '{"testCases": [{"metricsData": 7}]}',
        '{"testCases": {"metricsData": []}}',
        '{"evaluation_name": "x", "sample_id": [], "evaluation": 3}',
        '{"doc_id": 1, "doc": {}, "filtered_resps": [], "metrics": 5}',
        '{"eval": [], "task_id": 1, "run_id": 2, "samples": 3}',
        '{"eval": {"config": 5, "task_id": "", "run_id": "", "dataset": 3}, "samples": [{"scores": 5, "epoch": []}]}',
        '{"schema_version": 1, "model_info": 3, "evaluation_results": 4}',
        '{"results": {"a": 5}, "n-shot": 3}',
    ],
)
def test_logs_with_anything_in_the_place_of_something_are_refused_in_words(tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text)
    for words in (("score", "scores", path), ("audit", path, f"other={path}")):
        ended = here(*words)
        assert ended.code in (1, 2), ended.stderr
        assert "Traceback" not in ended.stderr
