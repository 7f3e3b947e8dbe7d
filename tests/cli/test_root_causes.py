"""When most problems have one cause, the first line names it; a malformed row is one problem; no list hides a class."""

from __future__ import annotations

import json
import shutil
import tarfile

import pytest
from tests.cli.running import EXAMPLE, ROOT, here

EXAMPLES = ROOT / "examples"
TURNED = {
    "captions": ("captions.json", "Alpha.json"),
    "clir": ("key", "Alpha.tgz"),
    "labels": ("reference.csv", "alpha.csv"),
    "lm": ("tokens.jsonl", "Alpha.jsonl"),
    "ranking": ("qrels.txt", "alpha.run"),
    "readability": ("panels.csv", "machine.csv"),
    "relevance": ("reference.csv", "alpha.csv"),
}
"""Tasks whose reference and submission have different forms: their examples."""
OTHERS = {
    "classification": ("key.csv", "id,label\nz1,first\nz2,first\n"),
    "labels": ("reference.csv", "id,AnswerPhone\nz1,0.5\nz2,0.25\n"),
    "lm": ("tokens.jsonl", '{"id": "z1", "logprobs": [-1]}\n{"id": "z2", "logprobs": [-1]}\n'),
    "ranking": ("qrels.txt", "z1 Q0 d1 1 2.5 z\nz2 Q0 d1 1 2.5 z\n"),
    "ratings": ("reference.csv", "id,overall\nz1,3\nz2,4\n"),
    "readability": ("panels.csv", "passage,rating\nz1,3\nz2,4\n"),
    "relevance": ("reference.csv", "item,text\nz1,A boat.\nz2,A fence.\n"),
    "translation": ("reference.jsonl", '{"id": "z1", "text": "a"}\n{"id": "z2", "text": "b"}\n'),
}
"""Tasks of one file: the reference of their example, and answers to other items."""


def found(task, reference, submission, *more, cwd):
    words = ("validate", task, "--reference", reference, "--submission", submission, "--json", *more)
    return here(*words, cwd=cwd).data


def archive(folder, path):
    with tarfile.open(path, "w:gz") as tar:
        for file in sorted(folder.iterdir()):
            tar.add(file, file.name)


@pytest.fixture
def renamed(tmp_path):
    """Alpha's answers, with a prefix before the names of as many queries as wished."""

    def make(prefix, number):
        with tarfile.open(EXAMPLE / "Alpha.tgz") as tar:
            tar.extractall(tmp_path / "run", filter="data")
        for file in sorted((tmp_path / "run").iterdir())[:number]:
            file.rename(file.with_name(f"{prefix}{int(file.stem.removeprefix('query')):x}.tsv"))
        archive(tmp_path / "run", tmp_path / "Other.tgz")
        return tmp_path / "Other.tgz"

    return make


@pytest.mark.req("D-7")
def test_a_file_of_another_data_set_is_told_in_one_line(renamed):
    answer = found("clir", "key", renamed("topic", 20), cwd=EXAMPLE)
    assert answer["total"] == 1
    assert answer["problems"][0]["message"] == "none of your 20 queries is in this data set: is this the right one?"
    assert "its 20 queries: query04276" in answer["problems"][0]["fix"]


@pytest.mark.req("D-7")
@pytest.mark.parametrize("task", OTHERS)
def test_answers_to_other_items_are_told_in_one_line(task, tmp_path):
    reference, text = OTHERS[task]
    (tmp_path / "other").with_suffix(".jsonl" if text.startswith("{") else ".csv").write_text(text)
    answer = found(task, EXAMPLES / task / reference, next(tmp_path.iterdir()).name, cwd=tmp_path)
    assert answer["total"] == 1
    assert answer["problems"][0]["message"].startswith("none of your 2 ")
    assert "is this the right data set?" in answer["problems"][0]["message"]


@pytest.mark.req("D-7")
@pytest.mark.parametrize("task", TURNED)
def test_swapped_files_are_told_first(task):
    reference, submission = TURNED[task]
    ended = here("validate", task, "--reference", submission, "--submission", reference, cwd=EXAMPLES / task)
    first = ended.stderr.splitlines()[0]
    assert ended.code == 1
    assert first.startswith(f"{reference}: this has the form of a reference")
    assert first.endswith("(--reference and --submission are swapped)")


