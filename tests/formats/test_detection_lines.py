"""What is wrong with a detection file, each fault with its rule, line, field, text found and cure."""

import re

import pytest

from basanite.formats.retrieval.detection_files import Documents, read_answers
from basanite.formats.retrieval.detection_lines import Layout, LineReader
from basanite.problems import Findings

PATTERN = re.compile(r"MATERIAL_[A-Za-z0-9]+-[A-Za-z0-9]+_[0-9]{8}")
NAMES = [f"MATERIAL_BASE-1A_1000000{number}" for number in range(4)]
GOOD = [f"{name}\tN\t0.25\n" for name in NAMES]
FILE = "query00043.tsv"


def problems(data, *, names=NAMES, fields=3, limit=20, where="submission"):
    data = data if isinstance(data, bytes) else "".join(data).encode()
    findings = Findings(limit)
    documents = Documents([name.encode() for name in names])
    if fields == 3:
        assert read_answers(data, documents) is None, "the fast reader has no doubt, so nobody would ask the exact one"
    answers = LineReader(documents, Layout(fields, PATTERN, where)).read(data, FILE, findings)
    assert (answers is None) == findings.rejected
    return findings


def only(data, **more):
    (problem,) = problems(data, **more).problems
    assert problem.file == FILE
    assert problem.message
    assert problem.fix
    return problem


def line_2(text):
    return [GOOD[0], text, *GOOD[2:]]


def test_a_file_as_the_plan_wants_it_has_no_problem():
    findings = Findings()
    documents = Documents([name.encode() for name in NAMES])
    lines = "".join([GOOD[2], GOOD[0].replace("N", "Y"), GOOD[3], GOOD[1]]).encode()
    assert read_answers(lines, documents) is not None
    assert LineReader(documents, Layout(3, PATTERN)).read(lines, FILE, findings) is not None
    assert findings.counts == {}


BAD_CONFIDENCES = {
    "1": "write 1.0",
    "0": "write 0.0",
    ".5": "write 0.5",
    "00.5": "write 0.5",
    "0.": "write 0.0",
    "0.543211": "write 0.54321",
    "5.0e-2": "write 0.05",
    "1.00001": "confidences lie between 0.0 and 1.0",
    "1.000000": "write 1.0",
    "-0.1": "confidences lie between 0.0 and 1.0",
    "2.0": "confidences lie between 0.0 and 1.0",
    "+0.5": "write 0.5",
    " 0.5": "write 0.5",
    "0.5 ": "write 0.5",
    "0. 5": "write 0.0 to 1.0 with 1 to 5 decimals",
    "0,5": "write 0.0 to 1.0 with 1 to 5 decimals",
    "": "write 0.0 to 1.0 with 1 to 5 decimals",
    "high": "write 0.0 to 1.0 with 1 to 5 decimals",
    "nan": "confidences lie between 0.0 and 1.0",
    "inf": "confidences lie between 0.0 and 1.0",
    "0.٣": "write 0.0 to 1.0 with 1 to 5 decimals",
    "0.５": "write 0.0 to 1.0 with 1 to 5 decimals",
    "०.5": "write 0.0 to 1.0 with 1 to 5 decimals",
    "0x1.8": "write 0.0 to 1.0 with 1 to 5 decimals",
    "0.1_2": "write 0.12",
}


@pytest.mark.parametrize(("text", "cure"), BAD_CONFIDENCES.items())
def test_a_confidence_written_otherwise_is_refused_with_line_field_and_what_to_write(text, cure):
    problem = only(line_2(f"{NAMES[1]}\tN\t{text}\n"))
    assert (problem.rule, problem.line, problem.field, problem.found) == ("M29", 2, 3, text)
    assert problem.fix == cure
    assert problem.severity == "reject"


@pytest.mark.parametrize("decision", ["y", "Yes", "1", "", "n", "NO", " Y", "Y ", "\0", "Ү"])
def test_a_decision_other_than_the_two_letters_is_refused_with_line_and_field(decision):
    problem = only(line_2(f"{NAMES[1]}\t{decision}\t0.5\n"))
    assert (problem.rule, problem.line, problem.field, problem.found) == ("M28", 2, 2, decision)
    assert problem.fix == "write Y or N"


@pytest.mark.parametrize(
    ("line", "count"), [("\tN\t0.5\t\n", 4), ("\tN\t0.5\tx.json\n", 4), ("\tN\n", 2), ("\n", 1), ("\t\tN\t0.5\n", 4)]
)
def test_another_number_of_fields_is_refused_with_the_number_found(line, count):
    problem = only(line_2(NAMES[1] + line))
    assert (problem.rule, problem.line, problem.field) == ("M27", 2, None)
    assert problem.message.startswith(f"{count} fields, but 3 are required")


@pytest.mark.parametrize("cells", [("", "N", "0.5"), (NAMES[1], "", "0.5"), (NAMES[1], "N", "")])
def test_no_field_may_be_empty(cells):
    assert not problems(line_2("\t".join(cells) + "\n")).valid


@pytest.mark.parametrize("separator", [" ", ",", ";", "  ", "\\t", "\u00a0"])
def test_another_separator_is_refused_with_its_line(separator):
    findings = problems(line_2(separator.join([NAMES[1], "N", "0.5"]) + "\n"))
    first = findings.problems[0]
    assert (first.rule, first.line) == ("M21", 2)
    assert "tab" in first.fix


