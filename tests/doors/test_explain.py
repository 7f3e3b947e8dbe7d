"""`basanite explain`: a metric on one unit, step by step, ends in the value that the table of units has (T-27)."""

from __future__ import annotations

import csv
import json
import math
import shutil

import pytest
from tests.cli.running import here
from tests.doors.examples import EXAMPLES

from basanite.registry import names
from basanite.scoring import find_task


def lines(**texts):
    return "".join(json.dumps({"id": name, **fields}) + "\n" for name, fields in texts.items())


FILES = {
    "translation": (
        lines(
            a={"references": ["the cat is on the mat .", "there is a cat on the mat ."]},
            b={"references": ["It rains, again!", "it is raining again"]},
            c={"references": ["nothing at all", "nothing"]},
        ),
        lines(a={"text": "the the cat on mat the ."}, b={"text": "It rains again"}, c={"text": ""}),
    ),
    "speech": (
        lines(a={"references": ["well i think so"]}, b={"references": ["yes", "oh yes"]}, c={"references": [""]}),
        lines(a={"text": "well i i thing"}, b={"text": "oh yes"}, c={"text": "ah"}),
    ),
    "captions": (
        lines(
            a={"references": ["a dog runs on the grass", "the dog is running fast"]},
            b={"references": ["two cats sleep", "a cat and a cat sleep on a bed"]},
            c={"references": ["a red bus"]},
        ),
        lines(a={"text": "a dog is running on the green grass"}, b={"text": "a cat a cat"}, c={"text": "nobody"}),
    ),
    "parsing": (
        "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))\n"
        "(S (NP (PRP it)) (VP (VBD ran)))\n(S (NP (PRP we)))\n",
        "(S (NP (DT the) (NN cat)) (VP (VP (VBD sat)) (PP (IN on) (NP (DT the) (JJ mat)))))\n"
        "(S (X (PRP it) (VBD ran)))\n(S (NP (PRP they)))\n",
    ),
    "ranking": (
        "a 0 d1 2\na 0 d2 0\na 0 d3 1\na 0 d4 1\nb 0 d1 0\nb 0 d9 -1\nc 0 d2 3\n",
        "a Q0 d3 1 9 t\na Q0 d2 2 8 t\na Q0 d8 3 7 t\na Q0 d1 4 6 t\nb Q0 d1 1 2 t\nc Q0 d1 1 2 t\n",
    ),
    "classification": ("id,label\na,cat\nb,dog\nc,cow\n", "id,label\na,cat\nb,cat\nc,horse\n"),
    "summaries": (
        lines(a={"references": ["The cat sat. It slept.", "A dog ran"]}, b={"references": ["Rain fell today"]}),
        lines(a={"text": "the cat slept. It sat on it."}, b={"text": "none of it"}),
    ),
    "lm": (
        lines(a={"text": "it rains"}, b={"text": "no"}, c={"text": "ab cd"}),
        lines(a={"logprobs": [-1, -2.5, -0.25]}, b={"logprobs": [-3, "-inf"]}, c={"logprobs": [-0.5], "oov": []}),
    ),
}
SETTINGS = {
    "translation": ((), ("smoothing=floor",), ("smoothing=add-k", "percent=yes"), ("smoothing=none", "lowercase=yes"),
                    ("effective_order=yes", "chrf_word_order=2", "ter_case=yes")),
    "speech": ((), ("rules=sclite",)),
    "captions": ((), ("tokenise=none",)),
    "parsing": (("mismatch=count",), ("mismatch=evalb",)),
    "ranking": ((), ("least=2", "gain=exp"), ("judged_only=yes", "depth=2", "gain=1=3,2=9")),
    "classification": ((), ("undefined=0",)),
    "lm": ((), ("base=2",), ("base=10",)),
    "summaries": ((), ("stemmer=yes", "separator=."), ("tokenise=none",)),
}  # fmt: skip
MORE = {"ranking": ("ndcg_3", "p_2", "recall_2", "rr_1", "ap_3", "r_4")}
"""Measures by name and cut-off, which the task makes."""


