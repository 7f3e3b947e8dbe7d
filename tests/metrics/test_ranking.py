"""Ranking metrics against pytrec_eval (through ir_measures), and the rulings where implementations disagree."""

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from ir_measures import AP, RR, Bpref, P, infAP, nDCG

from basanite.errors import SettingError
from basanite.formats.retrieval.trec import rank_documents
from basanite.metrics.retrieval.ranking import COLUMNS, METRICS, dense_rows, ranked_queries, rows, values

PEERS = {"ap": AP, "ndcg": nDCG, "ndcg_10": nDCG @ 10, "p_10": P @ 10, "rr": RR, "bpref": Bpref, "infap": infAP}
SEEDS = range(6)


def collection(seed, *, ties=False, negative=False):
    """Judgements and a run with documents missing on either side, a query without relevant ones, one not answered."""
    rng = np.random.default_rng(seed)
    names = [f"d{at:03d}" for at in rng.permutation(60)]
    grades = (-2 if negative else 0, 4)
    qrels, run = {}, {}
    for number in range(12):
        judged = rng.choice(names, rng.integers(1, 40), replace=False)
        qrels[f"q{number}"] = {str(name): int(rng.integers(*grades) * (rng.random() < 0.6)) for name in judged}
        kept = rng.choice(names, rng.integers(1, 50), replace=False)
        scores = rng.integers(0, 6, len(kept)) if ties else rng.permutation(len(kept))
        run[f"q{number}"] = {str(name): float(score) for name, score in zip(kept, scores, strict=True)}
    qrels["q3"] = {name: min(grade, 0) for name, grade in qrels["q3"].items()}
    del run["q5"]
    return qrels, run


def ours(qrels, run, **more):
    block = ranked_queries(qrels, {query: rank_documents(scores) for query, scores in run.items()}, **more)
    return block.units, dict(zip(COLUMNS, rows(block).T, strict=True))


def by_hand(ranking, grades):
    """Exact 11-point average precision of one ranking, from its definition, with fractions as whole numbers."""
    total = sum(grade > 0 for grade in grades.values())
    points = []
    for level in range(11):
        best = 0.0
        for end in range(1, len(ranking) + 1):
            found = sum(grades.get(name, 0) > 0 for name in ranking[:end])
            if 10 * found >= level * total:
                best = max(best, found / end)
        points.append(best)
    return sum(points) / 11


@pytest.mark.parametrize("negative", [False, True], ids=["grades from 0", "grades below 0"])
@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_value_of_every_query_is_that_of_pytrec_eval(seed, ties, negative):
    qrels, run = collection(seed, ties=ties, negative=negative)
    units, found = ours(qrels, run)
    peers = {(m.query_id, m.measure): m.value for m in ir_measures.pytrec_eval.iter_calc(PEERS.values(), qrels, run)}
    for column, measure in PEERS.items():
        wanted = [peers.get((query, measure), 0.0) for query in units]
        assert found[column] == pytest.approx(np.array(wanted), abs=1e-12), column


@pytest.mark.parametrize("seed", SEEDS)
def test_a_higher_least_grade_is_that_of_trec_eval(seed):
    qrels, run = collection(seed)
    units, found = ours(qrels, run, least=2)
    names = {"ap": "map", "ndcg": "ndcg", "bpref": "bpref", "rr": "recip_rank", "infap": "infAP", "p_10": "P_10"}
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "bpref", "recip_rank", "infAP", "P"}, 2).evaluate(run)
    for column, name in names.items():
        wanted = [peer[query][name] if query in peer else 0.0 for query in units]
        assert found[column] == pytest.approx(np.array(wanted), abs=1e-12), column


@pytest.mark.parametrize("seed", SEEDS)
def test_eleven_points_are_those_of_the_definition(seed):
    qrels, run = collection(seed, ties=True)
    units, found = ours(qrels, run)
    has = [any(grade > 0 for grade in qrels[query].values()) for query in units]
    pairs = zip(units, has, strict=True)
    wanted = [by_hand(rank_documents(run.get(query, {})), qrels[query]) if ok else 0 for query, ok in pairs]
    assert found["ap11"] == pytest.approx(np.array(wanted), abs=1e-12)
    assert found["with_relevant"].tolist() == has


def test_the_eleven_points_of_a_ranking_on_which_implementations_differ():
    documents = {f"d{at}": float(-at) for at in range(1, 11)}
    qrels = {"q": {"d1": 1, "d5": 1, "d9": 1}}
    assert ours(qrels, {"q": documents})[1]["ap11"][0] == pytest.approx(0.5939, abs=1e-4)
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"11pt_avg"}).evaluate({"q": documents})
    assert peer["q"]["11pt_avg"] == pytest.approx(0.6)  # as the page of map11 says
    # Recall 3/10 reaches the level 0.3 exactly, which a float does not.
    ten = {"q": {f"d{at}": 1 for at in (1, 2, 3, *range(20, 27))}}
    assert ours(ten, {"q": {f"d{at}": float(-at) for at in range(1, 4)}})[1]["ap11"][0] == pytest.approx(4 / 11)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("levels", [1, 3, 40, 10**9], ids=lambda levels: f"{levels} scores")
