"""Readability formulas and other features of English texts, for baselines that a campaign should beat (R-6).

Formulas count words, sentences and syllables. Features go further: how sentences are built (subordination, passives,
words before a comma) and how they hang together (connectives, pronouns, words shared by neighbours), since surface
alone does not suffice. There is no parser behind them: short lists of function words stand for it.

R. Flesch, A new readability yardstick, Journal of Applied Psychology 32 (1948); J. P. Kincaid and others, Derivation
of new readability formulas, Naval Technical Training Command report 8-75 (1975); R. Gunning, The technique of clear
writing (1952); E. Pitler, A. Nenkova, Revisiting readability, EMNLP (2008).

Baseline ratings of passages: three formulas and a learned regressor, each blind to the passage it rates (R-6).

A passage is rated by what was fitted to the other folds only. Formulas are put on the scale by a straight line; the
regressor is a ridge on all features, whose penalty is chosen inside the training folds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import source_of

Reals = NDArray[np.float64]
Learn = Callable[[Reals, Reals, Reals], Reals]
"""Features and ratings to learn from, and features to rate: the ratings."""
FORMULAS = ("flesch", "flesch_kincaid", "fog")
LEARNED = "learned"
FOLDS, FEWEST = 5, 10
PENALTIES = np.logspace(-2, 3, 11)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
VOWELS = re.compile(r"[aeiouy]+")
SUBORDINATORS = frozenset(
    (
        "although",
        "because",
        "since",
        "unless",
        "until",
        "when",
        "whenever",
        "where",
        "whereas",
        "while",
        "which",
        "who",
        "whom",
        "whose",
        "that",
        "if",
    )
)
CONNECTIVES = frozenset(
    (
        "however",
        "therefore",
        "thus",
        "moreover",
        "furthermore",
        "then",
        "but",
        "so",
        "also",
        "meanwhile",
        "finally",
        "first",
        "second",
        "instead",
        "still",
        "yet",
    )
)
PRONOUNS = frozenset(
    (
        "he",
        "she",
        "it",
        "they",
        "we",
        "you",
        "i",
        "him",
        "her",
        "them",
        "us",
        "this",
        "these",
        "those",
        "his",
        "its",
        "their",
    )
)
PREPOSITIONS = frozenset(
    ("of", "in", "on", "at", "by", "for", "with", "from", "to", "into", "over", "under", "between", "through", "during")
)
BE = frozenset(("is", "are", "was", "were", "be", "been", "being"))
FEATURES = (
    "flesch",
    "flesch_kincaid",
    "fog",
    "words a sentence",
    "syllables a word",
    "different words",
    "subordinators a sentence",
    "prepositions a word",
    "passives a sentence",
    "commas a sentence",
    "spread of sentence lengths",
    "connectives a sentence",
    "pronouns a word",
    "words shared with the sentence before",
)


@dataclass(frozen=True)
class Counted:
    """What formulas count in a text; each is at least 1, so that an empty text is short and not undefined."""

    sentences: int
    words: int
    syllables: int
    complex: int
    """Words of three syllables or more."""


def syllables(word: str) -> int:
    """Groups of vowels, less a silent final e; every word has one at least.

    >>> [syllables(word) for word in ("cat", "table", "readability", "make")]
    [1, 2, 5, 1]
    """
    text = word.lower()
    groups = len(VOWELS.findall(text))
    silent = text.endswith("e") and not text.endswith(("le", "ee", "ye"))
    return max(1, groups - silent)


def sentences_of(text: str) -> list[list[str]]:
    """The words of every sentence that has any.

    >>> sentences_of("It rains. Why?")
    [['It', 'rains'], ['Why']]
    """
    found = (WORD.findall(sentence) for sentence in SENTENCE.findall(text))
    return [words for words in found if words]


def text_counts(text: str) -> Counted:
    """What the formulas need of a text."""
    sentences = sentences_of(text)
    sizes = [syllables(word) for words in sentences for word in words]
    long = sum(size >= 3 for size in sizes)
    return Counted(max(1, len(sentences)), max(1, len(sizes)), max(1, sum(sizes)), long)


def flesch(text: str) -> float:
    """Flesch's reading ease: higher is easier, about 0 to 100.

    >>> round(flesch("The cat sat on the mat."), 3)
    116.145
    """
    found = text_counts(text)
    return 206.835 - 1.015 * found.words / found.sentences - 84.6 * found.syllables / found.words


def flesch_kincaid(text: str) -> float:
    """Flesch-Kincaid: the school grade it takes to read a text; lower is easier.

    >>> round(flesch_kincaid("The cat sat on the mat."), 2)
    -1.45
    """
    found = text_counts(text)
    return 0.39 * found.words / found.sentences + 11.8 * found.syllables / found.words - 15.59


def fog(text: str) -> float:
    """Gunning's fog index: years of schooling; lower is easier.

    >>> fog("The cat sat on the mat.")
    2.4000000000000004
    """
    found = text_counts(text)
    return 0.4 * (found.words / found.sentences + 100 * found.complex / found.words)


def features(texts: Sequence[str]) -> NDArray[np.float64]:
    """A row of numbers for each text, in the order of `FEATURES`."""
    return np.array([_features(text) for text in texts], np.float64).reshape(len(texts), len(FEATURES))


def _features(text: str) -> tuple[float, ...]:
    found, sentences = text_counts(text), [[word.lower() for word in words] for words in sentences_of(text)]
    words = [word for sentence in sentences for word in sentence]
    lengths = [len(sentence) for sentence in sentences] or [0]
    return (
        flesch(text),
        flesch_kincaid(text),
        fog(text),
        found.words / found.sentences,
        found.syllables / found.words,
        len(set(words)) / found.words,
        _share(words, SUBORDINATORS, found.sentences),
        _share(words, PREPOSITIONS, found.words),
        sum(one in BE and other.endswith(("ed", "en")) for one, other in pairwise(words)) / found.sentences,
        text.count(",") / found.sentences,
        float(np.std(lengths)),
        _share(words, CONNECTIVES, found.sentences),
        _share(words, PRONOUNS, found.words),
        _shared_word_share(sentences),
    )


def _share(words: Sequence[str], wanted: frozenset[str], size: int) -> float:
    return sum(word in wanted for word in words) / size


def _shared_word_share(sentences: Sequence[Sequence[str]]) -> float:
    """The mean share of a sentence's words that the one before has too."""
    pairs = pairwise(sentences)
    found = [len(set(one) & set(other)) / len(set(other)) for one, other in pairs]
    return float(np.mean(found)) if found else 0.0