def units_table(folder, words, metrics):
    named = [word for name in metrics for word in ("--metric", name)]
    ended = here(*words, *named, "--draws", "10", "--units", "units.csv", cwd=folder)
    assert ended.code == 0, ended.stderr
    with (folder / "units.csv").open(newline="") as file:
        return {(row["unit"], row["metric"]): float(row["value"] or "nan") for row in csv.DictReader(file)}


def cases():
    return [(task, settings) for task, several in SETTINGS.items() for settings in several]


@pytest.mark.req("T-27")
@pytest.mark.parametrize(("task", "settings"), cases())
def test_every_explanation_ends_in_the_value_of_the_table_of_units(task, settings, tmp_path):
    reference, submission = FILES[task]
    (tmp_path / "ref").write_text(reference)
    (tmp_path / "hyp").write_text(submission)
    given = [word for setting in settings for word in ("--set", setting)]
    own = [name for name in find_task(task).explained_metrics if name in {one.name for one in find_task(task).metrics}]
    known = units_table(tmp_path, ("score", task, "ref", "hyp", *given), MORE.get(task, ()) or ())
    for name in MORE.get(task, ()):
        assert any(metric == name for _, metric in known)
    if task == "ranking":
        known |= units_table(tmp_path, ("score", task, "ref", "hyp", *given), ())
    explained = 0
    for unit, metric in known:
        if metric not in (*own, *MORE.get(task, ())):
            continue
        ended = here("explain", task, metric, "ref", "hyp", "--unit", unit, "--json", *given, cwd=tmp_path)
        assert ended.code == 0, (unit, metric, ended.stderr)
        value = ended.data["value"]
        wanted = known[unit, metric]
        found = math.nan if value is None else value
        if math.isinf(wanted):
            assert (value, ended.data["infinite"]) == (None, "+")
        else:
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12, nan_ok=True), (unit, metric)
        assert ended.data["steps"]
        explained += 1
    assert explained >= len(own)


def squad(**accepted):
    asked = [
        {"id": name, "question": "?", "answers": [{"text": text, "answer_start": 0} for text in texts]}
        for name, texts in accepted.items()
    ]
    return {"version": "1", "data": [{"title": "t", "paragraphs": [{"context": "c", "qas": asked}]}]}


def vqa(*answers):
    people = [{"answer": text, "answer_id": at, "answer_confidence": "yes"} for at, text in enumerate(answers, 1)]
    return {"annotations": [{"question_id": 7, "image_id": 1, "answers": people, "multiple_choice_answer": answers[0]}]}


QUESTIONS = {
    ("squad", "f1"): (squad(a=["the red dog", "dog"]), {"a": "big red dog"}, "a", 0.8),
    ("squad", "exact_match"): (squad(a=["the red dog", "dog"]), {"a": "Red dog!"}, "a", 1.0),
    ("vqa", "accuracy"): (vqa("two", "2", *["3"] * 8), [{"question_id": 7, "answer": "2"}], "7", 0.6),
}


