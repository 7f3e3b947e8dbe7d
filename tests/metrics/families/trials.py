"""Trials of items: scores of several repeats each, with cost and latency."""

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.repeats import TrialsOfItems


class Trials(Case):
    """Scores, costs and times of items x repeats; nan where there is none."""

    def __init__(self, scores, measures):
        self.scores, self.measures = scores, measures

    def __len__(self):
        return len(self.scores)

    def taken(self, order):
        return Trials(self.scores[order], self.measures[order])

    def rows(self, metric):
        items, repeats = self.scores.shape
        item, score = np.repeat(np.arange(items), repeats), self.scores.ravel()
        measures = dict.fromkeys(("cost", "latency", "tokens"), self.measures.ravel())
        measures |= dict.fromkeys(("error", "refusal"), np.round(self.measures.ravel()))
        return metric.statistics(TrialsOfItems([str(at) for at in range(items)], item, score, score >= 1, measures))

    def arrays(self):
        return [self.scores, self.measures]

    def awkward(self):
        self.scores[3], self.measures[4, 1:] = np.nan, np.nan
        return self

    def without_carriers(self):
        return Trials(np.full_like(self.scores, np.nan), np.full_like(self.measures, np.nan))


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    scores = np.ones((24, 4)) if perfect else rng.integers(0, 3, (24, 4)) / 2
    return Trials(scores, np.zeros((24, 4)) if perfect else rng.random((24, 4)))


FAMILIES = {"trials": sample}
