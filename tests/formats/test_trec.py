"""TREC files in and out: what we write our peer reads, what we read it reads alike, and mistakes have a place."""

from __future__ import annotations

import gzip
import io
import os

import ir_measures
import pytest

from basanite.errors import SettingError, UnreadableError
from basanite.formats.retrieval import trec, trec_conversion, trec_lines
from basanite.problems import Findings

DOCUMENTS = ["d1", "d2", "d3", "d10"]
KEY = [trec.KeyFile("q1", DOCUMENTS, [True, False, False, True]), trec.KeyFile("q2", DOCUMENTS, [False] * 4)]
ANSWERS = [
    trec.AnswerFile("q1", DOCUMENTS, [True, False, False, True], [0.9, 0.25, 0.0, 0.9]),
    trec.AnswerFile("q2", DOCUMENTS, [False, False, True, False], [0.12345, 0.5, 1.0, 0.00001]),
]
HALF = trec.Decision(threshold=0.6)
RUN = "q1 Q0 d2 1 0.8 x\nq1 Q0 d1 2 0.3 x\n\nq2\tQ0\td10 1 1 x\r\n"


@pytest.fixture
def run(tmp_path):
    def write(text, name="system.run"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def problems(findings):
    return [(problem.rule, problem.line, problem.field) for problem in findings.problems]


def test_a_submission_comes_back_from_its_run(run):
    path = run("".join(trec.submission_to_run(ANSWERS, "tag")))
    findings = Findings()
    assert list(trec.run_to_answers(path, DOCUMENTS, findings, HALF)) == ANSWERS
    assert findings.valid


def test_our_peer_reads_the_run_we_write(run):
    path = run("".join(trec.submission_to_run(ANSWERS, "tag")))
    read = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(path))}
    assert read == {
        (file.query, document): score
        for file in ANSWERS
        for document, score in zip(file.documents, file.confidence, strict=True)
    }


def test_a_key_comes_back_from_its_qrels_and_our_peer_reads_them(run):
    path = run("".join(trec.key_to_qrels(KEY)))
    findings = Findings()
    assert list(trec.qrels_to_key(path, DOCUMENTS, findings)) == KEY
    assert findings.valid
    read = {(row.query_id, row.doc_id) for row in ir_measures.read_trec_qrels(str(path)) if row.relevance}
    assert read == {("q1", "d1"), ("q1", "d10")}


@pytest.mark.parametrize("packed", [False, True])
def test_we_read_what_our_peer_reads(run, packed):
    path = run(gzip.compress(RUN.encode()), "system.run.gz") if packed else run(RUN)
    findings = Findings()
    ours = trec.read_run(trec.Reader(path, findings, "submission"))
    theirs = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(path))}
    assert {(query, name): score for query, scores in ours.items() for name, score in scores.items()} == theirs
    assert findings.valid


def test_documents_not_ranked_are_not_returned(run):
    files = list(trec.run_to_answers(run(RUN), DOCUMENTS, Findings(), HALF, queries=["q1", "q2", "q3"]))
    assert files[0] == trec.AnswerFile("q1", DOCUMENTS, [False, True, False, False], [0.3, 0.8, 0.0, 0.0])
    assert files[2] == trec.AnswerFile("q3", DOCUMENTS, [False] * 4, [0.0] * 4)


def test_the_first_k_of_each_query_are_returned_with_the_peers_tie_rule(run):
    path = run("q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.5 x\nq1 Q0 d3 3 0.1 x\n")
    (file,) = trec.run_to_answers(path, DOCUMENTS, Findings(), trec.Decision(top=1))
    assert file.decisions == [False, True, False, False]


def test_the_threshold_is_compared_with_the_score_as_written(run):
    (file,) = trec.run_to_answers(run("q1 Q0 d1 1 0.599999 x\n"), ["d1"], Findings(), HALF)
    assert (file.decisions, trec.answer_text(file)) == ([True], b"d1\tY\t0.60000\n")


