"""Bag of words: the most frequent words of the unlabelled rows, and how often each row has them (H-7).

Cutting texts into words is done once for all targets and teams (`prepare`); a fit then only chooses columns. The words
chosen are the first `size` by (count, falling; word), so that ties are settled and the order of the rows is nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Module

WORD: Final = re.compile(r"\b\w\w+\b")
"""Two letters or digits at least, as scikit-learn cuts words."""
Weight = Literal["count", "binary", "tf"]


@dataclass(frozen=True)
class Tokens:
    """Texts cut into words: how often each row has each word, with the words in order."""

    counts: scipy.sparse.csr_array
    words: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def __getitem__(self, rows: Any) -> Tokens:
        return Tokens(self.counts[rows], self.words)


def tokenise(texts: Iterable[str]) -> Tokens:
    """Cut texts into words and count them.

    >>> cut = tokenise(["Good soup, good bread", "a soup"])
    >>> cut.words, cut.counts.toarray().tolist()
    (('bread', 'good', 'soup'), [[1.0, 2.0, 1.0], [0.0, 0.0, 1.0]])
    """
    met: dict[str, int] = defaultdict(int)
    met.default_factory = met.__len__  # type: ignore[attr-defined]
    indices: list[int] = []
    ends = [0]
    for text in texts:
        indices.extend(map(met.__getitem__, WORD.findall(text.lower())))
        ends.append(len(indices))
    words = sorted(met)
    place = np.empty(len(words), np.int32)
    place[[met[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    columns = place[np.fromiter(indices, np.int64, len(indices))]
    ones = np.ones(len(columns))
    counts = scipy.sparse.csr_array((ones, columns, np.array(ends, np.int32)), shape=(len(ends) - 1, len(words)))
    counts.sum_duplicates()
    return Tokens(counts, tuple(words))


def prepare(items: Sequence[str]) -> dict[str, Any]:
    """All items cut into words, once for every split and module; nothing is learned from them."""
    tokens = tokenise(items)
    return {"counts": tokens.counts, "words": list(tokens.words)}


def restore_tokens(kept: Mapping[str, Any]) -> Tokens:
    """The words of items from what `prepare` gave."""
    return Tokens(kept["counts"], tuple(kept["words"]))


class BagOfWords:
    """The counts of the most frequent words; a preprocessor for texts or `Tokens`."""

    def __init__(self, *, size: int = 5_000, weight: Weight = "count") -> None:
        self.size, self.weight = size, weight
        self.vocabulary: tuple[str, ...] = ()

    def fit(self, items: Sequence[str] | Tokens) -> None:
        """Choose the words."""
        tokens = _tokens(items)
        totals = np.asarray(tokens.counts.sum(axis=0)).ravel()
        order = np.argsort(-totals, kind="stable")[: self.size]  # words are in order: ties go to the earlier word
        self.vocabulary = tuple(tokens.words[place] for place in order if totals[place] > 0)

    def transform(self, items: Sequence[str] | Tokens) -> scipy.sparse.csr_array:
        """The weights of the chosen words, in their order."""
        tokens = _tokens(items)
        chosen = _columns(tokens.counts, self._places(tokens.words), len(self.vocabulary))
        return _weigh(chosen, self.weight, tokens.counts)

    def _places(self, words: tuple[str, ...]) -> NDArray[np.int32]:
        """For every word its column among the chosen, or -1."""
        column = {word: place for place, word in enumerate(self.vocabulary)}
        return np.fromiter((column.get(word, -1) for word in words), np.int32, len(words))


def _tokens(items: Sequence[str] | Tokens) -> Tokens:
    return items if isinstance(items, Tokens) else tokenise(items)


def _columns(counts: scipy.sparse.csr_array, places: NDArray[np.int32], width: int) -> scipy.sparse.csr_array:
    """The entries of some columns, moved to their places."""
    moved = places[counts.indices]
    kept = moved >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[counts.indptr].astype(np.int32)
    chosen = scipy.sparse.csr_array((counts.data[kept], moved[kept], ends), shape=(counts.shape[0], width))
    chosen.sort_indices()
    return chosen


def _weigh(chosen: scipy.sparse.csr_array, weight: Weight, counts: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    if weight == "binary":
        chosen.data = np.ones_like(chosen.data)
    if weight == "tf":
        lengths = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)
        chosen.data = chosen.data / np.repeat(lengths, np.diff(chosen.indptr))
    return chosen


def _schema(weights: Sequence[Weight]) -> dict[str, Any]:
    size = {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 5_000}
    weight = {"enum": list(weights), "default": weights[0]}
    return {"type": "object", "properties": {"size": size, "weight": weight}, "additionalProperties": False}


BOW = Module(
    name="bow",
    role="features",
    summary="Bag of words: counts of the 5,000 most frequent words",
    make=lambda parameters, seed: BagOfWords(**parameters),
    needs="items",
    gives="counts",
    schema=_schema(("count", "binary")),
    random=False,
    prepare=prepare,
    prepared=restore_tokens,
    code=(__file__,),
)
WORDS = Module(
    name="words",
    role="preprocessor",
    summary="Which of the 5,000 most frequent words are there",
    make=lambda parameters, seed: BagOfWords(**{"weight": "binary", **parameters}),
    needs="items",
    gives="counts",
    schema=_schema(("binary", "count")),
    random=False,
    prepare=prepare,
    prepared=restore_tokens,
    code=(__file__,),
)
WORD_SHARES = Module(
    name="word-shares",
    role="preprocessor",
    summary="Share of a text that each of the 5,000 most frequent words has",
    make=lambda parameters, seed: BagOfWords(**{**parameters, "weight": "tf"}),
    needs="items",
    gives="nonneg",
    schema=_schema(("tf",)),
    random=False,
    prepare=prepare,
    prepared=restore_tokens,
    code=(__file__,),
)
