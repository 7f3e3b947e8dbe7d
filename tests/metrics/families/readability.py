"""Readability: passages rated by experts, novices and a machine."""

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.judgement.readability import Readings, gold_of


class Passages(Case):
    """Ratings of passages x judges, and the machine's."""

    def __init__(self, experts, novices, machine):
        self.experts, self.novices, self.machine = experts, novices, machine

    def __len__(self):
        return len(self.machine)

    def taken(self, order):
        return Passages(self.experts[order], self.novices[order], self.machine[order])

    def rows(self, metric):
        return metric.statistics(Readings((), self.experts, self.novices, self.machine))

    def arrays(self):
        return [self.experts, self.novices, self.machine]

    def awkward(self):
        self.experts[2], self.novices[3], self.machine[4] = np.nan, np.nan, np.nan
        self.experts[5, 1:] = np.nan
        return self

    def without_carriers(self):
        return Passages(np.full_like(self.experts, np.nan), self.novices, self.machine)

    def best(self, metric):
        # The best of the first two depends on how far novices and experts lie apart.
        return super().best(metric) if metric.name == "correlation" else None


def readability(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    true = rng.normal(3, 1, 30)
    experts = np.clip(np.rint(true[:, None] + rng.normal(0, 0.6, (30, 4))), 1, 5)
    novices = np.clip(np.rint(true[:, None] + rng.normal(0, 1.0, (30, 5))), 1, 5)
    machine = gold_of(experts).mean if perfect else np.clip(true + rng.normal(0, 1.2, 30), 1, 5)
    return Passages(experts, novices, machine)


FAMILIES = {"readability": readability}
