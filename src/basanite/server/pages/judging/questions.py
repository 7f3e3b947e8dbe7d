"""Questions as a judge meets them: choices with their keys, sliders, errors to mark, lines to write (R-2, R-29)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from basanite.judging.items import Block
from basanite.judging.scheme import Question, Scheme
from basanite.server.catalogue import plural, say
from basanite.server.pages.judging.shown import quiet

MORE_ROWS, MOST_ROWS = 3, 40
"""Empty lines for errors in the plain form, and how many there are at most."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WRITE, SLIDE, BACK, PAUSE = "c", "s", "u", "p"
"""Keys that lead to a line to write and to a slider, back to the last answer, and out for a while."""


@dataclass(frozen=True)
class Choice:
    """One thing to choose, with its key and the name that is read aloud."""

    value: str
    title: str
    key: str = ""
    help: str = ""
    name: str = ""


@dataclass(frozen=True)
class Row:
    """One marked error in the plain form."""

    number: int
    words: str = ""
    which: int = 1
    category: str = ""
    severity: str = ""


@dataclass(frozen=True)
class Asked:
    """One question, ready for the page."""

    id: str
    widget: str
    title: str
    help: str
    required: bool
    value: str = ""
    choices: tuple[Choice, ...] = ()
    worded: bool = False
    """Whether each step of a scale has words of its own."""
    low_words: str = ""
    high_words: str = ""
    lo: str = ""
    hi: str = ""
    step: str = ""
    key: str = ""
    longest: int = 0
    most: int = 0
    categories: tuple[Choice, ...] = ()
    severities: tuple[Choice, ...] = ()
    rows: tuple[Row, ...] = ()


def asked(scheme: Scheme, given: Mapping[str, Any], blocks: Sequence[Block]) -> tuple[Asked, ...]:
    """All questions of a scheme, with what was said before."""
    return tuple(_asked(question, given.get(question.id), blocks) for question in scheme.questions)


def _asked(question: Question, value: Any, blocks: Sequence[Block]) -> Asked:
    base: dict[str, Any] = {"help": question.help, "required": question.required, "value": said_plainly(value)}
    base |= {"id": question.id, "widget": question.widget, "title": question.title or question.id}
    makers = {"stars": _steps, "scale": _steps, "choice": _options, "slider": _slider, "text": _text}
    if question.widget == "spans":
        return Asked(**base | _spans(question, value, blocks))
    return Asked(**base | makers[question.widget](question))


def said_plainly(value: Any) -> str:
    """An answer as the form holds it.

    >>> said_plainly(4.0), said_plainly(None), said_plainly([{"start": 1}])
    ('4', '', '[{"start": 1}]')
    """
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:g}" if isinstance(value, int | float) else json.dumps(value)


def _steps(question: Question) -> dict[str, Any]:
    each = len(question.labels) == len(question.steps) > 2
    low, high = ("", "") if each or len(question.labels) < 2 else (question.labels[0], question.labels[-1])
    choices = tuple(_step(question, at, number) for at, number in enumerate(question.steps))
    worded = each and question.widget == "scale"
    return {"choices": choices, "worded": worded, "low_words": low, "high_words": high}


def _step(question: Question, at: int, number: float) -> Choice:
    value, last = f"{number:g}", len(question.steps) - 1
    each = len(question.labels) == len(question.steps)
    label = question.labels[at] if each else {0: question.labels[:1], last: question.labels[-1:]}.get(at, ())
    words = label if isinstance(label, str) else "".join(label)
    plain = str(plural(int(number), "{count} star", "{count} stars")) if question.widget == "stars" else value
    key = value if len(value) == 1 else "0" if value == "10" else ""
    title = f"{value} {words}" if each and question.widget == "scale" else value
    return Choice(value, title, key, name=f"{plain}: {words}" if words else plain)


def _options(question: Question) -> dict[str, Any]:
    keyed = enumerate(question.options, 1)
    return {
        "choices": tuple(
            Choice(
                one.value, one.title or one.value, (one.key or str(at))[:1].lower(), one.help, one.title or one.value
            )
            for at, one in keyed
        )
    }


