"""Files of VQA and SQuAD as they are shipped, and tables of questions, by the command (T-20)."""

from __future__ import annotations

import gzip
import json

import pytest
from tests.cli.running import here

QUESTIONS = {11: ("what color is the", "other", 1), 12: ("how many", "number", 1), 13: ("how many", "number", 2)}
PEOPLE = {
    11: ["red"] * 5 + ["the red"] * 2 + ["pink"] * 3,
    12: ["2"] * 2 + ["two"] + ["3"] * 7,
    13: ["none"] * 4 + ["1"] * 6,
}
GIVEN = {13: "Zero.", 11: "a red", 12: "two"}
SHARES = {11: 1.0, 12: 0.9, 13: 1.0}
"""12: each of the three who said 2 has two others who agree (2/3), each of the seven others three (1)."""
ANNOTATIONS = {
    "info": {"version": "2.0"},
    "license": {"name": "by hand"},
    "data_subtype": "val2014",
    "annotations": [
        {
            "question_type": QUESTIONS[name][0],
            "multiple_choice_answer": people[0],
            "answers": [
                {"answer": text, "answer_confidence": "yes", "answer_id": at} for at, text in enumerate(people, start=1)
            ],
            "image_id": QUESTIONS[name][2],
            "answer_type": QUESTIONS[name][1],
            "question_id": name,
        }
        for name, people in PEOPLE.items()
    ],
    "data_type": "mscoco",
}
ASKED = {
    "info": {"version": "2.0"},
    "task_type": "Open-Ended",
    "questions": [
        {"image_id": one[2], "question": f"Q{name}?", "question_id": name} for name, one in QUESTIONS.items()
    ],
}
RESULTS = [{"answer": text, "question_id": name} for name, text in GIVEN.items()]
SQUAD = {
    "56be4db0acb8001400a502ec": (["Denver Broncos", "the Broncos"], "The Denver Broncos!", 1.0, 1.0),
    "56be4db0acb8001400a502ed": (["Santa Clara"], "in Santa Clara", 0.0, 0.8),
    "5a8d9ed1df8bba001a0f9ab0": ([], "", 1.0, 1.0),
    "5a8d9ed1df8bba001a0f9ab1": ([], "Levi's", 0.0, 0.0),
}


def articles(version="v2.0", names=tuple(SQUAD)):
    asked = [
        {"id": name, "question": "?", "answers": [{"text": text, "answer_start": 0} for text in SQUAD[name][0]]}
        for name in names
    ]
    paragraphs = [{"context": "x" * 2000, "qas": [one]} for one in asked]
    return {"version": version, "data": [{"title": "Super_Bowl_50", "paragraphs": paragraphs}]}


@pytest.fixture
def there(tmp_path):
    files = {
        "annotations.json": ANNOTATIONS,
        "questions.json": ASKED,
        "results.json": RESULTS,
        "dev.json": articles(),
        "predictions.json": {name: one[1] for name, one in SQUAD.items()},
    }
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path


def run(folder, reference, submission, *more, command="score"):
    draws = ("--draws", "20") if command == "score" else ()
    references = [word for name in reference.split("+") for word in ("--reference", name)]
    return here(command, "questions", *references, "--submission", submission, *draws, *more, cwd=folder)


def values(ended):
    assert ended.code == 0, ended.stderr
    return {name: one["value"] for name, one in ended.data["values"].items()}


@pytest.mark.req("T-20", "D-6")
@pytest.mark.parametrize(
    "reference", ["annotations.json", "annotations.json+questions.json", "questions.json+annotations.json"]
)
def test_files_of_vqa_give_consensus_by_type_of_question_and_answer(there, reference):
    ended = run(there, reference, "results.json", "--json")
    assert values(ended) == {"accuracy": pytest.approx(sum(SHARES.values()) / 3)}
    by_question = ended.data["breakdowns"]["question_type"]
    assert by_question["how many"]["accuracy"]["value"] == pytest.approx((SHARES[12] + SHARES[13]) / 2)
    assert ended.data["breakdowns"]["answer_type"]["other"]["accuracy"]["value"] == pytest.approx(SHARES[11])
    assert any("rule=vqa" in note for note in ended.data["notes"])


