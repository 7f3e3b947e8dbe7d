"""Scores of trials: the mean, pass@k and pass^k, agreement between repeats, what a trial costs, and how many fail.

The unit is the item. An item may be tried several times, and its repeats are nested in it: they make its value more
exact and never count as units of their own, so an interval over 100 items with 10 repeats is one over 100 items.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import NOT_NEGATIVE, SHARE, Metric, Rows, column_ratio

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

CLUSTERED: Final = "Miller, Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations (2024)"
CHEN: Final = "Chen et al., Evaluating Large Language Models Trained on Code (2021), section 2.1"
YAO: Final = "Yao et al., tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains (2024)"
FLEISS: Final = "Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76 (1971)"
PASS_NAME: Final = re.compile(r"pass(?:@|_at_|\^|_hat_)([1-9][0-9]{0,4})", re.IGNORECASE)


@dataclass(frozen=True)
class TrialsOfItems:
    """The trials of one system: which item each belongs to, its score, and what else was measured of it."""

    units: Sequence[str]
    item: Numbers
    """The place of each trial's item among the units."""
    score: Floats
    """No number (nan) where a trial has no score; such trials count nowhere."""
    passed: NDArray[np.bool_]
    """Whether the score is good enough to pass."""
    measures: Mapping[str, Floats] = field(default_factory=dict)
    """By name (cost, latency, tokens, refusal, error): a number of each trial, nan where there is none."""

    @property
    def counts(self) -> tuple[Numbers, Numbers]:
        """The trials with a score, and those that passed, of each item."""
        there = ~np.isnan(self.score)
        return self._count(there), self._count(there & self.passed)

    def _count(self, chosen: NDArray[np.bool_]) -> Numbers:
        return np.bincount(self.item[chosen], minlength=len(self.units)).astype(np.int64)


def item_means(units: int, item: Numbers, numbers: Floats) -> Rows:
    """For each item the mean of its numbers, and 1 for having any."""
    there = ~np.isnan(numbers)
    counts = np.bincount(item[there], minlength=units)
    sums = np.bincount(item[there], weights=numbers[there], minlength=units)
    return np.stack([sums / np.maximum(counts, 1), counts > 0], axis=1).astype(np.float64)


def mean_rows(block: TrialsOfItems) -> Rows:
    """The mean score of each item over its repeats."""
    return item_means(len(block.units), block.item, block.score)


def measure_rows(block: TrialsOfItems, *, name: str) -> Rows:
    """The mean cost (or latency, or tokens) of a trial of each item."""
    numbers = block.measures.get(name)
    return item_means(len(block.units), block.item, np.full(len(block.item), np.nan) if numbers is None else numbers)


def pass_at_rows(block: TrialsOfItems, *, k: int) -> Rows:
    """For each item the chance that at least one of k of its trials passes; items with fewer trials are left out."""
    trials, passes = block.counts
    return _chances(trials, 1 - all_drawn(trials, trials - passes, k), k)


def pass_hat_rows(block: TrialsOfItems, *, k: int) -> Rows:
    """For each item the chance that all of k of its trials pass."""
    trials, passes = block.counts
    return _chances(trials, all_drawn(trials, passes, k), k)


def _chances(trials: Numbers, chances: Floats, k: int) -> Rows:
    there = trials >= k
    return np.stack([np.where(there, chances, 0.0), there], axis=1).astype(np.float64)


def all_drawn(trials: Numbers, marked: Numbers, k: int) -> Floats:
    """The chance that k trials of an item, drawn without replacement, are all among the marked ones.

    >>> all_drawn(np.array([5, 5, 2]), np.array([4, 2, 2]), 3).tolist()
    [0.4, 0.0, 0.0]
    """
    chance = np.where(marked >= k, 1.0, 0.0)
    for drawn in range(k):
        chance = chance * np.where(chance > 0, (marked - drawn) / np.maximum(trials - drawn, 1), 0.0)
    return chance


