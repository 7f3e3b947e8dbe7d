"""Answers and judgements: each answer checked against its question, and the judgements of a panel as one set."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from basanite.problems import Problem, shortened
from basanite.work.items import Item
from basanite.work.questions import Question
from basanite.work.scheme import JUDGE, Scheme

RULE: Final = "R-2"
FORM: Final = "answers"
MOST_SPANS: Final = 500
NEAR: Final = 1e-9


class AnswerError(ValueError):
    """An answer cannot be taken; the message says why, `fix` what would do."""

    def __init__(self, message: str, fix: str, found: object = "") -> None:
        self.fix, self.found = fix, _text_of(found)
        super().__init__(message)


def _text_of(found: object) -> str:
    try:
        return str(found)
    except (ValueError, RecursionError):
        return "a number of thousands of digits, or a list nested very deep"


def read_answers(
    scheme: Scheme, item: Item | None, raw: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Answers by question in plain values for JSON, and all that is wrong with them; an unasked question is wrong.

    >>> from basanite.work.scheme import read_scheme
    >>> scheme, _ = read_scheme('format = "basanite-judging/1"\\nname = "x"\\npreset = "binary"\\n')
    >>> read_answers(scheme, None, {"answer": "yes"})[0]
    {'answer': 'yes'}
    """
    found: dict[str, Any] = {}
    problems = list(_unknown_answers(scheme, raw))
    for question in scheme.questions:
        try:
            value = _answer(question, item, raw.get(question.id))
        except AnswerError as error:
            problems.append(_problem(f"{question.title or question.id}: {error}", error.fix, error.found))
            continue
        if value is not None:
            found[question.id] = value
    return found, tuple(problems)


def _problem(message: str, fix: str, found: str) -> Problem:
    return Problem(RULE, FORM, None, None, message, fix, shortened(found))


def _unknown_answers(scheme: Scheme, raw: Mapping[str, Any]) -> Iterator[Problem]:
    asked = {question.id for question in scheme.questions}
    for name in raw:
        if name not in asked:
            yield _problem(f"nobody asked {shortened(str(name))!r}", f"answer {', '.join(sorted(asked))}", str(name))


def _answer(question: Question, item: Item | None, raw: Any) -> Any:
    """The value of one answer, or nothing where none was given and none is needed."""
    if raw is None or raw == "" or (question.widget != "spans" and raw == []):
        if question.required:
            raise AnswerError("there is no answer", "answer it")
        return [] if question.widget == "spans" else None
    if question.numeric:
        return _number(question, raw)
    if question.widget == "choice":
        return _choice(question, raw)
    return _spans(question, item, raw) if question.widget == "spans" else _text(question, raw)


def _number(question: Question, raw: Any) -> int | float:
    try:
        value = math.nan if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    steps = (value - question.lo) / question.step if math.isfinite(value) else math.nan
    inside = question.lo - NEAR <= value <= question.hi + NEAR
    if not inside or abs(steps - round(steps)) > 1e-6:
        fix = f"give a number from {question.lo:g} to {question.hi:g} in steps of {question.step:g}"
        raise AnswerError("it is not a step of the scale", fix, raw)
    exact = question.lo + round(steps) * question.step
    return int(exact) if exact == int(exact) else exact


def _choice(question: Question, raw: Any) -> str:
    allowed = [option.value for option in question.options]
    if raw not in allowed:
        raise AnswerError("it is not one of the answers", f"choose {' or '.join(allowed)}", raw)
    return str(raw)


def _text(question: Question, raw: Any) -> str:
    if not isinstance(raw, str):
        raise AnswerError("it is not text", "write a text", raw)
    if len(raw) > question.longest:
        raise AnswerError(f"it has {len(raw)} characters", f"write at most {question.longest}")
    return raw.replace("\0", "").replace("\r\n", "\n")


def _spans(question: Question, item: Item | None, raw: Any) -> list[dict[str, Any]]:
    marked = _decode_spans(raw)
    most = question.most or MOST_SPANS
    if len(marked) > most:
        raise AnswerError(f"{len(marked)} spans are marked", f"mark at most {most}: the worst")
    length = _length(question, item)
    return [_span(question, each, length) for each in marked]


def _decode_spans(raw: Any) -> list[Any]:
    try:
        marked = json.loads(raw) if isinstance(raw, str) else raw
    except (ValueError, RecursionError):
        marked = None
    if not isinstance(marked, list):
        raise AnswerError("it is not a list of spans", "mark spans on the page, or send a list", raw)
    return marked


def _length(question: Question, item: Item | None) -> int:
    """How long the text is that is marked, in code points."""
    if item is None:
        return 2**31
    return max((len(block.value) for block in item.blocks if block.kind == question.on), default=0)


def _span(question: Question, raw: Any, length: int) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        raise AnswerError("a span is not an object", "give start, end, severity and category", raw)
    start, end = raw.get("start"), raw.get("end")
    whole = type(start) is int and type(end) is int
    if not whole or not 0 <= start < end <= length:  # type: ignore[operator]
        raise AnswerError("a span is empty or outside the text", f"give 0 <= start < end <= {length}", f"{start} {end}")
    made = {
        "start": start,
        "end": end,
        "severity": _known_value(raw, "severity", [s.value for s in question.severities]),
    }
    if question.categories:
        made["category"] = _known_value(raw, "category", [category.value for category in question.categories])
    return made


def _known_value(raw: Mapping[str, Any], key: str, allowed: list[str]) -> str:
    if raw.get(key) not in allowed:
        raise AnswerError(f"a span has no {key}", f"choose {', '.join(allowed)}", raw.get(key, ""))
    return str(raw[key])


@dataclass(frozen=True)
class Judgement:
    """One judge's answers about one item. The judge is known by a number that tells nothing (P-21)."""

    item: str
    judge: str
    answers: Mapping[str, Any]
    group: str = JUDGE
    round: int = 1
    position: int = 1
    seconds: float = 0.0
    flags: tuple[str, ...] = ()
    flipped: bool = False
    """In pairwise judging: the item's second text stood on the left."""


@dataclass(frozen=True)
class Ranking:
    """The items of one round in the order that a judge put them in, the best first."""

    judge: str
    round: int
    order: tuple[str, ...]


@dataclass(frozen=True)
class Decision:
    """What an adjudicator decided about an item; no answers are "none of these"."""

    item: str
    answers: Mapping[str, Any] | None
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """Everything that was said in a panel, to be combined into files."""

    judgements: Sequence[Judgement]
    rankings: Sequence[Ranking] = ()
    decisions: Sequence[Decision] = ()
    criteria: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What each expert went by, in the expert's own words."""


def by_item(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Judgements of each item, in the order of judges."""
    found: dict[str, list[Judgement]] = {}
    for each in sorted(judgements, key=lambda each: (each.item, each.judge)):
        found.setdefault(each.item, []).append(each)
    return found
