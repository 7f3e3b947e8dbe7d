"""Passages rated by six experts, ten novices of whom each has a bias, and two machines that err alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.kernel import Metric
from basanite.metrics.judgement.readability import Readings
from simulators.population import POPULATION, Population, populations


def simulate_readability(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Stars of both panels and numbers from the machines; novices are held fixed, as in breakdowns."""
    true = generator.normal(3.1, 1.0, (POPULATION, 1))
    experts = _stars(true + generator.normal(0, 0.6, (POPULATION, 6)))
    novices = _stars(true + generator.normal(0, 0.5, 10) + generator.normal(0, 0.9, (POPULATION, 10)))
    machines = [np.clip(true[:, 0] + generator.normal(0, 0.8, POPULATION), 1, 5) for _ in range(2)]
    blocks = [Readings((), experts, novices, machine) for machine in machines]
    return populations(metrics, blocks)


def _stars(feelings: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(feelings), 1, 5)


SIMULATORS = {"readability": simulate_readability}