def test_scores_outside_the_range_are_named_with_their_cure(run):
    path, findings = run("q1 Q0 d1 1 12.5 x\nq1 Q0 d2 3 -3 x\nq1 Q0 d3 2 4.75 x\n"), Findings()
    assert list(trec.run_to_answers(path, DOCUMENTS, findings, HALF)) == []
    assert "--scale minmax" in findings.problems[0].fix
    (file,) = trec.run_to_answers(path, DOCUMENTS, Findings(), HALF, scale="minmax")
    assert file.confidence == [1.0, 0.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("q1 Q0 d1 1 0.5", None),
        ("q1 Q0 d1 1 nan x", 5),
        ("q1 Q0 d1 1 1e999 x", 5),
        ("q1 Q0 d1 1 1_0 x", 5),
        ("q1 Q0 d1 1 ٠.٥ x", 5),
        ("q1 Q0 d9 1 0.5 x", 3),
        ("q9 Q0 d1 1 0.5 x", 1),
        ("../q1 Q0 d1 1 0.5 x", 1),
        ("q2 Q0 d2 9 0.1 x", 3),
        (b"q1 Q0 d\xff 1 0.5 x", None),
    ],
)
def test_a_malformed_line_is_a_problem_with_its_number(run, line, place):
    raw = line if isinstance(line, bytes) else line.encode()
    path, findings = run(b"q2 Q0 d2 1 0.5 x\n" + raw + b"\n"), Findings()
    list(trec.run_to_answers(path, DOCUMENTS, findings, HALF, queries=["q1", "q2"]))
    assert problems(findings) == [("M84", 2, place)]


@pytest.mark.parametrize(("line", "place"), [("q1 0 d1", None), ("q1 0 d1 1.5", 4), ("q1 0 d7 1", 3)])
def test_malformed_qrels_are_a_problem_of_the_reference(run, line, place):
    findings = Findings()
    list(trec.qrels_to_key(run(line + "\n"), DOCUMENTS, findings))
    assert problems(findings) == [("M84", 1, place)]
    assert findings.problems[0].where == "reference"


@pytest.mark.parametrize(
    "content", [gzip.compress(RUN.encode(), mtime=0)[:-9], b"plain text", b"\xff" * 40], ids=["cut", "text", "noise"]
)
def test_a_broken_compressed_file_is_a_problem(run, content):
    findings = Findings()
    list(trec.run_to_answers(run(content, "system.run.gz"), DOCUMENTS, findings, HALF))
    assert not findings.valid


def test_a_line_that_never_ends_is_given_up(run):
    findings = Findings()
    list(trec.run_to_answers(run(gzip.compress(b"x" * 10**7), "system.run.gz"), DOCUMENTS, findings, HALF))
    assert problems(findings) == [("M84", 1, None)]


def test_a_byte_order_mark_is_a_problem_of_the_first_line(run):
    findings = Findings()
    list(trec.run_to_answers(run("\ufeff" + RUN), DOCUMENTS, findings, HALF))
    assert problems(findings) == [("M84", 1, 1)]


def test_a_decision_needs_one_rule():
    with pytest.raises(SettingError, match="either a threshold"):
        trec.Decision()
    with pytest.raises(SettingError, match="either a threshold"):
        trec.Decision(threshold=0.5, top=3)


def test_a_file_that_is_not_there_is_the_callers_mistake(tmp_path):
    with pytest.raises(UnreadableError, match="cannot be opened"):
        list(trec.run_to_answers(tmp_path / "none.run", DOCUMENTS, Findings(), HALF))


def test_grades_below_the_least_are_not_relevant(run):
    path = run("q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 -1\n")
    (key,) = trec.qrels_to_key(path, DOCUMENTS, Findings(), least=2)
    assert key.relevant == [True, False, False, False]


@pytest.mark.parametrize("name", ["System", "System.tgz"])
def test_a_run_becomes_a_submission_and_a_run_again(run, tmp_path, name):
    documents, source = run("\n".join(DOCUMENTS), "documents.txt"), run(RUN)
    findings = trec_conversion.convert_run(source, tmp_path / name, documents=documents, decision=HALF)
    assert findings.valid
    assert trec_conversion.export_run(tmp_path / name, tmp_path / "again.run").valid
    again = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(tmp_path / "again.run"))}
    first = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(source))}
    assert {pair: score for pair, score in again.items() if score} == first
    assert len(again) == 2 * len(DOCUMENTS)


