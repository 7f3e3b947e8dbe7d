"""Language models of n-grams: probabilities of the words of a sentence, from counts of a text or a table of backoffs.

Add-k and interpolated Kneser-Ney are trained here on the sentences of a text. Both give an unknown word a probability,
so that sentences with words that the text lacks can be compared: its share of the uniform distribution over the
vocabulary, which holds one name for all unknown words, `<unk>`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
MARKS = (START, END, UNKNOWN)
"""What no text can hold as a word."""
Words = Sequence[str]
Context = tuple[str, ...]


class LanguageModel(Protocol):
    """What gives every word a probability after the words before it."""

    @property
    def order(self) -> int:
        """How many words an n-gram has."""

    def knows(self, word: str) -> bool:
        """Whether a word is in the vocabulary."""

    def logarithm(self, word: str, context: Context) -> float:
        """The natural logarithm of the probability of a word of the vocabulary, or `<unk>`, in a context of such."""


@dataclass(frozen=True)
class Surprise:
    """The natural logarithms of the probabilities of a sentence's tokens, the end last, and which of them are known."""

    logarithms: tuple[float, ...]
    known: tuple[bool, ...]


def surprise_of(model: LanguageModel, words: Words) -> Surprise:
    """How a model sees a sentence, word by word and then its end."""
    known = tuple(model.knows(word) for word in words)
    tokens = [word if sure else UNKNOWN for word, sure in zip(words, known, strict=True)]
    return Surprise(tuple(logarithms(model, tokens)), (*known, True))


def logarithms(model: LanguageModel, tokens: Words) -> Iterator[float]:
    """The logarithm of each token and of the end, each after the tokens before it."""
    before: Context = (START,) * max(model.order - 1, 0)
    for word in (*tokens, END):
        yield model.logarithm(word, before)
        before = (*before, word)[1:] if before else ()


@dataclass(frozen=True)
class BackoffModel:
    """Logarithms (base 10) of n-grams by their words with spaces between; a longer context gives way with a weight."""

    order: int
    probabilities: Mapping[str, float]
    backoffs: Mapping[str, float]

    def knows(self, word: str) -> bool:
        """Whether a word has a probability of its own."""
        return word in self.probabilities and word not in MARKS

    def logarithm(self, word: str, context: Context) -> float:
        """The probability of the longest known n-gram that ends here, times the weights of those that are not known."""
        weight = 0.0
        # One <s> begins a sentence: the longer beginnings that other models count with are in no table.
        begins = max((at for at, one in enumerate(context) if one == START), default=0)
        for at in range(begins, len(context) + 1):
            found = self.probabilities.get(" ".join((*context[at:], word)))
            if found is not None:
                return (weight + found) * math.log(10)
            weight += self.backoffs.get(" ".join(context[at:]), 0.0)
        return -math.inf  # an unknown word, and the model has no <unk>


@dataclass(frozen=True)
class Counts:
    """How often n-grams of each length occur in a text whose sentences begin with enough `<s>` and end in `</s>`."""

    order: int
    vocabulary: frozenset[str]
    """All words that can come next: those seen often enough, `</s>` and `<unk>`."""
    grams: tuple[Counter[Context], ...]
    """By length, from 1."""
    contexts: tuple[Counter[Context], ...] = field(default=())
    """By the length of the n-grams that begin so: how often something follows."""


def count_ngrams(sentences: Iterable[Words], order: int, *, least: int = 1) -> Counts:
    """Count the n-grams of a text; words that occur less often than `least` are unknown."""
    texts = [tuple(words) for words in sentences]
    often = Counter(word for words in texts for word in words)
    vocabulary = frozenset({word for word, count in often.items() if count >= least} | {END, UNKNOWN})
    grams: tuple[Counter[Context], ...] = tuple(Counter() for _ in range(order))
    for words in texts:
        tokens = (*(word if word in vocabulary else UNKNOWN for word in words), END)
        line = (START,) * (order - 1) + tokens
        for end in range(order, len(line) + 1):
            for length in range(1, order + 1):
                grams[length - 1][line[end - length : end]] += 1
    return Counts(order, vocabulary, grams, tuple(_context_sums(one) for one in grams))


def _context_sums(grams: Mapping[Context, int]) -> Counter[Context]:
    sums: Counter[Context] = Counter()
    for gram, count in grams.items():
        sums[gram[:-1]] += count
    return sums


@dataclass(frozen=True)
class AddK:
    """Every n-gram is counted `k` times more than it occurs (Lidstone; Laplace for 1)."""

    counts: Counts
    k: float

    @property
    def order(self) -> int:
        """How many words an n-gram has."""
        return self.counts.order

    def knows(self, word: str) -> bool:
        """Whether a word is in the vocabulary."""
        return word in self.counts.vocabulary and word not in MARKS

    def logarithm(self, word: str, context: Context) -> float:
        """The logarithm of (count + k) / (count of the context + k times the size of the vocabulary)."""
        seen = self.counts.grams[-1][(*context, word)]
        return math.log((seen + self.k) / (self.counts.contexts[-1][context] + self.k * len(self.counts.vocabulary)))


@dataclass(frozen=True)
class KneserNey:
    """Interpolated Kneser-Ney with one discount: shorter n-grams count by how many different words precede them.

    Words alone are interpolated with the uniform distribution over the vocabulary (Chen and Goodman 1999).
    """

    counts: Counts
    discount: float
    weights: tuple[Mapping[Context, int], ...] = field(init=False)
    """By length: counts of the longest n-grams, and how many different words precede each shorter one."""
    totals: tuple[Mapping[Context, int], ...] = field(init=False)
    followers: tuple[Mapping[Context, int], ...] = field(init=False)
    """By length: how many different words follow a context."""

    def __post_init__(self) -> None:
        """Count what precedes and what follows, once."""
        grams = self.counts.grams
        preceding = [Counter(gram[1:] for gram in longer) for longer in grams[1:]]
        weights = (*preceding, grams[-1])
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "totals", tuple(_context_sums(one) for one in weights))
        object.__setattr__(self, "followers", tuple(Counter(gram[:-1] for gram in one) for one in weights))

    @property
    def order(self) -> int:
        """How many words an n-gram has."""
        return self.counts.order

    def knows(self, word: str) -> bool:
        """Whether a word is in the vocabulary."""
        return word in self.counts.vocabulary and word not in MARKS

    def logarithm(self, word: str, context: Context) -> float:
        """The logarithm of the interpolated probability."""
        probability = 1 / len(self.counts.vocabulary)
        for length in range(1, self.order + 1):
            before = context[len(context) - length + 1 :]
            total = self.totals[length - 1].get(before, 0)
            if total:
                seen = max(self.weights[length - 1].get((*before, word), 0) - self.discount, 0.0)
                rest = self.discount * self.followers[length - 1][before]
                probability = (seen + rest * probability) / total
        return math.log(probability)
