"""Perplexity: how many equally likely tokens a language model wavers between, from its log-probabilities.

exp(-sum of log P(W_d) / sum of N_d) over the sentences W_d of a corpus. That is the N-th root of 1 / P(corpus), worked
out where no product of small numbers can become 0. A token of probability 0 makes it infinite: such tokens are counted
in a column of their own, so that no row holds an infinite number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import Metric, Rows

COLUMNS = ("log_probability", "tokens", "zeros")
LOG_PROBABILITY, TOKENS, ZEROS = range(len(COLUMNS))


@dataclass(frozen=True)
class Likelihoods:
    """For each sentence the sum of its finite log-probabilities (base e), its tokens, and those of probability 0."""

    units: Sequence[str]
    log_probability: NDArray[np.float64]
    tokens: NDArray[np.float64]
    zeros: NDArray[np.float64]


def statistics(block: Likelihoods) -> Rows:
    """One row of `COLUMNS` for each sentence."""
    return np.column_stack([block.log_probability, block.tokens, block.zeros]).astype(np.float64)


def _perplexity(sums: Rows) -> NDArray[np.float64]:
    tokens = sums[..., TOKENS]
    with np.errstate(over="ignore"):  # beyond the largest number there is, it is infinite
        finite = np.exp(-sums[..., LOG_PROBABILITY] / np.where(tokens > 0, tokens, 1))
    return np.where(tokens > 0, np.where(sums[..., ZEROS] > 0, np.inf, finite), np.nan)


PERPLEXITY = Metric(
    name="perplexity",
    summary="Perplexity of a corpus: exp of minus the mean log-probability of its tokens",
    citation="Jelinek et al., Perplexity: a measure of the difficulty of speech recognition tasks, JASA 62 S63 (1977)",
    family="perplexity",
    statistics=statistics,
    reduce=_perplexity,
    range=(1.0, math.inf),
    best="low",
    columns=COLUMNS,
    unit="sentence",
    interval="expanded",
)


def perplexity(sentences: Sequence[ArrayLike], *, base: float = math.e) -> float:
    """The perplexity of some sentences, each given by the log-probabilities of its tokens.

    >>> perplexity([[-1, -2], [-3]], base=2)
    4.0
    >>> perplexity([[float("-inf"), -1.0]])
    inf
    """
    tokens = [np.asarray(sentence, dtype=np.float64) for sentence in sentences]
    finite = [math.fsum(part[np.isfinite(part)]) * math.log(base) for part in tokens]
    sizes = np.array([part.size for part in tokens], dtype=np.float64)
    zeros = np.array([np.count_nonzero(np.isneginf(part)) for part in tokens], dtype=np.float64)
    names = [str(number) for number in range(len(tokens))]
    return PERPLEXITY.of(statistics(Likelihoods(names, np.array(finite, dtype=np.float64), sizes, zeros)))
