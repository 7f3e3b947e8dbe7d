"""Judgements: one vote per judge and pair, crowd workers hidden, and every oddity with its line."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from basanite.errors import SettingError
from basanite.formats.retrieval.judgements import CrowdForm, read_judgements, votes_on
from basanite.problems import Findings

KEY = b"the campaign's own key"
PLAIN = "judge\tquery\tdocument\tverdict\nann\tq1\td1\tR\nbob\tq1\td1\tN\nann\tq2\td1\tR\n"
HEADER = (
    "HITId,HITTypeId,AssignmentId,WorkerId,AssignmentStatus,Input.query,Input.document,Answer.comment,Answer.verdict\n"
)


def crowd(*rows):
    """Results with a comment of two lines in each row; a row is HIT, worker, status, query, document, answer."""
    cells = [(row[0], "t", str(at), *row[1:5], '"a, b\nc"', row[5]) for at, row in enumerate(rows)]
    return HEADER + "".join(",".join(row) + "\n" for row in cells)


CROWD = crowd(
    ("H1", "W1", "Approved", "q1", "d1", "R"),
    ("H1", "W2", "Submitted", "q1", "d1", "N"),
    ("H1", "W3", "Rejected", "q1", "d1", "R"),
)
BATCH = {"H1": ("q1", "d1"), "H2": ("q1", "d2")}


def read(text, **options):
    findings = Findings()
    made = read_judgements(text.encode() if isinstance(text, str) else text, "judgements.tsv", findings, **options)
    assert (made is None) == findings.rejected
    return made, findings


def problems(findings):
    return [(problem.rule, problem.severity, problem.line) for problem in findings]


def votes(made):
    return {
        (made.judges[judge], made.pairs[pair], bool(yes))
        for judge, pair, yes in zip(made.judge, made.pair, made.relevant, strict=True)
    }


def test_a_table_of_votes_is_read_as_arrays():
    made, findings = read(PLAIN)
    assert findings.problems == []
    assert votes(made) == {("ann", ("q1", "d1"), True), ("bob", ("q1", "d1"), False), ("ann", ("q2", "d1"), True)}


def test_commas_another_order_of_columns_and_more_columns_are_taken():
    text = '\ufeffnote,verdict,document,query,judge\r\n"x, y",R,d1,q1,ann\r\n\r\n,N,d1,q1,bob\r\n,R,d1,q2,ann\r\n'
    assert votes(read(text)[0]) == votes(read(PLAIN)[0])


def test_the_digest_is_that_of_the_set_of_votes():
    head, *rows = PLAIN.splitlines(keepends=True)
    made, turned = read(PLAIN)[0], read(head + "".join(reversed(rows)))[0]
    assert made.digest == turned.digest == read(PLAIN.replace("\t", ","))[0].digest
    assert made.file_digest != turned.file_digest
    assert np.array_equal(made.judge, turned.judge)
    changed = [PLAIN.replace("N", "R"), PLAIN.replace("bob", "eve"), PLAIN.replace("q2", "q3"), head + rows[0]]
    assert len({made.digest, *(read(text)[0].digest for text in changed)}) == 5


def test_of_several_votes_of_one_judge_on_a_pair_the_first_counts_with_a_warning():
    made, findings = read(PLAIN + "ann\tq1\td1\tN\nbob\tq1\td1\tN\n")
    assert votes(made) == votes(read(PLAIN)[0])
    assert problems(findings) == [("C45", "warn", 5), ("C45", "warn", 6)]
    assert "line 2" in findings.problems[0].message


@pytest.mark.parametrize("verdict", ["r", "Y", "", "Relevant", "1"])
def test_another_verdict_is_refused_with_its_line(verdict):
    made, findings = read(PLAIN + f"bob\tq2\td1\t{verdict}\n")
    assert made is None
    assert problems(findings) == [("C45", "reject", 5)]


@pytest.mark.parametrize("row", ["ann\tq1\td1", "ann\tq1\td1\tR\tx", "\tq3\td1\tR", "ann\t\td1\tR", "ann\tq3\t \tR"])
def test_a_row_of_other_width_or_with_an_empty_name_is_refused(row):
    assert problems(read(PLAIN + row + "\n")[1]) == [("C45", "reject", 5)]


@pytest.mark.parametrize(
    "text", ["", "\n", "ann\tq1\td1\tR\n", "judge\tquery\tdocument\n", PLAIN.replace("query", "judge")]
)
def test_without_its_header_the_file_is_refused(text):
    assert problems(read(text)[1]) == [("C45", "reject", 1)]


def test_bytes_that_are_not_text_are_refused_with_their_line():
    assert ("C45", "reject", 3) in problems(read(PLAIN.replace("bob", "b\xf6b").encode("latin-1"))[1])


def test_workers_are_hidden_under_the_key_everywhere():
    text = (
        CROWD
        + crowd(("H1", "W1", "Approved", "q1", "d1", "N"), ("H1", "W7", "Odd", "q1", "d1", "R")).partition("\n")[2]
    )
    made, findings = read(CROWD, key=KEY, form=CrowdForm(batch=BATCH))
    assert findings.problems == []
    assert len(made.judges) == 2
    shown = json.dumps([problem.as_dict() for problem in read(text, key=KEY)[1]]) + repr(made)
    assert not any(worker in shown for worker in ("W1", "W2", "W3", "W7"))
    assert made.judges == read(CROWD, key=KEY)[0].judges
    assert made.judges != read(CROWD, key=KEY[::-1])[0].judges


def test_results_of_a_crowd_platform_need_a_key_worth_the_name():
    assert problems(read(CROWD)[1]) == [("X-18", "reject", 1)]
    with pytest.raises(SettingError):
        read(CROWD, key=b"short")


@pytest.mark.parametrize("row", [("H3", "W1", "Approved", "q1", "d1", "R"), ("H2", "W1", "Approved", "q1", "d1", "R")])
def test_results_that_are_not_of_the_exported_batch_are_refused(row):
    made, findings = read(crowd(row), key=KEY, form=CrowdForm(batch=BATCH))
    assert made is None
    assert problems(findings) == [("X-18", "reject", 2)]
    assert read(crowd(row), key=KEY)[0] is not None


def test_rejected_assignments_are_no_votes_and_one_worker_twice_warns():
    rest = crowd(("H1", "W1", "Approved", "q1", "d1", "N"), ("H1", "W4", "Approved", "q1", "d1", "")).partition("\n")[2]
    made, findings = read(CROWD + rest, key=KEY)
    assert made.rejected == 1
    assert made.relevant.sum() == 1
    assert len(made) == 2
    assert problems(findings) == [("C45", "warn", 8), ("C45", "warn", 10)]


def test_the_form_says_where_answers_stand_and_what_they_mean():
    text = CROWD.replace("Answer.verdict", "Answer.relevant.label").replace(",R\n", ",yes\n").replace(",N\n", ",no\n")
    form = CrowdForm(answer="Answer.relevant.label", verdicts={"yes": True, "no": False})
    assert votes(read(text, key=KEY, form=form)[0]) == votes(read(CROWD, key=KEY)[0])
    assert problems(read(text, key=KEY)[1]) == [("C45", "reject", 1)]


def test_votes_are_laid_out_by_the_returned_pairs():
    findings = Findings()
    laid = votes_on(read(PLAIN)[0], [("q2", "d1"), ("q1", "d1")], "judgements.tsv", findings)
    assert findings.problems == []
    assert sorted(zip(laid.pair.tolist(), laid.relevant.tolist(), strict=True)) == [(0, True), (1, False), (1, True)]
    assert laid.pairs == 2


def test_votes_on_a_pair_that_was_not_returned_are_ignored_with_a_warning():
    findings = Findings()
    laid = votes_on(read(PLAIN)[0], [("q1", "d1")], "judgements.tsv", findings)
    assert [(problem.rule, problem.severity) for problem in findings] == [("M14", "warn")]
    assert "q2" in findings.problems[0].message
    assert laid.relevant.tolist() == [True, False]


def test_a_returned_pair_without_a_vote_leaves_no_score_and_is_listed():
    findings = Findings()
    wanted = [("q1", "d1"), ("q2", "d1"), ("q2", "d7")]
    assert votes_on(read(PLAIN)[0], wanted, "judgements.tsv", findings) is None
    (problem,) = findings.problems
    assert (problem.rule, problem.severity) == ("M13", "reject")
    assert "q2 d7" in problem.message


CELLS = st.sampled_from(
    [*PLAIN.split(), *HEADER.strip().split(","), "Approved", "Rejected", "W1", "\t", ",", "\n", "\r", '"', "\x00"]
)


@settings(max_examples=100, deadline=None)
@given(
    tail=st.lists(CELLS, max_size=12).map("".join),
    noise=st.binary(max_size=20),
    head=st.sampled_from(["", PLAIN, HEADER, CROWD]),
)
def test_no_bytes_make_it_raise(tail, noise, head):
    for text in (head.encode() + tail.encode(), head.encode() + noise, noise + tail.encode()):
        made, _ = read(text, key=KEY)
        if made is not None:
            votes_on(made, [("q1", "d1")], "judgements.tsv", Findings())


def test_an_endless_cell_is_refused():
    assert problems(read(PLAIN + 'ann\tq1\t"' + "x" * 200_000)[1])[0][:2] == ("C45", "reject")


def test_an_open_quote_does_not_swallow_the_votes_that_follow():
    text = PLAIN.replace("verdict", "verdict\tnote").replace("R\n", 'R\t"oh\n').replace("N\n", "N\t\n")
    assert ("C45", "reject") in [found[:2] for found in problems(read(text)[1])]


def test_votes_on_a_summary_count_for_the_system_that_showed_it():
    one, other = "1" * 64, "2" * 64
    text = "judge\tquery\tdocument\tverdict\tsummary\n" + "".join(
        f"{judge}\tq1\td1\t{verdict}\t{summary}\n"
        for judge, verdict, summary in (("ann", "R", one), ("bob", "N", other), ("ann", "N", other))
    )
    made, findings = read(text)
    assert findings.problems == []
    for shown, wanted in ((one, [True]), (other, [False, False])):
        laid = votes_on(made, [("q1", "d1")], "judgements.tsv", Findings(), shown={("q1", "d1"): shown})
        assert laid.relevant.tolist() == wanted
    assert votes_on(made, [("q1", "d1")], "judgements.tsv", Findings(), shown={}) is None
    plain, _ = read(text.replace(f"\t{one}", "\t").replace(f"\t{other}", "\t"))
    assert plain.digest != made.digest


def test_a_summary_that_is_no_digest_is_refused():
    made, findings = read("judge\tquery\tdocument\tverdict\tsummary\nann\tq1\td1\tR\tthe first one\n")
    assert made is None
    assert problems(findings) == [("C45", "reject", 2)]


def test_a_pair_that_is_not_judged_yet_can_be_told_without_stopping_anything():
    findings = Findings()
    assert votes_on(read(PLAIN)[0], [("q9", "d9")], "judgements.tsv", findings, needed=False) is None
    assert findings.valid
    assert ("M13", "warn", None) in problems(findings)
