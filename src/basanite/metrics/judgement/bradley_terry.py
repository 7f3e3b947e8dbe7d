"""Bradley-Terry: strengths of systems from judgements of pairs, with ties by Davidson and a position effect (S-19).

A comparison shows one system first. With strengths s, a position effect g for the first and a tie parameter n,
first : second : tie have chances as exp(s1 + g) : exp(s2) : n exp((s1 + g + s2) / 2). The likelihood is concave, and
Newton's steps find its maximum, which exists only if every system can be reached from every other by wins and ties.
Where it cannot, the fit is refused, or held by a normal prior of a spread that must be named.

Controls are properties in which the two texts differ, such as their length: each adds its coefficient times the
difference to the first, as the position does, so that strengths are those of texts alike in them.

R. A. Bradley, M. E. Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952); R. R. Davidson, On
extending the Bradley-Terry model to accommodate ties, Journal of the American Statistical Association 65 (1970).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import BasaniteError
from basanite.kernel import source_of
from basanite.metrics.judgement.crossed import drawn_weights
from basanite.metrics.judgement.estimate import Estimate, Reals, estimate_with_interval

Numbers = NDArray[np.int64]
MOST_STEPS = 100
SETTLED, STEEP = 1e-12, 1e-6
FARTHEST = 12.0
"""An effect beyond this (odds of 160,000 to 1) is on its way to infinity: there is no maximum."""
FIRST, SECOND, TIE = 0, 1, 2


class UnconnectedError(BasaniteError):
    """The comparisons do not tie all systems together, so their strengths have no common scale."""


@dataclass(frozen=True)
class Comparisons:
    """Judgements of pairs: who was first and second, what was said (0 first, 1 second, 2 tie), of what and by whom."""

    first: Numbers
    second: Numbers
    outcome: Numbers
    systems: int
    item: Numbers
    judge: Numbers
    controls: Reals = field(default_factory=lambda: np.empty((0, 0)))
    """What the first text has more of than the second: a column for each property; empty for none."""

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class Strengths:
    """The fit: strengths with mean 0, the position effect, the tie parameter, and how it was held if it had to be."""

    strengths: Reals
    position: float
    tie: float
    log_likelihood: float
    controls: tuple[float, ...] = ()
    """What one more of each control adds to the strength of a text."""
    control_intervals: tuple[Estimate, ...] = ()
    regularised: str = ""
    """Says by what prior the fit was held; empty for plain maximum likelihood."""
    intervals: tuple[Estimate, ...] = field(default=())


def comparisons_of(
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    systems: int,
    item: ArrayLike = (),
    judge: ArrayLike = (),
    controls: ArrayLike = (),
) -> Comparisons:
    """Comparisons from numbers; without `item` or `judge` each comparison is an item, or all are one judge's."""
    one, other, said = (np.asarray(column, np.int64) for column in (first, second, outcome))
    what = np.asarray(item, np.int64) if np.size(item) else np.arange(len(one))
    who = np.asarray(judge, np.int64) if np.size(judge) else np.zeros(len(one), np.int64)
    more = np.asarray(controls, np.float64).reshape(len(one), -1) if np.size(controls) else np.empty((0, 0))
    return Comparisons(one, other, said, systems, what, who, more)


def fit(given: Comparisons, *, position: bool = True, prior: float | None = None) -> Strengths:
    """The strengths of all systems; `prior` is the standard deviation of the normal prior that may hold them.

    >>> found = fit(comparisons_of([0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], systems=2), position=False)
    >>> round(float(np.exp(found.strengths[0] - found.strengths[1])), 4)
    3.0
    """
    return _fit_strengths(given, np.ones(len(given)), position=position, prior=prior)


def with_intervals(
    given: Comparisons,
    *,
    draws: int = 200,
    seed: int = 0,
    level: float = 0.95,
    position: bool = True,
    prior: float | None = None,
) -> Strengths:
    """The fit with an interval for each strength: whole items and whole judges are drawn with replacement."""
    found = fit(given, position=position, prior=prior)
    drawn = np.array(list(_drawn_strengths(given, draws, seed, position=position, prior=prior)))
    values = [*found.strengths.tolist(), *found.controls]
    intervals = [estimate_with_interval(Estimate(value), drawn[:, at], level=level) for at, value in enumerate(values)]
    return replace(
        found, intervals=tuple(intervals[: given.systems]), control_intervals=tuple(intervals[given.systems :])
    )