def test_qrels_become_a_key_and_qrels_again(run, tmp_path):
    documents, source = run("\n".join(DOCUMENTS), "documents.txt"), run("".join(trec.key_to_qrels(KEY)), "in.qrels")
    assert trec_conversion.convert_qrels(source, tmp_path / "key", documents=documents).valid
    assert (tmp_path / "key" / "q1.tsv").read_bytes() == b"d1\tY\nd2\tN\nd3\tN\nd10\tY\n"
    assert trec_conversion.export_qrels(tmp_path / "key", tmp_path / "again.qrels").valid
    assert (tmp_path / "again.qrels").read_bytes() == source.read_bytes()


def test_nothing_is_written_when_something_is_wrong(run, tmp_path):
    documents = run("d1\n", "documents.txt")
    findings = trec_conversion.convert_run(run("q1 Q0 d1 x\n"), tmp_path / "out", documents=documents, decision=HALF)
    assert not findings.valid
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "q1.tsv").write_text("d1 Y 0.5\n")
    assert not trec_conversion.export_run(tmp_path / "bad", tmp_path / "bad.run").valid
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "documents.txt", "system.run"]


def test_what_exists_is_not_written_over(run, tmp_path):
    documents = run("d1\n", "documents.txt")
    with pytest.raises(SettingError, match="already exists"):
        trec_conversion.convert_run(run("q1 Q0 d1 1 0.5 x\n"), tmp_path, documents=documents, decision=HALF)


def test_the_smallest_distance_of_scores_is_none():
    assert trec.scale_run({"q": {"a": 0.0, "b": 5e-324}}) == {"q": {"a": 0.5, "b": 0.5}}


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_a_problem(run, text):
    findings = Findings()
    list(trec.run_to_answers(run(text), DOCUMENTS, findings, HALF))
    list(trec.qrels_to_key(run(text), DOCUMENTS, other := Findings()))
    assert problems(findings) == problems(other) == [("M84", None, None)]


@pytest.mark.parametrize("mark", [0x7F, 0x9B, 0x202E, 0x2066], ids=hex)
def test_a_query_with_hidden_characters_is_refused(run, mark):
    findings = Findings()
    list(trec.run_to_answers(run(f"q{chr(mark)}1 Q0 d1 1 0.5 x\n"), DOCUMENTS, findings, HALF))
    assert problems(findings) == [("M84", 1, 1)]


def test_a_compressed_file_that_unpacks_to_too_much_is_given_up(run, monkeypatch):
    monkeypatch.setattr(trec_lines, "FREE_UNPACKED", 2**12)
    findings = Findings()
    list(trec.run_to_answers(run(gzip.compress(b"\n" * 10**7), "system.run.gz"), DOCUMENTS, findings, HALF))
    assert [problem.message for problem in findings.problems] == ["the compressed file unpacks to far too much"]


def test_a_disk_that_fails_while_reading_is_told(run, monkeypatch):
    class Failing(io.BytesIO):
        def readline(self, size=-1, /):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(trec_lines, "open_unpacked", lambda path: Failing())
    with pytest.raises(UnreadableError, match="cannot be read: Input/output error"):
        trec.read_run(trec.Reader(run(RUN), Findings(), "submission"))


def test_mistakes_beyond_those_listed_are_counted(run):
    findings = Findings()
    trec.read_run(trec.Reader(run("q Q0 d 1 high tag\n" * 100), findings, "submission"))
    assert (len(findings.problems), findings.counts) == (20, {"M84": 100})


def test_a_pipe_is_refused_and_never_waited_for(tmp_path):
    pipe = tmp_path / "pipe.run"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableError, match="a pipe"):
        trec.read_run(trec.Reader(pipe, Findings(), "submission"))