def baseline_ratings(
    texts: Sequence[str], gold: ArrayLike, *, scale: tuple[float, float] = (1.0, 5.0), seed: int = 0
) -> dict[str, Reals]:
    """The ratings of every baseline by name; none with fewer than ten passages, from which nothing is learned."""
    table, truth = features(texts), np.asarray(gold, np.float64)
    if len(texts) < FEWEST:
        return {}
    fold = folds(len(texts), seed=seed)
    columns = {name: table[:, [FEATURES.index(name)]] for name in FORMULAS}
    straight_line = partial(_ridge, penalty=0.0)
    found = {name: blind(column, truth, fold, straight_line) for name, column in columns.items()}
    found[LEARNED] = blind(table, truth, fold, ridge)
    return {name: np.clip(ratings, *scale) for name, ratings in found.items()}


def folds(size: int, *, seed: int, count: int = FOLDS) -> NDArray[np.int64]:
    """The fold of each passage: equally many in each, by dice."""
    order = np.argsort(source_of(seed, "folds").random_raw(size), kind="stable")
    fold = np.empty(size, np.int64)
    fold[order] = np.arange(size) % count
    return fold


def blind(table: Reals, truth: Reals, fold: NDArray[np.int64], learn: Learn) -> Reals:
    """Ratings of every fold, learned from the others."""
    rated = np.empty(len(truth))
    for held in np.unique(fold):
        known = fold != held
        rated[~known] = learn(table[known], truth[known], table[~known])
    return rated


def ridge(known: Reals, truth: Reals, asked: Reals) -> Reals:
    """Ridge regression on standardised features, the penalty chosen by leaving out each known passage in turn."""
    best = min(PENALTIES, key=lambda penalty: _left_out_error(known, truth, float(penalty)))
    return _ridge(known, truth, asked, float(best))


def _standard(known: Reals, asked: Reals) -> tuple[Reals, Reals]:
    mean, spread = known.mean(axis=0), known.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)
    return (known - mean) / spread, (asked - mean) / spread


def _ridge(known: Reals, truth: Reals, asked: Reals, penalty: float) -> Reals:
    x, z = _standard(known, asked)
    weights = np.linalg.lstsq(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (truth - truth.mean()), rcond=None)[0]
    return np.asarray(truth.mean() + z @ weights)


def _left_out_error(known: Reals, truth: Reals, penalty: float) -> float:
    """The mean squared error of each passage by the fit without it, from the hat matrix."""
    x, _ = _standard(known, known)
    hat = x @ np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T) + 1 / len(x)
    apart = truth - truth.mean() - hat @ (truth - truth.mean())
    return float(np.mean((apart / np.maximum(1 - np.diagonal(hat), 1e-9)) ** 2))
