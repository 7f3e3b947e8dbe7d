"""From judgements to files: the rule is named, adjudication stands over all, and the tasks read what is written."""

from __future__ import annotations

import csv
import io
import random

import numpy as np
import pytest
from tests.work.making import items, judges, new_ids, scheme_of

from basanite import spine
from basanite.analysis.votes import Combination, panel_of, votes_of
from basanite.formats.retrieval.judgements import read_judgements
from basanite.formats.retrieval.pools import PooledRun, pool_of, to_judge
from basanite.metrics.judgement.bradley_terry import fit
from basanite.problems import Findings
from basanite.tasks import Inputs
from basanite.work.answers import Decision, Judged, Judgement, Ranking
from basanite.work.combination import decide, rule_of
from basanite.work.item_files import items_of_pool
from basanite.work.items import Block, item_of
from basanite.work.panel_files import comparisons, digest_of_judgements, files_of, judged_pairs
from basanite.work.plans import plan_rounds


def said(question, answers):
    """Judgements of items by judges from {item: "answers in order"}."""
    return [
        Judgement(item, f"j{at}", {question: answer})
        for item, several in answers.items()
        for at, answer in enumerate(several)
    ]


def values(scheme, judged, names):
    return {item: one.value if not one.why_not else one.why_not for item, one in decide(scheme, names, judged).items()}


@pytest.mark.parametrize(("tie", "tied"), [("no", "no"), ("yes", "yes")])
def test_a_majority_decides_and_a_tie_goes_by_its_rule_which_is_named(tie, tied):
    scheme = scheme_of("binary", f'[combine]\nrule = "majority"\ntie = "{tie}"\n')
    given = Judged(said("answer", {"a": ["yes", "yes", "no"], "b": ["no"], "c": ["yes", "no"]}))
    assert values(scheme, given, "abcd") == {"a": "yes", "b": "no", "c": tied, "d": "not judged"}
    assert rule_of(scheme) == f"majority, a tie is {tie}"


def test_a_tie_without_a_rule_is_left_open():
    scheme = scheme_of("key-query")
    assert values(scheme, Judged(said("relevant", {"a": ["Y", "N"]})), "a") == {"a": "tied"}


def test_an_adjudicator_stands_over_the_votes_and_none_of_these_is_a_decision():
    scheme = scheme_of("key-query")
    given = Judged(
        said("relevant", {"a": ["Y", "N"], "b": ["Y", "Y"], "c": ["Y", "N"]}),
        decisions=[Decision("a", {"relevant": "N"}, "passing mention"), Decision("c", None, "unreadable")],
    )
    assert values(scheme, given, "abc") == {"a": "N", "b": "Y", "c": "none of these"}


def test_dawid_skene_decides_as_the_analysis_does():
    scheme = scheme_of("binary", '[combine]\nrule = "dawid-skene"\n', per_item=5)
    dice = random.Random(3)
    names = [f"i{at:02d}" for at in range(60)]
    answers = {
        name: [dice.choice(["yes", "yes", "no"]) if at % 2 else dice.choice(["yes", "no", "no"]) for _ in range(5)]
        for at, name in enumerate(names)
    }
    found = decide(scheme, names, Judged(said("answer", answers)))
    votes = votes_of(
        np.tile(np.arange(5), 60),
        np.repeat(np.arange(60), 5),
        [a == "yes" for name in names for a in answers[name]],
        judges=5,
        items=60,
    )
    shares = panel_of(votes, Combination("binary", "dawid_skene", "N")).shares()
    assert [found[name].value == "yes" for name in names] == [bool(share > 0.5) for share in shares]
    assert rule_of(scheme) == "Dawid-Skene, a tie is no"


def test_means_and_raw_votes():
    assert values(scheme_of("likert"), Judged(said("agree", {"a": [1, 2, 4]})), "a") == {"a": pytest.approx(7 / 3)}
    raw = scheme_of("pairwise")
    assert values(raw, Judged(said("better", {"a": ["left", "left"], "b": ["left", "tie"]})), "ab") == {
        "a": "left",
        "b": "votes differ",
    }


def test_the_digest_of_judgements_knows_no_order_and_every_answer():
    given = said("answer", {"a": ["yes", "no"], "b": ["no"]})
    assert digest_of_judgements(given) == digest_of_judgements(reversed(given))
    assert digest_of_judgements(given) != digest_of_judgements(said("answer", {"a": ["yes", "yes"], "b": ["no"]}))


def by_name(made):
    return {file.name: file for file in made}


