"""Rankings of 60 documents, confidences for five classes, five ratings, and texts that were judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from basanite.kernel import Metric
from basanite.metrics.ratings import RMSE, Rated
from basanite.metrics.relevance import Judged
from basanite.metrics.repeats import TrialsOfItems
from basanite.metrics.retrieval.average_precision import AP, AP11, Confidences
from basanite.metrics.retrieval.ranking import dense_rows
from simulators.population import POPULATION, Population, populations

LEVELS = (0.0, 0.03, 0.1, 0.3)
SHARES = np.array([0.1, 0.15, 0.2, 0.3, 0.4])


def simulate_ranking(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Queries over 60 documents of grades 0 to 3, some without relevant ones, a fifth of all not judged."""
    shape = (POPULATION, 60)
    relevant = generator.random(shape) < generator.choice(LEVELS, POPULATION)[:, None]
    grades = relevant * generator.integers(1, 4, shape)
    known = np.where(generator.random(shape) < 0.2, -1, grades)
    quality = generator.normal(1.0, 0.4, (POPULATION, 1))
    scores = [quality * grades + generator.normal(0, 1, shape) for _ in range(2)]
    tables = [dense_rows(score, known) for score in scores]
    return [Population(metric, *tables) for metric in metrics]


def simulate_labels(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Instances with five classes of which some are rare; of one class, the most frequent stands for all."""
    positive = generator.random((POPULATION, len(SHARES))) < SHARES
    sure = generator.normal(1.2, 0.5, (POPULATION, 1))
    confidences = [sure * positive + generator.normal(0, 1, positive.shape) for _ in range(2)]

    def rows(metric: Metric, confidence: Any) -> Any:
        kept = slice(-1, None) if metric in (AP, AP11) else slice(None)
        return metric.statistics(Confidences((), positive[:, kept], confidence[:, kept]))

    return [Population(metric, *(rows(metric, one) for one in confidences)) for metric in metrics]


def simulate_ratings(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Items with five ratings of 1 to 5, errors larger for some items, predictions clipped to the scale."""
    truth = np.clip(np.round(generator.normal(3.6, 1.1, (POPULATION, 5))), 1, 5)
    spread = generator.gamma(4, 0.2, (POPULATION, 1))
    predicted = [np.clip(truth + spread * generator.normal(0, 1, truth.shape), 1, 5) for _ in range(2)]

    def rows(metric: Metric, given: Any) -> Any:
        kept = slice(0, 1) if metric is RMSE else slice(None)
        return metric.statistics(Rated((), truth[:, kept], given[:, kept]))

    return [Population(metric, *(rows(metric, one) for one in predicted)) for metric in metrics]


def simulate_relevance(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Items judged by three people, and a likeness that has something to do with it."""
    true = generator.beta(1.2, 1.0, POPULATION)
    blocks = []
    for _ in range(2):
        judged = generator.binomial(3, true) / 3
        auto = np.clip(0.5 * true + generator.normal(0.2, 0.15, POPULATION), 0, 1)
        blocks.append(Judged((), judged, auto))
    return populations(metrics, blocks)


def simulate_trials(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Items with four trials each, easy and hard, cheap and dear."""
    chance, item = generator.beta(0.8, 0.6, POPULATION), np.repeat(np.arange(POPULATION), 4)
    blocks = []
    for _ in range(2):
        score = (generator.random((POPULATION, 4)) < chance[:, None]).astype(float).ravel()
        cost = np.exp(np.repeat(1 - chance, 4) + generator.normal(0, 0.5, len(score)))
        failed = {
            name: (generator.random(len(score)) < mean).astype(float)
            for name, mean in (("refusal", 0.2), ("error", 0.15))
        }
        measures = {"cost": cost, "latency": 10 * cost, "tokens": np.rint(1000 * cost), **failed}
        blocks.append(TrialsOfItems(range(POPULATION), item, score, score >= 1, measures))
    return populations(metrics, blocks)


SIMULATORS = {
    "ranking": simulate_ranking,
    "labels": simulate_labels,
    "ratings": simulate_ratings,
    "relevance": simulate_relevance,
    "trials": simulate_trials,
}
