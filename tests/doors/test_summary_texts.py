"""Summaries in the files people have, against the package rouge-score, by the command (T-21)."""

from __future__ import annotations

import csv
import json

import pytest
from rouge_score import rouge_scorer
from tests.cli.running import here

KEYS = {"rouge1": "rouge1", "rouge2": "rouge2", "rougeL": "rouge_l", "rougeLsum": "rouge_lsum"}
PEOPLE = {
    "n1": ["Police arrested two men.\nThe cars were stolen in May.", "Two thieves of cars were caught."],
    "n2": ["The team won its third game.", "A third victory for the team.\nFans celebrated."],
    "n3": ["Rain is expected.", "It will be raining on Monday."],
}
SYSTEM = {
    "n3": "Rains are expected on Monday.",
    "n1": "The police caught two thieves.\nCars were stolen by two men in May.",
    "n2": "Fans were celebrating a game.\nThe team won.",
}


def package(*, people=PEOPLE, system=SYSTEM, **options):
    """The mean of each measure by rouge-score: F, precision and recall of the reference with the best F."""
    scorer = rouge_scorer.RougeScorer(list(KEYS), **options)
    found = [scorer.score_multi(people[name], system[name]) for name in people]
    return {
        KEYS[name]: [sum(getattr(one[name], part) for one in found) / len(found) for part in PARTS] for name in KEYS
    }


PARTS = ("fmeasure", "precision", "recall")


@pytest.fixture
def there(tmp_path):
    key = [{"id": name, "references": texts} for name, texts in PEOPLE.items()]
    (tmp_path / "key.jsonl").write_text("".join(json.dumps(one) + "\n" for one in key))
    answers = [{"id": name, "text": text} for name, text in SYSTEM.items()]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    return tmp_path


def run(folder, *more, reference="key.jsonl", submission="answers.jsonl"):
    references = [word for name in reference.split("+") for word in ("--reference", name)]
    return here("score", "summaries", *references, "--submission", submission, "--draws", "20", *more, cwd=folder)


def values(ended):
    assert ended.code == 0, ended.stderr
    parts = ("precision", "recall")
    return {name: [one["value"], *(one["parts"][part] for part in parts)] for name, one in ended.data["values"].items()}


def same(found, wanted):
    assert set(found) == set(wanted)
    for name, numbers in wanted.items():
        assert found[name] == pytest.approx(numbers, abs=1e-9), name


@pytest.mark.req("T-21")
@pytest.mark.parametrize("stemmer", [False, True])
def test_values_are_those_of_rouge_score_with_and_without_stems(there, stemmer):
    ended = run(there, "--json", "--set", f"stemmer={stemmer}")
    same(values(ended), package(use_stemmer=stemmer))
    assert f"stemmer:{'yes' if stemmer else 'no'}" in ended.data["values"]["rouge2"]["signature"]
    assert package(use_stemmer=True) != package(use_stemmer=False)


@pytest.mark.req("T-21")
def test_lines_tables_and_records_of_other_names_give_the_same(there):
    for at in range(2):
        texts = [texts[at].replace("\n", " <q> ") for texts in PEOPLE.values()]
        (there / f"ref{at}.txt").write_text("".join(f"{text}\n" for text in texts))
    (there / "hyp.txt").write_text("".join(SYSTEM[name].replace("\n", " <q> ") + "\n" for name in PEOPLE))
    by_line = run(there, "--json", "--set", "separator=<q>", reference="ref0.txt+ref1.txt", submission="hyp.txt")
    same(values(by_line), package())
    assert any("paired by their position" in note for note in by_line.data["notes"])
    first = {name: texts[:1] for name, texts in PEOPLE.items()}
    for name, column, texts in (("ref.csv", "highlights", first), ("hyp.csv", "prediction", SYSTEM)):
        with (there / name).open("w", newline="") as file:
            rows = [("id", "article", column)]
            rows += [
                (key, "A long article. " * 500, text if isinstance(text, str) else text[0])
                for key, text in texts.items()
            ]
            csv.writer(file).writerows(rows)
    same(values(run(there, "--json", reference="ref.csv", submission="hyp.csv")), package(people=first))


@pytest.mark.req("T-21", "D-4")
def test_a_summary_beside_its_source_is_not_mistaken_for_it(there):
    rows = [{"id": name, "text": "the source", "summary": text} for name, text in SYSTEM.items()]
    (there / "beside.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    same(values(run(there, "--json", submission="beside.jsonl")), package())


@pytest.mark.req("T-21")
def test_sentences_on_one_line_and_letters_of_other_scripts_are_told(there):
    (there / "a.txt").write_text("猫 が 座る\n犬 が 走る\n")
    (there / "b.txt").write_text("猫 が 走る\n犬 が 走る\n")
    ended = run(there, "--json", reference="a.txt", submission="b.txt")
    assert ended.data["values"]["rouge1"]["value"] == 0
    assert any("no summary has a line end" in note for note in ended.data["notes"])
    assert "2 of 2 summaries have no letter from a to z" in ended.data["warnings"][0]["message"]
    split = run(there, "--json", "--set", "tokenise=none", reference="a.txt", submission="b.txt")
    assert split.data["values"]["rouge1"]["value"] == pytest.approx((2 / 3 + 1) / 2)
    assert not split.data.get("warnings")


def test_what_is_no_summary_is_named_with_its_line(there):
    (there / "bad.jsonl").write_text('{"id": "n1", "references": []}\n{"id": "n2", "references": [3]}\n')
    refused = run(there, reference="bad.jsonl")
    assert refused.code == 1
    assert "bad.jsonl:1: there is no summary of people" in refused.stderr
    assert "bad.jsonl:2: there is no summary of people" in refused.stderr
    (there / "long.jsonl").write_text(json.dumps({"id": "n1", "text": "a " * 60_000}) + "\n")
    (there / "one.jsonl").write_text('{"id": "n1", "summary": "a b"}\n')
    assert "has 120000 characters" in run(there, reference="one.jsonl", submission="long.jsonl").stderr
