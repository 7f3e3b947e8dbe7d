"""Trees, log-probabilities and classes of two systems that are equally good, on hard and easy sentences and items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.formats.texts.trees import Names, read_trees
from basanite.kernel import Metric, Rows
from basanite.metrics.classification import CLASS_COLUMNS, Labels, class_rows
from basanite.metrics.text.parsing import Parses
from basanite.metrics.text.perplexity import Likelihoods
from basanite.metrics.text.pruning import Rules, fitting, pruned
from basanite.synthetic.treebank import Parser, Treebank, written
from simulators.population import POPULATION, Population, populations

UNITS = [str(at) for at in range(POPULATION)]
CLASSES = 5


def simulate_parsing(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Sentences of a small grammar; some are hard for both parsers."""
    bank = Treebank(int(generator.integers(1 << 30)))
    trees, hard = list(bank.trees(POPULATION)), generator.beta(2, 6, POPULATION)
    parsers = [Parser(error, error / 3, error / 3, error / 5, error / 3) for error in hard]
    names = Names()
    gold = pruned(read_trees([written(tree) for tree in trees], names), Rules())
    blocks = []
    for _ in range(2):
        texts = [written(bank.parsed(tree, parser)) for tree, parser in zip(trees, parsers, strict=True)]
        answers = pruned(read_trees(texts, names), Rules())
        blocks.append(Parses(UNITS, gold, answers, fitting(gold, answers)))
    return populations(metrics, blocks)


def simulate_perplexity(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Sentences of 3 to 39 tokens; the mean surprise of a token differs between sentences."""
    tokens = generator.integers(3, 40, POPULATION).astype(float)
    surprise = generator.gamma(8, 0.5, POPULATION)
    sums = [-generator.gamma(tokens, surprise) for _ in range(2)]
    blocks = [Likelihoods(UNITS, one, tokens, np.zeros(POPULATION)) for one in sums]
    return populations(metrics, blocks)


def simulate_classification(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Items of frequent classes and rare ones, hard and easy."""
    return populations([metric.bind(beta=2.0) for metric in metrics], _labelled(generator))


def simulate_one_class(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """The same items, looked at for the one class that three in ten belong to."""
    rows = [_rows_of_class(block, 1) for block in _labelled(generator)]
    return [Population(metric.bind(beta=2.0), *rows) for metric in metrics]


def _labelled(generator: np.random.Generator) -> list[Labels]:
    truth = generator.choice(CLASSES, POPULATION, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    hard = generator.beta(2, 4, POPULATION)
    answers = [np.where(generator.random(POPULATION) < hard, _other(truth, generator), truth) for _ in range(2)]
    return [Labels(UNITS, truth, one, CLASSES) for one in answers]


def _rows_of_class(block: Labels, label: int) -> Rows:
    """What each item contributes to one class; most contribute nothing."""
    rows = np.zeros((POPULATION, len(CLASS_COLUMNS)))
    items, counts = class_rows(block, label)
    rows[items] = counts
    return rows


def _other(truth: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return (truth + generator.integers(1, CLASSES, len(truth))) % CLASSES


SIMULATORS = {
    "parsing": simulate_parsing,
    "perplexity": simulate_perplexity,
    "classification": simulate_classification,
    "classes": simulate_one_class,
}
