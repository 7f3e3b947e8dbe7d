"""`convert` brings TREC files in and takes ours out; what is wrong is listed and then nothing is written."""

from __future__ import annotations

import pytest
from tests.cli.running import EXAMPLE, here

DOCUMENTS = EXAMPLE / "documents.txt"
QUERIES = EXAMPLE / "queries.txt"
KEY = ("--reference", EXAMPLE / "key")


def score(submission, reference=EXAMPLE / "key"):
    ended = here("score", "clir", "--reference", reference, "--submission", submission, "--json", "--draws", "20")
    return {name: value["value"] for name, value in ended.data["values"].items()}


@pytest.mark.req("M84")
def test_a_submission_that_went_through_a_run_and_a_key_through_qrels_score_the_same(tmp_path):
    assert here("convert", "to-run", EXAMPLE / "Alpha.tgz", "--out", "alpha.run", cwd=tmp_path).code == 0
    assert here("convert", "to-qrels", EXAMPLE / "key", "--out", "key.qrels", cwd=tmp_path).code == 0
    lists = ("--documents", DOCUMENTS, "--queries", QUERIES)
    assert here("convert", "qrels", "key.qrels", *lists, "--out", "key", cwd=tmp_path).code == 0
    threshold = lowest_returned(tmp_path / "alpha.run")
    words = ("convert", "run", "alpha.run", *lists, "--threshold", threshold, "--out", "Again.tgz")
    assert here(*words, cwd=tmp_path).code == 0
    assert score(tmp_path / "Again.tgz", tmp_path / "key") == score(EXAMPLE / "Alpha.tgz")


def lowest_returned(run):
    """The threshold of Alpha: the lowest score among those it returned."""
    returned = run.with_name("returned.run")
    assert here("convert", "to-run", EXAMPLE / "Alpha.tgz", "--out", returned, "--returned-only").code == 0
    scores = [line.split()[4] for line in returned.read_text().splitlines()]
    assert 0 < len(scores) < len(run.read_text().splitlines())
    return min(scores, key=float)


def test_top_returns_so_many_documents_of_each_query_and_minmax_scales(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 30 x\nq1 Q0 d2 2 20 x\nq2 Q0 d1 1 10 x\n")
    (tmp_path / "d.txt").write_text("d1\nd2\nd3\n")
    words = ("convert", "run", "a.run", "--documents", "d.txt", "--top", "1", "--scale", "minmax", "--out", "out")
    assert here(*words, cwd=tmp_path).code == 0
    assert (tmp_path / "out" / "q1.tsv").read_text() == "d1\tY\t1.00000\nd2\tN\t0.50000\nd3\tN\t0.00000\n"
    assert (tmp_path / "out" / "q2.tsv").read_text() == "d1\tY\t0.00000\nd2\tN\t0.00000\nd3\tN\t0.00000\n"


@pytest.mark.req("M84", "P-3")
@pytest.mark.parametrize("out", ["out", "Out.tgz"])
def test_a_run_with_mistakes_is_listed_and_nothing_is_written(tmp_path, out):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.5 x\nq1 Q0 d9 2 high x\nq1 Q0\n")
    (tmp_path / "d.txt").write_text("d1\n")
    words = ("convert", "run", "a.run", "--documents", "d.txt", "--top", "1", "--out", out)
    ended = here(*words, cwd=tmp_path)
    assert (ended.code, ended.stdout) == (1, "")
    assert "a.run:2:5" in ended.stderr
    result = here(*words, "--json", cwd=tmp_path)
    assert (result.code, result.data["counts"], result.data["written"]) == (1, {"M84": 2}, None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run", "d.txt"]


@pytest.mark.parametrize("words", [("to-run", "broken"), ("to-qrels", "broken")], ids=" ".join)
def test_what_is_not_valid_is_not_exported(tmp_path, words):
    ended = here("convert", words[0], EXAMPLE / words[1], "--out", tmp_path / "out.txt", "--json")
    assert (ended.code, list(tmp_path.iterdir())) == (1, [])
    assert all("basanite validate" in problem["fix"] for problem in ended.data["problems"])


MISUSE = {
    "no rule that decides": (("run", "r", "--documents", DOCUMENTS, "--out", "o"), "either --threshold or --top"),
    "two rules": (("run", "r", "--documents", DOCUMENTS, "--top", "3", "--threshold", "1", "--out", "o"), "either"),
    "top none": (("run", "r", "--documents", DOCUMENTS, "--top", "0", "--out", "o"), "not in the range"),
    "threshold nan": (("run", "r", "--documents", DOCUMENTS, "--threshold", "nan", "--out", "o"), "between 0.0 and"),
    "threshold 2": (("run", "r", "--documents", DOCUMENTS, "--threshold", "2", "--out", "o"), "between 0.0 and 1.0"),
    "no run": (("run", "r", "--documents", DOCUMENTS, "--top", "3", "--out", "o"), "r cannot be opened"),
    "no list": (("qrels", "q", "--documents", "d", "--out", "o"), "d cannot be read"),
    "a folder": (("qrels", EXAMPLE, "--documents", DOCUMENTS, "--out", "o"), "Is a directory"),
    "a tag of two words": (("to-run", EXAMPLE / "Alpha.tgz", "--tag", "a b", "--out", "o"), "no blanks"),
    "something there": (("to-run", EXAMPLE / "Alpha.tgz", "--out", QUERIES), "existing files are never overwritten"),
    "a link there": (("to-qrels", EXAMPLE / "key", "--out", "link"), "existing files are never overwritten"),
    "no folder": (("to-qrels", EXAMPLE / "key", "--out", "no/o"), "no/o cannot be written"),
    "a file as folder": (("to-qrels", EXAMPLE / "key", "--out", QUERIES / "o"), "cannot be written"),
    "no such conversion": (("rnu",), "No such command 'rnu'"),
}


@pytest.mark.req("P-3")
@pytest.mark.parametrize(("words", "said"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_told_and_nothing_is_written(tmp_path, words, said):
    (tmp_path / "link").symlink_to("nowhere")
    ended = here("convert", *words, cwd=tmp_path)
    assert (ended.code, ended.stdout) == (2, "")
    assert said in " ".join(ended.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.req("M84")
def test_the_folder_one_stands_in_can_be_exported(tmp_path):
    (tmp_path / "q1.tsv").write_text("d1\tY\t0.5\n")
    assert here("convert", "to-run", ".", "--out", "x", cwd=tmp_path).code == 0
    assert (tmp_path / "x").read_text() == "q1 Q0 d1 1 0.50000 basanite\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["q1.tsv", "x"]


@pytest.mark.req("M84")
@pytest.mark.parametrize(
    ("name", "text", "line"),
    [("q 1.tsv", "d1\tY\t0.5\n", None), ("q1.tsv", "d1\tY\t0.5\n" * 2, 2), ("q1.txt", "d1\tY\t0.5\n", None)],
)
def test_what_no_run_can_hold_is_a_problem_and_nothing_is_written(tmp_path, name, text, line):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_text(text)
    ended = here("convert", "to-run", "in", "--out", "x", "--json", cwd=tmp_path)
    assert [(one["rule"], one["file"], one["line"]) for one in ended.data["problems"]] == [("M84", name, line)]
    assert (ended.code, [path.name for path in tmp_path.iterdir()]) == (1, ["in"])
