"""Reading: documents with some gold answers, of which machine and human find some and add others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.kernel import Metric, Rows
from basanite.metrics.answers import AnswerCounts, document_rows
from simulators.population import POPULATION, Population


def simulate_reading(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Documents with two to eight facts and none to three inferences; some are harder than others for everybody."""
    gold = np.stack([generator.integers(2, 9, POPULATION), generator.integers(0, 4, POPULATION)], axis=1)
    ease = generator.beta(6, 3, (POPULATION, 1))
    human = _side(gold, 0.6 + 0.4 * ease, generator)
    systems = [_rows(_side(gold, ease, generator), human) for _ in range(2)]
    return [Population(metric, *systems) for metric in metrics]


def _side(gold: np.ndarray, ease: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Counts of one side: documents x kinds x (credit, exact, answers, gold)."""
    found = generator.binomial(gold, ease * np.array([1.0, 0.6]))
    partial = generator.binomial(found, 0.1)
    wrong = generator.poisson(0.8, gold.shape)
    kinds = np.stack([found - 0.3 * partial, found - partial, found + wrong, gold], axis=2)
    return np.concatenate([kinds.sum(axis=1, keepdims=True), kinds], axis=1)


def _rows(machine: np.ndarray, human: np.ndarray) -> Rows:
    counts = np.stack([machine, human], axis=1).astype(np.float64)
    return document_rows(AnswerCounts(tuple(map(str, range(len(counts)))), counts))


SIMULATORS = {"reading": simulate_reading}
