"""The quality of a panel: agreement against its own definitions, each judge, rankings against stars (R-5, S-20)."""

from __future__ import annotations

import random

import krippendorff
import numpy as np
import pytest
from tests.judging.making import items, new_ids, scheme_of

from basanite.judging.items import Block, item_of
from basanite.judging.judgements import Judged, Judgement, Ranking
from basanite.judging.quality import panel_quality, ratings_of


def starred(seed=1, count=30, people=4):
    dice = random.Random(seed)
    truth = {item.id: dice.randint(1, 5) for item in items(count)}
    bias = {f"j{at}": at / 2 for at in range(people)}
    return [
        Judgement(item, judge, {"rating": int(min(5, max(1, round(star + bias[judge] + dice.gauss(0, 0.6)))))})
        for item, star in truth.items()
        for judge in bias
        if dice.random() < 0.8
    ]


@pytest.mark.req("R-5", "S-20")
def test_alpha_is_ordinal_and_interval_with_an_interval_and_the_reliability_of_the_mean_beside_it():
    scheme, said = scheme_of("readability"), starred()
    (found,) = panel_quality(scheme, items(30), Judged(said)).questions
    table = ratings_of(scheme.questions[0], said).table
    for level in ("ordinal", "interval"):
        wanted = krippendorff.alpha(table.T, level_of_measurement=level)
        one = found.figures[f"alpha, {level}"]
        assert one.value == pytest.approx(wanted, abs=1e-12)
        assert one.low < one.value < one.high
    assert found.figures["ICC(1,k), the mean of an item"].value > found.figures["alpha, interval"].value


@pytest.mark.req("R-5")
def test_a_judges_bias_and_spread_are_told_against_the_rest():
    (found,) = panel_quality(scheme_of("readability"), items(30), Judged(starred())).questions
    assert found.judges["j3"].bias > 0.5 > 0 > found.judges["j0"].bias
    assert all(judge.spread > 0 for judge in found.judges.values())
    assert set(found.pairs) == {("j0", "j1"), ("j0", "j2"), ("j0", "j3"), ("j1", "j2"), ("j1", "j3"), ("j2", "j3")}


@pytest.mark.req("R-5")
def test_rankings_have_kendalls_w_by_round_and_judges_who_turn_them_round_show():
    scheme, pool = scheme_of("readability"), items(10)
    order = tuple(item.id for item in pool)
    said = [
        Judgement(item, judge, {"rating": 5 - at // 2}, round=n)
        for n, judge in ((1, "a"), (4, "b"))
        for at, item in enumerate(order)
    ]
    found = panel_quality(scheme, pool, Judged(said, [Ranking("a", 1, order), Ranking("b", 4, order[::-1])]))
    assert found.consistency["a"].value == 1.0
    assert found.consistency["b"].value == 0.0
    assert list(found.rankings) == ["001"]
    assert found.rankings["001"].value == pytest.approx(0.0)
    alike = panel_quality(scheme, pool, Judged(said, [Ranking("a", 1, order), Ranking("b", 4, order)]))
    assert alike.rankings["001"].value == pytest.approx(1.0)


@pytest.mark.req("S-20")
def test_unanimous_answers_are_undefined_with_the_reason_and_never_one():
    said = [Judgement(f"i{at:04d}", judge, {"answer": "yes"}) for at in range(20) for judge in "ab"]
    (found,) = panel_quality(scheme_of("binary"), items(20), Judged(said)).questions
    alpha = found.figures["alpha, nominal"]
    assert np.isnan(alpha.value)
    assert alpha.reason == "all ratings are the same, so there is nothing to agree about"


@pytest.mark.req("S-20")
def test_a_rare_answer_has_an_agreement_of_its_own():
    rare = [("yes", "yes")] * 28 + [("yes", "no")] * 2
    said = [
        Judgement(f"i{at:04d}", judge, {"answer": answer})
        for at, pair in enumerate(rare)
        for judge, answer in zip("ab", pair, strict=True)
    ]
    (found,) = panel_quality(scheme_of("binary"), items(30), Judged(said)).questions
    assert found.by_answer["yes"].value > 0.95
    assert found.by_answer["no"].value == 0.0


@pytest.mark.req("S-20")
def test_spans_have_unitising_alpha_and_overlapping_marks_of_one_judge_are_joined():
    ids = new_ids()
    pool = [item_of([Block("text", "x" * 60)], {}, new_id=ids.__next__) for _ in range(20)]

    def marks(*ends):
        return {"errors": [{"start": a, "end": b, "severity": "minor", "category": "Style"} for a, b in ends]}

    same = [Judgement(item.id, judge, marks((5, 9), (8, 12))) for item in pool for judge in "ab"]
    (found,) = panel_quality(scheme_of("mqm"), pool, Judged(same)).questions
    assert found.figures["unitising alpha"].value == pytest.approx(1.0)
    apart = [
        Judgement(item.id, judge, marks((5, 12)) if judge == "a" else marks((40, 47)))
        for item in pool
        for judge in "ab"
    ]
    (found,) = panel_quality(scheme_of("mqm"), pool, Judged(apart)).questions
    assert found.figures["unitising alpha"].value < 0
    (alone,) = panel_quality(scheme_of("mqm"), pool, Judged([each for each in same if each.judge == "a"])).questions
    assert alone.figures["unitising alpha"].reason == "no two judges marked the same items"


@pytest.mark.parametrize("preset", ["readability", "relevance", "esa", "pairwise", "ranking"])
def test_a_panel_that_has_not_begun_says_so(preset):
    found = panel_quality(scheme_of(preset), items(5), Judged([]))
    assert all(one.reason for question in found.questions for one in question.figures.values())
    assert found.rankings == {}
    assert found.consistency == {}