def separate_groups(given: Comparisons, weights: ArrayLike | None = None) -> list[list[int]]:
    """The groups of systems that reach one another by wins and ties; one group means all is well.

    >>> separate_groups(comparisons_of([0, 1], [1, 2], [0, 0], systems=3))
    [[0], [1], [2]]
    """
    kept = np.ones(len(given), bool) if weights is None else np.asarray(weights) > 0
    reached = np.zeros((given.systems, given.systems), bool)
    wins, losses = kept & (given.outcome != SECOND), kept & (given.outcome != FIRST)
    reached[given.first[wins], given.second[wins]] = True
    reached[given.second[losses], given.first[losses]] = True
    np.fill_diagonal(reached, True)
    for _ in range(given.systems.bit_length()):  # each product doubles the length of the ways that are known
        reached = reached.astype(np.float64) @ reached > 0
    together = reached & reached.T
    return sorted(map(list, {tuple(np.flatnonzero(row).tolist()) for row in together}))


def circular_triads(given: Comparisons) -> int:
    """How many three systems beat one another in a circle, by the majority of each pair; even pairs beat nobody.

    >>> circular_triads(comparisons_of([0, 1, 2], [1, 2, 0], [0, 0, 0], systems=3))
    1
    """
    wins = np.zeros((given.systems, given.systems))
    np.add.at(wins, (given.first, given.second), given.outcome == FIRST)
    np.add.at(wins, (given.second, given.first), given.outcome == SECOND)
    beats = (wins > wins.T).astype(np.float64)
    return round(float(np.trace(beats @ beats @ beats)) / 3)


# --- the fit ---


@dataclass(frozen=True)
class _Pairs:
    """Comparisons by ordered pair, and what each parameter adds to the log chance of each of its three outcomes."""

    features: Reals
    counts: Reals
    penalty: Reals


def _fit_strengths(given: Comparisons, weights: Reals, *, position: bool, prior: float | None) -> Strengths:
    groups = separate_groups(given, weights)
    if len(groups) > 1 and prior is None:
        raise UnconnectedError(_why(groups))
    ties = bool(((given.outcome == TIE) & (weights > 0)).any())
    pairs = _pairs(given, weights, ties=ties, position=position, prior=prior)
    found, likelihood = _newton(pairs)
    strengths = np.concatenate([[0.0], found[: given.systems - 1]])
    rest: list[Any] = found[given.systems - 1 :].tolist()
    tie = math.exp(rest.pop()) if ties else 0.0
    effects = int(position)
    controls = tuple(rest[effects : effects + given.controls.shape[1]]) if given.controls.size else ()
    held = "" if prior is None else f"normal prior of standard deviation {prior:g} on strengths and effects"
    return Strengths(
        strengths - strengths.mean(), rest[0] if position else 0.0, tie, likelihood, controls, regularised=held
    )


def _why(groups: list[list[int]]) -> str:
    named = "; ".join(", ".join(map(str, group)) for group in groups[:5])
    return (
        f"The comparisons leave {len(groups)} groups of systems without wins both ways between them ({named}), so no "
        "strengths can be estimated. Judge more pairs across the groups, or name a prior, such as prior=1."
    )


