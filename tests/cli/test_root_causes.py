"""When most problems have one cause, the first line names it; a malformed row is one problem; no list hides a class."""

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile

import pytest
from tests.cli.running import EXAMPLE, ROOT, here

EXAMPLES = ROOT / "examples"
TURNED = {
    "captions": ("captions.json", "Alpha.json"),
    "clir": ("key", "Alpha.tgz"),
    "labels": ("reference.csv", "alpha.csv"),
    "lm": ("tokens.jsonl", "Alpha.jsonl"),
    "questions": ("annotations.json", "Alpha.json"),
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
    "summaries": ("reference.jsonl", '{"id": "z1", "text": "a"}\n{"id": "z2", "text": "b"}\n'),
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
    assert first.startswith(f"{reference}: this looks like a reference, and the reference like a submission")
    assert first.endswith("(--reference and --submission, or REF and HYP, may be swapped)")


@pytest.mark.req("D-7")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id;label\ni001;first\n", "there is no column 'id' or 'label': cells are separated by ';'"),
        ("i001,first\ni002,second\n", "there is no column 'id' or 'label': the first line is not a header"),
        ("id,target\ni001,first\ni002,second\n", "there is no column 'label'"),
    ],
)
def test_a_wrong_separator_or_header_is_one_problem(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    answer = found("classification", EXAMPLES / "classification" / "key.csv", "a.csv", cwd=tmp_path)
    assert [problem["message"] for problem in answer["problems"]] == [message]


@pytest.mark.req("D-4", "D-7")
@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("id,label\n" + "1,a\n" * 60, "this looks like a table with commas between its cells", "write: query Q0"),
        ('{"id": "1", "label": "a b c"}\n' * 60, "this looks like JSON lines", "write: query Q0"),
        ('[{"image_id": 1, "caption": "a dog"}]\n', "this looks like COCO captions", "the task captions reads them"),
        ("q1 0 d1 1\nq1 0 d2 0\n", "this looks like TREC qrels", "the task ranking reads them as a reference"),
        ("map all 0.25\nP_10 all 0.5\n", "this looks like what trec_eval printed", "give the run itself"),
        (
            "the cat sat\nit ran away\n",
            "this does not look like a TREC run: a line has 6 fields there, not 3",
            "write:",
        ),
    ],
)
def test_a_file_of_another_kind_is_no_run_and_is_told_once(text, message, fix, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    answer = found("ranking", EXAMPLES / "ranking" / "qrels.txt", "a.csv", cwd=tmp_path)
    assert answer["total"] == 1
    assert answer["problems"][0]["message"].startswith(message)
    assert answer["problems"][0]["fix"].startswith(fix)


@pytest.mark.req("D-4", "D-7")
def test_an_archive_is_no_run_and_is_told_once(tmp_path):
    answer = found("ranking", EXAMPLES / "ranking" / "qrels.txt", EXAMPLE / "Alpha.tgz", cwd=tmp_path)
    assert [problem["message"] for problem in answer["problems"]] == ["this is a tar archive, not a TREC run"]


@pytest.mark.req("D-7")
def test_a_run_with_some_broken_lines_is_told_line_by_line(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2\nq1 Q0 d3 3\n")
    answer = found("ranking", EXAMPLES / "ranking" / "qrels.txt", "a.run", cwd=tmp_path)
    assert [problem["line"] for problem in answer["problems"] if problem["rule"] == "M84"] == [2, 3]


@pytest.mark.req("D-4", "D-7")
@pytest.mark.parametrize("side", ["reference", "submission"])
def test_trees_that_run_over_lines_are_told_with_the_setting_that_reads_them(side, tmp_path):
    whole = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n(S (NP (PRP it)) (VP (VBD ran)))\n"
    spread = "( (S\n    (NP (DT the) (NN cat))\n    (VP\n      (VBD sat))))\n( (S (NP (PRP it))\n  (VP (VBD ran))))\n"
    for name in ("reference", "submission"):
        (tmp_path / name).write_text(spread if name == side else whole)
    words = ("validate", "parsing", "--reference", "reference", "--submission", "submission")
    assert here(*words, cwd=tmp_path).code == 0
    ended = here(*words, "--set", "layout=lines", cwd=tmp_path)
    first, *more = ended.stderr.splitlines()
    assert ended.code == 1
    assert "its trees run over several lines" in first
    assert first.endswith("Fix: set layout to trees (`--set layout=trees`)")
    assert len(more) == 1
    assert here(*words, "--set", "layout=trees", cwd=tmp_path).code == 0


@pytest.mark.req("D-7")
def test_words_of_another_channel_show_how_the_reference_calls_it(tmp_path):
    (tmp_path / "a.stm").write_text("r1 a s1 0.0 2.0 the cat\nr1 a s1 2.0 4.0 sat\n")
    (tmp_path / "a.ctm").write_text("r1 L 0.1 0.2 the\nr1 L 0.4 0.2 cat\n")
    (problem,) = found("speech", "a.stm", "a.ctm", cwd=tmp_path)["problems"]
    assert problem["message"].endswith("of the reference, like 'r1 L'")
    assert problem["fix"].endswith("like 'r1 a'")


NOT_TEXT = {
    "binary data": (bytes(range(256)) * 40, "this is binary data, no text", "give JSON lines, CSV, TSV or Parquet"),
    "UTF-16": ("id,label\ni001,first\n".encode("utf-16"), "this is text in UTF-16", "save it as UTF-8"),
    "nothing": (b"", "the file is empty", "write a header line, and one line for each item"),
    "blank lines": (b"\n\n \n", "the file is empty", "write a header line, and one line for each item"),
}


@pytest.mark.req("D-7", "D-12")
@pytest.mark.parametrize("name", NOT_TEXT)
@pytest.mark.parametrize("ending", [".csv", ".txt"])
def test_a_file_that_is_no_text_is_told_once(name, ending, tmp_path):
    data, message, fix = NOT_TEXT[name]
    (tmp_path / f"a{ending}").write_bytes(data)
    answer = found("classification", EXAMPLES / "classification" / "key.csv", f"a{ending}", cwd=tmp_path)
    assert [(problem["message"], problem["fix"]) for problem in answer["problems"]] == [(message, fix)]


def test_a_small_zip_that_grows_huge_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.csv", b"id,label\n" + b"i001,first\n" * 7_000_000)
    answer = found("classification", EXAMPLES / "classification" / "key.csv", "a.zip", cwd=tmp_path)
    messages = [problem["message"] for problem in answer["problems"]]
    assert messages == ["the zip archive expands to more than 200 times its size"]


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
    assert [problem["message"] for problem in answer["problems"]] == ["logprobs is not a list"] * 2


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
