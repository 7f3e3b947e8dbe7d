"""Trees, log-probabilities and classes: made-up sentences and items, and what a system makes of them."""

from types import MappingProxyType

import numpy as np
from tests.metrics.families.case import Case

from basanite.formats.texts.trees import Names, read_trees
from basanite.metrics import classification
from basanite.metrics.text import perplexity
from basanite.metrics.text.parsing import Parses
from basanite.metrics.text.pruning import Rules, fitting, pruned
from basanite.synthetic.treebank import Parser, sentences

PARSER = Parser(raised=0.3, forgotten=0.1, mislabelled=0.2, mistagged=0.2, strayed=0.3)


class Sentences(Case):
    """Trees as text; the third answer is one of another sentence."""

    def __init__(self, gold, answers, leave_out=False):
        self.gold, self.answers, self.leave_out = gold, answers, leave_out

    def __len__(self):
        return len(self.gold)

    def taken(self, order):
        return Sentences([self.gold[at] for at in order], [self.answers[at] for at in order], self.leave_out)

    def rows(self, metric):
        names = Names()
        ours, theirs = (pruned(read_trees(side, names), Rules()) for side in (self.gold, self.answers))
        units = [str(at) for at in range(len(self))]
        return metric.statistics(Parses(units, ours, theirs, fitting(ours, theirs), self.leave_out))

    def awkward(self):
        return Sentences([*self.gold, "(TOP (. .))", self.gold[0]], [*self.answers, "(TOP (. .))", ""])

    def without_carriers(self):
        return Sentences(self.gold, [""] * len(self.gold), leave_out=True)


def trees(seed, *, perfect=False):
    gold, answers = sentences(seed, 12, parser=PARSER)
    if perfect:
        return Sentences(gold, gold)
    return Sentences(gold, [*answers[:2], answers[3], *answers[3:]])


class Model(Case):
    """Log-probabilities of tokens."""

    def __init__(self, sums, tokens, zeros):
        self.columns = [np.array(column, dtype=float) for column in (sums, tokens, zeros)]

    def __len__(self):
        return len(self.columns[0])

    def taken(self, order):
        return Model(*(column[order] for column in self.columns))

    def rows(self, metric):
        return metric.statistics(perplexity.Likelihoods([str(at) for at in range(len(self))], *self.columns))

    def arrays(self):
        return self.columns

    def awkward(self):
        sums, tokens, zeros = (column.copy() for column in self.columns)
        sums[0], tokens[0], zeros[1] = 0, 0, 1
        return Model(sums, tokens, zeros)

    def best(self, metric):
        return 1.0


def model(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, 20, 12)
    return Model(np.zeros(12) if perfect else -rng.exponential(2.0, 12) * tokens, tokens, np.zeros(12))


class Classes(Case):
    """Items of four classes."""

    settings = MappingProxyType({"undefined": float("nan"), "beta": 2.0})

    def __init__(self, truth, answers):
        self.truth, self.answers = np.asarray(truth), np.asarray(answers)

    def __len__(self):
        return len(self.truth)

    def taken(self, order):
        return Classes(self.truth[order], self.answers[order])

    def rows(self, metric):
        units = [str(at) for at in range(len(self))]
        return metric.statistics(classification.Labels(units, self.truth, self.answers, 4))

    def arrays(self):
        return [self.truth, self.answers]

    def awkward(self):
        return Classes(np.where(self.truth == 3, 0, self.truth), self.answers)


def classes(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(4), rng.integers(0, 4, 20)])
    return Classes(truth, truth.copy() if perfect else np.where(rng.random(24) < 0.5, truth, rng.integers(0, 4, 24)))


FAMILIES = {"parsing": trees, "perplexity": model, "classification": classes, "classes": classes}
