"""Summaries of one to three sentences, with two of people each."""

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.text.rouge import Summaries

WORDS = ("the", "a", "cat", "cats", "dog", "runs", "running", "city", "Cities", "2", "rain.", "old")


class Written(Case):
    def __init__(self, answers, references):
        self.answers, self.references = answers, references

    def __len__(self):
        return len(self.answers)

    def taken(self, order):
        return Written([self.answers[at] for at in order], [self.references[at] for at in order])

    def rows(self, metric):
        return metric.statistics(Summaries([str(at) for at in range(len(self))], self.answers, self.references))

    def awkward(self):
        self.answers[1], self.answers[2], self.references[3] = "", "\n\n", ["", "猫"]
        return self


def text(rng):
    return "\n".join(" ".join(rng.choice(WORDS, rng.integers(2, 9)).tolist()) for _ in range(rng.integers(1, 4)))


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    references = [[text(rng), text(rng)] for _ in range(12)]
    return Written([others[1] if perfect else text(rng) for others in references], references)


FAMILIES = {"summaries": sample}
