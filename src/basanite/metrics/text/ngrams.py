"""One table of n-grams for answers and references, from which caption BLEU and CIDEr-D both come.

Words become numbers once, in alphabetical order. For each order the n-grams of all captions are sorted as integers, so
that equal ones stand together, inside them those of one image, and inside these those of one caption; counts, document
frequencies and matches are then runs in one array. An n-gram that occurs once in the whole collection matches nothing,
nor does a longer one that holds it: those are counted and not sorted again.

What caption BLEU, CIDEr and CIDEr-D count: n-grams that an answer shares with the references of its image.

BLEU clips the matches of an n-gram by the reference that holds it most often (Papineni et al. 2002). CIDEr is the
cosine of counts that are weighted by how few images an n-gram occurs in; CIDEr-D clips each count against each
reference, and multiplies the cosine by a Gaussian of the difference in length (Vedantam et al. 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Caption: TypeAlias = Sequence[str]
Integers: TypeAlias = NDArray[np.integer]

ORDERS = 4
_WIDEST = 63


@dataclass(frozen=True)
class Corpus:
    """The words of all captions as numbers, caption after caption: for each image its answer, then its references."""

    words: Integers
    """The number of each word; numbers follow the alphabet, so nothing depends on the order of captions."""
    vocabulary: tuple[str, ...]
    lengths: Integers
    """Words in each caption."""
    first: Integers
    """The caption that is the answer to each image; its references follow."""
    image: Integers
    """The image of each caption."""

    @property
    def answers(self) -> NDArray[np.bool_]:
        """Which captions are answers."""
        marked = np.zeros(len(self.lengths), dtype=bool)
        marked[self.first] = True
        return marked

    @property
    def references(self) -> Integers:
        """How many references each image has."""
        return np.diff(self.first, append=len(self.lengths)) - 1


@dataclass(frozen=True)
class Grams:
    """The n-grams of one order that occur more than once: one entry for each n-gram and caption that holds it.

    Entries are sorted by n-gram, then image, then caption; an image's answer comes before its references.
    """

    caption: Integers
    count: Integers
    """How often the caption holds the n-gram."""
    gram: Integers
    """Where the entries of each n-gram begin."""
    pair: Integers
    """Where the entries of each n-gram in each image begin."""
    single: Integers
    """For each caption, how many n-grams it holds that occur nowhere else."""


def corpus_of(answers: Sequence[Caption], references: Sequence[Sequence[Caption]]) -> Corpus:
    """Number the words of the answers and references of all images.

    >>> corpus_of([["a", "cat"]], [[["the", "cat"]]]).words.tolist()
    [0, 1, 2, 1]
    """
    _refuse_lonely(answers, references)
    captions = [caption for answer, others in zip(answers, references, strict=True) for caption in (answer, *others)]
    flat = list(chain.from_iterable(captions))
    vocabulary = tuple(sorted(set(flat)))
    number = {word: place for place, word in enumerate(vocabulary)}
    words = np.fromiter(map(number.__getitem__, flat), np.int64, len(flat))
    sizes = np.fromiter((len(others) + 1 for others in references), np.int64, len(references))
    lengths = np.fromiter(map(len, captions), np.int64, len(captions))
    return Corpus(words, vocabulary, lengths, np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes))


def _refuse_lonely(answers: Sequence[Caption], references: Sequence[Sequence[Caption]]) -> None:
    if len(answers) != len(references):
        raise ValueError(f"{len(answers)} answers, but references for {len(references)} images: give as many of each.")
    for place, others in enumerate(references):
        if not others:
            raise ValueError(f"Image {place} has no reference: give at least one for each image.")


@dataclass(frozen=True)
class Shared:
    """Entries of references whose n-gram the answer to their image holds too."""

    entry: Integers
    caption: Integers
    count: Integers
    answer: Integers
    """How often the answer holds the n-gram."""
    begins: Integers
    """Where the references of each answer's n-gram begin."""
    image: Integers
    """The image of each answer's n-gram."""

    @property
    def common_counts(self) -> Integers:
        """How often both hold it."""
        return np.minimum(self.count, self.answer)


def grams_of(corpus: Corpus) -> Iterator[Grams]:
    """The n-grams of order 1, 2, 3 and 4, each table made from the one before."""
    caption = np.repeat(np.arange(len(corpus.lengths), dtype=np.int32), corpus.lengths)
    left = np.repeat(np.cumsum(corpus.lengths, dtype=np.int32), corpus.lengths)
    left -= np.arange(len(left), dtype=np.int32)  # how many words are left in the caption, each itself included
    known: Integers = corpus.words
    places: Integers = np.arange(len(caption))
    for order in range(1, ORDERS + 1):
        keys = known if order == 1 else _join_numbers(known[places], corpus, places + (order - 1))
        starts, places = _sort_keys(keys, places)
        shared = ~(starts & np.append(starts[1:], True))
        starts, places = starts[shared], places[shared]
        yield _entries(starts, caption[places], corpus.image, np.maximum(corpus.lengths - order + 1, 0))
        known = np.full(len(caption) + 1, -1, np.int32)
        known[places] = np.cumsum(starts, dtype=np.int32) - 1
        places = np.flatnonzero((known[:-1] >= 0) & (known[1:] >= 0) & (left > order))


def _join_numbers(known: NDArray[np.integer], corpus: Corpus, last: Integers) -> Integers:
    """The number of each n-gram: that of its beginning, and its last word."""
    keys = known.astype(np.int64)
    keys *= len(corpus.vocabulary)
    keys += corpus.words[last]
    return keys


