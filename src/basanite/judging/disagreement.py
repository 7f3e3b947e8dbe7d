"""How far judges of one item are apart: the order of the adjudication queue, and which items belong into it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from basanite.judging.judgements import Judgement, by_item
from basanite.judging.schemes.model import Question, Scheme


@dataclass(frozen=True)
class Dispute:
    """An item whose judges disagree: how far (0 to 1) and about which questions."""

    item: str
    distance: float
    questions: tuple[str, ...]
    judgements: tuple[Judgement, ...]


def disputes(judgements: Iterable[Judgement], scheme: Scheme) -> tuple[Dispute, ...]:
    """Items for an adjudicator under the scheme's rule, those furthest apart first."""
    if scheme.adjudicate.when == "never":
        return ()
    found = [_dispute(item, given, scheme) for item, given in by_item(judgements).items() if len(given) > 1]
    kept = [dispute for dispute in found if _belongs(dispute, scheme)]
    return tuple(sorted(kept, key=lambda dispute: (-dispute.distance, dispute.item)))


def _dispute(item: str, given: Sequence[Judgement], scheme: Scheme) -> Dispute:
    apart = {
        question.id: distance(question, [each.answers.get(question.id) for each in given]) for question in asked(scheme)
    }
    disputed = tuple(name for name, value in apart.items() if value > 0)
    return Dispute(item, max(apart.values(), default=0.0), disputed, tuple(given))


def asked(scheme: Scheme) -> tuple[Question, ...]:
    """The questions that judges can disagree about: a free text is no answer to compare."""
    return tuple(question for question in scheme.questions if question.widget != "text")


def _belongs(dispute: Dispute, scheme: Scheme) -> bool:
    if scheme.adjudicate.when == "differ":
        return dispute.distance > 0
    question = scheme.combined_question
    values = [each.answers.get(question.id) for each in dispute.judgements] if question else []
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    return len(numbers) > 1 and max(numbers) - min(numbers) > scheme.adjudicate.more_than


def distance(question: Question, answers: Sequence[Any]) -> float:
    """Mean over pairs of judges of how far they are apart, from 0 (alike) to 1; an answer not given is left out.

    >>> distance(Question("rating", "stars", ""), [1, 5, 3]).__round__(4)
    0.6667
    """
    given = [answer for answer in answers if answer is not None]
    pairs = list(combinations(given, 2))
    return sum(_apart(question, *pair) for pair in pairs) / len(pairs) if pairs else 0.0


def _apart(question: Question, one: Any, other: Any) -> float:
    if question.numeric:
        return abs(float(one) - float(other)) / (question.hi - question.lo)
    if question.widget == "spans":
        return _spans_apart(one, other)
    return float(one != other)


def _spans_apart(one: Sequence[Any], other: Sequence[Any]) -> float:
    """1 less the overlap of marked characters of one severity and category; two that mark nothing agree."""
    mine, theirs = _marked(one), _marked(other)
    either = mine | theirs
    return 1 - len(mine & theirs) / len(either) if either else 0.0


def _marked(spans: Sequence[Any]) -> set[tuple[int, str, str]]:
    return {
        (at, str(span.get("severity", "")), str(span.get("category", "")))
        for span in spans
        for at in range(span["start"], span["end"])
    }
