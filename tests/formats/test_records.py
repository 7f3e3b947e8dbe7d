"""Records and items from files of all the formats people have: what is read, and that every fault has its place."""

import json
from pathlib import Path

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from basanite.formats.items import (
    ContentError,
    number_of,
    parallel,
    read_items,
    read_structured_items,
    text_of,
    texts_of,
)
from basanite.formats.records import Place, read_lines, read_records
from basanite.problems import Findings

SUBMISSION = Place("submission", "T-3")
ROWS = [{"id": "a", "text": "one, two", "genre": "news"}, {"id": "b", "text": "", "genre": "talk"}]


def written(folder: Path, kind: str) -> Path:
    path = folder / f"answers.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif kind == "parquet":
        polars.DataFrame(ROWS).write_parquet(path)
    else:
        mark = "," if kind == "csv" else "\t"
        quote = '"{}"'.format if kind == "csv" else str
        lines = [mark.join(ROWS[0]), *(mark.join(quote(cell) for cell in row.values()) for row in ROWS)]
        path.write_text("\r\n".join(lines) + "\r\n")
    return path


def texts(path, findings=None):
    found = findings if findings is not None else Findings()
    return read_items(path, text_of, SUBMISSION, found, used=("text",))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet"])
def test_every_format_gives_the_same_items(tmp_path, kind):
    findings = Findings()
    items = texts(written(tmp_path, kind), findings)
    assert findings.valid
    assert not findings.problems
    assert (items.ids, items.content) == (("a", "b"), ("one, two", ""))
    assert items.columns == {"genre": ("news", "talk")}


def test_a_plain_text_is_numbered_by_its_lines_and_may_hold_empty_ones(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_bytes("\ufeffein Hügel\r\n\r\n你好\n".encode())
    items = texts(path)
    assert (items.ids, items.content, list(items.lines)) == (("1", "2", "3"), ("ein Hügel", "", "你好"), [1, 2, 3])


BAD = {
    "no JSON": ('{"id": "a", "text": ', 1),
    "no object": ("[1]", 1),
    "no id": ('{"text": "x"}', 1),
    "an id that is a truth value": ('{"id": true, "text": "x"}', 1),
    "an empty id": ('{"id": "", "text": "x"}', 1),
    "a very long id": (json.dumps({"id": "x" * 2000, "text": ""}), 1),
    "an id that appears twice": ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}', 2),
    "no text": ('{"id": "a"}', 1),
    "null for a text": ('{"id": "a", "text": null}', 1),
    "a number for a text": ('{"id": "a", "text": 5}', 1),
    "a property twice": ('{"id": "a", "id": "b", "text": ""}', 1),
    "NaN": ('{"id": "a", "text": "", "x": NaN}', 1),
    "deep nesting": ('{"id": "a", "text": "", "x": ' + "[" * 100 + "]" * 100 + "}", 1),
    "half a character": ('{"id": "a", "text": "\\ud800"}', 1),
}


@pytest.mark.parametrize(("content", "line"), BAD.values(), ids=BAD)
def test_a_bad_record_is_named_by_its_line_and_the_good_ones_stay(tmp_path, content, line):
    path = tmp_path / "answers.jsonl"
    path.write_text(content + '\n{"id": "good", "text": "yes"}\n')
    findings = Findings()
    items = texts(path, findings)
    assert not findings.valid
    assert [problem.line for problem in findings.problems] == [line]
    assert all(problem.fix and problem.where == "submission" for problem in findings.problems)
    assert items is not None
    assert "good" in items.ids


TABLES = {
    "a short row": "id,text\na\nb,x\n",
    "a quote that never ends": 'id,text\na,"x\n',
    "no name": "id,\na,x\n",
    "a name twice": "id,id\na,b\n",
    "an empty file": "",
    "no column of ids": "name,text\na,x\n",
    "bytes that are no text": "id,text\na,\udcff\n",
    "a NUL": "id,text\na,\0\n",
}


@pytest.mark.parametrize("content", TABLES.values(), ids=TABLES)
def test_a_bad_table_is_a_problem_and_never_an_exception(tmp_path, content):
    path = tmp_path / "answers.csv"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    findings = Findings()
    texts(path, findings)
    assert not findings.valid