@pytest.mark.req("T-20")
def test_every_one_of_many_types_of_questions_has_a_value(there):
    first = ANNOTATIONS["annotations"][0]
    many = [first | {"question_id": at, "question_type": f"type {at % 65}"} for at in range(130)]
    (there / "many.json").write_text(json.dumps({"annotations": many}))
    (there / "all.json").write_text(json.dumps([{"question_id": at, "answer": "red"} for at in range(130)]))
    found = run(there, "many.json", "all.json", "--json").data["breakdowns"]["question_type"]
    assert len(found) == 65
    assert {one["accuracy"]["value"] for one in found.values()} == {1.0}


@pytest.mark.req("T-20", "D-6")
def test_files_of_squad_2_give_exact_match_and_f_with_and_without_an_answer(there):
    ended = run(there, "dev.json", "predictions.json", "--json")
    exact, f = (sum(one[at] for one in SQUAD.values()) / 4 for at in (2, 3))
    assert values(ended) == {"accuracy": exact, "exact_match": exact, "f1": pytest.approx(f)}
    answerable = ended.data["breakdowns"]["answerable"]
    assert answerable["yes"]["f1"]["value"] == pytest.approx(0.9)
    assert answerable["no"]["exact_match"]["value"] == 0.5
    pretty = json.dumps({name: one[1] for name, one in SQUAD.items()}, indent=4)
    (there / "pretty.json.gz").write_bytes(gzip.compress(pretty.encode()))
    assert values(run(there, "dev.json", "pretty.json.gz", "--json")) == values(ended)


@pytest.mark.req("T-20", "D-6")
def test_single_questions_under_data_are_squad_too(there):
    asked = [
        {"id": name, "title": "T", "context": "x", "question": "?", "answers": {"text": one[0], "answer_start": [0]}}
        for name, one in SQUAD.items()
    ]
    (there / "flat.json").write_text(json.dumps({"version": 2.0, "data": asked}))
    flat = run(there, "flat.json", "predictions.json", "--json")
    assert values(flat) == values(run(there, "dev.json", "predictions.json", "--json"))
    (there / "untitled.json").write_text(json.dumps({"data": [one | {"title": None} for one in asked]}))
    untitled = run(there, "untitled.json", "predictions.json", "--json")
    assert any("items of one article stay together (1 article)" in note for note in untitled.data["notes"])


@pytest.mark.req("T-20")
def test_squad_1_knows_no_questions_without_an_answer(there):
    names = list(SQUAD)[:2]
    (there / "dev-v1.1.json").write_text(json.dumps(articles("1.1", names)))
    (there / "two.json").write_text(json.dumps({name: SQUAD[name][1] for name in names}))
    ended = run(there, "dev-v1.1.json", "two.json", "--json")
    assert values(ended)["f1"] == pytest.approx(0.9)
    assert any("SQuAD 1.1" in note for note in ended.data["notes"])
    refused = run(there, "dev.json", "predictions.json", "--set", "rule=squad1")
    assert refused.code == 1
    assert "question '5a8d9ed1df8bba001a0f9ab0' has no answer" in refused.stderr


CHOICES = [
    {"id": "m1", "question": "?", "choices": ["red", "Blue", "4", "green"], "answer": 1, "subject": "art"},
    {
        "id": "m2",
        "question": "?",
        "choices": {"text": ["x", "y"], "label": ["1", "2"]},
        "answerKey": "2",
        "subject": "logic",
    },
    {"id": "m3", "question": "?", "options": ["red", "blue"], "answer": "A", "subject": "art"},
    {"id": "m4", "question": "?", "options": ["red", "blue"], "answer": "red", "subject": "logic"},
]


@pytest.mark.req("T-20")
def test_options_are_named_by_text_label_or_number(there):
    (there / "choices.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CHOICES))
    (there / "given.csv").write_text("id,answer\nm1, (b)\nm2,y\nm3,0\nm4,I do not know\n")
    ended = run(there, "choices.jsonl", "given.csv", "--json")
    assert values(ended) == {"accuracy": 0.75}
    assert ended.data["breakdowns"]["subject"]["logic"]["accuracy"]["value"] == 0.5
    warning = ended.data["warnings"][0]["message"]
    assert warning == "1 of 4 answers name none of the choices, such as 'I do not know'"
    (there / "wrong.jsonl").write_text(json.dumps(CHOICES[0] | {"answer": "mauve"}) + "\n")
    (there / "one.csv").write_text("id,answer\nm1,red\n")
    assert "the answer to question 'm1' is none of its choices" in run(there, "wrong.jsonl", "one.csv").stderr


@pytest.mark.req("T-20")
def test_records_of_vqa_are_counted_as_its_annotations(there):
    (there / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ANNOTATIONS["annotations"]))
    rows = run(there, "rows.jsonl", "results.json", "--json")
    assert values(rows) == values(run(there, "annotations.json", "results.json", "--json"))


