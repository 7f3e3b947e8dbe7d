"""Supervised LDA through tomotopy: topics that are learned together with what they say about the rating (A16).

An option beside `lda-ridge`; it needs the package tomotopy. One worker and a seed make it repeatable. tomotopy's own
default for the variance of the ratings overfits a fold, so ours is larger.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.extras import required_module
from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores

GRID: Final = (10, 20, 40, 80)


class SupervisedTopics:
    """tomotopy's `SLDAModel` with one linear response; a classifier for ratings."""

    def __init__(
        self, *, topics: Sequence[int] = GRID, variance: float = 10.0, rounds: int = 200, seed: int = 0
    ) -> None:
        self.numbers, self.variance, self.rounds, self.seed = tuple(sorted(topics)), variance, rounds, seed
        self.model: Any = None
        self.mean = 0.0

    def grid(self) -> Sequence[Parameters]:
        """The numbers of topics, fewest first: ties go to fewer (A23)."""
        return tuple({"topics": number} for number in self.numbers)

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold by Gibbs sampling."""
        self.mean = float(np.mean(target))
        self.model = _package().SLDAModel(
            k=parameters["topics"], vars="l", seed=self.seed, mu=[self.mean], nu_sq=[1.0], glm_param=[self.variance]
        )
        for words, value in zip(_documents(features), target, strict=True):
            if words:
                self.model.add_doc(words, [float(value)])
        self.model.train(self.rounds, workers=1)

    def score(self, features: Features) -> Scores:
        """The ratings, not clipped (A18); a row without a known word has the mean of the fold."""
        if self.model is None:
            raise SettingError("This classifier is not trained: call fit first.")
        known = set(self.model.used_vocabs)
        kept = [[word for word in words if word in known] for words in _documents(features)]
        return np.array([self._rating(words) for words in kept])

    def _rating(self, words: list[str]) -> float:
        """One row at a time: tomotopy's dice for a row depend on the rows before it in a batch (A27)."""
        if not words:
            return self.mean
        document = self.model.make_doc(words)
        self.model.infer(document, iterations=100, workers=1)
        return float(self.model.estimate(document)[0])


def _documents(features: Features) -> list[list[str]]:
    """Every row as a list of words, which are the numbers of their columns."""
    counts = scipy.sparse.csr_array(features)
    ends = counts.indptr
    names = [str(column) for column in range(counts.shape[1])]
    times = counts.data.astype(np.int64)
    return [
        [names[at] for at in np.repeat(counts.indices[start:end], times[start:end])] for start, end in pairwise(ends)
    ]


def _package() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its compiled parts, which are none of the user's business
        return required_module("tomotopy")


def make(parameters: Mapping[str, Any], seed: int) -> SupervisedTopics:
    """Supervised topics with dice of their own."""
    return SupervisedTopics(**parameters, seed=seed % 2**31)


SLDA = Module(
    name="slda",
    role="strong",
    summary="Supervised LDA for ratings (tomotopy)",
    make=make,
    needs="counts",
    scale="rating",
    schema={
        "type": "object",
        "properties": {
            "topics": {"type": "array", "items": {"type": "integer", "minimum": 2, "maximum": 1_000}, "minItems": 1},
            "variance": {"type": "number", "exclusiveMinimum": 0, "maximum": 1e6, "default": 10.0},
            "rounds": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 200},
        },
        "additionalProperties": False,
    },
    code=(__file__,),
)