def rated(scheme, pool, everybody, seed=1):
    """A readability panel as people would judge it: stars near the number of the item, ranks by stars."""
    plan = plan_rounds(pool, everybody, scheme, seed)
    groups = {judge.id: judge.group for judge in everybody}
    dice = random.Random(seed)
    stars = {item.id: 1 + at % 5 for at, item in enumerate(pool)}
    given = [
        Judgement(
            each.item,
            each.judge,
            {"rating": min(5, max(1, stars[each.item] + dice.choice([-1, 0, 0, 1])))},
            groups[each.judge],
            each.round,
        )
        for each in plan
    ]
    rounds = {(each.judge, each.round): [] for each in plan}
    for each in given:
        rounds[each.judge, each.round].append((-each.answers["rating"], each.item))
    ranks = [
        Ranking(judge, number, tuple(item for _, item in sorted(some))) for (judge, number), some in rounds.items()
    ]
    return Judged(given, ranks, criteria={"expert00": ["short sentences", "known words"]})


@pytest.mark.req("R-3")
def test_a_readability_panel_becomes_the_reference_that_the_task_reads(tmp_path):
    scheme = scheme_of("readability")
    pool = items(40, genre=["news", "blog"], topic=["a", "b", "c"])
    judged = rated(scheme, pool, [*judges(4, "expert"), *judges(5, "novice")])
    made = by_name(files_of(scheme, pool, judged))
    (tmp_path / "panels.csv").write_bytes(made["panels.csv"].content)
    (tmp_path / "machine.csv").write_text(
        "passage,rating\n" + "".join(f"{item.id},{1 + at % 5}\n" for at, item in enumerate(pool))
    )
    task, findings = spine.find_task("readability"), Findings()
    opened = spine.read(task, Inputs(tmp_path / "machine.csv", tmp_path / "panels.csv"), {}, findings)
    spine.validate(opened, findings)
    assert findings.valid, list(findings)
    rows = list(csv.DictReader(io.StringIO(made["panels.csv"].content.decode())))
    assert len(rows) == 40 * 9
    assert sum(bool(row["text"]) for row in rows) == 40
    rounds = {(row["judge"], row["round"]) for row in rows}
    assert len({name for _, name in rounds}) == 4
    assert len(rounds) == 4 * 9
    assert (
        made["criteria.csv"].content == b"judge,place,criterion\nexpert00,1,short sentences\nexpert00,2,known words\n"
    )


def summaries(systems=("Alpha", "Beta")):
    ids = new_ids()
    return [
        item_of(
            [Block("query", f"q{q}"), Block("image", f"{system}{q}{d}")],
            {"system": system, "query": f"query{q}", "document": f"doc{d}"},
            new_id=ids.__next__,
        )
        for system in systems
        for q in range(3)
        for d in range(2)
    ]


def test_votes_on_summaries_become_a_table_for_each_system_that_e2e_reads():
    scheme, pool = scheme_of("relevance"), summaries()
    given = Judged(said("verdict", {item.id: ["R", "N", "R"] for item in pool}))
    made = by_name(files_of(scheme, pool, given))
    assert {"Alpha.judgements.tsv", "Beta.judgements.tsv"} <= made.keys()
    findings = Findings()
    read = read_judgements(made["Alpha.judgements.tsv"].content, "a.tsv", findings)
    assert findings.valid
    assert len(read) == 18
    assert len(read.pairs) == 6
    assert "majority, a tie is N: score with --set rule=majority --set tie=N" in made["Alpha.judgements.tsv"].note


def test_equal_summaries_of_two_systems_are_judged_once_and_count_for_both():
    ids = new_ids()
    one = item_of([Block("image", "d")], {"system": "A", "query": "q", "document": "d1"}, new_id=ids.__next__)
    joined = type(one)(**{**one.__dict__, "also": ({"system": "B", "query": "q", "document": "d1"},)})
    made = by_name(files_of(scheme_of("relevance"), [joined], Judged(said("verdict", {one.id: ["R"]}))))
    assert made["A.judgements.tsv"].content == made["B.judgements.tsv"].content


def test_double_marks_and_decisions_become_a_key_and_what_is_open_is_named():
    ids = new_ids()
    pool = [
        item_of([Block("query", q), Block("document", d)], {"query": q, "document": d}, new_id=ids.__next__)
        for q in ("query1", "query2")
        for d in ("docA", "docB")
    ]
    answers = {"i0000": ["Y", "Y"], "i0001": ["N", "N"], "i0002": ["Y", "N"], "i0003": ["Y", "N"]}
    judged = Judged(said("relevant", answers), decisions=[Decision("i0002", {"relevant": "Y"}, "stated twice")])
    made = by_name(files_of(scheme_of("key-query"), pool, judged))
    assert made["key/query1.tsv"].content == b"docA\tY\ndocB\tN\n"
    assert made["key/query2.tsv"].content == b"docA\tY\n"
    assert made["key/query2.tsv"].undecided == ("i0003",)


