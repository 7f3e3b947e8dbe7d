"""Measures of rankings by name: each equals its peer on random runs with ties, and every spelling is understood."""

import gzip
import json
import math
from itertools import permutations

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from tests.cli.running import ROOT, here

import basanite

RANKING = ROOT / "examples" / "ranking"
QUICK = ("--draws", "10")
TREC_EVAL = {
    "P@5": "P_5",
    "P_20": "P_20",
    "R@15": "recall_15",
    "recall_100": "recall_100",
    "AP@30": "map_cut_30",
    "map_cut_100": "map_cut_100",
    "AP": "map",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "ndcg_cut_20": "ndcg_cut_20",
    "ndcg_cut.30": "ndcg_cut_30",
    "recip_rank": "recip_rank",
    "Success@1": "success_1",
    "success_5": "success_5",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "infAP": "infAP",
    "IPrec@0.1": "iprec_at_recall_0.10",
    "iprec_at_recall_0.00": "iprec_at_recall_0.00",
    "iprec_at_recall_1.00": "iprec_at_recall_1.00",
    "11pt_avg": "11pt_avg",
    "set_P": "set_P",
    "SetR": "set_recall",
    "set_F": "set_F",
    "set_map": "set_map",
    "set_relative_P": "set_relative_P",
    "relative_P_10": "relative_P_10",
    "utility": "utility",
    "num_ret": "num_ret",
    "num_rel": "num_rel",
    "num_rel_ret": "num_rel_ret",
    "num_nonrel_judged_ret": "num_nonrel_judged_ret",
}
FAMILIES = "P recall map_cut map ndcg ndcg_cut recip_rank success Rprec bpref infAP iprec_at_recall 11pt_avg set_P "
FAMILIES += "set_recall set_F set_map set_relative_P relative_P num_ret num_rel num_rel_ret num_nonrel_judged_ret"
FAMILIES += " utility"


