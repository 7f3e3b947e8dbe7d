"""Translation judged by people: errors with severities (MQM), ratings of 0 to 100 (DA), and both together (ESA) (R-29).

All functions are pure: a judgement is a number for one segment of one system by one judge, and a system's score is the
mean over its segments of the mean over their judges. Judges and documents are random factors: intervals draw both.

M. Freitag and others, Experts, errors, and context, TACL 9 (2021); Y. Graham and others, Continuous measurement scales
in human evaluation of machine translation, LAW (2013); T. Kocmi and others, Error span annotation, WMT (2024).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError
from basanite.kernel import ratio, source_of
from basanite.metrics.judgement.crossed import drawn_weights
from basanite.metrics.judgement.estimate import Estimate, Reals, estimate_with_interval

Numbers = NDArray[np.int64]
MQM_WEIGHTS: Mapping[str, float] = MappingProxyType({"neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 10.0})
"""What an error of each severity costs."""
NON_TRANSLATION, PUNCTUATION = 25.0, 0.1
"""A segment that translates nothing costs this at once; a minor slip of punctuation costs less than others."""
MOST = 25.0
"""No segment costs more than one that translates nothing."""
DRAWS_AT_A_TIME = 128


@dataclass(frozen=True)
class Error:
    """One marked error: its severity and its category, such as `fluency/punctuation`."""

    severity: str
    category: str = ""


@dataclass(frozen=True)
class Judgements:
    """Numbers given to segments, each with its system, document and judge, all by number."""

    score: Reals
    system: Numbers
    segment: Numbers
    document: Numbers
    judge: Numbers


def mqm_score(errors: Iterable[Error], *, weights: Mapping[str, float] = MQM_WEIGHTS) -> float:
    """What the errors of one segment cost: 0 is faultless, and nothing costs more than 25.

    >>> mqm_score([Error("major", "accuracy/omission"), Error("minor", "fluency/punctuation")])
    5.1
    """
    return min(MOST, sum(_cost(error, weights) for error in errors))


def _cost(error: Error, weights: Mapping[str, float]) -> float:
    severity, category = error.severity.casefold(), error.category.casefold()
    if "non-translation" in category:
        return NON_TRANSLATION
    if severity not in weights:
        known = ", ".join(weights)
        raise SettingError(
            f"No severity is called {error.severity!r}: use one of {known}, or give weights of your own."
        )
    return PUNCTUATION if severity == "minor" and category.endswith("punctuation") else weights[severity]


def standard_scores(score: ArrayLike, judge: ArrayLike) -> Reals:
    """Scores as standard deviations from their judge's own mean (DA); 0 throughout for a judge who never varies.

    >>> standard_scores([10, 20, 70, 90], [0, 0, 1, 1]).tolist()
    [-1.0, 1.0, -1.0, 1.0]
    """
    given, who = np.asarray(score, np.float64), np.unique(np.asarray(judge), return_inverse=True)[1]
    size = np.bincount(who)
    mean = np.bincount(who, given) / size
    apart = given - mean[who]
    spread = np.sqrt(np.bincount(who, apart**2) / size)
    return np.asarray(apart / np.where(spread > 1e-12, spread, 1.0)[who])


def system_scores(given: Judgements) -> Reals:
    """The score of each system: the mean over its segments of the mean over their judges; nan without any."""
    return np.asarray(_scores(given, np.ones((1, len(given.score))), np.ones((1, len(given.score))))[0])


def system_intervals(
    given: Judgements, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[Estimate, ...]:
    """The scores with intervals: whole documents and whole judges are drawn, as both are random factors."""
    documents, judges = (np.unique(column, return_inverse=True)[1] for column in (given.document, given.judge))
    source, found = source_of(seed, "documents and judges"), []
    for start in range(0, draws, DRAWS_AT_A_TIME):
        count = min(DRAWS_AT_A_TIME, draws - start)
        kept = drawn_weights(int(documents.max()) + 1, draws=count, source=source)[:, documents]
        found.append(_scores(given, kept, drawn_weights(int(judges.max()) + 1, draws=count, source=source)[:, judges]))
    drawn = np.concatenate(found)
    values = system_scores(given)
    return tuple(
        estimate_with_interval(Estimate(float(value)), drawn[:, at], level=level) for at, value in enumerate(values)
    )


def _scores(given: Judgements, of_documents: Reals, of_judges: Reals) -> Reals:
    """`[draws, systems]` for weights of each judgement's document and of its judge."""
    systems = int(given.system.max()) + 1
    place = np.unique(given.segment * systems + given.system, return_inverse=True, return_index=True)
    first, cell = place[1], place[2]
    total = _sum_by_place(of_judges * given.score, cell, len(first))
    people = _sum_by_place(of_judges, cell, len(first))
    judged = people > 0
    mean = np.where(judged, total / np.where(judged, people, 1), 0)
    weight = of_documents[:, first] * judged
    return ratio(
        _sum_by_place(weight * mean, given.system[first], systems), _sum_by_place(weight, given.system[first], systems)
    )


def _sum_by_place(values: Reals, place: Numbers, size: int) -> Reals:
    """Sums over columns by place, for every draw."""
    draws = len(values)
    flat = (np.arange(draws)[:, None] * size + place).ravel()
    return np.bincount(flat, values.ravel(), draws * size).reshape(draws, size).astype(np.float64)
