"""Relevance of a text to what it answers or describes: as people judged it, by likeness of words, and how these agree.

The automatic score is the cosine of two vectors, one of the text and one of its context (question, caption of the
image). `tfidf` makes such vectors out of the texts at hand and needs no download; any callable that turns texts into
vectors can take its place through the entry-point group `basanite.embeddings` (T-5).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.errors import SettingError
from basanite.kernel import SHARE, SIGNED_SHARE, Metric, Rows, column_ratio, ratio
from basanite.metrics.ranks import mean_ranks

Reals: TypeAlias = NDArray[np.float64]
Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""Turns texts into vectors: one row each, as an array or a sparse matrix."""

WORD = re.compile(r"\w+")
COLUMNS = ("judged", "has_judged", "auto", "has_auto", "both", "x", "y", "xx", "yy", "xy")
CONSTANT = 1e-12
"""A variance below this is none: what is left of a constant after rounding."""


@dataclass(frozen=True)
class Embedding:
    """A named way to turn texts into vectors; a plug-in registers one in the group `basanite.embeddings`."""

    name: str
    summary: str
    embed: Embed

    def __call__(self, texts: Sequence[str]) -> Any:
        """One vector for each text."""
        return self.embed(texts)


@dataclass(frozen=True)
class Judged:
    """Items with the mean of their judgements and their automatic score, both in 0..1; nan where there is none."""

    units: Sequence[str]
    judged: Reals
    auto: Reals


def rows(block: Judged) -> Rows:
    """What each item contributes to both means and to their correlation."""
    judged, auto = np.asarray(block.judged, np.float64), np.asarray(block.auto, np.float64)
    has, made = ~np.isnan(judged), ~np.isnan(auto)
    both = (has & made).astype(np.float64)
    x, y = np.where(has, judged, 0), np.where(made, auto, 0)
    pairs = (both, both * x, both * y, both * x**2, both * y**2, both * x * y)
    return np.column_stack([x, has, y, made, *pairs]).astype(np.float64)


def pearson(sums: Rows) -> Reals:
    """The correlation of both scores over the items that have both; undefined where one of them is constant."""
    items, x, y, xx, yy, xy = np.moveaxis(sums[..., 4:], -1, 0)
    mean_x, mean_y = ratio(x, items), ratio(y, items)
    spread_x, spread_y = ratio(xx, items) - mean_x**2, ratio(yy, items) - mean_y**2
    varied = np.minimum(spread_x, spread_y) > CONSTANT
    scale = np.sqrt(np.where(varied, spread_x * spread_y, 1))
    return np.where(varied, np.clip((ratio(xy, items) - mean_x * mean_y) / scale, -1, 1), np.nan)


def spearman(judged: ArrayLike, auto: ArrayLike) -> float:
    """The correlation of ranks, ties at their mean rank; nan where one side is constant or fewer than two are known.

    >>> spearman([0, 0.5, 1], [0.1, 0.2, 0.9])
    1.0
    """
    x, y = np.asarray(judged, np.float64), np.asarray(auto, np.float64)
    known = ~(np.isnan(x) | np.isnan(y))
    if not known.any():
        return math.nan
    ranks = [mean_ranks(side[known]) / known.sum() for side in (x, y)]
    return float(CORRELATION.of(rows(Judged((), ranks[0], ranks[1]))))


RELEVANCE = Metric(
    name="relevance",
    title="Relevance (judged)",
    summary="Mean relevance that judges gave the texts, on a scale from 0 to 1",
    citation="Voorhees and Harman, TREC: Experiment and Evaluation in Information Retrieval (2005), chapter 2",
    family="relevance",
    statistics=rows,
    reduce=partial(column_ratio, top=0, bottom=1),
    range=SHARE,
    columns=COLUMNS,
    unit="item",
    linear=True,
    carrier="has_judged",
)
RELEVANCE_AUTO = replace(
    RELEVANCE,
    name="relevance_auto",
    title="Relevance (automatic)",
    summary="Mean similarity of each text to its context: the cosine of their vectors",
    citation="Salton, Wong and Yang, A vector space model for automatic indexing, CACM 18 (1975)",
    reduce=partial(column_ratio, top=2, bottom=3),
    range=SIGNED_SHARE,
    carrier="has_auto",
)
CORRELATION = replace(
    RELEVANCE,
    name="correlation",
    title="Pearson correlation",
    summary="Pearson correlation of judged and automatic relevance over items",
    citation="Pearson, Notes on regression and inheritance in the case of two parents, Proc. Royal Society 58 (1895)",
    reduce=pearson,
    range=SIGNED_SHARE,
    linear=False,
    carrier="both",
)
METRICS = (RELEVANCE, RELEVANCE_AUTO, CORRELATION)