def agreement_rows(block: TrialsOfItems) -> Rows:
    """For each item with several repeats the share of their pairs that have the same score."""
    there = ~np.isnan(block.score)
    item, size = block.item[there], len(block.units)
    trials = np.bincount(item, minlength=size)
    kinds, codes = np.unique(block.score[there], return_inverse=True)
    same = np.unique(item * max(len(kinds), 1) + codes, return_counts=True)
    pairs = np.bincount(same[0] // max(len(kinds), 1), weights=same[1] * (same[1] - 1.0), minlength=size)
    several = trials > 1
    share = np.where(several, pairs / np.maximum(trials * (trials - 1.0), 1), 0.0)
    return np.stack([share, several], axis=1).astype(np.float64)


OF_ITEMS: Final = partial(column_ratio, top=0, bottom=1)

MEAN: Final = Metric(
    name="mean",
    title="Mean score",
    summary="Mean over items of the mean score of an item's repeats",
    citation=CLUSTERED,
    family="trials",
    statistics=mean_rows,
    reduce=OF_ITEMS,
    range=SHARE,
    columns=("score", "items"),
    unit="item",
    linear=True,
    proportion=True,
    interval="wilson",
    carrier="items",
)


def pass_metric(k: int, *, every: bool = False) -> Metric:
    """The chance that one of k trials passes (pass@k), or that all of them do (pass^k), without bias."""
    words = "all of {k} trials of an item pass" if every else "at least one of {k} trials of an item passes"
    return Metric(
        name=f"pass_{'hat' if every else 'at'}_{k}",
        title=f"Pass{'^' if every else '@'}{k}",
        summary=f"Chance that {words.format(k=k)}, estimated without bias from all its repeats",
        citation=YAO if every else CHEN,
        family="trials",
        statistics=partial(pass_hat_rows if every else pass_at_rows, k=k),
        reduce=OF_ITEMS,
        range=SHARE,
        columns=("chance", "items"),
        unit="item",
        linear=True,
        proportion=True,
        interval="wilson",
        carrier="items",
    )


def named_pass_metric(name: str) -> Metric | None:
    """The metric of a name like pass@5 or pass^5, which may be written pass_at_5 and pass_hat_5.

    >>> named_pass_metric("pass^3").name, named_pass_metric("pass@0")
    ('pass_hat_3', None)
    """
    found = PASS_NAME.fullmatch(name)
    if found is None:
        return None
    every = "^" in name or "hat" in name.lower()
    k = int(found.group(1))
    return PASS_AT_1 if k == 1 and not every else pass_metric(k, every=every)


PASS_AT_1: Final = pass_metric(1)

AGREEMENT: Final = Metric(
    name="agreement",
    title="Agreement of repeats",
    summary="Chance that two repeats of an item have the same score, over items with several repeats",
    citation=FLEISS,
    family="trials",
    statistics=agreement_rows,
    reduce=OF_ITEMS,
    range=SHARE,
    columns=("agreement", "items"),
    unit="item",
    linear=True,
    proportion=True,
    interval="wilson",
    carrier="items",
)


def _measure(name: str, title: str, summary: str) -> Metric:
    return Metric(
        name=name,
        title=title,
        summary=summary,
        citation=CLUSTERED,
        family="trials",
        statistics=partial(measure_rows, name=name),
        reduce=OF_ITEMS,
        range=NOT_NEGATIVE,
        best="low",
        columns=(name, "items"),
        unit="item",
        linear=True,
        carrier="items",
    )


COST: Final = _measure("cost", "Cost", "Mean cost of one trial of an item, in the currency of the file")
LATENCY: Final = _measure("latency", "Latency", "Mean time of one trial of an item, in seconds")
TOKENS: Final = _measure("tokens", "Tokens", "Mean number of tokens that one trial of an item used")


def _flag(name: str, title: str, summary: str) -> Metric:
    return replace(_measure(name, title, summary), range=SHARE, proportion=True, interval="wilson")


REFUSAL: Final = _flag("refusal", "Refusals", "Share of an item's trials that the system refused to answer")
ERROR: Final = _flag("error", "Errors", "Share of an item's trials that ended in an error and have no answer")
MEASURES: Final = (COST, LATENCY, TOKENS, REFUSAL, ERROR)
METRICS: Final = (MEAN, PASS_AT_1, AGREEMENT, *MEASURES)
EXAMPLES: Final = "pass@5, pass^5"
