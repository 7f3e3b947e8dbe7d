"""The adjudication queue: who is apart, how far, and in which order."""

from __future__ import annotations

import pytest
from tests.work.making import scheme_of

from basanite.work.agreement import disputes, distance
from basanite.work.answers import Judgement
from basanite.work.questions import Question


def said(item, question, *answers):
    return [Judgement(item, f"j{at}", {question: answer}) for at, answer in enumerate(answers)]


def test_what_two_marked_differently_goes_to_an_adjudicator_and_nothing_else():
    given = [*said("a", "relevant", "Y", "Y"), *said("b", "relevant", "Y", "N"), *said("c", "relevant", "Y")]
    found = disputes(given, scheme_of("key-query"))
    assert [(one.item, one.questions) for one in found] == [("b", ("relevant",))]
    assert [each.judge for each in found[0].judgements] == ["j0", "j1"]


def test_those_furthest_apart_come_first():
    given = [
        *said("near", "agree", 1, 4),
        *said("far", "agree", 1, 5),
        *said("same", "agree", 3, 3),
        *said("two", "agree", 2, 4),
    ]
    assert [one.item for one in disputes(given, scheme_of("likert"))] == ["far", "near"]


def test_a_scheme_that_adjudicates_nothing_has_an_empty_queue():
    assert disputes(said("a", "answer", "yes", "no"), scheme_of("binary")) == ()


def test_reasons_in_words_are_no_disagreement():
    given = [
        Judgement("a", "x", {"relevant": "Y", "reason": "one"}),
        Judgement("a", "y", {"relevant": "Y", "reason": "two"}),
    ]
    assert disputes(given, scheme_of("key-query")) == ()


def test_spans_are_apart_by_what_they_do_not_share():
    question = scheme_of("mqm").questions[0]
    one = [{"start": 0, "end": 4, "severity": "minor", "category": "Style"}]
    other = [{"start": 2, "end": 6, "severity": "minor", "category": "Style"}]
    worse = [{"start": 0, "end": 4, "severity": "major", "category": "Style"}]
    assert distance(question, [one, other]) == pytest.approx(1 - 2 / 6)
    assert distance(question, [one, worse]) == 1.0
    assert distance(question, [[], []]) == 0.0


def test_answers_not_given_are_left_out():
    assert distance(Question("q", "choice", ""), [None, "a"]) == 0.0
