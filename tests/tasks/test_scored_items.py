"""The tasks ranking, labels, ratings and relevance from files to values: what golden cases do not show."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import polars
import pytest
from tests.cli.running import process

import basanite
from basanite.analysis.resampling import frame_of, weights
from basanite.errors import InvalidInputError, SettingError, UnreadableError
from basanite.metrics.retrieval import average_precision, ranking
from basanite.tasks.labels import label_figures

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SUBMISSIONS = {"labels": "alpha.csv", "ratings": "alpha.csv", "relevance": "alpha.csv", "ranking": "alpha.run"}
TRUTH = {**dict.fromkeys(SUBMISSIONS, "reference.csv"), "ranking": "qrels.txt"}


def score(task, folder=None, **more):
    place = folder or EXAMPLES / task
    given = {"reference": place / TRUTH[task], "submission": place / SUBMISSIONS[task], "draws": 50, **more}
    return basanite.score(task, **given)


def labels(folder, reference, submission, **more):
    (folder / "reference.csv").write_text(reference)
    (folder / "alpha.csv").write_text(submission)
    return score("labels", folder, **more)


@pytest.mark.req("T-11")
def test_scores_of_a_run_file_and_of_a_matrix_are_the_same(tmp_path):
    rng = np.random.default_rng(0)
    scores, grades = rng.integers(0, 30, (20, 40)) / 3, rng.integers(-1, 3, (20, 40))
    pairs = [(query, at) for query in range(20) for at in range(40)]
    run = "".join(f"{q:02d} Q0 d{at:02d} 1 {float(scores[q, at])!r} x\n" for q, at in pairs)
    qrels = "".join(f"{q:02d} 0 d{at:02d} {grades[q, at]}\n" for q, at in pairs)
    (tmp_path / "alpha.run").write_text(run)
    (tmp_path / "qrels.txt").write_text(qrels)
    found = {name: value.value for name, value in score("ranking", tmp_path).values.items()}
    assert found == pytest.approx(ranking.values(scores, grades), abs=1e-9)


def test_queries_of_a_ranking_may_be_named_as_no_file_could_be(tmp_path):
    (tmp_path / "alpha.run").write_text("a/b:c Q0 d 1 1.0 x\n")
    (tmp_path / "qrels.txt").write_text("a/b:c 0 d 1\n")
    assert score("ranking", tmp_path).values["map"].value == 1


def test_kinds_of_queries_become_a_breakdown():
    found = score("ranking", metadata=EXAMPLES / "ranking" / "queries.tsv")
    assert set(found.breakdowns["kind"]) == {"name", "topic"}


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "x"])
def test_the_least_grade_is_a_whole_number_from_1(value):
    with pytest.raises(SettingError, match="least"):
        score("ranking", least=value)


@pytest.mark.req("S-10")
@pytest.mark.parametrize(("task", "cluster"), [("labels", "film"), ("ratings", "restaurant")])
def test_draws_move_whole_clusters_and_the_report_says_so(task, cluster, tmp_path):
    together = score(task)
    assert any(cluster in note for note in together.notes)
    apart = tmp_path / task
    shutil.copytree(EXAMPLES / task, apart)
    polars.read_csv(apart / "reference.csv").drop(cluster).write_csv(apart / "reference.csv")
    alone = score(task, apart)
    assert "units treated as independent" in alone.notes
    primary = together.scores.primary
    assert alone.values[primary].value == pytest.approx(together.values[primary].value)
    assert alone.values[primary].low != together.values[primary].low


@pytest.mark.req("S-10")
def test_a_ranking_says_that_documents_are_held_fixed():
    assert "intervals are over queries; documents and judgments are held fixed" in score("ranking").notes


@pytest.mark.req("H-20")
def test_labels_read_parquet_as_they_read_csv(tmp_path):
    for name in ("reference", "alpha"):
        polars.read_csv(EXAMPLES / "labels" / f"{name}.csv").write_parquet(tmp_path / f"{name}.parquet")
    found = score("labels", reference=tmp_path / "reference.parquet", submission=tmp_path / "alpha.parquet")
    assert {n: v.value for n, v in found.values.items()} == {n: v.value for n, v in score("labels").values.items()}


@pytest.mark.req("H-20")
def test_the_mean_over_classes_is_that_of_the_classes_shown():
    found = score("labels")
    for mean, single in (("map11", "ap11"), ("map", "ap")):
        classes = [values[single].value for values in found.breakdowns["class"].values()]
        assert found.values[mean].value == pytest.approx(np.mean(classes), abs=1e-12)


@pytest.mark.req("A21")
def test_draws_in_which_a_class_has_no_positive_are_counted_beside_it(tmp_path):
    truth = "id,A,B\n" + "".join(f"{at:02d},{int(at == 3)},{at % 2}\n" for at in range(40))
    answers = "id,A,B\n" + "".join(f"{at:02d},{at % 7},{at % 5}\n" for at in range(40))
    found = labels(tmp_path, truth, answers, draws=300, scale="margin")
    (table,) = label_figures(found)
    drawn = weights(40, draws=300, seed=0, kind="instance")
    assert table.rows == [("A", 1, int((drawn[:, 3] == 0).sum())), ("B", 20, 0)]
    assert 80 < table.rows[0][2] < 140  # (1 - 1/40)^40 of the draws
    assert found.values["map11"].undefined == 0
    assert "too few for an interval" in found.breakdowns["class"]["A"]["ap11"].flags


def test_the_draws_of_the_table_are_those_of_the_intervals():
    found = score("labels", interval="percentile")
    table = found.scores.tables["map11"]
    frame = frame_of(table)
    drawn = weights(frame.size, draws=50, seed=0, kind=frame.kind)[:, frame.place]
    values = average_precision.MAP11.drawn(table.rows, drawn)
    low, high = np.quantile(values, [0.025, 0.975])
    assert (found.values["map11"].low, found.values["map11"].high) == pytest.approx((low, high))


@pytest.mark.req("S-10")
def test_a_film_that_is_named_by_a_number_is_no_class(tmp_path):
    found = labels(tmp_path, "id,film,A\n1,1,1\n2,0,0\n3,1,0\n", "id,A\n1,0.9\n2,0.1\n3,0.2\n")
    assert list(found.breakdowns["class"]) == ["A"]
    assert found.scores.tables["map"].clusters.tolist() == [1, 0, 1]


def test_named_classes_leave_other_columns_of_numbers_alone(tmp_path):
    reference, answers = "id,year,A\n1,1999,1\n2,2001,0\n", "id,A\n1,0.9\n2,0.1\n"
    with pytest.raises(InvalidInputError):
        labels(tmp_path, reference, answers)
    assert labels(tmp_path, reference, answers, classes="A").values["map"].value == 1


@pytest.mark.req("H-21")
def test_the_formula_of_mrmse_and_the_clips_stand_beside_it():
    found = score("ratings")
    assert "mean over ratings of sqrt" in found.scores.signatures["mrmse"]
    assert found.values["mrmse"].parts["clipped"] == 82
    assert found.values["mrmse"].parts["missing"] == 11
    assert [warning.severity for warning in found.scores.warnings] == ["warn"]


@pytest.mark.parametrize("text", ["5..1", "1", "a..b", "1..inf", ".."])
def test_a_range_is_two_numbers_the_lower_one_first(text):
    with pytest.raises(SettingError, match="range"):
        score("ratings", range=text)


@pytest.mark.req("T-5")
def test_judged_relevance_comes_with_its_agreement():
    parts = score("relevance").values["relevance"].parts
    assert (parts["judges"], parts["judgements"]) == (3, 108)
    assert 0 < parts["alpha"] < parts["agreement"] < 1


@pytest.mark.req("T-5")
def test_the_correlation_has_an_interval_and_the_one_of_ranks_beside_it():
    found = score("relevance").values["correlation"]
    assert found.low < found.value < found.high
    assert -1 <= found.parts["spearman"] <= 1


@pytest.mark.req("T-5")
def test_an_embedding_of_a_plug_in_takes_the_place_of_tfidf(tmp_path):
    info = tmp_path / "ones-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ones\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[basanite.embeddings]\nones = ones:embed\n")
    (tmp_path / "ones.py").write_text("def embed(texts):\n    import numpy\n    return numpy.ones((len(texts), 2))\n")
    words = (
        "score",
        "relevance",
        "--reference",
        "reference.csv",
        "--submission",
        "alpha.csv",
        "--set",
        "embedding=ones",
    )
    ended = process(*words, "--json", cwd=EXAMPLES / "relevance", PYTHONPATH=str(tmp_path))
    assert ended.data["values"]["relevance_auto"]["value"] == 1.0


def test_an_unknown_embedding_is_answered_with_the_nearest():
    with pytest.raises(SettingError, match="tfidf"):
        score("relevance", embedding="tfdif")


def test_texts_without_a_context_have_no_automatic_relevance(tmp_path):
    (tmp_path / "reference.csv").write_text("item,judge,relevance\n1,ann,1\n2,ann,0\n")
    (tmp_path / "alpha.csv").write_text("item,text\n1,red\n2,blue\n")
    found = score("relevance", tmp_path)
    assert found.values["relevance"].value == 0.5
    assert np.isnan([found.values["relevance_auto"].value, found.values["correlation"].value]).all()
    assert any("without words in their context" in note for note in found.notes)


@pytest.mark.parametrize("task", SUBMISSIONS)
@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\0", b"\xff\xfe", b"id,A\n" + b"x" * 70_000, b"[" * 100_000, "id,A\n\u202e,1\n".encode(), b"id\n\n\n"],
    ids=["empty", "zeros", "no text", "a long line", "deep", "turned text", "blank lines"],
)
def test_hostile_files_are_refused_with_problems_and_no_crash(task, content, tmp_path):
    path = tmp_path / SUBMISSIONS[task]
    path.write_bytes(content)
    findings = basanite.validate(task, reference=EXAMPLES / task / TRUTH[task], submission=path)
    assert not findings.valid
    json.dumps(findings.as_dict(task))


@pytest.mark.parametrize("task", SUBMISSIONS)
def test_a_submission_can_be_checked_without_its_reference(task):
    assert basanite.validate(task, submission=EXAMPLES / task / SUBMISSIONS[task]).valid


def test_what_a_line_of_json_does_not_say_is_not_there(tmp_path):
    """An absent property must never become a text of its own."""
    rows = [{"item": "1", "judge": "ann", "relevance": 1, "context": "a dog", "genre": "x"}, {"item": "2"}]
    reference = tmp_path / "reference.jsonl"
    reference.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "alpha.csv").write_text("item,text\n1,a dog\n2,a cat\n")
    found = score("relevance", tmp_path, reference=reference)
    assert dict(found.values["relevance"].parts) == {"judges": 1, "judgements": 1}
    assert "items without words in their context, left out of relevance_auto: 1" in found.notes
    assert set(found.breakdowns["genre"]) == {"x"}


def test_a_line_of_json_without_an_item_is_a_problem_of_its_line(tmp_path):
    reference = tmp_path / "reference.jsonl"
    reference.write_text('{"item": "1", "judge": "ann", "relevance": 1}\n{"judge": "ann", "relevance": 1}\n')
    (tmp_path / "alpha.csv").write_text("item,text\n1,a dog\n")
    with pytest.raises(InvalidInputError) as error:
        score("relevance", tmp_path, reference=reference)
    assert [problem.line for problem in error.value.findings.problems] == [2]


def test_a_pipe_as_a_run_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "alpha.run")
    with pytest.raises(UnreadableError, match="a pipe"):
        score("ranking", submission=tmp_path / "alpha.run")


@pytest.mark.req("S-10")
def test_a_comparison_says_what_moves_together_in_a_draw():
    for task, said in (("labels", "items of one film stay together"), ("relevance", "units treated as independent")):
        files = dict.fromkeys(("one", "other"), EXAMPLES / task / SUBMISSIONS[task])
        found = basanite.compare(task, reference=EXAMPLES / task / TRUTH[task], submissions=files, draws=50)
        assert any(said in note for note in found.notes)


def run_of(folder, run, qrels="q1 0 a 1\nq2 0 a 1\n"):
    (folder / "alpha.run").write_text(run)
    (folder / "qrels.txt").write_text(qrels)
    return basanite.validate("ranking", reference=folder / "qrels.txt", submission=folder / "alpha.run")


def test_a_run_with_two_tags_is_warned_of_once_with_the_line_of_the_second(tmp_path):
    found = run_of(tmp_path, "q1 Q0 a 1 2 one\nq1 Q0 b 2 1 one\nq2 Q0 a 1 2 two\nq2 Q0 b 2 1 two\n")
    assert found.valid
    assert [(each.rule, each.line, each.found) for each in found] == [("T-13", 3, "two")]
    assert "2 tags in one run: one, two" in found.problems[0].message


def test_ranks_that_contradict_scores_are_warned_of_once_and_scores_count(tmp_path):
    run = "q1 Q0 a 2 0.9 x\nq1 Q0 b 1 0.1 x\nq2 Q0 a 1 0.5 x\nq2 Q0 b 2 0.5 x\n"
    found = run_of(tmp_path, run)
    assert found.valid
    (problem,) = found
    assert (problem.rule, problem.found) == ("T-13", "q1")
    assert "ranks contradict scores in 1 of 2 queries; scores count" in problem.message
    result = score("ranking", tmp_path)
    assert result.values["rr"].value == 0.75  # a leads by its score in q1; the tie of q2 goes to b, as in trec_eval
    assert any(warning.rule == "T-13" for warning in result.scores.warnings)


@pytest.mark.parametrize("ranks", [("0", "0"), ("1", "1"), ("-", "x"), ("2", "1")])
def test_ranks_that_say_nothing_or_agree_are_no_contradiction(ranks, tmp_path):
    run = f"q1 Q0 a {ranks[0]} 0.1 x\nq1 Q0 b {ranks[1]} 0.9 x\nq2 Q0 a 1 1 x\n"
    assert list(run_of(tmp_path, run)) == []


def test_queries_without_judgements_are_told_once_where_they_are_most(tmp_path):
    run = "".join(f"q{number} Q0 a 1 1 x\n" for number in range(1, 40))
    found = run_of(tmp_path, run)
    assert [each.message for each in found] == ["37 of 39 queries, such as 'q10', without judgments: ignored"]
    few = run_of(tmp_path, "q1 Q0 a 1 1 x\nq9 Q0 a 1 1 x\n")
    assert [each.found for each in few] == ["q2", "q9"]


@pytest.mark.parametrize("task", ["labels", "ratings"])
def test_a_table_of_classes_is_told_once_and_sent_to_its_task(task, tmp_path):
    table = "id,label\n" + "".join(f"{number},{number % 10 + 6}\n" for number in range(300))
    (tmp_path / "reference.csv").write_text(table)
    found = basanite.validate(task, reference=tmp_path / "reference.csv", submission=tmp_path / "reference.csv")
    told = [each for each in found if each.where == "reference"]
    assert len(told) == 1
    assert "label: 300 of 300 cells are" in told[0].message
    assert "`classification`" in told[0].fix
