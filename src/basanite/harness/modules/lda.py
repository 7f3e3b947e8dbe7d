"""The strong shallow classifier for text: topics of a latent Dirichlet allocation, and a ridge regression on them.

LDA predicts nothing by itself, so the shares of its topics are given to a regressor (A16). Topics are learned from the
one training fold, as the plan says, or (`scope` = "train") once from the rows of all folds, without their labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.modules import topics as lda
from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.harness.modules.planes import Floats, Rows

GRID: Final = (10, 20, 40, 80)
Scope = Literal["fold", "train"]


@dataclass(frozen=True)
class Line:
    """A ridge regression: weights and intercept."""

    weights: Floats
    bias: float

    @classmethod
    def fitted(cls, shares: Floats, target: Floats, alpha: float) -> Line:
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

    topics: Sequence[Sequence[lda.Topics]]
    lines: Sequence[Sequence[Line]]
    shared: bool = False


class TopicRidge:
    """LDA topic shares, then ridge regression; the number of topics is chosen on the validation rows."""

    def __init__(
        self,
        *,
        topics: Sequence[int] = GRID,
        alpha: float = 10.0,
        rounds: int = lda.FIT_ROUNDS,
        scope: Scope = "fold",
        seed: int = 0,
    ) -> None:
        self.numbers, self.alpha, self.rounds = tuple(sorted(topics)), alpha, rounds
        self.scope, self.seed = scope, seed
        self.known: dict[int, lda.Topics] = {}
        self.fitted: tuple[lda.Topics, Line] | None = None

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
        fitted = [self._many_topics([features[rows] for rows in folds], number) for number in numbers]
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

    def _topics(self, features: Features, number: int) -> lda.Topics:
        return lda.fit_topics(features, number, seed=self.seed, rounds=self.rounds)

    def _many_topics(self, parts: Sequence[Features], number: int) -> list[lda.Topics]:
        return lda.fit_many_topics(parts, number, seed=self.seed, rounds=self.rounds)

    def _line(self, shares: Floats, target: NDArray[Any]) -> Line:
        return Line.fitted(shares, np.asarray(target, np.float64), self.alpha)


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
            "rounds": {"type": "integer", "minimum": 1, "maximum": 1_000, "default": lda.FIT_ROUNDS},
            "scope": {"enum": ["fold", "train"], "default": "fold"},
        },
        "additionalProperties": False,
    },
    code=(__file__, lda.__file__),
)
