"""The strong shallow classifier for text: topics of a latent Dirichlet allocation, and ridge regression on them (A16).

LDA predicts nothing by itself, so the shares of its topics are given to a regressor. Topics are learned from the
one training fold, as the plan says, or (`scope` = "train") once from the rows of all folds, without their labels.

The algorithm, its dice and its stopping rule are those of scikit-learn's `LatentDirichletAllocation(learning_method=
"batch")`, row for row, so that both give the same topics. scikit-learn goes through the rows one by one in Python;
here rows with about as many words are worked on together, and leave the group when they have settled.
(Blei, Ng & Jordan 2003; Hoffman, Blei & Bach 2010.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.harness.modules.planes import Rows

Floats = NDArray[np.float64]
EPSILON: Final = float(np.finfo(np.float64).eps)
TOLERANCE: Final = 1e-3
ROUNDS: Final = 100
GROUP_NUMBERS: Final = 1 << 18
"""How many numbers a group of rows may gather: what stays in a processor's cache."""
FIT_ROUNDS: Final = 10
STAYING: Final = 0.8
"""A group is made smaller when at most this share of it is still moving."""


@dataclass(frozen=True)
class Topics:
    """Fitted topics: how strongly each has each word."""

    components: Floats

    @property
    def prior(self) -> float:
        """The weight that every topic has in every row beforehand."""
        return 1.0 / len(self.components)

    def shares(self, features: Features) -> Floats:
        """The share of every topic in every row."""
        weights = _Inference(_strengths(self.components), self.prior).weights(_counts(features))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fit_topics(features: Features, topics: int, *, seed: int, rounds: int = FIT_ROUNDS) -> Topics:
    """Learn topics from rows of counts."""
    return fit_many_topics([features], topics, seed=seed, rounds=rounds)[0]


def fit_many_topics(parts: Sequence[Features], topics: int, *, seed: int, rounds: int = FIT_ROUNDS) -> list[Topics]:
    """Learn topics from several sets of rows, each on its own with the same dice, side by side.

    The words of every set are columns of their own in one wide matrix: what is done there at once is what would be
    done one after the other.
    """
    counts = scipy.sparse.csr_array(scipy.sparse.block_diag([_counts(part) for part in parts], format="csr"))
    dice = [np.random.RandomState(seed) for _ in parts]  # scikit-learn's generator: the same draws in the same order
    components = [die.gamma(100.0, 0.01, (topics, part.shape[1])) for die, part in zip(dice, parts, strict=True)]
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    for _ in range(rounds):
        start = [die.gamma(100.0, 0.01, (part.shape[0], topics)) for die, part in zip(dice, parts, strict=True)]
        inference = _Inference(np.hstack([_strengths(one) for one in components]), 1.0 / topics)
        found = inference.statistics(counts, inference.weights(counts, np.concatenate(start)))
        components = np.split(1.0 / topics + found, ends, axis=1)
    return [Topics(np.ascontiguousarray(one)) for one in components]


@dataclass(frozen=True)
class _Inference:
    """How rows are explained by topics: `expected` is exp(E[log(weight of a word in a topic)])."""

    expected: Floats
    prior: float

    def weights(self, counts: scipy.sparse.csr_array, start: Floats | None = None) -> Floats:
        """The weight of every topic in every row, from a start (all alike if there is none)."""
        found = np.ones((counts.shape[0], len(self.expected))) if start is None else start.copy()
        by_word = np.ascontiguousarray(self.expected.T)
        for rows, words, times in _groups(counts, len(self.expected)):
            found[rows] = _settle(by_word[words], times, found[rows], self.prior)
        return found

    def statistics(self, counts: scipy.sparse.csr_array, weights: Floats) -> Floats:
        """How often each topic is expected to have given each word."""
        by_row = _strengths(weights)
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        norms = np.einsum("ek,ke->e", by_row[rows], self.expected[:, counts.indices]) + EPSILON
        scaled = scipy.sparse.csr_array((counts.data / norms, counts.indices, counts.indptr), shape=counts.shape)
        found: Floats = self.expected * (scaled.T @ by_row).T
        return found


