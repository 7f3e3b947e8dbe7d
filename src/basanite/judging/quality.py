"""How good a panel is: agreement with intervals, each judge against the rest, rankings against stars (R-5, S-20).

Where a figure cannot be told, its reason stands there. All figures come from `metrics.judgement`; here judgements
become tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from basanite.judging.combining.panels import round_names
from basanite.judging.items import Item
from basanite.judging.judgements import Judged, Judgement
from basanite.judging.schemes.model import Question, Scheme
from basanite.metrics.judgement.agreement import (
    JudgeFigures,
    class_agreement,
    judge_figures,
    kappa,
    kendalls_w,
    percent_agreement,
    rank_consistency,
)
from basanite.metrics.judgement.alpha import alpha_with_interval
from basanite.metrics.judgement.estimate import Estimate, Reals, undefined, with_interval
from basanite.metrics.judgement.intraclass import reliability_of_mean
from basanite.metrics.judgement.unitising import Document, Span, unitising_alpha_with_interval


@dataclass(frozen=True)
class Ratings:
    """The answers to one question as numbers, items x judges; nan where a judge said nothing."""

    items: tuple[str, ...]
    judges: tuple[str, ...]
    table: Reals


@dataclass(frozen=True)
class QuestionQuality:
    """How far judges agree on one question."""

    question: str
    figures: Mapping[str, Estimate]
    """By name: alpha at its levels, equal pairs, and the reliability of the mean of an item's answers."""
    by_answer: Mapping[str, Estimate]
    """Agreement on each answer by itself, which alpha hides where it is rare."""
    judges: Mapping[str, JudgeFigures]
    pairs: Mapping[tuple[str, str], Estimate]
    """Kappa of every two judges: the heat map."""


@dataclass(frozen=True)
class PanelQuality:
    """Everything about one group of judges."""

    questions: tuple[QuestionQuality, ...]
    rankings: Mapping[str, Estimate]
    """Kendall's W of every round that was ranked."""
    consistency: Mapping[str, Estimate]
    """For each judge, how far rankings follow the judge's own stars."""


def panel_quality(scheme: Scheme, items: Sequence[Item], judged: Judged, *, draws: int = 200) -> PanelQuality:
    """The quality of a panel from what was said of its real items; give the judgements of one group at a time."""
    real = {item.id for item in items if item.role == "real"}
    said = [each for each in judged.judgements if each.item in real]
    asked = [question for question in scheme.questions if question.widget != "text"]
    return PanelQuality(
        tuple(_quality(question, said, items, draws) for question in asked),
        dict(_rankings(judged)),
        dict(_consistency(scheme, said, judged)),
    )


def ratings_of(question: Question, said: Sequence[Judgement]) -> Ratings:
    """The table of a question; a choice counts by its place in the list."""
    places = {option.value: float(at) for at, option in enumerate(question.options)}
    given = {(each.item, each.judge): _number(each.answers.get(question.id), places) for each in said}
    known = {pair: value for pair, value in given.items() if value is not None}
    items, judges = (tuple(sorted({pair[side] for pair in known})) for side in (0, 1))
    row, column = ({name: at for at, name in enumerate(names)} for names in (items, judges))
    table = np.full((len(items), len(judges)), np.nan)
    for (item, judge), value in known.items():
        table[row[item], column[judge]] = value
    return Ratings(items, judges, table)


def _number(answer: object, places: Mapping[str, float]) -> float | None:
    if isinstance(answer, str):
        return places.get(answer)
    return float(answer) if isinstance(answer, int | float) and not isinstance(answer, bool) else None


def _quality(question: Question, said: Sequence[Judgement], items: Sequence[Item], draws: int) -> QuestionQuality:
    if question.widget == "spans":
        return QuestionQuality(question.id, {"unitising alpha": _spans(question, said, items, draws)}, {}, {}, {})
    ratings = ratings_of(question, said)
    table = ratings.table
    numeric = dict(zip(ratings.judges, judge_figures(table), strict=True)) if question.numeric and table.size else {}
    return QuestionQuality(
        question.id,
        dict(_figures(question, table, draws)),
        {_answer(question, value): found for value, found in _by_answer(table).items()},
        numeric,
        dict(_pairs(question, ratings)),
    )


def _figures(question: Question, table: Reals, draws: int) -> Iterator[tuple[str, Estimate]]:
    if question.numeric:
        yield "alpha, ordinal", _alpha(table, "ordinal", draws)
        yield "alpha, interval", _alpha(table, "interval", draws)
    else:
        yield "alpha, nominal", _alpha(table, "nominal", draws)
    yield "equal pairs", percent_agreement(table) if table.size else undefined("nothing was judged yet")
    if question.numeric or len(question.options) == 2:  # the mean of an item's answers means something
        yield "ICC(1,k), the mean of an item", with_interval(table, reliability_of_mean, draws=draws)