def _slider(question: Question) -> dict[str, Any]:
    low, high = (question.labels[0], question.labels[-1]) if len(question.labels) > 1 else ("", "")
    bounds = {"lo": f"{question.lo:g}", "hi": f"{question.hi:g}", "step": f"{question.step:g}"}
    return bounds | {"low_words": low or bounds["lo"], "high_words": high or bounds["hi"], "key": SLIDE}


def _text(question: Question) -> dict[str, Any]:
    return {"longest": question.longest, "key": WRITE}


def _spans(question: Question, value: Any, blocks: Sequence[Block]) -> dict[str, Any]:
    marks = value if isinstance(value, list) else []
    severities = (Choice(one.value, one.title, one.key or str(at)) for at, one in enumerate(question.severities, 1))
    return {
        "value": json.dumps(marks),
        "most": question.most,
        "categories": tuple(Choice(one.value, one.title, one.key, one.help) for one in question.categories),
        "severities": tuple(severities),
        "rows": tuple(_rows(marks, marked_text(question, blocks))),
    }


def marked_text(question: Question, blocks: Sequence[Block]) -> str:
    """The text in which errors are marked, as the judge sees it."""
    return quiet(next((block.value for block in blocks if block.kind == question.on), ""))


def _rows(marks: Sequence[Mapping[str, Any]], text: str) -> Iterator[Row]:
    for number, mark in enumerate(marks[:MOST_ROWS], 1):
        words = text[mark["start"] : mark["end"]]
        which = occurrence(text, words, mark["start"])
        yield Row(number, words, which, str(mark.get("category", "")), str(mark.get("severity", "")))
    used = min(len(marks), MOST_ROWS)
    yield from (Row(number) for number in range(used + 1, min(used + MORE_ROWS, MOST_ROWS) + 1))


def occurrence(text: str, words: str, start: int) -> int:
    """Which time some words occur at this place.

    >>> occurrence("to be or not to be", "be", 16)
    2
    """
    return sum(text.startswith(words, at) for at in range(start + 1))


def keyed_flags(scheme: Scheme, questions: Iterable[Asked]) -> tuple[Choice, ...]:
    """The flags, each with a key that nothing else uses."""
    taken = keys_of(questions) | {BACK, PAUSE}
    made = []
    for flag in scheme.flags:
        words = sorted(flag.title.lower().split(), key=len, reverse=True)
        wanted = [flag.key.lower(), *(word[0] for word in words if word[0] in LETTERS), *LETTERS]
        key = next((one for one in wanted if one and one not in taken), "")
        taken |= {key}
        made.append(Choice(flag.value, flag.title or flag.value, key))
    return tuple(made)


def keys_of(questions: Iterable[Asked]) -> set[str]:
    """The keys that the questions use."""
    every = list(questions)
    choices = {choice.key for one in every for choice in (*one.choices, *one.categories, *one.severities)}
    return (choices | {one.key for one in every}) - {""}


def free_key(questions: Iterable[Asked], key: str) -> str:
    """A key of ours, unless an answer of the scheme has it: answers come first."""
    return "" if key in keys_of(questions) else key


def hints(questions: Sequence[Asked], flags: Sequence[Choice], *, again: bool, back: bool) -> list[tuple[str, str]]:
    """All keys of the page in words."""
    lines = [hint for one in questions if (hint := _hint(one)) is not None]
    lines += [(str(say("Enter")), str(say("save and next")))]
    if (back or again) and free_key(questions, BACK):
        lines += [(BACK.upper(), str(say("back to my last answer") if back else say("leave it as it was")))]
    if flags:
        lines += [(" ".join(one.key.upper() for one in flags if one.key), str(say("flags")))]
    return [*lines, (PAUSE.upper(), str(say("pause")))] if free_key(questions, PAUSE) else lines


def _hint(one: Asked) -> tuple[str, str] | None:
    keys = [choice.key for choice in one.choices if choice.key]
    if one.widget == "spans":
        return "← → Shift", str(say("words in the text; then a severity"))
    if one.widget == "slider":
        return "S ← →", str(say("slider"))
    if one.widget == "text":
        return "C", str(say("write"))
    if not keys:
        return None
    span = f"{keys[0]}–{keys[-1]}" if len(keys) > 3 and all(map(str.isdigit, keys)) else " ".join(map(str.upper, keys))
    return span, str(say("stars")) if one.widget == "stars" else one.title
