"""Captions: images with three references of a small vocabulary; document frequencies stay those of all twelve."""

import inspect

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.text.captions import Captions

WORDS = ("a", "the", "cat", "cats", "dog", "dogs", "sat", "sits", "on", "under", "mat", "two", "red", "running", "runs")


class Described(Case):
    """A block whose document frequencies do not change when images are taken from it."""

    def __init__(self, answers, references, background):
        self.answers, self.references, self.background = answers, references, background

    def __len__(self):
        return len(self.answers)

    def taken(self, order):
        return Described([self.answers[at] for at in order], [self.references[at] for at in order], self.background)

    def rows(self, metric):
        assert next(iter(inspect.signature(metric.statistics).parameters.values())).annotation == "Captions"
        units = [str(at) for at in range(len(self))]
        return metric.statistics(Captions(units, self.answers, self.references, self.background))

    def awkward(self):
        self.answers[2], self.references[3] = (), [(), ("cat",)]
        return self

    def best(self, metric):
        return 10.0 if metric.name in ("cider_d", "cider") else super().best(metric)


def sentence(rng):
    return tuple(rng.choice(WORDS, rng.integers(4, 10)).tolist())


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    references = [[sentence(rng)] * 3 if perfect else [sentence(rng) for _ in range(3)] for _ in range(12)]
    answers = [others[0] if perfect else sentence(rng) for others in references]
    return Described(answers, references, references)


FAMILIES = {"captions": sample}
