"""Ranking, labels, ratings and relevance: queries over documents, or items with numbers."""

from types import MappingProxyType

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.ratings import Rated
from basanite.metrics.relevance import Judged
from basanite.metrics.retrieval.average_precision import Confidences
from basanite.metrics.retrieval.ranking import dense_queries


class Numbers(Case):
    """Two arrays of the same units, and how they make a block."""

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __len__(self):
        return len(self.first)

    def taken(self, order):
        return type(self)(self.first[order], self.second[order])

    def rows(self, metric):
        return metric.statistics(self.block())

    def arrays(self):
        return [self.first, self.second]


class Rankings(Numbers):
    """Scores and grades of queries x documents."""

    settings = MappingProxyType({"without_relevant": "zero"})

    def block(self):
        return dense_queries(self.first, self.second)

    def awkward(self):
        self.second[5] = -1
        self.second[6], self.first[7] = 3, 0.5
        return self

    def without_carriers(self):
        return Rankings(self.first[:, :0], self.second[:, :0])

    def best(self, metric):
        # Inferred AP adds a little to its counts, so that the best there is lies just below 1.
        return None if metric.name == "infap" else super().best(metric)


class Labels(Numbers):
    """Labels and confidences of instances x classes."""

    def block(self):
        return Confidences((), self.first, self.second)

    def awkward(self):
        self.first[2], self.first[3] = True, False
        return self

    def without_carriers(self):
        return Labels(np.zeros_like(self.first), self.second)


class Ratings(Numbers):
    """True and predicted ratings of items x ratings."""

    def block(self):
        return Rated((), self.first, self.second)

    def awkward(self):
        self.first[4] = np.nan
        return self


class Relevance(Numbers):
    """Judged and automatic relevance of items."""

    def block(self):
        return Judged((), self.first, self.second)

    def awkward(self):
        self.first[4], self.second[5] = np.nan, np.nan
        return self

    def without_carriers(self):
        return Relevance(np.full(len(self), np.nan), np.full(len(self), np.nan))

    def best(self, metric):
        # Judges and words agree best where both vary, so neither mean is at its highest there.
        return super().best(metric) if metric.name == "correlation" else None


def rankings(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 4, (12, 40)) * (rng.random((12, 40)) < 0.4)
    grades[:, :10] = rng.integers(1, 4, (12, 10))
    scores = rng.random(grades.shape) + (grades if perfect else 0.2 * grades)
    return Rankings(scores, grades if perfect else np.where(rng.random(grades.shape) < 0.2, -1, grades))


def labels(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    positive = rng.random((30, 3)) < 0.3
    positive[:3] = np.eye(3, dtype=bool)
    return Labels(positive, rng.integers(0, 9, positive.shape) / 10 + (1 if perfect else 0.2) * positive)


def ratings(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, (20, 4)).astype(float)
    noise = 0 if perfect else rng.normal(0, 1, truth.shape)
    return Ratings(truth, truth + noise)


def relevance(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    judged = rng.integers(0, 4, 20) / 3
    if perfect:
        return Relevance(0.9 + judged / 10, 0.9 + judged / 10)
    return Relevance(judged, 0.4 * judged + rng.random(20) / 2)


FAMILIES = {"ranking": rankings, "labels": labels, "ratings": ratings, "relevance": relevance}