def collection(seed, *, ties=True, lowest=-1):
    """Judgements and a run in which documents are tied, missing on either side, and judged below 0."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(20):
        names = [f"d{at:03d}" for at in rng.permutation(150)]
        judged = names[: rng.integers(2, 90)]
        qrels[f"{number}"] = {name: int(rng.integers(lowest, 4) * (rng.random() < 0.7)) for name in judged}
        kept = rng.permutation(names)[: rng.integers(1, 140)]
        scores = rng.integers(0, 12, len(kept)) / 4 if ties else rng.permutation(len(kept))
        run[f"{number}"] = {str(name): float(score) for name, score in zip(kept, scores, strict=True)}
    qrels["3"] = dict.fromkeys(qrels["3"], 0)
    return qrels, run


def write(folder, qrels, run):
    lines = (f"{query} 0 {name} {grade}\n" for query, judged in qrels.items() for name, grade in judged.items())
    (folder / "qrels.txt").write_text("".join(lines))
    ranked = (f"{query} Q0 {name} 0 {score!r} tag\n" for query, scores in run.items() for name, score in scores.items())
    (folder / "system.run").write_text("".join(ranked))
    return folder


def key(name):
    return name.lower().replace("@", "_").replace("ndcg_cut.", "ndcg_cut_")


def values(folder, *words, reference="qrels.txt", run="system.run"):
    given = ("--reference", reference, "--submission", run, *QUICK, *words, "--json")
    ended = here("score", "ranking", *given, cwd=folder)
    assert ended.code == 0, ended.stdout + ended.stderr
    return {name: value["value"] for name, value in ended.data["values"].items()}


def asked(*names):
    return [word for name in names for word in ("--metric", name)]


@pytest.mark.req("T-13")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("least", [1, 2])
def test_every_measure_of_trec_eval_has_its_value(tmp_path, seed, least):
    qrels, run = collection(seed)
    found = values(write(tmp_path, qrels, run), *asked(*TREC_EVAL), "--set", f"least={least}")
    peer = pytrec_eval.RelevanceEvaluator(qrels, FAMILIES.split(), relevance_level=least).evaluate(run)
    for name, theirs in TREC_EVAL.items():
        total = math.fsum(values[theirs] for values in peer.values())
        expected = total if name.startswith("num_") else total / len(peer)
        assert found[key(name)] == pytest.approx(expected, abs=1e-9), name


@pytest.mark.req("T-13")
def test_geometric_means_take_a_hundred_thousandth_for_nothing(tmp_path):
    qrels, run = collection(7)
    found = values(write(tmp_path, qrels, run), *asked("gm_map", "gm_bpref"))
    peer = pytrec_eval.RelevanceEvaluator(qrels, ["map", "bpref"]).evaluate(run)
    for name, theirs in (("gm_map", "map"), ("gm_bpref", "bpref")):
        logs = [math.log(max(query[theirs], 1e-5)) for query in peer.values()]
        assert found[name] == pytest.approx(math.exp(math.fsum(logs) / len(logs)), abs=1e-9)


@pytest.mark.req("T-13")
def test_only_judged_documents_and_a_depth_are_trec_evals_j_and_m(tmp_path):
    qrels, run = collection(11, ties=False)
    write(tmp_path, qrels, run)
    best = {query: sorted(scores, key=scores.get, reverse=True)[:40] for query, scores in run.items()}
    shallow = {query: {name: run[query][name] for name in names} for query, names in best.items()}
    kept = {q: {name: s for name, s in scores.items() if qrels[q].get(name, -1) >= 0} for q, scores in shallow.items()}
    for cut, words in ((shallow, ()), (kept, ("--set", "judged_only=yes"))):
        found = values(tmp_path, "--set", "depth=40", *words, *asked("map", "P@10", "set_P"))
        peer = pytrec_eval.RelevanceEvaluator(qrels, ["map", "P", "set_P"]).evaluate(cut)
        for name, theirs in (("map", "map"), ("p_10", "P_10"), ("set_p", "set_P")):
            assert found[name] == pytest.approx(sum(one[theirs] for one in peer.values()) / len(qrels), abs=1e-9)


@pytest.mark.req("T-13")
def test_expected_reciprocal_rank_and_exponential_gains_are_those_of_gdeval(tmp_path):
    qrels, run = collection(2, lowest=0)
    qrels["5"]["d000"] = 4
    measures = [ir_measures.ERR @ 20, ir_measures.nDCG(dcg="exp-log2") @ 20]
    seen = [query for query in qrels if max(qrels[query].values()) > 0]
    found = values(write(tmp_path, qrels, run), *asked("ERR@20", "nDCG(dcg='exp-log2')@20"))
    peer = {(one.query_id, one.measure): one.value for one in ir_measures.gdeval.iter_calc(measures, qrels, run)}
    for name, measure in zip(("err_20", "ndcg_dcgexp-log2_20"), measures, strict=True):
        expected = sum(peer[query, measure] for query in seen) / len(qrels)
        assert found[name] == pytest.approx(expected, abs=1e-5)  # gdeval prints five digits
    assert values(tmp_path, "--gain", "exp", *asked("nDCG@20"))["ndcg_20"] == found["ndcg_dcgexp-log2_20"]


@pytest.mark.req("T-13")
def test_stated_gains_are_those_of_trec_eval(tmp_path):
    qrels, run = collection(4, lowest=0)
    stated = {1: 3, 2: 9, 3: 3}
    found = values(write(tmp_path, qrels, run), "--gain", "1=3,2=9", *asked("nDCG", "nDCG@20"))
    other = {q: {name: stated.get(grade, grade) for name, grade in judged.items()} for q, judged in qrels.items()}
    peer = pytrec_eval.RelevanceEvaluator(other, ["ndcg", "ndcg_cut.20"]).evaluate(run)
    for name, theirs in (("ndcg", "ndcg"), ("ndcg_20", "ndcg_cut_20")):
        assert found[name] == pytest.approx(sum(one[theirs] for one in peer.values()) / len(peer), abs=1e-9)


@pytest.mark.req("T-13")
def test_rank_biased_precision_and_reciprocal_rank_at_ten_are_what_their_definitions_say(tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 c 2\n1 0 z 1\n2 0 k 1\n")
    run = "".join(f"1 Q0 {name} 0 {9 - at} t\n" for at, name in enumerate("abcd"))
    run += "".join(f"2 Q0 {name} 0 {30 - at} t\n" for at, name in enumerate("abcdefghijk"))
    (tmp_path / "system.run").write_text(run)
    found = values(tmp_path, *asked("RBP(p=0.8)", "RBP(p=0.5)@2", "RR@10", "RR@11", "Judged@4", "NumQ"))
    assert found["rbp_p0.8"] == pytest.approx((0.2 * (1 + 0.64) + 0.2 * 0.8**10) / 2)
    assert found["rbp_p0.5_2"] == pytest.approx((0.5 * 1 + 0) / 2)
    assert (found["rr_10"], found["rr_11"]) == (0.5, pytest.approx((1 + 1 / 11) / 2))
    assert (found["judged_4"], found["numq"]) == (pytest.approx((2 / 4 + 0) / 2), 2)


def novelty(ranking, parts, alpha, cut):
    """alpha-DCG of a ranking by its definition."""
    seen, total = {}, 0.0
    for rank, name in enumerate(ranking[:cut], start=1):
        total += sum((1 - alpha) ** seen.get(part, 0) for part in parts.get(name, ())) / math.log2(rank + 1)
        for part in parts.get(name, ()):
            seen[part] = seen.get(part, 0) + 1
    return total


@pytest.mark.req("T-13")
@pytest.mark.parametrize("seed", range(3))
def test_alpha_ndcg_comes_from_judgements_by_subtopic(tmp_path, seed):
    rng = np.random.default_rng(seed)
    parts = {name: {str(one) for one in rng.permutation(4)[: rng.integers(0, 3)]} for name in "abcdef"}
    parts["a"] = {"1", "2", "3"}
    rows = [f"1 {part} {name} 1\n" for name, known in parts.items() for part in sorted(known)]
    (tmp_path / "qrels.txt").write_text("".join(rows) + "1 1 x 0\n1 2 x 0\n")
    ranking = "".join(rng.permutation(list("abcdefxy")))
    (tmp_path / "system.run").write_text("".join(f"1 Q0 {n} 0 {9 - at} t\n" for at, n in enumerate(ranking)))
    found = values(tmp_path, *asked("alpha_nDCG(alpha=0.5)@5", "StRecall@2"))
    greedy, left, counts = [], sorted(parts), {}
    while left:
        left.sort(key=lambda name: (-sum(0.5 ** counts.get(part, 0) for part in parts[name]), name))
        greedy.append(left.pop(0))
        counts |= {part: counts.get(part, 0) + 1 for part in parts[greedy[-1]]}
    assert novelty(greedy, parts, 0.5, 5) <= max(novelty(one, parts, 0.5, 5) for one in permutations("abcdef")) + 1e-12
    expected = novelty(ranking, parts, 0.5, 5) / novelty(greedy, parts, 0.5, 5)
    assert found["alpha_ndcg_alpha0.5_5"] == pytest.approx(expected, abs=1e-9)
    assert found["strecall_2"] == len(set().union(*(parts.get(n, ()) for n in ranking[:2]))) / len(
        set().union(*parts.values())
    )


@pytest.mark.req("T-13")
def test_alpha_ndcg_without_subtopics_is_refused():
    given = ("--reference", "qrels.txt", "--submission", "alpha.run")
    ended = here("score", "ranking", *given, "--metric", "alpha_nDCG@20", cwd=RANKING)
    assert ended.code == 2
    assert "need judgments by subtopic" in ended.stderr


@pytest.mark.req("T-13")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("happiness@20", "Or name one like nDCG@20, P@5, R@1000"),
        ("P", "needs a cut-off: write P@10"),
        ("ndcg_cut", "needs a cut-off: write nDCG@10"),
        ("P@5,10", "has 2 cut-offs. Write one measure for each"),
        ("Rprec@5", "Rprec has no cut-off"),
        ("nDCG@0", "needs a cut-off of 1, 2, 3"),
        ("RBP(p=2)", "p cannot be 2"),
        ("RBP(q=0.5)", "RBP has no parameter 'q0.5'. It takes p, rel, judged_only."),
        ("IPrec@2", "needs a recall from 0 to 1"),
        ("nDCG(dcg='cubic')@5", "dcg cannot be cubic"),
    ],
)
def test_a_measure_that_cannot_be_is_refused_with_the_way_to_write_it(name, words):
    given = ("--reference", "qrels.txt", "--submission", "alpha.run", "--metric", name)
    ended = here("score", "ranking", *given, cwd=RANKING)
    assert ended.code == 2
    assert words in ended.stderr


@pytest.mark.req("T-13")
def test_grades_above_those_of_err_are_refused_with_the_name_that_takes_them(tmp_path):
    write(tmp_path, {"1": {"a": 5, "b": 1}}, {"1": {"a": 1.0, "b": 2.0}})
    given = ("--reference", "qrels.txt", "--submission", "system.run", *QUICK)
    ended = here("score", "ranking", *given, "--metric", "ERR@20", cwd=tmp_path)
    assert (ended.code, "write ERR(max_rel=5)@20" in ended.stderr) == (2, True)
    found = values(tmp_path, "--metric", "ERR(max_rel=5)@20")["err_max_rel5_20"]
    assert found == pytest.approx(1 / 32 + 31 / 32 * 31 / 32 / 2)


@pytest.mark.req("T-13")
def test_a_measure_can_be_the_headline_and_rank_systems():
    words = ("--reference", "qrels.txt", "--submission", "A=alpha.run", "--submission", "B=beta.run", *QUICK)
    ended = here("compare", "ranking", *words, "--primary", "nDCG@5", "--metric", "RR@10", "--json", cwd=RANKING)
    assert ended.code == 0, ended.stderr
    assert ended.data["primary"] == "ndcg_5"
    assert set(ended.data["values"]["A"]) == {"ndcg_5", "rr_10"}
    alone = basanite.score(
        "ranking", reference=RANKING / "qrels.txt", submission=RANKING / "alpha.run", metrics="rr@10"
    )
    assert alone.values["rr_10"].value == pytest.approx(ended.data["values"]["A"]["rr_10"]["value"], abs=1e-9)
    assert "RR@10; ties by document id descending" in alone.values["rr_10"].signature


@pytest.mark.req("T-13")
def test_queries_that_the_run_lacks_count_zero_or_not_at_all(tmp_path):
    write(tmp_path, {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}})
    assert values(tmp_path, *asked("P@1"))["p_1"] == 0.5
    assert values(tmp_path, *asked("P@1"), "--set", "unanswered=leave_out") == {"map": 1.0, "p_1": 1.0}


PLAIN = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d3 1 0.5 t\n"
SAME_RUN = {
    "comments": "# made by hand\nq1 Q0 d1 1 2.5 t\n#\nq1 Q0 d2 2 1.5 t\n\nq2 Q0 d3 1 0.5 t\n",
    "fields behind the tag": "q1 Q0 d1 1 2.5 t more\nq1 Q0 d2 2 1.5 t words, here\nq2 Q0 d3 1 0.5 t\n",
    "MS MARCO": "q1\td1\t1\nq1\td2\t2\nq2\td3\t1\n",
    "three columns with scores": "q1\td1\t2.5\nq1\td2\t1.5\nq2\td3\t0.5\n",
    "a header that says score": "query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t2\nq2\td3\t3\n",
    "a header that says rank": "query document rank\nq1 d2 2\nq1 d1 1\nq2 d3 1\n",
}
SAME_QRELS = {
    "comments": "# pooled to 10\nq1 0 d1 0\nq1 0 d2 2\nq2 0 d3 1\n",
    "MS MARCO": "q1\t0\td1\t0\nq1\t0\td2\t2\nq2\t0\td3\t1\n",
    "BEIR": "query-id\tcorpus-id\tscore\nq1\td1\t0\nq1\td2\t2\nq2\td3\t1\n",
}


@pytest.mark.req("T-13", "D-6")
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(("side", "layout"), [("run", name) for name in SAME_RUN] + [("qrels", n) for n in SAME_QRELS])
def test_other_layouts_have_the_values_of_trec_evals_own(tmp_path, side, layout, packed):
    (tmp_path / "system.run").write_text(PLAIN)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 0\nq1 0 d2 2\nq2 0 d3 1\n")
    expected = values(tmp_path)
    text = (SAME_RUN if side == "run" else SAME_QRELS)[layout].encode()
    (tmp_path / "other.tsv.gz").write_bytes(gzip.compress(text) if packed else text)
    assert values(tmp_path, **{"run" if side == "run" else "reference": "other.tsv.gz"}) == expected


@pytest.mark.req("T-13", "D-4")
@pytest.mark.parametrize(
    ("side", "text", "words"),
    [
        ("run", "q1 d1 7\nq1 d2 3\n", "the third column could be ranks or scores"),
        ("qrels", "q1 d1 1\nq1 d2 0\n", "three columns without a header could be grades, ranks or scores"),
        (
            "qrels",
            "1 clue-1 0 0 1\n1 clue-2 1 1 0.25\n",
            "judgments with the probability of each in the sample (prels)",
        ),
        ("qrels", "q1 0 0 clue-1 1\nq1 0 1 clue-2 0\n", "preferences of several judges (prefs)"),
        ("run", "map all 0.25\nP_10 all 0.5\n", "what trec_eval printed"),
    ],
)
def test_what_could_be_several_things_or_another_file_is_refused_once_by_name(tmp_path, side, text, words):
    (tmp_path / "system.run").write_text(PLAIN)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 0\nq1 0 d2 2\nq2 0 d3 1\n")
    (tmp_path / ("system.run" if side == "run" else "qrels.txt")).write_text(text)
    given = ("--reference", "qrels.txt", "--submission", "system.run", "--json")
    ended = here("validate", "ranking", *given, cwd=tmp_path)
    found = json.loads(ended.stdout)
    assert (ended.code, found["total"]) == (1, 1)
    assert words in found["problems"][0]["message"]


@pytest.mark.req("T-13")
def test_two_tags_and_ranks_against_scores_are_warned_of(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "system.run").write_text("q1 Q0 d1 1 1.5 a\nq1 Q0 d2 2 2.5 b\n")
    ended = here("validate", "ranking", "--reference", "qrels.txt", "--submission", "system.run", cwd=tmp_path)
    assert ended.code == 0
    assert "2 tags in one run: a, b" in ended.stderr
    assert "ranks contradict scores in 1 of 1 queries" in ended.stderr


@pytest.mark.req("T-13")
@pytest.mark.parametrize(
    ("typed", "meant"), [("ndgc_20", "ndcg_20"), ("nDGC@20", "ndcg_20"), ("recal_100", "recall_100"), ("maq", "map")]
)
def test_a_misspelt_measure_is_answered_with_the_same_cut_off(typed, meant):
    ended = here("score", "ranking", "qrels.txt", "alpha.run", "--metric", typed, cwd=ROOT / "examples" / "ranking")
    assert (ended.code, f"Did you mean {meant!r}?" in ended.stderr) == (2, True)
