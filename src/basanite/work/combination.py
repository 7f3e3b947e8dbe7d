"""Several answers become one by the rule that the scheme names; an adjudicator's decision stands over all of them.

The rule is part of the result's name, for another rule gives other results (C08, S-18).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from basanite.analysis.votes import Combination, Tie, panel_of, votes_of
from basanite.work.answers import Judged, Judgement, by_item
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

TIED = "tied"


NONE_OF_THESE = "none of these"


NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Decided:
    """What became of one item: a value, or the reason why there is none."""

    item: str
    value: Any = None
    why_not: str = ""
    by: str = ""
    """The rule in words, or "adjudicator"."""
    votes: Mapping[str, int] = field(default_factory=dict)


def rule_of(scheme: Scheme) -> str:
    """The rule in words, as it stands in the result's name.

    >>> from basanite.work.scheme import Combine
    >>> rule_of(Scheme("x", "", combine=Combine("majority", "N")))
    'majority, a tie is N'
    """
    combine = scheme.combine
    words = {"dawid-skene": "Dawid-Skene", "raw": "raw shares of votes", "mean": "mean of judges"}
    tie = f", a tie is {combine.tie}" if combine.tie else ", a tie is left open"
    return words.get(combine.rule, combine.rule) + (tie if combine.rule in ("majority", "dawid-skene") else "")


def decide(scheme: Scheme, items: Sequence[str], judged: Judged) -> dict[str, Decided]:
    """One answer for every item; such as nobody judged, ties without a rule and "none of these" have none."""
    question = scheme.combined_question
    if question is None:
        return {}
    said = by_item(judged.judgements)
    found = RULES[scheme.combine.rule](scheme, question, {item: said.get(item, []) for item in items})
    for decision in judged.decisions:
        if decision.item in found:
            answers, votes = decision.answers or {}, found[decision.item].votes
            why_not = "" if question.id in answers else NONE_OF_THESE
            found[decision.item] = Decided(decision.item, answers.get(question.id), why_not, "adjudicator", votes)
    return found


Said = Mapping[str, Sequence[Judgement]]


def _answers(question: Question, given: Sequence[Judgement]) -> list[Any]:
    return [each.answers[question.id] for each in given if each.answers.get(question.id) is not None]


def _vote_counts(question: Question, given: Sequence[Judgement]) -> dict[str, int]:
    counts = Counter(str(answer) for answer in _answers(question, given))
    return dict(sorted(counts.items()))


def _raw(scheme: Scheme, question: Question, said: Said) -> dict[str, Decided]:
    """No single answer unless all say the same: the votes themselves are the result."""
    return {item: _unanimous(item, question, given, rule_of(scheme)) for item, given in said.items()}


def _unanimous(item: str, question: Question, given: Sequence[Judgement], rule: str) -> Decided:
    answers, votes = _answers(question, given), _vote_counts(question, given)
    if not answers:
        return Decided(item, None, NOT_JUDGED, rule)
    alike = len(votes) == 1
    return Decided(item, answers[0] if alike else None, "" if alike else "votes differ", rule, votes)


def _majority(scheme: Scheme, question: Question, said: Said) -> dict[str, Decided]:
    return {item: _most(item, question, given, scheme) for item, given in said.items()}


def _most(item: str, question: Question, given: Sequence[Judgement], scheme: Scheme) -> Decided:
    votes, rule = _vote_counts(question, given), rule_of(scheme)
    if not votes:
        return Decided(item, None, NOT_JUDGED, rule)
    top = [answer for answer, times in votes.items() if times == max(votes.values())]
    if len(top) == 1:
        return Decided(item, top[0], "", rule, votes)
    return Decided(item, scheme.combine.tie or None, "" if scheme.combine.tie else TIED, rule, votes)


def _dawid_skene(scheme: Scheme, question: Question, said: Said) -> dict[str, Decided]:
    """The first option is what Dawid and Skene call relevant."""
    first, second = (option.value for option in question.options[:2])
    given = [(item, each) for item, several in said.items() for each in several if question.id in each.answers]
    judges = {name: at for at, name in enumerate(sorted({each.judge for _, each in given}))}
    places = {item: at for at, item in enumerate(said)}
    votes = votes_of(
        [judges[each.judge] for _, each in given],
        [places[item] for item, _ in given],
        [each.answers[question.id] == first for _, each in given],
        judges=len(judges),
        items=len(places),
    )
    tie: Tie = "R" if scheme.combine.tie == first else "N"
    shares = panel_of(votes, Combination("binary", "dawid_skene", tie)).shares()
    found = {}
    for item, share in zip(places, shares.tolist(), strict=True):
        answer = None if np.isnan(share) else first if share > 0.5 else second
        why_not = NOT_JUDGED if answer is None else ""
        found[item] = Decided(item, answer, why_not, rule_of(scheme), _vote_counts(question, said[item]))
    return found


def _mean(scheme: Scheme, question: Question, said: Said) -> dict[str, Decided]:
    return {item: _average(item, question, given, rule_of(scheme)) for item, given in said.items()}


def _average(item: str, question: Question, given: Sequence[Judgement], rule: str) -> Decided:
    numbers = [float(answer) for answer in _answers(question, given)]
    if not numbers:
        return Decided(item, None, NOT_JUDGED, rule)
    return Decided(item, float(np.mean(numbers)), "", rule, _vote_counts(question, given))


RULES: Mapping[str, Callable[[Scheme, Question, Said], dict[str, Decided]]] = {
    "raw": _raw,
    "majority": _majority,
    "dawid-skene": _dawid_skene,
    "mean": _mean,
}