def test_what_is_no_parquet_is_a_problem(tmp_path):
    path = tmp_path / "answers.parquet"
    path.write_bytes(b"PAR1" + b"\xff" * 200 + b"PAR1")
    findings = Findings()
    assert read_records(path, SUBMISSION, findings) is None
    assert not findings.valid


@given(st.binary(max_size=300), st.sampled_from(["jsonl", "csv", "tsv", "parquet", "txt"]))
def test_no_bytes_make_a_reader_fall_over(tmp_path_factory, data, kind):
    path = tmp_path_factory.mktemp("any") / f"answers.{kind}"
    path.write_bytes(data)
    texts(path)


def test_files_of_one_content_have_one_digest_and_others_another(tmp_path):
    one, two = written(tmp_path, "csv"), written(tmp_path, "jsonl")
    first = read_lines(one, SUBMISSION, Findings()).digest
    assert first == read_records(one, SUBMISSION, Findings()).digest
    assert first != read_records(two, SUBMISSION, Findings()).digest


def references(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return read_items(path, texts_of, Place("reference", "T-3"), Findings(), used=("text",))


def test_several_references_of_the_same_items_become_one(tmp_path):
    both = [references(tmp_path, "one.txt", "a", "b"), references(tmp_path, "two.txt", "c", "d")]
    joined = parallel(both, Place("reference", "T-3"), Findings())
    assert joined.content == (("a", "c"), ("b", "d"))
    assert joined.digest not in {one.digest for one in both}


def test_references_of_other_items_are_refused(tmp_path):
    findings = Findings()
    both = [references(tmp_path, "one.txt", "a", "b"), references(tmp_path, "two.txt", "c")]
    assert parallel(both, Place("reference", "T-3"), findings) is None
    assert findings.problems[0].file == "two.txt"


@pytest.mark.parametrize("found", [None, "", "x", "nan", "inf", True, [1], "1" * 400, {}])
def test_what_is_no_finite_number_is_refused(found):
    with pytest.raises(ContentError):
        number_of({"score": found}, "score")


def test_numbers_may_be_written_as_text():
    assert [number_of({"score": found}, "score") for found in (1, "0.5", -2.25, " 3e2 ")] == [1.0, 0.5, -2.25, 300.0]


def test_lines_keep_their_numbers_after_one_that_cannot_be_read(tmp_path):
    path, findings = tmp_path / "answers.csv", Findings()
    path.write_bytes(b"id,text\na,one\n\0bad,two\nb\nc,three\n")
    records = read_records(path, SUBMISSION, findings)
    assert [(problem.line, problem.message.split()[0]) for problem in findings.problems] == [(3, "a"), (4, "1")]
    assert list(records.lines) == [2, 5]


def test_lines_that_end_in_carriage_returns_alone_are_numbered(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(b"id,text\ra,one\rb,two\r")
    assert list(read_records(path, SUBMISSION, Findings()).lines) == [2, 3]


def test_a_cell_that_is_too_long_is_told_with_the_most_that_is_read(tmp_path):
    path, findings = tmp_path / "answers.csv", Findings()
    path.write_text("id,text\na," + "x" * 200_000 + "\n")
    read_records(path, SUBMISSION, findings)
    assert [(problem.line, "131,072" in problem.message) for problem in findings.problems] == [(2, True)]


def test_a_parquet_file_that_unpacks_to_too_many_rows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("basanite.formats.records.ROWS", 1_000)
    path, findings = tmp_path / "answers.parquet", Findings()
    polars.DataFrame({"id": polars.repeat("a", 1_001, eager=True)}).write_parquet(path)
    assert read_records(path, SUBMISSION, findings) is None
    assert "more than 1000 rows" in findings.problems[0].message


def test_a_plain_text_is_refused_once_where_it_makes_no_sense(tmp_path):
    path, findings = tmp_path / "answers.txt", Findings()
    path.write_text("one\ntwo\n")
    assert read_structured_items(path, text_of, SUBMISSION, findings) is None
    assert [problem.fix for problem in findings.problems] == ["give JSON lines, CSV, TSV or Parquet"]