def test_domains_have_a_key_file_each():
    ids = new_ids()
    pool = [
        item_of([Block("document", "x")], {"domain": d, "document": "docA"}, new_id=ids.__next__)
        for d in ("GOV", "LIF")
    ]
    made = by_name(
        files_of(scheme_of("key-domain"), pool, Judged(said("relevant", {"i0000": ["Y", "Y"], "i0001": ["N", "N"]})))
    )
    assert (made["key/GOV.tsv"].content, made["key/LIF.tsv"].content) == (b"docA\tY\n", b"docA\tN\n")


def test_a_pool_is_judged_by_precedence_and_its_qrels_keep_the_unjudged_apart():
    runs = [
        PooledRun.of("first", {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}),
        PooledRun.of("second", {"q1": {"b": 9.0, "d": 8.0}}, precedence=2),
    ]
    pool = pool_of(runs, depth=2)
    pool_items = items_of_pool(
        to_judge(pool, {}), {"q1": "rain", "q2": "sun"}, {name: name * 3 for name in "abdx"}, new_id=new_ids().__next__
    )
    assert [(item.facts["query"], item.facts["document"]) for item in pool_items] == [
        ("q1", "a"),
        ("q2", "x"),
        ("q1", "b"),
        ("q1", "d"),
    ]
    scheme = scheme_of("pool")
    plan = plan_rounds(pool_items, judges(1), scheme, 1)
    done = list(plan)[:3]
    grades = ["2", "0", "1"]
    judged = Judged(
        [Judgement(each.item, each.judge, {"grade": grade}) for each, grade in zip(done, grades, strict=True)]
    )
    made = by_name(files_of(scheme, pool_items, judged))
    assert made["qrels.txt"].content == b"q1 0 a 2\nq1 0 b 1\nq1 0 d -1\nq2 0 x 0\n"
    assert made["qrels.txt"].undecided == (pool_items[3].id,)
    assert not any("first" in block.value or "second" in block.value for item in pool_items for block in item.blocks)


def test_sides_that_were_changed_are_told_by_name_and_bradley_terry_reads_them():
    pool = items(40, left=["A", "B", "C"], right=["B", "C", "A"])
    scheme = scheme_of("pairwise")
    better = {"A": 3, "B": 2, "C": 1}
    dice = random.Random(1)
    given = []
    for each in plan_rounds(pool, judges(4), scheme, 5):
        facts = next(item.facts for item in pool if item.id == each.item)
        left, right = (facts["right"], facts["left"]) if each.flipped else (facts["left"], facts["right"])
        fair = "left" if better[left] > better[right] else "right"
        answer = fair if dice.random() < 0.8 else dice.choice(["left", "right", "tie"])
        given.append(Judgement(each.item, each.judge, {"better": answer}, flipped=each.flipped))
    found = judged_pairs(scheme, pool, Judged(given))
    systems, numbers = comparisons(found)
    strengths = dict(zip(systems, fit(numbers).strengths, strict=True))
    assert strengths["A"] > strengths["B"] > strengths["C"]
    assert all(
        {one.first, one.second} == set(next((i.facts["left"], i.facts["right"]) for i in pool if i.id == one.item))
        for one in found
    )
    table = by_name(files_of(scheme, pool, Judged(given)))["pairs.csv"].content.decode()
    assert table.startswith("first,second,outcome,item,judge,length,headings,lists,bold\n")
    assert len(table.splitlines()) == len(given) + 1


def test_rankings_become_a_table_with_one_name_for_equal_rounds():
    pool = items(5, system=["A", "B", "C", "D", "E"])
    order = tuple(item.id for item in pool)
    judged = Judged([], [Ranking("x", 1, order), Ranking("y", 3, order[::-1])])
    rows = list(
        csv.DictReader(
            io.StringIO(by_name(files_of(scheme_of("ranking"), pool, judged))["rankings.csv"].content.decode())
        )
    )
    assert {row["round"] for row in rows} == {"001"}
    assert [row["system"] for row in rows if row["judge"] == "y"] == ["E", "D", "C", "B", "A"]


def test_no_answer_acts_as_a_formula_in_the_table_for_people():
    scheme, pool = scheme_of("key-query"), items(1, query="=cmd()", document="d")
    made = by_name(files_of(scheme, pool, Judged([Judgement(pool[0].id, "j", {"relevant": "Y", "reason": "=1+1"})])))
    cells = [cell for row in csv.reader(io.StringIO(made["answers.csv"].content.decode())) for cell in row]
    assert "=1+1" not in cells
    assert "=cmd()" not in cells


def test_checks_and_training_are_in_the_table_of_answers_and_in_no_result():
    scheme = scheme_of("binary")
    ids = new_ids()
    pool = [
        item_of([Block("text", role)], {}, new_id=ids.__next__, role=role) for role in ("real", "check", "training")
    ]
    made = by_name(files_of(scheme, pool, Judged(said("answer", {item.id: ["yes"] for item in pool}))))
    assert made["answers.csv"].content.count(b"\n") == 4
    assert made["combined.csv"].content.count(b"\n") == 2