@pytest.mark.req("D-4")
def test_options_that_are_called_answers_are_not_taken_for_right_ones(there):
    (there / "options.jsonl").write_text('{"id": "1", "answers": ["x", "y"], "label": 1}\n')
    refused = run(there, "options.jsonl", "results.json")
    assert refused.code == 1
    assert "'answers' and 'label' both say what is right" in refused.stderr


@pytest.mark.req("T-20")
def test_a_table_of_letters_is_multiple_choice_and_its_a_is_no_article(there):
    (there / "key.csv").write_text("question_id,answer\n1,A\n2,b\n3,C\n4,D\n")
    (there / "given.csv").write_text("question_id,prediction\n1,a\n2,B.\n3,\n4,A\n")
    ended = run(there, "key.csv", "given.csv", "--json")
    assert values(ended) == {"accuracy": 0.5}
    assert any("rule=choice" in note for note in ended.data["notes"])


BAD = {
    "nbest_predictions.json": (
        '{"56be4db0acb8001400a502ec": [{"text": "x", "probability": 0.5}]}',
        "lists of the n best",
    ),
    "null_odds.json": ('{"56be4db0acb8001400a502ec": -3.5}', "probabilities of no answer"),
    "list.json": ('["56be4db0acb8001400a502ec"]', "one JSON value"),
    "number.json": ('{"56be4db0acb8001400a502ec": "x", "b": 5}', "question 'b': there is no text as its answer"),
    "other.json": ('{"5733be284776f41900661182": "x"}', "is this the right data set?"),
    "long.json": (json.dumps(dict.fromkeys(SQUAD, "x" * 10_001)), "its answer has 10001 characters"),
}


@pytest.mark.req("D-4", "D-7")
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_file_of_predictions_is_named(there, name):
    content, words = BAD[name]
    (there / name).write_text(content)
    ended = run(there, "dev.json", name)
    assert ended.code == 1
    assert words in ended.stderr


def test_mistakes_in_results_of_vqa_are_told_with_their_lines(there):
    lines = [
        *('[{"question_id": 11, "answer": "x"},', '{"question_id": 11, "answer": "y"},', '{"question_id": true},'),
        *('{"question_id": 12, "answer": 2},', '{"question_id": 99, "answer": "z"}]'),
    ]
    (there / "bad.json").write_text("\n".join(lines))
    problems = run(there, "annotations.json", "bad.json", "--json", command="validate").data["problems"]
    assert sorted((one["line"] or 0, one["message"]) for one in problems) == [
        (2, "question '11' appears twice"),
        (3, "entry 3 has no question_id"),
        (4, "question '12': there is no text as its answer"),
        (5, "no item is called '99'"),
    ]


def test_references_that_hold_no_answers_are_named(there):
    assert "this looks like questions of VQA" in run(there, "questions.json", "results.json").stderr
    swapped = run(there, "results.json", "annotations.json").stderr
    assert "may be swapped" in swapped or "results of VQA" in swapped
    two = run(there, "annotations.json+results.json", "results.json").stderr
    assert "not a file of VQA's questions" in two
    (there / "fewer.json").write_text(json.dumps(ASKED | {"questions": ASKED["questions"][:1]}))
    assert (
        "2 of the 3 annotated questions are not in it"
        in run(there, "annotations.json+fewer.json", "results.json").stderr
    )
    few = {"annotations": [one | {"answers": one["answers"][:3]} for one in ANNOTATIONS["annotations"]]}
    (there / "few.json").write_text(json.dumps(few))
    warning = run(there, "few.json", "results.json", "--json").data["warnings"][0]["message"]
    assert warning == "3 of 3 questions have fewer than 4 answers, such as '11'"
