"""What a panel of so many queries and votes costs, and how precise the mean over queries will be.

Variances of three levels: between queries, between the items of a query, and between judges of one item. With Q
queries of N items and K votes each, the mean over queries has the variance (q + (i + j / K) / N) / Q: more votes help
with judges alone, more items with items and judges, and only more queries help with everything.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, median, variance

from basanite.errors import SettingError
from basanite.work.scheme import EVERYBODY, Scheme

LEAST_QUERIES = 2


@dataclass(frozen=True)
class Design:
    """So many queries, items of each, and votes on each item."""

    queries: int
    per_query: int
    votes: int

    @property
    def judgements(self) -> int:
        """Votes on real items."""
        return self.queries * self.per_query * self.votes


@dataclass(frozen=True)
class Spreads:
    """Standard deviations on the scale of the answer, and seconds that one judgment takes."""

    queries: float = 0.2
    """Of the true means of queries."""
    items: float = 0.3
    """Of true items inside a query."""
    judges: float = 0.3
    """Of single judgements of one item."""
    seconds: float = 30.0

    def half_width(self, design: Design, level: float = 0.95) -> float:
        """Half the width of the interval of the mean over queries.

        >>> round(Spreads(queries=0.2, items=0.3, judges=0.3).half_width(Design(25, 60, 3)), 3)
        0.08
        """
        within = (self.items**2 + self.judges**2 / design.votes) / design.per_query
        return NormalDist().inv_cdf((1 + level) / 2) * math.sqrt((self.queries**2 + within) / design.queries)


@dataclass(frozen=True)
class Effort:
    """What a design asks of people, and what it costs."""

    design: Design
    judges: int
    """The fewest that can do it under the scheme."""
    judgements: int
    """With hidden checks and training."""
    hours: float
    cost: float | None
    """With the platform's fee; None where the scheme pays nothing."""
    half_width: float
    majority: float | None = None
    """The probability that the majority is right, where the accuracy of one judge is known."""


@dataclass(frozen=True)
class Terms:
    """What the organiser knows beside the scheme."""

    spreads: Spreads
    fee: float = 0.0
    """The share of the pay that a platform takes on top."""
    hours_each: float = 0.0
    """The most hours that one judge works; 0 is any number."""
    accuracy: float | None = None


def effort_of(design: Design, scheme: Scheme, terms: Terms) -> Effort:
    """The people, hours, cost and precision of a design."""
    real = design.judgements
    checked = real + round(scheme.checks.share * real)
    seconds = terms.spreads.seconds
    judges = _judges_needed(design, scheme, checked * seconds / 3600, terms.hours_each)
    judgements = checked + judges * scheme.training.count
    hours = judgements * seconds / 3600
    pay = judgements * scheme.pay.per_item + hours * scheme.pay.per_hour
    cost = pay * (1 + terms.fee) if scheme.pay.is_paid else None
    majority = None if terms.accuracy is None else majority_is_right(terms.accuracy, design.votes)
    return Effort(design, judges, judgements, hours, cost, terms.spreads.half_width(design), majority)


def _judges_needed(design: Design, scheme: Scheme, hours: float, hours_each: float) -> int:
    """Each item has so many different judges, nobody sees too many items alike or works too long."""
    alike = design.per_query * design.votes / scheme.alike_at_most if "query" in scheme.keep_apart else 0
    worked = hours / hours_each if hours_each else 0
    return max(design.votes, math.ceil(alike), math.ceil(worked - 1e-9))


def majority_is_right(accuracy: float, votes: int) -> float:
    """The probability that most of the votes are right; a tie is decided by a coin.

    >>> round(majority_is_right(0.8, 3), 3), majority_is_right(0.8, 1)
    (0.896, 0.8)
    """
    chances = [
        math.comb(votes, right) * accuracy**right * (1 - accuracy) ** (votes - right) for right in range(votes + 1)
    ]
    return sum(chances[votes // 2 + 1 :]) + (chances[votes // 2] / 2 if votes % 2 == 0 else 0.0)


def votes_of(scheme: Scheme) -> int:
    """The votes on an item that a scheme asks for, of all its groups."""
    if EVERYBODY in scheme.per_group.values():
        raise SettingError("This scheme has every item judged by everybody. Give the votes of an item by --votes.")
    return sum(scheme.per_group.values())


@dataclass(frozen=True)
class PilotVote:
    """One judgement of a pilot."""

    query: str
    item: str
    value: float
    seconds: float


@dataclass(frozen=True)
class Pilot:
    """What the judgements of a pilot say: the spreads, and the accuracy of one judge where answers are of two kinds."""

    spreads: Spreads
    accuracy: float | None
    queries: int
    items: int
    votes: int


def pilot_of(votes: Sequence[PilotVote]) -> Pilot:
    """The spreads in a pilot, by the method of moments; a component below 0 becomes 0.

    Judges are those of items with two votes or more, items those of queries with two items or more.
    """
    of_items: dict[tuple[str, str], list[float]] = defaultdict(list)
    for vote in votes:
        of_items[vote.query, vote.item].append(vote.value)
    of_queries: dict[str, list[Sequence[float]]] = defaultdict(list)
    for (query, _), values in of_items.items():
        of_queries[query].append(values)
    if len(of_queries) < LEAST_QUERIES or all(len(values) < 2 for values in of_items.values()):
        raise SettingError("A pilot needs two queries or more, and items with two judgments or more.")
    judges = _inner_variance([list(values) for values in of_items.values()])
    items = _item_variance(of_queries, judges)
    queries = _query_variance(of_queries, judges, items)
    seconds = median(vote.seconds for vote in votes)
    spreads = Spreads(math.sqrt(queries), math.sqrt(items), math.sqrt(judges), seconds)
    return Pilot(spreads, _accuracy(of_items), len(of_queries), len(of_items), len(votes))


def _inner_variance(groups: Sequence[Sequence[float]]) -> float:
    """The variance inside groups of two or more; 0 without any."""
    several = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in several)
    return sum(variance(group) * (len(group) - 1) for group in several) / freedom if freedom else 0.0


def _judging_noise(items: Sequence[Sequence[float]], judges: float) -> float:
    """What judges add to the variance of an item's mean."""
    return judges * fmean(1 / len(values) for values in items)


def _item_variance(of_queries: Mapping[str, Sequence[Sequence[float]]], judges: float) -> float:
    several = [items for items in of_queries.values() if len(items) > 1]
    freedom = sum(len(items) - 1 for items in several)
    if not freedom:
        return 0.0
    between = _inner_variance([[fmean(values) for values in items] for items in several])
    noise = sum(_judging_noise(items, judges) * (len(items) - 1) for items in several) / freedom
    return max(between - noise, 0.0)


def _query_variance(of_queries: Mapping[str, Sequence[Sequence[float]]], judges: float, items: float) -> float:
    means = [fmean(fmean(values) for values in group) for group in of_queries.values()]
    noise = fmean((items + _judging_noise(group, judges)) / len(group) for group in of_queries.values())
    return max(variance(means) - noise, 0.0)


def _accuracy(of_items: Mapping[tuple[str, str], Sequence[float]]) -> float | None:
    """How often one judge is right, if all are alike and right and wrong are 0 and 1: from how often two agree."""
    if any(value not in (0.0, 1.0) for values in of_items.values() for value in values):
        return None
    pairs = agreeing = 0
    for values in of_items.values():
        counts = Counter(values)
        pairs += math.comb(len(values), 2)
        agreeing += sum(math.comb(count, 2) for count in counts.values())
    agreement = max(agreeing / pairs, 0.5)
    return (1 + math.sqrt(2 * agreement - 1)) / 2
