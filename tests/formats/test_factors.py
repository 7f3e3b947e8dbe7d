"""Tables of factors: what documents and queries are like, and every way in which such a table goes wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import UnreadableError
from basanite.formats import factors
from basanite.formats.factors import read_factor_tables, read_factors
from basanite.problems import Findings


def table(tmp_path, text, name="genres.tsv"):
    findings = Findings()
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_factors(path, findings), findings


@pytest.mark.parametrize(
    "text",
    [
        "document\tgenre\tmode\nd1\tNT\ttext\nd2\tCS\tspeech\n",
        "document,genre,mode\nd1,NT,text\nd2,CS,speech\n",
        "\ufeffdocument\tgenre\tmode\r\nd1\tNT\ttext\r\nd2\tCS\tspeech\r\n",
        "Document\tgenre\tmode\nd1\t NT \ttext\n\nd2\tCS\tspeech",
    ],
)
def test_a_table_gives_the_level_of_each_document(tmp_path, text):
    found, findings = table(tmp_path, text)
    assert findings.counts == {}
    assert (found.subject, found.file) == ("document", "genres.tsv")
    assert found.column("genre", ["d2", "d1", "d3"]).tolist() == ["CS", "NT", ""]
    assert found.column("mode", ["d1"]).tolist() == ["text"]


def test_a_table_of_queries_may_quote_as_queries_do(tmp_path):
    rows = 'query\tkind\tstring\nq1\tlexical\t"panel of judges"\nq2\tconceptual\t"bribing\nq3\thybrid\t"a b"+, <c>\n'
    found, findings = table(tmp_path, rows, "queries.tsv")
    assert findings.counts == {}
    assert found.subject == "query"
    assert found.column("kind", ["q1", "q2", "q3"]).tolist() == ["lexical", "conceptual", "hybrid"]


BAD = {
    "nothing": ("", 1, None),
    "another first column": ("name\tgenre\nd1\tNT\n", 1, 1),
    "a column without a name": ("document\t\nd1\tNT\n", 1, None),
    "a column name twice": ("document\tgenre\tgenre\nd1\tNT\tNT\n", 1, None),
    "too few cells": ("document\tgenre\nd1\tNT\nd2\n", 3, None),
    "too many cells": ("document\tgenre\nd1\tNT\tx\n", 2, None),
    "a document twice": ("document\tgenre\nd1\tNT\nd2\tCS\nd1\tTT\n", 4, 1),
    "a cell beyond all measure": ("document\tgenre\nd1\t" + "x" * 200_000 + "\n", 2, None),
    "a cell beyond all measure, with commas": ("document,genre\nd1," + "x" * 200_000 + "\n", 2, None),
    "a line after a quoted line feed": ('document,genre\nd1,"N\nT"\nd2\n', 4, None),
}


@pytest.mark.parametrize(("text", "line", "field"), BAD.values(), ids=BAD.keys())
def test_a_malformed_table_is_a_problem_of_the_metadata_with_its_place(tmp_path, text, line, field):
    _, findings = table(tmp_path, text)
    assert not findings.valid
    (problem,) = findings.problems
    assert (problem.rule, problem.where, problem.file) == ("M73", "metadata", "genres.tsv")
    assert (problem.line, problem.field) == (line, field)
    assert problem.message
    assert problem.fix
    assert len(problem.found) <= 80


def test_a_table_that_is_missing_or_far_too_large_is_said_to_be_so(tmp_path, monkeypatch):
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_factors(tmp_path / "none.tsv", Findings())
    monkeypatch.setattr(factors, "TABLE_BYTES", 10)
    with pytest.raises(UnreadableError, match="larger than 10 bytes"):
        table(tmp_path, "document\tgenre\nd1\tNT\n")


@given(st.binary(max_size=200).map(lambda data: b"document\tgenre\n" + data) | st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_bytes_make_the_reader_fall_over(tmp_path_factory, data):
    found, findings = table(tmp_path_factory.getbasetemp(), data)
    assert found is not None or not findings.valid


def test_two_tables_may_not_tell_the_same_factor(tmp_path):
    (tmp_path / "one.tsv").write_text("document\tgenre\nd1\tNT\n")
    (tmp_path / "two.tsv").write_text("document\tgenre\nd2\tTT\n")
    (tmp_path / "three.tsv").write_text("query\tgenre\nq1\tx\n")
    findings = Findings()
    assert len(read_factor_tables([tmp_path / "one.tsv", tmp_path / "three.tsv"], findings)) == 2
    assert findings.valid
    read_factor_tables([tmp_path / "one.tsv", tmp_path / "two.tsv"], findings)
    assert [(problem.rule, problem.file, problem.found) for problem in findings] == [("M73", "two.tsv", "genre")]
