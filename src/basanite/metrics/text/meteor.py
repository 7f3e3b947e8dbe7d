"""METEOR, the formula of version 1.5 with exact and stem matches and no list of function words.

It needs no data: words match if they are equal (weight 1) or have the same Snowball stem (0.6). If the user gives
synonyms (a WordNet folder), words that share a synset match with weight 0.8, and the variant has another name. The
value of a corpus is the formula on the summed counts of each segment's best reference, not the mean of segments.

Aligning the words of an answer with those of a reference, as METEOR wants it.

Each word is matched once at most. Of all alignments the one with most matches is taken, then the one with fewest
chunks (runs that are adjacent in both texts), then the one whose words moved least; what is still equal is settled by
more exact matches, then more synonyms. The words of the answer are taken from left to right, and partial alignments
that leave the same choices to what follows are one state, of which the best is kept: exact, unless there are more
states than the beam is wide.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.text.ngrams import Corpus, common_counts, corpus_of

BEAM: Final = 400
MOST_OPTIONS: Final = 5_000
"""Above so many possible matches each word keeps the nearest few, and the beam is narrow: texts of one word repeated
a hundred times."""
NEAREST, NARROW = 16, 20

EXACT, SYNONYM, STEM = 0, 1, 2
Options: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""For each word of the answer, the places in the reference that it may be matched with, and the kind of each match."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """How many words were matched, in how many chunks, and how many of the matches are not exact."""

    matches: int
    chunks: int
    synonyms: int = 0
    stems: int = 0

    @property
    def exact(self) -> int:
        """How many words were matched with the same word."""
        return self.matches - self.synonyms - self.stems


@dataclass(frozen=True, slots=True)
class _Costs:
    """Costs in the order in which they count: each is dearer than all that come after it together."""

    kinds: tuple[int, int, int]
    step: int
    chunk: int
    skip: int

    @classmethod
    def of(cls, words: int, width: int) -> _Costs:
        base = words + 1
        step = base * base
        chunk = step * (words * width + 1)
        return cls((0, base, base + 1), step, chunk, chunk * base)

    def alignment_of(self, cost: int, words: int) -> Alignment:
        skipped, rest = divmod(cost, self.skip)
        chunks, rest = divmod(rest, self.chunk)
        inexact, stems = divmod(rest % self.step, self.kinds[SYNONYM])
        return Alignment(words - skipped, chunks, inexact - stems, stems)


def align(options: Options, width: int, *, beam: int = BEAM) -> Alignment:
    """The best alignment of an answer with a reference of `width` words.

    >>> align([[(1, EXACT)], [(0, EXACT), (2, STEM)]], 3)
    Alignment(matches=2, chunks=1, synonyms=0, stems=1)
    """
    if sum(map(len, options)) > MOST_OPTIONS:
        options, beam = [_nearest(row, at) for at, row in enumerate(options)], min(beam, NARROW)
    words = [(at, row) for at, row in enumerate(options) if row]
    costs = _Costs.of(len(options), width)
    optional, later = _skippable([row for _, row in words]), _claimed_later([row for _, row in words])
    states = {(0, -1): 0}
    for number, (at, row) in enumerate(words):
        follows = words[number + 1] if number + 1 < len(words) else (-1, ())
        soon = frozenset(place for place, _ in follows[1]) if follows[0] == at + 1 else frozenset()
        states = _advance_states(states, (at, row), optional[number], later[number + 1], soon, costs)
        if len(states) > beam:
            states = dict(sorted(states.items(), key=lambda state: (state[1], state[0]))[:beam])
    return costs.alignment_of(min(states.values()), len(words))


def _nearest(row: Sequence[tuple[int, int]], at: int) -> Sequence[tuple[int, int]]:
    return sorted(row, key=lambda option: abs(option[0] - at))[:NEAREST]


def _advance_states(
    states: Mapping[tuple[int, int], int],
    word: tuple[int, Sequence[tuple[int, int]]],
    optional: bool,
    later: int,
    soon: frozenset[int],
    costs: _Costs,
) -> dict[tuple[int, int], int]:
    """Every state after one more word: the places taken that later words want, and the place that goes on a chunk."""
    at, row = word
    moves = [(place, 1 << place, costs.kinds[kind] + costs.step * abs(place - at)) for place, kind in row]
    made: dict[tuple[int, int], int] = {}
    for (taken, next_place), cost in states.items():
        stuck = True
        for place, bit, price in moves:
            if not taken & bit:
                stuck = False
                total = cost + price + (0 if place == next_place else costs.chunk)
                state = (taken | bit) & later, place + 1 if place + 1 in soon else -1
                if made.get(state, total + 1) > total:
                    made[state] = total
        if optional or stuck:
            total, state = cost + costs.skip, (taken & later, -1)
            if made.get(state, total + 1) > total:
                made[state] = total
    return made


def _skippable(rows: Options) -> list[bool]:
    """Which words may have to go without: not those of a group that wants the same places, enough and its own."""
    wanted = [tuple(place for place, _ in row) for row in rows]
    groups = Counter(wanted)
    claims = Counter(place for places in wanted for place in places)
    return [
        groups[places] > len(places) or any(claims[place] != groups[places] for place in places) for places in wanted
    ]


def _claimed_later(rows: Options) -> list[int]:
    """For each word, as bits, the places that it or a later one may be matched with; nothing after the last."""
    claimed = [0]
    for row in reversed(rows):
        bits = claimed[-1]
        for place, _ in row:
            bits |= 1 << place
        claimed.append(bits)
    return claimed[::-1]


ALPHA, BETA, GAMMA = 0.85, 0.2, 0.6
STEM_WEIGHT, SYNONYM_WEIGHT = 0.6, 0.8
COLUMNS: Final = ("meteor_weight", "meteor_matches", "meteor_chunks", "meteor_answer", "meteor_reference")

ROUNDING: Final = 1e-12

Words: TypeAlias = Sequence[str]
Counts: TypeAlias = tuple[float, float, float, float, float]
Synsets: TypeAlias = Callable[[str], Collection[str]]
"""The sets of synonyms that a word belongs to."""


def no_synsets(word: str) -> Collection[str]:
    """No word has synonyms: the variant that needs no data."""
    return ()


@dataclass(frozen=True)
class Lexicon:
    """What is known of words: their stems and sets of synonyms, each looked up once."""

    stems: Mapping[str, str]
    senses: Mapping[str, frozenset[str]] | None = None
    """None where synonyms do not count."""

    @classmethod
    def of(cls, words: Iterable[str], synsets: Synsets = no_synsets) -> Lexicon:
        """Look up these words."""
        from nltk.stem.snowball import SnowballStemmer  # here, because it is slow to load

        stem, known = SnowballStemmer("english").stem, tuple(words)
        senses = None if synsets is no_synsets else {word: frozenset(synsets(word)) for word in known}
        return cls({word: stem(word) for word in known}, senses)

    def options(self, answer: Words, reference: Words) -> Options:
        """For each word of the answer where in the reference it may be matched, and how."""
        if self.senses is not None:
            return [_matches(word, reference, self.stems, self.senses) for word in answer]
        stems, places = self.stems, defaultdict[str, list[tuple[int, str]]](list)
        for place, word in enumerate(reference):
            places[stems[word]].append((place, word))
        return [
            [(place, EXACT if other == word else STEM) for place, other in places.get(stems[word], ())]
            for word in answer
        ]


def _matches(
    word: str, reference: Words, stems: Mapping[str, str], senses: Mapping[str, frozenset[str]]
) -> list[tuple[int, int]]:
    """The matches of one word; one that is exact or has the same stem is no synonym."""
    found = []
    for place, other in enumerate(reference):
        if other == word:
            found.append((place, EXACT))
        elif stems[other] == stems[word]:
            found.append((place, STEM))
        elif not senses[word].isdisjoint(senses[other]):
            found.append((place, SYNONYM))
    return found


def meteor_counts(
    answers: Sequence[Words],
    references: Sequence[Sequence[Words]],
    *,
    synsets: Synsets = no_synsets,
    corpus: Corpus | None = None,
) -> NDArray[np.float64]:
    """For each segment the counts of its best reference: one row of `COLUMNS`. `corpus` is the same texts, numbered.

    >>> meteor_counts([["foxes", "run"]], [[["a", "fox"], ["the", "fox", "runs"]]]).tolist()
    [[1.2, 2.0, 1.0, 2.0, 3.0]]
    """
    corpus = corpus or corpus_of(answers, references)
    lexicon = Lexicon.of(corpus.vocabulary, synsets)
    bounds = _bounds(corpus, lexicon).tolist() if synsets is no_synsets else [math.inf] * len(corpus.lengths)
    rows = [
        _best(answer, others, bounds[first + 1 : first + 1 + len(others)], lexicon)
        for answer, others, first in zip(answers, references, corpus.first.tolist(), strict=True)
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(COLUMNS))


def _bounds(corpus: Corpus, lexicon: Lexicon) -> NDArray[np.float64]:
    """The most that an answer can score on each reference: with every shared pair of stems inside a chunk."""
    stems = sorted(set(lexicon.stems.values()))
    number = {stem: place for place, stem in enumerate(stems)}
    of_word = np.array([number[lexicon.stems[word]] for word in corpus.vocabulary], dtype=np.int64)
    stemmed = replace(corpus, words=of_word[corpus.words], vocabulary=tuple(stems))
    (exact,), (matches, adjacent) = common_counts(corpus, 1), common_counts(stemmed, 2)
    weight = exact + STEM_WEIGHT * (matches - exact)
    answer, chunks = corpus.lengths[corpus.first][corpus.image], np.maximum(matches - adjacent, 1)
    chunks[(chunks == 1) & (matches == answer) & (matches == corpus.lengths)] = 0
    return meteor_of(np.column_stack([weight, matches, chunks, answer, corpus.lengths]))


def _best(answer: Words, references: Sequence[Words], bounds: Sequence[float], lexicon: Lexicon) -> Counts:
    """The counts of the reference with the highest score, of equals the first; none is aligned that cannot win."""
    found: dict[int, tuple[float, Counts]] = {}
    best = -1.0
    for place in sorted(range(len(references)), key=lambda place: -bounds[place]):
        if bounds[place] < best - ROUNDING:
            break
        counts = _counts(answer, references[place], lexicon)
        found[place] = _score(counts), counts
        best = max(best, found[place][0])
    return next(counts for _, (score, counts) in sorted(found.items()) if score == best)


def _counts(answer: Words, reference: Words, lexicon: Lexicon) -> Counts:
    """One row of `COLUMNS`; a segment that matches wholly in one chunk is not fragmented, so it counts no chunk."""
    if answer and tuple(answer) == tuple(reference):
        return len(answer), len(answer), 0, len(answer), len(answer)
    aligned = align(lexicon.options(answer, reference), len(reference))
    whole = aligned.chunks == 1 and aligned.matches == len(answer) == len(reference)
    return (
        aligned.exact + STEM_WEIGHT * aligned.stems + SYNONYM_WEIGHT * aligned.synonyms,
        aligned.matches,
        0 if whole else aligned.chunks,
        len(answer),
        len(reference),
    )


def _score(counts: Counts) -> float:
    """The formula for one segment; `meteor_of` is the same for arrays."""
    weight, matches, chunks, answer, reference = counts
    if not weight:
        return 0.0
    precision, recall = weight / answer, weight / reference
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    return float(mean * (1 - GAMMA * (chunks / matches) ** BETA))


def meteor_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The formula on (sums of) counts of `COLUMNS`; without any match 0.

    >>> meteor_of(np.array([0.6, 1, 0, 1, 1])).tolist()  # "foxes" for "fox"
    0.6
    """
    weight, matches, chunks, answer, reference = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = weight / answer, weight / reference
        mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        penalty = GAMMA * (chunks / matches) ** BETA
    return np.where(weight > 0, mean * (1 - penalty), 0.0)
