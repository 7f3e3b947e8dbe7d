"""Strangers' files are bounded and refused with what is wrong; nothing of them raises (X-8)."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import UnreadableError
from basanite.problems import Findings
from basanite.work.exchange.brat import read_brat
from basanite.work.exchange.conll import read_conll
from basanite.work.exchange.formats import format_named
from basanite.work.exchange.label_studio import read_label_studio
from basanite.work.exchange.model import Place
from basanite.work.exchange.web_annotation import read_web_annotation

LINES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            [
                "T1\tTeam 0 4\tJets", "T1\tTeam 4 0\tJets", "T2\tTeam 0 999999\tJets", "T3\tTeam 1 2;2 3\tx",
                "A1\tvalue T1 5", "A1\tvalue", "R1\tin Arg1:T1 Arg2:T1", "R1\tin Arg1:T1", "*\tEquiv T1 T2", "*\tEquiv",
                "E1\tTeam:T1 Who:T2", "E1\t", "#1\tField T1\t[", "#1\tField T1\t[1,2]", "N1\tReference T1 a", "T\0",
            ]
        ),
    ),
    max_size=12,
)  # fmt: skip
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 50), st.text(max_size=8), st.floats(allow_nan=False)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                [
                    "id", "type", "data", "text", "annotations", "result", "value", "start", "end", "labels", "target",
                    "selector", "body", "items", "source", "exact", "from_id", "to_id", "parentID", "choices", "ts:in",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(LINES)
def test_no_lines_break_the_reader_of_brat(lines):
    findings = Findings()
    read_brat("d", b"Jets beat Bears", "\n".join(lines).encode("utf-8", "replace"), Place("d", findings))


@settings(max_examples=80, deadline=None)
@given(JSON, st.sampled_from(["labels", "relation", "choices", "textarea", "hypertextlabels"]))
def test_no_object_breaks_the_reader_of_label_studio(value, kind):
    result = {"type": kind, "id": "r", "value": value, "from_name": "object", "labels": value}
    task = {"data": {"text": "Jets beat Bears"}, "annotations": [{"result": [result, value]}]}
    for data in (value, [task]):
        read_label_studio(json.dumps(data).encode(), Place("f", Findings()))


@settings(max_examples=80, deadline=None)
@given(JSON)
def test_no_object_breaks_the_reader_of_web_annotations(value):
    item = {"body": value, "target": value, "id": "x"}
    whole = {"target": {"source": "d", "selector": value}, "body": "Team", "ts:in": value}
    for data in (value, [item, whole]):
        read_web_annotation(json.dumps(data).encode(), Place("f", Findings()), texts={"d": "Jets beat Bears"})


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Jets\tB-Team", "beat\tO", "Bears\tI-Team", "x", "", "a b c d", "-DOCSTART-\td", "\0\tO"])
    )
)
def test_no_lines_break_the_reader_of_conll(lines):
    read_conll("\n".join(lines).encode(), Place("f", Findings()), texts={"d": "Jets beat Bears"})
    read_conll("\n".join(lines).encode(), Place("f", Findings()))


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"[" * 100_000, b'{"a": 1, "a": 2}', b"", b"nan", b'[{"data": 1}]'], ids=range(6)
)
def test_what_is_no_json_is_a_problem(data):
    for read in (read_label_studio, lambda d, p: read_web_annotation(d, p, texts={})):
        findings = Findings()
        assert read(data, Place("f", findings)) == []
        assert not findings.valid


def test_words_that_do_not_stand_there_are_refused_with_what_does():
    findings = Findings()
    read_brat("d", b"Jets beat Bears", b"T1\tTeam 0 4\tOwls\n", Place("d", findings))
    (problem,) = findings
    assert "'Jets'" in problem.message
    assert problem.line == 1


def test_links_and_missing_texts_are_no_way_out_of_the_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "brat").mkdir()
    (tmp_path / "brat" / "d.ann").write_text("T1\tTeam 0 6\tsecret\n")
    (tmp_path / "brat" / "d.txt").symlink_to(tmp_path / "secret.txt")
    findings = Findings()
    assert format_named("brat").read(tmp_path / "brat", {}, findings) == []
    assert not findings.valid
    with pytest.raises(UnreadableError):
        format_named("label-studio").read(tmp_path / "nothing.json", {}, Findings())


def test_a_long_file_of_stacked_marks_takes_no_square_of_time():
    lines = "".join(f"T{at}\tTeam 0 4\tJets\nA{at}\tvalue T{at} {at}\n" for at in range(1, 10_001))
    back = read_brat("d", b"Jets beat Bears", lines.encode(), Place("d", Findings()))
    assert len(back.objects) == 10_000