def test_bytes_that_are_not_utf8_are_refused_with_every_line_that_has_some():
    latin = [GOOD[0].encode(), NAMES[1].encode() + b"\tN\t0.5\xe9\n", GOOD[2].encode(), b"\xff\tN\t0.5\n"]
    findings = problems(b"".join(latin))
    assert [(p.line, p.message, p.fix) for p in findings if p.rule == "M21"] == [
        (2, "not UTF-8", "save as UTF-8"),
        (4, "not UTF-8", "save as UTF-8"),
    ]
    assert "\\xe9" in findings.problems[0].found


def test_carriage_returns_are_one_problem_that_names_the_first_line_and_the_way_out():
    problem = only("".join(GOOD[:2]) + "".join(GOOD[2:]).replace("\n", "\r\n"))
    assert (problem.rule, problem.line, problem.found) == ("M22", 3, "carriage return")
    assert "--fix" in problem.hint


def test_a_lone_carriage_return_is_refused_too():
    assert problems("".join(GOOD).replace("\n", "\r")).counts["M22"] == 1


def test_a_byte_order_mark_is_the_only_problem_of_a_file_that_has_no_other():
    problem = only("\ufeff" + "".join(GOOD))
    assert (problem.rule, problem.line, problem.found) == ("M22", 1, "byte order mark")
    assert "--fix" in problem.hint


def test_a_last_line_without_line_feed_is_read_and_warned_of():
    problem = only("".join(GOOD).removesuffix("\n"))
    assert (problem.rule, problem.line, problem.severity) == ("M23", 4, "warn")


@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_blank_line_is_refused_with_its_line(place):
    problem = only([*GOOD[:place], "\n", *GOOD[place:]])
    assert (problem.rule, problem.line, problem.severity) == ("M23", place + 1, "reject")


@pytest.mark.parametrize("header", ["DocID\tdecision\tconfidence\n", "document\trelevant\n", "id\tY\t0.5\textra\n"])
def test_a_header_is_an_unknown_document_on_line_1_with_a_hint(header):
    problem = only([header, *GOOD])
    assert (problem.rule, problem.line, problem.field) == ("M24", 1, 1)
    assert problem.found == header.split("\t")[0]
    assert "header" in problem.message


@pytest.mark.parametrize(
    "name", ["MATERIAL_BASE-1A_1234567", "MATERIAL_BASE-1A_123456789", "material_BASE-1A_12345678", "doc1", "x" * 500]
)
def test_a_document_name_of_another_shape_is_refused_with_line_and_field(name):
    findings = problems([*GOOD, f"{name}\tN\t0.5\n"])
    (problem,) = findings.problems
    assert (problem.rule, problem.line, problem.field) == ("M33", 5, 1)
    assert len(problem.found) <= 80
    assert PATTERN.pattern in problem.message


def test_a_document_that_is_not_in_the_set_is_refused_with_its_line():
    problem = only([*GOOD, "MATERIAL_BASE-1A_99999999\tN\t0.5\n"])
    assert (problem.rule, problem.line, problem.field) == ("M26", 5, 1)
    assert problem.found == "MATERIAL_BASE-1A_99999999"


def test_a_document_that_comes_again_is_refused_with_both_lines():
    findings = problems([*GOOD, GOOD[1], GOOD[1]])
    assert [(p.rule, p.line, p.field, p.found) for p in findings] == [("M26", 5, 1, NAMES[1]), ("M26", 6, 1, NAMES[1])]
    assert "line 2 and again on line 5" in findings.problems[0].message
    assert "line 2 and again on line 6" in findings.problems[1].message


def test_missing_documents_are_counted_and_the_first_20_named():
    names = [f"MATERIAL_BASE-1A_{number:08}" for number in range(50)]
    problem = only([f"{name}\tY\t0.5\n" for name in names[:5]], names=names)
    assert (problem.rule, problem.line, problem.found) == ("M26", None, "45 missing")
    assert "45 of 50" in problem.message
    assert [name in problem.message for name in names] == [False] * 5 + [True] * 20 + [False] * 25


def test_an_empty_file_lacks_every_document():
    assert "4 of 4" in only(b"").message


def test_all_faults_of_a_line_and_of_a_file_are_found_at_once():
    findings = problems(["DocID\tdecision\tscore\n", f"{NAMES[0]}\tyes\t1\n", "\n", f"{NAMES[1]} N 0.5\n", GOOD[2]])
    assert {(p.rule, p.line) for p in findings} == {
        ("M24", 1),
        ("M28", 2),
        ("M29", 2),
        ("M23", 3),
        ("M21", 4),
        ("M26", None),
    }


@pytest.mark.parametrize(("limit", "listed"), [(20, 20), (3, 3), (None, 100)])
def test_every_fault_is_counted_and_the_first_of_each_rule_listed(limit, listed):
    names = [f"MATERIAL_BASE-1A_{number:08}" for number in range(100)]
    findings = problems([f"{name}\tno\t7\n" for name in names], names=names, limit=limit)
    assert findings.counts == {"M28": 100, "M29": 100}
    assert [p.line for p in findings if p.rule == "M29"] == list(range(1, listed + 1))


@pytest.mark.parametrize(
    ("line", "rule", "field"),
    [
        ("\tY\t0.5\n", "M36", None),
        ("\t\n", "M28", 2),
        ("\n", "M28", 2),
        ("\ty\n", "M28", 2),
        ("\t1\n", "M28", 2),
        ("\tY \n", "M28", 2),
    ],
)
def test_a_key_is_checked_line_by_line_as_a_submission_is(line, rule, field):
    key = [f"{name}\tN\n" for name in NAMES]
    problem = only([key[0], NAMES[1] + line, *key[2:]], fields=2, where="reference")
    assert (problem.rule, problem.line, problem.field, problem.where) == (rule, 2, field, "reference")
