"""Pools: what is pooled, in which order it is judged, and what a run owes to its own part."""

import pytest

from basanite.formats.retrieval.pools import (
    PooledRun,
    judging_lines,
    leave_one_out,
    place_of,
    pool_of,
    qrels_lines,
    qrels_of,
    to_judge,
)
from basanite.formats.retrieval.trec import read_qrels
from basanite.formats.retrieval.trec_lines import Reader
from basanite.metrics.retrieval.ranking import MAP, ranked_queries, rows
from basanite.problems import Findings


def run(name, ranking, precedence=1):
    return PooledRun.of(name, {"q": {document: -float(at) for at, document in enumerate(ranking)}}, precedence)


def order(pool):
    return [pooled.document for pooled in pool.queries["q"]]


def average_precision(one, judged):
    return MAP.of(rows(ranked_queries(judged, one.rankings)))


def test_a_pool_is_the_union_of_the_first_documents_each_once():
    pool = pool_of([run("A", "abcd"), run("B", "bxya")], depth=2)
    assert {one.document: one.runs for one in pool.queries["q"]} == {"a": ("A",), "b": ("A", "B"), "x": ("B",)}
    assert pool.size == 3


def test_runs_of_a_lower_precedence_number_are_judged_first():
    first, second = run("A", "abc", 2), run("B", "xya", 1)
    assert order(pool_of([first, second], depth=3)) == ["x", "y", "a", "b", "c"]
    assert order(pool_of([run("A", "abc"), run("B", "xya")], depth=3)) == ["a", "x", "b", "y", "c"]


def test_a_budget_goes_round_the_queries_and_skips_what_is_judged():
    scores = {query: {f"{query}{at}": -float(at) for at in range(3)} for query in ("p", "q")}
    pool = pool_of([PooledRun.of("A", scores)], depth=3)
    assert to_judge(pool, {}, budget=3) == [("p", "p0"), ("q", "q0"), ("p", "p1")]
    judged = {"p": {"p0": 1, "p1": -1}}
    assert to_judge(pool, judged) == [("p", "p1"), ("q", "q0"), ("p", "p2"), ("q", "q1"), ("q", "q2")]


def test_a_sample_is_drawn_from_its_seed_and_leans_to_no_rank():
    runs = [run("A", [f"d{at:02d}" for at in range(40)])]
    assert order(pool_of(runs, depth=40, sample="7")) == order(pool_of(runs, depth=40, sample="7"))
    drawn = [order(pool_of(runs, depth=40, sample=str(seed)))[:10] for seed in range(200)]
    share = sum(name < "d20" for names in drawn for name in names) / 2000
    assert 0.45 < share < 0.55
    assert len({tuple(names) for names in drawn}) == 200


def test_exported_judgements_keep_the_unjudged_apart_and_come_back(tmp_path):
    pool = pool_of([run("A", "abc")], depth=3)
    qrels = qrels_of(pool, {"q": {"a": 0, "z": 2}, "r": {"a": 1}})
    assert qrels == {"q": {"a": 0, "b": -1, "c": -1, "z": 2}, "r": {"a": 1}}
    (tmp_path / "qrels.txt").write_text("".join(qrels_lines(qrels)))
    assert read_qrels(Reader(tmp_path / "qrels.txt", Findings(), "reference")) == qrels


def test_the_list_for_judges_does_not_say_who_found_what():
    lines = list(judging_lines([("q", "a"), ("q", "b")]))
    assert lines == ["order\tquery\tdocument\tgrade\n", "1\tq\ta\t\n", "2\tq\tb\t\n"]


def test_leaving_a_run_out_takes_away_what_only_it_brought():
    # A finds u, which nobody else does; without it A has nothing of its own and falls behind B.
    runs = [run("A", "uab"), run("B", "bxa")]
    judged = {"q": {"u": 1, "a": 1, "b": 1, "x": 0}}
    first, second = leave_one_out(runs, pool_of(runs, depth=3), judged, average_precision)
    assert (first.unique, first.unique_relevant) == (1, 1)
    assert first.value == pytest.approx(1)
    assert first.value_without == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert (first.rank, first.rank_without) == (1, 2)
    assert (second.unique, second.unique_relevant) == (1, 0)
    assert second.value == second.value_without == pytest.approx((1 + 2 / 3) / 3)
    assert (second.rank, second.rank_without) == (2, 2)


def test_equals_share_the_better_place():
    assert [place_of(name, {"a": 1.0, "b": 1.0, "c": 0.0}) for name in "abc"] == [1, 1, 3]


def test_a_pool_of_nothing_is_empty():
    pool = pool_of([PooledRun.of("A", {})], depth=5)
    assert (pool.size, to_judge(pool, {}), qrels_of(pool, {})) == (0, [], {})