@pytest.mark.req("D-7")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id;label\ni001;first\n", "there is no column 'id' or 'label': cells are separated by ';'"),
        ("i001,first\ni002,second\n", "there is no column 'id' or 'label': the first line is no header"),
        ("id,target\ni001,first\ni002,second\n", "there is no column 'label'"),
    ],
)
def test_a_wrong_separator_or_header_is_one_problem(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    answer = found("classification", EXAMPLES / "classification" / "key.csv", "a.csv", cwd=tmp_path)
    assert [problem["message"] for problem in answer["problems"]] == [message]


@pytest.mark.req("D-7")
def test_one_malformed_row_is_one_problem(tmp_path):
    shutil.copytree(EXAMPLES / "readability", tmp_path / "r")
    lines = (tmp_path / "r" / "machine.csv").read_text().splitlines()
    lines[1] = lines[1].split(",")[0] + ",many"
    (tmp_path / "r" / "machine.csv").write_text("\n".join(lines) + "\n")
    answer = found("readability", "panels.csv", "machine.csv", cwd=tmp_path / "r")
    assert [(problem["line"], problem["found"]) for problem in answer["problems"]] == [(2, "many")]


@pytest.mark.req("D-7")
def test_rows_that_cannot_be_read_are_not_told_again_as_missing(tmp_path):
    key = (EXAMPLES / "lm" / "tokens.jsonl").read_text()
    lines = (EXAMPLES / "lm" / "Alpha.jsonl").read_text().splitlines()
    (tmp_path / "tokens.jsonl").write_text(key)
    (tmp_path / "a.jsonl").write_text("\n".join(["{", *lines[1:]]) + "\n")
    assert [problem["line"] for problem in found("lm", "tokens.jsonl", "a.jsonl", cwd=tmp_path)["problems"]] == [1]
    (tmp_path / "a.jsonl").write_text("\n".join(["{", *lines[3:]]) + "\n")
    told = found("lm", "tokens.jsonl", "a.jsonl", cwd=tmp_path)["problems"]
    assert [problem["message"] for problem in told][1:] == ["3 items have no answer, beside what could not be read"]


@pytest.mark.req("D-7")
def test_there_is_no_item_is_not_said_where_every_line_has_failed(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "s01", "logprobs": 1}\n{"id": "s02", "logprobs": 1}\n')
    answer = found("lm", EXAMPLES / "lm" / "tokens.jsonl", "a.jsonl", cwd=tmp_path)
    assert [problem["message"] for problem in answer["problems"]] == ["logprobs is no list"] * 2


@pytest.mark.req("D-7")
def test_a_cut_list_hides_no_class_and_what_is_not_listed_is_counted_by_rule(tmp_path):
    key = "".join(f"i{number},a\n" for number in range(100))
    (tmp_path / "key.csv").write_text("id,label\n" + key)
    (tmp_path / "a.csv").write_text("id,label\ni0,a\n" + "".join(f"other{number},a\n" for number in range(50)))
    ended = here("validate", "classification", "--reference", "key.csv", "--submission", "a.csv", cwd=tmp_path)
    assert ended.stderr.count("no item is called") == ended.stderr.count("has no answer") == 20
    assert "149 problems under 1 rule found, 40 listed (not listed: 109 of T-7)" in ended.stderr
    answer = json.loads(
        here(
            "validate", "classification", "--reference", "key.csv", "--submission", "a.csv", "--json", cwd=tmp_path
        ).stdout
    )
    assert (answer["listed"], answer["total"]) == (40, 149)


@pytest.mark.req("D-7")
def test_missing_queries_stand_beside_those_that_nobody_asked_for(renamed):
    problems = found("clir", "key", renamed("query9", 12), cwd=EXAMPLE)["problems"]
    messages = [problem["message"] for problem in problems]
    assert messages.count("the file of this query is missing") == 12