def _alpha(table: Reals, level: str, draws: int) -> Estimate:
    if not table.size:
        return undefined("nothing was judged yet")
    return alpha_with_interval(table, level, draws=draws)  # type: ignore[arg-type]


def _by_answer(table: Reals) -> dict[float, Estimate]:
    return class_agreement(table) if table.size else {}


def _answer(question: Question, value: float) -> str:
    return question.options[int(value)].value if question.options else f"{value:g}"


def _pairs(question: Question, ratings: Ratings) -> Iterator[tuple[tuple[str, str], Estimate]]:
    """Kappa of every two judges, weighted where steps have an order."""
    weights = "quadratic" if question.numeric else "none"
    for one, other in combinations(range(len(ratings.judges)), 2):
        found = kappa(ratings.table[:, one], ratings.table[:, other], weights)  # type: ignore[arg-type]
        yield (ratings.judges[one], ratings.judges[other]), found


def _spans(question: Question, said: Sequence[Judgement], items: Sequence[Item], draws: int) -> Estimate:
    """Unitising alpha over the items that the same judges marked; those who marked most of them together count."""
    marks = {(each.item, each.judge): each.answers.get(question.id) or [] for each in said}
    together = _largest_crew(marks)
    if together is None:
        return undefined("no two judges marked the same items")
    names, judges = together
    lengths = {item.id: _length(item, question.on) for item in items}
    documents = [
        Document(max(lengths[name], 1), [_joined(marks[name, judge], lengths[name]) for judge in judges])
        for name in names
    ]
    return unitising_alpha_with_interval(documents, draws=draws)


def _largest_crew(marks: Mapping[tuple[str, str], object]) -> tuple[list[str], tuple[str, ...]] | None:
    """The judges who share the most items, as the same judges must have marked every text."""
    crews: dict[tuple[str, ...], list[str]] = {}
    for item in sorted({item for item, _ in marks}):
        crew = tuple(sorted(judge for name, judge in marks if name == item))
        crews.setdefault(crew, []).append(item)
    fit = [(len(names), crew, names) for crew, names in crews.items() if len(crew) > 1]
    return (max(fit)[2], max(fit)[1]) if fit else None


def _length(item: Item, kind: str) -> int:
    return max((len(block.value) for block in item.blocks if block.kind == kind), default=0)


def _joined(spans: object, length: int) -> list[Span]:
    """The spans of one judge as units that do not overlap: whatever their kind, a character is marked or not."""
    found: list[Span] = []
    ends = sorted((int(s["start"]), min(int(s["end"]), length)) for s in spans)  # type: ignore[attr-defined]
    for start, end in ends:
        if found and start <= found[-1].end:
            found[-1] = Span(found[-1].begin, max(end, found[-1].end))
        elif start < end:
            found.append(Span(start, end))
    return found


def _rankings(judged: Judged) -> Iterator[tuple[str, Estimate]]:
    """Kendall's W of every round, over the judges who ranked all of it."""
    names = round_names(judged)
    rounds: dict[str, list[tuple[str, ...]]] = {}
    for ranking in judged.rankings:
        rounds.setdefault(names[ranking.judge, ranking.round], []).append(ranking.order)
    for name, orders in sorted(rounds.items()):
        items = sorted(orders[0])
        table = [[order.index(item) + 1 for order in orders] for item in items]
        yield name, kendalls_w(table)


def _consistency(scheme: Scheme, said: Sequence[Judgement], judged: Judged) -> Iterator[tuple[str, Estimate]]:
    """Pairs of a round with different stars that the ranking puts in that order, over all rounds of a judge."""
    question = next((question for question in scheme.questions if question.numeric), None)
    if question is None:
        return
    stars = {(each.judge, each.item): _number(each.answers.get(question.id), {}) for each in said}
    for judge in sorted({ranking.judge for ranking in judged.rankings}):
        orders = [ranking.order for ranking in judged.rankings if ranking.judge == judge]
        yield judge, _follows(judge, orders, stars)


def _follows(judge: str, orders: Sequence[Sequence[str]], stars: Mapping[tuple[str, str], float | None]) -> Estimate:
    right, pairs = 0.0, 0
    for order in orders:
        given = [stars.get((judge, item)) for item in order]
        numbers = np.array([np.nan if star is None else star for star in given])
        found = rank_consistency(numbers, np.arange(1, len(order) + 1))
        weight = int(np.count_nonzero(np.nan_to_num(np.subtract.outer(numbers, numbers))))
        if found.defined:
            right, pairs = right + found.value * weight, pairs + weight
    return Estimate(right / pairs) if pairs else undefined("no two items of a round have different stars")
