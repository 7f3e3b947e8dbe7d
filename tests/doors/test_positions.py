"""Reference and submissions by position, from standard input, and in each other's place (T-29)."""

from __future__ import annotations

import io
import sys

import pytest
from tests.cli.running import here
from tests.doors.examples import BY_TASK, EXAMPLES

RANKING = EXAMPLES / "ranking"
LABELS = EXAMPLES / "labels"


@pytest.fixture
def typed_in(monkeypatch):
    """Put something on standard input."""

    def put(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


@pytest.mark.req("T-29")
@pytest.mark.parametrize("task", ["labels", "ranking", "speech", "translation"])
def test_a_reference_and_a_submission_by_position_score_as_by_option(task):
    example = BY_TASK[task]
    given = ("--draws", "20", "--json")
    reference, submission = example.path(task, example.reference), example.path(task, example.submission)
    by_position = here("score", task, reference, submission, *given)
    by_option = here("score", task, "--reference", reference, "--submission", submission, *given)
    by_both = here("score", task, submission, "--reference", reference, *given)
    assert by_position.code == 0
    assert by_position.stdout == by_option.stdout == by_both.stdout
    assert here("validate", task, reference, submission).code == 0


@pytest.mark.req("T-29")
def test_several_submissions_by_position_are_compared_and_may_have_names():
    ended = here("compare", "ranking", "qrels.txt", "alpha.run", "B=beta.run", "gamma.run", "--json", cwd=RANKING)
    assert ended.data["systems"] == ["alpha", "B", "gamma"]
    more = ("B=beta.run", "--submission", "gamma.run", "--json")
    by_option = here("compare", "ranking", "--reference", "qrels.txt", "alpha.run", *more, cwd=RANKING)
    assert by_option.stdout == ended.stdout


@pytest.mark.req("T-29")
def test_one_file_alone_is_the_submission_where_no_reference_is_needed():
    assert here("score", "lm", "Alpha.jsonl", "--json", cwd=EXAMPLES / "lm").data["values"]["perplexity"]["value"] > 1
    two = here("compare", "lm", "Alpha.jsonl", "Beta.jsonl", "--json", cwd=EXAMPLES / "lm")
    assert two.data["systems"] == ["Alpha", "Beta"]
    three = here("compare", "lm", "tokens.jsonl", "Alpha.jsonl", "Beta.jsonl", "--json", cwd=EXAMPLES / "lm")
    assert three.data["systems"] == ["Alpha", "Beta"]
    needed = here("score", "ranking", "alpha.run", cwd=RANKING)
    assert (needed.code, "ranking is scored against a reference" in needed.stderr) == (2, True)


@pytest.mark.req("T-29")
@pytest.mark.parametrize("option", [(), ("--submission",)])
def test_a_dash_reads_standard_input(option, typed_in):
    typed_in((RANKING / "alpha.run").read_bytes())
    ended = here("score", "ranking", "qrels.txt", *option, "-", "--json", cwd=RANKING)
    from_file = here("score", "ranking", "qrels.txt", "alpha.run", "--json", cwd=RANKING)
    assert ended.data["values"] == from_file.data["values"]


@pytest.mark.req("T-29")
def test_a_dash_may_be_the_reference_or_a_named_system_and_stands_once(typed_in):
    typed_in((RANKING / "qrels.txt").read_bytes())
    assert here("validate", "ranking", "-", "alpha.run", cwd=RANKING).code == 0
    typed_in((RANKING / "beta.run").read_bytes())
    ended = here("compare", "ranking", "qrels.txt", "alpha.run", "B=-", "--json", cwd=RANKING)
    assert ended.data["systems"] == ["alpha", "B"]
    typed_in(b"")
    twice = here("score", "ranking", "-", "-", cwd=RANKING)
    assert (twice.code, "Standard input (-) can be read once" in twice.stderr) == (2, True)
    typed_in(b"\0\xff not a run")
    strange = here("validate", "ranking", "qrels.txt", "-", cwd=RANKING)
    assert (strange.code, "Fix:" in strange.stderr) == (1, True)


@pytest.mark.req("T-29")
@pytest.mark.parametrize("task", ["captions", "labels", "lm", "ranking", "speech", "translation"])
def test_ref_and_hyp_in_each_others_place_are_told_first(task):
    example = BY_TASK[task]
    ended = here("score", task, example.path(task, example.submission), example.path(task, example.reference))
    first = ended.stderr.splitlines()[0]
    assert ended.code == 1
    assert "this looks like a reference" in first
    assert first.endswith("(--reference and --submission, or REF and HYP, may be swapped)")


@pytest.mark.req("T-29", "D-4")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("score", "labels"), "TASK REF HYP, or --reference and --submission"),
        (("score", "labels", "a", "b", "c"), "basanite compare TASK a b c"),
        (("score", "labels", "a", "b", "--submission", "c"), "given by position and by option"),
        (("validate", "labels", "a", "--reference", "b", "--submission", "c"), "given by position and by option"),
        (
            ("score", "reference.csv", "alpha.csv"),
            "reference.csv is a file (a table (columns of items)), and the name of a task comes first",
        ),
        (("compare", "labels", "reference.csv"), "at least two systems"),
    ],
)
def test_too_many_files_too_few_or_no_task_are_misuse_with_what_to_type(words, said):
    ended = here(*words, cwd=LABELS)
    assert ended.code == 2
    assert said in ended.stderr


@pytest.mark.req("T-29")
def test_a_file_where_the_task_belongs_is_answered_with_what_it_is_and_the_line_to_type():
    ended = here("score", "qrels.txt", "alpha.run", cwd=RANKING)
    assert ended.code == 2
    assert "qrels.txt is a file (TREC qrels)" in ended.stderr
    assert "basanite score ranking qrels.txt RUN" in ended.stderr
