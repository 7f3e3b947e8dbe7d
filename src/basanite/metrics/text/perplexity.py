"""Perplexity and bits: how well a language model foresees a text, from its log-probabilities.

Perplexity is exp(-sum of log P(W_d) / sum of N_d) over the sentences W_d of a corpus. That is the N-th root of
1 / P(corpus), worked out where no product of small numbers can become 0. A token of probability 0 makes it infinite:
such tokens are counted in a column of their own, so that no row holds an infinite number.

Perplexities of models with different tokens cannot be compared; bits for each word, character or byte of the text can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.kernel import Ends, Metric, Rows

COLUMNS = (
    *("log_probability", "tokens", "zeros"),
    *("known_log_probability", "known_tokens", "known_zeros"),
    *("words", "characters", "bytes"),
)
LOG_PROBABILITY, TOKENS, ZEROS, KNOWN, _, _, WORDS, CHARACTERS, BYTES = range(len(COLUMNS))
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Likelihoods:
    """For each sentence the sum of its finite log-probabilities (base e), its tokens, and those of probability 0.

    The same of the tokens that the model knows, and the size of its text; where these are not known, they are None.
    """

    units: Sequence[str]
    log_probability: Numbers
    tokens: Numbers
    zeros: Numbers
    known: Numbers | None = None
    """Sentences by the same three columns, of tokens in the vocabulary alone."""
    sizes: Numbers | None = None
    """Sentences by words, characters and bytes; nan where a size is not known."""


def statistics(block: Likelihoods) -> Rows:
    """One row of `COLUMNS` for each sentence."""
    whole = np.column_stack([block.log_probability, block.tokens, block.zeros])
    nothing = np.zeros_like(whole)
    known = nothing if block.known is None else block.known
    sizes = nothing if block.sizes is None else np.nan_to_num(block.sizes)
    return np.hstack([whole, known, sizes]).astype(np.float64)


def _perplexity(sums: Rows, first: int = LOG_PROBABILITY) -> Numbers:
    log_probability, tokens, zeros = (sums[..., first + at] for at in range(3))
    with np.errstate(over="ignore"):  # beyond the largest number there is, it is infinite
        finite = np.exp(-log_probability / np.where(tokens > 0, tokens, 1))
    return np.where(tokens > 0, np.where(zeros > 0, np.inf, finite), np.nan)


def _bits(sums: Rows, size: int) -> Numbers:
    parts = sums[..., size]
    finite = -sums[..., LOG_PROBABILITY] / math.log(2) / np.where(parts > 0, parts, 1)
    return np.where(parts > 0, np.where(sums[..., ZEROS] > 0, np.inf, finite), np.nan)


def _metric(name: str, summary: str, citation: str, reduce: partial[Numbers], ends: Ends) -> Metric:
    return Metric(
        name=name,
        summary=summary,
        citation=citation,
        family="perplexity",
        statistics=statistics,
        reduce=reduce,
        range=ends,
        best="low",
        columns=COLUMNS,
        unit="sentence",
        interval="expanded",
    )


_JELINEK = "Jelinek et al., Perplexity: a measure of the difficulty of speech recognition tasks, JASA 62 S63 (1977)"
_BROWN = "Brown et al., An Estimate of an Upper Bound for the Entropy of English, CL 18(1) (1992)"
_BOTH_WAYS = "Stolcke, SRILM - an extensible language modeling toolkit, ICSLP (2002): ppl without OOVs"
PERPLEXITY = _metric(
    "perplexity",
    "Perplexity of a corpus: exp of minus the mean log-probability of its tokens",
    _JELINEK,
    partial(_perplexity, first=LOG_PROBABILITY),
    (1.0, math.inf),
)
PERPLEXITY_KNOWN = replace(
    PERPLEXITY,
    name="perplexity_known",
    title="Perplexity (known words)",
    summary="Perplexity of the tokens in the model's vocabulary; other tokens are not counted at all",
    citation=_BOTH_WAYS,
    reduce=partial(_perplexity, first=KNOWN),
)
BITS_PER_WORD, BITS_PER_CHARACTER, BITS_PER_BYTE = (
    _metric(
        f"bits_per_{what}",
        f"Bits per {what} of the text, independent of the tokenization",
        _BROWN,
        partial(_bits, size=size),
        (0.0, math.inf),
    )
    for what, size in (("word", WORDS), ("character", CHARACTERS), ("byte", BYTES))
)
METRICS = (PERPLEXITY, PERPLEXITY_KNOWN, BITS_PER_WORD, BITS_PER_CHARACTER, BITS_PER_BYTE)


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