def shared_of(corpus: Corpus, grams: Grams) -> Shared:
    """What references share with the answer to their image."""
    sizes = np.diff(grams.pair, append=len(grams.caption))
    taken = np.flatnonzero(corpus.answers[grams.caption[grams.pair]] & (sizes > 1))
    begins, others = grams.pair[taken], sizes[taken] - 1
    starts = np.cumsum(others) - others
    entry = np.repeat(begins + 1 - starts, others) + np.arange(others.sum())
    image = corpus.image[grams.caption[begins]]
    return Shared(
        entry, grams.caption[entry], grams.count[entry], np.repeat(grams.count[begins], others), starts, image
    )


def common_counts(corpus: Corpus, orders: int) -> list[Integers]:
    """For each order, how many n-grams each reference has in common with the answer to its image."""
    found = (shared_of(corpus, grams) for grams in islice(grams_of(corpus), orders))
    return [np.bincount(one.caption, one.common_counts, len(corpus.lengths)).astype(np.int64) for one in found]


def _sort_keys(keys: Integers, places: Integers) -> tuple[NDArray[np.bool_], Integers]:
    """Places sorted by key, and where each key begins; packed into one integer where they fit: that sorts fastest."""
    bits = int(places.max(initial=0)).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits <= _WIDEST:
        packed = keys << bits
        packed |= places
        packed.sort()
        places = packed & ((1 << bits) - 1)
        packed >>= bits
        return _changes(packed), places
    order = np.argsort(keys, kind="stable")
    return _changes(keys[order]), places[order]


def _changes(values: Integers) -> NDArray[np.bool_]:
    """Where a value differs from the one before it; always at the first."""
    changed = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def _entries(starts: NDArray[np.bool_], caption: Integers, image: Integers, total: Integers) -> Grams:
    """Runs of equal n-grams in one caption, in one image and anywhere."""
    begins = np.flatnonzero(starts | _changes(caption))
    holder, gram = caption[begins], starts[begins]
    return Grams(
        caption=holder,
        count=np.diff(begins, append=len(starts)),
        gram=np.flatnonzero(gram),
        pair=np.flatnonzero(gram | _changes(image[holder])),
        single=total - np.bincount(caption, minlength=len(total)),
    )


SIGMA = 6.0
BEST = 10.0

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Overlap:
    """For each image: matched n-grams of each order, and the scores CIDEr and CIDEr-D."""

    matches: Numbers
    """Images x orders."""
    cider: Numbers
    cider_d: Numbers


def overlap_of(corpus: Corpus, *, counted: NDArray[np.bool_] | None = None) -> Overlap:
    """Matches, CIDEr and CIDEr-D of every image; document frequencies come from the images `counted` (None = all)."""
    counting = np.ones(len(corpus.first), dtype=bool) if counted is None else counted
    matches, cosines = [], []
    for grams in grams_of(corpus):
        shared = shared_of(corpus, grams)
        matches.append(_clip_matches(shared, len(corpus.first)))
        cosines.append(_cosines(corpus, grams, shared, counting))
    plain, clipped = np.mean(cosines, axis=0)
    return Overlap(
        np.column_stack(matches), _mean_likeness(corpus, plain), _mean_likeness(corpus, _penalize(corpus, clipped))
    )


def matches_of(corpus: Corpus) -> Numbers:
    """Matched n-grams of each order of every image, and nothing else: images x orders."""
    counted = [_clip_matches(shared_of(corpus, grams), len(corpus.first)) for grams in grams_of(corpus)]
    return np.column_stack(counted)


def _clip_matches(shared: Shared, images: int) -> Numbers:
    """Matched n-grams of each answer, none more often than in the reference that holds it most often."""
    if not len(shared.entry):
        return np.zeros(images)
    most = np.maximum.reduceat(shared.count, shared.begins)
    clipped = np.minimum(most, shared.answer[shared.begins]).astype(np.float64)
    return np.bincount(shared.image, clipped, images).astype(np.float64)


def _cosines(corpus: Corpus, grams: Grams, shared: Shared, counting: NDArray[np.bool_]) -> Numbers:
    """The cosine of each caption with the answer to its image (0 for answers), and the same with clipped counts."""
    captions, rarest = len(corpus.lengths), np.log(max(counting.sum(), 1))
    weight = _squared_weights(corpus, grams, counting)
    lengths = np.bincount(grams.caption, grams.count**2 * weight, captions) + grams.single * rarest**2
    weighted = shared.count * weight[shared.entry]
    counts = (shared.answer, shared.common_counts)
    dots = np.stack([np.bincount(shared.caption, count * weighted, captions) for count in counts])
    norms = np.sqrt(lengths)
    both = norms * norms[corpus.first][corpus.image]
    return np.asarray(np.divide(dots, both, out=np.zeros(dots.shape), where=both > 0))


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


def _penalize(corpus: Corpus, cosines: Numbers) -> Numbers:
    """Each cosine lowered by the difference in length (counted in bigrams)."""
    bigrams = np.maximum(corpus.lengths - 1, 0)
    apart = bigrams - bigrams[corpus.first][corpus.image]
    return np.asarray(cosines * np.exp(-(apart**2) / (2 * SIGMA**2)))


def _mean_likeness(corpus: Corpus, likeness: Numbers) -> Numbers:
    """Ten times the mean over references."""
    return np.asarray(BEST * np.bincount(corpus.image, likeness, len(corpus.first)) / corpus.references)


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
