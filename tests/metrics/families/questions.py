"""Questions: ten answers of people each, and answers of a system that are theirs, nearly theirs, or others."""

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.text.questions import Answers

WRONG = ("green", "blue dog", "two", "")
WORDS = ("yes", "no", "two", "a red dog", "The dog.", "blue sky", "on the table")


class Asked(Case):
    def __init__(self, given, accepted):
        self.given, self.accepted = given, accepted

    def __len__(self):
        return len(self.given)

    def taken(self, order):
        return Asked([self.given[at] for at in order], [self.accepted[at] for at in order])

    def rows(self, metric):
        return metric.statistics(Answers([str(at) for at in range(len(self))], self.given, self.accepted))

    def awkward(self):
        self.given[1], self.given[2], self.accepted[3] = "", "the", ["", "a"] * 5
        return self


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    accepted = [rng.choice(WORDS, 10).tolist() for _ in range(15)]
    if perfect:
        accepted = [[people[0]] * 10 for people in accepted]
    given = [people[0] if perfect or rng.random() < 0.6 else str(rng.choice(WRONG)) for people in accepted]
    return Asked(given, accepted)


FAMILIES = {"questions": sample}