def _settle(by_word: Floats, times: Floats, start: Floats, prior: float) -> Floats:
    """The weights of a group of rows after as many rounds as each needs: [rows, words, topics] in, [rows, topics] out.

    A row's weights are taken down in the round in which it settles; such rows leave the group a few at a time, for
    making it smaller is work too.
    """
    found, last, strengths = start.copy(), start, _strengths(start)
    active, going = np.arange(len(start)), np.ones(len(start), bool)
    for _ in range(ROUNDS):
        norms = np.matmul(by_word, strengths[:, :, None])[:, :, 0] + EPSILON
        weights = strengths * np.matmul((times / norms)[:, None, :], by_word)[:, 0, :] + prior
        settled = going & (np.abs(weights - last).sum(axis=1) < TOLERANCE * weights.shape[1])
        found[active[settled]] = weights[settled]
        going &= ~settled
        last, strengths = weights, _strengths(weights)
        if np.count_nonzero(going) <= STAYING * len(going):
            by_word, times, active = by_word[going], times[going], active[going]
            last, strengths, going = last[going], strengths[going], going[going]
        if not len(active):
            break
    found[active[going]] = last[going]
    return found


def _groups(counts: scipy.sparse.csr_array, topics: int) -> Iterator[tuple[Any, Any, Floats]]:
    """Rows with about as many words each: their numbers, words and counts, filled up with words that occur 0 times."""
    sizes = np.diff(counts.indptr)
    order = np.argsort(sizes, kind="stable")
    order, at = order[np.searchsorted(sizes[order], 1) :], 0
    while at < len(order):
        take = max(1, GROUP_NUMBERS // (topics * int(sizes[order[at]])))
        rows = order[at : at + take]
        at += take
        places = counts.indptr[rows][:, None] + np.arange(sizes[rows[-1]])
        there = np.arange(sizes[rows[-1]]) < sizes[rows][:, None]
        places = np.where(there, places, 0)
        yield rows, np.where(there, counts.indices[places], 0), np.where(there, counts.data[places], 0.0)


def _counts(features: Features) -> scipy.sparse.csr_array:
    counts = scipy.sparse.csr_array(features, dtype=np.float64)
    counts.sum_duplicates()
    return counts


def _strengths(weights: Floats) -> Floats:
    """exp(E[log x]) of Dirichlet variables with these weights, row by row."""
    return exp_digamma(weights) / exp_digamma(weights.sum(axis=1, keepdims=True))


def exp_digamma(x: Floats) -> Floats:
    """exp(psi(x)) of positive numbers, to 1e-9 of itself: one exponential and no logarithm.

    psi(x) = psi(x + 6) - (1/x + … + 1/(x+5)), and exp(psi(y + 1/2)) is nearly y.

    >>> from scipy.special import psi
    >>> x = np.array([0.0125, 0.7, 5.0, 300.0])
    >>> bool(np.allclose(exp_digamma(x), np.exp(psi(x)), rtol=1e-9))
    True
    """
    product = x * (x + 5)
    low = (2 * x + 5) * ((3 * product + 20) * product + 24) / (product * ((product + 10) * product + 24))
    shifted = x + 5.5
    inverse = 1 / shifted
    square = inverse * inverse
    found: Floats = shifted + inverse * (
        1 / 24 - square * (37 / 5_760 - square * (10_313 / 2_903_040 - square * (5_509_121 / 1_393_459_200)))
    )
    found *= np.exp(-low)
    return found


GRID: Final = (10, 20, 40, 80)
Scope = Literal["fold", "train"]


@dataclass(frozen=True)
class Line:
    """A ridge regression: weights and intercept."""

    weights: Floats
    bias: float

    @classmethod
    def fit(cls, shares: Floats, target: Floats, alpha: float) -> Line:
        """The line with the least squared error, plus alpha times its squared weights."""
        centre, mean = shares.mean(axis=0), float(target.mean())
        moved = shares - centre
        normal = moved.T @ moved + alpha * np.eye(shares.shape[1])
        weights = np.linalg.solve(normal, moved.T @ (target - mean))
        return cls(weights, mean - float(centre @ weights))

    def at(self, shares: Floats) -> Floats:
        """Its values."""
        return np.asarray(shares @ self.weights + self.bias, np.float64)


@dataclass(frozen=True)
class Fitted:
    """Topics and lines of every fold and grid point; with `shared`, every fold has the same topics."""

    topics: Sequence[Sequence[Topics]]
    lines: Sequence[Sequence[Line]]
    shared: bool = False


class TopicRidge:
    """LDA topic shares, then ridge regression; the number of topics is chosen on the validation rows."""

    def __init__(
        self,
        *,
        topics: Sequence[int] = GRID,
        alpha: float = 10.0,
        rounds: int = FIT_ROUNDS,
        scope: Scope = "fold",
        seed: int = 0,
    ) -> None:
        self.numbers, self.alpha, self.rounds = tuple(sorted(topics)), alpha, rounds
        self.scope, self.seed = scope, seed
        self.known: dict[int, Topics] = {}
        self.fitted: tuple[Topics, Line] | None = None

    def grid(self) -> Sequence[Parameters]:
        """The numbers of topics, fewest first: ties go to fewer (A23)."""
        return tuple({"topics": number} for number in self.numbers)

    def learn_topics(self, features: Features) -> None:
        """With scope "train": learn the topics of every grid point from these rows, before any `fit`."""
        self.known = {number: self._topics(features, number) for number in self.numbers}

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold."""
        number = parameters["topics"]
        if self.scope == "train" and number not in self.known:
            raise SettingError("With scope 'train' topics come first: call learn_topics(rows of all folds).")
        found = self.known[number] if self.scope == "train" else self._topics(features, number)
        self.fitted = found, self._line(found.shares(features), target)

    def score(self, features: Features) -> Scores:
        """The ratings, not clipped (A18)."""
        if self.fitted is None:
            raise SettingError("This classifier is not trained: call fit first.")
        topics, line = self.fitted
        return line.at(topics.shares(features))

    def fit_many(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> Fitted:
        """Train on every fold with every number of topics; `features` are the rows of all folds."""
        numbers = [parameters["topics"] for parameters in grid]
        if self.scope == "train":
            return self._fit_shared(features, folds, target, numbers)
        parts = [features[rows] for rows in folds]
        fitted = [fit_many_topics(parts, number, seed=self.seed, rounds=self.rounds) for number in numbers]
        topics = list(zip(*fitted, strict=True))
        lines = [
            [self._line(found.shares(features[rows]), target[rows]) for found in row]
            for rows, row in zip(folds, topics, strict=True)
        ]
        return Fitted(topics, lines)

    def score_many(self, state: Fitted, features: Features) -> Scores:
        """The scores of every fold and number of topics; shared topics are found in the rows once."""
        if state.shared:
            shares = [topics.shares(features) for topics in state.topics[0]]
            return np.array([[line.at(part) for line, part in zip(row, shares, strict=True)] for row in state.lines])
        pairs = zip(state.topics, state.lines, strict=True)
        return np.array(
            [[line.at(topics.shares(features)) for topics, line in zip(*pair, strict=True)] for pair in pairs]
        )

    def score_chosen(self, state: Fitted, features: Features, chosen: Sequence[int]) -> Scores:
        """`float64[folds, rows]` by the number of topics chosen for each fold: the others are not worked out."""
        kept = {at: state.topics[0][at].shares(features) for at in set(chosen)} if state.shared else {}
        return np.array(
            [
                state.lines[fold][at].at(kept[at] if state.shared else state.topics[fold][at].shares(features))
                for fold, at in enumerate(chosen)
            ]
        )

    def _fit_shared(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], numbers: Sequence[int]
    ) -> Fitted:
        self.learn_topics(features)
        topics = [self.known[number] for number in numbers]
        shares = [found.shares(features) for found in topics]
        lines = [[self._line(part[rows], target[rows]) for part in shares] for rows in folds]
        return Fitted([topics] * len(folds), lines, shared=True)

    def _topics(self, features: Features, number: int) -> Topics:
        return fit_topics(features, number, seed=self.seed, rounds=self.rounds)

    def _line(self, shares: Floats, target: NDArray[Any]) -> Line:
        return Line.fit(shares, np.asarray(target, np.float64), self.alpha)


def make(parameters: Mapping[str, Any], seed: int) -> TopicRidge:
    """A topic regression with dice of its own."""
    return TopicRidge(**parameters, seed=seed % 2**32)


_TOPICS: Final = {
    "type": "array",
    "items": {"type": "integer", "minimum": 2, "maximum": 1_000},
    "minItems": 1,
    "maxItems": 20,
    "default": list(GRID),
}

LDA_RIDGE = Module(
    name="lda-ridge",
    role="strong",
    summary="Topics of a latent Dirichlet allocation with ridge regression on their shares",
    make=make,
    needs="counts",
    scale="rating",
    schema={
        "type": "object",
        "properties": {
            "topics": _TOPICS,
            "alpha": {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9, "default": 10.0},
            "rounds": {"type": "integer", "minimum": 1, "maximum": 1_000, "default": FIT_ROUNDS},
            "scope": {"enum": ["fold", "train"], "default": "fold"},
        },
        "additionalProperties": False,
    },
    code=(__file__,),
)
