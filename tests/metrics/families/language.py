"""Trees, log-probabilities and classes: made-up sentences and items, and what a system makes of them."""

from types import MappingProxyType

import numpy as np
from tests.metrics.families.case import Case

from basanite.formats.texts.trees import Names, read_trees
from basanite.metrics import classification
from basanite.metrics.class_scores import ScoredClasses
from basanite.metrics.text import perplexity
from basanite.metrics.text.parsing import Parses
from basanite.metrics.text.pruning import Rules, fitting, prune_trees
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
        ours, theirs = (prune_trees(read_trees(side, names), Rules()) for side in (self.gold, self.answers))
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
    """Log-probabilities of tokens, of those that are known, and sizes of texts."""

    def __init__(self, *columns):
        self.columns = [np.array(column, dtype=float) for column in columns]

    def __len__(self):
        return len(self.columns[0])

    def taken(self, order):
        return Model(*(column[order] for column in self.columns))

    def rows(self, metric):
        first, known, sizes = (self.columns[at : at + 3] for at in (0, 3, 6))
        names = [str(at) for at in range(len(self))]
        block = perplexity.Likelihoods(names, *first, known=np.column_stack(known), sizes=np.column_stack(sizes))
        return metric.statistics(block)

    def arrays(self):
        return self.columns

    def awkward(self):
        columns = [column.copy() for column in self.columns]
        for column in columns:
            column[0] = 0
        columns[2][1] = columns[5][1] = 1
        return Model(*columns)

    def best(self, metric):
        return 0.0 if metric.name.startswith("bits") else 1.0


def model(seed, *, perfect=False):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, 20, 12)
    sums, nothing = np.zeros(12) if perfect else -rng.exponential(2.0, 12) * tokens, np.zeros(12)
    return Model(sums, tokens, nothing, sums * 0.8, tokens - 0.5, nothing, tokens - 0.75, 5 * tokens, 6 * tokens)


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


class Scored(Case):
    """Items of four classes with a probability for each; the rows of one class are looked at where one is asked for."""

    def __init__(self, truth, scores):
        self.truth, self.scores = np.asarray(truth), np.asarray(scores, dtype=float)

    def __len__(self):
        return len(self.truth)

    def taken(self, order):
        return Scored(self.truth[order], self.scores[order])

    def rows(self, metric):
        units = [str(at) for at in range(len(self))]
        return metric.statistics(ScoredClasses(units, self.truth, self.scores, None if metric.overall else 1))

    def arrays(self):
        return [self.truth, self.scores]

    def awkward(self):
        return Scored(np.zeros_like(self.truth), np.full_like(self.scores, 0.25))

    def best(self, metric):
        return 1.0 if metric.best == "high" else 0.0


def scored(seed, *, perfect=False):
    truth = classes(seed).truth
    scores = np.eye(4)[truth]
    if not perfect:
        scores = 0.5 * scores + 0.5 * np.random.default_rng(seed).dirichlet(np.ones(4), len(truth))
        scores[0] = np.roll(scores[0], 1)
    return Scored(truth, scores)


FAMILIES = {
    "class_probabilities": scored,
    "class_rankings": scored,
    "parsing": trees,
    "perplexity": model,
    "classification": classes,
    "classes": classes,
}
