"""Answers in words: what a judge said of an item, question by question, and the reasons that were written beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from basanite.judging.scheme import Question, Scheme
from basanite.server.catalogue import plural, said

REASONS = ("text",)
"""Widgets whose answers are reasons in a judge's own words."""


def words_of(question: Question, value: Any) -> str:
    """An answer in words."""
    if value is None:
        return "–"
    if question.widget == "choice":
        return next((one.title for one in question.options if one.value == value), str(value))
    if question.widget == "spans":
        return _spans(question, value)
    if question.widget == "stars":
        return plural(int(value), "{count} star", "{count} stars").striptags()
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _spans(question: Question, value: Any) -> str:
    names = {one.value: one.title for one in question.categories}
    names |= {one.value: one.title for one in question.severities}
    if not value:
        return said("nothing is marked")
    marks = (
        " ".join(filter(None, (names.get(one.get("category", "")), names.get(one.get("severity", "")), _place(one))))
        for one in value
    )
    return ", ".join(marks)


def _place(one: Mapping[str, Any]) -> str:
    return f"{one['start']}–{one['end']}"


def answers_in_words(scheme: Scheme, answers: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Answers with their questions, reasons left out."""
    asked = (one for one in scheme.questions if one.widget not in REASONS)
    return tuple((one.title, words_of(one, answers.get(one.id))) for one in asked)


def in_one_line(scheme: Scheme, answers: Mapping[str, Any]) -> str:
    """Answers in one line; a single one without its question."""
    words = answers_in_words(scheme, answers)
    return words[0][1] if len(words) == 1 else "; ".join(f"{question}: {answer}" for question, answer in words)


def reasons_in(scheme: Scheme, answers: Mapping[str, Any]) -> tuple[str, ...]:
    """What a judge wrote in own words."""
    found = (answers.get(one.id) for one in scheme.questions if one.widget in REASONS)
    return tuple(str(text) for text in found if text)
