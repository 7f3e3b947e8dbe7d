"""What a judge filled in, as answers: the same from a page with scripts and from plain forms."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from basanite.campaign.model.refusals import RefusedError, problem
from basanite.judging.items import Block
from basanite.judging.scheme import Question, Scheme
from basanite.problems import Problem
from basanite.server.catalogue import said
from basanite.server.pages.foundation.forms import Form
from basanite.server.pages.judging.questions import MOST_ROWS, marked_text


def answers_of(scheme: Scheme, blocks: Sequence[Block], form: Form) -> dict[str, Any]:
    """The answers of a form; errors that are marked in words that do not occur are refused."""
    found: list[Problem] = []
    answers = {question.id: _answer(question, blocks, form, found) for question in scheme.questions}
    if found:
        raise RefusedError(found, status=422)
    return {name: value for name, value in answers.items() if value not in ("", None)}


def _answer(question: Question, blocks: Sequence[Block], form: Form, found: list[Problem]) -> Any:
    if question.widget == "spans":
        return _spans(question, marked_text(question, blocks), form, found)
    return form.text(f"q-{question.id}").replace("\r\n", "\n")


def _spans(question: Question, text: str, form: Form, found: list[Problem]) -> list[Any]:
    sent = form.fields.get(f"spans-{question.id}")
    if sent is None:
        return list(_rows(question, text, form, found))
    try:
        read = json.loads(sent[0] or "[]")
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, list):
        found.append(problem("R-29", said("the marks cannot be read"), said("load the page again")))
        return []
    return read


def _rows(question: Question, text: str, form: Form, found: list[Problem]) -> Iterator[dict[str, Any]]:
    for number in range(1, MOST_ROWS + 1):
        row = form.beginning(f"mark-{question.id}-{number}-")
        if not (words := row.get("words", "")):
            continue
        start = _place(text, words, row.get("which", "1"))
        if start < 0:
            fix = said("copy the words exactly as they stand in the text")
            found.append(problem("R-29", said("these words do not occur in the text so often"), fix, found=words))
            continue
        mark = {"start": start, "end": start + len(words), **{name: row[name] for name in KIND if row.get(name)}}
        yield mark


KIND = ("category", "severity")


def _place(text: str, words: str, which: str) -> int:
    start = -1
    for _ in range(max(1, min(int(which), 1000)) if which.isdecimal() else 1):
        start = text.find(words, start + 1)
        if start < 0:
            break
    return start


def seconds_of(form: Form, *, otherwise: float = math.inf) -> float:
    """The time that the page measured; without a script, as long as it can have been: since the item was shown."""
    try:
        seconds = float(form.text("seconds"))
    except ValueError:
        return otherwise
    return seconds if math.isfinite(seconds) else 0.0


def number_of(form: Form, name: str) -> int:
    """A small whole number of a form; what is none is 0, which no round has.

    >>> number_of(Form({"round": ("2",)}), "round"), number_of(Form({"round": ("x",)}), "round")
    (2, 0)
    """
    text = form.text(name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0