@pytest.mark.req("T-27")
@pytest.mark.parametrize("kind", QUESTIONS)
def test_answers_to_questions_are_worked_out_as_the_owners_scripts_count_them(kind, tmp_path):
    reference, answers, unit, wanted = QUESTIONS[kind]
    (tmp_path / "ref").write_text(json.dumps(reference))
    (tmp_path / "hyp").write_text(json.dumps(answers))
    ended = here("explain", "questions", kind[1], "ref", "hyp", "--unit", unit, "--json", cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert ended.data["value"] == pytest.approx(wanted)


@pytest.mark.req("T-27")
@pytest.mark.parametrize("metric", ["aqwv", "aqwv_all", "aqwv_relevant", "pmiss", "pfa"])
def test_the_rates_of_a_query_are_worked_out_from_its_decisions(metric, tmp_path):
    key, mine = tmp_path / "key", tmp_path / "mine"
    key.mkdir()
    mine.mkdir()
    names_of = [f"MATERIAL_BASE-1A_0000000{at}" for at in range(5)]
    truth = {"query1": "YYNNN", "query2": "NNNNN"}
    said = {"query1": "YNYNN", "query2": "YNNNN"}
    for query, marks in truth.items():
        (key / f"{query}.tsv").write_text("".join(f"{n}\t{m}\n" for n, m in zip(names_of, marks, strict=True)))
        rows = zip(names_of, said[query], strict=True)
        (mine / f"{query}.tsv").write_text("".join(f"{n}\t{m}\t{'0.9' if m == 'Y' else '0.1'}\n" for n, m in rows))
    wanted = {"pmiss": (0.5, None), "pfa": (1 / 3, 0.2)}.get(metric)
    if wanted is None:
        empty = 1 - 20 / 5 if metric == "aqwv_all" else None
        wanted = (1 - (0.5 + 20 / 3), empty)
    for query, value in zip(truth, wanted, strict=True):
        ended = here("explain", "clir", metric, "key", "mine", "--unit", query, "--json", cwd=tmp_path)
        assert ended.data["value"] == (None if value is None else pytest.approx(value))
    text = here("explain", "clir", "aqwv", "key", "mine", "--unit", "query1", cwd=tmp_path).stdout
    assert "missed / relevant = 1 / 2 = 0.5" in text
    assert "1 − (Pmiss + β × PFA) = 1 − (0.5 + 20 × 0.3333) = −6.1667" in text


@pytest.mark.req("T-27")
def test_the_text_fills_the_formula_in_and_shows_what_it_is_made_of(tmp_path):
    reference, submission = FILES["translation"]
    (tmp_path / "ref").write_text(reference)
    (tmp_path / "hyp").write_text(submission)
    ended = here("explain", "translation", "bleu", "ref", "hyp", "--unit", "a", "--html", "a.html", cwd=tmp_path)
    assert "matched 1-grams / 1-grams of the answer = 6 / 7 = 0.8571" in ended.stdout
    assert "matched 2-grams / 2-grams of the answer = 2 / 6 = 0.3333" in ended.stdout
    page = (tmp_path / "a.html").read_text()
    assert "BLEU of segment a" in page
    assert "6 / 7 = 0.8571" in page
    by_option = here(
        "explain", "translation", "bleu", "--reference", "ref", "--submission", "hyp", "--unit", "a", cwd=tmp_path
    )
    assert by_option.stdout == ended.stdout


@pytest.mark.req("T-27")
def test_a_report_holds_worked_examples_on_demand(tmp_path):
    shutil.copytree(EXAMPLES / "ranking", tmp_path / "r")
    given = ("score", "ranking", "qrels.txt", "alpha.run", "--draws", "20")
    ended = here(*given, "--explain", "map=q01", "--explain", "nDCG@5=q02", "--report", "r.html", cwd=tmp_path / "r")
    assert ended.code == 0, ended.stderr
    page = (tmp_path / "r" / "r.html").read_text()
    assert "Worked example: MAP of query q01" in page
    assert "Worked example: nDCG@5 of query q02" in page
    assert here(*given, "--explain", "map", cwd=tmp_path / "r").code == 2


@pytest.mark.req("T-27")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ranking", "bpref", "qrels.txt", "alpha.run", "--unit", "q01"), "these can: map, ndcg"),
        (("ranking", "map", "qrels.txt", "alpha.run", "--unit", "q0l"), "There is no query 'q0l'"),
        (("ranking", "map", "alpha.run", "--unit", "q01"), "is explained against a reference"),
        (("ranking", "maq", "qrels.txt", "alpha.run", "--unit", "q01"), "has no metric 'maq'"),
        (("ranking", "map", "qrels.txt", "alpha.run"), "--unit"),
        (("ranking", "map", "qrels.txt", "alpha.run", "--unit", "q01", "--html", "a.csv"), "name it .html"),
        (("labels", "map", "qrels.txt", "alpha.run", "--unit", "q01"), "none of this task"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_what_can(words, said):
    ended = here("explain", *words, cwd=EXAMPLES / "ranking")
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr


@pytest.mark.req("T-27")
def test_invalid_files_are_told_as_by_score():
    ended = here("explain", "ranking", "map", "alpha.run", "qrels.txt", "--unit", "q01", cwd=EXAMPLES / "ranking")
    assert (ended.code, "may be swapped" in ended.stderr) == (1, True)


def test_tasks_name_explanations_of_metrics_that_they_have():
    for name in names("tasks"):
        task = find_task(name)
        for metric in task.explanations:
            named = metric in {one.name for one in task.metrics}
            assert named or task.make_metric(f"{metric}_10"), (name, metric)
