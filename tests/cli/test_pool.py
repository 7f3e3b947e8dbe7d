"""`basanite pool` on the example runs: the list, the qrels, the effect of leaving a run out, and misuse."""

import pytest
from tests.cli.running import ROOT, here

RANKING = ROOT / "examples" / "ranking"
RUNS = ("alpha.run", "beta.run", "gamma.run")


def pool(tmp_path, *words, out="pool.tsv"):
    return here("pool", *words, "--out", tmp_path / out, cwd=RANKING)


def first_of(path, depth):
    """The first documents of each query of a run whose lines are in order."""
    lines = [line.split() for line in (RANKING / path).read_text().splitlines()]
    return {(query, document) for query, _, document, rank, *_ in lines if int(rank) <= depth}


@pytest.mark.req("M95")
def test_the_list_holds_every_pooled_document_once(tmp_path):
    ended = pool(tmp_path, *RUNS, "--depth", "6", "--json")
    header, *lines = (tmp_path / "pool.tsv").read_text().splitlines()
    pairs = [tuple(line.split("\t")[1:3]) for line in lines]
    assert header == "order\tquery\tdocument\tgrade"
    assert len(pairs) == len(set(pairs)) == ended.data["to_judge"] == ended.data["pooled"]
    assert set(pairs) == set.union(*(first_of(name, 6) for name in RUNS))


@pytest.mark.req("M95")
def test_judgements_and_a_budget_leave_the_rest_unjudged_in_the_export(tmp_path):
    words = (*RUNS, "--depth", "8", "--qrels", "qrels.txt", "--budget", "10", "--json")
    ended = pool(tmp_path, *words, "--export", tmp_path / "new.qrels")
    grades = dict.fromkeys(((q, d) for name in RUNS for q, d in first_of(name, 8)), "-1")
    known = {(q, d): g for q, _, d, g in (line.split() for line in (RANKING / "qrels.txt").read_text().splitlines())}
    exported = [line.split() for line in (tmp_path / "new.qrels").read_text().splitlines()]
    assert {(q, d): g for q, _, d, g in exported} == grades | known
    assert ended.data["to_judge"] == 10
    assert ended.data["judged"] == sum(known.get(pair, "-1") != "-1" for pair in grades)


@pytest.mark.req("M95")
def test_the_effect_of_leaving_each_run_out_is_told(tmp_path):
    ended = pool(tmp_path, *RUNS, "--depth", "8", "--qrels", "qrels.txt", "--json")
    effects = {one["run"]: one for one in ended.data["leave_one_out"]}
    assert set(effects) == {"alpha", "beta", "gamma"}
    assert all(one["value_without"] < one["value"] for one in effects.values())
    scored = here("score", "ranking", "--reference", "qrels.txt", "--submission", "alpha.run", "--json", cwd=RANKING)
    assert effects["alpha"]["value"] == pytest.approx(scored.data["values"]["map"]["value"], abs=1e-9)


def test_a_precedence_changes_the_order_and_nothing_else(tmp_path):
    pool(tmp_path, *RUNS, "--depth", "3", out="plain.tsv")
    pool(tmp_path, *RUNS, "--depth", "3", "--precedence", "gamma=1", "--precedence", "alpha=2", out="turned.tsv")
    plain, turned = ((tmp_path / name).read_text().splitlines()[1:] for name in ("plain.tsv", "turned.tsv"))
    assert plain != turned
    assert {line.split("\t", 1)[1] for line in plain} == {line.split("\t", 1)[1] for line in turned}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("alpha.run", "--depth", "3", "--precedence", "delta=1"), "no run is called 'delta'"),
        (("alpha.run", "--depth", "3", "--precedence", "alpha"), "NAME=N"),
        (("alpha.run", "--depth", "3", "--precedence", "alpha=0"), "NAME=N"),
        (("alpha.run", "alpha.run", "--depth", "3"), "Two systems are called 'alpha'"),
        (("nowhere.run", "--depth", "3"), "cannot be opened"),
        (("alpha.run", "--depth", "0"), "--depth"),
    ],
    ids=["unknown run", "no number", "number 0", "the same run twice", "no such file", "depth 0"],
)
def test_misuse_is_told_and_nothing_is_written(words, said, tmp_path):
    ended = pool(tmp_path, *words)
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_exists_is_not_written_over(tmp_path):
    (tmp_path / "pool.tsv").write_text("mine")
    assert pool(tmp_path, "alpha.run", "--depth", "3").code == 2
    assert (tmp_path / "pool.tsv").read_text() == "mine"


def test_all_problems_of_all_runs_are_told_and_nothing_is_written(tmp_path):
    for name in ("one.run", "two.run"):
        (tmp_path / name).write_text("q1 Q0 a 1 much x\nq1 Q0\n")
    ended = pool(tmp_path, tmp_path / "one.run", tmp_path / "two.run", "--depth", "3", "--json")
    assert (ended.code, ended.data["counts"]) == (1, {"M84": 4})
    assert not (tmp_path / "pool.tsv").exists()


def test_names_of_strangers_stay_harmless_on_the_terminal(tmp_path):
    (tmp_path / "x.run").write_text("q1 Q0 \x1b[31mred 1 1.0 x\n")
    ended = pool(tmp_path, f"\x1b[31mrun={tmp_path / 'x.run'}", "--depth", "3")
    assert ended.code == 0
    assert "\x1b[31m" not in ended.stdout + ended.stderr