def values(judged: ArrayLike, auto: ArrayLike) -> dict[str, float]:
    """All three values from the judged and the automatic scores of items; nan where an item has none.

    >>> values([0, 1, 1], [0.1, 0.5, 0.9])["relevance"].__round__(4)
    0.6667
    """
    table = rows(Judged((), np.asarray(judged, np.float64), np.asarray(auto, np.float64)))
    return {metric.name: metric.of(table) for metric in METRICS}


@dataclass(frozen=True)
class WordVectors:
    """One sparse vector for each text: the weight of each word that it has, by the number of the word."""

    weights: Sequence[Mapping[int, float]]
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of texts, and of words in all of them."""
        return len(self.weights), self.width

    def __getitem__(self, rows: slice) -> WordVectors:
        return WordVectors(self.weights[rows], self.width)

    def inner(self, other: WordVectors) -> Reals:
        """The inner product of each text with the one in the same place."""
        pairs = zip(self.weights, other.weights, strict=True)
        return np.array([math.fsum(value * two.get(word, 0.0) for word, value in one.items()) for one, two in pairs])


def tfidf(texts: Sequence[str]) -> WordVectors:
    """Vectors of word counts times inverse document frequency, ln((1 + n) / (1 + df)) + 1, over these very texts.

    >>> tfidf(["a cat", "a dog"]).shape
    (2, 3)
    """
    counts = [Counter(WORD.findall(text.casefold())) for text in texts]
    spread = Counter(word for count in counts for word in count)
    column = {word: at for at, word in enumerate(sorted(spread))}
    weight = {word: math.log((1 + len(texts)) / (1 + seen)) + 1 for word, seen in spread.items()}
    weights = [{column[word]: times * weight[word] for word, times in count.items()} for count in counts]
    return WordVectors(weights, len(column))


TFIDF = Embedding("tfidf", "Words weighted by their rarity in the given texts; needs no download", tfidf)


def likeness(texts: Sequence[str], contexts: Sequence[str], embed: Embed = tfidf) -> Reals:
    """The cosine of each text with its context; 0 for a text without content, nan for a context without any.

    >>> likeness(["the red door", ""], ["a door of red", "a door"]).round(3).tolist()
    [0.444, 0.0]
    """
    if not texts:
        return np.empty(0)
    vectors = embed([*texts, *contexts])
    if getattr(vectors, "ndim", 2) != 2 or vectors.shape[0] != 2 * len(texts):
        raise SettingError("The embedding does not give one vector for each text; ask its author.")
    one, other = vectors[: len(texts)], vectors[len(texts) :]
    length, wanted = np.sqrt(_inner(one, one)), np.sqrt(_inner(other, other))
    if not (np.isfinite(length).all() and np.isfinite(wanted).all()):
        raise SettingError("The embedding gives vectors that are not finite; ask its author.")
    cosine = ratio(_inner(one, other), length * wanted)
    return np.where(wanted > 0, np.nan_to_num(cosine, nan=0.0), np.nan)


def _inner(first: Any, second: Any) -> Reals:
    """The inner products of rows of two matrices: ours, sparse ones of SciPy, or dense."""
    if isinstance(first, WordVectors):
        return first.inner(second)
    if hasattr(first, "multiply"):
        return np.asarray(first.multiply(second).sum(axis=1), np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", np.asarray(first, np.float64), np.asarray(second, np.float64)))
