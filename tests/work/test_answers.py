"""Answers: each brought to its type, all that is wrong named at once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work.making import scheme_of

from basanite.work.answers import read_answers
from basanite.work.items import Block, item_of

TEXT = item_of([Block("text", "A small text.")], new_id=lambda: "i")
SCHEMES = [scheme_of(preset) for preset in ("readability", "relevance", "esa", "mqm", "ranking")]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def read(preset, **answers):
    found, problems = read_answers(scheme_of(preset), TEXT, answers)
    return found, [problem.message for problem in problems]


@pytest.mark.parametrize(("raw", "value"), [("4", 4), (4, 4), (4.0, 4), ("5", 5)])
def test_stars_from_a_form_or_a_program_are_numbers(raw, value):
    assert read("readability", rating=raw) == ({"rating": value}, [])


@pytest.mark.parametrize("raw", ["0", "6", "4.5", "nan", "inf", "four", True, [], {}, 10**400, 10**5000], ids=range(11))
def test_what_is_no_star_is_refused(raw):
    found, problems = read("readability", rating=raw)
    assert found == {}
    assert problems


def test_a_question_that_must_be_answered_is_missed():
    assert read("readability") == ({}, ["How easy was this to read?: there is no answer"])


def test_a_question_that_nobody_asked_is_told():
    assert read("binary", answer="yes", other="x") == ({"answer": "yes"}, ["nobody asked 'other'"])


def test_an_answer_outside_the_choices_is_refused():
    assert read("relevance", verdict="maybe")[1] == ["Is the document relevant?: it is not one of the answers"]


def test_spans_with_severity_and_category_are_taken_as_list_or_text():
    spans = [{"start": 2, "end": 7, "severity": "major", "category": "Style"}]
    assert read("mqm", errors=spans) == ({"errors": spans}, [])
    assert read("mqm", errors=json.dumps(spans)) == ({"errors": spans}, [])
    assert read("mqm") == ({"errors": []}, [])


@pytest.mark.parametrize(
    "span",
    [
        {"start": 5, "end": 5, "severity": "major", "category": "Style"},
        {"start": -1, "end": 5, "severity": "major", "category": "Style"},
        {"start": 0, "end": 99, "severity": "major", "category": "Style"},
        {"start": 0, "end": True, "severity": "major", "category": "Style"},
        {"start": 0, "end": 2, "severity": "awful", "category": "Style"},
        {"start": 0, "end": 2, "severity": "major"},
        "x",
    ],
)
def test_spans_outside_the_text_or_without_severity_are_refused(span):
    found, problems = read("mqm", errors=[span])
    assert found == {}
    assert len(problems) == 1


@settings(deadline=None)
@given(JSON)
def test_whatever_is_sent_is_an_answer_or_a_problem_and_never_an_error(raw):
    for scheme in SCHEMES:
        found, problems = read_answers(scheme, TEXT, {question.id: raw for question in scheme.questions})
        json.dumps(found, allow_nan=False)
        assert all(problem.fix for problem in problems)
