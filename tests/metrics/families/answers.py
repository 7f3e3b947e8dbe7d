"""Reading: units are documents with what machine and human found there."""

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.answers import AnswerCounts


def is_ratio(metric):
    return metric.name in ("pr", "pr_f", "pr_i")


class Documents(Case):
    def __init__(self, counts, *, perfect=False):
        self.counts, self.perfect = counts, perfect

    def __len__(self):
        return len(self.counts)

    def taken(self, order):
        return Documents(self.counts[order])

    def rows(self, metric):
        counts = self.counts.copy()
        if self.perfect and is_ratio(metric):
            counts[:, 1, :, :2] *= 0.1  # the ratio is best where the machine is perfect and the human is not
        return metric.statistics(AnswerCounts(tuple(map(str, range(len(self)))), counts))

    def arrays(self):
        return [self.counts]

    def awkward(self):
        self.counts[5] = 0
        return self

    def best(self, metric):
        return 10.0 if is_ratio(metric) else super().best(metric)


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    counts = np.zeros((12, 2, 3, 4))
    gold = rng.integers(2, 8, (12, 1, 3))
    answers = np.broadcast_to(gold, (12, 2, 3)) if perfect else rng.integers(1, 9, (12, 2, 3))
    exact = answers if perfect else rng.binomial(np.minimum(answers, gold), 0.6)
    credit = exact if perfect else exact + (np.minimum(answers, gold) - exact) * rng.random((12, 2, 3)) * 0.9
    for place, part in enumerate((credit, exact, answers, np.broadcast_to(gold, (12, 2, 3)))):
        counts[..., place] = part
    return Documents(counts, perfect=perfect)


FAMILIES = {"reading": sample}
