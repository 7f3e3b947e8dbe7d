"""What caption BLEU and CIDEr-D count: n-grams that an answer shares with the references of its image.

BLEU clips the matches of an n-gram by the reference that holds it most often (Papineni et al. 2002). CIDEr-D weighs
n-grams by how few images they occur in, clips each against each reference, and multiplies the cosine by a Gaussian of
the difference in length (Vedantam et al. 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.text.ngrams import ORDERS, Corpus, Grams, Shared, grams_of, shared_of

SIGMA = 6.0
BEST = 10.0

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Overlap:
    """For each image: matched n-grams of each order, and the CIDEr-D score."""

    matches: Numbers
    """Images x orders."""
    cider_d: Numbers


def overlap_of(corpus: Corpus, *, counted: NDArray[np.bool_] | None = None) -> Overlap:
    """Matches and CIDEr-D of every image; document frequencies come from the images `counted` (None = all)."""
    counting = np.ones(len(corpus.first), dtype=bool) if counted is None else counted
    matches, cosines = [], []
    for grams in grams_of(corpus):
        shared = shared_of(corpus, grams)
        matches.append(_clipped(shared, len(corpus.first)))
        cosines.append(_cosines(corpus, grams, shared, counting))
    return Overlap(np.column_stack(matches), _cider_d(corpus, np.mean(cosines, axis=0)))


def matches_of(corpus: Corpus) -> Numbers:
    """Matched n-grams of each order of every image, and nothing else: images x orders."""
    counted = [_clipped(shared_of(corpus, grams), len(corpus.first)) for grams in grams_of(corpus)]
    return np.column_stack(counted)


def _clipped(shared: Shared, images: int) -> Numbers:
    """Matched n-grams of each answer, none more often than in the reference that holds it most often."""
    if not len(shared.entry):
        return np.zeros(images)
    most = np.maximum.reduceat(shared.count, shared.begins)
    clipped = np.minimum(most, shared.answer[shared.begins]).astype(np.float64)
    return np.bincount(shared.image, clipped, images).astype(np.float64)


def _cosines(corpus: Corpus, grams: Grams, shared: Shared, counting: NDArray[np.bool_]) -> Numbers:
    """The clipped cosine of each caption with the answer to its image (0 for answers)."""
    captions, rarest = len(corpus.lengths), np.log(max(counting.sum(), 1))
    weight = _squared_weights(corpus, grams, counting)
    lengths = np.bincount(grams.caption, grams.count**2 * weight, captions) + grams.single * rarest**2
    products = shared.clipped * shared.count * weight[shared.entry]
    dots = np.bincount(shared.caption, products, captions)
    norms = np.sqrt(lengths)
    both = norms * norms[corpus.first][corpus.image]
    return np.asarray(np.divide(dots, both, out=np.zeros(captions), where=both > 0))


def _squared_weights(corpus: Corpus, grams: Grams, counting: NDArray[np.bool_]) -> Numbers:
    """For each entry the squared logarithm of images over images with the n-gram in any reference."""
    opening = grams.caption[grams.pair]
    alone = corpus.answers[opening] & (np.diff(grams.pair, append=len(grams.caption)) == 1)
    holds = counting[corpus.image[opening]] & ~alone
    if not len(grams.gram):
        return np.zeros(0)
    frequency = np.add.reduceat(holds.astype(np.int64), np.searchsorted(grams.pair, grams.gram))
    rarity = np.log(max(counting.sum(), 1)) - np.log(np.maximum(frequency, 1))
    return np.asarray(np.repeat(rarity**2, np.diff(grams.gram, append=len(grams.caption))))


def _cider_d(corpus: Corpus, cosines: Numbers) -> Numbers:
    """Ten times the mean over references, each lowered by its difference in length (counted in bigrams)."""
    bigrams = np.maximum(corpus.lengths - 1, 0)
    apart = bigrams - bigrams[corpus.first][corpus.image]
    likeness = cosines * np.exp(-(apart**2) / (2 * SIGMA**2))
    sums = np.bincount(corpus.image, likeness, len(corpus.first))
    return np.asarray(BEST * sums / corpus.references)


def possible_of(corpus: Corpus) -> Numbers:
    """How many n-grams of each order each answer holds: images x orders."""
    lengths = corpus.lengths[corpus.first]
    return np.asarray(np.maximum(lengths[:, None] - np.arange(ORDERS), 0), dtype=np.float64)


def closest_lengths(corpus: Corpus) -> Numbers:
    """For each image the length of the reference nearest to its answer's; of two equally near ones the shorter.

    >>> from basanite.metrics.text.ngrams import corpus_of
    >>> closest_lengths(corpus_of([list("abcde")], [[list("abcdef"), list("abcd")]])).tolist()
    [4.0]
    """
    apart = np.abs(corpus.lengths - corpus.lengths[corpus.first][corpus.image])
    longest = int(corpus.lengths.max(initial=0)) + 1
    ranked = apart * longest + corpus.lengths
    ranked[corpus.first] = np.iinfo(np.int64).max
    if not len(corpus.first):
        return np.zeros(0)
    return (np.minimum.reduceat(ranked, corpus.first) % longest).astype(np.float64)