@pytest.mark.parametrize("lowest", [0, -1], ids=["all judged", "some not judged"])
def test_a_dense_matrix_gives_what_its_run_file_would(seed, levels, lowest):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (15, 80)) / 7
    grades = rng.integers(lowest, 4, (15, 80)) * (rng.random((15, 80)) < 0.2)
    grades[4] = np.minimum(grades[4], 0)
    names = [f"n{at:02d}" for at in rng.permutation(80)]
    run = {f"{at:02d}": dict(zip(names, row.tolist(), strict=True)) for at, row in enumerate(scores)}
    qrels = {f"{at:02d}": dict(zip(names, row.tolist(), strict=True)) for at, row in enumerate(grades)}
    block = ranked_queries(qrels, {query: rank_documents(row) for query, row in run.items()}, least=2)
    assert dense_rows(scores, grades, documents=names, least=2) == pytest.approx(rows(block), abs=1e-12)


def test_ties_go_to_the_last_name_and_scores_stay_64_bits_wide():
    assert values([[1.0, 1.0]], [[1, 0]])["rr"] == 0.5
    assert values([[1.0, 1.0]], [[1, 0]], documents=["b", "a"])["rr"] == 1.0
    assert values([[1.0 + 1e-9, 1.0]], [[1, 0]])["rr"] == 1.0


def test_a_query_without_relevant_documents_counts_0_unless_left_out():
    scores, grades = [[2.0, 1.0], [2.0, 1.0]], [[1, 0], [0, 0]]
    assert values(scores, grades)["map"] == 0.5
    assert values(scores, grades, without_relevant="leave_out")["map"] == 1.0
    assert values(scores, grades)["map11"] == 1.0  # undefined without positives, so never counted


def test_precision_at_ten_divides_by_ten_even_where_fewer_were_retrieved():
    assert values([[2.0, 1.0]], [[1, 1]])["p_10"] == 0.2


@pytest.mark.parametrize("seed", SEEDS)
def test_judged_at_ten_is_that_of_ir_measures(seed):
    qrels, run = collection(seed)
    units, found = ours(qrels, run)
    measure = ir_measures.Judged @ 10
    peers = {m.query_id: m.value for m in ir_measures.judged.iter_calc([measure], qrels, run)}
    assert found["judged_10"] == pytest.approx(np.array([peers.get(query, 0.0) for query in units]))
    assert found["with_results"].tolist() == [float(query in run) for query in units]


def test_unjudged_documents_are_not_taken_for_non_relevant_ones():
    run = {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}
    unjudged, pooled, judged = ({"q": {"z": 1, "n": 0, **more}} for more in ({}, {"x": -1, "y": -1}, {"x": 0, "y": 0}))
    found = [{name: column[0] for name, column in ours(qrels, run)[1].items()} for qrels in (unjudged, pooled, judged)]
    assert [one["bpref"] for one in found] == [1, 1, 0]
    assert found[0]["infap"] == pytest.approx(1 / 3)
    assert found[1]["infap"] == pytest.approx(1 / 3 + 2 / 3 * 0.5)
    assert found[2]["infap"] == pytest.approx(1 / 3, abs=1e-4)
    assert [one["judged_10"] for one in found] == pytest.approx([1 / 3, 1 / 3, 1])


def test_a_run_that_answers_nothing_scores_0_and_its_judged_share_is_undefined():
    _, found = ours({"q": {"a": 1}}, {})
    assert {name: column[0] for name, column in found.items()} == dict.fromkeys(COLUMNS, 0) | {
        "queries": 1,
        "with_relevant": 1,
    }
    assert np.isnan(next(metric for metric in METRICS if metric.name == "judged_10").of(np.zeros((1, len(COLUMNS)))))


@pytest.mark.parametrize(
    ("scores", "grades", "more"),
    [
        ([[1.0, 2.0]], [[1]], {}),
        ([[np.nan, 2.0]], [[1, 0]], {}),
        ([[np.inf, 2.0]], [[1, 0]], {}),
        ([[1.0, 2.0]], [[1, 0]], {"documents": ["a"]}),
        ([[1.0, 2.0]], [[1, 0]], {"documents": ["a", "a"]}),
    ],
    ids=["shapes", "nan", "infinity", "too few names", "a name twice"],
)
def test_matrices_that_cannot_be_ranked_are_refused_with_a_reason(scores, grades, more):
    with pytest.raises(SettingError, match=r"give|replace"):
        values(scores, grades, **more)


def test_matrices_of_no_queries_and_no_documents_are_no_mistake():
    assert np.isnan(values(np.empty((0, 5)), np.empty((0, 5), int))["map"])
    assert values(np.empty((2, 0)), np.empty((2, 0), int))["map"] == 0
