"""Items that a judge graded and people checked: numbers whose means are the values."""

import numpy as np
from tests.metrics.families.case import Case

from basanite.metrics.calibration import JudgedItems


class Judged(Case):
    """The corrected number, the judge's and that of people alone for each item; nan where there is none."""

    def __init__(self, corrected, judge, people):
        self.columns = [corrected, judge, people]

    def __len__(self):
        return len(self.columns[0])

    def taken(self, order):
        return Judged(*(column[order] for column in self.columns))

    def rows(self, metric):
        return metric.statistics(JudgedItems((), *self.columns))

    def arrays(self):
        return self.columns

    def awkward(self):
        self.columns[0][3], self.columns[1][4], self.columns[2][5] = np.nan, np.nan, np.nan
        return self

    def without_carriers(self):
        return Judged(*(np.full_like(column, np.nan) for column in self.columns))


def sample(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    return Judged(*(np.ones(24) if perfect else rng.random(24) for _ in range(3)))


FAMILIES = {"judged": sample}
