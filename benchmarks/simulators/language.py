"""Trees, log-probabilities and classes of two systems that are equally good, on hard and easy sentences and items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from basanite.formats.texts.trees import Names, read_trees
from basanite.kernel import Metric, Rows
from basanite.metrics.class_scores import ScoredClasses, rank_rows
from basanite.metrics.classification import CLASS_COLUMNS, Labels, class_rows
from basanite.metrics.text.parsing import Parses
from basanite.metrics.text.perplexity import Likelihoods
from basanite.metrics.text.pruning import Rules, fitting, prune_trees
from basanite.synthetic.treebank import Parser, Treebank, tree_text
from simulators.population import POPULATION, Population, populations

UNITS = [str(at) for at in range(POPULATION)]
CLASSES = 5


def simulate_parsing(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Sentences of a small grammar; some are hard for both parsers."""
    bank = Treebank(int(generator.integers(1 << 30)))
    trees, hard = list(bank.trees(POPULATION)), generator.beta(2, 6, POPULATION)
    parsers = [Parser(error, error / 3, error / 3, error / 5, error / 3) for error in hard]
    names = Names()
    gold = prune_trees(read_trees([tree_text(tree) for tree in trees], names), Rules())
    blocks = []
    for _ in range(2):
        texts = [tree_text(bank.parse(tree, parser)) for tree, parser in zip(trees, parsers, strict=True)]
        answers = prune_trees(read_trees(texts, names), Rules())
        blocks.append(Parses(UNITS, gold, answers, fitting(gold, answers)))
    return populations(metrics, blocks)


def simulate_perplexity(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Sentences of 3 to 39 tokens whose mean surprise differs; one word in ten is unknown."""
    tokens = generator.integers(3, 40, POPULATION).astype(float)
    surprise, none = generator.gamma(8, 0.5, POPULATION), np.zeros(POPULATION)
    known = np.maximum(generator.binomial(tokens.astype(int), 0.9), 1).astype(float)
    words = np.maximum(generator.binomial(tokens.astype(int), 0.8), 1).astype(float)
    letters = words + generator.poisson(4 * words)
    sizes = np.column_stack([words, letters, letters + words / 2])
    blocks = []
    for _ in range(2):
        inside, outside = -generator.gamma(known, surprise), -generator.gamma(tokens - known + 1e-9, surprise)
        seen = np.column_stack([inside, known, none])
        blocks.append(Likelihoods(UNITS, inside + outside, tokens, none, seen, sizes))
    return populations(metrics, blocks)


def simulate_classification(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Items of frequent classes and rare ones, hard and easy."""
    return populations([metric.bind(beta=2.0) for metric in metrics], _labelled(generator))


def simulate_one_class(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """The same items, looked at for the one class that three in ten belong to."""
    rows = [_rows_of_class(block, 1) for block in _labelled(generator)]
    return [Population(metric.bind(beta=2.0), *rows) for metric in metrics]


def simulate_class_scores(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """Items with a probability for each of three classes, hard and easy."""
    return populations(metrics, _scored(generator))


def simulate_class_rankings(metrics: Sequence[Metric], generator: np.random.Generator) -> list[Population]:
    """The same items ranked by these scores; the values of one class are looked at for the second."""
    blocks = _scored(generator)
    single = [replace(block, positive=1) for block in blocks]
    return [
        Population(metric, *(rank_rows(one) for one in (blocks if metric.overall else single))) for metric in metrics
    ]


def _scored(generator: np.random.Generator) -> list[ScoredClasses]:
    truth = generator.choice(3, POPULATION, p=[0.5, 0.3, 0.2])
    ease = generator.normal(1, 0.7, POPULATION)
    blocks = []
    for _ in range(2):
        margin = generator.normal(0, 1, (POPULATION, 3))
        margin[np.arange(POPULATION), truth] += ease
        given = np.exp(1.5 * margin)
        blocks.append(ScoredClasses(UNITS, truth, given / given.sum(axis=1, keepdims=True)))
    return blocks


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
    "class_probabilities": simulate_class_scores,
    "class_rankings": simulate_class_rankings,
}
