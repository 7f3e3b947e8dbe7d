"""Queries over 100 documents, with decisions, judged summaries, or one domain."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from basanite.kernel import Metric
from basanite.metrics.retrieval import identification, query_value, thresholds
from simulators.population import POPULATION, Population, populations

BETA = 40.0


def simulate_detection(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Queries over 100 documents: some without relevant ones, hard and easy, each with a level of noise of its own."""
    relevant = generator.random((POPULATION, 100)) < generator.choice([0.0, 0.01, 0.03, 0.1], POPULATION)[:, None]
    quality = generator.normal(3.4, 1.0, POPULATION)
    blocks = [_detections(relevant, quality, generator) for _ in range(2)]
    return [
        Population(bound, *(bound.statistics(block, **extra) for block in blocks))
        for bound, extra in map(partial(_bound, blocks[0]), metrics)
    ]


def _detections(relevant: Any, quality: Any, generator: np.random.Generator) -> query_value.Detections:
    noise = generator.normal(0, 1, relevant.shape) + generator.normal(0, 0.4, len(relevant))[:, None]
    score = 1 / (1 + np.exp(2.5 - quality[:, None] * relevant - noise))
    whole = np.round(score * thresholds.SCALE).astype(np.int32)
    return query_value.Detections(
        [str(at) for at in range(len(relevant))], relevant, whole >= 0.6 * thresholds.SCALE, whole
    )


def _bound(block: query_value.Detections, metric: Metric) -> tuple[Metric, dict[str, Any]]:
    """The metric with its settings, and what its statistics ask for; thresholds are those of the population."""
    grid = thresholds.score_grid(np.sort(block.score[block.relevant]), 60)
    has = block.relevant.any(axis=1).mean()
    known = {
        "beta": BETA,
        "grid": grid,
        "balance": 1 / has,
        "shift": 0.0,
        "thresholds": np.full(len(block.units), _best(block)),
    }
    asked = inspect.signature(metric.statistics).parameters
    return metric.bind(**known), {name: value for name, value in known.items() if name in asked}


def _best(block: query_value.Detections) -> int:
    histogram = thresholds.Histogram()
    for truth, score in zip(block.relevant, block.score, strict=True):
        histogram.add(thresholds.Ranked.of(truth, score))
    return thresholds.best_threshold(histogram, beta=BETA)


def simulate_end_to_end(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """The same queries, each returned pair with the share of five judges who found its summary relevant."""
    relevant = generator.random((POPULATION, 100)) < generator.choice([0.0, 0.01, 0.03, 0.1], POPULATION)[:, None]
    quality = generator.normal(3.4, 1.0, POPULATION)
    blocks = []
    for _ in range(2):
        found = query_value.Returned.of(_detections(relevant, quality, generator))
        share = generator.binomial(5, np.where(found.relevant, 0.8, 0.3)) / 5
        blocks.append(query_value.JudgedDetections([str(at) for at in range(POPULATION)], found, share))
    bound = [metric.bind(beta=BETA) for metric in metrics]
    return populations(bound, blocks)


def simulate_identification(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Documents of one domain in four; the truth of a count is its share of the campaign's documents."""
    relevant = generator.random((POPULATION, 1)) < 0.25
    sure = generator.random((POPULATION, 1))
    blocks = [
        query_value.Detections((), relevant, generator.random(relevant.shape) < np.where(relevant, sure, sure / 4))
        for _ in range(2)
    ]
    rows = [identification.statistics(block) for block in blocks]
    return [Population(metric, *rows, counts=metric in identification.COUNTS) for metric in metrics]


SIMULATORS = {
    "detection": simulate_detection,
    "end_to_end": simulate_end_to_end,
    "identification": simulate_identification,
}
