"""Strong shallow classifiers for text: tf-idf with ridge regression or a linear SVM, and NB-SVM (H-40).

Weights of words are learned from the one training fold. Tf-idf is that of scikit-learn: smoothed, rows of length 1.
NB-SVM (Wang and Manning, Baselines and bigrams, ACL 2012) weighs the words of a text by their log-count ratio; for
ratings the ratio is that of texts above and below the fold's mean, and a support vector regression stands in for the
machine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.harness.modules.machines import LinearSVC, LinearSVR
from basanite.harness.modules.planes import (
    Floats,
    FoldsTogether,
    GridOverC,
    OnePlane,
    Planes,
    Rows,
    costs_schema,
    folds_of,
)

RIDGE_GRID: Final = (0.1, 0.3, 1.0, 3.0)
SVM_GRID: Final = (0.03, 0.1, 0.3, 1.0)
INTERPOLATION: Final = 0.25
"""How much of NB-SVM is the machine and how much naive Bayes, as published."""


class Ridge(OnePlane):
    """Ridge regression with the penalty 1/C and an intercept of its own, exact by one decomposition for every C."""

    def _fitted_planes(
        self, rows: Features, target: NDArray[Any], grid: Sequence[Parameters]
    ) -> list[tuple[Floats, Floats]]:
        means, mean = np.asarray(rows.mean(axis=0)).ravel(), float(target.mean())
        wide = rows.shape[0] <= rows.shape[1]
        products = rows @ rows.T if wide else rows.T @ rows
        gram = np.asarray(products.toarray() if hasattr(products, "toarray") else products, np.float64)
        if wide:  # products of rows about their mean
            gram = gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
        else:
            gram = gram - rows.shape[0] * np.outer(means, means)
        values, vectors = np.linalg.eigh(gram)
        turned = vectors.T @ ((target - mean) if wide else rows.T @ (target - mean))
        planes = []
        for parameters in grid:
            found = vectors @ (turned / (np.clip(values, 0, None) + 1 / parameters["C"]))
            weights = np.asarray(rows.T @ found if wide else found, np.float64)
            planes.append((weights[None], np.array([mean - means @ weights])))
        return planes


@dataclass(frozen=True)
class FittedTexts:
    """Of every fold the weights of words and the planes of its grid."""

    words: Sequence[Floats]
    planes: Sequence[Planes]


class TextClassifier(GridOverC, FoldsTogether):
    """A linear classifier of texts whose words are weighed by what their training fold says of them."""

    @abstractmethod
    def word_weights(self, rows: Features, target: NDArray[Any]) -> Floats:
        """The weight of each word, from one training fold."""

    @abstractmethod
    def weighted_rows(self, rows: Features, words: Floats) -> Any:
        """Rows as the machine gets them."""

    @abstractmethod
    def machine(self, target: NDArray[Any]) -> OnePlane:
        """What is trained on the weighted rows of a fold."""

    def fit_many(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> FittedTexts:
        """Train on every fold with every C."""
        words, planes = [], []
        for rows, values in folds_of(scipy.sparse.csr_array(features), folds, target):
            words.append(self.word_weights(rows, values))
            weighted = self.weighted_rows(rows, words[-1])
            planes.append(
                self.finished(self.machine(target).fit_many(weighted, [np.arange(len(values))], values, grid), target)
            )
        return FittedTexts(words, planes)

    def finished(self, planes: Planes, target: NDArray[Any]) -> Planes:
        """The planes of a fold as they are used."""
        return planes

    def score_many(self, state: FittedTexts, features: Features) -> Scores:
        """`float64[folds, grid, rows]`."""
        rows = scipy.sparse.csr_array(features)
        pairs = zip(state.words, state.planes, strict=True)
        return np.array([planes.values(self.weighted_rows(rows, words))[0, :, 0] for words, planes in pairs])

    def score_chosen(self, state: FittedTexts, features: Features, chosen: Sequence[int]) -> Scores:
        """`float64[folds, rows]` by the grid point that was chosen for each fold."""
        planes = [planes.chosen([at]) for planes, at in zip(state.planes, chosen, strict=True)]
        return self.score_many(FittedTexts(state.words, planes), features)[:, 0]


class TfIdf(TextClassifier):
    """Tf-idf with rows of length 1, then ridge regression."""

    def __init__(self, *, C: Sequence[float] = RIDGE_GRID) -> None:  # noqa: N803
        super().__init__(C=C)

    def word_weights(self, rows: Features, target: NDArray[Any]) -> Floats:
        """The inverse document frequency, smoothed as if one more text had every word."""
        texts = np.bincount(rows.indices[rows.data > 0], minlength=rows.shape[1])
        return np.asarray(np.log((1 + rows.shape[0]) / (1 + texts)) + 1)

    def weighted_rows(self, rows: Features, words: Floats) -> Any:
        """Rows times weights, of length 1; a text without any known word stays empty."""
        weighted = rows * words[None]
        lengths = np.sqrt(np.asarray((weighted * weighted).sum(axis=1)).ravel())
        return scipy.sparse.csr_array(weighted * (1 / np.where(lengths > 0, lengths, 1.0))[:, None])

    def machine(self, target: NDArray[Any]) -> OnePlane:
        """Ridge regression, of ratings or of 0 and 1."""
        return Ridge(C=self.costs)


class TfIdfMachine(TfIdf):
    """The same with a linear support vector machine: for labels, or a regression for ratings."""

    def __init__(self, *, C: Sequence[float] = SVM_GRID) -> None:  # noqa: N803
        super().__init__(C=C)

    def machine(self, target: NDArray[Any]) -> OnePlane:
        """LIBSVM's machine for labels, or its regression."""
        return LinearSVC(C=self.costs) if is_label(target) else LinearSVR(C=self.costs)


