"""A judge's answers about all items, corrected by people's about a drawn part: prediction-powered inference (L-6).

People judge a sample with known probabilities. The value is what the judge says of all items, times a factor, plus what
people say more than that on the sample. The factor is tuned to the smallest variance on other folds of the sample than
the one it is used in, and shrunk by as much of it as may be noise, so that a judge who knows nothing gets a factor near
0 and costs next to nothing. Every item
becomes one number, whose mean is the value and whose spread over items is that of the estimate: so the value, its
interval, clusters and differences are those of any mean on the kernel.

A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, Prediction-powered inference, Science 382 (2023);
A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++: Efficient prediction-powered inference (2023), arXiv:2311.01453;
T. Zrnic, E. J. Candès, Cross-prediction-powered inference, PNAS 121 (2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from basanite.kernel import SHARE, Ends, Metric, Rows, column_ratio, within

Reals = NDArray[np.float64]
Numbers = NDArray[np.int64]
FOLDS = 10
FEWEST_LABELS, FEWEST_CLUSTERS = 50, 30
"""Items, and clusters where items belong together, that people must have judged: below, coverage was not measured."""
FEWEST_IN_STRATUM = 5
NORMAL = 1.959964
"""The normal quantile of a 95 % interval, for which the spread makes up for few labels."""


@dataclass(frozen=True)
class HumanPart:
    """Which items people judged, and how those were drawn: at random inside each stratum."""

    labelled: NDArray[np.bool_]
    stratum: Numbers
    cluster: Numbers
    """Items of one cluster are alike; each item is one of its own unless there are clusters."""
    dice: Reals
    """A number for each item that depends on its name alone: folds are made by it, in whatever order items come."""

    @cached_property
    def sizes(self) -> tuple[Reals, Reals]:
        """How many items each stratum has, and how many of them people judged."""
        strata = int(self.stratum.max()) + 1
        part = np.bincount(self.stratum[self.labelled], minlength=strata)
        return np.bincount(self.stratum, minlength=strata).astype(np.float64), part.astype(np.float64)

    @cached_property
    def labelled_clusters(self) -> int:
        """How many clusters have an item that people judged."""
        return len(np.unique(self.cluster[self.labelled]))

    def without(self, items: NDArray[np.bool_]) -> HumanPart:
        """The same as if people had not judged some items."""
        return replace(self, labelled=self.labelled & ~items)

    def means(self, values: Reals) -> Reals:
        """The mean of the judged items of each stratum."""
        whole, part = self.sizes
        chosen = self.labelled
        sums = np.bincount(self.stratum[chosen], values[chosen], len(whole))
        return np.asarray(sums / np.maximum(part, 1), np.float64)

    def total_mean(self, values: Reals) -> float:
        """The mean over all items that the judged ones stand for."""
        whole, _ = self.sizes
        return float(whole @ self.means(values) / whole.sum())

    def pulls(self, values: Reals) -> Reals:
        """How far each item pulls that mean: the spread of the drawing inside strata, and of items among strata."""
        whole, part = self.sizes
        means = self.means(values)
        small = part / np.maximum(part - 1, 1)
        if self.labelled_clusters < self.labelled.sum():
            small = np.full(len(part), self.labelled_clusters / max(self.labelled_clusters - 1, 1))
        weight = (whole / np.maximum(part, 1) * small**0.5)[self.stratum]
        inside = np.where(self.labelled, weight * (values - means[self.stratum]), 0.0)
        among: Reals = means - float(whole @ means) / float(whole.sum())
        return np.asarray(inside + among[self.stratum], np.float64)


@dataclass(frozen=True)
class Calibrated:
    """A corrected value as one number for each item, whose mean it is."""

    items: Reals
    value: float
    factor: float
    """How far the judge is trusted: 0 is people alone, 1 is the judge's answer with its mean error taken off."""
    labels: int
    """Items that people judged."""


def why_too_few(part: HumanPart) -> str:
    """Why a sample is too small for a corrected value, with how many more are needed; empty where it is not."""
    clusters, items = part.labelled_clusters, int(part.labelled.sum())
    whole, sizes = part.sizes
    missing = np.minimum(FEWEST_IN_STRATUM, whole) - sizes
    if items < FEWEST_LABELS:
        return f"people judged {items} items; {FEWEST_LABELS} are needed: {FEWEST_LABELS - items} more"
    if clusters < FEWEST_CLUSTERS:
        more = FEWEST_CLUSTERS - clusters
        return f"people judged items of {clusters} clusters; {FEWEST_CLUSTERS} are needed: {more} more"
    if (missing > 0).any():
        more, few = int(missing[missing > 0].sum()), int((missing > 0).sum())
        return f"people judged too few items in {few} of {len(whole)} strata: {more} more are needed"
    return ""


def calibrated(judge: Reals, people: Reals, part: HumanPart, ends: Ends) -> Calibrated:
    """The judge's answers corrected by people's; what people did not judge may hold anything.

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(400)
    >>> judge = truth + 0.3  # the judge is lenient
    >>> part = HumanPart(np.arange(400) < 100, np.zeros(400, int), np.arange(400), rng.random(400))
    >>> found = calibrated(judge, truth, part, (0.0, 1.0))
    >>> round(float(judge.mean() - truth.mean()), 2), bool(abs(found.value - truth.mean()) < 0.005)
    (0.3, True)
    """
    people = np.where(part.labelled, people, 0.0)
    whole, _ = part.sizes
    centred = judge - (np.bincount(part.stratum, judge) / np.maximum(whole, 1))[part.stratum]
    fold = _folds(part)
    factors = np.array([_tuned_factor(judge, people, part.without(fold == at)) for at in range(fold.max() + 1)])
    rest = people - np.where(part.labelled, factors[np.maximum(fold, 0)] * centred, 0.0)
    factor = float(factors.mean())
    return _corrected_value(part.total_mean(rest), part.pulls(rest) + factor * centred, factor, part, ends)


