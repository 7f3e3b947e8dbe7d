"""How far annotators agree: where they mark, apart from what they call it and what they fill in (R-15, S-20).

Where: F1 of mentions that are exactly the same and of mentions that overlap, and unitising alpha, over all categories
together and for each. What: kappa of the category on words that both marked alike, and of every field on objects that
belong together. Annotators change from text to text, so each pair counts in both orders. Whole texts are drawn for
intervals. What cannot be said is said so, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from basanite.kernel import source_of
from basanite.metrics.judgement.agreement import kappa
from basanite.metrics.judgement.crossed import drawn_weights
from basanite.metrics.judgement.estimate import FEWEST_ITEMS, Estimate, estimate_with_interval, undefined_estimate
from basanite.metrics.judgement.span_agreement import Document as Unitised
from basanite.metrics.judgement.span_agreement import Span, unitising_alpha_with_interval
from basanite.work.annotation.alignment import align
from basanite.work.annotation.config import Config
from basanite.work.annotation.events import Object, State
from basanite.work.exchange.model import merge_parts

NOBODY = "nobody marked anything"
NO_SHARED = "nothing was marked alike by both"
ALONE = "no text has two annotations"
Parts = tuple[tuple[int, int], ...]
Marks = Counter[tuple[str, str, Parts]]
"""Category, slot and pieces of every mention, as often as it stands there."""


@dataclass(frozen=True)
class Annotations:
    """One text and what its annotators made of it."""

    name: str
    length: int
    states: tuple[State, ...]


@dataclass(frozen=True)
class SpanAgreement:
    """Whether the same words were marked."""

    mentions: int
    exact: Estimate
    """F1 of mentions that are the same, piece by piece."""
    overlap: Estimate
    """F1 of mentions that share a character with one of the other annotator's."""
    alpha: Estimate
    """Unitising alpha."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "mentions": self.mentions,
            **{name: estimate_object(getattr(self, name)) for name in ("exact", "overlap", "alpha")},
        }


@dataclass(frozen=True)
class ValueAgreement:
    """Whether what both found was called, or filled in, alike."""

    pairs: int
    share: Estimate
    """The share of pairs that are equal."""
    kappa: Estimate

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"pairs": self.pairs, "share": estimate_object(self.share), "kappa": estimate_object(self.kappa)}


@dataclass(frozen=True)
class TextAgreement:
    """One text."""

    name: str
    spans: SpanAgreement
    labels: ValueAgreement
    disagreements: int
    """Objects on which the annotators differ."""

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        figures = {"spans": self.spans.as_dict(), "labels": self.labels.as_dict()}
        return {"name": self.name, **figures, "disagreements": self.disagreements}


@dataclass(frozen=True)
class Agreement:
    """All texts that have two annotations or more."""

    texts: int
    spans: SpanAgreement
    """Words alone, whatever they are called."""
    labels: ValueAgreement
    """The category of words that both marked."""
    categories: Mapping[str, SpanAgreement]
    fields: Mapping[str, ValueAgreement]
    """By `Category.field`, on objects that belong together."""
    per_text: tuple[TextAgreement, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "texts": self.texts,
            "spans": self.spans.as_dict(),
            "labels": self.labels.as_dict(),
            "categories": {name: one.as_dict() for name, one in self.categories.items()},
            "fields": {name: one.as_dict() for name, one in self.fields.items()},
            "per_text": [one.as_dict() for one in self.per_text],
        }


def agreement(config: Config, texts: Iterable[Annotations], *, draws: int = 1000, seed: int = 0) -> Agreement:
    """Agreement over all texts with two annotations or more, and of each of them."""
    several = [one for one in texts if len(one.states) > 1]
    marks = [[_marks(state) for state in one.states] for one in several]
    dice = (draws, seed)
    values = _values(config, several)
    return Agreement(
        texts=len(several),
        spans=_spans(several, [[_words_alone(one) for one in each] for each in marks], dice),
        labels=_agreement_on(_labels(marks)),
        categories={
            name: _spans(several, [[_of(one, name) for one in each] for each in marks], dice)
            for name, category in config.categories.items()
            if category.slots
        },
        fields={name: _agreement_on(pairs) for name, pairs in values.items()},
        per_text=tuple(_text(config, one, each) for one, each in zip(several, marks, strict=True)),
    )


def estimate_object(one: Estimate) -> dict[str, Any]:
    """An estimate as JSON has it: null with the reason where it is undefined."""
    value = round(one.value, 10) if one.is_defined else None
    ends = [None if end is None else round(end, 10) for end in (one.low, one.high)]
    return {"value": value, "low": ends[0], "high": ends[1], "reason": one.reason}


def _marks(state: State) -> Marks:
    return Counter(
        (one.category, slot, mention.parts)
        for one in state.objects.values()
        for slot, several in one.mentions.items()
        for mention in several
    )


def _words_alone(marks: Marks) -> Marks:
    """Words alone: the same words under two names are marked once."""
    return Counter({("", "", parts): 1 for _, _, parts in marks})


def _of(marks: Marks, category: str) -> Marks:
    return Counter({mark: times for mark, times in marks.items() if mark[0] == category})


def _spans(texts: Sequence[Annotations], marks: Sequence[Sequence[Marks]], dice: tuple[int, int]) -> SpanAgreement:
    mentions = sum(one.total() for each in marks for one in each)
    exact = np.array([_mention_counts(each, _exact) for each in marks], np.float64).reshape(-1, 2)
    overlap = np.array(
        [_mention_counts(each, lambda one, other: _met(one, other) + _met(other, one)) for each in marks], np.float64
    ).reshape(-1, 2)
    return SpanAgreement(mentions, _f1(exact, dice), _f1(overlap, dice), _alpha(texts, marks, dice))


def _mention_counts(each: Sequence[Marks], count: Any) -> tuple[int, int]:
    """Over all pairs of annotators of a text: mentions with a partner on the other side, and all mentions."""
    pairs = list(combinations(each, 2))
    return sum(count(*pair) for pair in pairs), sum(one.total() + other.total() for one, other in pairs)


def _exact(one: Marks, other: Marks) -> int:
    return 2 * (one & other).total()


def _met(one: Marks, other: Marks) -> int:
    covered: dict[tuple[str, str], set[int]] = {}
    for category, slot, parts in other:
        covered.setdefault((category, slot), set()).update(at for part in parts for at in range(*part))
    return sum(
        times
        for (category, slot, parts), times in one.items()
        if any(at in covered.get((category, slot), ()) for part in parts for at in range(*part))
    )


def _f1(counts: Any, dice: tuple[int, int]) -> Estimate:
    """Mentions with a partner over all mentions; texts are drawn for the interval."""
    if not len(counts):
        return undefined_estimate(ALONE)
    both, total = counts.sum(axis=0)
    if not total:
        return undefined_estimate(NOBODY)
    found = Estimate(float(both / total))
    if len(counts) < FEWEST_ITEMS:
        return found
    drawn = drawn_weights(len(counts), draws=dice[0], source=source_of(dice[1], "texts")) @ counts
    with np.errstate(all="ignore"):
        return estimate_with_interval(found, drawn[:, 0] / drawn[:, 1])


def _alpha(texts: Sequence[Annotations], marks: Sequence[Sequence[Marks]], dice: tuple[int, int]) -> Estimate:
    """Unitising alpha of the first annotators, as many as every text has; what touches in one label is joined."""
    if not texts:
        return undefined_estimate(ALONE)
    judges = min(len(each) for each in marks)
    documents = [
        Unitised(text.length, [list(_units(one)) for one in each[:judges]])
        for text, each in zip(texts, marks, strict=True)
    ]
    return unitising_alpha_with_interval(documents, draws=dice[0], seed=dice[1])


def _units(marks: Marks) -> Iterator[Span]:
    by_label: dict[str, list[tuple[int, int]]] = {}
    for category, slot, parts in marks:
        by_label.setdefault(f"{category}.{slot}", []).extend(parts)
    for label, several in by_label.items():
        yield from (Span(start, end, label) for start, end in merge_parts(several))


Pairs = list[tuple[str, str]]


def _labels(marks: Sequence[Sequence[Marks]]) -> Pairs:
    """What the same words are called by two annotators, for every pair of them in every text."""
    return [pair for each in marks for one, other in combinations(each, 2) for pair in _label_pairs(one, other)]


def _label_pairs(one: Marks, other: Marks) -> Iterator[tuple[str, str]]:
    mine, theirs = _by_words(one), _by_words(other)
    for parts in sorted(mine.keys() & theirs.keys()):
        same = mine[parts] & theirs[parts]
        yield from ((label, label) for label in sorted(same.elements()))
        left, right = (sorted((side - same).elements()) for side in (mine[parts], theirs[parts]))
        yield from zip(left, right, strict=False)  # words that one of them stacked higher have no partner there


def _by_words(marks: Marks) -> dict[Parts, Counter[str]]:
    found: dict[Parts, Counter[str]] = {}
    for (category, _, parts), times in marks.items():
        found.setdefault(parts, Counter())[category] += times
    return found


def _values(config: Config, texts: Sequence[Annotations]) -> dict[str, Pairs]:
    """What was filled in, field by field, on objects that belong together; nothing filled in is a value, too."""
    found: dict[str, Pairs] = {
        f"{name}.{field.name}": []
        for name, category in config.categories.items()
        for field in category.entries
        if field.kind != "object"
    }
    for text in texts:
        for aligned in align(config, text.states):
            for one, other in combinations([side for side in aligned.sides if side is not None], 2):
                _compare(found, aligned.category, one, other)
    return found


def _compare(found: Mapping[str, Pairs], category: str, one: Object, other: Object) -> None:
    for name in one.fields.keys() | other.fields.keys():
        pairs = found.get(f"{category}.{name}")
        if pairs is not None:
            pairs.append((one.fields.get(name, ""), other.fields.get(name, "")))


def _agreement_on(pairs: Pairs) -> ValueAgreement:
    if not pairs:
        return ValueAgreement(0, undefined_estimate(NO_SHARED), undefined_estimate(NO_SHARED))
    names = {value: number for number, value in enumerate(sorted({value for pair in pairs for value in pair}))}
    first = [names[one] for one, _ in pairs]
    second = [names[other] for _, other in pairs]
    share = sum(one == other for one, other in pairs) / len(pairs)
    return ValueAgreement(len(pairs), Estimate(share), kappa(first + second, second + first))


def _text(config: Config, text: Annotations, marks: Sequence[Marks]) -> TextAgreement:
    spans = _spans([text], [[_words_alone(one) for one in marks]], (0, 0))
    apart = sum(not aligned.unanimous for aligned in align(config, text.states))
    return TextAgreement(text.name, spans, _agreement_on(_labels([marks])), apart)
