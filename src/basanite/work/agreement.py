"""How far the judges of a plain table agree: alpha, kappa, Kendall's W and intraclass correlations (R-5, S-20).

The table has a line for each judgement: who judged, what, and the value. All figures come from `metrics.judgement`;
one that cannot be told is undefined with its reason, and every other has an interval where there are items enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np

from basanite.kernel import SHARE, SIGNED_SHARE, Ends, settled
from basanite.metrics.judgement.agreement import (
    JudgeFigures,
    Weights,
    intraclass,
    judge_figures,
    kappa,
    kendalls_w,
    percent_agreement,
)
from basanite.metrics.judgement.alpha import Level, alpha_with_interval
from basanite.metrics.judgement.estimate import FEWEST_ITEMS, Estimate, Reals, undefined_estimate, with_interval
from basanite.work.answers import Judgement, by_item
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
SCALES: Final[tuple[Scale, ...]] = ("nominal", "ordinal", "interval", "ratio")
MOST_PAIRS: Final = 66
"""Pairs of judges whose kappas, and their mean, get intervals: twelve judges, as more would take minutes."""
FEW: Final = f"no interval: fewer than {FEWEST_ITEMS} items"
MANY: Final = f"no interval: more than {MOST_PAIRS} pairs of judges"
NO_NUMBERS: Final = "the values are not numbers, so they have no order"
COEFFICIENTS: Final = {
    "ICC(1)": "one_way",
    "ICC(1,k)": "one_way_mean",
    "ICC(A,1)": "agreement",
    "ICC(A,k)": "agreement_mean",
    "ICC(C,1)": "consistency",
    "ICC(C,k)": "consistency_mean",
}
AT_MOST_1: Final[Ends] = (-math.inf, 1.0)
RANGES: Final[Mapping[str, Ends]] = {
    **{f"alpha, {scale}": SIGNED_SHARE for scale in SCALES},
    "equal pairs": SHARE,
    "kappa, mean": SIGNED_SHARE,
    "Kendall's W": SHARE,
    "ICC(1)": SIGNED_SHARE,
    "ICC(1,k)": AT_MOST_1,
    "ICC(A,1)": AT_MOST_1,
    "ICC(A,k)": AT_MOST_1,
    "ICC(C,1)": SIGNED_SHARE,
    "ICC(C,k)": AT_MOST_1,
}
"""What each figure can be (S-26); coefficients of judges who contradict each other have no lower end."""


@dataclass(frozen=True)
class Ratings:
    """What judges said as numbers, items x judges; nan where a judge said nothing."""

    items: tuple[str, ...]
    judges: tuple[str, ...]
    table: Reals


@dataclass(frozen=True)
class Said:
    """One judgement of a table."""

    judge: str
    item: str
    value: str


@dataclass(frozen=True)
class Agreement:
    """Everything about one group of judges."""

    items: int
    judges: int
    judgements: int
    numeric: bool
    figures: Mapping[str, Estimate]
    """By name: alpha at each level, equal pairs, mean kappa, W, and the intraclass correlations."""
    pairs: Mapping[tuple[str, str], Estimate]
    """Kappa of every two judges."""
    by_judge: Mapping[str, JudgeFigures]
    """Bias, spread and distance of each judge, where values are numbers."""


def agreement_of(said: Sequence[Said], *, scale: Scale | None = None, draws: int = 1000, seed: int = 0) -> Agreement:
    """The agreement of judges; values are numbers if all of them can be read so, and unless `scale` is nominal.

    >>> rows = [Said(judge, item, value) for judge in "ab" for item, value in (("1", "R"), ("2", "N"))]
    >>> agreement_of(rows).figures["alpha, nominal"].value
    1.0
    """
    numbers = _numbers([one.value for one in said]) if scale != "nominal" else None
    ratings = _table(said, numbers)
    numeric = numbers is not None
    drawn = partial(with_interval, draws=draws, seed=seed)
    figures = dict(_figures(ratings.table, scale, drawn, draws, seed, numeric=numeric))
    return Agreement(
        len(ratings.items),
        len(ratings.judges),
        len(said),
        numeric,
        {name: _rounded_estimate(found, RANGES[name]) for name, found in figures.items()},
        {names: _rounded_estimate(found, SIGNED_SHARE) for names, found in _pairs(ratings, drawn, weighted=numeric)},
        dict(zip(ratings.judges, judge_figures(ratings.table), strict=True)) if numeric and said else {},
    )


def _numbers(values: Sequence[str]) -> list[float] | None:
    """The values as numbers, if all of them are finite ones."""
    try:
        found = [float(value) for value in values]
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None


def _table(said: Sequence[Said], numbers: Sequence[float] | None) -> Ratings:
    """Items x judges; values without an order count by their place in the alphabet, which only equality sees."""
    places = {value: float(at) for at, value in enumerate(sorted({one.value for one in said}))}
    given = numbers if numbers is not None else [places[one.value] for one in said]
    items, judges = sorted({one.item for one in said}), sorted({one.judge for one in said})
    row, column = ({name: at for at, name in enumerate(names)} for names in (items, judges))
    table = np.full((len(items), len(judges)), np.nan)
    for one, value in zip(said, given, strict=True):
        table[row[one.item], column[one.judge]] = value
    return Ratings(tuple(items), tuple(judges), table)


Drawn = Callable[..., Estimate]


def _figures(
    table: Reals, scale: Scale | None, drawn: Drawn, draws: int, seed: int, *, numeric: bool
) -> Iterator[tuple[str, Estimate]]:
    for level in _levels(table, scale, numeric=numeric):
        yield f"alpha, {level}", alpha_with_interval(table, level, draws=draws, seed=seed)
    yield "equal pairs", drawn(table, percent_agreement)
    kappas = partial(_mean_kappa, weights=_weights(numeric=numeric))
    many = math.comb(table.shape[1], 2) > MOST_PAIRS
    yield "kappa, mean", _without_interval(kappas(table)) if many else drawn(table, kappas)
    yield "Kendall's W", drawn(table, kendalls_w) if numeric else undefined_estimate(NO_NUMBERS)
    for name, part in COEFFICIENTS.items():
        yield name, drawn(table, partial(_coefficient, part=part)) if numeric else undefined_estimate(NO_NUMBERS)


def _levels(table: Reals, scale: Scale | None, *, numeric: bool) -> tuple[Level, ...]:
    """The level that was asked for; else all that the values allow: ratios are of numbers above 0 alone."""
    if scale is not None:
        return (scale,)
    if not numeric:
        return ("nominal",)
    return SCALES if np.nanmin(table, initial=np.inf) > 0 else SCALES[:3]


def _coefficient(table: Reals, part: str) -> Estimate:
    found: Estimate = getattr(intraclass(table), part)
    return found


def _weights(*, numeric: bool) -> Weights:
    """Steps count by their square where values have an order."""
    return "quadratic" if numeric else "none"


def _pairs(ratings: Ratings, drawn: Drawn, *, weighted: bool) -> Iterator[tuple[tuple[str, str], Estimate]]:
    """Kappa of every two judges over the items that both judged."""
    measure = partial(_kappa, weights=_weights(numeric=weighted))
    names = list(combinations(range(len(ratings.judges)), 2))
    for one, other in names:
        both = ratings.table[:, [one, other]]
        shared = both[~np.isnan(both).any(axis=1)]
        found = drawn(shared, measure) if len(names) <= MOST_PAIRS else _without_interval(measure(shared))
        yield (ratings.judges[one], ratings.judges[other]), found


def _kappa(table: Reals, weights: Weights) -> Estimate:
    return kappa(table[:, 0], table[:, 1], weights) if len(table) else undefined_estimate("the judges share no item")


def _mean_kappa(table: Reals, weights: Weights) -> Estimate:
    """The mean over the pairs of judges that have one."""
    pairs = combinations(range(table.shape[1]), 2)
    found = [kappa(table[:, one], table[:, other], weights).value for one, other in pairs]
    known = [value for value in found if not math.isnan(value)]
    return Estimate(float(np.mean(known))) if known else undefined_estimate("no two judges have a kappa")


def _without_interval(found: Estimate) -> Estimate:
    return replace(found, reason=found.reason or MANY)


def _rounded_estimate(found: Estimate, ends: Ends) -> Estimate:
    """A figure without rounding noise, which says why it has no interval."""
    low, high = settled(found.low, ends), settled(found.high, ends)
    reason = FEW if found.is_defined and found.low is None and not found.reason else found.reason
    return Estimate(settled(found.value, ends), reason, low, high)


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
        question.id: distance(question, [each.answers.get(question.id) for each in given])
        for question in comparable_questions(scheme)
    }
    disputed = tuple(name for name, value in apart.items() if value > 0)
    return Dispute(item, max(apart.values(), default=0.0), disputed, tuple(given))


def comparable_questions(scheme: Scheme) -> tuple[Question, ...]:
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
        # 1 less the overlap of characters of one severity and category; two that mark nothing agree
        mine, theirs = _labelled_characters(one), _labelled_characters(other)
        either = mine | theirs
        return 1 - len(mine & theirs) / len(either) if either else 0.0
    return float(one != other)


def _labelled_characters(spans: Sequence[Any]) -> set[tuple[int, str, str]]:
    return {
        (at, str(span.get("severity", "")), str(span.get("category", "")))
        for span in spans
        for at in range(span["start"], span["end"])
    }
