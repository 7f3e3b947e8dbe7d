"""ROUGE-L as it is used for captions: the longest common subsequence, best precision and best recall taken apart.

Lin, ROUGE: a package for automatic evaluation of summaries (2004), with beta 1.2 and the rule of the COCO captions
evaluation: the best precision and the best recall may come from different references.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

BETA = 1.2


def rouge_l_scores(
    answers: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]
) -> NDArray[np.float64]:
    """ROUGE-L of each answer; an empty answer scores 0, and so does one that shares no word with a reference.

    >>> rouge_l_scores([["a", "cat", "sat"]], [[["a", "cat"], ["the", "cat", "sat", "down"]]]).round(4).tolist()
    [0.8299]
    """
    from rapidfuzz.distance import LCSseq  # here, because only texts need it

    common = LCSseq.similarity
    pairs = [(answer, reference) for answer, others in zip(answers, references, strict=True) for reference in others]
    length = np.fromiter((common(*pair) for pair in pairs), np.float64, len(pairs))
    of_answers = np.fromiter((len(answer) for answer, _ in pairs), np.float64, len(pairs))
    of_references = np.fromiter(map(len, chain.from_iterable(references)), np.float64, len(pairs))
    sizes = np.fromiter(map(len, references), np.int64, len(references))
    precision = _best(length / np.maximum(of_answers, 1), sizes)
    recall = _best(length / np.maximum(of_references, 1), sizes)
    weighted = recall + BETA**2 * precision
    both = (1 + BETA**2) * precision * recall
    return np.divide(both, weighted, out=np.zeros_like(both), where=weighted > 0)


def _best(values: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The highest value of each group; every group has a member."""
    return np.maximum.reduceat(values, np.cumsum(sizes) - sizes) if len(values) else np.zeros(0)