def _pairs(given: Comparisons, weights: Reals, *, ties: bool, position: bool, prior: float | None) -> _Pairs:
    """Parameters: strengths of all but the first system, the position effect, controls, then the log of the tie's."""
    both = given.first * given.systems + given.second
    kinds = np.column_stack([both, given.controls]) if given.controls.size else both[:, None]
    rows, place = np.unique(kinds, axis=0, return_inverse=True)
    code, place = rows[:, 0].astype(np.int64), place.reshape(-1)
    counts = np.bincount(place * 3 + given.outcome, weights, len(code) * 3).reshape(-1, 3).astype(np.float64)
    one, other = np.eye(given.systems)[code // given.systems], np.eye(given.systems)[code % given.systems]
    if position:
        one, other = np.column_stack([one, np.ones(len(code))]), np.column_stack([other, np.zeros(len(code))])
    if given.controls.size:
        one, other = np.column_stack([one, rows[:, 1:]]), np.column_stack([other, np.zeros_like(rows[:, 1:])])
    features = np.stack([one, other, (one + other) / 2], axis=1)
    if ties:
        features = np.concatenate([features, np.broadcast_to(np.eye(3)[TIE][None, :, None], (len(code), 3, 1))], axis=2)
    return _Pairs(features[:, : 3 if ties else 2, 1:], counts[:, : 3 if ties else 2], _penalty(given, features, prior))


def _penalty(given: Comparisons, features: Reals, prior: float | None) -> Reals:
    """The prior's matrix: strengths about their mean, so that it is the same whichever system comes first."""
    size, free = features.shape[2] - 1, given.systems - 1
    penalty = np.zeros((size, size))
    if prior is not None:
        penalty[:] = np.eye(size) / prior**2
        penalty[:free, :free] -= 1 / given.systems / prior**2
    return penalty


def _newton(pairs: _Pairs) -> tuple[Reals, float]:
    """The maximum by Newton's steps, halved where they overshoot."""
    at = np.zeros(pairs.features.shape[2])
    value, slope, bend = _likelihood(pairs, at)
    for _ in range(MOST_STEPS):
        step = np.linalg.lstsq(bend, slope, rcond=None)[0]
        if abs(step @ slope) < SETTLED * (1 + abs(value)) or np.abs(at).max() > FARTHEST:
            break
        size = 1.0
        while size > 1e-6 and _likelihood(pairs, at + size * step)[0] < value:
            size /= 2
        at = at + size * step
        value, slope, bend = _likelihood(pairs, at)
    if np.abs(at).max() <= FARTHEST and abs(slope).max() < STEEP * (1 + pairs.counts.sum()):
        return at, value
    raise UnconnectedError(
        "The likelihood has no maximum: some strength, position or tie effect grows without end. Judge more pairs, "
        "leave out the position effect, or name a prior, such as prior=1."
    )


def _likelihood(pairs: _Pairs, at: Reals) -> tuple[float, Reals, Reals]:
    """The penalised log likelihood, its slope, and minus its matrix of second derivatives."""
    log_odds = pairs.features @ at
    top = log_odds.max(axis=1, keepdims=True)
    log_chance = log_odds - top - np.log(np.exp(log_odds - top).sum(axis=1, keepdims=True))
    chance, total = np.exp(log_chance), pairs.counts.sum(axis=1, keepdims=True)
    value = float((pairs.counts * log_chance).sum() - at @ pairs.penalty @ at / 2)
    slope = np.einsum("po,pok->k", pairs.counts - total * chance, pairs.features) - pairs.penalty @ at
    mean = np.einsum("po,pok->pk", chance, pairs.features)
    second = np.einsum("po,pok,pol->kl", total * chance, pairs.features, pairs.features)
    return value, slope, second - (mean * total).T @ mean + pairs.penalty


def _drawn_strengths(given: Comparisons, draws: int, seed: int, **options: Any) -> Iterator[Reals]:
    """Strengths in every draw of items and judges; nan where a draw does not tie the systems together."""
    items, judges = (np.unique(column, return_inverse=True)[1] for column in (given.item, given.judge))
    source = source_of(seed, "pairs")
    of_items = drawn_weights(int(items.max()) + 1, draws=draws, source=source)
    of_judges = drawn_weights(int(judges.max()) + 1, draws=draws, source=source)
    for item, judge in zip(of_items, of_judges, strict=True):
        try:
            found = _fit_strengths(given, item[items] * judge[judges], **options)
            yield np.append(found.strengths, found.controls)
        except UnconnectedError:
            yield np.full(given.systems + (given.controls.shape[1] if given.controls.size else 0), np.nan)