class NaiveBayesMachine(TextClassifier):
    """NB-SVM: words that are there, weighed by their log-count ratio, then a linear support vector machine."""

    def __init__(
        self,
        *,
        C: Sequence[float] = SVM_GRID,  # noqa: N803
        interpolation: float = INTERPOLATION,
    ) -> None:
        super().__init__(C=C)
        self.interpolation = interpolation

    def word_weights(self, rows: Features, target: NDArray[Any]) -> Floats:
        """The log ratio of a word's share of positive texts to its share of negative ones, one added to each count."""
        there = (rows > 0).astype(np.float64)
        positive = target > 0 if is_label(target) else target > target.mean()
        sides = (1 + np.asarray(there[np.flatnonzero(side)].sum(axis=0)).ravel() for side in (positive, ~positive))
        more, fewer = (side / side.sum() for side in sides)
        return np.asarray(np.log(more / fewer))

    def weighted_rows(self, rows: Features, words: Floats) -> Any:
        """The weights of the words that a text has."""
        return scipy.sparse.csr_array((rows > 0).astype(np.float64) * words[None])

    def machine(self, target: NDArray[Any]) -> OnePlane:
        """LIBSVM's machine for labels, or its regression."""
        return LinearSVC(C=self.costs) if is_label(target) else LinearSVR(C=self.costs)

    def finished(self, planes: Planes, target: NDArray[Any]) -> Planes:
        """For labels, weights drawn towards their mean size, which is naive Bayes; ratings keep their scale."""
        if not is_label(target):
            return planes
        sizes = np.abs(planes.weights).mean(axis=0, keepdims=True)
        mixed = (1 - self.interpolation) * sizes + self.interpolation * planes.weights
        return Planes(mixed, planes.intercepts)


def is_label(target: NDArray[Any]) -> bool:
    """Whether values are those of a label, 0 and 1, and not ratings.

    >>> is_label(np.array([0.0, 1.0])), is_label(np.array([1.0, 5.0]))
    (True, False)
    """
    return bool(np.isin(target, (0, 1)).all())


def _module(name: str, summary: str, kind: type[TextClassifier], schema: Mapping[str, Any]) -> Module:
    return Module(
        name=name,
        role="strong",
        summary=summary,
        make=lambda parameters, seed: kind(**parameters),
        needs="nonneg",
        schema=schema,
        random=False,
        code=(__file__,),
    )


def _schema(grid: Sequence[float], **more: Mapping[str, Any]) -> dict[str, Any]:
    schema = costs_schema(**more)
    costs = {**schema["properties"]["C"], "default": list(grid)}
    return {**schema, "properties": {**schema["properties"], "C": costs}}


TFIDF_RIDGE = _module("tfidf-ridge", "Tf-idf of words with ridge regression", TfIdf, _schema(RIDGE_GRID))
TFIDF_SVM = _module(
    "tfidf-svm", "Tf-idf of words with a linear support vector machine", TfIdfMachine, _schema(SVM_GRID)
)
NB_SVM = _module(
    "nb-svm",
    "Words weighed by naive Bayes with a linear support vector machine (NB-SVM)",
    NaiveBayesMachine,
    _schema(SVM_GRID, interpolation={"type": "number", "minimum": 0, "maximum": 1, "default": INTERPOLATION}),
)