def people_alone(people: Reals, part: HumanPart, ends: Ends) -> Calibrated:
    """The same without the judge."""
    people = np.where(part.labelled, people, 0.0)
    return _corrected_value(part.total_mean(people), part.pulls(people), 0.0, part, ends)


def _corrected_value(value: float, pulls: Reals, factor: float, part: HumanPart, ends: Ends) -> Calibrated:
    freedom = max(part.labelled_clusters - len(part.sizes[0]), 1)
    value, wider = within(value, ends), few_labels(freedom) / few_labels(max(len(np.unique(part.cluster)) - 1, 1))
    return Calibrated(value + wider * pulls, value, factor, int(part.labelled.sum()))


def few_labels(freedom: int) -> float:
    """How much wider Student's 95 % interval is than the normal one.

    The interval of a mean of items knows how many items there are, and not how few of them people judged.

    >>> round(few_labels(49), 4), round(few_labels(299), 4)
    (1.0253, 1.0041)
    """
    square = NORMAL**2
    first, second = (square + 1) / 4, ((5 * square + 16) * square + 3) / 96
    third = (((3 * square + 19) * square + 17) * square - 15) / 384
    return 1 + first / freedom + second / freedom**2 + third / freedom**3


def _tuned_factor(judge: Reals, people: Reals, part: HumanPart) -> float:
    """The factor of the smallest variance: one pull regressed on the other, by cluster, less what may be noise."""
    wanted = _by_cluster(part.pulls(people), part)
    offered = _by_cluster(part.pulls(judge) - (judge - judge.mean()), part)
    spread = float(offered @ offered)
    if spread <= 1e-18 * len(judge) * max(float(judge @ judge), 1e-300):
        return 0.0
    factor = float(wanted @ offered) / spread
    noise = float((((wanted - factor * offered) * offered) ** 2).sum()) / spread**2
    return factor * max(0.0, 1 - noise / factor**2) if factor else 0.0


def _by_cluster(pulls: Reals, part: HumanPart) -> Reals:
    return np.bincount(part.cluster, pulls).astype(np.float64)


def _folds(part: HumanPart) -> Numbers:
    """The fold of each item that people judged, by whole clusters and alike in all strata; -1 for the others."""
    chosen = np.flatnonzero(part.labelled)
    clusters, place = np.unique(part.cluster[chosen], return_inverse=True)
    dice, stratum = np.full(len(clusters), np.inf), np.zeros(len(clusters), np.int64)
    np.minimum.at(dice, place, part.dice[chosen])
    np.maximum.at(stratum, place, part.stratum[chosen])
    of_cluster = np.empty(len(clusters), np.int64)
    of_cluster[np.lexsort((dice, stratum))] = np.arange(len(clusters)) % min(FOLDS, len(clusters))
    fold = np.full(len(part.labelled), -1, np.int64)
    fold[chosen] = of_cluster[place]
    return fold


@dataclass(frozen=True)
class JudgedItems:
    """The items of one system as numbers, whose means are the values; nan where there is none."""

    units: Sequence[str]
    corrected: Reals
    """As `calibrated` gives them."""
    judge: Reals
    people: Reals
    """As `people_alone` gives them."""


COLUMNS = ("corrected", "has_corrected", "judge", "has_judge", "people", "has_people")


def rows(block: JudgedItems) -> Rows:
    """What each item contributes to the corrected value, to the judge's own mean and to that of people alone."""
    columns = [np.asarray(column, np.float64) for column in (block.corrected, block.judge, block.people)]
    known = [~np.isnan(column) for column in columns]
    pairs = zip(columns, known, strict=True)
    return np.column_stack([part for column, has in pairs for part in (np.where(has, column, 0.0), has)])


CORRECTED = Metric(
    name="corrected",
    title="Corrected value",
    summary="Mean of what people would say of all items: a judge's answers corrected by a sample that people judged",
    citation="Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, arXiv:2311.01453 (2023)",
    family="judged",
    statistics=rows,
    reduce=partial(column_ratio, top=0, bottom=1),
    range=SHARE,
    columns=COLUMNS,
    unit="item",
    linear=True,
    by_factor=False,
    carrier="has_corrected",
)
JUDGE_ALONE = replace(
    CORRECTED,
    name="judge_alone",
    title="Judge alone",
    summary="Mean of the judge's own answers, with whatever bias the judge has",
    citation="Zheng et al., Judging LLM-as-a-judge with MT-Bench and Chatbot Arena, NeurIPS (2023)",
    reduce=partial(column_ratio, top=2, bottom=3),
    by_factor=True,
    carrier="has_judge",
)
PEOPLE_ALONE = replace(
    CORRECTED,
    name="people_alone",
    title="People alone",
    summary="Mean over all items estimated from the sample that people judged, without the judge",
    citation="Cochran, Sampling Techniques, third edition, Wiley (1977), chapter 5",
    reduce=partial(column_ratio, top=4, bottom=5),
    carrier="has_people",
)
METRICS = (CORRECTED, JUDGE_ALONE, PEOPLE_ALONE)
